"""Payoffs for pairs of hands beyond the end of a hold'em street, where each player follows one of several policies.

The betting below is traversed once for each set of hand classes (:mod:`treeplex.holdem.search.lines`), not once per board. On
a complete board hands fall into few combinations of classes, whose pairwise payoffs are two matrix products over lines: one
for folds, one for the chips at showdowns. A kernel spreads them over pairs of hands with the showdown results.

If there are more complete boards than requested, or than time allows, a sample is used that is spread evenly over the next
cards. Showdown values without further betting are known on all boards and serve as a control variate.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb, inf, prod
from time import perf_counter
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Ints, Shorts, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Decision, Showdown, StreetEnd
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import Format
from treeplex.holdem.engine.pairs import add_payoffs
from treeplex.holdem.rules.public import HoldemGame, HoldemState
from treeplex.holdem.rules.run_outs import MOST_RUN_OUTS
from treeplex.holdem.search.leaves.all_ins import all_ins
from treeplex.holdem.search.lines import Lines, Names, Policies, arrived, lines_from, product
from treeplex.search.translation.mapping import bets_at, translation_shares

Board = tuple[int, ...]
Hands = tuple[Ints, Ints]
"""For each player int64 [n_i], hands by index."""

MOST_WALKS = 16
"""Number of betting traversals in the cache."""


class BoardHands(NamedTuple):
    """Both players' hands on a complete board.

    Attributes:
        names: names of the classes on each street to come.
        classes: for each player, the class on each street of each of its D_i combinations of classes, int64 [D_i].
        of: for each player int64 [n_i], the combination of each hand.
        ranks: for each player int16 [n_i], ranks of strength; -1 for blocked hands.
    """

    names: Names
    classes: tuple[tuple[Ints, ...], tuple[Ints, ...]]
    of: tuple[Ints, Ints]
    ranks: tuple[Shorts, Shorts]


class ContinuationPayoffs:
    """Payoffs beyond the ends of streets when both players follow given policies.

    Attributes:
        policies: for each player its C_0 or C_1 continuations, all on one betting tree.
        most: maximum number of complete boards examined below a public state.
    """

    def __init__(self, policies: Policies, most: int) -> None:
        """Prepare the payoffs.

        Raises:
            AlgorithmError: rake, no board, or policies on different betting.
        """
        self.policies, self.most, self.game = policies, most, policies[0][0].game
        if self.game.spot.rake.rate:
            raise AlgorithmError("continuation values do not support rake; leave the rake out")
        if most < 1:
            raise AlgorithmError(f"continuations are valued on at least one board per leaf, not on {most}")
        if any(policy.game.tree is not self.game.tree for choices in policies for policy in choices):
            raise AlgorithmError("continuations must be policies on one betting tree")
        self._lines = lru_cache(maxsize=MOST_WALKS)(self._walked)

    def payoffs(self, states: Sequence[HoldemState], hands: Hands, seconds: float = inf) -> tuple[list[Singles], int]:
        """Player 0's average payoffs over the cards to come, at states with one board.

        Args:
            states: states of the policies' game: ends of a street, or all-ins before the last street.
            hands: each player's hands.
            seconds: approximate time limit; fewer boards are sampled to meet it, but at least one.

        Returns:
            For each state float32 [C_0, C_1, n_0, n_1], 0 for impossible pairs; and the number of boards examined.
        """
        began, board, roots = perf_counter(), states[0].board, [self._root(state) for state in states]
        boards, every = boards_ahead(self.game.spot.format, board, self.most)
        ahead = None if every else ahead_at_showdowns(self.game, board, hands)
        if not every and seconds < inf:
            a_board = self._seconds_for(roots, self._dealt(boards[0], len(board), hands), hands)
            most = int(np.clip((seconds - (perf_counter() - began)) / a_board, 1, self.most))
            boards, _ = boards_ahead(self.game.spot.format, board, most)
        dealt = [self._dealt(complete, len(board), hands) for complete in boards]
        free = [np.array([board_hands.ranks[player] >= 0 for board_hands in dealt], np.float32) for player in (0, 1)]
        apart, met = self.game.incidence[hands[0]] @ self.game.incidence[hands[1]].T == 0, free[0].T @ free[1]
        shares = np.divide(apart, met, where=met > 0, out=np.zeros_like(met))
        tilt = np.zeros_like(met) if ahead is None else ahead - wins_on(dealt) * shares
        totals = [np.zeros((len(self.policies[0]), len(self.policies[1]), *met.shape), np.float32) for _ in states]
        for state, root, paid in zip(states, roots, totals, strict=True):
            for board_hands in dealt:
                self._add(self._lines(root, board_hands.names), board_hands, tilt, paid)
            paid *= shares
            if ahead is not None:  # pairs that are possible on none of the boards get the value without further betting
                paid += (met == 0) * ahead * np.float32(min(self.game.event(state).contributions))
        return totals, len(boards)

    def all_in(self, board: Board, hands: Hands) -> Singles:
        """Player 0's exact payoffs at an all-in with one chip from each player, float32 [1, 1, n_0, n_1].

        Raises:
            AlgorithmError: too many boards can follow.
        """
        ahead = ahead_at_showdowns(self.game, board, hands)
        if ahead is None:
            raise AlgorithmError("too many boards follow an all-in; deal them within the subgame")
        return ahead[None, None]

    def _walked(self, root: int, names: Names) -> Lines:
        """All betting lines from a node on."""
        return lines_from(self.policies, root, names)

    def _root(self, state: HoldemState) -> int:
        """The betting node after the next cards."""
        event = self.game.event(state)
        assert isinstance(event, StreetEnd | Showdown)
        return event.child if isinstance(event, StreetEnd) else state.node

    def _dealt(self, board: Board, size: int, hands: Hands) -> BoardHands:
        """The hands on a complete board, of which the first ``size`` cards were known."""
        spot = self.game.spot
        later = [
            [choices[0].classes(board[:end]) for choices in self.policies] for end in spot.format.board_sizes if end > size
        ]
        strengths = format_strengths(spot.format, board) if spot.strengths is None else spot.strengths
        ranked, free = np.unique(strengths, return_inverse=True)[1], self.game.free(board) > 0
        classes, of = list[tuple[Ints, ...]](), list[Ints]()
        for player, held in enumerate(hands):
            numbers = np.zeros(len(held), np.int64)
            for street in later:
                numbers = numbers * street[player].size + np.where(free[held], street[player].of[held], 0)
            _, places, where = np.unique(numbers, return_index=True, return_inverse=True)
            classes.append(tuple(np.where(free[held], street[player].of[held], 0)[places] for street in later))
            of.append(where)
        ranks = [np.where(free[held], ranked[held], -1).astype(np.int16) for held in hands]
        names = tuple(((first.name, first.size), (second.name, second.size)) for first, second in later)
        return BoardHands(names, (classes[0], classes[1]), (of[0], of[1]), (ranks[0], ranks[1]))

    def _add(self, lines: Lines, dealt: BoardHands, tilt: Singles, paid: Singles) -> None:
        """Add player 0's payoffs for all pairs of hands on a complete board to ``paid``."""
        first, second = (arrived(reach, classes) for reach, classes in zip(lines.reach, dealt.classes, strict=True))
        folds, shown = (product(lines.chips, (first, second), which) for which in (lines.folds, lines.shown))
        mine, theirs = zip(dealt.of, dealt.ranks, strict=True)
        add_payoffs(folds, shown, mine, theirs, tilt, paid)

    def _seconds_for(self, roots: Sequence[int], dealt: BoardHands, hands: Hands) -> float:
        """Upper bound on the seconds per board: the number of roots times the time for the root with the most lines."""
        lines = max((self._lines(root, dealt.names) for root in roots), key=lambda root_lines: len(root_lines.chips))
        tilt = np.zeros((len(hands[0]), len(hands[1])), np.float32)
        paid = np.zeros((len(self.policies[0]), len(self.policies[1]), *tilt.shape), np.float32)
        self._add(lines, dealt, tilt, paid)  # includes the loading of kernels and memory
        began = perf_counter()
        self._add(lines, dealt, tilt, paid)
        return len(roots) * (perf_counter() - began)


def wins_on(dealt: Sequence[BoardHands]) -> Singles:
    """The number of boards on which player 0's hand wins minus those on which it loses, float32 [n_0, n_1]."""
    nothing, one = np.zeros((1, 1, 1, 1), np.float32), np.ones((1, 1, 1, 1), np.float32)
    margins = np.zeros((len(dealt[0].of[0]), len(dealt[0].of[1])), np.float32)
    level = np.zeros_like(margins)
    for board_hands in dealt:
        first, second = ((np.zeros_like(of), ranks) for of, ranks in zip(board_hands.of, board_hands.ranks, strict=True))
        add_payoffs(nothing, one, first, second, level, margins[None, None])
    return margins


def boards_ahead(format: Format, board: Board, most: int) -> tuple[list[Board], bool]:
    """The complete boards that can follow, grouped by the next cards, and whether the list is complete.

    If there are more than ``most``, a fixed sample of that size is used, spread as evenly over the next cards as possible.
    """
    sizes = [size for size in format.board_sizes if size >= len(board)]
    counts = [after - before for before, after in pairwise(sizes)]
    left = format.cards_left(board)
    if prod(comb(len(left) - sum(counts[:k]), count) for k, count in enumerate(counts)) <= most:
        boards = [board]
        for count in counts:
            boards = [
                (*partial, *cards)
                for partial in boards
                for cards in combinations([card for card in left if card not in partial], count)
            ]
        return boards, True
    generator, drawn = np.random.default_rng(board), list[Board]()
    for deal in [*combinations(left, counts[0])] if counts[0] == 1 else [()] * most:
        rest = [card for card in left if card not in deal]
        drawn.append((*board, *deal, *generator.choice(rest, sum(counts) - len(deal), replace=False).tolist()))
    firsts = [int(k) for k in generator.permutation(len(drawn))]
    boards = [drawn[k] for k in firsts[:most]]
    while len(boards) < most:
        for k in firsts[: most - len(boards)]:
            prefix = drawn[k][: sizes[1]]
            rest = [card for card in left if card not in prefix]
            boards.append((*prefix, *generator.choice(rest, sum(counts[1:]), replace=False).tolist()))
    return sorted(boards, key=lambda complete: complete[: sizes[1]]), False


def ahead_at_showdowns(game: HoldemGame, board: Board, hands: Hands) -> Singles | None:
    """Player 0's probability of winning minus that of losing if all betting ends now, float32 [n_0, n_1].

    Exact over all boards to come. 0 for impossible pairs; None if too many boards can follow.
    """
    format = game.spot.format
    if comb(len(format.deck) - len(board), format.board_size - len(board)) > MOST_RUN_OUTS:
        return None
    both = np.union1d(*hands)
    both = both[game.free(board)[both] > 0]
    free = [np.flatnonzero(np.isin(numbers, both)) for numbers in hands]
    places = [np.searchsorted(both, numbers[can]) for numbers, can in zip(hands, free, strict=True)]
    ahead = np.zeros((len(hands[0]), len(hands[1])), np.float32)
    ahead[np.ix_(*free)] = wins_less_losses(format, board, both.tobytes())[np.ix_(*places)]
    return ahead


@lru_cache(maxsize=4)
def wins_less_losses(format: Format, board: Board, hands: bytes) -> Singles:
    """Probability of winning minus that of losing at showdown, float32 [n, n]; ``hands`` is sorted int64 indices as bytes."""
    wanted = np.zeros(len(format.hands), bool)
    wanted[np.frombuffer(hands, np.int64)] = True
    return np.asarray(2.0 * all_ins(format, board, wanted).edges, np.float32)


def counterpart(game: HoldemGame, state: HoldemState, other: HoldemGame) -> tuple[HoldemState, float]:
    """Translate the betting up to the end of a street to another betting tree, in which each bet maps to its most likely size.

    Args:
        game: the game, with the same cards and first player to act.
        state: the end of a street there.
        other: the game to translate to; the result is its end of the street or an all-in.

    Returns:
        The state, and the ratio of the pots in ``game`` and ``other``.
    """
    if game.tree is other.tree:
        return state, 1.0
    here, there = game.first_state(), other.first_state()
    for label in game.path_to(state):
        if isinstance(game.event(here), Decision):
            if isinstance(other.event(there), Decision):
                shares = translation_shares(bets_at(game, here), label, bets_at(other, there), "likelier")
                there = other.after(there, int(shares.argmax()))
        else:
            there = other.after(called(other, there), label)
        here = game.after(here, label)
    there = called(other, there)
    return there, game.pot(here) / other.pot(there)


def called(game: HoldemGame, state: HoldemState) -> HoldemState:
    """Follow checks and calls from a state to the end of its street; return the state there."""
    while isinstance(event := game.event(state), Decision):
        state = game.after(state, event.bets().kinds.index("pass"))
    return state
