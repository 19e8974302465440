"""Downloads and uploads: nodes as CSV and JSON, the stand-alone page, flop reports, and other files."""

import csv
import io
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from treeplex.base.digits import finite
from treeplex.base.storage.reading import MOST_TEXT, parse_json, read_bytes
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.spots.spot_table import SOLVED_FILE, SPOT_FILES
from treeplex.holdem.study.batches.batch import BATCH
from treeplex.holdem.study.batches.boards import texture_of
from treeplex.holdem.study.pages.holdem import MOST_NODES, page
from treeplex.holdem.study.report.export import header, lines_above, lines_below, node_json, node_lines, node_report
from treeplex.holdem.study.report.page_data import PLAYERS, NodeReport
from treeplex.run.job.folder import JobFolder
from treeplex.web.folder.deleted import delete
from treeplex.web.safety import MOST_UPLOAD
from treeplex.web.served import Refusal, ServerState
from treeplex.web.spots.held import CachedSolution
from treeplex.web.spots.nodes import EVS


class NewName(BaseModel):
    """A new name for a solution."""

    model_config = ConfigDict(extra="forbid")
    file: str = Field(max_length=1000)
    name: str = Field(min_length=1, max_length=80)


UPLOADED = (SOLVED_FILE, *SPOT_FILES, ".phh", ".txt")
MADE = (*UPLOADED, ".csv", ".md", ".json", ".jsonl", ".png", ".svg", ".safetensors")
"""Suffixes of files that may be downloaded."""
DEEPEST = 100


def routes(served: ServerState) -> APIRouter:
    """Routes for files."""
    router = APIRouter(prefix="/api")

    @router.get("/solution/export")
    def export(
        file: str, kind: Annotated[str, Query(alias="as")] = "csv", line: str = "", depth: int = 0, ev: str = "pot"
    ) -> Response:
        return export_node(served.solutions.get(served.path(file)), kind, line, depth, ev, Path(file).stem.lstrip(":"))

    @router.get("/solution/page")
    def page_of(file: str, line: str = "") -> Response:
        held = served.solutions.get(served.path(file))
        with held.lock:
            return download(page_text(held, line, file), "text/html", f"{Path(file).stem.lstrip(':')}.html")

    @router.get("/batch")
    def batch(file: str) -> dict[str, Any]:
        return batch_rows(served.path(file), file)

    @router.get("/download")
    def download_file(file: str) -> FileResponse:
        path = served.path(file)
        if not path.is_file() or path.suffix not in MADE:
            raise Refusal(403, f"{file[:80]!r} cannot be downloaded; choose one of {', '.join(MADE)}", "file")
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    @router.post("/solution/rename")
    def rename(body: NewName) -> dict[str, Any]:
        path = solution_path(served, body.file)
        target = served.reserve(body.name, SOLVED_FILE, path.parent)
        try:
            os.replace(path, target)
        except OSError as error:
            target.unlink(missing_ok=True)
            raise FileError(f"cannot rename {path.name}: {error.strerror or error}; check its permissions") from error
        if served.work is not None:
            served.work.renamed(path, target)
        served.events.send("files", {})
        return {"file": served.name(target)}

    @router.delete("/solution")
    def remove(file: str) -> dict[str, Any]:
        token = delete(served, solution_path(served, file))
        served.events.send("files", {})
        return {"deleted": token}

    @router.post("/upload")
    async def upload(request: Request, name: str) -> dict[str, Any]:
        suffix = PurePosixPath(name).suffix.lower()
        if suffix not in UPLOADED:
            raise Refusal(400, f"{name[:80]!r} cannot be uploaded; send one of {', '.join(UPLOADED)}", "name")
        stem = name[: -len(suffix)]
        target = served.free_file(stem, suffix)
        temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(6)}.tmp")
        size = 0
        try:
            with temporary.open("xb") as out:
                async for part in request.stream():
                    size += len(part)
                    if size > MOST_UPLOAD:
                        raise Refusal(413, f"the file exceeds {MOST_UPLOAD // 1024**2} MB; send a smaller one")
                    out.write(part)
                out.flush()
                await to_thread.run_sync(os.fsync, out.fileno())
            target = served.reserve(stem, suffix)  # reserved after the upload, during which the name may have been taken
            os.replace(temporary, target)
        except OSError as error:
            raise FileError(f"cannot write {target.name}: {error.strerror or error}; free some space") from error
        finally:
            temporary.unlink(missing_ok=True)
        served.events.send("files", {})
        return {"file": served.name(target)}

    return router


def solution_path(served: ServerState, file: str) -> Path:
    """Return the path of a solution in the folder that no job writes.

    Raises:
        Refusal: there is no such solution in the folder (404), or a job is writing it (409).
    """
    path = served.path(file)
    if path.suffix != SOLVED_FILE or not path.is_file() or not path.resolve().is_relative_to(served.folder):
        raise Refusal(404, f"{file[:80]!r} is not a solved spot in the folder", "file")
    if served.work is not None and served.work.writes(path):
        raise Refusal(409, f"{file[:80]!r} is being solved; stop the job first", "file")
    return path


def download(text: str, kind: str, name: str) -> Response:
    """Return a text as a downloadable file."""
    return Response(text, media_type=kind, headers=attachment(name))


def attachment(name: str) -> dict[str, str]:
    """Return the headers of a download, whose name may have any characters."""
    quoted = quote(name, safe="")
    named = f'filename="{name}"' if quoted == name else f"filename*=utf-8''{quoted}"
    return {"content-disposition": f"attachment; {named}"}


def export_node(held: CachedSolution, kind: str, line: str, depth: int, ev: str, name: str) -> Response:
    """Return a node, optionally with the nodes below it, as a file."""
    if ev not in EVS:
        raise Refusal(400, f"ev {ev[:20]!r} is unknown; write pot or net", "ev")
    if not 0 <= depth <= DEEPEST:
        raise Refusal(400, f"depth must be from 0 to {DEEPEST}", "depth")
    solution = held.solution
    if kind == "jsonl":
        with held.lock:
            solution.at(line)
        stream = locked_lines(held, line, depth, ev)
        return StreamingResponse(stream, media_type="application/jsonl", headers=attachment(f"{name}.jsonl"))
    with held.lock:
        report = node_report(solution, line)
        if kind == "json":
            whole = {name: finite(value) if isinstance(value, float) else value for name, value in header(solution, ev).items()}
            return download(json.dumps({**whole, "node": node_json(report, ev=ev)}), "application/json", f"{name}.json")
    if kind == "csv":
        return download(hands_csv(report.from_the_pot() if ev == "pot" else report), "text/csv", f"{name}.csv")
    raise Refusal(400, f"format {kind[:20]!r} is unknown; write csv, json or jsonl", "as")


def locked_lines(held: CachedSolution, line: str, depth: int, ev: str) -> Iterator[bytes]:
    """Yield the nodes below a line one by one, releasing the solution's lock in between."""
    lines = node_lines(held.solution, line, depth, ev)
    while True:
        with held.lock:
            text = next(lines, None)
        if text is None:
            return
        yield text.encode() + b"\n"


def hands_csv(report: NodeReport) -> str:
    """Return CSV rows for each hand of both players, with the acting player's strategy."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    names = [f"{name} {size}".strip() for name, size in zip(report.actions, report.sizes, strict=True)]
    table.writerow(["player", "hand", "weight", "share", "ev", "equity", *names, *(f"ev {name}" for name in names)])
    for side in report.sides:
        for row, hand in enumerate(side.names):
            if side.weight[row] <= 0:
                continue
            numbers = [side.weight[row], side.share[row], side.ev[row], side.equity[row]]
            numbers += [*side.frequency[:, row], *side.action_ev[:, row]]
            table.writerow([PLAYERS[side.player], hand, *(f"{value:.9g}" if value == value else "" for value in numbers)])
    return out.getvalue()


def page_text(held: CachedSolution, line: str, file: str) -> str:
    """Return the stand-alone page: a node, the path to it, and as much of its street as fits."""
    solution = held.solution
    node = node_report(solution, line)
    lines = lines_above(node.line)
    for depth in (None, 4, 3, 2, 1):
        try:
            lines = lines_above(node.line) + lines_below(
                solution, node.line, depth, across_streets=False, most=MOST_NODES - len(lines)
            )
            break
        except SpecError:
            continue
    nodes = (node_report(solution, child) for child in (lines or [node.line]))
    facts = f"{solution.spot}, {solution.algorithm}, {solution.iterations:,} iterations"
    title = f"{node.board or node.street} - Treeplex"
    return page(nodes, node.line, solution.spot.format, title=title, facts=facts, command=f"treeplex show {file}")


def batch_rows(folder: Path, name: str) -> dict[str, Any]:
    """Return a batch's results so far, for tables and reports; ``name`` is the folder's name in requests.

    Raises:
        FileError: the folder is not a batch.
    """
    about = JobFolder(BATCH, folder).about()
    rows, lines = [], dict[str, dict[str, Any]]()
    for board, weight in about["boards"].items():
        path = folder / "boards" / f"{board}.json"
        if PurePosixPath(board).name != board or not path.is_file():
            continue
        try:
            row = parse_json(read_bytes(path, most=MOST_TEXT))
            for line, here in row["lines"].items():
                known = lines.setdefault(line, {"line": line, "player": here["player"], "actions": []})
                known["actions"] += [name for name in here["actions"] if name not in known["actions"]]
            spot = f"{name}/boards/{board}{SOLVED_FILE}" if path.with_suffix(SOLVED_FILE).exists() else None
            rows.append({**batch_row(row, weight), "spot": spot})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{path}: not a batch result; remove the file to solve the board again") from error
    if any(row["chance"] is None for row in rows):  # of an earlier version
        rows = [{**row, "chance": row["weight"]} for row in rows]
    return {"settings": about.get("settings"), "boards": len(about["boards"]), "lines": list(lines.values()), "rows": rows}


def batch_row(row: Any, weight: float) -> dict[str, Any]:
    """Return one board of a batch; ``chance`` is its weight in means, the probability given both ranges up to a factor."""
    pot = float(row["pot"])
    return {
        "board": row["board"],
        "weight": weight,
        "chance": weight * row["deals"] if "deals" in row else None,
        "pot": pot,
        "unit": row["unit"],
        "iterations": row["iterations"],
        "exploitability_percent": 100 * float(row["exploitability"]) / pot if pot else None,
        "ev": [None if ev is None else ev + pot / 2 for ev in row["ev"]],
        "equity": row["equity"],
        "texture": texture_of(parse_cards(row["board"]))._asdict(),
        "lines": {line: {"reach": here["reach"], "actions": here["actions"]} for line, here in row["lines"].items()},
    }
