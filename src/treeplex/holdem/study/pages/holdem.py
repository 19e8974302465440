"""A solved spot as one self-contained HTML page; the numbers are embedded as packed arrays."""

import base64
import html
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.format import Format
from treeplex.holdem.study.report.colours import RAMP, aggressive_first, colours
from treeplex.holdem.study.report.export import actions_json
from treeplex.holdem.study.report.page_data import NodeReport, Side

MOST_NODES = 400
"""Maximum number of nodes on one page, at about 50 kB each."""


def page(
    nodes: Iterable[NodeReport], start: str, format: Format, *, title: str, facts: str, command: str, ev: str = "pot"
) -> str:
    """An HTML page of a solved spot, as text.

    Args:
        nodes: the nodes to include; for navigation, they should contain the path to ``start``.
        start: the line shown first.
        format: the spot's format; two hole cards.
        title: title of the browser window.
        facts: one line next to the board.
        command: the command that shows this solution, such as ``treeplex show turn.spot``, for nodes not on the page.
        ev: how EVs are initially shown, ``pot`` or ``net``.

    Raises:
        SpecError: the format has one hole card, for which there is no grid.
    """
    check_two_cards(format)
    data = {
        "start": start,
        "facts": facts,
        "command": command,
        "ev": ev,
        "ramp": RAMP,
        "hands": format.names(),
        "nodes": {node.line: node_data(node, format) for node in nodes},
    }
    parts = {
        "TITLE": html.escape(title),
        "STYLE": resource("page.css"),
        "SCRIPT": resource("page.js"),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    return filled(resource("page.html"), parts)


def check_two_cards(format: Format) -> None:
    """Raise :class:`SpecError` for formats with one hole card."""
    if format.hole != 2:
        raise SpecError(f"the grid needs two hole cards, and {format.name} deals one; leave --html and --png out")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with ``%NAME%`` replaced; replacements are not expanded again."""
    return re.sub(r"%([A-Z]+)%", lambda match: parts.get(match[1], match[0]), template)


def resource(name: str) -> str:
    """The text of a file in the folder ``assets``."""
    return (resources.files("treeplex.holdem.study.pages") / "assets" / name).read_text(encoding="utf-8")


def node_data(node: NodeReport, format: Format) -> dict[str, Any]:
    """One node's data for the page's script."""
    paint = colours(node.kinds)
    rows = [] if node.player is None else actions_json(node, node.sides[node.player])
    return {
        "line": node.line,
        "board": node.board,
        "street": node.street,
        "player": node.player,
        "pot": tidy(node.pot),
        "stacks": [tidy(stack) for stack in node.stacks],
        "committed": list(node.committed),
        "order": list(aggressive_first(node.kinds)),
        "actions": [
            {"name": row["name"], "size": row["pot_percent"] or "", "colour": colour}
            | {"often": row["frequency"], "combos": row["combos"], "ev": row["ev"]}
            for row, colour in zip(rows, paint, strict=True)
        ],
        "children": [
            {"line": child, "ends": bool(node.kinds) and node.kinds[index] == "fold"}
            for index, child in enumerate(node.children)
        ],
        "sides": [side_data(side, format) for side in node.sides],
    }


def side_data(side: Side, format: Format) -> dict[str, str]:
    """One player's arrays; hands without weight are left out, frequencies are integers up to 65535."""
    rows = np.flatnonzero(side.weight > 0)
    return {
        "hands": packed(hand_numbers(side.cards[rows], format).astype("<u2")),
        "weight": packed(side.weight[rows].astype("<f4")),
        "share": packed(side.share[rows].astype("<f4")),
        "ev": packed(side.ev[rows].astype("<f4")),
        "equity": packed(side.equity[rows].astype("<f4")),
        "taken": packed(np.round(65535 * np.clip(side.frequency[:, rows], 0, 1)).astype("<u2")),
        "values": packed(side.action_ev[:, rows].astype("<f4")),
    }


def hand_numbers(cards: NDArray[np.uint8], format: Format) -> NDArray[np.int64]:
    """Positions in ``format.hands`` of hands given as cards [n, 2], int64 [n]."""
    order = 64 * format.hands[:, 0].astype(np.int64) + format.hands[:, 1]
    return np.searchsorted(order, 64 * cards[:, 0].astype(np.int64) + cards[:, 1])


def packed(values: NDArray[Any]) -> str:
    """An array as base64 of its little-endian bytes, row by row."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def tidy(value: float) -> float | int:
    """A number rounded to four decimals; integers as int."""
    return int(value) if float(value).is_integer() else round(float(value), 4)
