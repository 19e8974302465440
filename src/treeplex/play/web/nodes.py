"""Nodes of solved spots for the page: one node, all cards that may come next, two solutions side by side."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.poker.cards.cards import RANKS, SUITS, card_to_string, parse_cards
from treeplex.games.poker.cards.made_hands import KINDS
from treeplex.games.poker.spots.spot import Spot
from treeplex.play.web.arrays import pack
from treeplex.runs.holdem.report.export import actions_json, number
from treeplex.runs.holdem.report.line import action_text
from treeplex.runs.holdem.report.measures import measures
from treeplex.runs.holdem.report.page_data import NodeReport, Side, report
from treeplex.runs.holdem.report.view import View

CARDS = re.compile(r"(?:[2-9TJQKA][cdhs])+")
"""A step of a canonical line that is cards."""
EVS = ("pot", "net")
LEAST_BOARD = 3
"""Cards on a board on which hands are made."""


class Played(Protocol):
    """A policy on a spot, or a solution."""

    @property
    def spot(self) -> Spot: ...
    def at(self, line: str) -> View: ...
    def locked(self, line: str) -> NDArray[np.bool_]: ...


def node(played: Played, line: str, ev: str = "pot") -> bytes:
    """One node with everything that the page shows of it, packed.

    Args:
        played: a policy on a spot.
        line: how one gets to the node.
        ev: how EVs count: ``pot`` (what comes back from the pot) or ``net``.

    Raises:
        SpecError: no such line, or hands of one card.
    """
    view = played.at(line)
    found = reported(played, view, ev)
    locked = played.locked(view.line)
    kinds = len(found.cards) >= LEAST_BOARD
    arrays: dict[str, NDArray[Any]] = {}
    for player, side in enumerate(found.sides):
        arrays |= {
            f"hands{player}": hand_numbers(side),
            f"weight{player}": side.weight,
            f"share{player}": side.share,
            f"ev{player}": side.ev,
            f"equity{player}": side.equity,
        }
        if kinds:
            arrays |= {f"{by}{player}": find(found.cards, side.cards) for by, (_, find) in KINDS.items()}
    if found.player is not None:
        arrays |= {"frequency": found.sides[found.player].frequency, "action_ev": found.sides[found.player].action_ev}
    if locked.any():
        arrays["locked"] = locked
    head = {
        "line": found.line,
        "board": cards_of(found.cards),
        "street": found.street,
        "player": found.player,
        "pot": found.pot,
        "stacks": found.stacks,
        "committed": found.committed,
        "street_bets": view.street_bets,
        "deals": found.player is None and bool(found.children),
        "over": found.player is None and not found.children,
        "actions": actions(view, found),
        "children": found.children,
        "path": path(played, found.line),
        "sides": [side_totals(side) for side in found.sides],
        "locked": int(locked.sum()),
        "groupings": {by: names for by, (names, _) in KINDS.items()} if kinds else None,
        "measures": reckoned(played, found.line),
    }
    return pack(head, arrays)


def reckoned(played: Played, line: str) -> dict[str, Any]:
    """What players reckon at a node; null where a figure means nothing."""
    found = measures(played, line)
    return {
        "eqr": [number(share) for share in found.eqr],
        "call": found.call,
        "pot_odds": number(found.pot_odds),
        "mdf": number(found.mdf),
        "defended": number(found.defended),
    }


def reported(played: Played, view: View, ev: str = "pot") -> NodeReport:
    """A view as tables."""
    if played.spot.format.hole != 2:
        raise SpecError(f"the page is for two hole cards, and {played.spot.format.name} deals one; use treeplex holdem show")
    if ev not in EVS:
        raise SpecError(f"ev {ev[:20]!r} is not known; write pot or net")
    found = report(view, played.spot)
    return found.from_the_pot() if ev == "pot" else found


def hand_numbers(side: Side) -> NDArray[np.int64]:
    """[n] the places in ``HANDS`` of the hands of a side."""
    low, high = side.cards[:, 0].astype(np.int64), side.cards[:, 1].astype(np.int64)
    return low * (101 - low) // 2 + high - 1


def cards_of(cards: Sequence[int]) -> list[str]:
    """Cards as texts."""
    return [card_to_string(card) for card in cards]


def side_totals(side: Side) -> dict[str, float | None]:
    """What a whole range is worth."""
    return {
        "combos": number(side.combos),
        "ev": number(side.mean(side.ev)),
        "equity": number(side.mean(side.equity)),
    }


def actions(view: View, found: NodeReport) -> list[dict[str, Any]]:
    """The actions at a node with the totals of the range that takes them."""
    if found.player is None:
        return []
    rows = zip(view.actions, found.sizes, actions_json(found, found.sides[found.player]), strict=True)
    totals = ("frequency", "combos", "ev")
    return [{**offer(action, size), **{name: row[name] for name in totals}} for action, size, row in rows]


def offer(action: Any, size: str) -> dict[str, Any]:
    """An action as it is offered."""
    return {
        "step": action_text(action),
        "name": str(action),
        "kind": action.kind,
        "size": size,
        "amount": float(action.amount),
    }


def path(played: Played, line: str) -> list[dict[str, Any]]:
    """The nodes on the way to a node, the root first, each with what was done there and what could have been."""
    steps = line.split(",") if line else []
    found = []
    for count, step in enumerate(steps):
        view = played.at(",".join(steps[:count]))
        found.append(
            {
                "line": view.line,
                "player": view.player,
                "board": cards_of(view.board),
                "pot": float(view.pot),
                "step": step,
                "steps": [action_text(action) for action in view.actions],
            }
        )
    return found


def runouts(played: Played, line: str, then: str = "") -> dict[str, Any]:
    """What happens after each card that can come next: how likely it is, what is done then, and what both ranges are worth.

    Args:
        played: a policy on a spot.
        line: a line that ends where one card comes; in one that goes on, its last card is replaced by each.
        then: actions after the card.

    Raises:
        SpecError: no card comes on this line, several come at once, or no such line.
    """
    view = played.at(line)
    before, after = view.line, then
    if view.player is not None or not view.children():
        steps = view.line.split(",")
        dealt = [place for place, step in enumerate(steps) if CARDS.fullmatch(step)]
        if not dealt:
            raise SpecError(f"line {line[:100]!r}: no card comes on it; end it where a street does, x,x say")
        before, after = ",".join(steps[: dealt[-1]]), ",".join([*steps[dealt[-1] + 1 :], *filter(None, [then])])
    found: list[dict[str, Any] | None] = [None] * (len(RANKS) * len(SUITS))
    known: dict[str, Any] = {"player": None, "actions": []}
    for child in played.at(before).children():
        card = parse_cards(child.rpartition(",")[2])
        if len(card) != 1:
            raise SpecError(
                f"line {before[:100]!r}: {len(card)} cards come at once there; runouts are of the turn and the river"
            )
        dealt_view = played.at(child)
        reach = float(np.nansum(dealt_view.compatible_of(0)))
        place = played.at(f"{child},{after}") if after else dealt_view
        here = reported(played, place)
        acting = None if here.player is None else here.sides[here.player]
        known = {
            "player": here.player,
            "actions": [offer(action, size) for action, size in zip(place.actions, here.sizes, strict=True)],
        }
        found[card[0]] = {
            "card": card_to_string(card[0]),
            "line": here.line,
            "chance": reach,
            "frequency": [] if acting is None else [number(share) for share in acting.totals],
            "ev": [number(side.mean(side.ev)) for side in here.sides],
            "equity": [number(side.mean(side.equity)) for side in here.sides],
        }
    total = sum(each["chance"] for each in found if each)
    for each in filter(None, found):
        each["chance"] = number(each["chance"] / total) if total else None
    return {"line": before, "then": after, **known, "cards": found}


def compared(pair: Sequence[Played], lines: Sequence[str], head: Mapping[str, Any]) -> bytes:
    """A node of two solutions side by side, hand by hand, packed.

    Args:
        pair: two policies.
        lines: the line in each; they may differ in sizes.
        head: what the header says besides.

    Raises:
        SpecError: no such line, or boards that differ.
    """
    views = [played.at(line) for played, line in zip(pair, lines, strict=True)]
    one, other = (reported(played, view) for played, view in zip(pair, views, strict=True))
    if sorted(one.cards) != sorted(other.cards):
        raise SpecError(
            f"the boards differ, {one.board or 'none'} and {other.board or 'none'}; compare nodes on the same board"
        )
    arrays: dict[str, NDArray[Any]] = {}
    for player in (0, 1):
        sides = one.sides[player], other.sides[player]
        hands, mine, others = np.intersect1d(hand_numbers(sides[0]), hand_numbers(sides[1]), return_indices=True)
        evs = sides[0].ev[mine], sides[1].ev[others]
        arrays |= {
            f"hands{player}": hands,
            f"ev{player}a": evs[0],
            f"ev{player}b": evs[1],
            f"difference{player}": evs[1] - evs[0],
        }
        arrays |= {f"share{player}a": sides[0].share[mine], f"share{player}b": sides[1].share[others]}
    about = {
        "line": [one.line, other.line],
        "board": cards_of(one.cards),
        "player": [one.player, other.player],
        "actions": [actions(view, found) for view, found in zip(views, (one, other), strict=True)],
        "sides": [[side_totals(side) for side in found.sides] for found in (one, other)],
    }
    return pack({**head, **about}, arrays)
