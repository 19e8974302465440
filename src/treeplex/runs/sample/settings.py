"""What a run that samples rules is asked to do, and what its folder holds.

======================= ==========================================================================================
``run.json``            game, algorithm, settings, versions, status and the last record
``metrics.jsonl``       one record per evaluation: nodes, infosets, bytes, values by playouts, exploitability if judged
``policy.safetensors``  the average policy (:mod:`treeplex.forms.policies.sparse`)
``state.safetensors``   the tables, from which the run continues
``progress.png``        what was estimated, and infosets met, against histories walked
======================= ==========================================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.evaluate.playouts import PLAYOUTS, check_playouts
from treeplex.runs.job.folder import Kind
from treeplex.runs.job.record import check_count, maybe, real, reals, whole

POLICY, PLOT = "policy.safetensors", "progress.png"
UNIFORM = "uniform"
DEFAULT_MEMORY = 1 << 30
SAMPLE = Kind(
    name="sample",
    unit="iterations",
    maker="treeplex sample",
    numbers={
        "nodes": whole,
        "infosets": whole,
        "bytes": whole,
        "unstored": whole,
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
class SampleSettings:
    """What decides the numbers of a run; kept in ``run.json``.

    Attributes:
        iterations: iterations in total, over all resumes.
        nodes: stop once so many histories have been walked, over all resumes; None for no such limit.
        every: evaluate every so many iterations; None for three times per power of ten.
        seed: of everything random.
        memory: bytes that tables may take.
        playouts: games played at each evaluation.
        against: ``uniform``, or the file of the policy that is played against.
        judge: whether the game is compiled, so that exploitability is computed.
    """

    iterations: int
    nodes: int | None = None
    every: int | None = None
    seed: int = 0
    memory: int = DEFAULT_MEMORY
    playouts: int = PLAYOUTS
    against: str = UNIFORM
    judge: bool = False

    def __post_init__(self) -> None:
        for name in ("iterations", "nodes", "every", "seed", "memory", "playouts"):  # JSON cannot say NumPy's whole numbers
            value = getattr(self, name)
            if not isinstance(value, bool) and isinstance(value, Integral):
                object.__setattr__(self, name, int(value))
        check_count("iterations", self.iterations)
        check_count("memory", self.memory)
        for name in ("nodes", "every"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_playouts(self.playouts)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SpecError(f"seed must be a whole number, not {self.seed!r}")
        if not isinstance(self.against, str) or not isinstance(self.judge, bool):
            raise SpecError(f"against is a name and judge true or false, not {self.against!r} and {self.judge!r}")


def settings_from(found: Mapping[str, Any], place: str) -> SampleSettings:
    """Settings as written in ``run.json``; :class:`FileError` names ``place`` when they are not whole."""
    try:
        return SampleSettings(**{field.name: found[field.name] for field in fields(SampleSettings)})
    except (KeyError, TypeError, SpecError) as error:
        raise FileError(f"{place}: the settings of the run cannot be read ({error}); start the run again") from error
