"""Provenance of measurements, and the files of lines that store them."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from papers.common.lines import numbers_of, read_lines, runs_of, write_lines
from papers.common.results import ROOT, git
from treeplex.forms.compile.game_cache import ENVIRONMENT, OFF

BENCH = ROOT / "bench"
PACKAGES = ("treeplex", "numpy", "numba", "open_spiel", "LiteEFG", "jax", "jaxlib", "torch")


def compiling() -> dict[str, str]:
    """The environment of a process that compiles games instead of reading them from the cache on disk."""
    return os.environ | {ENVIRONMENT: OFF}


def pin(core: int | None) -> int | None:
    """Pin this process and its children to one core; returns it, or None if the system does not support it."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    chosen = max(os.sched_getaffinity(0)) if core is None else core
    os.sched_setaffinity(0, {chosen})
    return chosen


def cpu_name() -> str:
    """The processor's name with family and model, because clouds abbreviate names."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    about = {key.strip(): value.strip() for key, value in found.items()}
    name = about.get("model name", platform.machine())
    return f"{name} (family {about['cpu family']}, model {about['model']})" if "cpu family" in about else name


def caches() -> dict[str, str]:
    """Sizes of the data caches of core 0, such as ``{"L1": "32K", "L2": "1024K", "L3": "32768K"}``."""
    sizes = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((index / name).read_text(encoding="utf-8").strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def machine() -> dict[str, Any]:
    """Hardware and operating system."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "caches": caches(),
        "memory_gib": round(pages / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Installed versions of the compared packages."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The measured commit, with ``+changes`` if the package or the benchmarks differ from it."""
    changed = git("status", "--porcelain", "--", "src", "bench", ":(exclude)bench/results")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+changes" if changed else "")


def results_file(name: str, *, quick: bool) -> Path:
    """The file of a benchmark's results; quick runs have a separate one."""
    return BENCH / ("quick" if quick else "results") / f"{name}.jsonl"


def save(name: str, result: dict[str, Any], *, quick: bool) -> Path:
    """Write a result: a header with its provenance, then one line per measurement; returns the file."""
    header = {
        "benchmark": name,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "quick": quick,
    }
    path = results_file(name, quick=quick)
    write_lines(path, [header, *({"run": list(run), "value": value} for run, value in runs_of(result))])
    return path


def load(name: str, *, quick: bool = False) -> dict[str, Any] | None:
    """A stored result with its provenance; None if there is none."""
    lines = read_lines(results_file(name, quick=quick))
    return lines[0] | numbers_of(lines[1:]) if lines else None


def markdown_table(header: list[str], rows: list[list[str]], *, left: int = 1) -> str:
    """A markdown table whose first ``left`` columns are left-aligned and the others right-aligned."""
    rule = ["---" if column < left else "--:" for column in range(len(header))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def digits(value: float) -> str:
    """A positive number to three significant digits, without exponent from 0.001 on."""
    if value == 0:
        return "0"
    if value < 1e-3:
        return f"{value:.2e}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
