"""Where and when a measurement was taken, and the JSON files that hold the measurements."""

import argparse
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
QUICK_RESULTS = ROOT / "bench" / "quick"
PACKAGES = ("treeplex", "numpy", "numba", "open_spiel", "LiteEFG", "jax", "jaxlib", "torch")


def parser(description: str | None) -> argparse.ArgumentParser:
    """A command-line parser with the options that every benchmark has."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="tiny counts, to see that everything works; written to bench/quick")
    made.add_argument("--core", type=int, default=None, help="CPU core to pin to (default: the last one available)")
    return made


def pin(core: int | None) -> int | None:
    """Pin this process and its children to one core; return it, or None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    chosen = max(os.sched_getaffinity(0)) if core is None else core
    os.sched_setaffinity(0, {chosen})
    return chosen


def cpu_name() -> str:
    """The processor's name with family and model, which tell apart the names that clouds shorten."""
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
    """Versions of the packages compared, as far as they are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git(*arguments: str) -> str:
    """What a git command prints in the repository; empty where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit() -> str:
    """The commit measured, with ``+changes`` where the package differs from it."""
    changed = git("status", "--porcelain", "--", "src")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+changes" if changed else "")


def save(name: str, result: dict[str, Any], options: argparse.Namespace) -> Path:
    """Write a result with its provenance; return the file."""
    folder = QUICK_RESULTS if options.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "benchmark": name,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "quick": options.quick,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(about | result, indent=1) + "\n", encoding="utf-8")
    return path


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
