"""Comparison of two solved spots at one decision: EVs, frequencies, and hands with different EVs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.holdem.study.report.export import SpotSolution, node_report
from treeplex.holdem.study.report.page_data import NodeReport, Side, weighted_mean


@dataclass(frozen=True, eq=False)
class SideComparison:
    """One player in two solutions; EVs are chips won from the pot, and differences are second minus first.

    Attributes:
        names: the hands in both ranges, as in :class:`Side`.
        rows: int64 [2, n], their rows in the sides of both nodes.
        ev: float64 [2, n], EV of each hand in both solutions.
        share: float64 [n], mean of the hand's shares in both ranges; sums to 1 (all zero at zero reach).
        means: mean EV in both solutions, each over its own range.
        equities: mean equity in both solutions.
    """

    names: tuple[str, ...]
    rows: NDArray[np.int64]
    ev: Floats
    share: Floats
    means: tuple[float, float]
    equities: tuple[float, float]

    @property
    def difference(self) -> Floats:
        """EV difference of each hand, float64 [n]."""
        return np.asarray(self.ev[1] - self.ev[0])

    @property
    def gain(self) -> float:
        """Mean EV difference over the hands in both ranges, with common weights, so that ranges do not affect it."""
        return weighted_mean(self.difference, self.share)


@dataclass(frozen=True, eq=False)
class NodeComparison:
    """A decision compared between two solutions.

    Attributes:
        nodes: the reports of both nodes, with EVs from the pot.
        sides: out of position, in position.
        actions: the names of the actions of both.
        frequencies: float64 [2, A], the whole range's frequency of each action; NaN for an action missing in the tree.
    """

    nodes: tuple[NodeReport, NodeReport]
    sides: tuple[SideComparison, SideComparison]
    actions: tuple[str, ...]
    frequencies: Floats


def compare_nodes(first: SpotSolution, second: SpotSolution, line: str = "", second_line: str | None = None) -> NodeComparison:
    """Compare a node of one solved spot with one of another.

    Args:
        first, second: the solved spots, of the same format; boards, ranges and bets may differ.
        line: line to the node in the first.
        second_line: line to the node in the second; default: ``line``.

    Raises:
        SpecError: a solution lacks the line, the formats differ, or different players act.
    """
    if first.spot.format.name != second.spot.format.name:
        raise SpecError(
            f"the spots have different formats, {first.spot.format.name} and {second.spot.format.name}; compare "
            "spots of the same format"
        )
    nodes = node_report(first, line).from_the_pot(), node_report(second, line if second_line is None else second_line)
    nodes = nodes[0], nodes[1].from_the_pot()
    if nodes[0].player != nodes[1].player:
        raise SpecError(f"after {line!r} another player acts in the second solution; name its decision with --with-line")
    actions = tuple(dict.fromkeys((*nodes[0].actions, *nodes[1].actions)))
    frequencies = np.full((2, len(actions)), np.nan)
    for index, node in enumerate(nodes):
        if node.player is not None:
            for name, often in zip(node.actions, node.sides[node.player].totals, strict=True):
                frequencies[index, actions.index(name)] = often
    sides = compare_sides(nodes[0].sides[0], nodes[1].sides[0]), compare_sides(nodes[0].sides[1], nodes[1].sides[1])
    return NodeComparison(nodes, sides, actions, frequencies)


def compare_sides(one: Side, other: Side) -> SideComparison:
    """Compare one player's side in both solutions."""
    places = {name: row for row, name in enumerate(other.names)}
    both = [row for row, name in enumerate(one.names) if name in places]
    rows = np.array([both, [places[one.names[row]] for row in both]], np.int64).reshape(2, -1)
    share = one.share[rows[0]] + other.share[rows[1]]
    return SideComparison(
        names=tuple(one.names[row] for row in both),
        rows=rows,
        ev=np.array([one.ev[rows[0]], other.ev[rows[1]]]),
        share=share / share.sum() if share.sum() > 0 else share,
        means=(one.mean(one.ev), other.mean(other.ev)),
        equities=(one.mean(one.equity), other.mean(other.equity)),
    )
