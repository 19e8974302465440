"""How large the betting of a hand is, before it is listed: decisions, and the numbers of their tables.

Lines of betting that lead to the same table are counted together, level by level, so that most trees are counted exactly in a
moment. Where that takes longer, what is left is estimated by random playouts from the tables met so far
(:mod:`treeplex.games.size_estimate`), and a tree that is very likely too large is counted no further.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from time import perf_counter
from typing import NamedTuple

from treeplex.games.size_estimate import FEW_PLAYOUTS, summary_of
from treeplex.holdem.whole.betting import WholeBetting
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.nodes import to_act

EXACT_SECONDS, PLAYOUT_SECONDS = 0.5, 2.0
"""How long lines are counted before playouts say what is left, and how long these may take."""
PLAYOUTS = 4_000
STANDARD_ERRORS = 2
LATER = 0.7
"""After how much of the time spent so far playouts are tried again."""


class BettingSize(NamedTuple):
    """Decisions, and their actions, each as often as its street has rows."""

    decisions: int
    numbers: int


class Lines:
    """The betting as a tree of tables.

    Attributes:
        rules: of any number of players.
        counts: how many rows tables have on each street.
        whole: whether lines go on after a street.
    """

    def __init__(self, rules: HandRules, counts: Sequence[int], *, whole: bool) -> None:
        self.rules, self.counts, self.whole = rules, counts, whole

    def step(self, table: WholeBetting) -> tuple[int, list[WholeBetting]]:
        """The numbers of a decision, and the decisions that follow it."""
        actions = self.rules.actions(table)
        after = [self.rules.after(table, action) for action in actions]
        if self.whole:
            after = [to_act(self.rules, each) for each in after]
        return len(actions) * self.counts[table.street], [each._replace(line="") for each in after if each.player >= 0]

    def playout(self, table: WholeBetting, random: Random) -> BettingSize:
        """One sample of the decisions below a table, and of the numbers there and below."""
        decisions, numbers, lines = 0, 0, 1
        while True:
            actions = self.rules.actions(table)
            numbers += lines * len(actions) * self.counts[table.street]
            lines *= len(actions)
            table = self.rules.after(table, random.choice(actions))
            table = to_act(self.rules, table) if self.whole else table
            if table.player < 0:
                return BettingSize(decisions, numbers)
            decisions += lines

    def very_likely(self, met: BettingSize, left: Sequence[tuple[WholeBetting, int]]) -> BettingSize:
        """What the size is very likely not below.

        Args:
            met: decisions so far, and the numbers of those that were stepped from.
            left: the others, and how many lines lead to each.
        """
        tables, lines = [table for table, _ in left], [count for _, count in left]
        total, random, deadline = sum(lines), Random(0), perf_counter() + PLAYOUT_SECONDS
        exponent = max(0, total.bit_length() - 1000)  # floats end at 2 ** 1023
        found = list[BettingSize]()
        for table in random.choices(tables, [count >> exponent for count in lines], k=PLAYOUTS):
            found.append(self.playout(table, random))
            if perf_counter() > deadline:
                break
        samples = zip(*((a + total * b for a, b in zip(met, each, strict=True)) for each in found), strict=True)
        decisions, numbers = map(least_of, samples)
        return BettingSize(max(decisions, met.decisions), max(numbers, met.numbers))


def least_of(sizes: Sequence[int]) -> int:
    """What the mean of a sample of sizes is not below, as far as one can tell.

    Two standard errors below their mean: of samples that are mostly small and seldom huge, means come out too small far more
    often than too large.
    """
    found = summary_of(sizes)
    below = int((1 - STANDARD_ERRORS * found.error) * 1000) * found.mean // 1000 if len(sizes) >= FEW_PLAYOUTS else 0
    return max(below, found.least)


def betting_size(
    rules: HandRules,
    counts: Sequence[int],
    enough: Callable[[BettingSize], bool],
    *,
    begins: WholeBetting | None = None,
) -> BettingSize:
    """The size of a betting tree in which somebody acts.

    Args:
        rules: of any number of players.
        counts: how many rows tables have on each street.
        enough: whether a tree of that size at least is too large; counting stops there, and what is returned is a lower bound.
        begins: where a street begins, to count its own decisions alone; None for those of the whole hand.
    """
    lines = Lines(rules, counts, whole=begins is None)
    level: Counter[WholeBetting] = Counter([(begins or to_act(rules, rules.first_table))._replace(line="")])
    size, began = BettingSize(1, 0), perf_counter()
    deadline = began + EXACT_SECONDS
    while level:
        following, waiting = Counter[WholeBetting](), list(level.items())
        for place, (table, count) in enumerate(waiting):
            numbers, after = lines.step(table)
            for each in after:
                following[each] += count
            size = BettingSize(size.decisions + count * len(after), size.numbers + count * numbers)
            if enough(size):
                return size
            if perf_counter() > deadline and (left := [*waiting[place + 1 :], *following.items()]):
                least = lines.very_likely(size, left)
                if enough(least):
                    return least
                deadline = perf_counter() + LATER * (perf_counter() - began)  # the more is counted, the surer are playouts
        level = following
    return size
