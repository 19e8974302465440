"""Digests of Python sources that ignore docstrings, comments and formatting, so that editing those does not recompile kernels.

Parsing takes milliseconds per module, so digests are stored next to the kernels, by the digest of the file's bytes.
"""

import ast
import atexit
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

FILE = f"sources-{sys.implementation.cache_tag}.json"
"""File of stored digests; the text of a parsed source depends on the version of Python."""
MOST_STORED = 4000

_stored: dict[Path, dict[str, str]] = {}
_new: dict[str, str] = {}


def code_digest(data: bytes, folders: Sequence[Path]) -> bytes:
    """Return a digest of a source's code.

    Args:
        data: the file's bytes.
        folders: folders that may store its digest. New digests are stored in the first when the process ends.
    """
    key = hashlib.sha256(data).hexdigest()
    known = _new.get(key) or next((found for folder in folders if (found := stored(folder).get(key))), None)
    if known is None:
        if not _new:
            atexit.register(store, folders[0])
        known = _new[key] = hashlib.sha256(code_text(data)).hexdigest()
    return bytes.fromhex(known)


def code_text(data: bytes) -> bytes:
    """Return the source without docstrings, comments and formatting; the source itself if it cannot be parsed."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return data
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [statement for statement in statements if not is_text(statement)])
    return ast.dump(tree).encode()


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is only a string, such as a docstring."""
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    )


def stored(folder: Path) -> dict[str, str]:
    """Return the digests stored in a folder; read once per process."""
    if folder not in _stored:
        _stored[folder] = read(folder / FILE)
    return _stored[folder]


def read(path: Path) -> dict[str, str]:
    """Read stored digests; none if the file is missing or damaged."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict) and all(len(str(value)) == 64 for value in found.values()):
            return found
    return {}


def store(folder: Path) -> None:
    """Add this process's new digests to the folder's file; does nothing if it cannot be written."""
    digests = read(folder / FILE) | _new
    kept = dict(list(digests.items())[-MOST_STORED:])
    part = folder / f"{FILE}.{uuid4().hex[:8]}.part"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(kept))
        os.replace(part, folder / FILE)
