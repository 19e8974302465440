"""Export of a solved spot's nodes: which lines to include, and each node as JSON data."""

import json
import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.report.page_data import NodeReport, NodeView, Side, report

KIND, VERSION = "treeplex holdem nodes", 1
EV_MEANINGS = {
    "pot": "chips won from the pot from here on; a fold is worth 0",
    "net": "chips won or lost against half the starting pot",
}
"""Conventions for EVs, as shown and as stored in files."""


class NodeSource(Protocol):
    """An object with viewable nodes: a solved spot, or a policy on a spot."""

    @property
    def spot(self) -> Spot: ...
    def at(self, line: str) -> NodeView: ...


class SpotSolution(NodeSource, Protocol):
    """A solved spot; see :mod:`treeplex.holdem.solve.solve_spot`."""

    @property
    def algorithm(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def exploitability(self) -> float: ...
    @property
    def ev(self) -> tuple[float, float]: ...


def node_report(solution: NodeSource, line: str) -> NodeReport:
    """The report of one node of a solved spot.

    Raises:
        SpecError: the spot does not have the line.
    """
    return report(solution.at(line), solution.spot)


def lines_above(line: str) -> list[str]:
    """The canonical lines from the root to a canonical line, excluding the line itself."""
    parts = line.split(",") if line else []
    return [",".join(parts[:count]) for count in range(len(parts))]


def lines_below(solution: SpotSolution, line: str, depth: int | None, *, across_streets: bool, most: int) -> list[str]:
    """A line and the lines below it, shortest first.

    Args:
        solution: a solved spot.
        line: the line to start from.
        depth: number of further actions and cards; None for all.
        across_streets: whether to continue after a card is dealt.
        most: maximum number of lines.

    Raises:
        SpecError: there are more lines; the message names the largest depth that fits.
    """
    lines, last, steps = [line], [line], 0
    while last and (depth is None or steps < depth):
        views = [solution.at(child_line) for child_line in last]
        last = [child for view in views if across_streets or view.player is not None for child in view.children()]
        if len(lines) + len(last) > most:
            raise SpecError(
                f"a page holds at most {most} nodes, but there are more; use --depth {steps} ({len(lines)} nodes), or start "
                f"further down, such as --line {shown(last[0])}"
            )
        lines += last
        steps += 1
    return lines


def nodes_below(solution: SpotSolution, line: str, depth: int | None) -> Iterator[NodeReport]:
    """Reports of a node and the nodes below it, in preorder.

    Args:
        solution: a solved spot.
        line: the line to start from.
        depth: number of further actions and cards; None for all.
    """
    waiting = [(line, 0)]
    while waiting:
        at, steps = waiting.pop()
        node = node_report(solution, at)
        yield node
        if depth is None or steps < depth:
            waiting += [(child, steps + 1) for child in reversed(node.children)]


def header(solution: SpotSolution, ev: str = "pot") -> dict[str, Any]:
    """Header of exported nodes: board, ranges, pot, stack, accuracy."""
    spot, judged = solution.spot, not math.isnan(solution.exploitability)
    oop, ip = spot.committed if ev == "pot" else (0.0, 0.0)
    texts = [range_to_string(weights) if len(weights) == 1326 else None for weights in spot.ranges]
    return {
        "kind": KIND,
        "version": VERSION,
        **spot.to_json(),
        "board": cards_to_string(spot.board),
        "oop": texts[0],
        "ip": texts[1],
        "identity": spot.identity,
        "algorithm": solution.algorithm,
        "iterations": solution.iterations,
        "exploitability": solution.exploitability if judged else None,
        "exploitability_percent": 100 * solution.exploitability / spot.opening_pot if spot.opening_pot and judged else None,
        "ev_oop": solution.ev[0] + oop,
        "ev_ip": solution.ev[1] + ip,
        "ev_meaning": EV_MEANINGS[ev],
    }


def node_json(node: NodeReport, *, ev: str = "pot") -> dict[str, Any]:
    """A node as JSON data; numbers with six decimals, NaN as null.

    Args:
        node: the node.
        ev: how EVs are counted, a key of :data:`EV_MEANINGS`.
    """
    players = {}
    if ev == "pot":
        node = node.from_the_pot()
    for side, name in zip(node.sides, ("oop", "ip"), strict=True):
        entry: dict[str, Any] = {
            "combos": number(side.combos),
            "ev": number(side.mean(side.ev)),
            "equity": number(side.mean(side.equity)),
            "hands": hands_json(side),
        }
        players[name] = entry
    acting = None if node.player is None else node.sides[node.player]
    return {
        "line": node.line,
        "board": node.board,
        "street": node.street,
        "player": None if node.player is None else ("oop", "ip")[node.player],
        "pot": node.pot,
        "stacks": list(node.stacks),
        "actions": [] if acting is None else actions_json(node, acting),
        **players,
        "children": list(node.children),
    }


def actions_json(node: NodeReport, acting: Side) -> list[dict[str, Any]]:
    """A node's actions with frequency, combos and EV over the range."""
    rows = zip(node.actions, node.sizes, acting.totals, acting.action_combos, acting.action_values, strict=True)
    return [
        {"name": name, "pot_percent": size or None, "frequency": number(often), "combos": number(combos), "ev": number(ev)}
        for name, size, often, combos, ev in rows
    ]


def hands_json(side: Side) -> dict[str, dict[str, Any]]:
    """The hands with positive weight, by name."""
    columns = {name: rounded(getattr(side, name)) for name in ("weight", "ev", "equity")}
    taken, values = rounded(side.frequency.T), rounded(side.action_ev.T)
    hands = {}
    for row in np.flatnonzero(side.weight > 0):
        entry = {name: column[row] for name, column in columns.items()}
        if len(side.frequency):
            entry |= {"frequency": taken[row], "action_ev": values[row]}
        hands[side.names[row]] = entry
    return hands


def rounded(values: Floats) -> list[Any]:
    """Nested lists of numbers with six decimals, NaN as null."""
    table: list[Any] = np.round(values, 6).tolist()
    if not np.isfinite(values).all():
        return [[number(x) for x in row] if isinstance(row, list) else number(row) for row in table]
    return table


def number(value: float) -> float | None:
    """A number with six decimals, NaN as null."""
    return round(float(value), 6) if math.isfinite(value) else None


def node_lines(solution: SpotSolution, line: str, depth: int | None, ev: str = "pot") -> Iterator[str]:
    """A tree of nodes as JSON lines, starting with the :func:`header`; only one node is in memory at a time."""
    yield json.dumps(header(solution, ev))
    for node in nodes_below(solution, line, depth):
        yield json.dumps(node_json(node, ev=ev))


def read_depth(text: str) -> int | None:
    """A depth from ``all`` (None) or a number of actions and cards.

    Raises:
        SpecError: the text is neither.
    """
    if text.strip().lower() == "all":
        return None
    if text.strip().isdigit() and len(text.strip()) < 7:
        return int(text)
    raise SpecError(f"--depth is {text!r}; give a number of actions and cards, or all")
