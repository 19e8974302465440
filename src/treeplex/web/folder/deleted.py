"""Deleted files, kept for a day in a folder of the server so that a deletion can be undone."""

import json
import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json
from treeplex.errors import FileError
from treeplex.web.served import Refusal, ServerState

DELETED, ORIGIN = "deleted", "origin.json"
"""Subfolder of the server's own folder, and the file with the original paths of a deletion."""
KEPT_SECONDS = 24 * 3600.0
"""Seconds after which deleted files are removed for good."""


def routes(served: ServerState) -> APIRouter:
    """Routes for deleted files."""
    router = APIRouter(prefix="/api/deleted")

    @router.post("/{name}/restore")
    def undo(name: str) -> dict[str, Any]:
        paths = restore(served, name)
        served.events.send("files", {})
        return {"file": served.name(paths[0])}

    return router


def delete(served: ServerState, *paths: Path) -> str:
    """Move existing files to the folder of deleted files; returns an id for :func:`restore`.

    Raises:
        Refusal: a link leads outside the served folder.
        FileError: the files cannot be moved.
    """
    purge(served)
    name = secrets.token_hex(6)
    folder = served.inside(served.own_folder / DELETED) / name
    there = [path for path in paths if path.exists()]
    try:
        folder.mkdir(parents=True)
        write_atomically(folder / ORIGIN, json.dumps([path.relative_to(served.folder).as_posix() for path in there]))
        for number, path in enumerate(there):
            os.replace(path, folder / str(number))
    except OSError as error:
        raise FileError(f"cannot delete {paths[0].name}: {error.strerror or error}; check its permissions") from error
    return name


def restore(served: ServerState, name: str) -> list[Path]:
    """Move deleted files back and return their paths.

    Raises:
        Refusal: there is no such deletion (404), or a file of this name exists again (409).
    """
    folder = served.own_folder / DELETED / name
    if not re.fullmatch("[0-9a-f]{12}", name) or not (folder / ORIGIN).is_file():
        raise Refusal(404, "nothing to restore; deleted files are kept for a day")
    paths = [served.inside(served.folder / str(path)) for path in read_json(folder / ORIGIN)]
    taken = next((path for path in paths if path.exists()), None)
    if taken is not None:
        raise Refusal(409, f"{served.name(taken)} exists again; rename it first")
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(folder / str(number), path)
    shutil.rmtree(folder, ignore_errors=True)
    return paths


def purge(served: ServerState) -> None:
    """Remove files that were deleted long ago."""
    with suppress(OSError):
        for folder in (served.own_folder / DELETED).iterdir():
            if folder.stat().st_mtime < time.time() - KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
