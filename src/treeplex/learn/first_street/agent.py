"""Agent for hold'em turns that searches with leaf values from a network or from exact solving."""

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
    """Create an agent that searches turns; returns the agent and its network file, if any.

    Args:
        game: a turn spot.
        source: as for :func:`treeplex.learn.first_street.search.search_spot`; None for exact values.
        generator: random number generator for actions.
        iterations, method: number of iterations and solver of each search.
        river: iterations of Discounted CFR per river.
        threads: threads for exact values; None for one per available core.
        drawn: play the policy of a random iteration in each game instead of the average policy; see :class:`SearchAgent`.

    Raises:
        SpecError: a value is outside its range, networks do not support the spot, memory is too small, or PyTorch is missing.
        GameError: the spot is not a turn, or its ranges contain no compatible pair of hands.
        FileError: the source is not a hold'em river network.
    """
    threads, net, leaf = check_search(source, iterations, method, river, threads)
    spot = game.spot
    check_turn(spot)
    stored_policies = iterations if drawn else 1
    check_room(least_policy(spot) * stored_policies, stored_policies)  # checked before anything slow
    values = leaf or ExactLeaf(iterations=river, storage=STORAGE, threads=threads)
    agent = holdem_agent(spot, values, generator, method=method, iterations=iterations, endgame=river, drawn=drawn, game=game)
    agent.prepare = room_for(agent, threads)  # checked before a search allocates its memory
    return agent, net


def room_for(agent: SearchAgent, threads: int) -> Callable[[Subgame], None]:
    """Return a function that checks that the policies of all iterations fit in memory; it may evict cached turns.

    With exact leaf values, it also checks that the rivers fit.
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
    """Lower bound on the size of one iteration's policy in bytes, which stores one action per hand."""
    return sum(4 * int(np.count_nonzero(weights)) for weights in spot.ranges)


def lacking(size: int) -> int | None:
    """Number of free bytes if less than ``size``, otherwise None."""
    free = available_memory()
    return free if free is not None and free < size else None


def check_room(size: int, iterations: int) -> None:
    """Check that the policies of ``iterations`` iterations, at least ``size`` bytes, fit in memory.

    Raises:
        SpecError: there is too little memory.
    """
    free = lacking(size)
    if free is not None:
        what = f"the policies of {iterations:,} iterations need" if iterations > 1 else "the policy of a search needs"
        remedy = "fewer iterations (-n) or fewer bet sizes" if iterations > 1 else "fewer bet sizes"
        raise SpecError(f"{what} at least {megabytes(size)} of memory, but only {megabytes(free)} are free; give {remedy}")
