"""DDCFR, section 5.1: full training on the paper's four games, 1,000 epochs, several seeds, by three recipes.

``python papers/run.py ddcfr/seeds authors --minutes 20`` resumes the training runs of a recipe in ``runs/papers/ddcfr``, one
after another, for 20 minutes; without a name those of all recipes. Each takes half an hour on one core. Runs whose results are
stored are not repeated. Finished policies are evaluated, and the table has all available results.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from papers.common.kept import effort
from papers.common.results import ROOT, Result, Table, published, stored
from papers.common.study import study
from papers.ddcfr.runs import described, games, own_policy, run_on, theirs, training
from treeplex import train
from treeplex.learn import load_discount_policy
from treeplex.solvers import DiscountPolicy

FOLDERS = ROOT / "runs" / "papers" / "ddcfr"
SEEDS, EPOCHS = 5, 1000
RECIPES: dict[str, dict[str, Any]] = {
    "0.05": {"sigma": 0.05},
    "0.5": {"sigma": 0.5},
    "authors": {"sigma": 0.05, "fitness": "relative", "floor": 0.0, "weights": [3.0, 1.0, 1.0, 1.0]},
}
"""Settings that differ from the defaults, which use the paper's fitness."""
ABOUT = {
    "0.05": "Sigma 0.05 (the authors' code) and the paper's fitness",
    "0.5": "Sigma 0.5 (the paper) and the paper's fitness",
    "authors": "Sigma, fitness and weights of the authors' code, without a floor",
}
STORED_MINUTES = 35.0
"""CPU minutes of the longest run of the first two recipes."""
TESTING = ("goofspiel-4", "liars_dice-4", "leduc", "battleship-2")
"""Games that take seconds and were not used in training."""
BASE = "dcfr"


def folder_of(recipe: str, seed: int, epochs: int) -> Path:
    """Folder of a training run."""
    return FOLDERS / f"{recipe if recipe == 'authors' else f'sigma-{recipe}'}-seed-{seed}-epochs-{epochs}"


def last_of(folder: Path) -> Mapping[str, Any]:
    """The last record of a training run in its ``run.json``."""
    place = folder / "run.json"
    found = json.loads(place.read_text(encoding="utf-8"))["last"] if place.is_file() else None
    return found or {"done": 0, "cpu_seconds": 0.0}


def go_on(folder: Path, settings: Mapping[str, Any], seconds: float, specs: Sequence[str] | None = None) -> None:
    """Start or resume training for the given time, on the given games or the paper's four.

    Does nothing if no time or epoch remains.
    """
    if seconds <= 0 or last_of(folder)["done"] >= settings["epochs"]:
        return
    if (folder / "run.json").is_file():
        train(resume=folder, seconds=seconds, workers=1)
    else:
        train(specs, "ddcfr", settings=settings, out=folder, seconds=seconds, workers=1)


def scores(policy: DiscountPolicy) -> dict[str, float]:
    """Exploitability after the last iteration relative to DCFR's on each game, geometric means of perturbed runs."""
    return {name: run_on(game, policy).middle / run_on(game, BASE).middle for name, game in games(*TESTING).items()}


def key_of(recipe: str, seed: int) -> str:
    """Key of a training run's numbers."""
    return f"{recipe}, seed {seed}"


@study(title="DDCFR, section 5.1: training on the paper's games, five seeds", place=9, minutes=525)
def reproduce(*recipes: str, minutes: float = math.inf, epochs: int = EPOCHS, seeds: int = SEEDS) -> Result | None:
    began, before = perf_counter(), stored("ddcfr/seeds") if epochs == EPOCHS else {}
    if unknown := {*recipes} - {*RECIPES}:
        raise SystemExit(f"unknown recipe {', '.join(sorted(unknown))}; choose from {', '.join(RECIPES)}")
    for recipe in recipes or RECIPES:
        for seed in range(seeds):
            left = 60.0 * minutes - (perf_counter() - began)
            if key_of(recipe, seed) not in before:
                go_on(folder_of(recipe, seed, epochs), RECIPES[recipe] | {"seed": seed, "epochs": epochs}, left)
    found, longest = dict[str, Mapping[str, float]](), float(before.get("cpu_minutes", STORED_MINUTES))
    for recipe in RECIPES:
        for seed in range(seeds):
            folder, key = folder_of(recipe, seed, epochs), key_of(recipe, seed)
            if last_of(folder)["done"] == epochs:
                found[key] = scores(load_discount_policy(folder / "policy.safetensors"))
                longest = max(longest, last_of(folder)["cpu_seconds"] / 60.0)
            elif key in before:
                found[key] = before[key]
    print(f"{len(found)} of {len(RECIPES) * seeds} trainings are finished")
    return result(found, longest, epochs) if found else None


def result(found: Mapping[str, Mapping[str, float]], minutes: float, epochs: int) -> Result:
    """A row for each training run, the authors' network and ours; bands over seeds."""
    authors, own_row = theirs("ddcfr/seeds", scores), scores(own_policy())
    beside = {f"our policy, {described(own_policy())}": own_row}
    if authors.found:
        beside = {"the authors' network": authors.found, **beside}
    rows, sentences = [row_of(words, row) for words, row in beside.items()], list[str]()
    for recipe, about in ABOUT.items():
        own = {key: row for key, row in found.items() if key.startswith(f"{recipe}, ")}
        rows += [
            row_of(f"sigma {key}" if recipe != "authors" else f"the authors' recipe{key.removeprefix(recipe)}", row)
            for key, row in own.items()
        ]
        if own:
            bands = [f"{name} {min(column):.3f} to {max(column):.3f}" for name, column in columns(own).items()]
            below = [f"{sum(each < 1 for each in column)} on {name}" for name, column in columns(own).items()]
            sentences.append(
                f"{about}, {len(own)} seeds: {', '.join(bands)} of DCFR's exploitability. Policies "
                f"that beat DCFR: {', '.join(below)}."
            )
    return Result(
        source=f"{published('ddcfr')['source']}; section 5.1 and appendix B",
        findings=sentences,
        tables=[
            Table(
                f"Exploitability after 1,000 iterations relative to DCFR's, after training for {epochs:,} epochs",
                ["", *TESTING],
                rows,
            )
        ],
        notes=[
            "Trained on small_matrix, kuhn, goofspiel-3 and liars_dice-3, as published, with populations of 100. "
            "Numbers are geometric means over a run and perturbed runs. The paper's fitness has a floor of 1e-12 for "
            "exploitability; the authors' code measures in units of DCFR's gain over CFR, without a floor, and weights Kuhn "
            "poker three times. Without a floor, rounding errors decide between exploitabilities near 0.",
            training(own_policy()),
            f"The longest training run took {minutes:.0f} CPU minutes. {authors.note}",
            effort(),
        ],
        numbers={**found, "cpu_minutes": minutes, "own": own_row, "authors_network": authors.record},
    )


def row_of(words: str, row: Mapping[str, float]) -> list[str]:
    """A policy's numbers by game."""
    return [words, *(f"{row[name]:.3f}" for name in TESTING)]


def columns(rows: Mapping[str, Mapping[str, float]]) -> dict[str, list[float]]:
    """For each game the numbers of all seeds."""
    return {name: [row[name] for row in rows.values()] for name in TESTING}
