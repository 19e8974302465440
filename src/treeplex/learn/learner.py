"""Base class for custom learners, which provides run folders, learning curves, progress, resuming and settings."""

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
    """Learns a policy for a game, one step at a time.

    A derived class names its settings class and implements four methods. ``treeplex train file.py:NAME GAME --out DIR`` and
    ``tp.train(game, NAME, out=...)`` run it.

    Attributes:
        settings_class: settings class, a frozen dataclass derived from :class:`treeplex.base.settings.Settings`.
            ``steps`` is the length of a training run, ``seed`` seeds :attr:`generator`, and ``every`` is the number of steps
            between measurements (default: ten measurements per power of ten).
        presets: changes to the settings by preset name; ``recipe``, the settings unchanged, always exists.
        source: the paper that the class implements.
        game: the rules.
        settings: the training settings.
        generator: random number generator; saved and restored automatically.
        spreads: whether it runs jobs on :attr:`executor`, and so accepts ``--workers`` and ``--ray``.
        executor: executor that runs its jobs, by default in this process.
    """

    settings_class: ClassVar[type[Settings]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    source: ClassVar[str] = ""
    spreads: ClassVar[bool] = False

    def __init__(self, game: Game, settings: Any) -> None:
        """Create the learner; an override must call ``super().__init__`` first.

        Raises:
            GameError, AlgorithmError: the class does not support the game.
        """
        self.game, self.settings = game, settings
        self.generator = np.random.default_rng(getattr(settings, "seed", 0))
        self.executor = make_executor("inline")

    @cached_property
    def compiled(self) -> CompiledGame:
        """The game, compiled on first use."""
        return compile_game(self.game)

    @property
    def identity(self) -> str:
        """Identity of the game; a training run resumes only on the same game."""
        return self.compiled.identity

    def spread_over(self, executor: Executor, spec: str) -> None:
        """Use an executor, whose workers load the game from its spec; called before the first step."""
        self.executor = executor

    @abstractmethod
    def step(self) -> Mapping[str, float] | None:
        """Run one training step, of at most about a second; returns numbers for progress and records, such as a loss."""

    @abstractmethod
    def policy(self) -> Policy | NeuralPolicy:
        """The current policy, for :attr:`compiled` or for the rules, which is evaluated and written to the folder."""

    @property
    def costly(self) -> bool:
        """Whether :meth:`policy` is slow; if so, the folder contains the last evaluated policy until training stops."""
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
        """Effort so far, for every record: ``nodes`` (histories visited) and ``episodes`` (traversals or playthroughs).

        Settings of the same names are budgets: training stops after the step that reaches one of these limits, if it is above
        0.
        """
        return {}

    @property
    def countable(self) -> Sequence[str]:
        """Names that :meth:`effort` reports with these settings; a budget under any other name is rejected before training."""
        return tuple(self.effort())

    def measure(self) -> Mapping[str, float]:
        """Measurements for a record, in addition to a step's numbers; by default the exploitability of :meth:`policy`, averaged
        over players."""
        policy = learned_policy(self)
        judged = policy.on(self.compiled) if isinstance(policy, NeuralPolicy) else policy
        return {"exploitability": judge(self.compiled, judged).exploitability}


def learned_policy(learner: Learner) -> Policy | NeuralPolicy:
    """The policy that a learner returns.

    Raises:
        AlgorithmError: its method ``policy`` does not return a policy.
    """
    policy = learner.policy()
    if not isinstance(policy, Policy | NeuralPolicy):
        raise wrong_return(learner, "policy", policy, "a treeplex.Policy, such as Policy(self.compiled, probabilities)")
    return policy


def wrong_return(learner: Learner, method: str, returned: object, wanted: str) -> AlgorithmError:
    """Create the error for a method that returns the wrong type."""
    return AlgorithmError(f"{type(learner).__name__}.{method}() returned {reprlib.repr(returned)}; return {wanted}")


__all__ = ["Learner", "Settings", "setting"]
