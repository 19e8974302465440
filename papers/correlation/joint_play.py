"""CFR-S and CFR-Jr: gaps to a coarse correlated equilibrium and welfare on goofspiel, Kuhn and Leduc with up to three players.

Most of the time is spent on Leduc poker.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import CompiledGame, judge
from treeplex.correlation import best_cce, cce_gap
from treeplex.errors import AlgorithmError
from treeplex.solvers.joint.cfr_joint import CfrJr, CfrS, JointSolver

GAMES: Mapping[str, tuple[str, tuple[int, ...], int]] = {
    "Goofspiel, 2 players": (
        "goofspiel(num_cards=3,imp_info=true,points_order=descending,returns_type=total_points)",
        (1000, 10_000),
        11,
    ),
    "Goofspiel, 3 players": ("goofspiel(players=3,num_cards=3,returns_type=total_points)", (1000, 10_000), 11),
    "Kuhn, 3 players": ("kuhn_poker(players=3)", (1000, 10_000), 11),
    "Leduc, 3 players": ("leduc_poker(players=3)", (100, 1000), 1),
}
"""Spec, iterations of evaluations, and seeds."""
SOLVERS: Mapping[str, Callable[..., JointSolver]] = {
    "cfr-jr": CfrJr,
    "cfr-jr(tilt=0)": partial(CfrJr, tilt=0),
    "cfr-jr(plus=1)": partial(CfrJr, plus=1),
    "cfr-s": CfrS,
    "cfr-s(plus=1)": partial(CfrS, plus=1),
}
MEASURES = ("cce_gap", "welfare", "product_gap")
DRAWN = 2000


def measured(game: CompiledGame, build: Callable[..., JointSolver], points: tuple[int, ...], seeds: int) -> dict[str, object]:
    """Gap, welfare, and largest gain against the product of averages, [seeds, points, 3]; and the gap of the correlation
    device.
    """
    found, seconds = np.empty((seeds, len(points), len(MEASURES))), []
    for seed in range(seeds):
        solver = build(game, seed=seed)
        solver.run(0)
        spent = 0.0
        for place, point in enumerate(points):
            begun = time.perf_counter()
            solver.run(point - solver.iteration)
            spent += time.perf_counter() - begun
            alone = max(judge(game, solver.average_policy()).gains)
            found[seed, place] = [*solver.measures().values(), alone]
        seconds.append(spent)
        if seed == 0:
            device, drawn = written(solver)
            own = cce_gap(device)
    return {
        "measures": found.tolist(),
        "seconds": round(float(np.median(seconds)), 2),
        "joint_plans": len(device),
        "drawn": drawn,
        "device_gap": own,
    }


def written(solver: JointSolver) -> tuple[object, bool]:
    """A solver's correlation device, and whether it was sampled because the complete one is too large."""
    try:
        return solver.device(), False
    except AlgorithmError:
        return solver.device(samples=DRAWN), True


def best_welfare(game: CompiledGame) -> float | None:
    """The largest welfare of a coarse correlated equilibrium, if it can be computed."""
    if game.constant is not None:
        return game.constant
    try:
        return best_cce(game).welfare
    except AlgorithmError:
        return None


def spread(values: np.ndarray, digits: str) -> str:
    """The median, and the range if there are several seeds."""
    middle, low, high = np.median(values), values.min(), values.max()
    text = format(middle, digits)
    return text if len(values) == 1 else f"{text} ({format(low, digits)} to {format(high, digits)})"


def rows_of(found: Mapping[str, dict[str, object]], points: tuple[int, ...], constant: bool) -> list[list[str]]:
    """One row per algorithm."""
    rows = []
    for name, each in found.items():
        measures = np.array(each["measures"])
        cells = [spread(measures[:, place, 0], ".4f") for place in range(len(points))]
        welfare = "constant" if constant else spread(measures[:, -1, 1], ".3f")
        support = f"{each['joint_plans']:,}{' drawn' if each['drawn'] else ''}"
        product = spread(measures[:, -1, 2], ".3f")
        rows.append([f"`{name}`", *cells, welfare, product, support, f"{each['device_gap']:.4f}", f"{each['seconds']:.2f}"])
    return rows


@study(title="CFR-S and CFR-Jr: coarse correlated equilibria", place=None, minutes=7)
def reproduce() -> Result:
    tables, numbers, findings = [], {}, []
    for title, (spec, points, seeds) in GAMES.items():
        game = tp.compile(spec, refine=True)
        found = {name: measured(game, build, points, seeds) for name, build in SOLVERS.items()}
        best = best_welfare(game)
        numbers[spec] = {"points": points, "best_welfare": best, "found": found}
        columns = [
            "algorithm",
            *(f"CCE gap, {point:,} iterations" for point in points),
            "welfare",
            "gap of the product of averages",
            "joint plans",
            "gap of the device",
            "seconds",
        ]
        tables.append(Table(title, columns, rows_of(found, points, game.constant is not None)))
        if game.constant is None and best is not None:
            findings.append(f"{title}: no coarse correlated equilibrium has a welfare above {best:.4f} (linear program).")
        print(f"{title} done", flush=True)
    return Result(
        source="Celli, Marchesi, Bianchi and Gatti 2019, Learning to Correlate in Multi-Player General-Sum Sequential "
        "Games (arXiv 1910.06228), on games of these kinds",
        findings=findings,
        tables=tables,
        notes=[
            "Gaps are the largest over players, in game units: the gain of the best strategy chosen beforehand while "
            "the others follow. Medians over seeds 0 to 10, and the range; one seed on Leduc poker.",
            "A negative gap is an equilibrium in which every such strategy loses.",
            (f"The device is that of seed 0 after the last iteration, complete or as {DRAWN:,} joint plans drawn from it."),
            *(f"{title} is `{spec}`." for title, (spec, _, _) in GAMES.items()),
        ],
        numbers=numbers,
    )
