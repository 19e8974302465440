"""Settings of sampling runs, and the contents of their folders.

======================= ==========================================================================================
``run.json``            game, algorithm, settings, versions, status and the last record
``metrics.jsonl``       one record per evaluation: nodes, infosets, bytes, values by playouts, exploitability if judged
``policy.safetensors``  the average policy (:mod:`treeplex.forms.policies.sparse`)
``state.safetensors``   the tables, from which the run resumes
``progress.png``        estimates and visited infosets against visited histories
======================= ==========================================================================================
"""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.evaluate.playouts import PLAYOUTS
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import integer, maybe, real, reals

POLICY, PLOT = "policy.safetensors", "progress.png"
UNIFORM = "uniform"
DEFAULT_MEMORY = 1 << 30
SAMPLE = JobKind(
    name="sample",
    unit="iterations",
    maker="treeplex sample",
    numbers={
        "nodes": integer,
        "infosets": integer,
        "bytes": integer,
        "unstored": integer,
        "value": reals,
        "error": reals,
        "match": real,
        "match_error": real,
        "exploitability": maybe(real),
        "nash_conv": maybe(real),
    },
    needs={"game": str, "algorithm": str, "settings": dict},
    files=(POLICY, PLOT),
)
"""Runs on rules. A record evaluates the average policy. ``nodes``: histories walked. ``infosets``: infosets in the tables.
``bytes``: upper estimate of the tables' memory. ``unstored``: visits to infosets not stored for lack of memory. ``value`` and
``error``: each player's mean payoff in self-play, by playouts, and its standard error. ``match`` and ``match_error``: mean
payoff against the opponent over all seats, and its standard error. ``exploitability`` and ``nash_conv``: exact if the game was
compiled, else None.
"""


@dataclass(frozen=True)
class SampleSettings(Settings):
    """Settings that determine the results of a run; stored in ``run.json``."""

    iterations: int = setting(help="total iterations over all resumes", low=1)
    nodes: int | None = setting(None, "limit on visited histories over all resumes", low=1)
    every: int | None = setting(None, "iterations between evaluations; none: three evaluations per power of ten", low=1)
    seed: int = setting(0, "random seed")
    memory: int = setting(DEFAULT_MEMORY, "memory limit for the tables in bytes", low=1)
    playouts: int = setting(PLAYOUTS, "playouts per evaluation", low=2)
    against: str = setting(UNIFORM, "opponent: uniform, or a policy file")
    judge: bool = setting(False, "compile the game and compute exploitability")
