"""Types of named agents: source, settings and factory."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.settings import Settings, declared, setting
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent


@dataclass(frozen=True)
class AgentSettings(Settings):
    """Empty settings, for agents that have none."""


@dataclass(frozen=True)
class ThinkingSettings(AgentSettings):
    """Settings shared by agents that search.

    A search stops at its iteration limit or its time limit, whichever comes first.
    """

    iterations: int = setting(1000, "iterations of each search", low=1)
    think: float | None = setting(None, "seconds per decision; none: no time limit", above=0)


class AgentKind(ABC):
    """A type of agents, with a name and settings.

    Built-in agent types are defined in the files of this package and listed in :mod:`treeplex.search.named_agents.registry`. A
    custom type is specified by its file, ``my.py:MyKind(key=value)``. A type whose agents contain other named agents is
    constructed with a function that creates those.

    Attributes:
        name: the agent's name, such as ``libratus`` in ``libratus(blueprint=runs/leduc)``.
        text: one-line description.
        source: the paper or system.
        plays: short description of the supported games.
        example: an example with settings.
        settings: the class of its settings.
        external: whether its agents run a program outside this process. Matches then have no workers, and neither a folder nor
            the browser starts them.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    source: ClassVar[str]
    plays: ClassVar[str]
    example: ClassVar[str]
    settings: ClassVar[type[AgentSettings]] = AgentSettings
    external: ClassVar[bool] = False

    def takes_time(self, game: Game) -> bool:
        """Whether its searches in a game support a time limit, the setting ``think``."""
        return "think" in declared(self.settings)

    @abstractmethod
    def make(self, game: Game, settings: Any, generator: np.random.Generator) -> Agent:
        """Create an agent that is ready to play.

        Args:
            game: the game.
            settings: validated settings, an instance of :attr:`settings`.
            generator: random generator for its draws.

        Raises:
            SpecError, PolicyError, FileError, GameError: the agent cannot play this game, or a file is for another game. The
                one-line message says what is supported.
        """
