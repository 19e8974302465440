"""What an agent plays at every decision of a small spot of hold'em, to be judged exactly."""

import numpy as np

from treeplex.holdem import HoldemGame, HoldemPolicy, Spot
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.forms.layout import decision_rows
from treeplex.search import Agent


def policy_on_spot(agent: Agent, spot: Spot) -> HoldemPolicy:
    """The agent's policy, a new play for each decision on each board; of an agent that draws nothing but actions.

    Raises:
        SpecError: more boards than can be built.
    """
    game, whole = HoldemGame.of(spot), compile_spot(spot, isomorphism=False)
    average = np.zeros(whole.stored, np.float32)
    for street, boards in enumerate(whole.boards):
        for number, board in enumerate(boards):
            for player in (0, 1):
                for node in whole.forests[street].numbers[player]:
                    agent.begin()
                    for label in game.path_to(game.state(node, board.cards)):
                        agent.see(label)
                    decision_rows(whole, node, average, street, number)[:] = agent.policy()[:, board.hands[player]]
    return HoldemPolicy(whole, average, np.zeros(0, np.float32), (), len(whole.boards))
