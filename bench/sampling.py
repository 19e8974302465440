"""Iterations of Monte Carlo CFR compared with OpenSpiel's samplers and LiteEFG's, in one process, taking turns.

An iteration is one traversal per player. Each system averages in its default way: Treeplex exactly, with lazy updates;
OpenSpiel's external sampling at the opponent's infosets, its outcome sampling weighted by the probability of the trajectory;
LiteEFG by a sweep over all infosets.

    python bench/run.py sampling [--quick] [--rounds 5]
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from bench.rivals import tasks
from treeplex.solvers import make_solver

DESCENDING = "points_order=descending"
GAMES = {
    "Kuhn poker": ("kuhn_poker", "kuhn_poker"),
    "Leduc poker": ("leduc_poker", "leduc_poker"),
    "Liar's Dice, 4 faces": ("liars_dice(dice_sides=4)", "liars_dice(dice_sides=4)"),
    "Liar's Dice, 6 faces": ("liars_dice", "liars_dice"),
    "Goofspiel, 5 cards": (
        f"goofspiel(num_cards=5,imp_info=true,{DESCENDING})",
        f"turn_based_simultaneous_game(game=goofspiel(num_cards=5,imp_info=True,{DESCENDING}))",
    ),
}
CPP, PYTHON, LITE = "OpenSpiel C++", "OpenSpiel Python", "LiteEFG"


class Sampler(NamedTuple):
    """A sampling scheme: Treeplex's algorithm, LiteEFG's baseline and its kind of traversal."""

    ours: str
    baseline: str
    walk: str


SAMPLERS = {"external": Sampler("es-mccfr", "CFR", "External"), "outcome": Sampler("os-mccfr", "OS_MCCFR", "Outcome")}
LITE_GAMES = ("Kuhn poker", "Leduc poker", "Liar's Dice, 4 faces")
"""LiteEFG writes the whole tree to a file first, which takes long on larger games."""
THREADED = {title: GAMES[title][0] for title in ("Leduc poker", "Liar's Dice, 6 faces", "Goofspiel, 5 cards")}
THREADS = 2
GOALS = {"external": 10.0, "outcome": 5.0}
GOAL_GAMES = ("Leduc poker", "Liar's Dice, 4 faces", "Liar's Dice, 6 faces")
SECONDS = 0.5
"""Approximate seconds per turn."""


def per_iteration(run: Callable[[int], None], count: int) -> float:
    """Microseconds of wall time per iteration."""
    start = time.perf_counter()
    run(count)
    return 1e6 * (time.perf_counter() - start) / count


def affordable(run: Callable[[int], None], seconds: float) -> int:
    """Number of iterations that take about the given time."""
    count = 16
    while (spent := per_iteration(run, count) * count / 1e6) < seconds / 8:
        count *= 2
    return max(1, int(count * seconds / spent))


def liteefg(game: Any, baseline: str, walk: str) -> Callable[[int], None]:
    """LiteEFG's iterations, averages included."""
    with contextlib.redirect_stdout(io.StringIO()):
        graph = importlib.import_module(f"LiteEFG.baselines.{baseline}").graph()
        environment = tasks.liteefg_game(game, walk)
        environment.set_graph(graph)
    strategy = graph.current_strategy()

    def run(count: int) -> None:
        for _ in range(count):
            graph.update_graph(environment)
            environment.update_strategy(strategy)

    return run


def repeated(step: Callable[[], Any]) -> Callable[[int], None]:
    """A function that calls another a given number of times."""

    def run(count: int) -> None:
        for _ in range(count):
            step()

    return run


def case(title: str, sampler: str, rounds: int, seconds: float) -> dict[str, Any]:
    """All systems on one game, taking turns; their state is kept between turns, as in a real run."""
    import pyspiel

    (spec, other), kind = GAMES[title], SAMPLERS[sampler]
    solver = make_solver(tp.compile(spec), kind.ours)
    solver.run(1)  # compiles the kernel
    game = pyspiel.load_game(other)
    python = importlib.import_module(f"open_spiel.python.algorithms.{sampler}_sampling_mccfr")
    named = sampler.capitalize()
    turns: dict[str, Callable[[int], None]] = {
        "Treeplex": solver.run,
        CPP: repeated(getattr(pyspiel, f"{named}SamplingMCCFRSolver")(game).run_iteration),
        PYTHON: repeated(getattr(python, f"{named}SamplingSolver")(game).iteration),
    }
    if title in LITE_GAMES and importlib.util.find_spec("LiteEFG") is not None:
        turns[LITE] = liteefg(game, kind.baseline, kind.walk)
    counts = {system: affordable(run, seconds) for system, run in turns.items()}
    found: dict[str, list[float]] = {system: [] for system in turns}
    before = solver.nodes, solver.iteration
    for _ in range(rounds):
        for system, run in turns.items():
            found[system].append(per_iteration(run, counts[system]))
    ours = statistics.median(found["Treeplex"])
    nodes = (solver.nodes - before[0]) / (solver.iteration - before[1])
    ratios = sorted(b / a for a, b in zip(found["Treeplex"], found[CPP], strict=True))
    return {
        "algorithm": kind.ours,
        "us": ours,
        "others_us": {system: statistics.median(times) for system, times in found.items() if system != "Treeplex"},
        "ratio": statistics.median(ratios),
        "lowest_ratio": ratios[0],
        "highest_ratio": ratios[-1],
        "nodes": nodes,
        "ns_a_node": 1e3 * ours / nodes,
    }


def threaded(title: str, name: str, rounds: int, seconds: float) -> dict[str, Any]:
    """One and several threads on one game, taking turns, on all cores."""
    game = tp.compile(THREADED[title])
    turns = {count: make_solver(game, f"{name}(threads={count})").run for count in (1, THREADS)}
    for run in turns.values():
        run(1)
    counts = {count: affordable(run, seconds) for count, run in turns.items()}
    found: dict[int, list[float]] = {count: [] for count in turns}
    for _ in range(rounds):
        for count, run in turns.items():
            found[count].append(per_iteration(run, counts[count]))
    one, several = (statistics.median(times) for times in found.values())
    return {"game": title, "algorithm": name, "us": one, "threaded_us": several, "ratio": one / several}


def one_threaded(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """All cases on one thread."""
    cases = []
    for title, (spec, _) in GAMES.items():
        for sampler in SAMPLERS:
            found = case(title, sampler, rounds, seconds)
            goal = GOALS[sampler] if title in GOAL_GAMES else None
            cases.append({"game": title, "spec": spec, "goal": goal, **found})
            print(f"{title}, {found['algorithm']}: {found['us']:.2f} us, {found['ratio']:.1f} times", flush=True)
    return cases


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for each in result["cases"]:
        goal = "" if each["goal"] is None else f"{each['goal']:g}: {'met' if each['ratio'] >= each['goal'] else 'missed'}"
        others = [each["others_us"].get(system) for system in (CPP, PYTHON, LITE)]
        rows.append(
            [
                each["game"],
                f"`{each['algorithm']}`",
                record.digits(each["us"]),
                *("" if time is None else record.digits(time) for time in others),
                f"{each['ratio']:.1f} ({each['lowest_ratio']:.1f} to {each['highest_ratio']:.1f})",
                goal,
                f"{each['nodes']:.0f}",
                f"{each['ns_a_node']:.0f}",
            ]
        )
    head = [
        "game",
        "algorithm",
        "µs per iteration",
        CPP,
        PYTHON,
        LITE,
        "speed-up over C++ (turns)",
        "goal",
        "histories",
        "ns each",
    ]
    several = [
        [each["game"], f"`{each['algorithm']}`", *map(record.digits, (each["us"], each["threaded_us"])), f"{each['ratio']:.2f}"]
        for each in result["threaded"]
    ]
    columns = ["game", "algorithm", "µs per iteration, 1 thread", f"{result['threads']} threads", "speed-up"]
    return "\n\n".join((record.markdown_table(head, rows, left=2), record.markdown_table(columns, several, left=2)))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=None, help="turns of each system (default 5; 1 with --quick)")


@benchmark(
    title="Sampling compared with OpenSpiel",
    place=2,
    minutes=3,
    about=(
        "One process, one core, one thread. The systems take turns and keep their state between turns; the result is the "
        "median. An iteration is one traversal per player. Each system computes averages in its default way. Treeplex's lazy "
        "averages are exact. OpenSpiel's external sampling updates averages at the opponent's infosets, and its outcome "
        "sampling weights them by the probability of the trajectory. LiteEFG sweeps over all infosets. The number of "
        "histories is that of Treeplex's traversals in one iteration. Two threads run on two cores."
    ),
    needs=("pyspiel",),
    pinned=False,
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    rounds, seconds = options.rounds or (1 if options.quick else 5), 0.05 if options.quick else SECONDS
    several = [threaded(title, each.ours, rounds, seconds) for title in THREADED for each in SAMPLERS.values()]
    core = record.pin(options.core)
    cases = one_threaded(rounds, seconds)
    return {"core": core, "rounds": rounds, "seconds": seconds, "cases": cases, "threads": THREADS, "threaded": several}
