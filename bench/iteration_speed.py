"""Milliseconds per CFR iteration and per exploitability computation, Treeplex compared with OpenSpiel and LiteEFG.

Every system runs in a separate process, all pinned to one core, with one thread. They take turns (A B C A B C ...). A turn is a
batch of about ``--batch`` seconds after a warm-up. The result is the median over the turns.

    python bench/run.py iteration_speed [--quick] [--all] [--case leduc] [--rounds 9]
"""

import argparse
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from bench.common import record
from bench.common.benchmark import benchmark
from bench.rivals.worker import Worker, WorkerError

CPP, CACHED, JAX = "OpenSpiel C++ CFR", "OpenSpiel C++ CFR, cached tree", "OpenSpiel JAX CFR"
LITE, LITE_PLUS = "LiteEFG CFR", "LiteEFG CFR+"
OURS, OURS_PLUS = "Treeplex CFR", "Treeplex CFR+"
OUR_JUDGE = "Treeplex exploitability"
RIVALS = {CPP: OURS, CACHED: OURS, JAX: OURS, LITE: OURS, LITE_PLUS: OURS_PLUS}
LARGE_RIVALS = {CPP: OURS, CACHED: OURS, LITE: OURS, LITE_PLUS: OURS_PLUS}
"""Systems without the JAX solver, whose dense tables per depth are too large for large games."""
THREE_PLAYER_RIVALS = {CPP: OURS, CACHED: OURS}
JUDGES = {"OpenSpiel C++ NashConv": OUR_JUDGE, "LiteEFG exploitability": OUR_JUDGE}
WARM_UP = (1, 2)
QUICK_CASES = ("leduc", "battleship_2", "exploitability")


@dataclass(frozen=True)
class Case:
    """One game and the systems that run on it.

    Attributes:
        name, title: for the command line and for tables.
        spec: the game, as OpenSpiel and Treeplex both read it.
        rivals: for each other system, the algorithm of Treeplex to compare it with.
        goals: for some of them, the required speedup of Treeplex.
        goal_ms: limit in milliseconds for Treeplex, if there is one.
        slow: systems that take minutes to set up here; run with ``--all`` only.
    """

    name: str
    title: str
    spec: str
    rivals: dict[str, str]
    goals: dict[str, float]
    goal_ms: float | None = None
    slow: tuple[str, ...] = ()

    def systems(self, everything: bool) -> list[str]:
        """The systems to run, Treeplex first."""
        others = [name for name in self.rivals if everything or name not in self.slow]
        return [*dict.fromkeys(self.rivals[name] for name in others), *others]


def battleship(height: int) -> str:
    """Battleship-2 and Battleship-3 of the DDCFR paper."""
    return (
        f"battleship(board_width=2,board_height={height},ship_sizes=[2],ship_values=[2],num_shots=3,allow_repeated_shots=False)"
    )


GOOFSPIEL = "goofspiel(imp_info=True,num_cards=5,points_order=descending)"
GOOFSPIEL_3 = "goofspiel(imp_info=True,num_cards=4,players=3,points_order=descending)"
CASES = (
    Case("leduc", "Leduc poker", "leduc_poker", RIVALS, {CPP: 250, JAX: 40, LITE_PLUS: 45}),
    Case("liars_dice", "Liar's Dice, 1 die, 6 faces", "liars_dice(numdice=1,dice_sides=6)", RIVALS, {CPP: 200}, slow=(JAX,)),
    Case("goofspiel_5", "Goofspiel-5, imperfect information", GOOFSPIEL, RIVALS, {CPP: 130}),
    Case("battleship_2", "Battleship-2", battleship(2), RIVALS, {CPP: 200}),
    Case("battleship_3", "Battleship-3", battleship(3), LARGE_RIVALS, {CPP: 120}),
    Case("kuhn_3", "Kuhn poker, three players", "kuhn_poker(players=3)", THREE_PLAYER_RIVALS, {}),
    Case("goofspiel_3", "Goofspiel-4, three players, imperfect information", GOOFSPIEL_3, THREE_PLAYER_RIVALS, {}),
    Case("exploitability", "Exploitability of a policy, Leduc poker", "leduc_poker", JUDGES, {}, goal_ms=0.05),
)


def run_case(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    """Time every system of a case in turns."""
    workers: dict[str, Worker] = {}
    failed: dict[str, str] = {}
    times: dict[str, int] = {}
    turns: dict[str, list[dict[str, Any]]] = {}
    try:
        for system in case.systems(options.all):
            try:
                worker = workers[system] = Worker(system, case.spec)
                last = [worker.batch(count)["wall"] / count for count in WARM_UP][-1]
                times[system] = max(1, round(options.batch / last))
                if times[system] > WARM_UP[-1]:
                    last = worker.batch(times[system])["wall"] / times[system]
                    times[system] = max(1, round(options.batch / last))
                turns[system] = []
            except (WorkerError, OSError) as error:
                failed[system] = str(error)
        for _ in range(options.rounds):
            for system in turns:
                turns[system].append(workers[system].batch(times[system]))
    finally:
        for worker in workers.values():
            worker.close()
    measured = {name: summary(times[name], workers[name].build_seconds, found) for name, found in turns.items()}
    return {
        "title": case.title,
        "spec": case.spec,
        "systems": measured,
        "failed": failed,
        "comparisons": compare(case, measured),
    }


def summary(times: int, build_seconds: float, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over the turns of one system, in milliseconds."""
    walls = [1e3 * turn["wall"] / times for turn in turns]
    return {
        "ms": statistics.median(walls),
        "ms_least": min(walls),
        "ms_most": max(walls),
        "cpu_ms": statistics.median(1e3 * turn["cpu"] / times for turn in turns),
        "times_per_turn": times,
        "set_up_seconds": build_seconds,
        "answer": turns[-1]["answer"],
        "ms_of_turns": walls,
    }


def compare(case: Case, measured: dict[str, Any]) -> list[dict[str, Any]]:
    """Ratios to Treeplex's times, and whether the goals are met."""
    found = []
    for other, ours in case.rivals.items():
        if other in measured and ours in measured:
            ratio = measured[other]["ms"] / measured[ours]["ms"]
            goal = case.goals.get(other)
            found.append(
                {"other": other, "ours": ours, "ratio": ratio, "goal": goal, "met": None if goal is None else ratio >= goal}
            )
    if case.goal_ms is not None:
        for ours in dict.fromkeys(case.rivals.values()):
            ms = measured[ours]["ms"]
            found.append({"other": None, "ours": ours, "ms": ms, "goal_ms": case.goal_ms, "met": ms <= case.goal_ms})
    return found


def tables(result: dict[str, Any]) -> str:
    """The result as markdown: one table a case."""
    parts = []
    for case in result["cases"].values():
        parts.append(f"**{case['title']}** (`{case['spec']}`)\n\n{case_table(case)}")
        parts += [f"Not measured: {message}" for message in case["failed"].values()]
    return "\n\n".join(parts)


def case_table(case: dict[str, Any]) -> str:
    """One row per system."""
    ratios = {each["other"]: each for each in case["comparisons"] if each["other"]}
    limits = {each["ours"]: each for each in case["comparisons"] if not each["other"]}
    rows = []
    for system, found in case["systems"].items():
        times = f"{record.digits(found['ms_least'])} to {record.digits(found['ms_most'])}"
        row = [system, record.digits(found["ms"]), times, record.digits(found["cpu_ms"])]
        if system in ratios:
            each = ratios[system]
            goal = "" if each["goal"] is None else f"{each['goal']:g} times: {'met' if each['met'] else 'missed'}"
            row += [f"{record.digits(each['ratio'])} times {each['ours'].removeprefix('Treeplex ')}", goal]
        elif system in limits:
            each = limits[system]
            row += ["", f"{each['goal_ms']:g} ms: {'met' if each['met'] else 'missed'}"]
        else:
            row += ["", ""]
        rows.append(row)
    return record.markdown_table(["system", "ms, median", "range", "CPU ms", "Treeplex is faster by", "goal"], rows)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES], help="only this case (repeatable)")
    parser.add_argument("--all", action="store_true", help="also systems that take minutes to set up on a game")
    parser.add_argument("--rounds", type=int, default=None, help="turns of each system (default 9; 2 with --quick)")
    parser.add_argument("--batch", type=float, default=None, help="target seconds per turn (default 0.5; 0.02 with --quick)")


@benchmark(
    title="Iterations compared with other systems",
    place=1,
    minutes=8,
    about=(
        "Each system runs in its own process on one core with one thread. The systems take turns, and the result is the "
        "median. An iteration updates all players and their averages. Updates alternate in Treeplex, OpenSpiel and "
        "LiteEFG's CFR+, and are simultaneous in LiteEFG's CFR. Treeplex computes in float64, OpenSpiel's JAX solver in "
        "float32. Milliseconds are wall time. If CPU time is far below wall time, the machine was busy."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    options.rounds = options.rounds or (2 if options.quick else 9)
    options.batch = options.batch or (0.02 if options.quick else 0.5)
    wanted = options.case or (QUICK_CASES if options.quick else [case.name for case in CASES])
    found: dict[str, Any] = {}
    for case in CASES:
        if case.name in wanted:
            print(f"{case.title} ...", file=sys.stderr, flush=True)
            found[case.name] = run_case(case, options)
    return {"rounds": options.rounds, "batch_seconds": options.batch, "cases": found}
