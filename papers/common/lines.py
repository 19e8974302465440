"""Files of measurements with one JSON object per line: a header, then a line for each measured run."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from treeplex.base.storage.files import write_atomically

Line = dict[str, Any]
Keys = tuple[str | int, ...]
"""The name of a run from the outermost to the innermost level: keys of mappings, indices of lists."""


def read_lines(path: Path) -> list[Line]:
    """All lines of a file, the header first; empty if there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Replace a file by these lines atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def runs_of(numbers: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Numbers as runs: the keys of each, and its JSON value.

    A mapping whose values are all mappings, or lists with a run for each seed, is a level of names. So is a list of mappings,
    by index. Everything else is the value of one run. At the outermost level every key is a name.
    """
    if isinstance(numbers, Mapping) and (not keys or (numbers and all(map(holds_runs, numbers.values())))):
        for name, value in numbers.items():
            yield from runs_of(value, (*keys, str(name)))
    elif isinstance(numbers, list | tuple) and numbers and all(isinstance(each, Mapping) for each in numbers):
        for place, value in enumerate(numbers):
            yield (*keys, place), json.loads(json.dumps(value))
    else:
        yield keys, json.loads(json.dumps(numbers))


def holds_runs(value: Any) -> bool:
    """Whether a value contains several runs: a mapping, or a list of mappings or lists."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(each, Mapping | list | tuple) for each in value)
    return isinstance(value, Mapping)


def numbers_of(lines: Iterable[Line]) -> dict[str, Any]:
    """Numbers from lines with ``run`` and ``value``; inverse of :func:`runs_of`."""
    numbers: dict[Any, Any] = {}
    for line in lines:
        *levels, last = line["run"]
        level = numbers
        for name in levels:
            level = level.setdefault(name, {})
        level[last] = line["value"]
    return {name: with_lists(value) for name, value in numbers.items()}


def with_lists(value: Any) -> Any:
    """A value with lists in place of mappings whose keys are indices."""
    if not isinstance(value, dict):
        return value
    found = {key: with_lists(each) for key, each in value.items()}
    return list(found.values()) if found and all(isinstance(key, int) for key in found) else found
