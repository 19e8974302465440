"""Base class of custom learners: a step method gets a run folder, a learning curve, progress, resuming and settings."""

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import Settings, setting
from treeplex.base.workers.executor import Executor, make_executor
from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game


class Learner(ABC):
    """Learns a policy of a game, a step at a time.

    A derived class names its settings class and implements four methods. ``treeplex train file.py:NAME GAME --out DIR`` and
    ``tp.train(game, NAME, out=...)`` run it.

    Attributes:
        settings_class: class of the settings, a frozen dataclass derived from :class:`treeplex.base.settings.Settings`.
            ``steps`` is the length of a training run, ``seed`` seeds :attr:`generator`, and ``every`` is the number of steps
            between measurements (ten per power of ten if absent).
        presets: changes to the settings by preset name; ``recipe``, the settings unchanged, always exists.
        source: the paper it implements.
        game: the rules.
        settings: the training settings.
        generator: random number generator; saved and restored automatically.
        spreads: whether its work runs on :attr:`executor`, so that it accepts ``--workers`` and ``--ray``.
        executor: runs its jobs; this process by default.
    """

    settings_class: ClassVar[type[Settings]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    source: ClassVar[str] = ""
    spreads: ClassVar[bool] = False

    def __init__(self, game: Game, settings: Any) -> None:
        """Create the learner; a class that overrides this calls it first.

        Raises:
            GameError, AlgorithmError: a game that it cannot learn.
        """
        self.game, self.settings = game, settings
        self.generator = np.random.default_rng(getattr(settings, "seed", 0))
        self.executor = make_executor("inline")

    @cached_property
    def compiled(self) -> CompiledGame:
        """The compiled game, compiled on first use."""
        return compile_game(self.game)

    @property
    def identity(self) -> str:
        """Identity of the game; a training run resumes only on the same game."""
        return self.compiled.identity

    def spread_over(self, executor: Executor, spec: str) -> None:
        """Send jobs to workers, which load the game from its spec; called before the first step."""
        self.executor = executor

    @abstractmethod
    def step(self) -> Mapping[str, float] | None:
        """Learn for one step, of at most about a second; returns numbers for progress and records, such as a loss."""

    @abstractmethod
    def policy(self) -> Policy | NeuralPolicy:
        """The current policy, on :attr:`compiled` or on the rules; it is evaluated and written to the folder."""

    @property
    def costly(self) -> bool:
        """Whether :meth:`policy` is slow; if so, the folder holds the last evaluated policy until the training stops."""
        return False

    @abstractmethod
    def state(self) -> Mapping[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs to continue bit for bit; :attr:`generator` is saved separately."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """

    def effort(self) -> Mapping[str, int]:
        """Work done so far, for every record: ``nodes`` (histories visited) and ``episodes`` (traversals or playthroughs).

        Settings of the same names are budgets: training stops after the step that reaches one of these limits, if it is above
            0.
        """
        return {}

    @property
    def countable(self) -> Sequence[str]:
        """Names of :meth:`effort` that it counts under its settings; a budget on another one is rejected before training."""
        return tuple(self.effort())

    def measure(self) -> Mapping[str, float]:
        """Measurements for a record, besides a step's numbers: by default exploitability of :meth:`policy`, averaged over
        players."""
        policy = learned_policy(self)
        judged = policy.on(self.compiled) if isinstance(policy, NeuralPolicy) else policy
        return {"exploitability": judge(self.compiled, judged).exploitability}


def learned_policy(learner: Learner) -> Policy | NeuralPolicy:
    """A learner's policy.

    Raises:
        AlgorithmError: its method ``policy`` returns something else.
    """
    policy = learner.policy()
    if not isinstance(policy, Policy | NeuralPolicy):
        raise wrong_return(learner, "policy", policy, "a treeplex.Policy, such as Policy(self.compiled, probabilities)")
    return policy


def wrong_return(learner: Learner, method: str, returned: object, wanted: str) -> AlgorithmError:
    """The error of a method that returns something else than is wanted."""
    return AlgorithmError(f"{type(learner).__name__}.{method}() returned {reprlib.repr(returned)}; return {wanted}")


__all__ = ["Learner", "Settings", "setting"]
