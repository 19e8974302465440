"""Agents that do not search: a policy table, and all actions alike."""

from dataclasses import dataclass

import numpy as np

from treeplex.evaluate.match.agents import Agent, TableAgent
from treeplex.forms.policies.tabular import Policy
from treeplex.runs.agents.kind import AgentKind, AgentSettings
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.judge import as_policy
from treeplex.settings import setting


@dataclass(frozen=True)
class BlueprintSettings(AgentSettings):
    """Which policy is played."""

    file: str = setting(help="a run folder or policy file")


class Blueprint(AgentKind):
    """A policy as it is."""

    name = "blueprint"
    text = "plays a policy as it is"
    source = "any solver"
    plays = "games with public states"
    example = "blueprint(file=runs/leduc)"
    settings = BlueprintSettings

    def make(self, game: PlayedGame, settings: BlueprintSettings, generator: np.random.Generator) -> Agent:
        return TableAgent(game.public, as_policy(game.compiled, settings.file), generator)


class Uniform(AgentKind):
    """All actions alike."""

    name = "uniform"
    text = "plays all actions alike"
    source = ""
    plays = "games with public states"
    example = "uniform"

    def make(self, game: PlayedGame, settings: AgentSettings, generator: np.random.Generator) -> Agent:
        return TableAgent(game.public, Policy.uniform(game.compiled), generator)
