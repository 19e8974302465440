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
    """Settings of agents that have none."""


@dataclass(frozen=True)
class ThinkingSettings(AgentSettings):
    """What agents that search have in common.

    A search stops at its limit of iterations or of time, whichever comes first.
    """

    iterations: int = setting(1000, "iterations of each search", low=1)
    think: float | None = setting(None, "seconds for each decision; none: as long as the iterations take", above=0)


class AgentKind(ABC):
    """An agent that has a name and settings.

    One file in this package makes one, and :mod:`treeplex.search.named_agents.registry` lists it;
    one of a user's is named by its file,
    ``my.py:MyKind(key=value)``. A kind whose agents seat others by name is made with a function that makes these.

    Attributes:
        name: as in ``libratus(blueprint=runs/leduc)``.
        text: what it does, in a line.
        source: the paper or system that it comes from.
        plays: which games, in a few words.
        example: as one would write it, with parameters.
        settings: its parameters.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    source: ClassVar[str]
    plays: ClassVar[str]
    example: ClassVar[str]
    settings: ClassVar[type[AgentSettings]] = AgentSettings

    def takes_time(self, game: Game) -> bool:
        """Whether its searches of a game stop when a time is up, by its setting ``think``."""
        return "think" in declared(self.settings)

    @abstractmethod
    def make(self, game: Game, settings: Any, generator: np.random.Generator) -> Agent:
        """An agent ready to play.

        Args:
            game: what is played.
            settings: of :attr:`settings`, checked.
            generator: of its draws.

        Raises:
            SpecError, PolicyError, FileError, GameError: it cannot play this game, or a file of another game was given; one
                line that says what fits.
        """
