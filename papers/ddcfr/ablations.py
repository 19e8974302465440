"""DDCFR, Table 1 at full length: policies with a part taken away, 1,000 epochs each, by several seeds.

``python papers/run.py ddcfr/ablations --minutes 20`` goes on with the trainings in ``runs/papers/ddcfr``, one after the other,
for so long; together they take about ten hours of one core. What is finished is judged. The whole policy is that of
``ddcfr/seeds`` with the same noise.
"""

import math
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from papers.common.kept import effort
from papers.common.results import Result, Table, published, stored
from papers.common.study import study
from papers.ddcfr.runs import games
from papers.ddcfr.seeds import EPOCHS, FOLDERS, TESTING, go_on, last_of, row_of, scores
from papers.ddcfr.table1 import CLAIMS, FULL, WITHOUT
from treeplex.solvers.rules.discount_policy_files import load_discount_policy

SEEDS = 3
SIGMA = 0.05
"""The authors' code's; with the paper's 0.5 no policy is better than DCFR, the whole one included."""
TRAINED_ON = ("kuhn", "goofspiel-3", "liars_dice-3", "small_matrix")
"""In the order in which the paper adds them."""
PPO_SECONDS = 2_100.0
"""What evolution strategies take for 1,000 epochs of all four games."""
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "DDCFR-1": {},
    "DDCFR-2": {},
    "DDCFR-3": {},
    "DDCFR-it": {"features": "iteration"},
    "DDCFR-ex": {"features": "exploitability"},
    "DDCFR-dis": {"discrete": True},
    "DDCFR-rl": {"optimizer": "ppo"},
}
Rows = Mapping[int, Mapping[str, float]]


def trained_on(name: str) -> list[str]:
    """Specs of the training games of a column."""
    count = int(name[-1]) if name[-1].isdigit() else len(TRAINED_ON)
    return [game.spec for game in games(*TRAINED_ON[:count]).values()]


@study(title="DDCFR, Table 1 at full length: ablations by three seeds", place=None, minutes=600)
def reproduce(options: Sequence[str]) -> Result | None:
    given = ArgumentParser("papers/run.py ddcfr/ablations", description=__doc__)
    given.add_argument("--minutes", type=float, default=math.inf, help="train for so long")
    given.add_argument("--epochs", type=int, default=EPOCHS)
    asked, began = given.parse_args(options), perf_counter()
    plans = {(name, seed): FOLDERS / f"{name}-seed-{seed}-epochs-{asked.epochs}" for seed in range(SEEDS) for name in CHANGES}
    for (name, seed), folder in plans.items():
        left = 60.0 * asked.minutes - (perf_counter() - began)
        if name == "DDCFR-rl":
            left = min(left, PPO_SECONDS - last_of(folder)["cpu_seconds"])
        if left > 0 and last_of(folder)["done"] < asked.epochs:
            settings = {"sigma": SIGMA, "seed": seed, "epochs": asked.epochs, **CHANGES[name]}
            go_on(folder, settings, left, trained_on(name))
    done = {plan: folder for plan, folder in plans.items() if finished(plan[0], last_of(folder), asked.epochs)}
    print(f"{len(done)} of {len(plans)} trainings are finished")
    if not done:
        return None
    found: dict[str, dict[int, Mapping[str, float]]] = {}
    for (name, seed), folder in done.items():
        found.setdefault(name, {})[seed] = scores(load_discount_policy(folder / "policy.safetensors"))
    whole = stored("ddcfr/seeds")
    found[FULL] = {seed: whole[f"{SIGMA:g}, seed {seed}"] for seed in range(SEEDS)}
    return result(found, {name: last_of(plans[name, 0]) for name in found if name != FULL}, asked.epochs)


def finished(name: str, last: Mapping[str, Any], epochs: int) -> bool:
    """Whether a training has come to its end: by epochs, PPO also by time."""
    return bool(last["done"] >= epochs or (name == "DDCFR-rl" and last["cpu_seconds"] >= 0.95 * PPO_SECONDS))


def result(found: Mapping[str, Rows], last: Mapping[str, Mapping[str, Any]], epochs: int) -> Result:
    """A row for each training, and what the paper reads off its table."""
    rows = [row_of(f"{name}: {WITHOUT[name]}, seed {seed}", row) for name, own in found.items() for seed, row in own.items()]
    claims = [[words, *verdicts(found, worse, better)] for worse, better, words in CLAIMS]
    cells = [cell for _, *row in claims for cell in row]
    counts = ", ".join(f"{word} {cells.count(word)}" for word in ("yes", "no", "undecided", "not trained"))
    return Result(
        source=f"{published('ddcfr')['source']}; table 1",
        findings=[f"What the paper reads off its table, on {len(TESTING)} games with {SEEDS} seeds a policy: {counts}."],
        tables=[
            Table(f"Exploitability after 1,000 iterations over DCFR's, by training of {epochs:,} epochs", ["", *TESTING], rows),
            Table("Readings; yes: worse with every seed than with any of the other", ["", *TESTING], claims),
        ],
        notes=[
            "Geometric means of a run and of perturbed ones. Only the named part differs from the whole policy, whose noise "
            f"is {SIGMA:g} as in the authors' code; PPO trained for as much processor time.",
            f"Epochs and CPU minutes: {', '.join(spent(name, each) for name, each in last.items())}.",
            effort(),
        ],
        numbers={f"{name}, seed {seed}": dict(row) for name, own in found.items() for seed, row in own.items()},
    )


def spent(name: str, last: Mapping[str, Any]) -> str:
    """What a training took."""
    return f"{name} {last['done']:,} and {last['cpu_seconds'] / 60:.0f}"


def verdicts(found: Mapping[str, Rows], worse: Sequence[str], better: Sequence[str]) -> list[str]:
    """For each game whether all of the first are worse than all of the second: yes, no, undecided, not trained."""
    if any(name not in found for name in (*worse, *better)):
        return ["not trained"] * len(TESTING)
    cells = []
    for game in TESTING:
        pairs = [
            ([row[game] for row in found[a].values()], [row[game] for row in found[b].values()]) for a in worse for b in better
        ]
        if all(min(first) > max(second) for first, second in pairs):
            cells.append("yes")
        elif any(max(first) < min(second) for first, second in pairs):
            cells.append("no")
        else:
            cells.append("undecided")
    return cells
