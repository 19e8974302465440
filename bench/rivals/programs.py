"""Other hold'em solvers as separate programs: the format of a spot for each, and sessions that measure them.

None of them is part of Treeplex or needed by it. Each is found through an environment variable that holds a command, or as a
program of that name on the PATH; a program that is not found is skipped.

``POSTFLOP_DRIVER`` (``postflop_driver``): a program around b-inary's postflop-solver (Rust, AGPL-3.0) that reads commands,
one a line, and answers each with a line of JSON. The spot comes first, without answers, as :func:`driver_lines` writes it; then

======================== ================================================================================================
``build``                ``version``, ``build_seconds``, ``predicted_bytes`` of its arrays
``iterate N``            ``iteration`` reached, ``wall`` and ``cpu`` seconds
``exploitability``       ``percent`` of the pot (mean over players), ``wall``
``solve SHARE MOST N``   iterate until SHARE percent at a check (one every N iterations) or until MOST: ``iteration``,
                         ``percent``, ``wall`` of the iterations, ``check_wall`` of the checks, ``cpu`` of both
``ev``                   ``ev``: chips of each player against half the pot, of the average strategies
``reset``                back to iteration 0
======================== ================================================================================================

and ``peak_bytes`` (largest resident size) in every answer, or only ``error``. ``holdem_worker.py`` implements this protocol for
Treeplex.

``TEXAS_SOLVER`` (``console_solver``): the console program of bupticybee's TexasSolver (C++, AGPL-3.0) with its ``-r`` option,
such as ``TEXAS_SOLVER="/somewhere/console_solver -r /somewhere/resources"``. It is restarted for every turn.

``REBEL_DRIVER`` is documented in :mod:`bench.rebel`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.rivals.child import Child
from treeplex.games.betting.size_grammar import sizes_to_string
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import card_to_string, cards_to_string, hand_class
from treeplex.holdem.spots.spot import Spot

PROGRAMS = {
    "postflop-solver": ("POSTFLOP_DRIVER", "postflop_driver"),
    "TexasSolver": ("TEXAS_SOLVER", "console_solver"),
    "released ReBeL": ("REBEL_DRIVER", "rebel_driver"),
}
STREETS = ("flop", "turn", "river")
ALLIN_SHARE = 1.0
"""TexasSolver turns bets above this share of the stack into all-ins (0.67 in its examples); the other solvers do not."""


class RivalError(Exception):
    """A program failed, or does not support the spot."""


def command_of(system: str) -> list[str] | None:
    """The command of a rival; None if it is not installed."""
    variable, program = PROGRAMS[system]
    if os.environ.get(variable):
        return shlex.split(os.environ[variable])
    found = shutil.which(program)
    return [found] if found else None


def plan_of(spot: Spot) -> BetPlan:
    """The spot's sizes, which must be of the no-limit kind."""
    if not isinstance(spot.bets, BetPlan):
        raise RivalError("the drivers of other solvers do not support fixed limit")
    return spot.bets


def driver_lines(spot: Spot, folder: Path, *, threads: int, storage: str) -> list[str]:
    """A spot for the driver; the ranges go into two files of 1326 float64 (little-endian), scaled to at most 1."""
    bets = plan_of(spot)
    lines = [f"board {cards_to_string(spot.board)}", f"pot {spot.pot:.0f}", f"stack {spot.stack:.0f}"]
    for player, weights in enumerate(spot.ranges):
        path = folder / f"range_{player}.bin"
        path.write_bytes(np.ascontiguousarray(weights / weights.max(), dtype="<f8").tobytes())
        lines.append(f"range {player} {path}")
    for name, street in zip(STREETS, bets.streets[1:], strict=True):
        for player, sizes in enumerate(street):
            lines.append(f"bet {name} {player} {sizes_to_string(sizes.bets)}")
            lines.append(f"raise {name} {player} {sizes_to_string(sizes.raises)}")
        if street[0].donk is not None and name != "flop":
            lines.append(f"donk {name} {sizes_to_string(street[0].donk)}")
    lines += [f"add_allin {bets.add_allin}", f"force_allin {bets.force_allin}", f"merge {bets.merge}"]
    if spot.rake.rate:
        lines += [f"rake {spot.rake.rate}", f"cap {min(spot.rake.cap, 1e9)}"]
    return [*lines, f"threads {threads}", f"storage {storage}", "build"]


def solver_text(spot: Spot, *, threads: int, target: float, most: int) -> str:
    """A spot for TexasSolver's console, whose ranges are weights of hand classes and whose sizes are shares of the pot."""
    lines = [f"set_pot {spot.pot:.0f}", f"set_effective_stack {spot.stack:.0f}"]
    lines.append("set_board " + ",".join(map(card_to_string, spot.board)))
    lines += [f"set_range_{seat} {classes(spot, player)}" for player, seat in ((1, "ip"), (0, "oop"))]
    for name, street in zip(STREETS, plan_of(spot).streets[1:], strict=True):
        for seat, sizes in zip(("oop", "ip"), street, strict=True):
            for kind, offered in (("bet", sizes.bets), ("raise", sizes.raises)):
                if any(size.kind not in ("pot", "allin") for size in offered):
                    raise RivalError(f"TexasSolver has no size {sizes_to_string(offered)}")
                lines += [f"set_bet_sizes {seat},{name},{kind},{100 * size.value:g}" for size in offered if size.kind == "pot"]
            lines.append(f"set_bet_sizes {seat},{name},allin")
    lines += [f"set_allin_threshold {ALLIN_SHARE}", "build_tree", f"set_thread_num {threads}", f"set_accuracy {target}"]
    return "\n".join([*lines, f"set_max_iteration {most}", "set_print_interval 10", "set_use_isomorphism 1", "start_solve", ""])


def classes(spot: Spot, player: int) -> str:
    """A range as hand classes with weights."""
    hands, weights = spot.format.hands, spot.ranges[player]
    found: dict[str, set[float]] = {}
    for index in np.flatnonzero(~np.isin(hands, spot.board).any(axis=1)):
        found.setdefault(hand_class(int(index)), set()).add(float(weights[index]))
    if any(len(values) > 1 for values in found.values()):
        raise RivalError("TexasSolver takes one weight for all hands of a class")
    weight = {name: values.pop() for name, values in found.items()}
    return ",".join(name if value == 1 else f"{name}:{value:g}" for name, value in weight.items() if value > 0)


@contextmanager
def confined(cores: Sequence[int]) -> Iterator[None]:
    """Context in which started processes run on these cores only, if the operating system supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(cores))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Session(Child):
    """A process that answers the commands above: postflop-solver's driver or Treeplex's worker."""

    failure = RivalError

    def __init__(self, command: Sequence[str], first: Sequence[str], *, cores: Sequence[int]) -> None:
        limits = {f"{name}_NUM_THREADS": str(len(cores)) for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        with confined(cores):
            super().__init__(Path(command[-1]).name, command, limits)
        self.about = self.ask("\n".join(first))


def postflop_session(spot: Spot, folder: Path, *, threads: int, storage: str, cores: Sequence[int]) -> Session:
    """postflop-solver with the spot built."""
    command = command_of("postflop-solver")
    assert command is not None
    return Session(command, driver_lines(spot, folder, threads=threads, storage=storage), cores=cores)


def our_session(case: str, *, threads: int, storage: str, cores: Sequence[int]) -> Session:
    """Treeplex with the case's spot built."""
    command = [sys.executable, "-m", "bench.rivals.holdem_worker"]
    return Session(command, [json.dumps({"case": case, "threads": threads, "storage": storage})], cores=cores)


def texas_turn(text: str, folder: Path, *, cores: Sequence[int]) -> dict[str, Any]:
    """One run of TexasSolver; its ``wall`` includes its checks, because it reports nothing else."""
    command = command_of("TexasSolver")
    assert command is not None
    path = folder / "texas.txt"
    path.write_text(text, encoding="utf-8")
    start = time.perf_counter()
    with confined(cores), (folder / "texas.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*command, "-i", str(path), "-m", "holdem"],
            stdout=log,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=os.environ | {"OMP_NUM_THREADS": str(len(cores))},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        log.seek(0)
        output = log.read()
    steps = re.findall(r"Iter: (\d+)|Total exploitability ([\d.eE+-]+)|time used: ([\d.eE+-]+)", output)
    last = [[step[kind] for step in steps if step[kind]] for kind in range(3)]
    if process.returncode or not all(last):
        raise RivalError(f"TexasSolver ended with status {process.returncode}: {output[-200:]}")
    seconds = float(last[2][-1])
    return {
        "iteration": int(last[0][-1]),
        "percent": float(last[1][-1]),
        "wall": seconds,
        "check_wall": 0.0,
        "start_wall": wall - seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_bytes": 1024 * usage.ru_maxrss,
    }
