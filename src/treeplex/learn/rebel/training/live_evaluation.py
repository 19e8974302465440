"""Exploitability during training on small games, from a few playthroughs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.public import Chance, Decision, PublicTree
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings

PLAYTHROUGHS = 32
LARGEST = 20_000
"""Maximum number of public nodes in games that are evaluated by default."""


class _EvaluationCancelled(Exception):  # noqa: N818 (no error)
    """Raised when a stop is requested during an evaluation."""


class Judge(ABC):
    """Evaluates networks at intervals during training.

    Attributes:
        settings: search settings of the evaluation.
        every: seconds between evaluations; None to spend at most a fraction :attr:`share` of the time on them; 0 for no
            evaluations.
        stop: function polled during an evaluation, which is cancelled if it returns true.
    """

    first_seconds: ClassVar[float] = 20.0
    share: ClassVar[float] = 0.05
    """Seconds before the first evaluation, and the default maximum fraction of time for evaluations."""

    def __init__(self, settings: PlaythroughSettings, every: float | None) -> None:
        self.stop: Callable[[], bool] = lambda: False
        self.settings, self.every = settings, every
        self._next, self._judged = every or self.first_seconds, False

    def due(self, trainer: RebelTrainer, seconds: float, *, at_end: bool) -> dict[str, Any]:
        """Exploitability, N and T if an evaluation is due, otherwise empty; at the end of training an evaluation is due only if
        there was an earlier one."""
        if self.every == 0.0 or trainer.steps == 0 or self.stop() or (seconds < self._next and not (at_end and self._judged)):
            return {}
        began = perf_counter()
        try:
            exploitability = self.exploitability(trainer)
        except _EvaluationCancelled:
            return {}
        self._judged = True
        self._next = seconds + (self.every or max(self.first_seconds, (perf_counter() - began) / self.share))
        return {
            "exploitability": exploitability,
            "playthroughs": self.settings.playthroughs,
            "iterations": self.settings.iterations,
        }

    def watch(self, searched: int) -> None:
        """Cancel the evaluation if a stop is requested."""
        if self.stop():
            raise _EvaluationCancelled

    @abstractmethod
    def exploitability(self, trainer: RebelTrainer) -> float:
        """Exploitability of searches with the trainer's networks; calls :meth:`watch`."""


class RunJudge(Judge):
    """Evaluates networks for public trees by playthroughs."""

    def __init__(self, game: str, rules: PublicTree, settings: RebelSettings, every: float | None) -> None:
        searching = PlaythroughSettings(
            method=settings.method,
            iterations=settings.iterations,
            depth=settings.depth,
            rounds=settings.rounds,
            endgame=settings.endgame,
            playthroughs=PLAYTHROUGHS,
        )
        super().__init__(searching, 0.0 if every is None and public_nodes(rules, LARGEST) > LARGEST else every)
        self._game, self._rules = game, rules
        self._compiled: CompiledGame | None = None

    def exploitability(self, trainer: RebelTrainer) -> float:
        if self._compiled is None:
            self._compiled = compile_game(self._game)
        generator = np.random.default_rng(trainer.settings.seed)
        policy = playthrough_policy(self._compiled, self._rules, trainer.leaf, self.settings, generator, watch=self.watch)
        return judge(self._compiled, policy).exploitability


def public_nodes(rules: PublicTree, most: int) -> int:
    """Number of public nodes of a game; counting stops at ``most`` + 1."""
    stack: list[Hashable] = [rules.root]
    count = 0
    while stack and count <= most:
        node, count = stack.pop(), count + 1
        visited = rules.visit(node)
        if isinstance(visited, Chance):
            stack.extend(rules.child(node, label) for label, _ in visited.outcomes)
        elif isinstance(visited, Decision):
            labels = list(visited.actions)[:1] if visited.private else visited.actions
            stack.extend(rules.child(node, label) for label in labels)
    return count
