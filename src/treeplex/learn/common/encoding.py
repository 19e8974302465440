"""Encoding of public belief states as network inputs, and decoding of network outputs as hand values."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Singles
from treeplex.engine.tree.leaves import decode, encode
from treeplex.errors import GameError
from treeplex.games.public import PublicGame, State
from treeplex.search.subgames.subgame import Places, Ranges

MOST_SEEN = 100_000


class Encoding:
    """Input and output layout of a value network for a game's public states.

    An input row is the public state's features, the acting player's beliefs, then the other player's. Outputs are the values of
    the acting player's hands, then of the other's. The player to act therefore needs no feature, and one row gives both
    players' values (ReBeL's released code instead uses two flags and one row per player).

    Attributes:
        hands: the larger number of hands of the two players.
        features: number of features.
        inputs, outputs: lengths of rows.
    """

    def __init__(self, game: PublicGame) -> None:
        """Read the layout from the game.

        Raises:
            GameError: the rules do not define features of public states.
        """
        features = game.features_at(game.first_state())
        if features is None:
            raise GameError(f"{type(game).__name__} has no features(node), which a value network needs")
        self.game = game
        self.hands = max(map(len, game.first_ranges()))
        self.features = len(features)
        self.inputs, self.outputs = self.features + 2 * self.hands, 2 * self.hands
        self._seen: dict[State, tuple[int, NDArray[np.float64]]] = {}

    def seen(self, state: State) -> tuple[int, NDArray[np.float64]]:
        """The player to act at a public state (0 for chance), and its features."""
        if state not in self._seen:
            if len(self._seen) > MOST_SEEN:
                self._seen.clear()
            features = self.game.features_at(state)
            assert features is not None
            self._seen[state] = max(self.game.options(state).player, 0), features
        return self._seen[state]

    def prepared(self, places: Places) -> "EncodedPlaces":
        """Input rows for public states, with all columns filled in except the beliefs."""
        rows = np.zeros((len(places), self.inputs), np.float32)
        bases = np.zeros((2, len(places), self.hands))
        seen = [self.seen(state) for state in places.states]
        actors = np.array([actor for actor, _ in seen], np.int64)
        slots = np.stack((actors, 1 - actors))
        if seen:
            rows[:, : self.features] = np.array([features for _, features in seen])
        for base, dealt in zip(bases, places.dealt, strict=True):
            base[:, : dealt.shape[1]] = dealt
        return EncodedPlaces(self, rows, slots, bases)


class EncodedPlaces:
    """Input rows of public states whose beliefs can be rewritten.

    Attributes:
        rows: float32 [K, inputs].
        slots: int64 [2, K], for each player, 0 where it acts and 1 elsewhere.
    """

    def __init__(self, encoding: Encoding, rows: Singles, slots: NDArray[np.int64], bases: NDArray[np.float64]) -> None:
        self.encoding, self.rows, self.slots, self._bases = encoding, rows, slots, bases

    def write(self, reached: Ranges) -> Singles:
        """Fill in the beliefs from the players' reach probabilities, float64 [K, H_i]; returns the rows."""
        for player in (0, 1):
            hands = reached[player].shape[1]
            encode(reached[player], self._bases[player][:, :hands], self.slots[player], self.encoding.features, self.rows)
        return self.rows

    def read(self, outputs: Singles, widths: Sequence[int], player: int | None = None) -> Ranges:
        """Values, float64 [K, H_i], from outputs [K, 2 H]: for both players, or for one player with zeros for the other."""
        values = tuple(np.zeros((len(outputs), width)) for width in widths)
        for owner in (0, 1) if player is None else (player,):
            decode(outputs, self.slots[owner], values[owner])
        return values

    def targets(self, values: Ranges) -> Singles:
        """Arrange both players' values, float64 [K, H_i], as target outputs, float32 [K, 2 H]."""
        hands = self.encoding.hands
        rows = np.zeros((len(self.rows), 2 * hands), np.float32)
        for player in (0, 1):
            for k, slot in enumerate(self.slots[player]):
                rows[k, slot * hands : slot * hands + values[player].shape[1]] = values[player][k]
        return rows
