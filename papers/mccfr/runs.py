"""Runs of Monte Carlo CFR shared by the studies of sampling: solvers by scheme, evaluated at given iterations."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.kept import code, kept
from papers.mccfr.exact_variance import REGRET, VISITS, WITHIN, walk_variances
from treeplex import judge
from treeplex.base.arrays import Floats
from treeplex.engine.sampling.sampled_tables import REGRET as REGRET_ROW
from treeplex.engine.sampling.schemes import LEARNED, NO_BASELINE, ORACLE, Traversal
from treeplex.engine.sampling.streams import start
from treeplex.engine.sampling.walks import exact_values, scratch, walk
from treeplex.solvers.sampling.solver import SAMPLINGS, MonteCarloCfr

SEEDS = (1, 2, 3, 4, 5)
CODE = ("treeplex.engine.histories", "treeplex.solvers.sampling")
"""Modules that affect results; see ``kept.py``."""


def quarters(first: int, last: int) -> list[int]:
    """Four round numbers of iterations per decade, from ``first`` to ``last``: 1000, 1800, 3200, 5600, 10,000, ..."""
    decades = range(len(str(last)))
    return [point for decade in decades for step in (10, 18, 32, 56) if first <= (point := step * 10**decade // 10) <= last]


def solver(game: tp.CompiledGame, scheme: str, seed: int, parameters: Mapping[str, Any]) -> MonteCarloCfr:
    """A new solver of a scheme."""
    known = SAMPLINGS[scheme]
    return MonteCarloCfr(game, known, known.options(parameters), seed=seed, algorithm=scheme)


def judged(
    game: tp.CompiledGame, scheme: str, seed: int, parameters: Mapping[str, Any], points: Sequence[int]
) -> dict[str, list[float]]:
    """Exploitability and value of the average policy, and histories visited, after each of ``points`` iterations."""

    def make() -> dict[str, list[float]]:
        run = solver(game, scheme, seed, parameters)
        found: dict[str, list[float]] = {"exploitability": [], "value": [], "nodes": []}
        for point in points:
            run.run(point - run.iteration)
            judgement = judge(game, run.average_policy())
            found["exploitability"].append(judgement.exploitability)
            found["value"].append(judgement.value[0])
            found["nodes"].append(float(run.nodes))
        return found

    key = {"scheme": scheme, "seed": seed, "parameters": dict(parameters), "points": list(points)}
    return dict(kept({"what": "mccfr", "game": game.identity, **key, "code": code(*CODE)}, make))


def three(value: float) -> str:
    """A number to three significant digits, without an exponent from 1000 on."""
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def over_seeds(runs: Sequence[Mapping[str, Sequence[float]]], field: str, place: int = -1) -> list[float]:
    """One number per run: a field at one of its points."""
    return [run[field][place] for run in runs]


def band(values: Sequence[float], form: str = "#.3g") -> str:
    """The mean of some runs and, in brackets, the least and the greatest."""
    mean, least, most = (format(value, form) for value in (statistics.fmean(values), min(values), max(values)))
    return f"{mean} [{least}, {most}]"


def own_reach(run: MonteCarloCfr, probabilities: Floats) -> Floats:
    """Own reach of each infoset, float64 [I].

    Args:
        run: for the layout of its game.
        probabilities: float64 [S], a policy by slots.
    """
    arrived, reach = np.empty(len(run.layout.infosets)), np.empty(len(probabilities))
    for infoset, (first, actions, before) in enumerate(run.layout.infosets):
        arrived[infoset] = reach[before] if before >= 0 else 1.0
        reach[first : first + actions] = arrived[infoset] * probabilities[first : first + actions]
    return arrived


Runs = Sequence[Mapping[str, Sequence[float]]]
"""Measurements, one entry per seed: numbers at each point, by name."""

EXACT = "full"
KINDS = ("naive", "stochastic", "optimistic", "opponent", "lazy")
"""Kinds of averaging except the exact one."""


def variances(run: MonteCarloCfr, baseline: int | None = None, baselines: Any = None) -> tuple[float, float]:
    """The variance of one traversal with the current tables: after arrival, and of the regrets of the full traversal.

    After arrival: the variance of an action's sampled counterfactual value over samples after reaching a history of an infoset,
    averaged over the visits of all infosets. Full traversal: the variance of a regret's update, including traversals that do
    not reach it, averaged over all regrets.

    Args:
        run: a run of a scheme that follows one action of the other players.
        baseline: ``NO_BASELINE``, ``LEARNED`` or ``ORACLE``; None for the run's own.
        baselines: float64 [N, H] in place of the learned ones.
    """
    rules = run.rules if baseline is None else run.rules._replace(baseline=baseline)
    tables = run.tables if baselines is None else run.tables._replace(baselines=baselines)
    found = sum(walk_variances(run.histories, run.layout, rules, tables, player) for player in range(run.game.players))
    return float(found[:, WITHIN].sum() / found[:, VISITS].sum()), float(found[:, REGRET].mean())


def exact_where_never_sampled(run: MonteCarloCfr) -> np.ndarray:
    """The learned baselines, with exact values for histories without one; float64 [N, H]."""
    filled = run.tables.baselines.copy()
    values = np.empty(filled.shape[1])
    for player, row in enumerate(filled):
        exact_values(run.histories, player, run.tables.rows, values)
        row[row == 0.0] = values[row == 0.0]
    return filled


def measure(run: MonteCarloCfr) -> dict[str, float]:
    """Variances and exploitability; for the same policies also variances without baselines and with exact ones."""
    (arrived, whole), (bare, bare_whole), (_, least) = (variances(run, kind) for kind in (None, NO_BASELINE, ORACLE))
    learned = run.rules.baseline == LEARNED and run.options.key == "history"
    return {
        "arrived": arrived,
        "whole": whole,
        "arrived_plain": bare,
        "whole_plain": bare_whole,
        "whole_oracle": least,
        "arrived_filled": variances(run, None, exact_where_never_sampled(run))[0] if learned else arrived,
        "exploitability": judge(run.game, run.average_policy()).exploitability,
        "nodes": float(run.nodes),
    }


def measured(
    game: tp.CompiledGame, scheme: str, parameters: Mapping[str, Any], seed: int, points: Sequence[int]
) -> dict[str, list[float]]:
    """:func:`measure` at each of ``points`` iterations, by name; cached."""

    def make() -> dict[str, list[float]]:
        run, found = solver(game, scheme, seed, parameters), []
        for point in points:
            run.run(point - run.iteration)
            found.append(measure(run))
        return {name: [each[name] for each in found] for name in found[0]}

    key = {"what": "mccfr variance", "game": game.identity, "scheme": scheme, "parameters": dict(parameters), "seed": seed}
    modules = (*CODE, "papers.mccfr.runs")
    return dict(kept({**key, "points": list(points), "code": code(*modules)}, make))


def sampled_variance(run: MonteCarloCfr, walks: int, batches: int) -> tuple[float, float]:
    """The second number of :func:`variances`, estimated from traversals of the engine with fixed tables.

    Returns:
        The mean over batches of traversals, and its standard error.
    """
    before = {name: array.copy() for name, array in run.tables._asdict().items()}
    weights, rules = np.array([1.0, 1.0, 0.0, 0.0]), run.rules._replace(discounts=False)
    room = scratch(run.histories, run.layout, rules, run.game.size.depth)
    found = np.zeros(batches)
    for batch in range(batches):
        for player in range(run.game.players):
            sums = np.zeros((2, len(run.slots)))
            for number in range(walks):
                stream = np.uint64(start(np.uint64(batch), np.uint64(number), np.uint64(player)))
                walk(run.histories, run.layout, rules, run.tables, room, Traversal(player, weights), stream)
                added = run.tables.rows[:, REGRET_ROW] - before["rows"][:, REGRET_ROW]
                sums += added, added * added
                for name, array in before.items():
                    getattr(run.tables, name)[...] = array
            found[batch] += float((sums[1] / walks - (sums[0] / walks) ** 2).mean())
    return float(found.mean()), float(found.std(ddof=1) / math.sqrt(batches))


def geometric(runs: Runs, name: str, floor: float = 1e-12) -> list[float]:
    """The geometric mean over runs at every point."""
    logs = np.log(np.maximum([run[name] for run in runs], floor))
    return [float(value) for value in np.exp(logs.mean(axis=0))]


def factor_of(runs: Runs, place: int, above: str, below: str) -> float:
    """The geometric mean over runs of a ratio at a point."""
    return math.exp(sum(math.log(run[above][place] / run[below][place]) for run in runs) / len(runs))


def factor(runs: Runs, place: int, above: str, below: str) -> str:
    """The geometric mean of a ratio at a point and, in brackets, its range."""
    ratios = [run[above][place] / run[below][place] for run in runs]
    return f"{three(factor_of(runs, place, above, below))} [{three(min(ratios))}, {three(max(ratios))}]"


def distance(found: Floats, right: Floats, run: MonteCarloCfr) -> float:
    """The L1 distance of two policies at an infoset, as a mean weighted by the second one's own reach; 2 at most.

    Args:
        found, right: float64 [S], policies by the slots of ``run``.
        run: for the layout of its game.
    """
    reach = own_reach(run, right)
    differences = np.add.reduceat(np.abs(found - right), run.layout.infosets[:, 0])
    return float(differences @ reach / reach.sum())


def by_slots(run: MonteCarloCfr) -> Floats:
    """The average policy, float64 [S]."""
    return run.average_policy().probabilities[run.slots]


def compare(game: tp.CompiledGame, scheme: str, seed: int, points: Sequence[int]) -> dict[str, dict[str, list[float]]]:
    """All kinds of averaging on the same traversals: distance to the exact average, and exploitability, by kind."""
    runs = {kind: solver(game, scheme, seed, {"averaging": kind}) for kind in (EXACT, *KINDS)}
    found: dict[str, dict[str, list[float]]] = {kind: {"distance": [], "exploitability": []} for kind in runs}
    for point in points:
        for kind, run in runs.items():
            run.run(point - run.iteration)
            if not np.array_equal(run.tables.rows[:, :2], runs[EXACT].tables.rows[:, :2]):
                raise SystemExit(f"{scheme}, seed {seed}: averaging={kind} must not change the regrets, but did")
            found[kind]["distance"].append(distance(by_slots(run), by_slots(runs[EXACT]), run))
            found[kind]["exploitability"].append(judge(game, run.average_policy()).exploitability)
    return found


def compared(game: tp.CompiledGame, scheme: str, seed: int, points: Sequence[int]) -> dict[str, dict[str, list[float]]]:
    """:func:`compare`, cached."""
    key = {"what": "mccfr averaging", "game": game.identity, "scheme": scheme, "seed": seed, "points": list(points)}
    return dict(kept({**key, "code": code(*CODE, "papers.mccfr.runs")}, lambda: compare(game, scheme, seed, points)))
