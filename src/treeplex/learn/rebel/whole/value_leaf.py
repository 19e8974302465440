"""What a network sees of a public belief state of whole hold'em, and its outputs as values of hands."""

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.rows_of_hands import equalise
from treeplex.forms.subgames.subgame import Places, Ranges
from treeplex.forms.whole.street import Cards, StreetPlaces
from treeplex.games.poker.whole.public import PublicHand, PublicHoldem
from treeplex.learn.rebel.value_net import Module, NetworkLeaf
from treeplex.search.encoding import MOST_SEEN, EncodedPlaces, Encoding
from treeplex.search.leaf import Prepared

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
USUAL_DEPTH = 50.0
"""Big blinds in all that are seen as one half."""


class WholeEncoding(Encoding):
    """Rows of public belief states between streets: all chips in big blinds, the state's features, both ranges.

    Player 0's come first. Stacks and sizes may be other ones than the game's: a state is seen as its place's game says.

    Attributes:
        cards: of the deck.
    """

    def __init__(self, game: PublicHoldem) -> None:
        super().__init__(game)
        self.cards = Cards(game)
        self.features += 1
        self.inputs += 1
        self._rows: dict[tuple[tuple[int, ...], PublicHand], Floats] = {}

    def prepared(self, places: Places) -> EncodedPlaces:
        assert isinstance(places, StreetPlaces)
        rows = np.zeros((len(places), self.inputs), np.float32)
        for row, state in zip(rows, places.states, strict=True):
            row[: self.features] = self.features_of(places.game, state)
        slots = np.stack((np.zeros(len(places), np.int64), np.ones(len(places), np.int64)))
        return EncodedPlaces(self, rows, slots, np.stack((places.free, places.free)))

    def features_of(self, game: PublicHoldem, state: PublicHand) -> Floats:
        """A state as numbers, float64 [features]."""
        key = game.rules.stacks, state
        if key not in self._rows:
            if len(self._rows) > MOST_SEEN:
                self._rows.clear()
            depth = (sum(game.rules.stacks) + sum(game.rules.antes)) / game.rules.betting.big_blind
            self._rows[key] = np.concatenate(([depth / (depth + USUAL_DEPTH)], game.features_at(state)))
        return self._rows[key]


class WholeLeaf(NetworkLeaf):
    """Leaf values by a network whose outputs are parts of the pot.

    Hands that a renaming of suits takes to each other, which changes no card shown, get their mean; and from all values is
    subtracted what both players' sum to, so that they sum to zero.
    """

    def __init__(self, encoding: WholeEncoding, net: Module) -> None:
        super().__init__(encoding, net)
        self.cards = encoding.cards
        self.known: Prepared[Places, tuple[Floats, Ints]] = Prepared(self._known)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if not len(places):
            return believed
        prepared, (pots, orbits) = self.prepared(places), self.known(places)
        values = prepared.read(self.forward(prepared.write(believed)), places.widths)
        surplus, pairs = np.zeros(len(places)), np.zeros(len(places))
        for each, (own, belief) in enumerate(zip(values, believed, strict=True)):
            own *= pots
            equalise(orbits, own)
            weights = belief * places.opposing(believed, each)
            surplus += np.einsum("kh,kh->k", weights, own)
            pairs += weights.sum(axis=1)
        share = np.divide(surplus, pairs, out=np.zeros_like(pairs), where=pairs > 0)[:, None]
        return tuple(own - share for own in values)

    def _known(self, places: Places) -> tuple[Floats, Ints]:
        """The pot at each place, float64 [K, 1], and the orbits of hands there, int64 [K, H]."""
        assert isinstance(places, StreetPlaces)
        pots = [places.game.rules.pot(state.table) for state in places.states]
        orbits = np.stack([self.cards.suits.orbits(state.board) for state in places.states])
        return np.array(pots, np.float64)[:, None], orbits
