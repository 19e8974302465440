"""Public card games with any number of players and one deck.

A hand is a set of cards. Hands that share a card exclude each other; all other combinations are dealt with equal probability.
For two players this is one matrix. For more, sums run over all combinations of the opponents' hands: they are exact, and
practical for small decks only.
"""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from itertools import accumulate

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.betting.settlement import Settlement
from treeplex.games.public import MOST_ENTRIES, Options, PublicGame, State, pick

FOLDING, CALLING = ("fold",), ("call", "check")
"""First words of action names in lower case; all other actions are raises."""
TRIES = 100
"""Number of rejection-sampling attempts before the joint distribution is computed."""


class CardGame(PublicGame):
    """A card game of N players with H possible hands each.

    Chance reveals one public card at a time, uniformly from the remaining deck; its label is the card.

    Attributes:
        players: number of players, N.
        suits: cards per rank; a card's number is its rank times ``suits`` plus its suit.
        deal: number of public cards dealt before each street.
        hands: int64 [H, C], the cards of each hand.
        apart: float64 [H, H], 1 where two hands share no card, else 0.
    """

    many_at_once = True

    def __init__(self, players: int, hands: Ints, *, suits: int = 1, deal: Sequence[int] = (0,)) -> None:
        self.players, self.hands, self.suits, self.deal = players, hands, suits, tuple(deal)
        cards = int(hands.max()) + 1
        held = np.zeros((len(hands), cards))
        held[np.arange(len(hands))[:, None], hands] = 1.0
        self.apart: Floats = np.asarray(held @ held.T == 0, np.float64)
        self._has = held

    @abstractmethod
    def shown(self, state: State) -> Sequence[int]:
        """Return the cards shown at a public state."""

    @abstractmethod
    def mover(self, state: State) -> int:
        """Return the player to act, ``CHANCE`` or ``TERMINAL``."""

    @abstractmethod
    def actions(self, state: State) -> Sequence[int]:
        """Return the actions of the player to act."""

    @abstractmethod
    def moved(self, state: State, label: int) -> State:
        """Return the public state after an action or card listed by :meth:`options`."""

    @abstractmethod
    def settlement(self, state: State) -> Settlement:
        """Return the settlement of the pots at the end of the game."""

    @abstractmethod
    def strengths_on(self, board: Sequence[int]) -> Ints:
        """Return the strength of each hand on a complete board, int64 [H], higher wins; arbitrary for blocked hands."""

    @abstractmethod
    def line_of(self, state: State) -> Hashable:
        """Return the betting so far, equal for public states that differ only in their cards."""

    def payoffs_of(self, state: State, deals: Ints) -> Floats:
        """Return terminal payoffs, float64 [D, N], of deals int64 [D, N], in the game's units."""
        settlement, shown = self.settlement(state), self.shown(state)
        if len(shown) < sum(self.deal):  # everyone else has folded
            return settlement.payoffs(np.zeros(deals.shape, np.int64))
        return settlement.payoffs(self.strengths_on(shown)[deals])

    def street_of(self, state: State) -> int:
        """Return the street on which a decision is made."""
        return list(accumulate(self.deal)).index(len(self.shown(state)))

    def kind_of(self, state: State, label: int) -> int:
        """Return the kind of an action from the first word of its name: 0 fold, 1 check or call, 2 other."""
        word = self.action_name(state, label).lower().split()[0]
        return 0 if word in FOLDING else 1 if word in CALLING else 2

    def payoffs(self, state: State, hands: Sequence[int]) -> tuple[float, ...]:
        return tuple(self.payoffs_of(state, np.array([hands], np.int64))[0].tolist())

    def options(self, state: State) -> Options:
        player = self.mover(state)
        if player == CHANCE:
            gone = {*self.shown(state)}
            return Options(CHANCE, [card for card in range(self._has.shape[1]) if card not in gone])
        return Options(player, () if player == TERMINAL else self.actions(state))

    def after(self, state: State, label: int) -> State:
        options = self.options(state)
        if label not in options.labels:
            what = "chance cannot reveal" if options.player == CHANCE else "no action"
            raise GameError(f"{what} {label!r} at {self.name_of(state)}")
        return self.moved(state, label)

    def free(self, state: State) -> Floats:
        """Return 1 for hands without a public card, else 0; float64 [H]."""
        return np.asarray(self._has[:, list(self.shown(state))].sum(axis=1) == 0, np.float64)

    def possible(self, state: State) -> tuple[Floats, ...]:
        return (self.free(state),) * self.players

    def dealt(self, state: State) -> tuple[Floats, ...]:
        return self.possible(state)

    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        free = self.free(state)
        others = [reach for seat, reach in enumerate(reached) if seat != player]
        return free * self._mass(self.apart * free, others)

    def joint(self, state: State, ranges: Sequence[Floats]) -> Floats:
        self._check(len(self.hands) ** self.players)
        free, n = self.free(state), self.players
        weights = np.ones((1,) * n)
        for seat, reach in enumerate(ranges):
            weights = weights * along(reach * free, n, seat)
        for seat in range(n):
            for other in range(seat):
                shape = [1] * n
                shape[other] = shape[seat] = len(self.hands)
                weights = weights * self.apart.reshape(shape)
        return weights

    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        allowed, drawn = self.free(state), list[int]()
        if all((reach * allowed).sum() > 0 for reach in ranges):
            for _ in range(TRIES):
                hands = [pick(generator, reach * allowed) for reach in ranges]
                if all(self.apart[hand, other] for seat, hand in enumerate(hands) for other in hands[:seat]):
                    return tuple(hands)
        for seat, reach in enumerate(ranges):
            weights = reach * allowed * self._mass(self.apart * allowed, ranges[seat + 1 :])
            if not weights.sum() > 0:
                raise GameError(f"no hands in these ranges are compatible at {self.name_of(state)}; widen a range")
            drawn.append(pick(generator, weights))
            allowed = allowed * self.apart[drawn[-1]]
        return tuple(drawn)

    def chances(self, state: State, hands: Sequence[int]) -> Floats:
        return np.asarray(self.chances_of(state, np.array([hands], np.int64))[0])

    def chances_of(self, state: State, deals: Ints) -> Floats:
        """Return chance probabilities of the labels, float64 [D, labels], for deals int64 [D, N] of hands."""
        left = 1.0 - self._has[deals].max(axis=1)[:, list(self.options(state).labels)]
        return np.asarray(left / left.sum(axis=1, keepdims=True))

    def _mass(self, allowed: Floats, others: Sequence[Floats]) -> Floats:
        """Return the total weight of opposing hands disjoint from each hand, within each row of ``allowed`` [R, H]; float64
        [..., R].
        """
        if not others:
            return np.ones(len(allowed))
        first, *rest = others
        if not rest:
            return np.asarray(first @ allowed.T)
        if len(rest) == 1:
            return np.asarray(((allowed * first[..., None, :]) * ((allowed * rest[0][..., None, :]) @ self.apart)).sum(axis=-1))
        self._check(len(self.hands) ** (len(others) + 1))
        hands = np.flatnonzero(first.any(axis=tuple(range(first.ndim - 1))))
        parts = (allowed[:, hand] * first[..., hand, None] * self._mass(allowed * self.apart[hand], rest) for hand in hands)
        return np.asarray(sum(parts, np.zeros((*first.shape[:-1], len(allowed)))))

    def _check(self, combinations: int) -> None:
        if combinations > MOST_ENTRIES:
            raise GameError(
                f"{combinations:,} combinations of {len(self.hands)} hands of {self.players} players exceed the limit of "
                f"{MOST_ENTRIES:,}; choose fewer players or a smaller deck"
            )


def along(vector: Floats, axes: int, axis: int) -> Floats:
    """Reshape a vector to ``axes`` dimensions, with its entries along ``axis``."""
    shape = [1] * axes
    shape[axis] = len(vector)
    return vector.reshape(shape)
