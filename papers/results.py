"""What every reproduction hands over: tables, pictures and notes, with the command, machine and commit that made them."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from treeplex.storage.files import write_atomically

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
IMAGES = ROOT / "docs" / "images"
STARTED = time.perf_counter()


@dataclass(frozen=True)
class Table:
    """A table as text: one caption, column heads, and rows of cells, the first column being names."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A picture in ``docs/images`` and the words for those who cannot see it."""

    file: str
    alt: str


@dataclass(frozen=True)
class Result:
    """One reproduced table or figure.

    Attributes:
        name: of the script, without ``.py``.
        title: of the section in the report.
        source: the paper, and the table or figure.
        findings: sentences to read first: what agrees, what does not and why. Their numbers come from the run.
        tables, pictures: in the order to show them.
        notes: how it was measured.
        numbers: everything measured, unrounded.
        threads: how many were used.
    """

    name: str
    title: str
    source: str
    findings: Sequence[str]
    tables: Sequence[Table]
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()
    numbers: dict[str, Any] = field(default_factory=dict)
    threads: int = 1


def published() -> dict[str, Any]:
    """``published.json``: every number taken from a paper or its released code, with its source."""
    numbers: dict[str, Any] = json.loads((HERE / "published.json").read_text(encoding="utf-8"))
    return numbers


def finish(result: Result) -> None:
    """Print the tables and write ``results/NAME.json``."""
    print(f"## {result.title}\n")
    for table in result.tables:
        print(markdown(table) + "\n")
    for finding in result.findings:
        print(f"- {finding}")
    RESULTS.mkdir(exist_ok=True)
    record = {**asdict(result), "made": provenance(result)}
    text = re.sub(r"\[\s+([^][{}]*?)\s+\]", one_line, json.dumps(record, indent=1, ensure_ascii=False))
    write_atomically(RESULTS / f"{result.name}.json", (text + "\n").encode())


def one_line(found: re.Match[str]) -> str:
    """An innermost JSON list without its line breaks."""
    return "[" + re.sub(r"\s*\n\s*", " ", found[1]) + "]"


def markdown(table: Table) -> str:
    """The table in Markdown, its caption in bold above it; names to the left, numbers to the right."""
    rule = ["---", *["---:"] * (len(table.columns) - 1)]
    lines = ["| " + " | ".join(row) + " |" for row in (table.columns, rule, *table.rows)]
    return f"**{table.caption}**\n\n" + "\n".join(lines)


def provenance(result: Result) -> dict[str, Any]:
    """Command, duration, commit, machine and versions."""
    return {
        "command": f"python papers/{result.name}.py",
        "seconds": round(time.perf_counter() - STARTED, 1),
        "commit": COMMIT,
        "machine": machine(result.threads),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("treeplex", "numpy", "numba", "matplotlib")},
        },
    }


def commit() -> str:
    """The commit of this checkout, and whether the library differs from it."""
    head = git("rev-parse", "--short=12", "HEAD")
    return (head + (" with local changes" if git("status", "--porcelain", "--", "src") else "")) if head else "unknown"


def git(*arguments: str) -> str:
    """What git answers here; nothing where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def machine(threads: int) -> str:
    """Processor, number of cores, operating system."""
    model = platform.processor() or platform.machine()
    cpu_list = Path("/proc/cpuinfo")
    if cpu_list.exists():
        lines = cpu_list.read_text(encoding="utf-8", errors="replace").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores ({'one' if threads == 1 else threads} used), {sys.platform} {platform.machine()}"


COMMIT = commit()
"""As the run started: a long one may outlast a commit."""


def short(number: float, digits: int = 3) -> str:
    """A number to so many digits; ``<1e-12`` below the floor that the papers use."""
    return "<1e-12" if number <= 1e-12 else f"{number:.{digits - 1}e}"
