"""DDCFR, section 5.1: the paper's full training on its four games, 1,000 epochs, several seeds.

``python papers/run.py ddcfr/seeds --minutes 20`` resumes the training runs in ``runs/papers/ddcfr``, one after another, for 20
minutes; each takes half an hour on one core. Finished policies are evaluated, and the table has all available results.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from papers.common.kept import effort
from papers.common.results import ROOT, Result, Table, published
from papers.common.study import study
from papers.ddcfr.runs import described, games, own_policy, run_on, theirs, training
from treeplex import train
from treeplex.learn import load_discount_policy
from treeplex.solvers import DiscountPolicy

FOLDERS = ROOT / "runs" / "papers" / "ddcfr"
SEEDS, EPOCHS = 5, 1000
SIGMAS = {0.05: "the authors' code", 0.5: "the paper"}
"""Standard deviations of the noise, and their sources."""
TESTING = ("goofspiel-4", "liars_dice-4", "leduc", "battleship-2")
"""Games that take seconds and were not used in training."""
BASE = "dcfr"


def folder_of(sigma: float, seed: int, epochs: int) -> Path:
    """Folder of a training run."""
    return FOLDERS / f"sigma-{sigma:g}-seed-{seed}-epochs-{epochs}"


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


@study(title="DDCFR, section 5.1: the paper's training, five seeds", place=9, minutes=400)
def reproduce(*, minutes: float = math.inf, epochs: int = EPOCHS, seeds: int = SEEDS) -> Result | None:
    began = perf_counter()
    plans = [(sigma, seed) for sigma in SIGMAS for seed in range(seeds)]
    for sigma, seed in plans:
        left = 60.0 * minutes - (perf_counter() - began)
        go_on(folder_of(sigma, seed, epochs), {"sigma": sigma, "seed": seed, "epochs": epochs}, left)
    folders = {plan: folder_of(*plan, epochs) for plan in plans}
    done = {plan: folder for plan, folder in folders.items() if last_of(folder)["done"] == epochs}
    print(f"{len(done)} of {len(plans)} trainings are finished")
    if not done:
        return None
    found = {plan: scores(load_discount_policy(folder / "policy.safetensors")) for plan, folder in done.items()}
    return result(found, max(last_of(folder)["cpu_seconds"] for folder in done.values()) / 60.0, epochs)


def result(found: Mapping[tuple[float, int], Mapping[str, float]], minutes: float, epochs: int) -> Result:
    """A row for each training run, the authors' network and ours; bands over seeds."""
    authors, own_row = theirs("ddcfr/seeds", scores), scores(own_policy())
    beside = {f"our policy, {described(own_policy())}": own_row}
    if authors.found:
        beside = {"the authors' network": authors.found, **beside}
    rows, sentences = [row_of(words, row) for words, row in beside.items()], list[str]()
    for sigma, whose in SIGMAS.items():
        own = {seed: row for (each, seed), row in found.items() if each == sigma}
        rows += [row_of(f"sigma {sigma:g}, seed {seed}", row) for seed, row in own.items()]
        if own:
            bands = [f"{name} {min(column):.3f} to {max(column):.3f}" for name, column in columns(own).items()]
            below = [f"{sum(each < 1 for each in column)} on {name}" for name, column in columns(own).items()]
            sentences.append(
                f"Sigma {sigma:g} ({whose}), {len(own)} seeds: {', '.join(bands)} of DCFR's exploitability. Policies "
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
            "Trained on small_matrix, kuhn, goofspiel-3 and liars_dice-3, as published, with populations of 100 and "
            "the paper's fitness. Numbers are geometric means over a run and perturbed runs.",
            training(own_policy()),
            f"The longest training run took {minutes:.0f} CPU minutes. {authors.note}",
            effort(),
        ],
        numbers={
            **{f"{sigma:g}, seed {seed}": dict(row) for (sigma, seed), row in found.items()},
            "own": own_row,
            "authors_network": authors.record,
        },
    )


def row_of(words: str, row: Mapping[str, float]) -> list[str]:
    """A policy's numbers by game."""
    return [words, *(f"{row[name]:.3f}" for name in TESTING)]


def columns(rows: Mapping[int, Mapping[str, float]]) -> dict[str, list[float]]:
    """For each game the numbers of all seeds."""
    return {name: [row[name] for row in rows.values()] for name in TESTING}
