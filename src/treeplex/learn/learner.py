"""Custom learners: a class with a step gets a folder, a curve, progress, resuming and settings."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import Settings, setting
from treeplex.base.workers.executor import Executor, make_executor
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game


class Learner(ABC):
    """Learns a policy of a game, a step at a time.

    A class that derives it says what its settings are and writes four methods. ``treeplex train file.py:NAME GAME --out DIR``
    and ``tp.train(game, NAME, out=...)`` run it.

    Attributes:
        settings_class: the class of its settings, a frozen dataclass that derives :class:`treeplex.base.settings.Settings`. Of
            these, ``steps`` say how long a training is, ``seed`` seeds :attr:`generator`, and ``every`` says after how many
            steps it is measured; without ``every`` ten times per power of ten.
        presets: changes to the settings by name, besides ``recipe``, the settings as they are.
        source: the paper that it is from.
        game: the rules.
        settings: what was asked for.
        generator: of random numbers; saved and restored for it.
        spreads: whether it has its work done by :attr:`executor`, so that ``--workers`` and ``--ray`` are for it.
        executor: of its jobs; this process unless others are asked for.
    """

    settings_class: ClassVar[type[Settings]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    source: ClassVar[str] = ""
    spreads: ClassVar[bool] = False

    def __init__(self, game: Game, settings: Any) -> None:
        """Start; a class that overrides it calls this one first.

        Raises:
            GameError, AlgorithmError: a game that it cannot learn.
        """
        self.game, self.settings = game, settings
        self.generator = np.random.default_rng(getattr(settings, "seed", 0))
        self.executor = make_executor("inline")

    @cached_property
    def compiled(self) -> CompiledGame:
        """The game, compiled when it is first asked for."""
        return compile_game(self.game)

    @property
    def identity(self) -> str:
        """What tells the game from others; a training resumes only on the same."""
        return self.compiled.identity

    def spread_over(self, executor: Executor, spec: str) -> None:
        """Have jobs done by workers, which know the game by its spec; called before the first step."""
        self.executor = executor

    @abstractmethod
    def step(self) -> Mapping[str, float] | None:
        """Learn for one step, of a second or so at most; numbers for the live line and the records, such as a loss."""

    @abstractmethod
    def policy(self) -> Policy | NeuralPolicy:
        """The policy as learned so far, of :attr:`compiled` or of the rules; it is judged and written into the folder."""

    @property
    def costly(self) -> bool:
        """Whether :meth:`policy` takes long; then a folder has the one last judged, until the training stops."""
        return False

    @abstractmethod
    def state(self) -> Mapping[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs to continue bit for bit, as arrays; :attr:`generator` is kept without it."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`state` returned.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """

    def effort(self) -> Mapping[str, int]:
        """How much work was done, on every record: ``nodes``, histories walked, and ``episodes``, walks or playthroughs.

        Settings of the same names are limits: a training stops after the step that reaches one above 0.
        """
        return {}

    @property
    def countable(self) -> Sequence[str]:
        """Names of :meth:`effort` that it counts with its settings; a limit of another is refused before a training begins."""
        return tuple(self.effort())

    def measure(self) -> Mapping[str, float]:
        """Numbers of a record besides those of the steps: exploitability of :meth:`policy`, the mean over players."""
        policy = self.policy()
        found = policy.on(self.compiled) if isinstance(policy, NeuralPolicy) else policy
        return {"exploitability": judge(self.compiled, found).exploitability}


__all__ = ["Learner", "Settings", "setting"]
