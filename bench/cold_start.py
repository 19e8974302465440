"""Wall seconds of ``treeplex solve kuhn_poker``: the first time, when kernels are compiled, and afterwards.

Without options the command runs with an empty cache of compiled kernels. With ``--venv`` the package and its dependencies are
first installed into a fresh virtual environment (downloads), as a new user would do; the installation is not timed.

    python bench/run.py cold_start [--quick] [--venv]
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.common import record
from bench.common.benchmark import benchmark

COMMAND = ("solve", "kuhn_poker")
GOAL_FIRST, GOAL_NEXT = 30.0, 2.0
PACKAGE_FILES = ("pyproject.toml", "README.md", "LICENSE", "src")


def installed(folder: Path) -> list[str]:
    """Install the package into a fresh virtual environment in ``folder``; returns the command that runs it."""
    source, home = folder / "source", folder / "venv"
    source.mkdir()
    for name in PACKAGE_FILES:
        origin = record.ROOT / name
        if origin.is_dir():
            shutil.copytree(origin, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(origin, source / name)
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    binaries = home / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([str(binaries / "python"), "-m", "pip", "install", "--quiet", str(source)], check=True)
    return [str(binaries / "treeplex")]


def timed(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    """Wall seconds of the command, run in ``folder``."""
    start = time.perf_counter()
    subprocess.run([*command, *COMMAND], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def first_and_next(options: argparse.Namespace) -> dict[str, Any]:
    """Time of the first run and median of the later ones."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        environment = dict(os.environ)
        if options.venv:
            command = installed(folder)
            environment.pop("TREEPLEX_KERNELS", None)
        else:
            command = [sys.executable, "-c", "from treeplex.run.cli.main import main; main()"]
            environment["TREEPLEX_KERNELS"] = str(folder / "cache")
        seconds = [timed(command, folder / "work", environment) for _ in range(1 + options.repeats)]
    next_seconds = statistics.median(seconds[1:])
    return {
        "command": " ".join(("treeplex", *COMMAND)),
        "fresh": "virtual environment" if options.venv else "cache of compiled kernels",
        "first_seconds": seconds[0],
        "next_seconds": next_seconds,
        "goal_first": GOAL_FIRST,
        "goal_next": GOAL_NEXT,
        "met_first": seconds[0] < GOAL_FIRST,
        "met_next": next_seconds < GOAL_NEXT,
        "all_seconds": seconds,
    }


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = [
        [when, f"{result[f'{key}_seconds']:.2f}", f"{result[f'goal_{key}']:g} s: {'met' if result[f'met_{key}'] else 'missed'}"]
        for when, key in (("first time", "first"), ("afterwards", "next"))
    ]
    table = record.markdown_table([f"`{result['command']}`", "seconds", "goal"], rows)
    return f"{table}\n\nThe first time is with a fresh {result['fresh']}."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--venv", action="store_true", help="install into a fresh virtual environment first (downloads)")
    parser.add_argument("--repeats", type=int, default=None, help="runs after the first (default 5; 1 with --quick)")


@benchmark(
    title="Cold start",
    place=9,
    minutes=1,
    about="Seconds of wall time on one core, including imports and output.",
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    options.repeats = options.repeats or (1 if options.quick else 5)
    return first_and_next(options)
