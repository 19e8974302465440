"""Push or fold for two to six players, with antes, unequal stacks and ICM.

Every player goes all-in or folds, in order; the last, in the big blind, wins if all others fold. Linear CFR (Brown and Sandholm
2019) on random deals of all hands and a board computes the strategies, so card removal among all players is exact and equities
are sampled. With two players this converges to an equilibrium. With more, or with prizes that are not linear in chips, there is
no such guarantee, so the distance from equilibrium is measured on new deals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS
from treeplex.holdem.study.icm import checked_payouts, icm
from treeplex.holdem.study.push_fold import BIG, MOST_STACK, SMALL
from treeplex.holdem.study.push_fold_kernels import add_gains, outcomes

SEATS = ("UTG", "HJ", "CO", "BTN", "SB", "BB")
"""Positions in order of action at a table of six; smaller tables have the last ones."""
MOST_PLAYERS = len(SEATS)
BATCH = 20_000
"""Deals of an iteration."""
DEALS = 5_000_000
"""Default number of deals."""
JUDGED = 0.5
"""Deals of each half of the evaluation, as a fraction of those of the solve."""
SOLVING, JUDGING = 0, 1 << 20
"""First parts of the random stream."""


class PushFoldNode(NamedTuple):
    """A player's strategy after the actions before.

    Attributes:
        player: index in the order of action.
        all_in: the earlier players who are all-in; empty if all folded.
        often: float64 [169], frequency of going all-in.
        ev: float64 [169], EV of going all-in relative to a fold, when the node is reached; NaN if no deal reached it.
        reached: probability that the others' actions lead here.
    """

    player: int
    all_in: tuple[int, ...]
    often: Floats
    ev: Floats
    reached: float

    @property
    def share(self) -> float:
        """Frequency of going all-in over all hands."""
        return float(self.often[HAND_CLASSES].mean())


@dataclass(frozen=True, eq=False)
class TablePushFold:
    """Strategies of all players; amounts in big blinds, or in the unit of the payouts.

    Attributes:
        stacks: stacks in order of action, blinds and antes included.
        ante: ante of each player.
        payouts: prizes from the first place on; empty for chips.
        nodes: strategies in order of action.
        before: float64 [n], value of the stacks before the hand: chips, or prize money by ICM.
        values: float64 [n], value after the hand, estimated on new deals.
        errors: float64 [n], standard errors of the values.
        nash_conv: sum of the players' best-response gains on new deals, estimated from below and from above: responses are
            chosen on the other half of the deals, or on the same deals.
        deals: deals of the solve.
    """

    stacks: tuple[float, ...]
    ante: float
    payouts: tuple[float, ...]
    nodes: tuple[PushFoldNode, ...]
    before: Floats
    values: Floats
    errors: Floats
    nash_conv: tuple[float, float]
    deals: int

    @property
    def seats(self) -> tuple[str, ...]:
        """Names of the positions in order of action."""
        return SEATS[-len(self.stacks) :]

    def title(self, node: PushFoldNode) -> str:
        """A node in words, such as ``BB, after all-ins of CO and SB``."""
        before = [self.seats[player] for player in node.all_in]
        what = f", after {'all-ins' if len(before) > 1 else 'an all-in'} of {' and '.join(before)}" if before else ""
        return self.seats[node.player] + what

    def summary(self) -> str:
        """Each seat's value and the NashConv, as text."""
        unit = "of prizes" if self.payouts else "bb"
        rows = [
            f"{seat} {before:.4g} before, {value - before:+.4f} +- {2 * error:.4f}"
            for seat, before, value, error in zip(self.seats, self.before, self.values, self.errors, strict=True)
        ]
        low, high = self.nash_conv
        return (
            f"value of each stack ({unit}) and its expected change in the hand, with 95% intervals: {'; '.join(rows)}\n"
            f"NashConv between {low:.4f} and {high:.4f} {unit} per hand, measured on new deals; {self.deals:,} deals solved"
            + ("" if len(self.stacks) == 2 else "; with several players an equilibrium is not guaranteed")
        )

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON data; ``nodes`` has the columns in the order of ``CLASSES``."""
        return {
            "stacks": self.stacks,
            "ante": self.ante,
            "payouts": self.payouts,
            "seats": self.seats,
            "before": self.before.tolist(),
            "values": self.values.tolist(),
            "errors": self.errors.tolist(),
            "nash_conv": self.nash_conv,
            "deals": self.deals,
            "nodes": [
                {
                    "title": self.title(node),
                    "player": node.player,
                    "all_in": node.all_in,
                    "share": node.share,
                    "reached": node.reached,
                    "often": node.often.round(4).tolist(),
                    "ev": [None if np.isnan(each) else round(float(each), 5) for each in node.ev],
                }
                for node in self.nodes
            ],
        }


def table_push_fold(
    stacks: Sequence[float],
    *,
    ante: float = 0.0,
    payouts: Sequence[float] = (),
    deals: int = DEALS,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> TablePushFold:
    """Solve push or fold for two to six players.

    Args:
        stacks: stacks in big blinds in order of action, small blind and big blind last, before blinds and antes.
        ante: ante of each player.
        payouts: prizes from the first place on, for ICM; empty for chips.
        deals: number of random deals, rounded up to whole iterations.
        seed: of the deals.
        progress: called with the deals done and their total.

    Raises:
        SpecError: the number of players, a stack, the ante or the payouts are out of range.
    """
    players = len(stacks)
    check_table(stacks, ante, deals)
    prizes = checked_payouts(payouts, players) if len(payouts) else np.zeros(0)
    posted = np.full(players, ante)
    posted[-2:] += SMALL, BIG
    orders, numbers = strength_orders(players)
    values = np.empty((1 << players, len(orders), players))
    chips = np.asarray(stacks, np.float64)
    outcomes(chips, posted, prizes, orders, values)
    iterations = -(-deals // BATCH)
    game = DealtGame(values, numbers, seed)
    push = game.solve(iterations, progress)
    halves = [game.deal(push, JUDGING + half, max(1, int(JUDGED * iterations * BATCH))) for half in (0, 1)]
    below = sum(response_gain(push, halves[1 - half], halves[half]) for half in (0, 1)) / 2
    above = sum(response_gain(push, half, half) for half in halves) / 2
    totals, gains, reach = (sum(getattr(half, name) for half in halves) for name in ("totals", "gains", "reach"))
    judged = 2 * halves[0].deals
    means, squares = totals / judged
    nodes = []
    for player in range(players):
        for earlier in range(1 << player):
            node = (1 << player) + earlier
            if player < players - 1 or earlier:
                ev = np.divide(gains[node], reach[node], out=np.full(len(CLASSES), np.nan), where=reach[node] > 0)
                who = tuple(other for other in range(player) if earlier >> other & 1)
                nodes.append(PushFoldNode(player, who, push[node], ev, float(reach[node].sum() / judged)))
    nodes.sort(key=lambda node: (node.player, len(node.all_in), node.all_in))
    return TablePushFold(
        stacks=tuple(map(float, stacks)),
        ante=ante,
        payouts=tuple(map(float, payouts)),
        nodes=tuple(nodes),
        before=icm(stacks, payouts) if len(payouts) else chips,
        values=means,
        errors=np.sqrt(np.maximum(squares - means**2, 0.0) / judged),
        nash_conv=(max(0.0, below), above),
        deals=iterations * BATCH,
    )


class Dealt(NamedTuple):
    """Sums over random deals.

    Attributes:
        gains: float64 [2^n, 169], counterfactual gain of a push over a fold, by node and class.
        reach: float64 [2^n, 169], probability that the others reach the node.
        totals: float64 [2, n], the players' values and their squares.
        deals: number of deals.
    """

    gains: Floats
    reach: Floats
    totals: Floats
    deals: int


class DealtGame:
    """A table's game, of which random deals are played.

    Attributes:
        values: float64 [2^n, W, n], outcomes by players all-in and order of strengths.
        numbers: int64 [n^n], rows of the orders.
        seed: of the deals.
    """

    def __init__(self, values: Floats, numbers: Ints, seed: int) -> None:
        self.values, self.numbers, self.seed = values, numbers, seed
        self.classes = np.zeros((52, 52), np.int64)
        low, high = HANDS.astype(np.int64).T
        self.classes[low, high] = self.classes[high, low] = HAND_CLASSES

    def deal(self, push: Floats, part: int, deals: int) -> Dealt:
        """Play random deals with a policy."""
        size, players = push.shape[0], self.values.shape[2]
        dealt = Dealt(np.zeros((size, len(CLASSES))), np.zeros((size, len(CLASSES))), np.zeros((2, players)), deals)
        stream = np.array([self.seed, part])
        add_gains(self.values, self.numbers, self.classes, stream, deals, push, dealt.gains, dealt.reach, dealt.totals)
        return dealt

    def solve(self, iterations: int, progress: Callable[[int, int], object] | None) -> Floats:
        """The average policy of linear CFR, float64 [2^n, 169]; 0 for the big blind if nobody is all-in."""
        size = self.values.shape[0]
        push, average = np.full((size, len(CLASSES)), 0.5), np.zeros((size, len(CLASSES)))
        regrets = np.zeros((2, size, len(CLASSES)))
        walk = size >> 1  # the big blind's node without an all-in
        push[walk] = 0.0
        for t in range(1, iterations + 1):
            gains = self.deal(push, SOLVING + t, BATCH).gains
            average += (push - average) * (2 / (t + 1))
            regrets = regrets * ((t - 1) / t) + np.stack([(1 - push) * gains, -push * gains])
            positive = np.maximum(regrets, 0.0)
            total = positive.sum(axis=0)
            push = np.divide(positive[0], total, out=np.full(total.shape, 0.5), where=total > 0)
            push[walk] = 0.0
            if progress is not None:
                progress(t * BATCH, iterations * BATCH)
        return average


def response_gain(push: Floats, chosen: Dealt, judged: Dealt) -> float:
    """Sum of all players' gains from responses chosen on some deals, per hand on others; every player acts once."""
    response = (chosen.gains > 0).astype(np.float64)
    response[push.shape[0] >> 1] = 0.0
    return float(((response - push) * judged.gains).sum() / judged.deals)


def strength_orders(players: int) -> tuple[Ints, Ints]:
    """All orders of hands with ties.

    Returns:
        int64 [W, n], the number of weaker hands for each hand; and int64 [n^n], the row for those numbers read as digits, the
        first hand's the lowest, -1 for no order.
    """
    ranks = np.array(list(product(range(players), repeat=players)), np.int64)[:, ::-1]
    weaker = (ranks[:, :, None] > ranks[:, None, :]).sum(axis=2)
    valid = (weaker == ranks).all(axis=1)
    numbers = np.full(len(ranks), -1)
    numbers[valid] = np.arange(valid.sum())
    return np.ascontiguousarray(ranks[valid]), numbers


def check_table(stacks: Sequence[float], ante: float, deals: int) -> None:
    """Raise a :class:`SpecError` for a table that cannot be solved."""
    if not 2 <= len(stacks) <= MOST_PLAYERS:
        raise SpecError(f"there are {len(stacks)} stacks; push or fold takes 2 to {MOST_PLAYERS} players")
    if not (isfinite(ante) and ante >= 0):
        raise SpecError(f"the ante is {ante:g} big blinds; give 0 or more")
    for seat, stack in zip(SEATS[-len(stacks) :], stacks, strict=True):
        if not BIG + ante < stack <= MOST_STACK:
            raise SpecError(
                f"the stack of {seat} is {stack:g} big blinds; give more than {BIG + ante:g} (big blind and ante) and at most "
                f"{MOST_STACK:g}"
            )
    if deals < BATCH:
        raise SpecError(f"{deals:,} deals are too few; give {BATCH:,} or more")
