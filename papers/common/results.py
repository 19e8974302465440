"""Results of studies, and the files that store them.

``papers/PAPER/results/STUDY.jsonl`` has one JSON object per line. The first is the header: findings, tables, pictures and notes
of the report, and ``made``, the provenance of the study's last run. Every other line is one measured run: ``run``, its keys,
such as ``["runs", "kuhn", "cfr+"]``; ``value``, unrounded; and ``made``, its date, machine and commit. A line whose value is
reproduced keeps its provenance.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from papers.common.lines import Line, numbers_of, read_lines, runs_of, write_lines

PAPERS = Path(__file__).resolve().parents[1]
ROOT = PAPERS.parent
IMAGES = ROOT / "docs" / "images"
STARTED = time.perf_counter()
PACKAGES = ("treeplex", "numpy", "numba", "matplotlib")
LOCAL, MARK = "with local changes", "†"
"""Suffix of the commit of a run from a modified working tree, and the mark on pages beside such runs."""


@dataclass(frozen=True)
class Table:
    """A table as text: caption, column headings, and rows of cells; the first column has names."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A picture in ``docs/images`` and its alternative text."""

    file: str
    alt: str


@dataclass(frozen=True)
class Result:
    """One reproduced table or figure.

    Attributes:
        source: the paper, and the table or figure.
        findings: main results as sentences: what agrees, what does not and why. Their numbers come from the run.
        tables, pictures: in the order to show them.
        notes: how it was measured.
        numbers: everything measured, unrounded; :func:`papers.common.lines.runs_of` divides it into runs.
        threads: number of threads.
    """

    source: str
    findings: Sequence[str]
    tables: Sequence[Table]
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1


def published(paper: str) -> dict[str, Any]:
    """``published.json`` of a paper's folder: all numbers from the paper or its released code, with sources."""
    numbers: dict[str, Any] = json.loads((PAPERS / paper / "published.json").read_text(encoding="utf-8"))
    return numbers


def results_file(study: str) -> Path:
    """The results file of ``PAPER/STUDY``."""
    paper, _, name = study.partition("/")
    return PAPERS / paper / "results" / f"{name}.jsonl"


def stored(study: str) -> dict[str, Any]:
    """The stored :attr:`Result.numbers` of a study; empty if it has not been run."""
    return numbers_of(read_lines(results_file(study))[1:])


def stored_with(study: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored numbers of a study if their ``settings`` entry equals ``settings``; otherwise empty."""
    numbers = stored(study)
    return numbers if numbers.get("settings") == json.loads(json.dumps(settings)) else {}


def modified(study: str) -> list[tuple[str, ...]]:
    """The runs of a study that were measured from a working tree with uncommitted changes, by their keys."""
    return [tuple(map(str, line["run"])) for line in read_lines(results_file(study))[1:] if LOCAL in line["made"]["commit"]]


def modified_note(study: str) -> str:
    """Explanation of :data:`MARK` below a study's tables; empty if no run is marked."""
    count = len(modified(study))
    if not count:
        return ""
    return (
        f"{MARK} {count:,} of {len(read_lines(results_file(study))) - 1:,} measured runs come from a working tree with "
        "uncommitted changes, so the recorded commit does not identify their code exactly."
    )


def store(study: str, result: Result) -> None:
    """Write a study's file: the header and a line for each measured run."""
    made = {"seconds": round(time.perf_counter() - STARTED, 1), **provenance(result.threads), "versions": versions()}
    shown = asdict(result)
    del shown["numbers"], shown["threads"]
    path = results_file(study)
    runs = [{"run": list(run), "value": value, "made": provenance(result.threads)} for run, value in runs_of(result.numbers)]
    write_lines(path, [{"study": study, **shown, "made": made}, *unchanged(runs, read_lines(path)[1:])])


def store_run(study: str, run: Sequence[str | int], value: Any, made: Mapping[str, Any]) -> None:
    """Add or replace one run in a study's file; for long runs, which are stored as soon as they finish."""
    path = results_file(study)
    header, *lines = read_lines(path) or [{"study": study}]
    kept = {tuple(line["run"]): line for line in lines}
    kept[tuple(run)] = {"run": list(run), "value": value, "made": made}
    write_lines(path, [header, *(kept[key] for key in sorted(kept))])


def store_run_with(study: str, settings: Mapping[str, Any], run: Sequence[str | int], value: Any) -> None:
    """Add or replace one run measured with ``settings``; runs with other settings are removed."""
    if not stored_with(study, settings):
        header = (read_lines(results_file(study)) or [{"study": study}])[0]
        write_lines(results_file(study), [header])
        store_run(study, ["settings"], settings, provenance())
    store_run(study, run, value, provenance())


def unchanged(fresh: Iterable[Line], old: Iterable[Line]) -> Iterator[Line]:
    """The new lines, replaced by the old line with its provenance if the value is unchanged."""
    known = {tuple(line["run"]): line for line in old}
    for line in fresh:
        before = known.get(tuple(line["run"]))
        yield before if before is not None and json.dumps(before["value"]) == json.dumps(line["value"]) else line


def provenance(threads: int = 1) -> dict[str, str]:
    """Commit, machine and date."""
    return {"commit": COMMIT, "machine": machine(threads), "date": datetime.now(UTC).strftime("%Y-%m-%d")}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that affect numbers and pictures."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}


def commit() -> str:
    """The commit of this checkout, marked if the library or the studies (without results) differ from it."""
    head = git("rev-parse", "--short=12", "HEAD")
    changed = git(
        "status", "--porcelain", "--", "src", "papers", ":(exclude,glob)papers/*/results/**", ":(exclude)papers/README.md"
    )
    return (f"{head} {LOCAL}" if changed else head) if head else "unknown"


def git(*arguments: str) -> str:
    """Output of git; empty without git or a repository."""
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
"""The commit at the start of the process, since a long run may outlast it."""


def verdict(played: bool, average: bool) -> str:
    """Whether a paper's claim about a search holds for the played and for the average policy, as a sentence."""
    if played == average:
        return "Confirmed here." if played else "Not confirmed here."
    return f"This is confirmed here for {'the played policy' if played else 'the average policy'} only."


def short(number: float, digits: int = 3) -> str:
    """A number with the given digits; ``<1e-12`` below the papers' floor."""
    return "<1e-12" if number <= 1e-12 else f"{number:.{digits - 1}e}"
