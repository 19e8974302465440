"""Ranges with which the players of a preflop chart see a flop: the chart's strategy followed along every line.

Heads-up only. Charts for more players are not solved, so a big blind's defence against a 6-max seat is not offered.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import Action, Decision, StreetEnd
from treeplex.holdem.cards.cards import HAND_CLASSES
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.policies.line import action_text, joined
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.study.preflop_charts import solution_chart, translated_line

POT_TYPES = ("limped", "single-raised", "3-bet", "4-bet", "5-bet")
"""Pot types by number of raises before the flop; the last also stands for more."""
SEATS = ("BB", "SB")
DIGITS = 3
"""Decimals of the weights; the charts' frequencies are no more accurate than that."""
RARE = 0.002
"""Lines that a smaller share of hands reaches have unreliable ranges, because the solver rarely visits them."""


class FlopRanges(NamedTuple):
    """Both ranges after a preflop line that ends with a call or a check.

    Attributes:
        line: the line, such as ``r2.5,c``.
        title: the line in words, with positions.
        pot_type: one of :data:`POT_TYPES`.
        share: share of all hands that see a flop by this line.
        pot: the pot in big blinds.
        stack: the stack behind in big blinds.
        ranges: float64 [1326], rounded weights of the big blind, who is out of position, and of the small blind.
    """

    line: str
    title: str
    pot_type: str
    share: float
    pot: float
    stack: float
    ranges: tuple[Floats, Floats]

    @property
    def reliable(self) -> bool:
        """Whether the line is frequent enough for reliable ranges."""
        return self.share >= RARE

    def fields(self) -> dict[str, str]:
        """The ranges, pot and stack as fields of a spot file, in big blinds."""
        oop, ip = map(range_to_string, self.ranges)
        return {"oop": oop, "ip": ip, "pot": f"{self.pot:.12g}bb", "stack": f"{self.stack:.12g}bb"}


def flop_ranges(solution: HoldemSolution) -> tuple[FlopRanges, ...]:
    """The ranges of all lines that see a flop with chips behind, by pot type, the most frequent first.

    Raises:
        SpecError: the spot does not begin preflop with the whole deck.
    """
    solution_chart(solution)
    nodes, blinds = solution.game.betting.nodes, solution.spot.blinds
    assert blinds is not None
    root = solution.at("")
    deals = float(root.compatible_of(0).sum())
    found = list[FlopRanges]()
    waiting: list[tuple[int, str, tuple[tuple[int, Action], ...]]] = [(0, "", ())]
    while waiting:
        number, line, steps = waiting.pop()
        node = nodes[number]
        if isinstance(node, Decision) and node.street == 0:
            for action, child in zip(node.actions, node.children, strict=True):
                waiting.append((child, joined(line, action_text(action)), (*steps, (node.player, action))))
        if not isinstance(node, StreetEnd):
            continue
        view = solution.at(line)
        ranges = []
        for player in (0, 1):
            weights = np.zeros(len(HAND_CLASSES))
            weights[view.hands_of(player)] = view.weight_of(player)
            ranges.append(np.round(weights, DIGITS))
        raises = sum(action.kind in ("raise", "allin") for _, action in steps)
        found.append(
            FlopRanges(
                line,
                in_words(steps, blinds[1]),
                POT_TYPES[min(raises, len(POT_TYPES) - 1)],
                float(view.compatible_of(0).sum()) / deals,
                sum(node.contributions) / blinds[1],
                min(view.stacks) / blinds[1],
                (ranges[0], ranges[1]),
            )
        )
    return tuple(sorted(found, key=lambda each: (POT_TYPES.index(each.pot_type), -each.share)))


def in_words(steps: Sequence[tuple[int, Action]], big_blind: float) -> str:
    """Preflop actions of players in words, with amounts in big blinds."""
    words, raised = list[str](), False
    for player, action in steps:
        did = {"check": "checks", "call": "calls" if raised else "limps"}.get(action.kind)
        words.append(f"{SEATS[player]} {did or f'raises to {action.amount / big_blind:.12g}'}")
        raised = raised or did is None
    return ", ".join(words)


def ranges_after(solution: HoldemSolution, line: str) -> FlopRanges:
    """The ranges after one line; raises of other sizes are translated as in :func:`translated_line`.

    Raises:
        SpecError: the line does not end on the flop with chips behind; the message lists those that do.
    """
    meant, _ = translated_line(solution, line)
    found = flop_ranges(solution)
    for each in found:
        if each.line == meant:
            return each
    raise SpecError(f"line {shown(line)} does not see a flop with chips behind; write {'; '.join(each.line for each in found)}")
