"""Libratus: a blueprint at first, then nested safe solving of subgames to the end of the game."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.holdem.agents.endgames import whole_agent
from treeplex.holdem.blueprint.policy import is_holdem_blueprint
from treeplex.holdem.search.street_solving import BLUEPRINT, StreetSolving
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.common import ResolvingSettings, blueprint_for, resolving_agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.named_agents.played_game import PlayedGame
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.resolving.settings import ROUND
from treeplex.search.subgames.horizon import TO_THE_END

TURN = 2


@dataclass(frozen=True, kw_only=True)
class LibratusSettings(ResolvingSettings):
    """How Libratus plays."""

    blueprint: str = setting(help="a run folder, policy file, solved spot, or blueprint of whole hold'em")
    start: int = setting(1, "deals until it solves; before, it plays the blueprint; in whole hold'em 2 at least", low=0)
    gadget: str = "maxmargin"
    every: str = ROUND


class Libratus(AgentKind):
    """Nested safe solving."""

    name = "libratus"
    text = "plays a blueprint, and solves the last rounds again"
    source = "Brown and Sandholm 2017, 2018"
    plays = "games of two players with a public tree; hold'em spots; holdem of two players without limit"
    example = "libratus(blueprint=runs/leduc,gadget=reach-maxmargin)"
    settings = LibratusSettings

    def make(self, game: PlayedGame, settings: LibratusSettings, generator: np.random.Generator) -> Agent:
        if isinstance(game.public, PublicHoldem) and is_holdem_blueprint(settings.blueprint):
            return whole_agent(game, settings.blueprint, whole_solving(settings), settings.think, generator)
        blueprint = blueprint_for(game, settings.blueprint, settings.start)
        return resolving_agent(game, settings, generator, horizon=TO_THE_END, blueprint=blueprint, start=settings.start)


def whole_solving(settings: LibratusSettings) -> StreetSolving:
    """The same of whole hold'em, where streets are solved with the sizes of ``endgames``.

    Raises:
        SpecError: a setting that only other games have.
    """
    if settings.every != ROUND or settings.skip or settings.gadget not in RESOLVING[:3] or settings.start > 3:
        raise SpecError(
            f"in whole hold'em each street is solved once, the river at the latest: leave every and skip out, give "
            f"start=2 or 3, and gadget={' or '.join(RESOLVING[:3])}"
        )
    return StreetSolving(
        start=max(settings.start, TURN),
        iterations=settings.iterations,
        gadget=settings.gadget,
        method=settings.method,
        threads=settings.threads,
        promises=BLUEPRINT,
    )
