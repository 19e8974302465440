"""Exploitability of a network while it trains: a few playthroughs now and then, in small games."""

from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.public import Chance, Decision, PublicTree
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.search.play_distribution import averaged_policy
from treeplex.search.settings import PlaythroughSettings

PLAYTHROUGHS = 32
SHARE = 0.05
"""The most of a training's time that judging takes unless asked for more."""
FIRST_SECONDS = 20.0
LARGEST = 20_000
"""Public nodes of a game that is judged without being asked for."""


class _Stopped(Exception):  # noqa: N818 (no error)
    """Ctrl-C was pressed, or the judgement takes longer than was meant."""


class Judge(Protocol):
    """Judges a training now and then.

    Attributes:
        stop: says whether to give up, asked all the time.
    """

    stop: Callable[[], bool]

    def due(self, trainer: RebelTrainer, seconds: float, *, at_end: bool) -> dict[str, Any]:
        """Exploitability with N and T, if it is time for it; else nothing."""
        ...


class RunJudge:
    """Judges now and then.

    Attributes:
        every: seconds between judgements; None as often as costs :data:`SHARE` of the time; 0 never.
        stop: says whether to give up, asked all the time.
    """

    def __init__(self, game: str, rules: PublicTree, settings: RebelSettings, every: float | None) -> None:
        self.stop: Callable[[], bool] = lambda: False
        self._game, self._rules = game, rules
        self._settings = PlaythroughSettings(
            method=settings.method,
            iterations=settings.iterations,
            depth=settings.depth,
            rounds=settings.rounds,
            endgame=settings.endgame,
            playthroughs=PLAYTHROUGHS,
        )
        if every is None and public_nodes(rules, LARGEST) > LARGEST:
            every = 0.0
        self.every = every
        self._next = every or FIRST_SECONDS
        self._compiled: CompiledGame | None = None
        self._at: float | None = None

    def due(self, trainer: RebelTrainer, seconds: float, *, at_end: bool) -> dict[str, Any]:
        """Exploitability with N and T, if it is time for it (at the end it is, once there was a time before); else nothing."""
        if self.every == 0.0 or trainer.steps == 0 or self.stop():
            return {}
        if seconds < self._next and not (at_end and self._at is not None):
            return {}
        began = perf_counter()
        try:
            found = self._judged(trainer)
        except _Stopped:
            return {}
        cost = perf_counter() - began
        self._at = seconds
        self._next = seconds + (self.every or max(FIRST_SECONDS, cost / SHARE))
        return {"exploitability": found, "playthroughs": PLAYTHROUGHS, "iterations": self._settings.iterations}

    def _judged(self, trainer: RebelTrainer) -> float:
        def watch(searched: int) -> None:
            if self.stop():
                raise _Stopped

        if self._compiled is None:
            self._compiled = compile_game(self._game)
        generator = np.random.default_rng(trainer.settings.seed)
        policy = averaged_policy(self._compiled, self._rules, trainer.leaf, self._settings, generator, watch=watch)
        return judge(self._compiled, policy).exploitability


def public_nodes(rules: PublicTree, most: int) -> int:
    """How many public nodes a game has, counted no further than ``most`` + 1."""
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
