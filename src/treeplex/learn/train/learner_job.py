"""Jobs for ``Learner`` classes, built-in or custom: each step is one step of the learner.

======================= =========================================================================================
``run.json``            the learner's name, game, settings, versions, status, and the last record
``metrics.jsonl``       measurements, at 0 steps and ten per power of ten
``policy.safetensors``  the policy
``state.safetensors``   state for resuming
``learning-curve.png``  measurements against steps
======================= =========================================================================================

Since reading a folder runs no code, a custom learner must be named again to resume.
"""

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import Settings, declared
from treeplex.base.spec import quoted
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.policies.files import load_policy, save_policy
from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load, named_file
from treeplex.forms.sources.user_module import ObjectKind, blame, is_user_spec, user_source
from treeplex.holdem.spots.spot_table import names_spot
from treeplex.learn.common.device import one_thread
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.learner import Learner, learned_policy, wrong_return
from treeplex.learn.train.kind import EFFORTS, RECIPE, Options, TrainingJob, TrainingKind, TrainingRun, count_of
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.job import RUNNING
from treeplex.run.job.record import Record, named_reals
from treeplex.run.job.schedule import evaluation_points

if TYPE_CHECKING:
    from treeplex.run.plots import Panel

POLICY, PLOT = "policy.safetensors", "learning-curve.png"
OF_JOB = "job."
"""Prefix of the names of the job's own arrays, stored with the learner's."""
OWN = JobKind(
    name="own learner",
    unit="steps",
    maker="treeplex train",
    numbers={"measures": named_reals},
    needs={"learner": str, "game": str, "identity": str, "settings": dict},
    files=(POLICY, PLOT),
    noun="training",
)
"""Training runs of custom learners; ``measures`` are the learner's measurements and its last step's numbers."""
ARRAYS = 'a mapping from names to NumPy arrays of numbers, such as {"weights": self.weights}'
"""Required return value of a learner's method ``state``."""
LIBRARY = replace(OWN, name="learner")
"""Training runs of the library's ``Learner`` classes; their files are those of custom learners."""


class LearnerJob(TrainingJob[Settings]):
    """A training run of a ``Learner`` class in progress.

    Attributes:
        student: the learner.
    """

    kind = OWN

    def __init__(self, name: str, student: Learner, game: str, settings: Settings) -> None:
        super().__init__(name, game, student.identity, settings)
        self.student = student
        self._done, self._last = 0, dict[str, float]()

    @property
    def done(self) -> int:
        """Number of steps completed."""
        return self._done

    @property
    def total(self) -> int | None:
        """The setting ``steps``, if it exists and no effort limit applies."""
        return None if self.limits else getattr(self.settings, "steps", None)

    @property
    def limits(self) -> dict[str, int]:
        """The effort limits that apply, by name."""
        settings = {name: getattr(self.settings, name, 0) for name in self.student.effort()}
        return {name: limit for name, limit in settings.items() if limit}

    @property
    def ahead(self) -> int:
        """Steps per call: 1, or 0 once all steps are done or an effort limit is reached."""
        if limits := self.limits:
            effort = self.student.effort()
            return int(all(effort[name] < limit for name, limit in limits.items()))
        return 1 if self.total is None or self._done < self.total else 0

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until an effort limit is reached, at the current speed."""
        effort = self.student.effort()
        shares = [effort[name] / limit for name, limit in self.limits.items()]
        most = max(shares, default=0.0)
        return self.clock.seconds * (1.0 - most) / most if 0.0 < most < 1.0 else None

    def points(self) -> Iterator[int]:
        """Step counts at which to measure: 0, then ten per power of ten or, if ``every`` is set, every ``every`` steps."""
        last = 10**12 if self.total is None else self.total
        return chain((0,), evaluation_points(last, every=getattr(self.settings, "every", None)))

    def step(self, count: int) -> None:
        """Run one step of the learner.

        Raises:
            SpecError: the learner does not count the effort that limits training, so training would never end.
        """
        returned = self.student.step()
        self._last = {} if returned is None else numbers_of(self.student, "step", returned)
        self._done += 1
        effort = self.student.effort()
        if idle := [name for name in self.limits if not effort[name]]:
            raise uncounted(self.learner, idle[0], self.student.countable)

    def close(self) -> None:
        """Stop the learner's workers."""
        self.student.executor.close()

    def measure(self) -> Mapping[str, Any]:
        """The learner's measurements, and the numbers of its last step."""
        measured = numbers_of(self.student, "measure", self.student.measure())
        numbers = {**self._last, **measured, **numbers_of(self.student, "effort", self.student.effort())}
        if wrong := [name for name, value in numbers.items() if not np.isfinite(value)]:
            raise AlgorithmError(f"{wrong[0]} is {numbers[wrong[0]]} after {self._done:,} steps of {self.learner}")
        return {"measures": numbers}

    def live(self) -> Mapping[str, Any]:
        """The numbers of the last step."""
        return self._last

    def state(self) -> State:
        """The learner's arrays, random state, steps and last numbers."""
        job_arrays = {"steps": np.array([self._done]), "random": random_state(self.student.generator)}
        job_arrays |= {f"last.{name}": np.array([value]) for name, value in self._last.items()}
        return arrays_of(self.student) | {OF_JOB + name: array for name, array in job_arrays.items()}

    def restore(self, arrays: Arrays) -> None:
        """Restore the arrays of :meth:`state`."""
        stored = {name: np.array(array) for name, array in arrays.items()}
        job_arrays = {name.removeprefix(OF_JOB): stored.pop(name) for name in list(stored) if name.startswith(OF_JOB)}
        self._done = int(job_arrays.pop("steps")[0])
        set_random_state(self.student.generator, job_arrays.pop("random"))
        self._last = {name.removeprefix("last."): float(value[0]) for name, value in job_arrays.items()}
        self.student.restore(stored)

    def model(self, kind: TrainingKind, records: Sequence[Record]) -> Policy | NeuralPolicy:
        """The current policy."""
        return learned_policy(self.student)

    def panels(self, records: Sequence[Record]) -> "list[Panel]":
        """Panels of the learning curve."""
        return panels_of(records, self.student.effort())

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the policy, and at the end the learning curve."""
        about = {"algorithm": self.learner, "iterations": self._done, "seconds": self.clock.seconds}
        judged = bool(records) and records[-1].done == self._done and "exploitability" in records[-1].measures
        if status != RUNNING or judged or not self.student.costly or not (path / POLICY).exists():
            policy = learned_policy(self.student)
            if isinstance(policy, NeuralPolicy):
                policy.save(path / POLICY, {**policy.about, **about})
            else:
                save_policy(policy, path / POLICY, metadata=about)
        if status != RUNNING:
            from treeplex.run.plots import curves_figure, write_figure

            panels = self.panels(records)
            title, end = f"{self.learner} on {self.game}", max(self._done, 1)
            write_figure(curves_figure(title, "Steps", panels, last=end, height=1.2 + 2.4 * len(panels)), path / PLOT)


class LibraryJob(LearnerJob):
    """A training run of a ``Learner`` class from the library."""

    kind = LIBRARY


class LearnerKind(TrainingKind):
    """Learner type of a custom learner class.

    Args:
        made: the class.
        name: ``file.py:NAME``, or the class's name.
    """

    job_kind = OWN
    job_class: ClassVar[type[LearnerJob]] = LearnerJob
    line: ClassVar[Mapping[str, str]] = {"exploitability": "exploitability {:.2e}"}

    def __init__(self, made: type[Learner], name: str) -> None:
        if not isinstance(getattr(made, "settings_class", None), type) or not issubclass(made.settings_class, Settings):
            raise SpecError(
                f"{name} has no settings; set settings_class to a class derived from treeplex.base.settings.Settings"
            )
        if inspect.isabstract(made):
            missing = ", ".join(sorted(made.__abstractmethods__))
            raise SpecError(f"{name} lacks {missing}; implement these methods")
        declared(made.settings_class)
        self.made, self.name, self.settings = made, name, made.settings_class
        self.summary, self.source = (made.__doc__ or "").strip().partition("\n")[0], made.source
        self.takes = ("workers", "ray") if made.spreads else ()
        self.efforts = tuple(effort for effort in EFFORTS if effort in declared(made.settings_class))

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """The preset ``recipe`` and the presets of the class."""
        usual = self.made.settings_class()
        return {RECIPE: usual, **{name: usual.changed(changes) for name, changes in self.made.presets.items()}}

    def make(self, game: Any, settings: Settings, options: Options) -> LearnerJob:
        """Create a training run."""
        rules = load(game, named_in=options.named_in).walkable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        with blame(place_of(self.made), f"creating {self.name}", AlgorithmError):
            student = self.made(rules, settings)
        check_limits(self.name, student, settings)
        if options.work.asked:
            student.spread_over(options.work.executor(), spec)
        return self.job_class(self.name, student, spec, settings)

    def load(self, folder: Path) -> Policy | NeuralPolicy:
        """Load the policy."""
        file = folder / POLICY
        return NeuralPolicy.load(file) if is_neural_policy(file) else load_policy(file)

    def named_again(self, training: TrainingRun) -> str:
        """The custom game's file, which a resume command must repeat; empty for built-in games."""
        return str(training.game) if not training.game or named_file(training.game) else ""

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report the first and the last measurements."""
        first, last = training.records[0], training.records[-1]
        facts = {}
        for name, value in last.measures.items():
            before = f"{number_text(first.measures[name])} -> " if name in first.measures and first is not last else ""
            facts[name.replace("_", " ")] = f"{before}{number_text(value)}"
        return f"{self.name} on {training.game}: {count_of(last.done, 'steps')}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest evaluating and browsing the policy."""
        game, folder = quoted(str(training.game)), quoted(str(training.folder))
        if names_spot(str(training.game)):
            return [(f"treeplex evaluate {game} {folder}", "compute its exploitability")]
        if is_neural_policy(f"{training.folder}/{POLICY}") and "exploitability" not in training.records[-1].measures:
            return [(f"treeplex playouts {game} {folder} --against uniform", "play games with it")]
        return [
            (f"treeplex evaluate {game} {folder}", "judge it"),
            (f"treeplex show {folder}{f' --game {game}' if named_file(str(training.game)) else ''}", "browse the policy"),
        ]


class LibraryKind(LearnerKind):
    """Learner type of a built-in ``Learner`` class, selected by name."""

    job_kind, job_class = LIBRARY, LibraryJob

    def context(self) -> AbstractContextManager[None]:
        """Limit PyTorch to one thread, since the networks are small."""
        return one_thread() if find_spec("torch") is not None else nullcontext()


def numbers_of(learner: Learner, method: str, returned: Any) -> dict[str, float]:
    """Check that a learner's method returned numbers by name, and return them.

    Raises:
        AlgorithmError: the learner returned another type.
    """
    try:
        return {str(name): float(value) for name, value in returned.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise wrong_return(learner, method, returned, 'a mapping from names to numbers, such as {"loss": 0.5}') from error


def arrays_of(learner: Learner) -> dict[str, NDArray[Any]]:
    """Check that a learner's state consists of arrays by name, and return it.

    Raises:
        AlgorithmError: the learner returned another type, or names of the job's own arrays.
    """
    returned: Any = learner.state()
    try:
        arrays = {str(name): np.asarray(array) for name, array in returned.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise wrong_return(learner, "state", returned, ARRAYS) from error
    if any(array.dtype.kind not in "biuf" for array in arrays.values()):
        raise wrong_return(learner, "state", returned, ARRAYS)
    if reserved := [name for name in arrays if name.startswith(OF_JOB)]:
        raise wrong_return(learner, "state", reserved[0], f"arrays whose names do not begin with {OF_JOB!r}, the job's own")
    return arrays


def panels_of(records: Sequence[Record], efforts: Collection[str]) -> "list[Panel]":
    """Panels of the learning curve: one per measure, against steps, without effort counts."""
    from treeplex.run.plots import Curve, Panel

    panels = []
    for number, name in enumerate(dict.fromkeys(name for entry in records for name in entry.measures if name not in efforts)):
        shown = [record for record in records if name in record.measures]
        curve = Curve([entry.done for entry in shown], [entry.measures[name] for entry in shown], number=number)
        low = all(value > 0 for value in curve.heights)
        panels.append(Panel(name.replace("_", " ").capitalize(), [curve], logarithmic=low))
    return panels


def check_limits(name: str, student: Learner, settings: Settings) -> None:
    """Check that a learner counts the effort that limits training, since training would otherwise never end.

    Raises:
        SpecError: the learner does not count it.
    """
    for effort in student.effort():
        if getattr(settings, effort, 0) and effort not in student.countable:
            raise uncounted(name, effort, student.countable)


def uncounted(name: str, effort: str, countable: Sequence[str]) -> SpecError:
    """Create the error for a limit on an effort that is not counted; the message names the available limits."""
    others = ", ".join([*(f"--{counted}" for counted in countable if counted != effort), "steps"])
    return SpecError(f"{name} does not count {effort} with these settings; limit it by {others} or --seconds")


def number_text(value: float) -> str:
    """Format a number; counts are shown as integers."""
    return f"{value:,.0f}" if value.is_integer() and value else f"{value:.3e}"


def place_of(made: type[Learner]) -> Path:
    """The file of a class; its name if it has no file, as in an interactive session."""
    try:
        return Path(inspect.getsourcefile(made) or made.__name__)
    except (OSError, TypeError):
        return Path(made.__name__)


def is_learner(thing: object) -> TypeGuard[type[Learner]]:
    """Whether an object is a learner class."""
    return inspect.isclass(thing) and issubclass(thing, Learner) and thing is not Learner


LEARNER = ObjectKind("learner", "MyLearner", "class derived from treeplex.learn.Learner", is_learner, is_learner)
"""Description, in messages, of the object loaded from a file."""


def custom_learner(learner: object) -> LearnerKind | None:
    """The learner type for a class or for ``file.py:NAME``; None for other names.

    Raises:
        SpecError: the file or class does not exist, or the class is not a learner.
    """
    if is_learner(learner):
        return LearnerKind(learner, learner.__name__)
    if not isinstance(learner, str):
        raise SpecError(f"a learner is a name, file.py:NAME, or a class derived from treeplex.learn.Learner, not {learner!r}")
    if not is_user_spec(learner):
        return None
    made, spec = user_source(learner, LEARNER)
    if spec.parameters:
        raise SpecError(f"{learner} has parameters; give settings with --set instead")
    if not is_learner(made):
        raise SpecError(f"{learner} is not a learner; derive it from treeplex.learn.Learner")
    return LearnerKind(made, f"{spec.name}:{made.__name__}" if spec.name.endswith(".py") else spec.name)
