"""Libratus in hold'em, with a solved spot or a full-game hold'em blueprint as its blueprint."""

import numpy as np

from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.agents.endgames import plays_blueprint, whole_agent
from treeplex.holdem.agents.spot_blueprint import SpotBlueprint
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.street_solving import BLUEPRINT, StreetSolving
from treeplex.holdem.solve.solution import load_solution
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.libratus import Libratus, LibratusSettings
from treeplex.search.resolving.blueprint import Blueprint
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.resolving.settings import ROUND

TURN = 2


class HoldemLibratus(Libratus):
    """Libratus: nested safe subgame solving, extended to hold'em."""

    def make(self, game: Game, settings: LibratusSettings, generator: np.random.Generator) -> Agent:
        if plays_blueprint(game, settings.blueprint):
            return whole_agent(game, settings.blueprint, whole_solving(settings), settings.think, generator)
        return super().make(game, settings, generator)

    def blueprint(self, game: Game, settings: LibratusSettings) -> Blueprint:
        if isinstance(game.public, HoldemGame):
            return SpotBlueprint(load_solution(settings.blueprint).policy)
        return super().blueprint(game, settings)


def whole_solving(settings: LibratusSettings) -> StreetSolving:
    """Street-solving settings for full-game hold'em, with the bet sizes of ``endgames``.

    Raises:
        SpecError: a setting that full-game hold'em does not support.
    """
    if settings.every != ROUND or settings.skip or settings.gadget not in RESOLVING[:3] or settings.start > 3:
        raise SpecError(
            "in full-game hold'em each street is solved once, from the turn or river on; leave out 'every' and "
            f"'skip', and use start=2 or 3 and gadget={' or '.join(RESOLVING[:3])}"
        )
    return StreetSolving(
        start=max(settings.start, TURN),
        iterations=settings.iterations,
        gadget=settings.gadget,
        method=settings.method,
        threads=settings.threads,
        promises=BLUEPRINT,
    )
