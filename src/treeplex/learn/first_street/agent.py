"""An agent for turns of hold'em from a network, or with exact values, ready to play."""

import os
from collections.abc import Callable

import numpy as np

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import SpecError
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.agent import holdem_agent
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.first_street.search import ITERATIONS, METHOD, RIVER, STORAGE, memory_for, searching
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
    """An agent that searches turns, and its network's file.

    Args:
        game: a turn.
        source: as for :func:`treeplex.learn.first_street.search.search_spot`; None for exact values.
        generator: of the agent's draws.
        iterations, method: of a turn's search.
        river: iterations of Discounted CFR in each solution of a river.
        threads: for exact values; default: one per core that this process may use.
        drawn: play an iteration drawn at random in each game, and not the average; see :class:`SearchAgent`.

    Raises:
        SpecError: a value outside its range, a spot that networks do not know, too little memory, or PyTorch is missing.
        GameError: the spot is no turn, or its ranges leave no pair of hands.
        FileError: no network for rivers of hold'em there.
    """
    threads, net, leaf = searching(source, iterations, method, river, threads)
    spot = game.spot
    check_turn(spot)
    kept = iterations if drawn else 1
    check_room(least_policy(spot) * kept, kept)  # before anything else takes time
    values = leaf or ExactLeaf(iterations=river, storage=STORAGE, threads=threads)
    agent = holdem_agent(spot, values, generator, method=method, iterations=iterations, endgame=river, drawn=drawn, game=game)
    agent.prepare = room_for(agent, threads)  # asked for before a search takes its memory
    return agent, net


def room_for(agent: SearchAgent, threads: int) -> Callable[[Subgame], None]:
    """A check that the policies of all iterations have room in memory; remembered turns make room for them.

    With exact values the rivers must have room as well.
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
                "solving the rivers of this spot needs more memory than is free; offer fewer sizes, narrow the ranges, or play "
                "against a network"
            )

    return check


def least_policy(spot: Spot) -> int:
    """Bytes that the policy of one iteration takes at least: one action of every hand."""
    return sum(4 * int(np.count_nonzero(own)) for own in spot.ranges)


def lacking(size: int) -> int | None:
    """The bytes that are free, where they are fewer than ``size``."""
    free = available_memory()
    return free if free is not None and free < size else None


def check_room(size: int, iterations: int) -> None:
    """Refuse policies of ``iterations`` iterations, ``size`` bytes at least, that do not fit into memory.

    Raises:
        SpecError: they have none.
    """
    free = lacking(size)
    if free is not None:
        what = f"the policies of {iterations:,} iterations need" if iterations > 1 else "the policy of a search needs"
        remedy = "fewer iterations (-n) or fewer bet sizes" if iterations > 1 else "fewer bet sizes"
        raise SpecError(f"{what} {megabytes(size)} of memory or more, and {megabytes(free)} are free; give {remedy}")
