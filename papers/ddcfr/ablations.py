"""DDCFR, Table 1 at full length: ablated policies, 1,000 epochs each, several seeds.

``python papers/run.py ddcfr/ablations --minutes 20`` resumes the training runs in ``runs/papers/ddcfr``, one after another, for
20 minutes; together they take about ten hours on one core. Finished policies are evaluated and their scores stored; policies
with stored scores are not trained again. Hold'em rows need ``TREEPLEX_ENDGAMES``, see ``holdem.py``, and the policy in its
folder; otherwise they remain as stored, or empty. The full policy is that of ``ddcfr/seeds`` with this noise, and is trained
again if only its hold'em rows are missing and can be evaluated.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from papers.common.curves import SEEDS as PERTURBED
from papers.common.kept import effort
from papers.common.results import Result, Table, published, stored
from papers.common.study import study
from papers.ddcfr.hands import NUMBERS, Subgame, at_hand, hand_run
from papers.ddcfr.runs import LATE, games
from papers.ddcfr.seeds import BASE, EPOCHS, FOLDERS, TESTING, folder_of, go_on, last_of, scores
from papers.ddcfr.table1 import CLAIMS, FULL, ROWS, WITHOUT
from treeplex.learn import load_discount_policy
from treeplex.solvers import DiscountPolicy

NAME = "ddcfr/ablations"
SEEDS = 3
SIGMA = 0.05
"""The noise of the authors' code; with the paper's 0.5 no policy is better than DCFR, not even the full one."""
TRAINED_ON = ("kuhn", "goofspiel-3", "liars_dice-3", "small_matrix")
"""Training games in the order in which the paper adds them."""
PPO_SECONDS = 2_100.0
"""CPU time of evolution strategies for 1,000 epochs of all four games."""
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "DDCFR-1": {},
    "DDCFR-it": {"features": "iteration"},
    "DDCFR-ex": {"features": "exploitability"},
    "DDCFR-dis": {"discrete": True},
    "DDCFR-rl": {"optimizer": "ppo"},
    "DDCFR-2": {},
    "DDCFR-3": {},
}
"""Training settings that differ, by column."""
JUDGED = (*TESTING, *NUMBERS)
NOT_TRAINED = "not trained"

Plan = tuple[str, int]
"""A column and a seed."""
Score = Mapping[str, Any]
"""Record of a finished training run: ``scores`` by game relative to DCFR, ``epochs`` and ``cpu_seconds``."""
Rows = Mapping[int, Mapping[str, float]]


def plans() -> list[Plan]:
    """All training runs in order, seed after seed."""
    return [(name, seed) for seed in range(SEEDS) for name in CHANGES]


def trained_on(name: str) -> list[str]:
    """Specs of the training games of a column."""
    count = int(name[-1]) if name[-1].isdigit() else len(TRAINED_ON)
    return [game.spec for game in games(*TRAINED_ON[:count]).values()]


@study(title="DDCFR, Table 1: ablations with full-length training", place=10, minutes=600)
def reproduce(*, minutes: float = math.inf, epochs: int = EPOCHS) -> Result | None:
    found = earlier(epochs)
    whole = [(FULL, seed) for seed in range(SEEDS)]
    unjudged = [plan for plan in whole if at_hand() and plan in found and not {*NUMBERS} <= {*found[plan]["scores"]}]
    train_missing(unjudged + [plan for plan in plans() if plan not in found], epochs, 60.0 * minutes)
    for plan in whole + plans():
        if fresh := judged(plan, epochs, found.get(plan)):
            found[plan] = fresh
    done = [plan for plan in plans() if plan in found]
    print(f"{len(done)} of {len(plans())} trainings are finished")
    return result(found, epochs) if done else None


def label(plan: Plan) -> str:
    """Name of a training run in results and tables."""
    return f"{plan[0]}, seed {plan[1]}"


def earlier(epochs: int) -> dict[Plan, Score]:
    """Stored records of training runs of this length, including the full policy from ``ddcfr/seeds``."""
    kept, whole = stored(NAME), stored("ddcfr/seeds")
    found: dict[Plan, Score] = {}
    for seed in range(SEEDS):
        full = whole.get(f"{SIGMA:g}, seed {seed}")
        if full is not None and epochs == EPOCHS:
            found[FULL, seed] = {"asked": epochs, "scores": full}
    every = {label(plan): plan for plan in [*plans(), *((FULL, seed) for seed in range(SEEDS))]}
    return found | {every[name]: score for name, score in kept.items() if name in every and score["asked"] == epochs}


def place_of(plan: Plan, epochs: int) -> Path:
    """The folder of a training run."""
    name, seed = plan
    return folder_of(f"{SIGMA:g}", seed, epochs) if name == FULL else FOLDERS / f"{name}-seed-{seed}-epochs-{epochs}"


def train_missing(missing: Sequence[Plan], epochs: int, seconds: float) -> None:
    """Resume training runs, one after another, until the time is used up."""
    began = perf_counter()
    for name, seed in missing:
        folder = place_of((name, seed), epochs)
        settings = {"sigma": SIGMA, "seed": seed, "epochs": epochs, **CHANGES.get(name, {})}
        before = -1.0
        while before < (spent := last_of(folder)["cpu_seconds"]):  # on a busy machine PPO's processor time takes several turns
            left, before = seconds - (perf_counter() - began), spent
            if name == "DDCFR-rl":
                left = min(left, PPO_SECONDS - spent)
            go_on(folder, settings, left, trained_on(name))


def finished(name: str, last: Mapping[str, Any], epochs: int) -> bool:
    """Whether a training run is finished, by epochs or, for PPO, by time."""
    return bool(last["done"] >= epochs or (name == "DDCFR-rl" and last["cpu_seconds"] >= 0.95 * PPO_SECONDS))


def judged(plan: Plan, epochs: int, before: Score | None) -> Score | None:
    """Scores of a training run, evaluated on the games without scores if it is finished here; otherwise the stored scores.

    The full policy is evaluated again on all games, because retraining on another machine gives a different policy.
    """
    folder = place_of(plan, epochs)
    last = last_of(folder)
    if not finished(plan[0], last, epochs):
        return before
    policy = load_discount_policy(folder / "policy.safetensors")
    known: dict[str, float] = dict(before["scores"]) if before and (plan[0] != FULL or "epochs" in before) else scores(policy)
    if at_hand():
        known |= {name: hand_score(policy, name) for name in NUMBERS if name not in known}
    return {"asked": epochs, "epochs": last["done"], "cpu_seconds": last["cpu_seconds"], "scores": known}


def hand_score(policy: DiscountPolicy, name: str) -> float:
    """Exploitability after the last iteration relative to DCFR's on a hold'em subgame, geometric means of perturbed runs."""
    found = (hand_run(Subgame(name), algorithm, list(LATE), PERTURBED).middle for algorithm in (policy, BASE))
    own, base = found
    return own / base


def result(found: Mapping[Plan, Score], epochs: int) -> Result:
    """A row for each training run, and the paper's conclusions from its table."""
    every = [*plans(), *((FULL, seed) for seed in range(SEEDS))]
    rows = [
        [f"{name}: {WITHOUT[name]}, seed {seed}", *cells_of(found.get((name, seed)))]
        for name, seed in sorted(every)
        if (name, seed) in found or seed == 0
    ]
    by_column: dict[str, dict[int, Mapping[str, float]]] = {}
    for (name, seed), score in found.items():
        by_column.setdefault(name, {})[seed] = score["scores"]
    claims = [[words, *verdicts(by_column, worse, better)] for worse, better, words in CLAIMS]
    count = counted([cell for _, *row in claims for cell in row])
    published_cells = [row[1 + JUDGED.index(name)] for row in claims for name in ROWS]
    return Result(
        source=f"{published('ddcfr')['source']}; table 1",
        findings=[
            f"The paper's conclusions from its table, on its own three games with up to {SEEDS} seeds per policy: "
            f"{counted(published_cells)}.",
            f"On all {len(JUDGED)} games: {count}.",
        ],
        tables=[
            Table(
                f"Exploitability after 1,000 iterations relative to DCFR's, after training for {epochs:,} epochs",
                ["", *JUDGED],
                rows,
            ),
            Table("Conclusions; yes: worse with every seed than with any seed of the other", ["", *JUDGED], claims),
        ],
        notes=[
            "Numbers are geometric means over a run and perturbed runs. Hold'em subgames are played as the authors' program "
            f"plays them. Only the named component differs from the full policy, whose noise is {SIGMA:g} as in the "
            "authors' code. PPO trained for the same CPU time.",
            f"Epochs and CPU minutes: {', '.join(spent(plan, score) for plan, score in found.items() if 'epochs' in score)}.",
            effort(),
        ],
        numbers={
            "readings": {word: published_cells.count(word) for word in ("yes", "no", "undecided")},
            **{label(plan): dict(score) for plan, score in found.items()},
        },
    )


def cells_of(score: Score | None) -> list[str]:
    """A training run's scores by game."""
    if score is None:
        return [NOT_TRAINED] * len(JUDGED)
    return [f"{score['scores'][name]:.3f}" if name in score["scores"] else "not judged" for name in JUDGED]


def counted(cells: Sequence[str]) -> str:
    """Counts of each verdict."""
    words = ("yes", "no", "undecided", "not judged", NOT_TRAINED)
    return ", ".join(f"{word} {cells.count(word)}" for word in words if word in cells)


def spent(plan: Plan, score: Score) -> str:
    """Cost of a training run."""
    return f"{label(plan)}, {score['epochs']:,} and {score['cpu_seconds'] / 60:.0f}"


def verdicts(found: Mapping[str, Rows], worse: Sequence[str], better: Sequence[str]) -> list[str]:
    """For each game, whether all of the first policies are worse than all of the second, over the available seeds."""
    if any(name not in found for name in (*worse, *better)):
        return [NOT_TRAINED] * len(JUDGED)
    return [verdict([(column(found[a], game), column(found[b], game)) for a in worse for b in better]) for game in JUDGED]


def column(rows: Rows, game: str) -> list[float]:
    """The available scores of a policy's seeds on a game."""
    return [row[game] for row in rows.values() if game in row]


def verdict(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> str:
    """Yes if each first policy is worse with every seed than each second one with any seed; no if one is always better."""
    if not all(first and second for first, second in pairs):
        return "not judged"
    if all(min(first) > max(second) for first, second in pairs):
        return "yes"
    return "no" if any(max(first) < min(second) for first, second in pairs) else "undecided"
