"""Agents by name, and the agent that a text names."""

from collections.abc import Mapping
from dataclasses import MISSING
from functools import cache

import numpy as np

from treeplex.errors import SpecError
from treeplex.evaluate.match.agents import Agent
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.games.base import Game
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.agents.kind import AgentKind
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.search.user_agents import load_agent
from treeplex.settings import declared
from treeplex.spec import nearest, parse_spec


@cache
def agents() -> Mapping[str, AgentKind]:
    """The agents that come with the library, by name."""
    from treeplex.runs.agents.best_response import LearnedResponse
    from treeplex.runs.agents.lbr import LocalBest
    from treeplex.runs.agents.tables import Blueprint, Uniform

    found: list[AgentKind] = [Uniform(), Blueprint(), LocalBest(agent), LearnedResponse()]
    return {each.name: each for each in found}


def agent(
    text: str, game: str | Game | Spot | CompiledGame | PlayedGame, *, think: float | None = None, seed: int | None = None
) -> Agent:
    """The agent that a text names, ready to play.

    Args:
        text: ``name`` or ``name(key=value, ...)`` of :func:`agents`, or ``file.py:NAME`` of one's own.
        game: what it plays; agents that are to meet need the same :class:`PlayedGame`.
        think: seconds for each decision; None for what its own settings say.
        seed: of its draws; None for another play each time.

    Raises:
        SpecError: no such agent or parameter, or a value that it does not take.
        GameError, PolicyError, FileError: it cannot play this game.
    """
    played = PlayedGame.of(game)
    generator = np.random.default_rng(seed)
    if is_user_spec(text):
        from treeplex.search.settings import PlaythroughSettings

        return load_agent(text, played.public, PlaythroughSettings, generator)
    spec = parse_spec(text)
    if spec.name not in agents():
        raise SpecError(f"unknown agent {spec.name!r}{nearest(spec.name, agents())}; see treeplex agents")
    kind = agents()[spec.name]
    given = kind.settings.read_changes(dict(spec.parameters) | ({} if think is None else {"think": think}))
    missing = [name for name, each in declared(kind.settings).items() if each.default is MISSING and name not in given]
    if missing:
        raise SpecError(f"agent {spec.name} needs {', '.join(missing)}; write it like {kind.example}")
    return kind.make(played, kind.settings(**given), generator)
