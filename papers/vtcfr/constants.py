"""Do evolution strategies find better constants for value-tested CFR+ than the default ones?

The constants are learned on the quick tuning games, with the code that trains discount policies, and then evaluated on quick
games of the second group.
"""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

import treeplex as tp
from papers.common.curves import curve
from papers.common.drawing import dress, save
from papers.common.kept import kept
from papers.common.results import Result, Table
from papers.common.study import study
from papers.vtcfr.games import LOOKED_AT, STUDY_GAMES, TUNED_ON
from papers.vtcfr.runs import STAGES, compiled
from papers.vtcfr.scores import FLOOR
from treeplex.base.arrays import Floats
from treeplex.base.workers.executor import in_threads
from treeplex.learn.discount.evolution import Adam, Evolution
from treeplex.solvers.rules.value_tested import ValueTesting

NAMES = ("alpha0", "ramp", "memory", "strength")
STEPS = (0.5, 0.25, 2.0, 0.5)
"""Scale of each constant per unit of the search space."""
EPOCHS, SEARCH = 24, Evolution(population=16, sigma=0.4, learning_rate=0.12, seed=1)
SLOWEST = 400
"""Maximum number of infosets per player for games in the search."""
SEEDS = (1, 2)


def spec(point: Floats) -> str:
    """The algorithm at a point of the search, whose origin is the default constants."""
    usual = ValueTesting()
    values = [max(getattr(usual, name) + step * x, 0.0) for name, step, x in zip(NAMES, STEPS, point, strict=True)]
    return "vt-cfr+(" + ",".join(f"{name}={value:.4f}" for name, value in zip(NAMES, values, strict=True)) + ")"


def score(game: tp.CompiledGame, algorithm: str, seeds: Sequence[int]) -> float:
    """Decimal logarithm of the score: the mean over stages and perturbed repeats of the logarithm of exploitability."""
    found = [value for seed in seeds for value in curve(game, algorithm, STAGES, seed=seed)]
    return float(np.mean(np.log10(np.maximum(found, FLOOR))))


def search(games: Sequence[tp.CompiledGame]) -> tuple[Floats, list[float]]:
    """The final point, and after each epoch the mean score relative to the default constants, in dex."""
    usual = np.array([score(game, spec(np.zeros(len(NAMES))), SEEDS) for game in games])
    adam, path = Adam.start(np.zeros(len(NAMES))), []

    def gain(point: Floats) -> float:
        return float(np.mean(usual - [score(game, spec(point), SEEDS) for game in games]))

    for epoch in range(EPOCHS):
        noise = SEARCH.noise(epoch, len(NAMES))
        fitness = np.array(list(in_threads(2, gain, SEARCH.candidates(adam.parameters, noise))))
        adam.climb(SEARCH.gradient(fitness, noise), SEARCH.learning_rate)
        path.append(-gain(adam.parameters))
        print(f"epoch {epoch + 1}: {spec(adam.parameters)} {path[-1]:+.3f} dex", flush=True)
    return adam.parameters, path


@study(title="Value-tested CFR+: constants learned by evolution strategies", place=2, minutes=10)
def reproduce() -> Result:
    quick = [game for game in STUDY_GAMES if not game.large]
    tuned = [game.name for game in quick if game.group == TUNED_ON and max(compiled(game.name).infosets) <= SLOWEST]
    other = [game for game in quick if game.group == LOOKED_AT and max(compiled(game.name).infosets) <= SLOWEST]
    games = [compiled(name) for name in tuned]
    key = {"study": "vt constants", "games": [game.identity for game in games], "start": spec(np.zeros(len(NAMES)))}

    def make() -> tuple[list[float], list[float]]:
        point, path = search(games)
        return point.tolist(), path

    point, path = kept({**key, "epochs": EPOCHS, "search": repr(SEARCH)}, make)
    usual, learned = spec(np.zeros(len(NAMES))), spec(np.array(point))
    rows, gaps = [], []
    for game in other:
        before, after = (score(compiled(game.name), algorithm, SEEDS) for algorithm in (usual, learned))
        gaps.append(after - before)
        rows.append([game.name, game.group, f"{10**before:.2e}", f"{10**after:.2e}", f"{after - before:+.2f}"])
    return summary(tuned, rows, gaps, path, learned)


def summary(tuned: Sequence[str], rows: list[list[str]], gaps: Sequence[float], path: Sequence[float], learned: str) -> Result:
    """The learned constants, and whether they generalise."""
    mean, error = float(np.mean(gaps)), float(np.std(gaps) / math.sqrt(len(gaps)))
    carries = mean < -2.0 * error
    verdict = "carries over" if carries else "does not generalize beyond its standard error"
    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(range(1, len(path) + 1), path, color="#0072B2", marker="o", markersize=4)
    axes.axhline(0.0, color="#767676", linewidth=1.0)
    dress(axes, "score on the games tuned on, relative to the usual constants", logarithmic=False)
    axes.set_xscale("linear")
    axes.set_xlabel("epoch")
    axes.set_ylabel("dex (lower is better)")
    return Result(
        source="the constants of vt-cfr+, learned with the evolution strategies of Xu et al. 2024",
        findings=[
            f"Learned on {len(tuned)} games: {learned}, after {len(path)} epochs {path[-1]:+.2f} dex on them relative "
            "to the default constants.",
            f"On {len(gaps)} games not in the search it is {mean:+.2f} dex in the mean (standard error {error:.2f}): "
            f"the gain {verdict}." + ("" if carries else " The default constants stay."),
        ],
        tables=[
            Table(
                "Score with the default and the learned constants",
                ["game", "group", "usual", "learned", "dex"],
                rows,
            )
        ],
        pictures=[
            save(figure, "vt-constants.png", "Score of the learned constants against epochs, relative to the usual constants")
        ],
        notes=[
            f"Search: {SEARCH.population} candidates per epoch in mirrored pairs, one unit of noise being {STEPS} of "
            f"{NAMES}; fitness is the mean over games of the logarithm of the score, with {len(SEEDS)} perturbed "
            "repeats.",
            (
                f"Games with more than {SLOWEST} infosets per player are left out of both groups. Games tuned on: "
                f"{', '.join(tuned)}."
            ),
        ],
        numbers={"path": list(path), "dex": list(gaps), "learned": learned},
    )
