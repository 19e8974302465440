"""Run folders and training runs: their types, settings and curves."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query

from treeplex.base.storage.reading import read_json, whole_lines
from treeplex.errors import FileError
from treeplex.holdem.study.batches.batch import BATCH
from treeplex.run.job.folder import METRICS, RUN
from treeplex.web.folder.found import DEEPEST, MOST_FILES, MOST_LOOKED_AT, entries, thin_records
from treeplex.web.playing.tables import plain
from treeplex.web.served import Refusal, ServerState

MOST_CURVES = 12
"""Maximum number of runs shown in one chart."""
EFFORT = ("done", "seconds", "cpu_seconds")
"""The x-axes of curves."""
UNSAID = ("format", "version", "checksum", "last", "treeplex", "kind", "status", "game")
"""Keys of ``run.json`` that are not settings."""


def routes(served: ServerState) -> APIRouter:
    """Routes for runs."""
    router = APIRouter(prefix="/api/runs")

    @router.get("")
    def found() -> dict[str, Any]:
        return {"runs": runs(served)}

    @router.get("/curves")
    def curves(file: Annotated[list[str], Query(max_length=MOST_CURVES)]) -> dict[str, Any]:
        return {"curves": [plain(curve(served.path(name), name)) for name in file]}

    return router


def runs(served: ServerState) -> list[dict[str, Any]]:
    """All run folders, most recently changed first."""
    listed: list[dict[str, Any]] = []
    for looked_at, (path, _) in enumerate(entries(served, served.folder, DEEPEST)):
        if looked_at > MOST_LOOKED_AT:
            break
        if path.name == RUN and path.parent != served.folder:
            about = about_of(path.parent)
            if about is not None and about["kind"] != BATCH.name:
                changed = max(file.stat().st_mtime for file in (path, path.parent / METRICS) if file.exists())
                listed.append({"file": served.name(path.parent), **brief(about), "modified": changed})
    return sorted(listed, key=lambda entry: -entry["modified"])[:MOST_FILES]


def about_of(folder: Path) -> dict[str, Any] | None:
    """Read ``run.json``; None if it belongs to another program or is corrupted."""
    try:
        about = read_json(folder / RUN)
    except (FileError, OSError, ValueError):
        return None
    return about if isinstance(about, dict) and about.get("format") and about.get("kind") else None


def brief(about: Mapping[str, Any]) -> dict[str, Any]:
    """Summarise a run: type, game, state and latest numbers."""
    last = about.get("last") or {}
    settings = about.get("settings") or {}
    return {
        "kind": str(about["kind"]),
        "game": str(about.get("game", "")),
        "algorithm": str(about.get("algorithm") or settings.get("algorithm") or ""),
        "status": str(about.get("status", "")),
        "done": last.get("done"),
        "last": numbers_of(last),
    }


def curve(folder: Path, name: str) -> dict[str, Any]:
    """Return a run's settings and records.

    Raises:
        Refusal: no such run.
    """
    about = about_of(folder)
    if about is None:
        raise Refusal(404, f"{name[:80]!r} is not a run folder", "file")
    records = records_of(folder)
    names = list(dict.fromkeys(key for record in records for key in numbers_of(record)))
    shown_records = thin_records(records)
    return {
        "file": name,
        **brief(about),
        "settings": settings_of(about),
        "count": len(records),
        "effort": {key: [record.get(key) for record in shown_records] for key in EFFORT},
        "numbers": {key: [numbers_of(record).get(key) for record in shown_records] for key in names},
    }


def records_of(folder: Path) -> list[dict[str, Any]]:
    """Read a run's records as plain data; skips invalid lines, since the run may be writing one."""
    records = []
    for line in whole_lines(folder / METRICS) if (folder / METRICS).is_file() else ():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(record.get("done"), int | float):
            records.append(record)
    return records


def numbers_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Return a record's numbers by name, with one entry per list element and table entry."""
    numbers: dict[str, float] = {}
    for key, value in record.items():
        if key in EFFORT:
            continue
        parts: Mapping[Any, Any] = {}
        if isinstance(value, Mapping):
            parts = {f"{key} {name}" if key != "measures" else name: part for name, part in value.items()}
        elif isinstance(value, list):
            parts = {f"{key} {index}": part for index, part in enumerate(value)}
        else:
            parts = {key: value}
        numbers |= {str(name): float(part) for name, part in parts.items() if is_number(part)}
    return numbers


def is_number(value: object) -> bool:
    """Whether a value is a number other than True and False."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def settings_of(about: Mapping[str, Any]) -> dict[str, str]:
    """Return a run's settings as texts, by name."""
    settings: dict[str, str] = {}
    for key, value in about.items():
        if key in UNSAID or value is None:
            continue
        if isinstance(value, Mapping):
            inner = {
                f"{key}.{name}" if key != "settings" else name: setting
                for name, setting in value.items()
                if setting is not None
            }
            settings |= {name: text(setting) for name, setting in inner.items()}
        else:
            settings[key] = text(value)
    return settings


def text(value: Any) -> str:
    """Format a setting in at most 200 characters."""
    return (value if isinstance(value, str) else json.dumps(value))[:200]
