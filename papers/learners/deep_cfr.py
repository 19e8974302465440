"""The family of Deep CFR on Leduc poker: exploitability of what networks learn, beside the published figures."""

from collections.abc import Mapping
from time import process_time
from typing import Any

from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import curve_of, reached, trained
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import make_solver

GAME = "leduc_poker"
MATCHED = 4_700_000
"""Histories of the runs that published figures are from."""
LEARNERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "sd-cfr": ("sd-cfr", {}),
    "deep-cfr": ("deep-cfr", {"every": 50}),
    "vr-deep-pdcfr+": ("vr-deep-pdcfr+", {"nodes": MATCHED, "every": 15}),
    "escher": ("escher", {"steps": 80, "every": 20}),
    "escher, corrected": ("escher", {"steps": 80, "every": 20, "corrected": True}),
    "dream": ("dream", {"steps": 100, "every": 20}),
    "vr-deep-dcfr+": ("vr-deep-dcfr+", {"nodes": MATCHED, "every": 15}),
}
"""Learner and settings besides the defaults, by what a run is called."""
TABLES: Mapping[str, Mapping[str, Any]] = {
    "sd-cfr": {},
    "dream": {"walks": 6000},
    "escher": {"steps": 300, "average": "exact"},
    "escher, corrected": {"steps": 300, "average": "exact", "corrected": True},
    "vr-deep-dcfr+": {"nodes": MATCHED, "average": "exact"},
    "vr-deep-pdcfr+": {"nodes": MATCHED, "average": "exact"},
}
"""Settings of runs with a table in place of each network, which take seconds."""


def with_tables() -> tuple[Table, dict[str, Any]]:
    """What the methods come to without learning error, and outcome sampling at as many histories as DREAM has."""
    found = {}
    for name, changes in TABLES.items():
        learner = LEARNERS[name][0]
        found[name] = reached(trained(GAME, learner, {**changes, "approximator": "table"}, called=f"{name}, table"))
    solver = make_solver(compile_game(GAME), "os-mccfr")
    began = process_time()
    while solver.nodes < found["dream"]["nodes"]:
        solver.run(5000)
    spent, gain = process_time() - began, judge(solver.game, solver.average_policy()).exploitability
    found["os-mccfr"] = {"exploitability": gain, "steps": solver.iteration, "nodes": solver.nodes, "cpu_seconds": spent}
    rows = [
        [
            f"`{name}`",
            f"{each['exploitability']:.3f}",
            f"{each['steps']:,}",
            f"{each['nodes'] / 1e6:.2f}",
            f"{each['cpu_seconds']:.1f}",
        ]
        for name, each in found.items()
    ]
    columns = ["learner", "exploitability", "iterations", "million histories", "processor seconds"]
    return Table("With tables in place of all networks, and tabular outcome sampling", columns, rows), found


@study(title="Deep CFR and its kin on Leduc poker", place=1, minutes=40, needs=("torch",))
def reproduce(options: list[str] | None = None) -> Result:
    """With options: names of learners, as in :data:`LEARNERS`; others are shown as far as they have come."""
    said = published("learners")["deep_cfr"]
    trainings = {}
    for name in options or LEARNERS:
        learner, settings = LEARNERS[name]
        trainings[name] = trained(GAME, learner, settings, called=name)
        print(name, reached(trainings[name]), flush=True)
    found = {name: reached(training) for name, training in trainings.items()}
    curves = {name: curve_of(training) for name, training in trainings.items()}
    rows = [
        [
            f"`{name}`",
            f"{each['exploitability']:.3f}",
            f"{each['steps']:,}",
            f"{each['nodes'] / 1e6:.2f}",
            f"{each['cpu_seconds']:.0f}",
            said[name],
        ]
        for name, each in found.items()
    ]
    tables, without_error = with_tables()
    columns = ["learner", "exploitability", "iterations", "million histories", "processor seconds", "published"]
    steps = (1, 10, 20, 30, 50, 100)
    shown = [
        [f"`{name}`", *(f"{curve[str(step)]:.3f}" if str(step) in curve else "" for step in steps)]
        for name, curve in curves.items()
    ]
    findings = [
        f"`{name}` comes to {found[name]['exploitability']:.3f} after {found[name]['steps']:,} iterations and "
        f"{found[name]['cpu_seconds']:.0f} seconds of one processor."
        for name in ("deep-cfr", "sd-cfr")
        if name in found
    ]
    plain, corrected = (without_error[name]["exploitability"] for name in ("escher", "escher, corrected"))
    findings.append(
        f"With tables, whose only error is that a critic has seen 500 playthroughs for each player, plain ESCHER comes to a "
        f"standstill at {plain:.2f}; the importance-corrected residual takes it to {corrected:.2f}."
    )
    findings.append(
        f"With tables DREAM comes to {without_error['dream']['exploitability']:.3f}, outcome sampling to "
        f"{without_error['os-mccfr']['exploitability']:.3f} at as many histories."
    )
    return Result(
        source=said["source"],
        findings=findings,
        tables=[
            Table("Exploitability in chips, the mean over players", columns, rows),
            Table("After so many iterations", ["learner", *map(str, steps)], shown),
            tables,
        ],
        notes=[
            "One seed, 0; the defaults of each learner. Networks have three layers of 64 units and see ranks, suits, betting "
            "and chips.",
            said["sources"],
            "Exploitability is exact. Processor seconds are those of walks and fits; networks of the average, which are fitted "
            "when the average is asked for, are not in them.",
        ],
        numbers={"reached": found, "curves": curves, "tables": without_error},
    )
