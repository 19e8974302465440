"""Contents of the served folder: solved spots with their headers, spot files, batches and run folders."""

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from treeplex.errors import FileError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.solve.files import Header, read_header
from treeplex.holdem.solve.solution import STATE
from treeplex.holdem.spots.spot import CHIPS, format_to_json
from treeplex.holdem.spots.spot_table import FIELDS, SOLVED_FILE, SPOT_FILES
from treeplex.holdem.study.batches.batch import BATCH
from treeplex.run.job.folder import RUN, kind_of
from treeplex.web.served import OUTSIDE, ServerState

MOST_FILES, MOST_LOOKED_AT, DEEPEST = 500, 20_000, 5
MOST_POINTS = 400
"""Maximum number of records of a run sent to a page."""


def listing(served: ServerState) -> dict[str, Any]:
    """List all files in the folder that a page can open, newest first; solved spots of a batch are in its entry."""
    kinds: dict[str, list[tuple[Path, float]]] = {"solutions": [], "spot_files": [], "folders": []}
    boards, looked_at = Counter[Path](), 0
    for path, modified in entries(served, served.folder, DEEPEST):
        looked_at += 1
        if looked_at > MOST_LOOKED_AT:
            break
        kind = kind_of_path(served, path)
        if kind == "solutions" and path.parent.name == "boards" and (path.parent.parent / RUN).is_file():
            boards[path.parent.parent] += 1
        elif kind is not None:
            kinds[kind].append((path, modified))
    if served.opened is not None and served.opened.suffix == SOLVED_FILE and served.name(served.opened).startswith(OUTSIDE):
        kinds["solutions"].append((served.opened, math.inf))
    newest = {kind: sorted(paths, key=lambda item: -item[1])[:MOST_FILES] for kind, paths in kinds.items()}
    folders = [(path, modified, kind_of(path)) for path, modified in newest["folders"]]
    solutions = []
    for path, _ in newest["solutions"]:
        try:
            solutions.append(found_solution(path, served.name(path)))
        except (FileError, OSError):
            continue
    return {
        "solutions": solutions,
        "spot_files": [{"file": served.name(path), "modified": modified} for path, modified in newest["spot_files"]],
        "batches": [
            {"file": served.name(path), "modified": modified, "spots": boards[path]}
            for path, modified, kind in folders
            if kind == BATCH.name
        ],
        "runs": [
            {"file": served.name(path), "kind": kind, "modified": modified}
            for path, modified, kind in folders
            if kind not in (None, BATCH.name)
        ],
        "truncated": looked_at > MOST_LOOKED_AT or any(len(paths) > MOST_FILES for paths in kinds.values()),
    }


def entries(served: ServerState, folder: Path, deepest: int) -> Iterator[tuple[Path, float]]:
    """Yield files and folders below a folder, with modification times.

    Skips hidden files and links that lead outside the served folder, and does not follow links to folders.
    """
    try:
        with os.scandir(folder) as directory:
            for entry in directory:
                if entry.name.startswith("."):
                    continue
                try:
                    if entry.is_symlink() and served.link_out(Path(entry.path)) is not None:
                        continue
                    yield Path(entry.path), entry.stat(follow_symlinks=False).st_mtime
                    inside = entry.is_dir(follow_symlinks=False)
                except OSError:
                    continue
                if inside and deepest:
                    yield from entries(served, Path(entry.path), deepest - 1)
    except OSError:
        return


def kind_of_path(served: ServerState, path: Path) -> str | None:
    """Return the section of the listing to which a path belongs; None if it is not listed."""
    if path.suffix == SOLVED_FILE:
        return "solutions"
    if path.suffix in SPOT_FILES and is_spot_file(path):
        return "spot_files"
    about = path / RUN
    return "folders" if not path.suffix and about.is_file() and served.link_out(about) is None else None


def is_spot_file(path: Path) -> bool:
    """Whether a file looks like a spot file: one of its lines starts with a field that every spot has."""
    try:
        with path.open("rb") as file:
            head = file.read(20_000)
    except OSError:
        return False
    return any(line.startswith(b"oop") for line in head.splitlines()) and "oop" in FIELDS


def found_solution(path: Path, name: str) -> dict[str, Any]:
    """Return the header of a solved spot, for lists.

    Raises:
        FileError: the file is not a solved spot, or is corrupted.
    """
    about = path.stat()
    return {
        "file": name,
        **dict(summary(path, about.st_mtime_ns, about.st_size)),
        "bytes": about.st_size,
        "modified": about.st_mtime,
    }


@lru_cache(maxsize=2 * MOST_FILES)
def summary(path: Path, modified: int, size: int) -> Mapping[str, Any]:
    """Return the header of a file, reread if the file has changed."""
    header = read_header(path)
    try:
        spot, records = header["spot"], plain_records(header)
        blinds = spot["blinds"] or (0.0, 0.0)
        opening_pot, worth = float(spot["pot"]) + sum(blinds), records[-1][2]
        return {
            "board": str(spot["board"]),
            "pot": float(spot["pot"]),
            "opening_pot": opening_pot,
            "stack": float(spot["stack"]),
            "combos": [float(each) for each in header.get("combos", ())],
            "unit": str(spot.get("unit", CHIPS)),
            "algorithm": str(header["algorithm"]),
            "iterations": int(records[-1][0] or 0),
            "exploitability": worth,
            "exploitability_percent": 100 * worth / opening_pot if worth is not None and opening_pot else None,
            "status": str(header["status"]),
            "locks": len(header["locks"]),
            "preflop": not spot["board"] and bool(spot["blinds"]) and spot["format"] == format_to_json(HOLDEM),
            "resumable": any(str(array["name"]).startswith(STATE) for array in header["arrays"]),
        }
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileError(f"{path} is corrupted: its header lacks {error}; solve the spot again") from error


def plain_records(header: Header) -> list[list[float | None]]:
    """Convert a header's records for pages: iterations, seconds, exploitability (None if evaluation was interrupted)."""
    rows = []
    for done, seconds, _, worth in header["records"]:
        rows.append([int(done), float(seconds), float(worth) if worth is not None and float(worth) == float(worth) else None])
    return rows


def thin_records(records: Sequence[Any], most: int = MOST_POINTS) -> list[Any]:
    """Select at most ``most`` evenly spaced records, including the first and the last."""
    if len(records) <= most:
        return list(records)
    return [records[round(index * (len(records) - 1) / (most - 1))] for index in range(most)]
