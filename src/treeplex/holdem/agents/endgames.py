"""Whole hold'em: a blueprint, then turns and rivers solved to the end."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.blueprint.agent import HoldemBlueprintAgent
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.search.charted import ChartedAgent
from treeplex.holdem.search.street_solving import PROMISES, StreetSolving, check_sizes
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.study.preflop_charts import chart_book
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.named_agents.kind import AgentKind, ThinkingSettings
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.translation.agent import TranslatedAgent

DEFAULTS = StreetSolving()
LATER = HOLDEM_STREETS[1:]


@dataclass(frozen=True, kw_only=True)
class EndgameSettings(ThinkingSettings):
    """Settings for endgame solving."""

    blueprint: str = setting(help="the folder or file of a blueprint, of treeplex train blueprint")
    chart: str = setting(
        "", "a preflop chart that plays before the flop as far as it goes: 20bb or a file (.spot); empty: none"
    )
    start: str = setting("turn", "the first street that is solved; before, the blueprint plays", choices=LATER)
    flop: str = setting(DEFAULTS.later, "bets where the flop is solved, such as [50%;a]")
    turn: str = setting(DEFAULTS.bets[0], "bets on the turn where it is solved")
    river: str = setting(DEFAULTS.bets[1], "bets on the river where it is solved")
    later: str = setting(DEFAULTS.later, "bets on later streets within a solve")
    raises: str = setting(DEFAULTS.raises, "raises, unless the time is too short for them")
    add_allin: float = setting(DEFAULTS.add_allin, "all-in is offered where it is at most so many pots", low=0)
    force_allin: float = setting(DEFAULTS.force_allin, "a bet that leaves less than so many pots behind is all-in", low=0)
    iterations: int = setting(DEFAULTS.iterations, "iterations of each solve at most", low=1)
    think: float | None = setting(2.0, "seconds for each decision; none: as long as the iterations take", above=0)
    gadget: str = setting(DEFAULTS.gadget, "what stands in front of solves that have something to keep", choices=RESOLVING[:3])
    promises: str = setting(
        DEFAULTS.promises,
        "what a hand's first solve keeps: what hands could get against the blueprint, get by it, or only ranges",
        choices=PROMISES,
    )
    method: str = setting(DEFAULTS.method, "how streets are solved", choices=METHODS, listed=METHOD_NAMES)
    drop: float = setting(DEFAULTS.drop, "hands left out: less likely than this, compared with the likeliest", low=0, below=1)
    threads: int = setting(DEFAULTS.threads, "threads that share the boards of a solve", low=1)

    def check(self) -> None:
        """Refuse bets that are no sizes, those of streets before ``start`` as well."""
        super().check()
        for name in (*LATER, "later", "raises"):
            check_sizes(name, getattr(self, name), raises=name == "raises")


class Endgames(AgentKind):
    """Plays whole hold'em."""

    name = "endgames"
    text = "plays a blueprint of whole hold'em, and solves turn and river to the end with real bet sizes"
    source = "Brown and Sandholm 2017, 2018 (Libratus, Modicum)"
    plays = "holdem of two players without limit"
    example = "endgames(blueprint=runs/holdem,iterations=100)"
    settings = EndgameSettings

    def make(self, game: Game, settings: EndgameSettings, generator: np.random.Generator) -> Agent:
        bets = {"flop": settings.flop, "turn": settings.turn, "river": settings.river}
        solving = StreetSolving(
            start=HOLDEM_STREETS.index(settings.start),
            bets=tuple(bets[street] for street in LATER[LATER.index(settings.start) :]),
            later=settings.later,
            raises=settings.raises,
            add_allin=settings.add_allin,
            force_allin=settings.force_allin,
            iterations=settings.iterations,
            gadget=settings.gadget,
            method=settings.method,
            threads=settings.threads,
            drop=settings.drop,
            promises=settings.promises,
        )
        return whole_agent(game, settings.blueprint, solving, settings.think, generator, settings.chart)


def whole_agent(
    game: Game,
    blueprint: str,
    solving: StreetSolving,
    think: float | None,
    generator: np.random.Generator,
    chart: str = "",
) -> WholeHoldemAgent:
    """The agent of whole hold'em with a blueprint from a file, and a chart for what comes before the flop.

    Raises:
        SpecError, GameError: it cannot play this game.
        FileError: the file cannot be read.
    """
    guide = blueprint_agent(game, blueprint, generator)
    if not isinstance(game.public, PublicHoldem):
        raise SpecError(f"this agent plays holdem, not {game}")
    if chart:
        guide = ChartedAgent(game.public, guide, chart_book(chart), generator)
    found = WholeHoldemAgent(game.public, guide, solving, generator)
    found.think = think
    return found


def blueprint_agent(game: Game, file: str, generator: np.random.Generator) -> Agent:
    """The agent that plays a blueprint of whole hold'em; at a table with other bets it hears and plays them as its own.

    Raises:
        SpecError: the table plays something else, or with other stacks or blinds.
        FileError: the file cannot be read.
    """
    found = HoldemBlueprint.load(file)
    table = check_blueprint(game, file, found)
    if found.game.rules == table.rules:
        return HoldemBlueprintAgent(table, found, generator)
    inner = HoldemBlueprintAgent(PublicHoldem(found.game.rules), found, generator)
    return TranslatedAgent(table, inner, generator, mapping="likelier")


def check_blueprint(game: Game, file: str, found: HoldemBlueprint) -> PublicHoldem:
    """The game of a table, if a blueprint fits it, bets aside.

    Raises:
        SpecError: the table plays something else, or with other players, stacks or blinds.
    """
    own, table = found.game.rules, game.public
    if not isinstance(table, PublicHoldem):
        raise SpecError(f"{file} is a blueprint of {found.game}, and cannot play {game}")
    theirs = table.rules
    for what in ("format", "stacks", "antes", "rake"):
        if getattr(own, what) != getattr(theirs, what):
            raise other_table(game, file, found, f"other {what}")
    if own.betting.root != theirs.betting.root:
        raise other_table(game, file, found, "other blinds or another button")
    return table


def other_table(game: Game, file: str, found: HoldemBlueprint, what: str) -> SpecError:
    """The error for a blueprint of another game than the table's, which differs in ``what``."""
    return SpecError(
        f"{file} is a blueprint of {found.game}, and the table plays {game}, with {what}: play {found.game}, or train another"
    )
