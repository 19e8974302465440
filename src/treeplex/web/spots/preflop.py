"""Preflop charts: exact heads-up push/fold, solved charts with the ranges that see a flop, and blueprint charts."""

from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query

from treeplex.holdem.blueprint.policy import BLUEPRINT
from treeplex.holdem.study.preflop_charts import SHIPPED, shipped_charts
from treeplex.holdem.study.push_fold import largest_stacks, push_fold
from treeplex.holdem.study.push_fold_table import DEALS, table_push_fold
from treeplex.web.browsing.charts import Charts, about_chart, solved_chart
from treeplex.web.hosted import Hosts
from treeplex.web.served import Refusal, ServerState
from treeplex.web.spots.held import CachedSolution

MOST_CHARTED = 50.0
"""Largest stack, in big blinds, for charts of all stacks computed on request."""
STEP = 0.5
MOST_BLUEPRINTS = 2
READING = 900.0
"""Seconds for reading a blueprint, which recomputes its buckets."""
LONGEST_LINE = 200
Finite = Annotated[float, Query(allow_inf_nan=False)]


def routes(served: ServerState) -> APIRouter:
    """Routes for charts; columns are hand classes in grid order."""
    router = APIRouter(prefix="/api/preflop")
    charts = Hosts(Charts, MOST_BLUEPRINTS)
    served.closing.append(charts.close)

    @router.get("/pushfold")
    def one_stack(stack: Finite, ante: Finite = 0.0) -> dict[str, Any]:
        return push_fold_chart(stack, ante)

    @router.get("/table")
    def table(
        stacks: Annotated[str, Query(max_length=LONGEST_LINE)],
        payouts: Annotated[str, Query(max_length=LONGEST_LINE)] = "",
        ante: Finite = 0.0,
    ) -> dict[str, Any]:
        return table_chart(listed_numbers(stacks, "stacks"), listed_numbers(payouts, "payouts"), ante)

    @router.get("/chart")
    def all_stacks(to: Annotated[float, Query(gt=0, le=MOST_CHARTED)], ante: Finite = 0.0) -> dict[str, Any]:
        return largest_stacks_chart(to, ante)

    @router.get("/charts")
    def shipped() -> dict[str, Any]:
        return {"charts": list(shipped_charts())}

    @router.get("/solved")
    def solved(file: str, line: Annotated[str, Query(max_length=LONGEST_LINE)] = "") -> dict[str, Any]:
        held = chart_named(served, file)
        with held.lock:
            return solved_chart(held.solution, line)

    @router.get("/ranges")
    def ranges(file: str) -> dict[str, Any]:
        held = chart_named(served, file)
        with held.lock:
            return about_chart(file, held.solution)

    @router.get("/blueprint")
    def blueprint(file: str, line: Annotated[str, Query(max_length=LONGEST_LINE)] = "") -> dict[str, Any]:
        path = served.path(file)
        name = charts.find(str(path / BLUEPRINT if path.is_dir() else path), within=READING)
        return dict(charts[name].call("chart", line))

    return router


def chart_named(served: ServerState, file: str) -> CachedSolution:
    """Return a shipped chart by name, or a solved spot in the folder.

    Raises:
        Refusal: there is no such chart or file.
        FileError: the file is not a solution.
    """
    path = SHIPPED / f"{file}.spot" if file in shipped_charts() else served.path(file)
    return served.solutions.get(path)


@lru_cache(maxsize=256)
def push_fold_chart(stack: float, ante: float) -> dict[str, Any]:
    """Return the push/fold strategy for a stack.

    Raises:
        SpecError: the stack or ante is too small.
    """
    strategy = push_fold(stack, ante=ante)
    columns = {name: np.round(getattr(strategy, name), 6).tolist() for name in ("push", "call", "push_ev", "call_ev")}
    facts = {name: getattr(strategy, name) for name in ("stack", "ante", "value", "pushed", "called", "exploitability")}
    return {**facts, **columns}


def listed_numbers(text: str, field: str) -> tuple[float, ...]:
    """Read numbers separated by commas or spaces.

    Raises:
        Refusal: one of them is not a number.
    """
    try:
        return tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise Refusal(400, f"{field} {text[:60]!r} are not numbers; write 10, 12, 8", field) from None


@lru_cache(maxsize=64)
def table_chart(stacks: tuple[float, ...], payouts: tuple[float, ...], ante: float) -> dict[str, Any]:
    """Return the push/fold strategies of a table, solved on :data:`DEALS` random deals.

    Raises:
        SpecError: the stacks, payouts or ante are out of range.
    """
    found = table_push_fold(stacks, ante=ante, payouts=payouts, deals=DEALS)
    return {**found.to_json(), "summary": found.summary()}


@lru_cache(maxsize=32)
def largest_stacks_chart(to: float, ante: float) -> dict[str, Any]:
    """Return the largest stacks, up to ``to``, at which each hand class pushes and calls.

    Raises:
        SpecError: the stack or ante is too small.
    """
    push, call = largest_stacks(to, step=STEP, ante=ante)
    return {"to": to, "ante": ante, "step": STEP, "push": push.tolist(), "call": call.tolist()}
