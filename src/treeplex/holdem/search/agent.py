"""A search agent for hold'em: each street is searched to its end, and the last street is solved completely.

At the end of a street the agent waits for the cards. The next street is a new spot, with the ranges that result from the
actions so far. Its policy, averaged over the random iterations, is the one whose exploitability
:meth:`treeplex.holdem.search.play_distribution.Player.curve` returns as ``played``.
"""

import os
from dataclasses import dataclass

import numpy as np

from treeplex.errors import AlgorithmError, GameError
from treeplex.games.public import PublicGame
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots.files import load_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.leaf import LeafValue
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.horizon import Horizon


@dataclass(frozen=True)
class StreetSearch:
    """Settings for searching a street.

    Attributes:
        method: a name of :data:`treeplex.search.METHODS`.
        iterations: iterations of a search.
        warm: see :func:`treeplex.search.warm_start.begin.begin_search`; hold'em networks provide no guesses.
    """

    method: str = "lcfr"
    iterations: int = 128
    warm: int | None = None

    @property
    def horizon(self) -> Horizon:
        """The search horizon: the end of the street."""
        return Horizon(rounds=1)


def holdem_agent(
    spot: Spot | str | os.PathLike[str],
    leaf: LeafValue,
    generator: np.random.Generator | None = None,
    *,
    method: str = "lcfr",
    iterations: int = 128,
    endgame: int = 64,
    remember: int = 4,
    drawn: bool = True,
    game: HoldemGame | None = None,
) -> SearchAgent:
    """A search agent for a spot.

    Args:
        spot: the spot to start from, before the last street; or the name or file of a spot.
        leaf: values at the end of a street.
        generator: random generator for iterations and actions.
        method, iterations: settings of a street's search.
        endgame: iterations of Discounted CFR for the last street.
        remember: number of solved streets kept for later games.
        drawn: whether each game uses one random iteration of a search instead of the average.
        game: the spot as a public game, if it is shared with other agents.

    Raises:
        AlgorithmError, GameError: as in :func:`start_of`.
    """
    settings = StreetSearch(method, iterations)
    begun = start_of(spot if isinstance(spot, Spot) else load_spot(spot)).game
    return SearchAgent(
        game or begun, leaf, settings, generator, remember=remember, endgame=endgame, street_by_street=True, drawn=drawn
    )


def start_of(spot: Spot) -> Belief:
    """Check that a spot's streets can be searched one by one; return the belief at its start.

    Raises:
        GameError: its last street has begun, or its ranges have no compatible pair of hands.
        AlgorithmError: the spot has rake, blinds, or donk sizes on later streets, so its streets are not independent games.
    """
    if len(spot.streets) < 2:
        raise GameError("the spot has only one street of betting; give the board of an earlier street, or solve it")
    if spot.rake.rate:
        raise AlgorithmError("the agent does not support rake; leave the rake out")
    if spot.blinds is not None:
        raise AlgorithmError("the agent needs a spot with a board and without blinds; give the board and the pot")
    later = spot.bets.streets[spot.street + 1 :] if isinstance(spot.bets, BetPlan) else ()
    if any(sizes.donk is not None for street in later for sizes in street):
        raise AlgorithmError("the agent does not support donk sizes after the first street; set donk to default")
    belief = Belief.root(HoldemGame.of(spot))
    if not belief.pairs > 0:
        raise GameError(f"no hands in these ranges are compatible at {belief.game.name_of(belief.state)}; widen a range")
    return belief


def agent_game(agent: Agent) -> HoldemGame:
    """The public game of a hold'em agent."""
    game: PublicGame = agent.game
    assert isinstance(game, HoldemGame)
    return game
