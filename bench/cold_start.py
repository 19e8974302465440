"""Wall seconds of first commands: with an empty cache of compiled kernels, and afterwards.

Commands start in new processes, on all cores: a first run compiles on two. With ``--venv`` the package and its dependencies are
first installed into a fresh virtual environment (downloads), as a new user would do; the installation is not counted.

    python bench/run.py cold_start [--quick] [--venv] [--case river]
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
from typing import Any, NamedTuple

from bench.common import record
from bench.common.benchmark import benchmark

PACKAGE_FILES = ("pyproject.toml", "README.md", "LICENSE", "src")
RIVER = record.ROOT / "examples/spots/river.yaml"
TURN = ("turn_endgame", "--bets", "100%,a", "--raises", "a", "--seat", "ip", "--iterations", "32", "--seed", "0")


class Case(NamedTuple):
    """A command.

    Attributes:
        about: what it does, for the page.
        words: arguments of ``treeplex``; of ``python`` if they begin with ``-c``.
        first, later: goals in seconds with an empty cache, and with all kernels in it; None for none.
        typed: standard input.
        torch: whether it needs PyTorch.
    """

    about: str
    words: tuple[str, ...]
    first: float | None = None
    later: float | None = None
    typed: str = ""
    torch: bool = False


CASES = {
    "import": Case("`import treeplex`", ("-c", "import treeplex"), 0.15, 0.15),
    "help": Case("`treeplex --help`", ("--help",), 0.3, 0.3),
    "leduc": Case("`treeplex solve leduc_poker`", ("solve", "leduc_poker"), 8.0, 1.5),
    "river": Case("`treeplex solve examples/spots/river.yaml`", ("solve", str(RIVER), "--json"), 15.0),
    "turn": Case("an agent's first turn decision (`treeplex play turn_endgame`)", ("play", *TURN), 20.0, None, "quit\n", True),
}


def installed(folder: Path) -> Path:
    """Install the package into a fresh virtual environment in ``folder``; its Python."""
    source, home = folder / "source", folder / "venv"
    source.mkdir()
    for name in PACKAGE_FILES:
        origin = record.ROOT / name
        if origin.is_dir():
            shutil.copytree(origin, source / name, ignore=shutil.ignore_patterns("__pycache__", "kernels", "*.egg-info"))
        else:
            shutil.copy(origin, source / name)
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(source)], check=True)
    return python


def timed(python: Path, case: Case, folder: Path, environment: dict[str, str]) -> float:
    """Wall seconds of the command, run in ``folder``."""
    words = case.words if case.words[0] == "-c" else ("-m", "treeplex", *case.words)
    start = time.perf_counter()
    subprocess.run(
        [str(python), *words],
        cwd=folder,
        env=environment,
        input=case.typed,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def measured(python: Path, case: Case, repeats: int) -> dict[str, Any]:
    """Times of the first run and the median of later ones."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # a second process may still compile
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["TREEPLEX_KERNELS"] = str(Path(name) / "kernels")
        seconds = [timed(python, case, Path(name), environment) for _ in range(1 + repeats)]
    later = statistics.median(seconds[1:])
    return {
        "about": case.about,
        "first_seconds": seconds[0],
        "next_seconds": later,
        "goal_first": case.first,
        "goal_next": case.later,
        "met_first": case.first is None or seconds[0] < case.first,
        "met_next": case.later is None or later < case.later,
        "all_seconds": seconds,
    }


def against_goal(command: dict[str, Any], key: str) -> str:
    """Whether the goal is met; empty without a goal."""
    goal = command[f"goal_{key}"]
    return "" if goal is None else f"{goal:g} s: {'met' if command[f'met_{key}'] else 'missed'}"


def tables(result: dict[str, Any]) -> str:
    """The result as markdown; records before 0.1.0 have a single command."""
    rows = [
        [
            command.get("about") or f"`{command['command']}`",
            f"{command['first_seconds']:.2f}",
            against_goal(command, "first"),
            f"{command['next_seconds']:.2f}",
            against_goal(command, "next"),
        ]
        for command in result.get("commands", [result])
    ]
    table = record.markdown_table(["command", "first time", "goal", "afterwards", "goal"], rows)
    return f"{table}\n\nThe first time is measured with a fresh {result['fresh']}."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--venv", action="store_true", help="install into a fresh virtual environment first (downloads)")
    parser.add_argument("--repeats", type=int, default=None, help="runs after the first (default 5; 1 with --quick)")
    parser.add_argument("--case", action="append", choices=CASES, help="only this command; may be repeated (default: all)")


@benchmark(
    title="Cold start",
    place=9,
    minutes=2,
    about="Wall time in seconds, including imports and output.",
    pinned=False,
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    repeats = options.repeats or (1 if options.quick else 5)
    names = options.case or (["import", "help", "leduc"] if options.quick else [*CASES])
    with tempfile.TemporaryDirectory() as folder:
        python = installed(Path(folder)) if options.venv else Path(sys.executable)
        if not options.venv:  # bytecode, which an installation compiles
            subprocess.run([sys.executable, "-m", "compileall", "-q", str(record.ROOT / "src")], check=True)
        chosen = [CASES[name] for name in names if not (options.venv and CASES[name].torch)]
        commands = [measured(python, case, repeats) for case in chosen]
    return {"fresh": "virtual environment" if options.venv else "cache of compiled kernels", "commands": commands}
