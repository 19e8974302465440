"""DDCFR beyond the paper: a policy trained on games unlike the evaluation games.

It is trained as in ``ddcfr/seeds``, on small games with hidden stones (phantom tic-tac-toe and dark hex), and evaluated on the
held-out games of ``vtcfr/one_scheme``, which include no such games, together with the stored results of other algorithms.
``python papers/run.py ddcfr/dissimilar --minutes 20`` resumes the training runs in ``runs/papers/ddcfr`` for 20 minutes; seeds
with stored runs are not trained again.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean, median
from time import perf_counter

from papers.common.curves import curve
from papers.common.kept import code, kept
from papers.common.results import Result, Table, published, short, stored
from papers.common.study import study
from papers.ddcfr.runs import STEERED, digest
from papers.ddcfr.seeds import FOLDERS, go_on, last_of
from papers.vtcfr.games import FRESH
from papers.vtcfr.runs import GAMES, STAGES, TESTED, compiled
from papers.vtcfr.runs import SEEDS as PERTURBED
from papers.vtcfr.scores import FLOOR, geometric_mean, in_groups
from treeplex.learn import load_discount_policy
from treeplex.solvers import DiscountPolicy

TRAINED_ON = (
    "phantom_ttt(rows=1,columns=4,line=2,gameversion=abrupt)",
    "phantom_ttt(rows=1,columns=5,line=2)",
    "dark_hex(num_rows=2,num_cols=2)",
    "dark_hex(num_rows=2,num_cols=2,gameversion=adh)",
)
NAME = "ddcfr/dissimilar"
EPOCHS, SEEDS, SIGMA = 200, 2, 0.05
SHIPPED, FIXED = "ddcfr", "dcfr"
FAR = 1.0
"""Absolute dex above which a game counts as atypical."""
BESIDE = (SHIPPED, FIXED, TESTED)
"""Algorithms compared from stored runs: the shipped policy, fixed discounts, value-tested CFR+."""

Repeats = Sequence[Sequence[float]]
"""Exploitability at ``STAGES`` of each perturbed run."""


def score(repeats: Repeats) -> float:
    """As in ``vtcfr/one_scheme``."""
    return geometric_mean(max(value, FLOOR) for values in repeats for value in values)


def repeats_of(name: str, policy: DiscountPolicy) -> list[list[float]]:
    """Perturbed runs on a game."""
    game = compiled(name)
    key = {"game": game.identity, "policy": digest(policy), "points": STAGES, "code": code(*STEERED)}
    return [kept({**key, "seed": seed}, partial(curve, game, policy, STAGES, seed=seed)) for seed in PERTURBED]


def earlier(epochs: int) -> dict[str, dict[str, Repeats]]:
    """Stored runs by seed and game, if their training had the given number of epochs."""
    numbers = stored(NAME)
    return dict(numbers["runs"]) if numbers.get("epochs") == epochs else {}


def trained(seconds: float, epochs: int, seeds: Sequence[int]) -> dict[int, DiscountPolicy]:
    """Policies of the seeds with finished training, after resuming unfinished ones for the given time."""
    began, found = perf_counter(), dict[int, DiscountPolicy]()
    for seed in seeds:
        folder, left = FOLDERS / f"dissimilar-seed-{seed}-epochs-{epochs}", seconds - (perf_counter() - began)
        go_on(folder, {"sigma": SIGMA, "seed": seed, "epochs": epochs}, left, TRAINED_ON)
        if last_of(folder)["done"] >= epochs:
            found[seed] = load_discount_policy(folder / "policy.safetensors")
    return found


@study(title="DDCFR trained on games unlike the evaluation games", place=11, minutes=30)
def reproduce(*, minutes: float = math.inf, epochs: int = EPOCHS) -> Result | None:
    known = stored("vtcfr/one_scheme")["exploitability"]
    games = [name for name in in_groups(GAMES, [FRESH]) if name in known]
    own = {seed: runs for seed, runs in earlier(epochs).items() if set(games) <= set(runs)}
    missing = [seed for seed in range(SEEDS) if f"seed {seed}" not in own]
    for seed, policy in trained(60.0 * minutes, epochs, missing).items():
        own[f"seed {seed}"] = {name: repeats_of(name, policy) for name in games}
    print(f"{len(own)} of {SEEDS} trainings are finished")
    if not own:
        return None
    scores = {name: {who: score(known[name][who]) for who in BESIDE} for name in games}
    for who, runs in own.items():
        for name, repeats in runs.items():
            scores[name][who] = score(repeats)
    return result(scores, [*own], own, epochs)


def dex(scores: Mapping[str, Mapping[str, float]], who: str, other: str) -> list[float]:
    """Decimal logarithm of the ratio of two scores, for each game."""
    return [math.log10(row[who] / row[other]) for row in scores.values()]


def result(
    scores: Mapping[str, Mapping[str, float]], own: Sequence[str], runs: Mapping[str, Mapping[str, Repeats]], epochs: int
) -> Result:
    """A row for each game, and the mean distance to the other algorithms."""
    beside = {who: {other: fmean(dex(scores, who, other)) for other in BESIDE} for who in (*own, SHIPPED, FIXED)}
    ahead = {who: sum(each < 0 for each in dex(scores, who, TESTED)) for who in own}
    from_fixed = {who: dex(scores, who, FIXED) for who in (*own, SHIPPED)}
    better = {who: sum(each < 0 for each in found) for who, found in from_fixed.items()}
    usual = {who: [each for each in found if abs(each) < FAR] for who, found in from_fixed.items()}
    typical = {
        who: {"median": median(found), "far": len(found) - len(usual[who]), "without": fmean(usual[who])}
        for who, found in from_fixed.items()
    }
    count = len(scores)

    def listed(what: str, form: str = "+.2f") -> str:
        return ", ".join(format(own[what], form) for own in typical.values())

    return Result(
        source=f"{published('ddcfr')['source']}; a question that the paper leaves open",
        findings=[
            f"Trained on games with hidden stones, evaluated on {count} others: relative to {FIXED} the mean is "
            f"{', '.join(f'{beside[who][FIXED]:+.2f}' for who in own)} dex ({', '.join(own)}; below 0 is better), "
            f"lower on {', '.join(str(better[who]) for who in own)} games; for the policy that ships "
            f"{beside[SHIPPED][FIXED]:+.2f}, lower on {better[SHIPPED]}.",
            f"A few games dominate the mean: on {listed('far', 'd')} the two differ by a factor of ten or more ("
            f"{', '.join(typical)}). Without these it is {listed('without')}, and the median over all is "
            f"{listed('median')}.",
            f"Relative to {TESTED} it is {', '.join(f'{beside[who][TESTED]:+.2f}' for who in own)} dex, lower on "
            f"{', '.join(str(ahead[who]) for who in own)} games; for the policy that ships "
            f"{beside[SHIPPED][TESTED]:+.2f}.",
        ],
        tables=[
            Table(
                "Mean dex over the games: decimal logarithm of the ratio of the row's score to the column's",
                ["", *BESIDE],
                [[who, *(f"{row[other]:+.2f}" for other in BESIDE)] for who, row in beside.items()],
            ),
            Table(
                "Scores",
                ["game", *own, *BESIDE],
                [[name, *(short(row[who]) for who in (*own, *BESIDE))] for name, row in scores.items()],
            ),
        ],
        notes=[
            f"Trained for {epochs:,} epochs on {', '.join(f'`{each}`' for each in TRAINED_ON)}, with noise of {SIGMA:g} and "
            "the paper's fitness.",
            f"Score: geometric mean of exploitability after {', '.join(map(str, STAGES))} iterations and over {len(PERTURBED)} "
            f"perturbed repeats, floored at {FLOOR:g}; those of {', '.join(BESIDE)} are stored by `vtcfr/one_scheme`.",
        ],
        numbers={"runs": runs, "epochs": epochs, "beside": beside, "lower": better, "typical": typical},
    )
