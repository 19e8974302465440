"""Correlated chance sampling: external sampling with stratified deals compared with independent deals, ten seeds each."""

from typing import Any

import numpy as np

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study

GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
CHECKED = (1_000, 10_000, 100_000)
SEEDS = range(10)


@study(title="Correlated chance sampling", place=20, minutes=4)
def reproduce() -> Result:
    numbers: dict[str, Any] = {}
    rows, changes = [], []
    for name in GAMES:
        game = tp.compile(name)
        for iterations in CHECKED:
            means = []
            for algorithm in ("es-mccfr", "ccs-mccfr"):
                found = [
                    tp.solve(game, algorithm, iterations=iterations, every=iterations, seed=seed).exploitability
                    for seed in SEEDS
                ]
                numbers[f"{name}/{algorithm}/{iterations}"] = found
                means.append((float(np.mean(found)), float(np.std(found, ddof=1) / len(found) ** 0.5)))
            changes.append(100 * (means[1][0] / means[0][0] - 1))
            cells = [f"{mean:.2e} +- {error:.0e}" for mean, error in means]
            rows.append([f"`{name}`", f"{iterations:,}", *cells, f"{changes[-1]:+.0f}%"])
            print(rows[-1], flush=True)
    return Result(
        source="Li, Chen and Huang 2026, arXiv 2607.27035: 19 to 34% lower exploitability on Kuhn and Leduc poker",
        findings=[f"Exploitability changes by {min(changes):+.0f}% to {max(changes):+.0f}%, means over {len(SEEDS)} seeds."],
        tables=[Table("Exploitability", ("game", "iterations", "`es-mccfr`", "`ccs-mccfr`", "change"), rows)],
        notes=["Lazy averages, plain CFR; standard errors of the means."],
        numbers={"runs": numbers},
    )
