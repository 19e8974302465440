"""Settings of a run that samples rules, and the contents of its folder.

======================= ==========================================================================================
``run.json``            game, algorithm, settings, versions, status and the last record
``metrics.jsonl``       one record per evaluation: nodes, infosets, bytes, values by playouts, exploitability if judged
``policy.safetensors``  the average policy (:mod:`treeplex.forms.policies.sparse`)
``state.safetensors``   the tables, from which the run continues
``progress.png``        what was estimated, and infosets met, against histories walked
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
"""Runs on rules. A record is about the average policy: ``nodes`` histories walked, ``infosets`` in the tables, ``bytes`` that
these take (an upper estimate), ``unstored`` visits of infosets for which there was no memory; ``value`` and ``error``: mean
payoff of each player when all follow the policy, by playouts, and its standard error; ``match`` and ``match_error``: mean
payoff of the policy against the other one, over all seats, and its standard error; ``exploitability`` and ``nash_conv``: exact,
if the game was compiled, else None."""


@dataclass(frozen=True)
class SampleSettings(Settings):
    """What decides the numbers of a run; kept in ``run.json``."""

    iterations: int = setting(help="iterations in total, over all resumes", low=1)
    nodes: int | None = setting(None, "stop once so many histories have been walked, over all resumes", low=1)
    every: int | None = setting(None, "evaluate every so many iterations; none: three times per power of ten", low=1)
    seed: int = setting(0, "seed of everything random")
    memory: int = setting(DEFAULT_MEMORY, "bytes that tables may take", low=1)
    playouts: int = setting(PLAYOUTS, "games played at each evaluation", low=2)
    against: str = setting(UNIFORM, "uniform, or the file of the policy that is played against")
    judge: bool = setting(False, "whether the game is compiled, so that exploitability is computed")
