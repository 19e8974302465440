"""Finished runs, kept in ``runs/papers``, so that a script does again only what has changed and goes on after an interruption.

A run is known by all that decides its numbers: the game's identity, the algorithm or the policy's numbers, the iterations, the
seed, the machine, and the code that it runs, comments and docstrings aside.
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
"""Runs made by this process, runs taken from the folder, and the processor time of all when they were made."""


def kept(key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """What ``make`` returned for this key before, or returns now; something that JSON can say."""
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
    """What is kept for this key; None where nothing is."""
    text = text_of(key)
    record = read(FOLDER / f"{digest(text)[:24]}.json", text)
    return None if record is None else record["value"]


def kept_file(key: Mapping[str, Any], name: str, suffix: str) -> Path:
    """Where a file is kept, such as a network, that is as this key says; its folder is there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"{name}-{digest(text_of(key))[:16]}{suffix}"


def text_of(key: Mapping[str, Any]) -> str:
    """A key, on this machine, as a text."""
    return json.dumps({**key, "machine": machine(1)}, sort_keys=True)


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path, text: str) -> dict[str, Any] | None:
    """A kept run, or None where there is none for this key or the file is damaged."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if record.get("key") == text and {"value", "processor_seconds"} <= record.keys() else None


def effort() -> str:
    """How many runs were made now and what all took, as a sentence."""
    if not TALLY["made"] + TALLY["taken"]:
        return "No new runs: each result names the commit that made it."
    return (
        f"{TALLY['made'] + TALLY['taken']} runs, {TALLY['taken']} of them cached in `runs/papers` (same code, same "
        f"machine). Together they took {TALLY['seconds']:.0f} CPU s."
    )


@cache
def code(*modules: str) -> str:
    """A hash of what modules do; a package stands for everything in it."""
    found = hashlib.sha256()
    for path in sorted(set(sources(modules))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                node.body = [part for part in node.body if not is_text(part)] or [ast.Pass()]
        found.update(f"{path.name}\n{ast.dump(tree)}\n".encode())
    return found.hexdigest()[:16]


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a string and nothing else: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def sources(modules: Iterable[str]) -> Iterable[Path]:
    """The files of modules and packages."""
    for name in modules:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise SystemExit(f"papers/kept.py: there is no module {name}; correct the list that names it")
        path = Path(found.origin)
        yield from path.parent.rglob("*.py") if path.name == "__init__.py" else [path]
