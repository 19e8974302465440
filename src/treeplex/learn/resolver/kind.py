"""The named agent ``resolver``."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.agents.street_settings import StreetSettings
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.leaves.street_end_values import StreetEndValues
from treeplex.holdem.search.street_solving import StreetSolving
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.study.preflop_charts import chart_book
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.resolving.resolved import RESOLVING

DEFAULTS = StreetSolving(start=1, bets=("50%,100%", "66%", "50%,100%,a"), iterations=500)
"""A river needs about 400 iterations for 0.1% of the pot, which take less than a tenth of a second."""


@dataclass(frozen=True, kw_only=True)
class ResolverSettings(StreetSettings):
    """Settings of ``resolver``."""

    chart: str = setting("", "preflop chart: 10bb to 300bb, or a .spot file (empty: the two nearest, mixed)")
    net: str = setting(
        "hands", "network for the end of the flop: hands (the shipped one), or a file of train hand-values with at=end"
    )
    flop: str = setting(DEFAULTS.bets[0], "bet sizes on a solved flop, such as [50%;a]")
    turn: str = setting(DEFAULTS.bets[1], "bet sizes on a solved turn")
    river: str = setting(DEFAULTS.bets[2], "bet sizes on a solved river")
    later: str = setting(DEFAULTS.later, "bet sizes on the river within a solve of the turn")
    iterations: int = setting(DEFAULTS.iterations, "maximum number of iterations per solve", low=1)
    gadget: str = setting(DEFAULTS.gadget, "gadget for river solves, which guarantees the turn's values", choices=RESOLVING[:3])


class Resolver(AgentKind):
    """Plays heads-up no-limit hold'em with all 1,326 hands on every street, without a blueprint."""

    name = "resolver"
    text = "plays preflop by the nearest charts, solves flops with a value network, and turns and rivers to the end"
    source = "Moravčík et al. 2017 (DeepStack); Brown et al. 2020 (ReBeL)"
    plays = "two-player no-limit holdem"
    example = "resolver(think=2)"
    settings = ResolverSettings

    def make(self, game: Game, settings: ResolverSettings, generator: np.random.Generator) -> Agent:
        from treeplex.learn.hand_values.shipped import HANDS

        solving = settings.solving(1)
        return charted_agent(
            self.name,
            game,
            solving,
            settings.think,
            generator,
            chart=settings.chart,
            net=None if settings.net == HANDS else settings.net,
        )


def charted_agent(
    name: str,
    game: Game,
    solving: StreetSolving,
    think: float | None,
    generator: np.random.Generator,
    *,
    chart: str = "",
    net: str | None = None,
) -> WholeHoldemAgent:
    """An agent that plays preflop charts, and solves flops with a network and later streets to the end of the hand.

    Args:
        name: its name, for errors.
        game: the table.
        solving: settings of street solving.
        think: seconds per decision; None for no limit.
        generator: random generator.
        chart: a preflop chart; empty for the two nearest, mixed.
        net: a network for the end of the flop; None for the shipped one.

    Raises:
        SpecError: the agent does not play this game, or the chart or network does not fit.
    """
    from treeplex.learn.hand_values.inference import hand_function
    from treeplex.learn.hand_values.settings import END
    from treeplex.learn.hand_values.shipped import shipped_hand_net
    from treeplex.learn.resolver.preflop import PreflopCharts, nearest_books

    public = game.public
    if not isinstance(public, PublicHoldem) or public.rules.format != HOLDEM or public.players != 2:
        raise SpecError(f"in full-game hold'em {name} plays two-player holdem with 52 cards, not {game}")
    if public.rules.rake.rate > 0:
        raise SpecError(f"{name} does not support rake; leave the rake out")
    if any(public.rules.antes):
        raise SpecError(f"{name} has no preflop charts with antes; leave the ante out")
    books = [(chart_book(chart), 1.0)] if chart else nearest_books(public)
    function = hand_function(net or shipped_hand_net("flop", END), at=END, street="flop")
    exact = HandValues(hand_function(shipped_hand_net("turn")), threads=solving.threads)
    leaf = StreetEndValues(function, exact=exact, threads=solving.threads)
    agent = WholeHoldemAgent(public, PreflopCharts(public, books, generator), solving, generator, leaf=leaf)
    agent.think = think
    agent.about = f"preflop by the chart for {' and '.join(f'{book.stack:g}' for book, _ in books)} big blinds"
    return agent
