"""Iterations of Monte Carlo CFR beside OpenSpiel's C++ samplers, in one process, taking turns.

An iteration is one walk for each player in both. OpenSpiel keeps its averages at the other player's infosets ("simple"),
Treeplex by the lazy ledger, which is exact; each is the system's own default.

    python bench/sampling.py [--quick] [--rounds 5]
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import pyspiel

import record
import treeplex as tp
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
SAMPLERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "external": ("es-mccfr", pyspiel.ExternalSamplingMCCFRSolver),
    "outcome": ("os-mccfr", pyspiel.OutcomeSamplingMCCFRSolver),
}
GOALS = {"external": 10.0, "outcome": 5.0}
GOAL_GAMES = ("Leduc poker", "Liar's Dice, 4 faces", "Liar's Dice, 6 faces")
SECONDS = 0.5
"""About how long a turn takes."""


def per_iteration(run: Callable[[int], None], count: int) -> float:
    """Microseconds of wall time an iteration."""
    start = time.perf_counter()
    run(count)
    return 1e6 * (time.perf_counter() - start) / count


def affordable(run: Callable[[int], None], seconds: float) -> int:
    """How many iterations take about so many seconds."""
    count = 16
    while (spent := per_iteration(run, count) * count / 1e6) < seconds / 8:
        count *= 2
    return max(1, int(count * seconds / spent))


def case(spec: str, other: str, sampler: str, rounds: int, seconds: float) -> dict[str, Any]:
    """Both systems on one game, by turns; the state goes on from turn to turn, as in a real run."""
    name, build = SAMPLERS[sampler]
    solver = make_solver(tp.compile(spec), name)
    solver.run(1)  # compiles the kernel
    rival = build(pyspiel.load_game(other))

    def run_rival(count: int) -> None:
        for _ in range(count):
            rival.run_iteration()

    systems: dict[str, Callable[[int], None]] = {"Treeplex": solver.run, "OpenSpiel C++": run_rival}
    counts = {system: affordable(run, seconds) for system, run in systems.items()}
    found: dict[str, list[float]] = {system: [] for system in systems}
    before = solver.nodes, solver.iteration
    for _ in range(rounds):
        for system, run in systems.items():
            found[system].append(per_iteration(run, counts[system]))
    ours, theirs = (statistics.median(found[system]) for system in systems)
    nodes = (solver.nodes - before[0]) / (solver.iteration - before[1])
    ratios = sorted(b / a for a, b in zip(found["Treeplex"], found["OpenSpiel C++"], strict=True))
    return {
        "algorithm": name,
        "us": ours,
        "openspiel_us": theirs,
        "ratio": statistics.median(ratios),
        "lowest_ratio": ratios[0],
        "highest_ratio": ratios[-1],
        "nodes": nodes,
        "ns_a_node": 1e3 * ours / nodes,
    }


def measure(rounds: int, seconds: float) -> dict[str, Any]:
    """All cases."""
    cases = []
    for title, (spec, other) in GAMES.items():
        for sampler in SAMPLERS:
            found = case(spec, other, sampler, rounds, seconds)
            goal = GOALS[sampler] if title in GOAL_GAMES else None
            cases.append({"game": title, "spec": spec, "goal": goal, **found})
            print(f"{title}, {found['algorithm']}: {found['us']:.2f} us, {found['ratio']:.1f} times", flush=True)
    return {"rounds": rounds, "seconds": seconds, "cases": cases}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for each in result["cases"]:
        goal = "" if each["goal"] is None else f"{each['goal']:g}: {'met' if each['ratio'] >= each['goal'] else 'missed'}"
        rows.append(
            [
                each["game"],
                f"`{each['algorithm']}`",
                record.digits(each["us"]),
                record.digits(each["openspiel_us"]),
                f"{each['ratio']:.1f} ({each['lowest_ratio']:.1f} to {each['highest_ratio']:.1f})",
                goal,
                f"{each['nodes']:.0f}",
                f"{each['ns_a_node']:.0f}",
            ]
        )
    head = ["game", "algorithm", "us an iteration", "OpenSpiel C++", "times as fast (turns)", "goal", "histories", "ns each"]
    return record.markdown_table(head, rows, left=2)


def main() -> None:
    """Measure and write the result."""
    parser = record.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=None, help="turns of each system (default 5; 1 with --quick)")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    result = {"core": record.pin(options.core)} | measure(rounds, 0.05 if options.quick else SECONDS)
    path = record.save("sampling", result, options)
    print(f"{tables(result)}\n\nWritten to {path}")


if __name__ == "__main__":
    main()
