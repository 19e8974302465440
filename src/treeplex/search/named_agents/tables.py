"""Agents that do not search: they play a given policy or the uniform policy."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import GameError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent, TableAgent, UniformAgent
from treeplex.search.named_agents.blueprint_file import blueprint_policy
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class BlueprintSettings(AgentSettings):
    """Policy of the agent."""

    file: str = setting(
        help="run folder or policy file, possibly for a game with fewer bet sizes; for a hold'em spot, its solution"
    )


class Blueprint(AgentKind):
    """Plays a policy without search."""

    name = "blueprint"
    text = "plays a policy without search"
    source = "any solver"
    plays = "games with public states, and hold'em spots"
    example = "blueprint(file=runs/leduc)"
    settings = BlueprintSettings

    def make(self, game: Game, settings: BlueprintSettings, generator: np.random.Generator) -> Agent:
        custom: Agent | None = game.public.policy_agent(settings.file, generator)
        return custom or TableAgent(game.public, blueprint_policy(game, settings.file), generator)


class Uniform(AgentKind):
    """Plays the uniform policy."""

    name = "uniform"
    text = "plays the uniform policy"
    source = ""
    plays = "any game with public states"
    example = "uniform"

    def make(self, game: Game, settings: AgentSettings, generator: np.random.Generator) -> Agent:
        if game.public.has_tables:
            with suppress(GameError, SpecError):  # too large for a table
                return TableAgent(game.public, Policy.uniform(compile_game(game)), generator)
        return UniformAgent(game.public, generator)
