"""The searching agent at hold'em: streets are searched one by one, the last is the rest of the game and solved to its end.

Where a street ends it waits for the cards; what follows is then a spot of its own, with the ranges that the play so far has
made. Over all draws it plays the policy ``played`` of :meth:`treeplex.holdem.search.play_distribution.Player.curve`.
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
    """Settings of a street's search.

    Attributes:
        method: a name of :data:`treeplex.search.METHODS`.
        iterations: of a search.
        warm: see :func:`treeplex.search.warm_start.begin.begin_search`; networks of hold'em have no guesses.
    """

    method: str = "lcfr"
    iterations: int = 128
    warm: int | None = None

    @property
    def horizon(self) -> Horizon:
        """The end of the street."""
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
    """An agent for a spot.

    Args:
        spot: where plays begin, before the last street; or the name or the file of a spot.
        leaf: values where a street ends.
        generator: draws iterations and actions.
        method, iterations: of a street's search.
        endgame: iterations of Discounted CFR in a solution of the last street.
        remember: solved streets that are kept for later plays.
        drawn: whether each play takes one iteration of a search, drawn at random, and not the average.
        game: the spot as a public game, where others play it as well.

    Raises:
        AlgorithmError, GameError: as :func:`start_of`.
    """
    settings = StreetSearch(method, iterations)
    begun = start_of(spot if isinstance(spot, Spot) else load_spot(spot)).game
    return SearchAgent(
        game or begun, leaf, settings, generator, remember=remember, endgame=endgame, street_by_street=True, drawn=drawn
    )


def start_of(spot: Spot) -> Belief:
    """The beginning of a spot that streets can be searched of one by one.

    Raises:
        GameError: its last street has begun, or its ranges leave no pair of hands.
        AlgorithmError: it has rake, blinds, or donk sizes on later streets: each street is to be a game of its own.
    """
    if len(spot.streets) < 2:
        raise GameError("the spot has no street of betting but one: give the board of an earlier street, or solve it")
    if spot.rake.rate:
        raise AlgorithmError("the agent knows no rake; leave the rake out")
    if spot.blinds is not None:
        raise AlgorithmError("the agent begins where a board lies, without blinds; give the pot instead")
    later = spot.bets.streets[spot.street + 1 :] if isinstance(spot.bets, BetPlan) else ()
    if any(own.donk is not None for street in later for own in street):
        raise AlgorithmError("the agent knows no donk sizes after the first street; set donk to default")
    belief = Belief.root(HoldemGame.of(spot))
    if not belief.pairs > 0:
        raise GameError(f"no pair of hands of these ranges is possible at {belief.game.name_of(belief.state)}; widen a range")
    return belief


def agent_game(agent: Agent) -> HoldemGame:
    """The public game of a hold'em agent."""
    game: PublicGame = agent.game
    assert isinstance(game, HoldemGame)
    return game
