"""Beliefs at the start of the turn in self-play of ``resolver``, on which its network for turns can be trained.

A flop comes from preflop charts at a random stack. It is solved once to the start of the turn, and its strategy leads to
several turns. As in ReBeL (Brown et al. 2020, Algorithm 1), one player explores: it sometimes acts at random, and its range
does not depend on it.
"""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.base import CHANCE
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.whole.public import hand_of
from treeplex.search.named_agents.registry import agent

FLOP, TURN = 1, 2
STACKS = 15.0, 250.0
"""Smallest and largest stack, in big blinds; stacks are drawn log-uniformly."""
EXPLORING = 0.25
"""Probability that the exploring player acts at random (Brown et al. 2020)."""
SETTINGS = "think=none,iterations={iterations},threads=1"


class PlayedTurn(NamedTuple):
    """A turn reached in play.

    Attributes:
        board: four cards.
        stack: chips behind, in pots.
        reach: float64 [2, 1326], both ranges, each summing to one.
    """

    board: tuple[int, ...]
    stack: float
    reach: Floats


def played_turns(count: int, generator: np.random.Generator, *, iterations: int = 48) -> list[PlayedTurn]:
    """Turns with chips behind, all from one flop.

    Args:
        count: number of turns.
        generator: random generator.
        iterations: iterations of the flop's solve.
    """
    found = list[PlayedTurn]()
    while not found:
        big_blinds = float(np.exp(generator.uniform(*np.log(STACKS))))
        name = f"resolver({SETTINGS.format(iterations=iterations)})"
        player = agent(name, f"holdem(stack={2 * round(big_blinds)})", seed=int(generator.integers(2**31)))
        assert isinstance(player, WholeHoldemAgent)
        player.begin(None)
        if not followed(player, FLOP, int(generator.integers(2)), generator):
            continue
        for _ in range(4 * count):  # many hands end on the flop
            line = player.fork()
            if followed(line, TURN, int(generator.integers(2)), generator):
                found.append(turn_of(line))
            if len(found) == count:
                break
    return found


def followed(player: WholeHoldemAgent, street: int, explorer: int, generator: np.random.Generator) -> bool:
    """Play on to the start of a street; whether it is reached with chips behind.

    Args:
        player: the agent, for both seats.
        street: the street.
        explorer: the player who explores.
        generator: random generator.
    """
    while (options := player.game.options(player.state)).player >= CHANCE and len(options.labels):
        table = hand_of(player.state).table
        if table.street == street and table.player >= 0 and player.solver is not None:
            return True
        if options.player == CHANCE:
            player.see(int(generator.choice(options.labels)))
            continue
        policy = player.policy()
        chances = policy @ (player.ranges[options.player] * player.holdem.free(player.state))
        if options.player == explorer and generator.random() < EXPLORING:
            chances = np.asarray(policy.any(axis=1), np.float64)
        player.see(int(generator.choice(options.labels, p=chances / chances.sum())))
    return False


def turn_of(player: WholeHoldemAgent) -> PlayedTurn:
    """The beliefs with which the agent begins the turn."""
    assert player.solver is not None
    game = player.solver.game
    assert isinstance(game, HoldemGame)
    spot = game.spot
    reach = np.stack([np.asarray(weights, np.float64) / weights.sum() for weights in spot.ranges])
    return PlayedTurn(tuple(spot.board), float(spot.stack / spot.pot), reach)
