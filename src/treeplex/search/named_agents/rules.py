"""Players by fixed rules."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.by_rules import STYLES, RuleAgent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class RuleSettings(AgentSettings):
    """Whose rules."""

    style: str = setting("caller", "how it plays", choices=tuple(STYLES))


class Rules(AgentKind):
    """Somebody to beat."""

    name = "rules"
    text = "plays by fixed rules: always folds, calls or bets all, or like a rock, a regular, a station or a maniac"
    source = ""
    plays = "poker for two"
    example = "rules(style=caller)"
    settings = RuleSettings

    def make(self, game: Game, settings: RuleSettings, generator: np.random.Generator) -> Agent:
        return RuleAgent(game.public, settings.style, generator)
