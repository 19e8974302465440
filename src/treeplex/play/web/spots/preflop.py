"""Charts before the flop: push or fold heads up, exact, for one stack or for all up to one; and those of blueprints."""

import threading
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query

from treeplex.play.web.browsing.charts import Charts
from treeplex.play.web.hosted import Hosts
from treeplex.play.web.served import Served
from treeplex.solvers.holdem.push_fold import largest_stacks, push_fold

MOST_CHARTED = 50.0
"""Big blinds up to which all stacks are charted while somebody waits."""
STEP = 0.5
MOST_BLUEPRINTS = 2
READING = 900.0
"""Seconds that reading a blueprint may take: its buckets are made again."""
LONGEST_LINE = 200


def routes(served: Served) -> APIRouter:
    """What is answered about charts; columns are by class of hands, in the order of the grid."""
    router = APIRouter(prefix="/api/preflop")
    charts, known, guard = Hosts(Charts, MOST_BLUEPRINTS), dict[str, str](), threading.Lock()
    served.closing.append(charts.close)

    @router.get("/pushfold")
    def one_stack(stack: float, ante: float = 0.0) -> dict[str, Any]:
        return solved(stack, ante)

    @router.get("/chart")
    def all_stacks(to: Annotated[float, Query(gt=0, le=MOST_CHARTED)], ante: float = 0.0) -> dict[str, Any]:
        return charted(to, ante)

    @router.get("/blueprint")
    def blueprint(file: str, line: Annotated[str, Query(max_length=LONGEST_LINE)] = "") -> dict[str, Any]:
        path = str(served.path(file))
        with guard:
            name = known.get(path)
            if name is None or name not in charts.names():
                name = known[path] = charts.open(path, within=READING)
        return dict(charts[name].call("chart", line))

    return router


@lru_cache(maxsize=256)
def solved(stack: float, ante: float) -> dict[str, Any]:
    """Push or fold with one stack.

    Raises:
        SpecError: no stack or ante to play with.
    """
    found = push_fold(stack, ante=ante)
    columns = {name: np.round(getattr(found, name), 6).tolist() for name in ("push", "call", "push_ev", "call_ev")}
    facts = {name: getattr(found, name) for name in ("stack", "ante", "value", "pushed", "called", "exploitability")}
    return {**facts, **columns}


@lru_cache(maxsize=32)
def charted(to: float, ante: float) -> dict[str, Any]:
    """The largest stacks up to one with which each class is pushed and called.

    Raises:
        SpecError: no stack or ante to play with.
    """
    push, call = largest_stacks(to, step=STEP, ante=ante)
    return {"to": to, "ante": ante, "step": STEP, "push": push.tolist(), "call": call.tolist()}
