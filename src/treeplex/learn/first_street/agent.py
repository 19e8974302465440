"""Agent for hold'em turns that searches with a network or exact leaf values."""

import os
from collections.abc import Callable

import numpy as np

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import SpecError
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.agent import holdem_agent
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.first_street.search import ITERATIONS, METHOD, RIVER, STORAGE, check_search, memory_for
from treeplex.learn.rebel.files import NetFile
from treeplex.learn.rebel.turns.nets import check_turn
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.exact_leaf import ExactLeaf
from treeplex.search.subgames.subgame import Subgame


def turn_agent(
    game: HoldemGame,
    source: str | os.PathLike[str] | None,
    generator: np.random.Generator,
    *,
    iterations: int = ITERATIONS,
    method: str = METHOD,
    river: int = RIVER,
    threads: int | None = None,
    drawn: bool = True,
) -> tuple[SearchAgent, NetFile | None]:
    """Create an agent that searches turns; returns it with its network's file.

    Args:
        game: a turn spot.
        source: as for :func:`treeplex.learn.first_street.search.search_spot`; None for exact values.
        generator: random number generator for actions.
        iterations, method: iterations and method of each search.
        river: iterations of Discounted CFR per river solution.
        threads: threads for exact values; None for one per available core.
        drawn: play a randomly drawn iteration in each game instead of the average; see :class:`SearchAgent`.

    Raises:
        SpecError: a value outside its range, a spot that networks do not support, too little memory, or PyTorch is missing.
        GameError: the spot is not a turn, or no pair of hands is possible in its ranges.
        FileError: the source is not a hold'em river network.
    """
    threads, net, leaf = check_search(source, iterations, method, river, threads)
    spot = game.spot
    check_turn(spot)
    kept = iterations if drawn else 1
    check_room(least_policy(spot) * kept, kept)  # checked before anything slow
    values = leaf or ExactLeaf(iterations=river, storage=STORAGE, threads=threads)
    agent = holdem_agent(spot, values, generator, method=method, iterations=iterations, endgame=river, drawn=drawn, game=game)
    agent.prepare = room_for(agent, threads)  # checked before a search allocates its memory
    return agent, net


def room_for(agent: SearchAgent, threads: int) -> Callable[[Subgame], None]:
    """A check that the policies of all iterations fit in memory, which may evict remembered turns.

    With exact values the rivers must fit as well.
    """

    def check(subgame: Subgame) -> None:
        assert isinstance(subgame, HoldemSubgame)
        if isinstance(agent.leaf, ExactLeaf):
            agent.leaf.endgames.forget()
        size = agent.memory_for(subgame)
        if lacking(size) is not None:
            agent.forget()
        check_room(size, agent.kept)
        if isinstance(agent.leaf, ExactLeaf) and not memory_for(subgame, threads, needed=False):
            raise SpecError(
                "solving the rivers of this spot needs more memory than is free; offer fewer bet sizes, "
                "narrow the ranges, or play against a network"
            )

    return check


def least_policy(spot: Spot) -> int:
    """Lower bound on the bytes of one iteration's policy: one action per hand."""
    return sum(4 * int(np.count_nonzero(own)) for own in spot.ranges)


def lacking(size: int) -> int | None:
    """The free bytes if they are fewer than ``size``, otherwise None."""
    free = available_memory()
    return free if free is not None and free < size else None


def check_room(size: int, iterations: int) -> None:
    """Check that the policies of ``iterations`` iterations, at least ``size`` bytes, fit in memory.

    Raises:
        SpecError: they do not fit.
    """
    free = lacking(size)
    if free is not None:
        what = f"the policies of {iterations:,} iterations need" if iterations > 1 else "the policy of a search needs"
        remedy = "fewer iterations (-n) or fewer bet sizes" if iterations > 1 else "fewer bet sizes"
        raise SpecError(f"{what} at least {megabytes(size)} of memory, but {megabytes(free)} are free; give {remedy}")
