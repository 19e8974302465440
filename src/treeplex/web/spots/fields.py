"""New spots: ranges as texts and weights, validation of fields, and the estimated cost of solving."""

import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

from treeplex.base.located_text import marked_yaml
from treeplex.base.spec import shown
from treeplex.base.storage.reading import check_depth
from treeplex.engine.kernel_cache import entries
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.ranges import ReadRange, range_to_string, read_range
from treeplex.holdem.forms.spot_form import DISK
from treeplex.holdem.solve.budget import Budget, FittedSpot, fit_spot, wished
from treeplex.holdem.solve.estimate import SpotEstimate, solving_seconds, typical_iterations
from treeplex.holdem.solve.solver import method_of
from treeplex.holdem.solve.spot_game import SpotGame
from treeplex.holdem.spots.as_fields import fields_text, plain_fields
from treeplex.holdem.spots.fields import SolveFields, keys
from treeplex.holdem.spots.files import FIELDS, SpotRequest, read_spot_file, request_from_options
from treeplex.holdem.spots.saved_ranges import FILE, remove_range, save_range, saved_ranges
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.boards import Board, check_symmetric, is_file, read_boards
from treeplex.learn.common.device import gpu_expected
from treeplex.solvers.registry import algorithm_spec, is_own
from treeplex.web.served import Refusal, ServerState

DEFAULT: Mapping[str, Any] = {
    "board": "Td 9d 6h Qc 2s",
    "oop": "66+, A8s+, A5s-A4s, AJo+, K9s+, KQo, QTs+, JTs, 96s+, 85s+, 75s+, 65s, 54s",
    "ip": "QQ-22, AQs-A2s, ATo+, K5s+, KJo+, Q8s+, J8s+, T7s+, 96s+, 86s+, 75s+, 64s+, 53s+",
    "pot": "100",
    "stack": "400",
    "bets": {"default": "33%, 75%, a"},
    "raises": "2.5x, a",
    "target": "0.3%",
}
"""The page's example spot: a river that is solved in a second or two."""
PRESETS: Mapping[str, str] = {
    "every hand": "random",
    "top 10%": "top 10%",
    "top 25%": "top 25%",
    "top 50%": "top 50%",
    "any pair": "22+",
    "broadway": "ATs+, KTs+, QTs+, JTs, ATo+, KTo+, QTo+, JTo, TT+",
}
"""Ranges that are always offered."""
HOLDEM_KERNELS = "holdem"
"""Part of the names of kernels that solve spots; without any in the cache, the first solve compiles them."""
PLACE = "field "
"""Prefix of field names in error locations, for values from the page."""
LONGEST = 20_000
"""Characters of a saved range."""


def shallow(fields: dict[str, Any]) -> dict[str, Any]:
    """Return ``fields`` after checking that they are not nested too deeply.

    Raises:
        ValueError: the fields are nested too deeply.
    """
    check_depth(fields)
    return fields


Shallow = Annotated[dict[str, Any], AfterValidator(shallow)]
"""Fields of a spot in a request."""


class RangeText(BaseModel):
    """A range, as text or as weights of all hands."""

    model_config = ConfigDict(extra="forbid")
    text: str | None = Field(None, max_length=500_000)
    weights: list[FiniteFloat] | None = Field(None, max_length=1326)


class Preset(BaseModel):
    """A named range."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=60)
    text: str = Field(max_length=LONGEST)


class SpotFields(BaseModel):
    """The fields of a spot file, and a budget such as ``4GB,60s`` for which sizes are chosen."""

    model_config = ConfigDict(extra="forbid")
    fields: Shallow
    boards: str | None = Field(None, max_length=20_000)
    budget: str | None = Field(None, max_length=80)


@dataclass(frozen=True)
class BudgetRequest:
    """A budget as text, and the measured pace of this machine; None before it is measured."""

    text: str
    pace: float | None

    def fit(self, spot: Spot, threads: int | None) -> FittedSpot:
        """Choose sizes, storage and threads for a spot.

        Raises:
            SpecError: the budget cannot be parsed, or is too small.
        """
        return fit_spot(spot, Budget.read(self.text), threads=threads, pace=self.pace or 1.0)


class SpotText(BaseModel):
    """The text of a spot file."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(max_length=4_000_000)


def routes(served: ServerState) -> APIRouter:
    """Routes for spots."""
    router, saving = APIRouter(prefix="/api"), threading.Lock()

    @router.get("/spots/default")
    def default() -> dict[str, Any]:
        return {"fields": DEFAULT}

    @router.post("/spots/range")
    def find_range(body: RangeText) -> dict[str, Any]:
        return range_of(body)

    @router.post("/spots/check")
    def check(body: SpotFields) -> dict[str, Any]:
        budget = None if body.budget is None else BudgetRequest(body.budget, served.pace)
        return check_fields(body.fields, served.threads, body.boards, budget)

    @router.post("/spots/read")
    def read(body: SpotText) -> dict[str, Any]:
        root = marked_yaml(body.text, "the text")
        if root.entries is None:
            raise Refusal(400, f"the text must be lines such as pot: 200, not {root.kind}", "text")
        return {"fields": {key: plain_fields(value) for key, value in keys(root, "spot file", FIELDS).items()}}

    @router.get("/spots/file")
    def read_file(file: str) -> dict[str, Any]:
        request = read_spot_file(served.path(file))
        entries = {**request.fields, **{name: layers[-1] for name, layers in request.layers.items() if layers}}
        return {"fields": {name: plain_fields(value) for name, value in entries.items()}}

    @router.get("/presets")
    def presets() -> dict[str, Any]:
        return listed_presets(served)

    @router.post("/presets")
    def save_preset(body: Preset) -> dict[str, Any]:
        with saving:
            save_range(ranges_file(served), body.name, body.text)
        return listed_presets(served)

    @router.delete("/presets")
    def remove_preset(name: str) -> dict[str, Any]:
        with saving:
            remove_range(ranges_file(served), name)
        return listed_presets(served)

    return router


def range_of(given: RangeText) -> dict[str, Any]:
    """Return a range as text and as weights."""
    if (given.text is None) == (given.weights is None):
        raise Refusal(400, "give either text or weights", "text")
    read = ReadRange(np.array(given.weights, np.float64), "") if given.text is None else read_range(given.text)
    text, weights = range_to_string(read.weights), [round(float(weight), 6) for weight in read.weights]
    return {"text": text, "weights": weights, "combos": float(read.weights.sum()), "note": read.note}


def ranges_file(served: ServerState) -> Path:
    """Return the file of saved ranges.

    Raises:
        Refusal: the file is a link that leads outside the folder.
    """
    return served.inside(served.folder / FILE)


def listed_presets(served: ServerState) -> dict[str, Any]:
    """Return all offered ranges, the user's own first."""
    saved = list[dict[str, Any]]()
    with suppress(FileError, Refusal):  # the library's ranges are available even if the user's file is not
        saved = [{"name": name, "text": text, "own": True} for name, text in saved_ranges(ranges_file(served)).items()]
    return {"presets": saved + [{"name": name, "text": text, "own": False} for name, text in PRESETS.items()]}


def spot_request(fields: Mapping[str, Any]) -> SpotRequest:
    """Convert the page's fields to those of a spot file.

    Raises:
        SpecError: an unknown field.
        FileError: the text in braces is not a table.
    """
    return request_from_options(fields, PLACE)


def spot_of(fields: Mapping[str, Any], *, wish: bool = False) -> Spot:
    """Create the spot that fields describe; with ``wish``, without sizes it has those from which a budget removes some.

    Raises:
        Refusal: a field is missing or invalid.
    """
    try:
        request = spot_request(fields)
        spot = (wished(request) if wish else request).spot()
        check_settings(spot.settings)
    except TreeplexError as error:
        field, message = field_and_message(str(error))
        raise Refusal(400, message, field) from error
    return spot


def check_settings(how: SolveFields) -> None:
    """Check that the page may solve a spot with these settings: its jobs write only in the served folder and solve all streets.

    Raises:
        SpecError: storage in another folder, an end of the solve, or as in :func:`check_algorithm`.
    """
    check_algorithm(how.algorithm)
    if how.storage is not None and how.storage.startswith(DISK):
        raise SpecError(f"{PLACE}storage: {DISK} writes outside the served folder; use it on the command line, or packed here")
    if how.until is not None:
        raise SpecError(f"{PLACE}until: the page solves all streets; leave it out, or solve the spot on the command line")


def check_algorithm(text: str | None) -> None:
    """Check an algorithm for spots; rejects file names, since a page must not choose files to read or run.

    Raises:
        SpecError: the algorithm is a file, or is unknown.
    """
    if text is None:
        return
    try:
        given = [value for value in algorithm_spec(text).parameters.values() if isinstance(value, str)]
        if is_own(text) or any(mark in value for value in given for mark in "./\\"):
            raise SpecError(
                f"{shown(text)} is not a built-in algorithm; custom algorithms can only be used on the command line (-a)"
            )
        method_of(text)
    except TreeplexError as error:
        raise SpecError(f"{PLACE}algorithm: {error}") from error


def field_and_message(message: str) -> tuple[str | None, str]:
    """Return the field that an error concerns, and the message without file and option locations."""
    match = re.match(rf"{PLACE}([\w-]+):(?: \1:)? ", message)
    if match:
        return match[1].replace("-", "_"), message[match.end() :].replace(f"{PLACE}{match[1]} ", f"{match[1]}: ")
    if match := re.match(r"the spot: (\w+) is missing", message):
        return match[1], f"{match[1]} is missing, such as {FIELDS[match[1]]}" if match[1] in FIELDS else message
    if match := re.match(rf"unknown option {PLACE}([\w-]+)", message):
        return match[1], message.replace(f"option {PLACE}", "field ")
    return None, message.removeprefix("the spot: ").replace(PLACE, "")


def boards_named(text: str) -> tuple[Board, ...]:
    """Parse the boards of a batch; unlike on the command line, files are not read.

    Raises:
        Refusal: there is no board, a board is invalid, or the text is a file name.
    """
    try:
        if is_file(text.strip()):
            raise SpecError("boards: files can only be used on the command line; write the boards themselves")
        return read_boards(text)
    except SpecError as error:
        raise Refusal(400, str(error), "boards") from error


def check_fields(
    fields: Mapping[str, Any], threads: int | None, boards: str | None = None, budget: BudgetRequest | None = None
) -> dict[str, Any]:
    """Return all errors in fields, and the estimated cost of solving them; for a batch, on its first board. ``gpu``: whether to
    offer a GPU.

    With a budget, the sizes, storage and threads are chosen for it.
    """
    problems: list[dict[str, Any]] = []
    tried, named = dict(fields), tuple[Board, ...]()
    if boards is not None:
        try:
            named = boards_named(boards)
            tried["board"] = named[0].name
        except Refusal as error:
            problems.append({"field": "boards", "message": str(error)})
    spot = None
    while spot is None and len(problems) <= len(FIELDS):
        try:
            request = spot_request(tried)
            spot = (request if budget is None else wished(request)).spot()
            check_settings(spot.settings)
            check_symmetric(request.ranges(), named)
        except TreeplexError as error:
            spot = None
            field, message = field_and_message(str(error))
            problems.append({"field": field, "message": message})
            if field is None or tried.get(field) == DEFAULT.get(field):
                break
            tried.pop(field, None)
            if field in DEFAULT:
                tried[field] = DEFAULT[field]
    fitted = None
    if budget is not None and spot is not None and not problems:
        try:
            fitted = budget.fit(spot, threads)
            spot, fields = fitted.spot, {**fields, **fitted.fields()}
        except SpecError as error:
            problems.append({"field": "budget", "message": str(error).removeprefix("budget: ")})
    result: dict[str, Any] = {
        "ok": not problems,
        "problems": problems,
        "text": fields_text(fields),
        "boards": len(named) or None,
        "plan": None if fitted is None else plan_of(fitted),
        "gpu": gpu_expected(),
    }
    if spot is None or problems:
        return {**result, "board": None, "opening_pot": None, "chip": None, "combos": None, "estimate": None}
    return {
        **result,
        "board": [cards_to_string([card]) for card in spot.board],
        "opening_pot": spot.opening_pot,
        "chip": spot.chip,
        "unit": spot.unit,
        "combos": [float(weights.sum()) for weights in (request.ranges() if named else spot.ranges)],
        "estimate": estimate_cost(spot, threads) if fitted is None else cost_of(fitted.estimate),
    }


def plan_of(fitted: FittedSpot) -> dict[str, Any]:
    """Return what was chosen for a budget."""
    return {
        "fields": fitted.fields(),
        "facts": fitted.facts(),
        "left_out": list(fitted.left_out),
        "memory": fitted.memory,
        "seconds": fitted.seconds,
        "late": fitted.late,
    }


def estimate_cost(spot: Spot, threads: int | None) -> dict[str, Any]:
    """Estimate the cost of solving a spot: its size, bytes and seconds."""
    try:
        how = replace(spot.settings, threads=spot.settings.threads or threads)
        estimate = SpotGame(replace(spot, settings=how)).estimate()
    except SpecError as error:
        return {"refusal": str(error), "fits": {}}
    return cost_of(estimate)


def cost_of(estimate: SpotEstimate) -> dict[str, Any]:
    """Return an estimate for the page."""
    size, iterations = estimate.size, typical_iterations(estimate.spot)
    return {
        "nodes": size.nodes,
        "boards": list(size.boards),
        "decisions": size.decisions,
        "infosets": size.infosets,
        "numbers": size.stored,
        "memory": dict(estimate.memory),
        "available": estimate.available,
        "fits": {kind: estimate.fits(kind) for kind in estimate.memory},
        "seconds_per_iteration": estimate.seconds,
        "iterations_typical": iterations,
        "seconds_typical": solving_seconds(estimate),
        "compiles": not any(HOLDEM_KERNELS in entry.kernel for entry in entries()),
        "threads": estimate.threads,
        "refusal": estimate.refusal,
    }
