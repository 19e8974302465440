"""Endgame solving in full-game hold'em: early streets follow a blueprint, and turns and rivers are solved during play."""

import os
from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.agents.street_settings import DEFAULTS, StreetSettings
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.blueprint.agent import HoldemBlueprintAgent
from treeplex.holdem.blueprint.policy import HoldemBlueprint, game_of_blueprint, is_holdem_blueprint
from treeplex.holdem.search.charted import ChartedAgent
from treeplex.holdem.search.street_solving import PROMISES, StreetSolving
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.study.preflop_charts import chart_book
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.run.policy_source import UNIFORM
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.translation.agent import TranslatedAgent

LATER = HOLDEM_STREETS[1:]


@dataclass(frozen=True, kw_only=True)
class EndgameSettings(StreetSettings):
    """Settings for endgame solving."""

    blueprint: str = setting(help="blueprint file, or folder written by treeplex train blueprint")
    chart: str = setting("", "preflop chart to follow for as long as it covers the line: 20bb or a .spot file (empty: none)")
    start: str = setting("turn", "first street to solve; the blueprint plays earlier streets", choices=LATER)
    promises: str = setting(
        DEFAULTS.promises,
        "values that a hand's first solve guarantees: best responses to the blueprint, the blueprint's, or none (ranges only)",
        choices=PROMISES,
    )


class Endgames(AgentKind):
    """Plays a full-game hold'em blueprint and solves endgames during play."""

    name = "endgames"
    text = "plays a full-game hold'em blueprint, and solves turns and rivers to the end with actual bet sizes"
    source = "Brown and Sandholm 2017, 2018 (Libratus, Modicum)"
    plays = "two-player no-limit holdem"
    example = "endgames(blueprint=runs/holdem,iterations=100)"
    settings = EndgameSettings

    def make(self, game: Game, settings: EndgameSettings, generator: np.random.Generator) -> Agent:
        solving = settings.solving(HOLDEM_STREETS.index(settings.start), promises=settings.promises)
        return whole_agent(game, settings.blueprint, solving, settings.think, generator, settings.chart)


def plays_blueprint(game: Game, path: str) -> bool:
    """Whether a game is full-game hold'em and a path names a blueprint.

    Raises:
        FileError: the game is full-game hold'em, and the file does not exist.
    """
    if not isinstance(game.public, PublicHoldem) or path == UNIFORM:
        return False
    if not os.path.exists(path):
        game_of_blueprint(path)  # raises an error
    return is_holdem_blueprint(path)


def whole_agent(
    game: Game,
    blueprint: str,
    solving: StreetSolving,
    think: float | None,
    generator: np.random.Generator,
    chart: str = "",
) -> WholeHoldemAgent:
    """The full-game hold'em agent with a blueprint from a file, and optionally a preflop chart.

    Raises:
        SpecError, GameError: the agent cannot play this game.
        FileError: the file cannot be read.
    """
    guide = blueprint_agent(game, blueprint, generator)
    if not isinstance(game.public, PublicHoldem):
        raise SpecError(f"this agent plays holdem, not {game}")
    if chart:
        guide = ChartedAgent(game.public, guide, chart_book(chart), generator)
    agent = WholeHoldemAgent(game.public, guide, solving, generator)
    agent.think = think
    return agent


def blueprint_agent(game: Game, file: str, generator: np.random.Generator) -> Agent:
    """The agent for a hold'em blueprint; it translates actions if the table's bet sizes differ.

    Raises:
        SpecError: the table's game, stacks or blinds differ.
        FileError: the file cannot be read.
    """
    blueprint = HoldemBlueprint.load(file)
    table = check_blueprint(game, file, blueprint)
    if blueprint.game.rules == table.rules:
        return HoldemBlueprintAgent(table, blueprint, generator)
    inner = HoldemBlueprintAgent(PublicHoldem(blueprint.game.rules), blueprint, generator)
    return TranslatedAgent(table, inner, generator, mapping="likelier")


def check_blueprint(game: Game, file: str, blueprint: HoldemBlueprint) -> PublicHoldem:
    """Return the table's game, after checking that it matches the blueprint in everything except bet sizes.

    Raises:
        SpecError: the table's game, players, stacks or blinds differ.
    """
    blueprint_rules, table = blueprint.game.rules, game.public
    if not isinstance(table, PublicHoldem):
        raise SpecError(f"{file} is a blueprint of {blueprint.game} and cannot play {game}")
    theirs = table.rules
    for what in ("format", "stacks", "antes", "rake"):
        if getattr(blueprint_rules, what) != getattr(theirs, what):
            raise other_table(game, file, blueprint, f"other {what}")
    if blueprint_rules.betting.root != theirs.betting.root:
        raise other_table(game, file, blueprint, "other blinds or another button")
    return table


def other_table(game: Game, file: str, blueprint: HoldemBlueprint, what: str) -> SpecError:
    """The error for a blueprint whose game differs from the table's in the field ``what``."""
    return SpecError(
        f"{file} is a blueprint of {blueprint.game}, but the table plays {game}, with {what}; play {blueprint.game}, or train "
        "one for the table"
    )
