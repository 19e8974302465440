"""OpenSpiel bots as named agents."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.settings import setting
from treeplex.base.spec import nearest, parse_spec
from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.openspiel import import_pyspiel, pyspiel_game_of, quiet_stderr
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.environments.guests import BotAgent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class OpenSpielSettings(AgentSettings):
    """Settings of an OpenSpiel bot."""

    bot: str = setting("uniform_random", "a registered OpenSpiel bot, with parameters in brackets")


class OpenSpiel(AgentKind):
    """An OpenSpiel bot."""

    name = "openspiel"
    text = "an OpenSpiel bot"
    source = "Lanctot et al. 2019, OpenSpiel"
    plays = "games with public states that OpenSpiel also has"
    example = "openspiel(bot=uniform_random)"
    settings = OpenSpielSettings

    def make(self, game: Game, settings: OpenSpielSettings, generator: np.random.Generator) -> Agent:
        pyspiel, spec = import_pyspiel(), parse_spec(settings.bot)
        if spec.name not in pyspiel.registered_bots():
            raise SpecError(f"OpenSpiel has no bot {spec.name!r}{nearest(spec.name, pyspiel.registered_bots())}")
        theirs = pyspiel_game_of(compile_game(game))

        def bot(player: int) -> Any:
            try:
                with quiet_stderr():
                    return pyspiel.load_bot(spec.name, theirs, player, dict(spec.parameters))
            except Exception as error:
                raise SpecError(f"OpenSpiel cannot make bot {settings.bot}: {' '.join(str(error).split())}") from error

        return BotAgent(game.public, compile_game(game), bot, generator)
