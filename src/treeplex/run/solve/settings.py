"""Settings of runs on compiled games, and the contents of their folders.

========================= =======================================================================================
``run.json``              game, algorithm, settings, versions, status and the last record
``metrics.jsonl``         one record per evaluation: exploitability, nash_conv, value, gains, nodes, measures
``policy.safetensors``    the average policy
``state.safetensors``     the solver's state, from which the run resumes
``device.safetensors``    the correlation device (``cfr-s``, ``cfr-jr``)
``convergence.png``       exploitability against iterations
========================= =======================================================================================
"""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import integer, named_reals, real, reals

POLICY, DEVICE, PLOT = "policy.safetensors", "device.safetensors", "convergence.png"
SOLVE = JobKind(
    name="solve",
    unit="iterations",
    maker="treeplex solve",
    numbers={
        "exploitability": real,
        "nash_conv": real,
        "value": reals,
        "gains": reals,
        "nodes": integer,
        "measures": named_reals,
    },
    needs={"game": str, "identity": str, "algorithm": str, "settings": dict},
    files=(POLICY, PLOT),
)
"""Runs on compiled games. A record evaluates the average policy. ``gains``: each player's best-response gain, in the game's
units; ``exploitability`` is their mean and ``nash_conv`` their sum. ``value``: expected payoff of each player. ``nodes``:
histories visited so far. ``measures``: the solver's additional measures (:meth:`treeplex.solvers.Solver.measures`).
"""

DEFAULT_ITERATIONS, MOST_ITERATIONS = 1000, 1_000_000
"""Default iterations: without another limit, and with a target or a time limit."""


@dataclass(frozen=True)
class SolveSettings(Settings):
    """Settings that determine the results of a run; stored in ``run.json``, so that a resumed run matches."""

    iterations: int = setting(help="total iterations over all resumes", low=1)
    horizon: int = setting(help="planned iterations of the first run, for algorithms that depend on them", low=1)
    target: float | None = setting(None, "stop at the first evaluation with at most this exploitability", low=0)
    every: int | None = setting(None, "iterations between evaluations; none: ten evaluations per power of ten", low=1)
    updates: str | None = setting(None, "order of updates; none: the default", choices=("alternating", "simultaneous"))
    seed: int = setting(0, "random seed of the algorithm")
    refine: bool = setting(False, "whether infostates with imperfect recall were split")
    nodes: int | None = setting(None, "limit on visited histories over all resumes", low=1, added=True)
    device: str = setting("cpu", "device that runs the iterations: cpu (compiled kernels) or a PyTorch device", added=True)
    precision: str = setting("double", "floating-point precision of the iterations", choices=("double", "single"), added=True)
    warm: int = setting(0, "weight of the starting policy, in iterations", low=0, added=True)
