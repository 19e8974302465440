"""Finished runs cached in ``runs/papers``, so that a script repeats only what has changed and can be resumed.

The key of a run contains everything that determines its results: the game's identity, the algorithm or the policy's parameters,
iterations, seed, machine, and the code without comments and docstrings.
"""

import ast
import hashlib
import importlib.util
import json
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from papers.common.results import ROOT, machine
from treeplex.base.storage.files import write_atomically

FOLDER = ROOT / "runs" / "papers"
TALLY = {"made": 0, "taken": 0, "seconds": 0.0}
"""Runs made by this process, runs loaded from the cache, and the total processor time of both."""


def kept(key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """The cached result of ``make`` for this key, computed if missing; a JSON value."""
    text = text_of(key)
    path = FOLDER / f"{digest(text)[:24]}.json"
    record = read(path, text)
    if record is None:
        start = time.process_time()
        value = make()
        record = {"key": text, "value": value, "processor_seconds": time.process_time() - start}
        FOLDER.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(record).encode())
        TALLY["made"] += 1
    else:
        TALLY["taken"] += 1
    TALLY["seconds"] += record["processor_seconds"]
    return record["value"]


def peek(key: Mapping[str, Any]) -> Any:
    """The cached result for this key, or None."""
    text = text_of(key)
    record = read(FOLDER / f"{digest(text)[:24]}.json", text)
    return None if record is None else record["value"]


def kept_file(key: Mapping[str, Any], name: str, suffix: str) -> Path:
    """Path of a cached file for this key, such as a network; its folder exists."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"{name}-{digest(text_of(key))[:16]}{suffix}"


def text_of(key: Mapping[str, Any]) -> str:
    """A key and this machine as text."""
    return json.dumps({**key, "machine": machine(1)}, sort_keys=True)


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path, text: str) -> dict[str, Any] | None:
    """A cached run, or None if there is none for this key or the file is damaged."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if record.get("key") == text and {"value", "processor_seconds"} <= record.keys() else None


def effort() -> str:
    """Number of new runs and total time, as a sentence."""
    if not TALLY["made"] + TALLY["taken"]:
        return "No new runs: each result names the commit that made it."
    return (
        f"{TALLY['made'] + TALLY['taken']} runs, {TALLY['taken']} of them cached in `runs/papers` (same code, same "
        f"machine). Together they took {TALLY['seconds']:.0f} CPU s."
    )


@cache
def code(*modules: str) -> str:
    """A hash of the code of modules; a package includes all its modules."""
    found = hashlib.sha256()
    for path in sorted(set(sources(modules))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                node.body = [part for part in node.body if not is_text(part)] or [ast.Pass()]
        found.update(f"{path.name}\n{ast.dump(tree)}\n".encode())
    return found.hexdigest()[:16]


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def sources(modules: Iterable[str]) -> Iterable[Path]:
    """The files of modules and packages."""
    for name in modules:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise SystemExit(f"papers/kept.py: there is no module {name}; correct the list that names it")
        path = Path(found.origin)
        yield from path.parent.rglob("*.py") if path.name == "__init__.py" else [path]
