"""Routes for solved spots."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import Response

from treeplex.base.digits import finite
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.spot_form import FixedStrategy
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.spots.as_fields import spot_fields
from treeplex.holdem.spots.fields import PLAYERS, street_names
from treeplex.holdem.study.report.breakdown import node_range
from treeplex.holdem.study.report.export import header, number
from treeplex.web.arrays import MEDIA_TYPE
from treeplex.web.folder.found import found_solution, thin_records
from treeplex.web.served import Refusal, ServerState
from treeplex.web.spots.nodes import compare_nodes, node_tables, runouts


def routes(served: ServerState) -> APIRouter:
    """Routes for solved spots."""
    router = APIRouter(prefix="/api/solution")

    @router.get("")
    def about(file: str) -> dict[str, Any]:
        held = served.solutions.get(served.path(file))
        with held.lock:
            path = served.path(file)
            return {"file": file, **facts(held.solution), "resumable": found_solution(path, file)["resumable"]}

    @router.get("/node")
    def find_node(file: str, line: str = "", ev: str = "pot") -> Response:
        return Response(served.solutions.node(served.path(file), line, ev), media_type=MEDIA_TYPE)

    @router.get("/runouts")
    def find_runouts(file: str, line: str = "", then: str = "") -> dict[str, Any]:
        held = served.solutions.get(served.path(file))
        with held.lock:
            return runouts(held.solution.policy, line, then)

    @router.get("/range")
    def find_range(file: str, player: int, line: str = "") -> dict[str, Any]:
        held = served.solutions.get(served.path(file))
        with held.lock:
            return {"text": range_at(held.solution, line, player)}

    @router.get("/compare")
    def compare(
        file: str, other: Annotated[str, Query(alias="with")], line: str = "", with_line: str | None = None
    ) -> Response:
        held = [served.solutions.get(served.path(name)) for name in (file, other)]
        with ExitStack() as locked:
            for one in sorted(set(held), key=id):
                locked.enter_context(one.lock)
            pair = [cached.solution for cached in held]
            lines = line, line if with_line is None else with_line
            data = compare_nodes([solution.policy for solution in pair], lines, {"files": [file, other], **both(pair)})
        return Response(data, media_type=MEDIA_TYPE)

    return router


def facts(solution: HoldemSolution) -> dict[str, Any]:
    """Summarise a solution."""
    spot, about = solution.spot, header(solution)
    root = node_tables(solution.policy, solution.at(""))
    names = street_names(spot.format)
    target, fields = solution.target, spot_fields(spot)
    return {
        "name": solution.folder.stem if solution.folder else "",
        "spot": {
            **{name: about[name] for name in ("board", "pot", "stack", "rake", "chip", "blinds")},
            "format": spot.format.name,
            "unit": spot.unit,
            "opening_pot": spot.opening_pot,
            "committed": list(spot.committed),
        },
        "fields": fields,
        "ranges": [fields.get(name, about[name]) for name in PLAYERS],
        **{name: about[name] for name in ("algorithm", "iterations")},
        **{name: finite(about[name]) for name in ("exploitability", "exploitability_percent")},
        "seconds": solution.seconds,
        "status": solution.status,
        "target": None if target is None else number(target),
        "ev": [number(about["ev_oop"]), number(about["ev_ip"])],
        "equity": [number(side.mean(side.equity)) for side in root.sides],
        "streets": [names[street] for street in spot.streets][: solution.streets],
        "records": thin_records(
            [[record.done, record.seconds, number(float(record.exploitability))] for record in solution.records]
        ),
        "locks": locked_places(solution),
    }


def locked_places(solution: HoldemSolution) -> list[dict[str, Any]]:
    """List node locks: the line (with cards if it is for one board), the player, and the numbers of boards and hands."""
    game = solution.game
    locked: dict[int, list[FixedStrategy]] = {}
    streets = {}
    for lock in solution.locks:
        street = max(s for s, first in enumerate(game.first_boards[: len(game.boards)]) if first <= lock.board)
        number = game.forests[street].numbers[lock.player][lock.node]
        streets[number] = street
        locked.setdefault(number, []).append(lock)
    places = []
    for number, locks in locked.items():
        board = game.boards[streets[number]][locks[0].board - game.first_boards[streets[number]]]
        cards = board.cards[len(game.spot.board) :] if len(locks) == 1 else ()
        places.append(
            {
                "line": line_to(game, number, cards),
                "node": number,
                "player": locks[0].player,
                "boards": len(locks),
                "hands": max(int(np.isfinite(lock.strategy).all(axis=0).sum()) for lock in locks),
            }
        )
    return places


def line_to(game: CompiledSpot, number: int, cards: Sequence[int]) -> str:
    """Return the line to a node of the betting tree with the ``cards`` dealt; without cards it stands for any."""
    above: dict[int, tuple[int, str]] = {}
    sizes, before = game.spot.format.board_sizes, len(game.spot.board)
    for index, node in enumerate(game.betting.nodes):
        if isinstance(node, Decision):
            above |= {child: (index, action_text(action)) for child, action in zip(node.children, node.actions, strict=True)}
        elif isinstance(node, StreetEnd):
            dealt = cards[sizes[node.street] - before : sizes[node.street + 1] - before]
            above[node.child] = (index, cards_to_string(dealt))
    steps: list[str] = []
    while number in above:
        number, step = above[number]
        steps.append(step)
    return ",".join(filter(None, reversed(steps)))


def range_at(solution: HoldemSolution, line: str, player: int) -> str:
    """Return a player's range at a node as text; the most frequent hand has weight 1.

    Raises:
        SpecError: no such line.
    """
    if player not in (0, 1):
        raise Refusal(400, "player must be 0 (out of position) or 1 (in position)", "player")
    return node_range(node_tables(solution.policy, solution.at(line)).sides[player])


def both(pair: Sequence[HoldemSolution]) -> dict[str, Any]:
    """Summarise two solutions side by side."""
    return {
        "same_spot": pair[0].spot.identity == pair[1].spot.identity,
        "iterations": [solution.iterations for solution in pair],
        "exploitability": [number(solution.exploitability) for solution in pair],
        "locks": [len(solution.locks) for solution in pair],
        "ev": [
            [number(ev + put_in) for ev, put_in in zip(solution.ev, solution.spot.committed, strict=True)] for solution in pair
        ],
    }
