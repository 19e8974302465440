"""Routes for drills: hands of solved spots, dealt up to a decision."""

from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.study.batches.boards import Texture, texture_of
from treeplex.holdem.study.drill import DrillFilter, deal, follow, plain, question_at, solved_spots
from treeplex.holdem.study.preflop_charts import SHIPPED, shipped_charts
from treeplex.web.folder.found import found_solution
from treeplex.web.served import Refusal, ServerState


class DrillRequest(BaseModel):
    """A request for a question.

    Attributes:
        file: a solved spot, a folder of them, or the name of a shipped preflop chart, such as ``100bb``.
        line: the start node or, with ``dealt``, the line to continue or to repeat.
        player, street, suits, pairing, high, connected: see :class:`treeplex.holdem.study.drill.DrillFilter`.
        hands: names of groups of hands and entries of ranges, separated by commas.
        dealt: rows of both players' hands of an earlier question.
        repeat: with ``dealt``, ask the same question again; otherwise the hand goes on after ``line``.
        seed: random seed; None for a random one.
    """

    model_config = ConfigDict(extra="forbid")
    file: str = Field(max_length=1000)
    line: str = Field("", max_length=2000)
    player: int | None = Field(None, ge=0, le=1)
    street: str | None = Field(None, max_length=20)
    hands: str = Field("", max_length=2000)
    suits: str | None = Field(None, max_length=20)
    pairing: str | None = Field(None, max_length=20)
    high: str | None = Field(None, max_length=1)
    connected: str | None = Field(None, max_length=20)
    dealt: tuple[int, int] | None = None
    repeat: bool = False
    seed: int | None = Field(None, ge=0, le=2**53)

    def wanted(self) -> DrillFilter:
        """The filters."""
        groups = tuple(name.strip() for name in self.hands.split(",") if name.strip())
        return DrillFilter(self.player, self.street, groups, self.suits, self.pairing, self.high, self.connected)


def routes(served: ServerState) -> APIRouter:
    """Routes for drills."""
    router = APIRouter(prefix="/api/drill")

    @router.post("")
    def ask(body: DrillRequest) -> dict[str, Any]:
        rng = np.random.default_rng(body.seed)
        chart = body.file in shipped_charts() and not (served.folder / body.file).exists()
        path = SHIPPED / f"{body.file}.spot" if chart else chosen(served, served.path(body.file), body, rng)
        name = body.file if chart else served.name(path)
        held = served.solutions.get(path)
        with held.lock:
            policy = held.solution.policy
            if body.dealt is None:
                question = deal(policy, body.wanted(), rng, body.line)
            else:
                if not all(0 <= row < len(policy.spot.format.hands) for row in body.dealt):
                    raise Refusal(400, "dealt must be two rows of hands from an earlier question", "dealt")
                if body.repeat:
                    question = question_at(policy, body.line, body.dealt)
                else:
                    player = body.player if body.player is not None else 0
                    after = follow(policy, body.wanted(), rng, body.line, player, body.dealt)
                    if after is None:
                        return {"file": name, "over": True}
                    question = after
            return {"file": name, "over": False, **plain(question)}

    @router.get("/charts")
    def charts() -> dict[str, Any]:
        return {"charts": shipped_charts()}

    return router


def chosen(served: ServerState, path: Path, body: DrillRequest, rng: np.random.Generator) -> Path:
    """The solved spot: the file itself, or one of a folder's with the wanted texture.

    Raises:
        Refusal: the folder has no such spot.
    """
    if not path.is_dir():
        return path
    found = solved_spots(path)
    wanted = {name: getattr(body, name) for name in Texture._fields if getattr(body, name) is not None}
    fitting = []
    for file in found:
        board = parse_cards(str(found_solution(served.inside(file), served.name(file))["board"]))
        if not wanted or (len(board) >= 3 and wanted.items() <= texture_of(board)._asdict().items()):
            fitting.append(file)
    if not fitting:
        why = "with this texture; choose another" if found else "; solve the flops again and save the solved spots"
        raise Refusal(404, f"{body.file[:80]!r} has no solved spot{'' if not found else ' '}{why}", "file")
    return fitting[int(rng.integers(len(fitting)))]
