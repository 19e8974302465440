"""Nodes of solved spots for the page: single nodes, runouts, and comparisons of two solutions."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import RANKS, SUITS, card_to_string, hand_numbers
from treeplex.holdem.cards.made_hands import KINDS
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.policies.view import NodeView
from treeplex.holdem.study.report.comparison import compare_sides
from treeplex.holdem.study.report.export import NodeSource, actions_json, number
from treeplex.holdem.study.report.measures import node_statistics
from treeplex.holdem.study.report.page_data import NodeReport, Side, report
from treeplex.holdem.study.report.runouts import around_card
from treeplex.holdem.study.report.runouts import runouts as find_runouts
from treeplex.web.arrays import pack

EVS = ("pot", "net")


class ShownPolicy(NodeSource, Protocol):
    """Protocol for a policy on a spot."""

    def at(self, line: str) -> NodeView: ...
    def locked(self, line: str) -> NDArray[np.bool_]: ...


def node(played: ShownPolicy, line: str, ev: str = "pot", note: str | None = None) -> bytes:
    """Return a node with all data that the page shows, packed.

    ``deals`` in its header is the number of cards dealt next; if several are dealt at once, lines for them are omitted.

    Args:
        played: a policy on a spot.
        line: the line to the node.
        ev: EV convention: ``pot`` (chips received from the pot) or ``net``.
        note: a remark on the strategy for the header.

    Raises:
        SpecError: there is no such line, or hands have only one card.
    """
    view = played.at(line)
    tables = node_tables(played, view, ev)
    locked = played.locked(view.line)
    arrays: dict[str, NDArray[Any]] = {}
    for player, side in enumerate(tables.sides):
        arrays |= {
            f"hands{player}": hand_numbers(side.cards),
            f"weight{player}": side.weight,
            f"share{player}": side.share,
            f"ev{player}": side.ev,
            f"equity{player}": side.equity,
        }
        if len(tables.cards) >= 3:
            arrays |= {f"{by}{player}": find(tables.cards, side.cards) for by, (_, find) in KINDS.items()}
    if tables.player is not None:
        arrays |= {"frequency": tables.sides[tables.player].frequency, "action_ev": tables.sides[tables.player].action_ev}
    if locked.any():
        arrays["locked"] = locked
    due = 0 if tables.player is not None or not tables.children else len(tables.children[0].rpartition(",")[2]) // 2
    head = {
        "line": tables.line,
        "unit": played.spot.unit,
        "board": cards_of(tables.cards),
        "street": tables.street,
        "player": tables.player,
        "pot": tables.pot,
        "stacks": tables.stacks,
        "committed": tables.committed,
        "street_bets": view.street_bets,
        "deals": due,
        "over": tables.player is None and not tables.children,
        "actions": actions(view, tables),
        "children": tables.children if due < 2 else [],
        "path": path(played, tables.line),
        "sides": [side_totals(side) for side in tables.sides],
        "locked": int(locked.sum()),
        "groupings": {by: names for by, (names, _) in KINDS.items()} if len(tables.cards) >= 3 else {},
        "measures": statistics_at(played, tables.line),
        "note": note,
    }
    return pack(head, arrays)


def statistics_at(played: ShownPolicy, line: str) -> dict[str, Any]:
    """EQR, pot odds and related numbers at a node; None where they do not apply."""
    statistics = node_statistics(played, line)
    plain = {name: number(getattr(statistics, name)) for name in ("call", "pot_odds", "mdf", "defended")}
    return {"eqr": [number(share) for share in statistics.eqr], **plain}


def node_tables(played: ShownPolicy, view: NodeView, ev: str = "pot") -> NodeReport:
    """Convert a view to tables."""
    if played.spot.format.hole != 2:
        raise SpecError(f"the page supports hands of two cards, but {played.spot.format.name} deals one; use treeplex show")
    if ev not in EVS:
        raise SpecError(f"ev {ev[:20]!r} is unknown; write pot or net")
    tables = report(view, played.spot)
    return tables.from_the_pot() if ev == "pot" else tables


def cards_of(cards: Sequence[int]) -> list[str]:
    """Return the names of cards."""
    return [card_to_string(card) for card in cards]


def side_totals(side: Side) -> dict[str, float | None]:
    """Return the totals of a range."""
    return {
        "combos": number(side.combos),
        "ev": number(side.mean(side.ev)),
        "equity": number(side.mean(side.equity)),
    }


def actions(view: NodeView, report: NodeReport) -> list[dict[str, Any]]:
    """Return a node's actions with the totals of each action's range."""
    if report.player is None:
        return []
    rows = zip(view.actions, report.sizes, actions_json(report, report.sides[report.player]), strict=True)
    totals = ("frequency", "combos", "ev")
    return [{**offer(action, size), **{name: row[name] for name in totals}} for action, size, row in rows]


def offer(action: Any, size: str) -> dict[str, Any]:
    """Return an action with its size."""
    return {
        "step": action_text(action),
        "name": str(action),
        "kind": action.kind,
        "size": size,
        "amount": float(action.amount),
    }


def path(played: ShownPolicy, line: str) -> list[dict[str, Any]]:
    """Return the nodes on the path to a node, root first, each with the chosen action and its alternatives."""
    steps = line.split(",") if line else []
    nodes = []
    for count, step in enumerate(steps):
        view = played.at(",".join(steps[:count]))
        nodes.append(
            {
                "line": view.line,
                "player": view.player,
                "board": cards_of(view.board),
                "pot": float(view.pot),
                "step": step,
                "steps": [action_text(action) for action in view.actions],
                "frequency": [number(share) for share in view.frequency],
            }
        )
    return nodes


def runouts(played: ShownPolicy, line: str, then: str = "") -> dict[str, Any]:
    """Return the runouts of a line: each next card's probability, the strategy after it, and both ranges' values.

    Args:
        played: a policy on a spot.
        line: a line that ends before one card is dealt; in a longer line, the last card stands for any card.
        then: further actions after the card.

    Raises:
        SpecError: there is no such line, not exactly one card is dealt after it, or no decision follows the card.
    """
    before, after = around_card(played, line)
    after = ",".join(filter(None, [after, then]))
    one = played.at(before).children()[0]
    table = find_runouts(played, f"{one},{after}" if after else one)
    view = played.at(f"{one},{table.after}" if table.after else one)
    sizes = node_tables(played, view).sizes
    cards: list[dict[str, Any] | None] = [None] * (len(RANKS) * len(SUITS))
    for index, card in enumerate(table.cards):
        name = card_to_string(int(card))
        cards[int(card)] = {
            "card": name,
            "line": ",".join(filter(None, [table.before, name, table.after])),
            "chance": number(table.chance[index]),
            "reach": number(table.reach[index]),
            "frequency": [number(share) for share in table.frequency[:, index]],
            "ev": [number(value) for value in table.ev[:, index]],
            "equity": [number(value) for value in table.equity[:, index]],
        }
    offers = [offer(action, size) for action, size in zip(view.actions, sizes, strict=True)]
    return {"line": table.before, "then": table.after, "player": table.player, "actions": offers, "cards": cards}


def compare_nodes(pair: Sequence[ShownPolicy], lines: Sequence[str], head: Mapping[str, Any]) -> bytes:
    """Compare a node of two solutions hand by hand, packed.

    Args:
        pair: two policies.
        lines: the line in each solution; bet sizes may differ.
        head: additional header entries.

    Raises:
        SpecError: there is no such line, or the boards differ.
    """
    views = [played.at(line) for played, line in zip(pair, lines, strict=True)]
    one, other = (node_tables(played, view) for played, view in zip(pair, views, strict=True))
    if sorted(one.cards) != sorted(other.cards):
        raise SpecError(
            f"the boards differ, {one.board or 'none'} and {other.board or 'none'}; compare nodes on the same board"
        )
    arrays: dict[str, NDArray[Any]] = {}
    for player in (0, 1):
        both = compare_sides(one.sides[player], other.sides[player])
        arrays |= {
            f"hands{player}": hand_numbers(one.sides[player].cards)[both.rows[0]],
            f"ev{player}a": both.ev[0],
            f"ev{player}b": both.ev[1],
            f"difference{player}": both.difference,
            f"share{player}a": one.sides[player].share[both.rows[0]],
            f"share{player}b": other.sides[player].share[both.rows[1]],
        }
    about = {
        "line": [one.line, other.line],
        "board": cards_of(one.cards),
        "player": [one.player, other.player],
        "actions": [actions(view, tables) for view, tables in zip(views, (one, other), strict=True)],
        "sides": [[side_totals(side) for side in tables.sides] for tables in (one, other)],
    }
    return pack({**head, **about}, arrays)
