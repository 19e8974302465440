"""Ranges that the user saved by name, in one file of a folder; the page in the browser and the terminal share it."""

import json
from collections.abc import Mapping
from pathlib import Path

from treeplex.base.spec import shown
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.ranges import parse_range

FILE = Path(".web") / "presets.json"
"""The file in a folder; the page serves the same folder."""
MOST = 200
"""Largest number of saved ranges."""
LONGEST_NAME = 60


def saved_ranges(path: Path) -> dict[str, str]:
    """Texts of saved ranges by name; none if the file does not exist.

    Raises:
        FileError: the file is corrupted or cannot be read.
    """
    if not path.exists():
        return {}
    try:
        return {str(name): str(text) for name, text in read_json(path).items()}
    except (ValueError, AttributeError) as error:
        raise FileError(f"{path} is corrupted ({error}); remove the file to save ranges again") from error


def save_range(path: Path, name: str, text: str) -> dict[str, str]:
    """Save a range under a name, replacing one of that name; returns all saved ranges.

    Raises:
        SpecError: the range cannot be read, the name is empty or too long, or too many ranges are saved.
        FileError: the file is corrupted or cannot be written.
    """
    parse_range(text)
    name, saved = name.strip(), saved_ranges(path)
    if not 0 < len(name) <= LONGEST_NAME:
        raise SpecError(f"the name {shown(name)} has {len(name)} characters; give a name of 1 to {LONGEST_NAME}")
    if len(saved) >= MOST and name not in saved:
        raise SpecError(f"{MOST} ranges are already saved; remove one first")
    return write_ranges(path, {**saved, name: text})


def remove_range(path: Path, name: str) -> dict[str, str]:
    """Remove a saved range; returns the others.

    Raises:
        SpecError: there is no such range.
        FileError: the file is corrupted or cannot be written.
    """
    saved = saved_ranges(path)
    range_named(saved, name)
    return write_ranges(path, {other: text for other, text in saved.items() if other != name})


def range_named(saved: Mapping[str, str], name: str) -> str:
    """The text of a saved range.

    Raises:
        SpecError: there is none of that name.
    """
    if name not in saved:
        known = ", ".join(saved) or "none are saved"
        raise SpecError(f"there is no saved range named {shown(name, 60)}; choose one from the list: {known}")
    return saved[name]


def write_ranges(path: Path, saved: dict[str, str]) -> dict[str, str]:
    """Write the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(saved, indent=1) + "\n")
    return saved
