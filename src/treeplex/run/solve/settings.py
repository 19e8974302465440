"""Settings of a run on a compiled game, and the contents of its folder.

========================= =======================================================================================
``run.json``              game, algorithm, settings, versions, status and the last record
``metrics.jsonl``         one record per evaluation: exploitability, nash_conv, value, gains, nodes, measures
``policy.safetensors``    the average policy
``state.safetensors``     the solver's state, from which the run continues
``device.safetensors``    the correlation device, of algorithms that make one (``cfr-s``, ``cfr-jr``)
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
"""Runs on compiled games. A record is about the average policy: ``exploitability`` is the mean over players of what a best
response gains, in game units, ``nash_conv`` the sum of it and ``gains`` that of each player; ``value`` the expected payoff of
each player, ``nodes`` histories walked so far, ``measures`` what else the solver reports
(:meth:`treeplex.solvers.Solver.measures`)."""

DEFAULT_ITERATIONS, MOST_ITERATIONS = 1000, 1_000_000
"""Iterations of games and spots where nothing is said: without another limit, and with a target or a time limit."""


@dataclass(frozen=True)
class SolveSettings(Settings):
    """What decides the numbers of a run; kept in ``run.json``, so that a resumed run is the same run."""

    iterations: int = setting(help="iterations in total, over all resumes", low=1)
    horizon: int = setting(help="iterations for which algorithms plan that depend on them: those of the first start", low=1)
    target: float | None = setting(None, "stop at the first evaluation with at most this exploitability", low=0)
    every: int | None = setting(None, "evaluate every so many iterations; none: ten times per power of ten", low=1)
    updates: str | None = setting(None, "order of updates; none: the algorithm's own", choices=("alternating", "simultaneous"))
    seed: int = setting(0, "seed of everything random in the algorithm")
    refine: bool = setting(False, "whether infostates of imperfect recall were split")
    nodes: int | None = setting(None, "stop once the solver has walked so many histories, over all resumes", low=1, added=True)
    device: str = setting("cpu", "where iterations run: cpu by compiled kernels, or a device of PyTorch", added=True)
    warm: int = setting(0, "iterations that the policy it started from counts as", low=0, added=True)
