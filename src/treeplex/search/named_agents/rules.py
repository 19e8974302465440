"""Rule-based baseline agents."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.by_rules import STYLES, RuleAgent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class RuleSettings(AgentSettings):
    """Style of a rule-based agent."""

    style: str = setting("caller", "playing style", choices=tuple(STYLES))


class Rules(AgentKind):
    """Agent type for rule-based baselines."""

    name = "rules"
    text = "fixed rules: always folds, calls or goes all-in, or plays like a rock, a regular, a station or a maniac"
    source = ""
    plays = "two-player poker, and holdem with any number of players"
    example = "rules(style=caller)"
    settings = RuleSettings

    def make(self, game: Game, settings: RuleSettings, generator: np.random.Generator) -> Agent:
        return RuleAgent(game.public, settings.style, generator)
