"""The family of Deep CFR on Leduc poker: exploitability of the networks, compared with the published figures."""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import BANDS, STORED, band, earlier, mean_at, trainings, values_of
from treeplex import judge
from treeplex.solvers import make_solver

GAME = "leduc_poker"
MATCHED = 4_700_000
"""Histories of the published runs."""
SARSA = "escher, expected sarsa"
KEPT: Mapping[str, Any] = {"corrected": True, "critic": "expected-sarsa", "critic_rounds": 5, "walks": 1000}
"""Corrected ESCHER with a critic that is kept across iterations; as many histories per iteration as with value walks."""
FEWER = "escher, expected sarsa, fewer iterations"
FITTED: Mapping[str, Any] = {**KEPT, "walks": 3000, "fits": 600, "batch": 1024, "average": "exact"}
"""As above with a third of the iterations, each with three times as many traversals and gradient steps of the regret networks,
smaller batches and the exact average."""
LEARNERS: Mapping[str, tuple[str, Mapping[str, Any], int]] = {
    "sd-cfr": ("sd-cfr", {}, 3),
    "sd-cfr, longer": ("sd-cfr", {"steps": 2000, "every": 200}, 3),
    "deep-cfr": ("deep-cfr", {"every": 50}, 3),
    "deep-cfr, longer": ("deep-cfr", {"steps": 2000, "every": 500}, 3),
    "vr-deep-pdcfr+": ("vr-deep-pdcfr+", {"nodes": MATCHED, "every": 15}, 3),
    "escher": ("escher", {"steps": 400, "nodes": MATCHED, "every": 100}, 3),
    "escher, corrected": ("escher", {"steps": 400, "nodes": MATCHED, "every": 100, "corrected": True}, 3),
    SARSA: ("escher", {"steps": 400, "nodes": MATCHED, "every": 100, **KEPT}, 3),
    FEWER: ("escher", {"steps": 200, "nodes": MATCHED, "every": 10, **FITTED}, 3),
    "dream": ("dream", {"steps": 100, "every": 20}, 3),
    "vr-deep-dcfr+": ("vr-deep-dcfr+", {"nodes": MATCHED, "every": 15}, 3),
}
"""Learner, settings besides the defaults, and number of seeds, by name of the run."""
TABLES: Mapping[str, Mapping[str, Any]] = {
    "sd-cfr": {},
    "dream": {"walks": 6000},
    "escher": {"steps": 300, "average": "exact"},
    "escher, corrected": {"steps": 300, "average": "exact", "corrected": True},
    SARSA: {"steps": 300, "average": "exact", **KEPT},
    "vr-deep-dcfr+": {"nodes": MATCHED, "average": "exact"},
    "vr-deep-pdcfr+": {"nodes": MATCHED, "average": "exact"},
}
"""Settings of runs with a table in place of each network, which take seconds."""


def row(name: str, found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A row of a table: results of a run's seeds, and their mean cost."""
    steps, nodes, seconds = (np.mean(values_of(found, each)) for each in ("steps", "nodes", "cpu_seconds"))
    gains = band(values_of(found, "exploitability"), 3)
    return [f"`{name}`", gains, str(len(found)), f"{steps:,.0f}", f"{nodes / 1e6:.2f}", f"{seconds:.0f}"]


def settings_of(changes: Mapping[str, Any]) -> str:
    """Settings as ``--set`` takes them."""
    return ", ".join(f"`{name}={str(value).lower()}`" for name, value in changes.items())


COLUMNS = ("learner", "exploitability", "seeds", "iterations", "million histories", "CPU seconds")


def outcome_sampling(seed: int, nodes: float) -> dict[str, Any]:
    """Exploitability of tabular outcome sampling after a number of histories."""
    solver = make_solver(tp.compile(GAME), "os-mccfr", seed=seed)
    began = process_time()
    while solver.nodes < nodes:
        solver.run(5000)
    spent, gain = process_time() - began, judge(solver.game, solver.average_policy()).exploitability
    return {"exploitability": gain, "steps": solver.iteration, "nodes": solver.nodes, "cpu_seconds": spent}


def matched_sampling(found: Mapping[str, Mapping[str, Any]], before: Mapping[str, Any]) -> dict[str, Any]:
    """Tabular outcome sampling with as many histories as each seed of a run, or stored results."""
    return {seed: before.get(seed) or outcome_sampling(int(seed), each["nodes"]) for seed, each in found.items()}


def with_tables(before: Mapping[str, Any]) -> tuple[Table, dict[str, Any]]:
    """Results with tables, and of outcome sampling with as many histories as DREAM; or stored results."""
    found: dict[str, Any] = {}
    for name, changes in TABLES.items():
        settings = {**changes, "approximator": "table"}
        known = before.get(name, {}), {}
        found[name] = trainings(GAME, LEARNERS[name][0], settings, called=f"{name}, table", before=known)[0]
    found["os-mccfr"] = matched_sampling(found["dream"], before.get("os-mccfr", {}))
    rows = [row(name, each) for name, each in found.items()]
    return Table("With tables in place of all networks, and tabular outcome sampling", COLUMNS, rows), found


@study(title="Deep CFR and its relatives on Leduc poker", place=1, minutes=165, needs=("torch",))
def reproduce(*options: str) -> Result:
    """Options: names of learners in :data:`LEARNERS`; others are omitted, or with :data:`STORED` taken as stored."""
    said = published("learners")["deep_cfr"]
    found, curves, before = {}, {}, {"reached": {}, "curves": {}, **earlier("learners/deep_cfr", options)}
    wanted = [each for each in options if each != STORED] or list(LEARNERS)
    for name, (learner, settings, seeds) in LEARNERS.items():
        stored = before["reached"].get(name, {}), before["curves"].get(name, {})
        if name in wanted:
            found[name], curves[name] = trainings(GAME, learner, settings, called=name, seeds=range(seeds), before=stored)
        elif stored[0]:
            found[name], curves[name] = stored
    known = before.get("tables", {})
    tables, without_error = with_tables(known)
    steps = (1, 10, 15, 20, 30, 50, 100, 200, 400, 500, 1000, 2000)
    shown = []
    for name, each in curves.items():
        means = [mean_at(each, step) for step in steps]
        shown.append([f"`{name}`", *("" if mean is None else f"{mean:.3f}" for mean in means)])
    findings = []
    for name in ("deep-cfr", "sd-cfr", "deep-cfr, longer", "sd-cfr, longer"):
        if name in found:
            _, gain, _, count, _, seconds = row(name, found[name])
            findings.append(f"`{name}` reaches {gain} after {count} iterations and {seconds} CPU seconds on one core.")
    for name, hours in said["hours"].items():
        if name in found:
            _, gain, _, _, nodes, seconds = row(name, found[name])
            spent = np.mean(values_of(found[name], "cpu_seconds"))
            findings.append(
                f"`{name}` reaches {gain} after {nodes} million histories and {seconds} CPU seconds on one core. The "
                f"published runs with as many histories took {hours} hours on eight cores, {3600 * hours / spent:.0f} "
                "times as long."
            )
    gains = {name: band(values_of(each, "exploitability")) for name, each in found.items()}
    exact = {name: band(values_of(each, "exploitability")) for name, each in without_error.items()}
    if "escher" in gains and "escher, corrected" in gains:
        findings.append(
            f"Plain ESCHER stays at {gains['escher']} with networks; with the importance-corrected residual it "
            f"reaches {gains['escher, corrected']}. With tables, where the only source of error is a critic trained on 500 "
            f"playthroughs per player, they are at {exact['escher']} and {exact['escher, corrected']}."
        )
    if SARSA in gains:
        findings.append(
            "Corrected, and with a critic that is kept between iterations and learns by expected SARSA from the "
            f"transitions of the same playthroughs, ESCHER is at {gains[SARSA]} with networks and at {exact[SARSA]} "
            "with tables."
        )
    if FEWER in found:
        gain = row(FEWER, found[FEWER])[1]
        findings.append(
            "With a third of the iterations, three times as many traversals and gradient steps for regrets in each, "
            f"batches of 1,024 and the exact average, it reaches {gain} with networks."
        )
    findings.append(
        f"With tables, DREAM reaches {exact['dream']}, and outcome sampling {exact['os-mccfr']} with as many histories."
    )
    if "dream" in found:
        words = "os-mccfr, histories of dream"
        same = without_error[words] = matched_sampling(found["dream"], known.get(words, {}))
        findings.append(
            f"With networks DREAM reaches {gains['dream']}, tabular outcome sampling "
            f"{band(values_of(same, 'exploitability'))} with as many histories."
        )
    return Result(
        source=said["source"],
        findings=findings,
        tables=[
            Table(
                "Exploitability in chips, the mean over players",
                [*COLUMNS, "published"],
                [[*row(name, each), said.get(name, said[LEARNERS[name][0]])] for name, each in found.items()],
            ),
            Table("By number of iterations, the mean over seeds", ["learner", *map(str, steps)], shown),
            tables,
        ],
        notes=[
            f"The defaults of each learner. {BANDS} Networks have three layers of 64 units and see ranks, "
            f"suits, betting and chips. `{SARSA}` has the settings {settings_of(KEPT)}; `{FEWER}` has "
            f"{settings_of(FITTED)}.",
            said["sources"],
            "Exploitability is exact. CPU seconds include traversals and fitting, except for the average networks, which "
            "are fitted on request. Those with `expected sarsa` are too high because the machine was busy.",
        ],
        numbers={"reached": found, "curves": curves, "tables": without_error},
    )
