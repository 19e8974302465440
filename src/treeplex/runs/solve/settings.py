"""What a run on a compiled game is asked to do, and what its folder holds.

========================= =======================================================================================
``run.json``              game, algorithm, settings, versions, status and the last record
``metrics.jsonl``         one record per evaluation: exploitability, nash_conv, value, gains, nodes, measures
``policy.safetensors``    the average policy
``state.safetensors``     the solver's state, from which the run continues
``device.safetensors``    the correlation device, of algorithms that make one (``cfr-s``, ``cfr-jr``)
``convergence.png``       exploitability against iterations
========================= =======================================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

from treeplex.errors import FileError, SpecError
from treeplex.runs.job.folder import Kind
from treeplex.runs.job.record import check_count, is_amount, named_reals, real, reals, whole

POLICY, DEVICE, PLOT = "policy.safetensors", "device.safetensors", "convergence.png"
SOLVE = Kind(
    name="solve",
    unit="iterations",
    maker="treeplex solve",
    numbers={
        "exploitability": real,
        "nash_conv": real,
        "value": reals,
        "gains": reals,
        "nodes": whole,
        "measures": named_reals,
    },
    needs={"game": str, "identity": str, "algorithm": str, "settings": dict},
    files=(POLICY, PLOT),
)
"""Runs on compiled games. A record is about the average policy: ``exploitability`` is the mean over players of what a best
response gains, in game units, ``nash_conv`` the sum of it and ``gains`` that of each player; ``value`` the expected payoff of
each player, ``nodes`` histories walked so far, ``measures`` what else the solver reports
(:meth:`treeplex.solvers.Solver.measures`)."""


@dataclass(frozen=True)
class Settings:
    """What decides the numbers of a run; kept in ``run.json``, so that a resumed run is the same run.

    Attributes:
        iterations: iterations in total, over all resumes.
        horizon: the number of iterations that horizon-dependent algorithms plan for: that of the first start.
        target: stop at the first evaluation with an exploitability of at most this; None to run all iterations.
        every: evaluate every so many iterations; None for logarithmic spacing.
        updates: ``"alternating"``, ``"simultaneous"`` or None for the algorithm's own default.
        seed: seed of everything random in the algorithm.
        refine: whether infostates of imperfect recall were split.
        nodes: stop once the solver has walked so many histories, over all resumes; None for no such limit.
        device: where iterations run: ``"cpu"`` by compiled kernels, or one of :data:`treeplex.learn.torch.device.DEVICES`.
    """

    iterations: int
    horizon: int
    target: float | None = None
    every: int | None = None
    updates: str | None = None
    seed: int = 0
    refine: bool = False
    nodes: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("iterations", "horizon", "every", "seed", "nodes"):  # NumPy's whole numbers are not what JSON can say
            value = getattr(self, name)
            if not isinstance(value, bool) and isinstance(value, Integral):
                object.__setattr__(self, name, int(value))
        check_count("iterations", self.iterations)
        check_count("horizon", self.horizon)
        for name in ("every", "nodes"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        if self.target is not None and not is_amount(self.target):
            raise SpecError(f"target must be a number >= 0, not {self.target!r}")
        if not isinstance(self.refine, bool):
            raise SpecError(f"refine must be true or false, not {self.refine!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SpecError(f"seed must be a whole number, not {self.seed!r}")
        if not isinstance(self.device, str):
            raise SpecError(f"device must be the name of one, not {self.device!r}")
        if self.updates not in (None, "alternating", "simultaneous"):
            raise SpecError(f"updates must be 'alternating' or 'simultaneous', not {self.updates!r}")


def settings_from(fields: Mapping[str, object], place: str) -> Settings:
    """Settings as written in ``run.json``; :class:`FileError` names ``place`` when they are not whole."""
    try:
        return Settings(**fields)  # type: ignore[arg-type]
    except (TypeError, SpecError) as error:
        raise FileError(f"{place}: the settings of the run cannot be read ({error}); start the run again") from error
