"""Names of modules and of what is in them, as docstrings and pages write them, are those that there are."""

import pkgutil
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "treeplex"
NAME = re.compile(r"`~?([a-z_]+(?:\.\w+)+)(?:\(\))?`")


def is_place(name: str) -> bool:
    """Whether a dotted name begins with a module of the library, or with two folders of it."""
    first, second = name.split(".")[:2]
    return first in ("treeplex", "tp") or (SOURCE / first / second).is_dir() or (SOURCE / first / f"{second}.py").is_file()


def is_there(name: str) -> bool:
    whole = name if name.startswith("treeplex.") else f"treeplex.{name.removeprefix('tp.')}"
    try:
        pkgutil.resolve_name(whole)
    except (AttributeError, ImportError):
        return False
    return True


def test_places_that_are_named_are_there():
    files = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {(str(file.relative_to(ROOT)), name) for file in files for name in NAME.findall(file.read_text("utf-8"))}
    assert [(file, name) for file, name in sorted(named) if is_place(name) and not is_there(name)] == []
