"""Network encoding for public belief states of full-game hold'em, and leaf values from network outputs."""

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.holdem.engine.showdowns.rows_of_hands import equalise, write_won
from treeplex.holdem.street_search.street import Cards, StreetPlaces
from treeplex.holdem.whole.public import PublicHand, PublicHoldem
from treeplex.learn.common.encoding import MOST_SEEN, EncodedPlaces, Encoding
from treeplex.learn.common.value_net import Module
from treeplex.learn.rebel.network_leaf import NetworkLeaf
from treeplex.learn.rebel.whole.bins import BinnedPlaces, Bins, look, look_of_betting
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.subgames.subgame import Places, Ranges

USUAL_DEPTH = 50.0
"""Sum of both players' stacks, in big blinds, that the encoding maps to 0.5."""


class Rows(Protocol):
    """Input rows of public states whose beliefs can be rewritten; see :class:`EncodedPlaces`."""

    rows: Singles

    def write(self, reached: Ranges) -> Singles: ...

    def read(self, outputs: Singles, widths: Sequence[int], player: int | None = None) -> Ranges: ...

    def rows_of_values(self, values: Ranges, weights: Ranges) -> tuple[Singles, Singles]: ...

    def policies(self, bin_policies: Singles) -> Floats: ...

    def rows_of_policies(self, policies: Floats, weights: Floats) -> Floats: ...


class WholeEncoding(Encoding):
    """Input layout of public belief states between streets: the state's features, then both ranges, player 0's first.

    With single hands a row contains each hand's probability relative to the average; for bins of strength see
    :mod:`treeplex.learn.rebel.whole.bins`. A state is encoded with the stacks and sizes of its own game, which may differ from
    those of the encoding's game.

    Attributes:
        cards: precomputed data about the deck.
        bins: None for single hands.
        knots: number of inputs per range: bins or hands.
    """

    def __init__(self, game: PublicHoldem, bins: int = 0) -> None:
        """Create the encoding.

        Args:
            game: the game, which determines the deck.
            bins: number of bins; 0 for single hands.
        """
        super().__init__(game)
        self.cards = Cards(game)
        self.bins = Bins(self.cards, bins) if bins else None
        self.knots = bins or self.hands
        self._of(between=True)

    def _of(self, *, between: bool) -> None:
        """Set the layout for states between streets, or for decisions."""
        self._between = between
        self._looks: dict[tuple[tuple[int, ...], PublicHand], Floats] = {}
        assert isinstance(self.game, PublicHoldem)
        self.features = len(self.features_of(self.game, self.game.first_state()))
        self.inputs, self.outputs = self.features + 2 * self.knots, 2 * self.knots

    def of_decisions(self) -> "WholeEncoding":
        """A copy of the encoding for a policy network; with bins, its rows have additional inputs about the betting."""
        encoding = copy(self)
        encoding._of(between=False)
        return encoding

    def prepared(self, places: Places) -> "Rows":  # type: ignore[override]
        assert isinstance(places, StreetPlaces)
        rows = np.zeros((len(places), self.inputs), np.float32)
        for row, state in zip(rows, places.states, strict=True):
            row[: self.features] = self.features_of(places.game, state)
        if self.bins is not None:
            return BinnedPlaces(self.bins, rows, [state.board for state in places.states])
        return SingleHands(self, rows, places.free)

    def features_of(self, game: PublicHoldem, state: PublicHand) -> Floats:
        """Features of a state, float64 [features]."""
        key = game.rules.stacks, state
        if key not in self._looks:
            if len(self._looks) > MOST_SEEN:
                self._looks.clear()
            if self.bins is None:
                depth = (sum(game.rules.stacks) + sum(game.rules.antes)) / game.rules.betting.big_blind
                parts = [np.array([depth / (depth + USUAL_DEPTH)]), game.features_at(state)]
            else:
                parts = [look(game, state), *([] if self._between else [look_of_betting(game, state)])]
            self._looks[key] = np.concatenate(parts)
        return self._looks[key]


class SingleHands(EncodedPlaces):
    """Input rows with one probability per hand."""

    def __init__(self, encoding: WholeEncoding, rows: Singles, free: Floats) -> None:
        """Create rows; player 0's hands come first in every row."""
        slots = np.stack((np.zeros(len(rows), np.int64), np.ones(len(rows), np.int64)))
        super().__init__(encoding, rows, slots, np.stack((free, free)))

    def write(self, reached: Ranges) -> Singles:
        rows = super().write(reached)
        rows[:, self.encoding.features :] *= self.encoding.hands
        return rows

    def rows_of_values(self, values: Ranges, weights: Ranges) -> tuple[Singles, Singles]:
        """Concatenate both players' hand values and their weights, [K, H] each, to target outputs and weights, float32 [K, 2 H]
        each."""
        joined = (np.concatenate(part, axis=1).astype(np.float32) for part in (values, weights))
        first, second = joined
        return first, second

    def policies(self, bin_policies: Singles) -> Floats:
        """Policies for hands, [K, H, A], unchanged."""
        return np.asarray(bin_policies, np.float64)

    def rows_of_policies(self, policies: Floats, weights: Floats) -> Floats:
        """Target policies [K, H, A], 0 for hands without weight."""
        return np.where(weights[:, :, None] > 0, policies, 0.0)


class LeafData(NamedTuple):
    """Precomputed data for public states.

    Attributes:
        pots: float64 [K, 1].
        orbits: int64 [K, H], suit-isomorphism classes of hands.
        shares: float32 [B, H, H], pot shares on each board, see :class:`Showdowns`; empty if outputs are full values.
        firsts, rows: states grouped by board, see :func:`write_won`.
    """

    pots: Floats
    orbits: Ints
    shares: Singles
    firsts: Ints
    rows: Ints


class WholeLeaf(NetworkLeaf):
    """Leaf values from a network whose outputs are fractions of the pot.

    Values are averaged over hands that are isomorphic given the board; then half of the players' summed expected values is
    subtracted, so that values are zero-sum.

    Attributes:
        shown: whether outputs are relative to the showdown value without further betting, which is then added; if not, outputs
            are full values.
    """

    def __init__(self, encoding: WholeEncoding, net: Module, guess: Any = None, warm: int = 0, *, shown: bool = True) -> None:
        super().__init__(encoding, net, guess, warm)
        self.cards, self.shown = encoding.cards, shown
        self.known: SingleEntryCache[Places, LeafData] = SingleEntryCache(self._known)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if not len(places):
            return believed
        prepared, known = self.prepared(places), self.known(places)
        values = prepared.read(self.forward(prepared.write(believed)), places.widths)
        surplus, pairs, every = np.zeros(len(places)), np.zeros(len(places)), []
        for owner, (player_values, belief) in enumerate(zip(values, believed, strict=True)):
            equalise(known.orbits, player_values)
            every.append(places.opposing(believed, owner))
            weights = belief * every[owner]
            surplus += np.einsum("kh,kh->k", weights, player_values)
            pairs += weights.sum(axis=1)
        share = np.divide(surplus, pairs, out=np.zeros_like(pairs), where=pairs > 0)[:, None]
        for owner in (0, 1) if player is None else (player,):
            values[owner][...] -= share
            if self.shown:
                values[owner][...] += over_half(known, believed[1 - owner], every[owner])
            values[owner][...] *= known.pots
        return values

    def showdown(self, places: Places, believed: Ranges) -> Ranges:
        """Showdown values without further betting, as fractions of the pot, float64 [K, H] per player; zeros if outputs are
        full values."""
        if not self.shown:
            return tuple(np.zeros_like(belief) for belief in believed)
        known = self.known(places)
        return tuple(over_half(known, believed[1 - owner], places.opposing(believed, owner)) for owner in (0, 1))

    def _known(self, places: Places) -> LeafData:
        assert isinstance(places, StreetPlaces)
        pots = np.array([places.game.rules.pot(state.table) for state in places.states], np.float64)[:, None]
        orbits = np.stack([self.cards.suits.orbits(state.board) for state in places.states])
        boards = list(dict.fromkeys(state.board for state in places.states))
        numbers = {board: number for number, board in enumerate(boards)}
        owners = np.array([numbers[state.board] for state in places.states])
        rows = np.argsort(owners, kind="stable")
        firsts = np.searchsorted(owners[rows], np.arange(len(boards) + 1))
        shares = np.stack([self.cards.showdowns.shares(board) for board in boards]) if self.shown else np.empty((0, 0, 0))
        return LeafData(pots, orbits, np.asarray(shares, np.float32), firsts, rows)


def over_half(known: LeafData, other: Floats, met: Floats) -> Floats:
    """Each hand's expected share of the pot against a range, minus one half, [K, H]; 0 at zero compatible reach."""
    won = np.empty_like(met)
    write_won(known.shares, known.firsts, known.rows, np.ascontiguousarray(other, np.float64), met, won)
    return np.divide(won, met, out=np.full_like(won, 0.5), where=met > 0) - 0.5
