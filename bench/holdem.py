"""Hold'em spots solved by Treeplex and, if installed, by postflop-solver and TexasSolver, taking turns.

Every system runs in a separate process with the spot already built. They take turns (A B A B ...). A turn starts at iteration 0
and stops at the first check at or below the target (a check every ten iterations, not timed), or after a fixed number of
iterations. One thread runs on one core, two threads on two. The result is the median over the turns.

    python bench/run.py holdem [--quick] [--case turn_basic] [--rounds 5] [--all] [--endgames FOLDER]

How the other programs are found, and what they must answer: :mod:`bench.rivals.programs`.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.common import record
from bench.common.benchmark import benchmark
from bench.common.holdem_spots import CASES, ENDGAMES, OURS, POSTFLOP, TEXAS, Case, Goal
from bench.rivals.programs import RivalError, Session, command_of, our_session, postflop_session, solver_text, texas_turn

EVERY = 10
QUICK_CASES = ("turn_basic", "x_turn")
QUICK_ITERATIONS = 20
COLD_CASE = "turn_basic"
COMPILED_SECONDS = 5.0
"""Loading kernels takes less, compiling them more."""
MIB = 2**20


def cores_for(threads: int, core: int | None) -> list[int]:
    """The last available cores, or the requested one and its neighbours."""
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    if threads > len(available):
        raise RivalError(f"{threads} threads need as many cores, and there are {len(available)}")
    if core is not None and core in available:
        available.remove(core)
        available.append(core)
    return available[-threads:]


class Contest:
    """One case with a number of threads and a storage type: the sessions and their results by turn."""

    def __init__(self, case: Case, threads: int, storage: str, options: argparse.Namespace) -> None:
        self.case, self.threads, self.storage = case, threads, storage
        self.quick = options.quick
        self.target = None if options.quick else case.target
        self.most = QUICK_ITERATIONS if options.quick else case.iterations
        self.cores = cores_for(threads, options.core)
        self.sessions: dict[str, Session] = {}
        self.turns: dict[str, list[dict[str, Any]]] = {}
        self.failed: dict[str, str] = {}
        self.texas = ""

    def start(self, folder: Path) -> None:
        """Start Treeplex and every installed rival."""
        spot, wanted = self.case.spot(), {"threads": self.threads, "storage": self.storage, "cores": self.cores}
        for system in (OURS, *self.case.rivals):
            if system != OURS and command_of(system) is None:
                self.failed[system] = "not installed"
                continue
            try:
                if system == OURS:
                    self.sessions[system] = warm_session(self.case.name, **wanted)  # type: ignore[arg-type]
                elif system == POSTFLOP:
                    self.sessions[system] = postflop_session(spot, folder, **wanted)  # type: ignore[arg-type]
                elif self.target is not None:
                    self.texas = solver_text(spot, threads=self.threads, target=self.target, most=self.most)
                self.turns[system] = []
            except (RivalError, OSError) as error:
                self.failed[system] = str(error)
        if OURS in self.failed:
            raise RivalError(self.failed[OURS])
        for session in self.sessions.values():
            session.ask(f"iterate {2 if self.case.fresh else EVERY}")
            session.ask("exploitability")

    def turn(self, system: str, folder: Path) -> dict[str, Any]:
        """One turn of one system."""
        if system == TEXAS:
            return texas_turn(self.texas, folder, cores=self.cores)
        session = self.sessions[system]
        if self.target is not None:
            session.ask("reset")
            return session.ask(f"solve {self.target} {self.most} {EVERY}")
        before = 0
        if self.case.fresh:
            session.ask("reset")
        else:
            before = session.ask("exploitability")["iteration"]
        found = session.ask(f"iterate {self.most}")
        checked = session.ask("exploitability")
        return found | {
            "iteration": found["iteration"] - before,
            "percent": checked["percent"],
            "check_wall": checked["wall"],
            "peak_bytes": checked["peak_bytes"],
        }

    def run(self, rounds: int) -> dict[str, Any]:
        """Run all turns; returns the medians."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            try:
                self.start(folder)
                self.turns = {system: [] for system in self.turns if system != TEXAS or self.texas}
                for _ in range(rounds):
                    for system, turns in self.turns.items():
                        turns.append(self.turn(system, folder))
                values = {system: session.ask("ev")["ev"] for system, session in self.sessions.items()}
            finally:
                for session in self.sessions.values():
                    session.close()
        systems = {system: self.summary(system, turns) for system, turns in self.turns.items()}
        for system, value in values.items():
            systems[system]["ev"] = value
        return {
            "case": self.case.name,
            "title": self.case.title,
            "note": self.case.note,
            "target": self.target,
            "threads": self.threads,
            "storage": self.storage,
            "cores": self.cores,
            "rounds": rounds,
            "systems": systems,
            "failed": self.failed,
            "ratios": ratios(systems, self.target),
        }

    def summary(self, system: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
        """Medians over the turns of one system."""
        walls = [turn["wall"] for turn in turns]
        checks = [turn["iteration"] / EVERY if self.target is not None else 1 for turn in turns]
        about = self.sessions[system].about if system in self.sessions else {}
        kept = ("version", "build_seconds", "kernel_seconds", "import_seconds", "start_bytes", "predicted_bytes")
        return {
            "seconds": statistics.median(walls),
            "seconds_least": min(walls),
            "seconds_most": max(walls),
            "iterations": turns[-1]["iteration"],
            "ms_per_iteration": statistics.median(1e3 * turn["wall"] / turn["iteration"] for turn in turns),
            "ms_per_check": statistics.median(
                1e3 * turn["check_wall"] / count for turn, count in zip(turns, checks, strict=True)
            ),
            "check_seconds": statistics.median(turn["check_wall"] for turn in turns),
            "cpu_seconds": statistics.median(turn["cpu"] for turn in turns),
            "percent": turns[-1]["percent"],
            "reached": self.target is None or turns[-1]["percent"] <= self.target,
            "peak_bytes": max(turn["peak_bytes"] for turn in turns),
            "start_up_seconds": statistics.median(turn["start_wall"] for turn in turns) if system == TEXAS else None,
            **{key: about[key] for key in kept if key in about},
        }


def goals_of(contest: dict[str, Any]) -> list[Goal]:
    """The goals for the threads of a contest in float32."""
    goals = CASES[contest["case"]].goals if contest["storage"] == "float32" else ()
    return [goal for goal in goals if goal.threads == contest["threads"]]


def warm_session(case: str, **wanted: Any) -> Session:
    """Treeplex's session, restarted if kernels were just compiled, so that its memory excludes the compiler's."""
    session = our_session(case, **wanted)
    if session.about["kernel_seconds"] > COMPILED_SECONDS:
        session.close()
        session = our_session(case, **wanted)
    return session


def judged(goal: Goal, ours: dict[str, Any]) -> dict[str, Any]:
    """One goal with the measured value."""
    found = ours["seconds"] if goal.kind == "seconds" else ours["ms_per_iteration"]
    return {"kind": goal.kind, "most": goal.most, "found": found, "met": found <= goal.most and ours["reached"]}


def ratios(systems: dict[str, Any], target: float | None) -> dict[str, dict[str, float]]:
    """Factor by which each rival is slower: to the target (with our checks if theirs are included), and per iteration."""
    ours, found = systems[OURS], {}
    for system, theirs in systems.items():
        if system != OURS:
            seconds = ours["seconds"] + (ours["check_seconds"] if system == TEXAS else 0.0)
            iteration = {"iteration": theirs["ms_per_iteration"] / ours["ms_per_iteration"]}
            found[system] = {} if system == TEXAS else iteration
            if target is not None and ours["reached"] and theirs["reached"]:
                found[system]["target"] = theirs["seconds"] / seconds
    return found


def cold_kernels(options: argparse.Namespace) -> float:
    """Seconds to compile the kernels of one case from scratch."""
    before = os.environ.get("TREEPLEX_KERNELS")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TREEPLEX_KERNELS"] = folder
        try:
            session = our_session(COLD_CASE, threads=1, storage="float32", cores=cores_for(1, options.core))
        finally:
            del os.environ["TREEPLEX_KERNELS"]
            if before is not None:
                os.environ["TREEPLEX_KERNELS"] = before
        session.close()
    return float(session.about["kernel_seconds"] + session.about["build_seconds"])


def tables(result: dict[str, Any]) -> str:
    """The result as markdown: one table per case."""
    parts = []
    for name in dict.fromkeys(each["case"] for each in result["contests"]):
        contests = [each for each in result["contests"] if each["case"] == name]
        parts.append(f"**{contests[0]['title']}**\n\n{case_table(contests)}")
        parts += [goal_line(each, judged(goal, each["systems"][OURS])) for each in contests for goal in goals_of(each)]
        parts += [contests[0]["note"]] if contests[0]["note"] else []
    parts += [f"Not measured: {name}: {message}" for name, message in result["left_out"].items()]
    if result["cold_seconds"] is not None:
        seconds = f"{result['cold_seconds']:.0f} s here (`{COLD_CASE}`, building included)"
        parts.append(f"Treeplex compiles its kernels once, on first use: {seconds}.")
    return "\n\n".join(parts)


def goal_line(contest: dict[str, Any], goal: dict[str, Any]) -> str:
    """One goal as a sentence."""
    unit = "s" if goal["kind"] == "seconds" else "ms per iteration"
    threads = f"{contest['threads']} thread{'s' if contest['threads'] > 1 else ''}"
    verdict = "met" if goal["met"] else "missed"
    return f"Goal, {threads}: {goal['most']:g} {unit}: {verdict} ({record.digits(goal['found'])})."


def case_table(contests: list[dict[str, Any]]) -> str:
    """A row for each combination of threads, storage and system."""
    target = contests[0]["target"]
    header = [
        "system",
        "threads",
        "storage",
        "iterations",
        "seconds" if target is None else f"seconds to {target:g}%",
        "range",
        "ms per iteration",
        "ms per check",
        "% of the pot",
        "build, s",
        "arrays, MiB",
        "peak, MiB",
        "Treeplex is faster by",
    ]
    rows = []
    for contest in contests:
        for system, found in contest["systems"].items():
            rows.append(row(system, found, contest))
    return record.markdown_table(header, rows)


def row(system: str, found: dict[str, Any], contest: dict[str, Any]) -> list[str]:
    """One system's figures."""
    ratio = contest["ratios"].get(system, {})
    words = {"target": "all", "iteration": "iteration"}
    faster = [f"{record.digits(ratio[key])} ({word})" for key, word in words.items() if key in ratio]
    mib = ["" if found.get(key) is None else record.digits(found[key] / MIB) for key in ("predicted_bytes", "peak_bytes")]
    return [
        system,
        str(contest["threads"]),
        contest["storage"],
        str(found["iterations"]) + ("" if found["reached"] else " (not reached)"),
        record.digits(found["seconds"]),
        f"{record.digits(found['seconds_least'])} to {record.digits(found['seconds_most'])}",
        "" if system == TEXAS else record.digits(found["ms_per_iteration"]),
        record.digits(found["ms_per_check"]) if found["check_seconds"] else "in the seconds",
        record.digits(found["percent"]),
        record.digits(found["build_seconds"]) if "build_seconds" in found else "",
        *mib,
        ", ".join(faster),
    ]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--case", action="append", choices=list(CASES), help="only this case (repeatable)")
    parser.add_argument("--all", action="store_true", help="also the slow cases")
    parser.add_argument("--rounds", type=int, default=None, help="turns of each system (default: set by the case)")
    parser.add_argument("--endgames", default=None, help=f"folder of Libratus' subgame1.txt to subgame4.txt (or {ENDGAMES})")


@benchmark(
    title="Hold'em compared with other solvers",
    place=4,
    minutes=10,
    about=(
        "Each system runs in its own process. The systems take turns, and the result is the median; one thread runs on one "
        "core, two threads on two. Exploitability is the mean over players in percent of the initial pot. It is computed "
        "every ten iterations, and its time is not counted. TexasSolver reports the time of solving and checking together, "
        "so comparisons with it include our checks. Each solver runs its own variant of DCFR and its own check. Build is "
        "the time to create the game, arrays the memory that the system reports, and peak the largest resident size of the "
        "process, including Python and compiled kernels."
    ),
    pinned=False,
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    if options.endgames:
        os.environ[ENDGAMES] = str(Path(options.endgames).resolve())
    usual = QUICK_CASES if options.quick else [case.name for case in CASES.values() if options.all or not case.slow]
    wanted = options.case or usual
    contests, left_out = [], {}
    for case in (CASES[name] for name in CASES if name in wanted):
        for threads in case.threads[:1] if options.quick else case.threads:
            for storage in case.storages:
                print(f"{case.title}, {threads} thread(s), {storage} ...", file=sys.stderr, flush=True)
                try:
                    rounds = options.rounds or (1 if options.quick else case.rounds)
                    contests.append(Contest(case, threads, storage, options).run(rounds))
                except (RivalError, OSError) as error:
                    left_out[f"{case.name}, {threads} thread(s), {storage}"] = str(error)
    cold = None
    if not options.quick:
        try:
            cold = cold_kernels(options)
        except (RivalError, OSError) as error:
            left_out["kernels compiled from nothing"] = str(error)
    return {"every": EVERY, "contests": contests, "left_out": left_out, "cold_seconds": cold}
