"""Folders of runs that sample rules: everything about one run in one folder, readable by people, whole at every moment.

======================= ==========================================================================================
``sample.json``         game, algorithm, settings, versions, status and the last record
``metrics.jsonl``       one record an evaluation: iteration, seconds, nodes, infosets, bytes, values by playouts
``policy.safetensors``  the average policy (:mod:`treeplex.forms.policies.sparse`)
``state.safetensors``   the tables, from which the run continues
``progress.png``        what was estimated, and infosets met, against histories walked
======================= ==========================================================================================
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import Any, final

from treeplex.errors import FileError, SpecError
from treeplex.evaluate.playouts import PLAYOUTS, check_playouts
from treeplex.forms.policies.sparse import TablePolicy, save_table_policy
from treeplex.runs.job.folder import METRICS, STATE, RecordFolder, claim_folder, read_about, write_about
from treeplex.runs.job.record import check_count
from treeplex.runs.solve.folder import OF_RUNS
from treeplex.solvers.sampling.rules_solver import RulesSampler
from treeplex.storage.reading import parse_json
from treeplex.storage.tensors import TensorFile, write_tensors

FORMAT, STATE_FORMAT = "treeplex sample run", "treeplex sample state"
VERSION = 1
ABOUT, POLICY, PLOT = "sample.json", "policy.safetensors", "progress.png"
FILES = (ABOUT, METRICS, POLICY, STATE, PLOT)
UNIFORM = "uniform"
DEFAULT_MEMORY = 1 << 30


@dataclass(frozen=True)
class SampleSettings:
    """What decides the numbers of a run; kept in ``sample.json``.

    Attributes:
        iterations: iterations in total, over all resumes.
        nodes: stop once so many histories have been walked, over all resumes; None for no such limit.
        every: evaluate every so many iterations; None for three times a decade.
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


WHOLE = ("iteration", "nodes", "infosets", "bytes", "unstored")
REAL, PER_PLAYER = ("seconds", "match", "match_error"), ("value", "error")
JUDGED = ("exploitability", "nash_conv")
"""The numbers of a record, by what they are."""


@dataclass(frozen=True)
class SampleRecord:
    """One evaluation of the average policy.

    Attributes:
        iteration: iterations done.
        seconds: time spent sampling, summed over resumes.
        nodes: histories walked.
        infosets: infosets in the tables.
        bytes: memory that the tables take, an upper estimate.
        unstored: visits of infosets for which there was no memory.
        value, error: mean payoff of each player when all follow the policy, by playouts, and its standard error.
        match, match_error: mean payoff of the policy against the other one, over all seats, and its standard error.
        exploitability, nash_conv: exact, if the game was compiled; else None.
    """

    iteration: int
    seconds: float
    nodes: int
    infosets: int
    bytes: int
    unstored: int
    value: tuple[float, ...]
    error: tuple[float, ...]
    match: float
    match_error: float
    exploitability: float | None = None
    nash_conv: float | None = None

    def to_json(self) -> str:
        """One line of ``metrics.jsonl``, without the line end."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, place: str) -> "SampleRecord":
        """Read one line of ``metrics.jsonl``; ``place`` (file and line) goes into the :class:`FileError`."""
        try:
            found = parse_json(text)
            numbers: dict[str, Any] = {name: int(found[name]) for name in WHOLE}
            numbers |= {name: float(found[name]) for name in REAL}
            numbers |= {name: tuple(float(number) for number in found[name]) for name in PER_PLAYER}
            numbers |= {name: None if found.get(name) is None else float(found[name]) for name in JUDGED}
            return cls(**numbers)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise FileError(f"{place}: not a record of an evaluation; remove the line to go on without it") from error


@final
class SampleFolder(RecordFolder[SampleRecord]):
    """One run on disk."""

    record = SampleRecord

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, empty of an earlier run.

        Raises:
            FileError: it cannot be made or written, or it holds files and ``force`` is not set.
        """
        claim_folder(self.path, ABOUT, OF_RUNS, force=force)

    def describe(self, sampler: RulesSampler, settings: SampleSettings, *, status: str, last: SampleRecord | None) -> None:
        """Write ``sample.json``."""
        write_about(
            self.path / ABOUT,
            FORMAT,
            VERSION,
            game=sampler.game.spec,
            players=sampler.game.num_players,
            algorithm=sampler.algorithm,
            settings=asdict(settings),
            status=status,
            last=asdict(last) if last else None,
        )

    def about(self) -> Mapping[str, Any]:
        """Read ``sample.json``.

        Raises:
            FileError: no such run in this folder, or the file is truncated, tampered with or of another version.
        """
        kind, maker, needs = "run of treeplex sample", "treeplex sample", {"game": str, "algorithm": str, "settings": dict}
        return read_about(self.path / ABOUT, FORMAT, VERSION, kind=kind, maker=maker, needs=needs)

    def settings(self) -> SampleSettings:
        """The settings in ``sample.json``; :class:`FileError` when they are not whole."""
        found = self.about()["settings"]
        try:
            return SampleSettings(**{field.name: found[field.name] for field in fields(SampleSettings)})
        except (KeyError, TypeError, SpecError) as error:
            raise FileError(
                f"{self.path / ABOUT}: the settings of the run cannot be read ({error}); start the run again"
            ) from error

    def save_state(self, sampler: RulesSampler, seconds: float) -> None:
        """Write ``state.safetensors``, piece by piece."""
        about = {
            "format": STATE_FORMAT,
            "version": str(VERSION),
            "game": sampler.game.spec,
            "algorithm": sampler.algorithm,
            "seconds": repr(seconds),
        }
        write_tensors(self.path / STATE, about, sampler.tensors())

    def restore(self, sampler: RulesSampler) -> float:
        """Put a new sampler where ``state.safetensors`` stands; returns the seconds spent until then.

        Raises:
            FileError: the file is missing, truncated, changed or that of another run.
            SpecError: the tables do not fit into the memory limit.
        """
        with TensorFile(self.path / STATE, STATE_FORMAT, VERSION) as file:
            if (file.about.get("game"), file.about.get("algorithm")) != (sampler.game.spec, sampler.algorithm):
                raise FileError(f"{file.path}: the state of another run; put back the right file")
            sampler.restore(file)
            return float(file.about.get("seconds", "0"))

    def save_policy(self, policy: TablePolicy) -> None:
        """Write ``policy.safetensors``."""
        save_table_policy(policy, self.path / POLICY)

    def plot(self, title: str, against: str, records: Sequence[SampleRecord]) -> None:
        """Draw ``progress.png``."""
        from treeplex.runs.plots import write_figure
        from treeplex.runs.sample.plot import progress_figure

        write_figure(progress_figure(title, against, records), self.path / PLOT)

    def __repr__(self) -> str:
        return f"<sample run folder {self.path}>"
