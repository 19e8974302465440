"""What pairs of hands get below the end of a street of hold'em if both go on by policies, each perhaps by one of several.

The betting below is walked once for each name of classes (:mod:`treeplex.forms.policies.holdem.by_hand`), not for each board:
how likely a hand takes the actions that lead to a terminal is a product of table entries. On a complete board the payoffs of
all pairs of hands are then two matrix products over terminals, one for folds and one for showdowns, the latter times who wins.

Where more complete boards can follow than are asked for, some are drawn, spread evenly over the next cards. What pairs of hands
would win if nobody bet any more is known on all boards, and corrects for what the drawn ones happen to be (a control variate).
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import combinations, groupby, pairwise
from math import comb, prod
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Ints, Singles
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.holdem.by_hand import HandPolicy
from treeplex.games.poker.betting.tree import Decision, Fold, Showdown, StreetEnd, payoffs
from treeplex.games.poker.cards.evaluator import format_strengths
from treeplex.games.poker.cards.format import Format
from treeplex.games.poker.public import HoldemGame, HoldemState
from treeplex.games.poker.run_outs import MOST_RUN_OUTS
from treeplex.search.holdem.leaves.all_ins import all_ins
from treeplex.search.translation.mapping import bets_at, heard

Board = tuple[int, ...]
Hands = tuple[Ints, Ints]
"""For each player int64 [n_i], hands by number."""
Reach = tuple[Singles, Singles]
"""For each player float32 [C_i, E, n_i]: how likely its hands take the actions that lead to each of E places."""
Name = tuple[Hashable, int]
"""Of classes of hands, and how many there are."""

MOST_WALKS = 64
"""Walks of a street that are kept."""


class Lines(NamedTuple):
    """How the betting of a street may go on from some roots, Z lines, in classes of hands.

    Attributes:
        parent: int64 [Z], the root that each comes from.
        reach: for each player float32 [C_i, Z, classes], how likely each class takes the player's own actions.
        folds, shown, ends: int64, which lines end with a fold, a showdown on this street, or the street.
        chips: float32 [Z], what player 0 gets by a fold, or who wins at a showdown.
        below: for each end the node that opens the next street, or a showdown where both are all-in.
    """

    parent: Ints
    reach: Reach
    folds: Ints
    shown: Ints
    ends: Ints
    chips: Singles
    below: tuple[int, ...]


class Sums(NamedTuple):
    """What is added up over boards, float32.

    Attributes:
        paid: [C_0, C_1, n_0, n_1], payoffs of player 0.
        staked: the same shape, what showdowns are about.
        met: [n_0, n_1], on how many boards a pair of hands can be.
        won: the same shape, on how many player 0 wins, less on how many it loses.
    """

    paid: Singles
    staked: Singles
    met: Singles
    won: Singles


class Continued:
    """What follows ends of streets if both go on by policies.

    Attributes:
        policies: for each player those that it may go on by, C_0 and C_1 of them, all on one betting tree.
        most: complete boards at most that are looked at below a public state.
    """

    def __init__(self, policies: tuple[Sequence[HandPolicy], Sequence[HandPolicy]], most: int) -> None:
        """Prepare.

        Raises:
            AlgorithmError: rake, no board, or policies on different betting.
        """
        self.policies, self.most, self.game = policies, most, policies[0][0].game
        if self.game.spot.rake.rate:
            raise AlgorithmError("values of continuations know no rake; leave the rake out")
        if most < 1:
            raise AlgorithmError(f"continuations need at least one board below a leaf, not {most}")
        if any(each.game.tree is not self.game.tree for own in policies for each in own):
            raise AlgorithmError("continuations must be policies on one betting tree")
        self._lines = lru_cache(maxsize=MOST_WALKS)(self._walked)

    def payoffs(self, state: HoldemState, hands: Hands) -> Singles:
        """What player 0 gets on average over the cards to come, float32 [C_0, C_1, n_0, n_1]; 0 for pairs that cannot be.

        Args:
            state: of the policies' game: the end of a street, or where both are all-in before the last one.
            hands: of each player.
        """
        game, event = self.game, self.game.event(state)
        assert isinstance(event, StreetEnd | Showdown)
        boards, every = complete_boards(game.spot.format, state.board, self.most)
        shape = (len(self.policies[0]), len(self.policies[1]), len(hands[0]), len(hands[1]))
        sums = Sums(*(np.zeros(size, np.float32) for size in (shape, shape, shape[2:], shape[2:])))
        first, second = (np.ones((len(own), 1, len(each)), np.float32) for own, each in zip(self.policies, hands, strict=True))
        root = event.child if isinstance(event, StreetEnd) else state.node
        self._deal((root,), (first, second), boards, len(state.board), hands, sums)
        apart = (game.incidence[hands[0]] @ game.incidence[hands[1]].T == 0) & (sums.met > 0)
        met = np.where(apart, sums.met, np.inf).astype(np.float32)
        if not every and (ahead := ahead_at_showdowns(game, state.board, hands)) is not None:
            sums.paid[:] += sums.staked * (ahead - sums.won / met)
        return np.asarray(sums.paid / met)

    def all_in(self, game: HoldemGame, state: HoldemState, hands: Hands) -> Singles:
        """The same for a state of any game of these cards where both are all-in, exact.

        Raises:
            AlgorithmError: too many boards may come.
        """
        ahead = ahead_at_showdowns(game, state.board, hands)
        if ahead is None:
            raise AlgorithmError("too many boards follow an all-in; let the subgame deal them")
        found = min(game.event(state).contributions) * ahead
        return np.broadcast_to(found, (len(self.policies[0]), len(self.policies[1]), *found.shape))

    def _deal(self, roots: tuple[int, ...], reach: Reach, boards: list[Board], size: int, hands: Hands, sums: Sums) -> None:
        """Add what follows the next cards, on complete boards that begin with the same ``size`` cards."""
        format = self.game.spot.format
        size = next(each for each in format.board_sizes if each > size)
        last = size == format.board_size
        for board, completed in groupby(boards, key=lambda complete: complete[:size]):
            below, classes = list(completed), [own[0].classes(board) for own in self.policies]
            lines = self._lines(roots, last, (classes[0].name, classes[0].size), (classes[1].name, classes[1].size))
            free = [np.array([self.game.free(each)[own] for each in below], np.float32) for own in hands]
            arrived = [
                before[:, lines.parent] * own[:, :, each.of[held]]
                for before, own, each, held in zip(reach, lines.reach, classes, hands, strict=True)
            ]
            pairs = free[0].T @ free[1]
            sums.paid[:] += product(lines.chips, arrived, lines.folds) * pairs
            if last:
                strengths = self._strengths(board)
                ahead = np.sign(strengths[hands[0]][:, None] - strengths[hands[1]]) * pairs
                staked = product(lines.chips, arrived, lines.shown)
                sums.paid[:] += staked * ahead
                sums.staked[:] += staked * pairs
                sums.met[:] += pairs
                sums.won[:] += ahead
            elif len(lines.ends):
                self._deal(lines.below, (arrived[0][:, lines.ends], arrived[1][:, lines.ends]), below, size, hands, sums)

    def _strengths(self, board: Board) -> Ints:
        """Of all hands, int64 [H]."""
        given = self.game.spot.strengths
        return np.asarray(format_strengths(self.game.spot.format, board) if given is None else given, np.int64)

    def _walked(self, roots: tuple[int, ...], last: bool, first: Name, second: Name) -> Lines:
        """The lines of a street for names of classes."""
        nodes, names = self.game.tree.nodes, (first[0], second[0])
        mine, theirs = (
            np.ones((len(own), count), np.float32) for own, (_, count) in zip(self.policies, (first, second), strict=True)
        )
        stack = [(root, k, mine, theirs) for k, root in enumerate(roots)]
        parents, reaches, chips, below = list[int](), list[tuple[Singles, Singles]](), list[float](), list[int]()
        folds, shown, ends = list[int](), list[int](), list[int]()
        while stack:
            number, root, mine, theirs = stack.pop()
            node = nodes[number]
            if isinstance(node, Decision):
                tables = np.stack([each.table(number, names[node.player]) for each in self.policies[node.player]])
                for action, child in enumerate(node.children):
                    played = tables[:, action].astype(np.float32)
                    pair = (mine * played, theirs) if node.player == 0 else (mine, theirs * played)
                    stack.append((child, root, *pair))
                continue
            place = len(parents)
            parents.append(root)
            reaches.append((mine, theirs))
            chips.append(payoffs(node, self.game.spot.rake)[0] if isinstance(node, Fold | Showdown) else 0.0)
            if isinstance(node, Fold):
                folds.append(place)
            elif last:
                shown.append(place)
            else:
                ends.append(place)
                below.append(node.child if isinstance(node, StreetEnd) else number)
        one, two = (np.stack(own, axis=1) for own in zip(*reaches, strict=True))
        parent, folded, showing, ended = (np.array(each, np.int64) for each in (parents, folds, shown, ends))
        return Lines(parent, (one, two), folded, showing, ended, np.array(chips, np.float32), tuple(below))


def product(chips: Singles, arrived: Sequence[Singles], lines: Ints) -> Singles:
    """Chips of some lines times how likely both players' hands take them, summed, float32 [C_0, C_1, n_0, n_1]."""
    first, second = (own[:, lines] for own in arrived)
    left = (first * chips[lines][:, None]).transpose(0, 2, 1).reshape(-1, len(lines))
    right = second.transpose(1, 0, 2).reshape(len(lines), -1)
    found = (left @ right).reshape(len(first), first.shape[2], len(second), second.shape[2])
    return np.asarray(found.transpose(0, 2, 1, 3))


def complete_boards(format: Format, board: Board, most: int) -> tuple[list[Board], bool]:
    """The complete boards that can follow, those with the same next cards together, and whether they are all.

    Of more than ``most`` so many are drawn, always the same ones, as evenly over the next cards as can be.
    """
    sizes = [size for size in format.board_sizes if size >= len(board)]
    counts = [after - before for before, after in pairwise(sizes)]
    left = [card for card in format.deck if card not in board]
    if prod(comb(len(left) - sum(counts[:k]), count) for k, count in enumerate(counts)) <= most:
        found = [board]
        for count in counts:
            found = [
                (*each, *cards) for each in found for cards in combinations([card for card in left if card not in each], count)
            ]
        return found, True
    generator, drawn = np.random.default_rng(board), list[Board]()
    for deal in [*combinations(left, counts[0])] if counts[0] == 1 else [()] * most:
        rest = [card for card in left if card not in deal]
        drawn.append((*board, *deal, *generator.choice(rest, sum(counts) - len(deal), replace=False).tolist()))
    firsts = [int(k) for k in generator.permutation(len(drawn))]
    found = [drawn[k] for k in firsts[:most]]
    while len(found) < most:
        for k in firsts[: most - len(found)]:
            kept = drawn[k][: sizes[1]]
            rest = [card for card in left if card not in kept]
            found.append((*kept, *generator.choice(rest, sum(counts[1:]), replace=False).tolist()))
    return sorted(found, key=lambda complete: complete[: sizes[1]]), False


def ahead_at_showdowns(game: HoldemGame, board: Board, hands: Hands) -> Singles | None:
    """How often player 0 wins if nobody bets any more, less how often it loses, over all boards, float32 [n_0, n_1].

    0 for pairs that cannot be; None where too many boards may come.
    """
    format = game.spot.format
    if comb(len(format.deck) - len(board), format.board_size - len(board)) > MOST_RUN_OUTS:
        return None
    both = np.union1d(*hands)
    ahead = wins_less_losses(format, board, both.tobytes())
    return np.asarray(ahead[np.ix_(np.searchsorted(both, hands[0]), np.searchsorted(both, hands[1]))])


@lru_cache(maxsize=4)
def wins_less_losses(format: Format, board: Board, hands: bytes) -> Singles:
    """The same for some hands that the board allows among each other, int64 numbers in order, as bytes."""
    wanted = np.zeros(len(format.hands), bool)
    wanted[np.frombuffer(hands, np.int64)] = True
    return np.asarray(2.0 * all_ins(format, board, wanted).edges, np.float32)


def counterpart(game: HoldemGame, state: HoldemState, other: HoldemGame) -> tuple[HoldemState, float]:
    """Where the betting that leads to an end of a street stands in another betting tree, bets heard as the likelier one.

    Args:
        game: begins with the same cards and the same player to act.
        state: the end of a street there.
        other: whose state is wanted, the end of the street too, or one where both are all-in.

    Returns:
        The state, and the pot in the game over that in the other one.
    """
    if game.tree is other.tree:
        return state, 1.0
    here, there = game.first_state(), other.first_state()
    for label in game.path_to(state):
        if isinstance(game.event(here), Decision):
            if isinstance(other.event(there), Decision):
                shares = heard(bets_at(game, here), label, bets_at(other, there), "likelier")
                there = other.after(there, int(shares.argmax()))
        else:
            there = other.after(called(other, there), label)
        here = game.after(here, label)
    there = called(other, there)
    return there, game.pot(here) / other.pot(there)


def called(game: HoldemGame, state: HoldemState) -> HoldemState:
    """The end of a street after both have checked or called what is left of it."""
    while isinstance(event := game.event(state), Decision):
        state = game.after(state, event.bets().kinds.index("pass"))
    return state
