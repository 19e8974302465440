"""Public games of any number of players who hold cards of one deck.

A hand is a set of cards. Hands exclude each other where they share a card, and all others are equally likely to be dealt. With
two players that is one matrix. With more, a sum over the others' hands has as many terms as there are combinations of them;
such sums are exact here, and meant for small decks.
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
"""First words of actions, in small letters; all others raise."""
TRIES = 100
"""How often hands are drawn independently, and all again where two share a card, before combinations are added up."""


class CardGame(PublicGame):
    """A game of N players with H possible hands each, whose public states are public nodes of its rules.

    Chance shows one public card at a time, each card that is left as likely as any other; its label is the card.

    Attributes:
        players: N.
        suits: how many cards share a rank; a card's number is its rank times this, and its suit.
        deal: public cards that are shown before each street of betting.
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
        """The public cards at a state."""

    @abstractmethod
    def mover(self, state: State) -> int:
        """The player to act, ``CHANCE`` or ``TERMINAL``."""

    @abstractmethod
    def actions(self, state: State) -> Sequence[int]:
        """The actions of the player to act."""

    @abstractmethod
    def moved(self, state: State, label: int) -> State:
        """The public state after an action or a card that :meth:`options` has."""

    @abstractmethod
    def settlement(self, state: State) -> Settlement:
        """Who can win which chips where the game is over."""

    @abstractmethod
    def strengths_on(self, board: Sequence[int]) -> Ints:
        """How strong each hand is when all public cards are shown, int64 [H], more is better; any number for hands that the
        board blocks.
        """

    @abstractmethod
    def line_of(self, state: State) -> Hashable:
        """The betting so far, equal for public states that differ in their cards only."""

    def payoffs_of(self, state: State, deals: Ints) -> Floats:
        """Terminal payoffs for deals int64 [D, N]: float64 [D, N], in the game's units."""
        settlement, shown = self.settlement(state), self.shown(state)
        if len(shown) < sum(self.deal):  # all others have folded
            return settlement.payoffs(np.zeros(deals.shape, np.int64))
        return settlement.payoffs(self.strengths_on(shown)[deals])

    def street_of(self, state: State) -> int:
        """The street of a state where somebody acts."""
        return list(accumulate(self.deal)).index(len(self.shown(state)))

    def kind_of(self, state: State, label: int) -> int:
        """What an action is by the first word of its name: 0 folds, 1 checks or calls, 2 is any other."""
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
            what = "chance cannot show" if options.player == CHANCE else "no action"
            raise GameError(f"{what} {label!r} at {self.name_of(state)}")
        return self.moved(state, label)

    def free(self, state: State) -> Floats:
        """1 for hands without a public card, else 0; float64 [H]."""
        return np.asarray(self._has[:, list(self.shown(state))].sum(axis=1) == 0, np.float64)

    def possible(self, state: State) -> tuple[Floats, ...]:
        return (self.free(state),) * self.players

    def dealt(self, state: State) -> tuple[Floats, ...]:
        return self.possible(state)

    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        free = self.free(state)
        others = [own for seat, own in enumerate(reached) if seat != player]
        return free * self._mass(self.apart * free, others)

    def joint(self, state: State, ranges: Sequence[Floats]) -> Floats:
        self._check(len(self.hands) ** self.players)
        free, n = self.free(state), self.players
        found = np.ones((1,) * n)
        for seat, own in enumerate(ranges):
            found = found * along(own * free, n, seat)
        for seat in range(n):
            for other in range(seat):
                shape = [1] * n
                shape[other] = shape[seat] = len(self.hands)
                found = found * self.apart.reshape(shape)
        return found

    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        allowed, drawn = self.free(state), list[int]()
        if all((own * allowed).sum() > 0 for own in ranges):
            for _ in range(TRIES):
                found = [pick(generator, own * allowed) for own in ranges]
                if all(self.apart[hand, other] for seat, hand in enumerate(found) for other in found[:seat]):
                    return tuple(found)
        for seat, own in enumerate(ranges):
            weights = own * allowed * self._mass(self.apart * allowed, ranges[seat + 1 :])
            if not weights.sum() > 0:
                raise GameError(f"the ranges exclude each other at {self.name_of(state)}; widen one")
            drawn.append(pick(generator, weights))
            allowed = allowed * self.apart[drawn[-1]]
        return tuple(drawn)

    def chances(self, state: State, hands: Sequence[int]) -> Floats:
        return np.asarray(self.chances_of(state, np.array([hands], np.int64))[0])

    def chances_of(self, state: State, deals: Ints) -> Floats:
        """Chance probabilities of the labels for deals int64 [D, N] of hands: float64 [D, labels]."""
        left = 1.0 - self._has[deals].max(axis=1)[:, list(self.options(state).labels)]
        return np.asarray(left / left.sum(axis=1, keepdims=True))

    def _mass(self, allowed: Floats, others: Sequence[Floats]) -> Floats:
        """For each row of ``allowed`` [R, H] the weight of hands of the others, all allowed and apart; float64 [..., R]."""
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
                f"{combinations:,} combinations of {len(self.hands)} hands of {self.players} players are more than "
                f"{MOST_ENTRIES:,}; take fewer players or a smaller deck"
            )


def along(own: Floats, axes: int, axis: int) -> Floats:
    """Reshape a vector to ``axes`` axes, with its entries along ``axis``."""
    shape = [1] * axes
    shape[axis] = len(own)
    return own.reshape(shape)
