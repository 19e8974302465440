"""Kinds of named agents: source, settings and factory."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.settings import Settings, declared, setting
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent


@dataclass(frozen=True)
class AgentSettings(Settings):
    """Settings of agents without settings."""


@dataclass(frozen=True)
class ThinkingSettings(AgentSettings):
    """Settings shared by agents that search.

    A search stops at its limit of iterations or of time, whichever comes first.
    """

    iterations: int = setting(1000, "iterations of each search", low=1)
    think: float | None = setting(None, "seconds per decision; none: no time limit", above=0)


class AgentKind(ABC):
    """An agent with a name and settings.

    A file in this package defines a kind, and :mod:`treeplex.search.named_agents.registry` lists it; a custom kind is named
    by its file, ``my.py:MyKind(key=value)``. A kind whose agents contain other named agents is constructed with a function
    that makes them.

    Attributes:
        name: as in ``libratus(blueprint=runs/leduc)``.
        text: one-line description.
        source: the paper or system.
        plays: supported games, in a few words.
        example: an example with parameters.
        settings: its parameters.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    source: ClassVar[str]
    plays: ClassVar[str]
    example: ClassVar[str]
    settings: ClassVar[type[AgentSettings]] = AgentSettings

    def takes_time(self, game: Game) -> bool:
        """Whether its searches of a game support a time limit, the setting ``think``."""
        return "think" in declared(self.settings)

    @abstractmethod
    def make(self, game: Game, settings: Any, generator: np.random.Generator) -> Agent:
        """An agent ready to play.

        Args:
            game: the game.
            settings: validated settings of type :attr:`settings`.
            generator: random generator of its draws.

        Raises:
            SpecError, PolicyError, FileError, GameError: it cannot play this game, or a file is for another game; one line that
                says what it supports.
        """
