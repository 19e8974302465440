"""An agent's policy at every decision of a small hold'em spot, for exact evaluation."""

import numpy as np

from treeplex.holdem import HoldemGame, HoldemPolicy, Spot
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.forms.layout import decision_rows
from treeplex.search import Agent


def policy_on_spot(agent: Agent, spot: Spot) -> HoldemPolicy:
    """The agent's policy, from a new playthrough for each decision on each board; for agents that sample only actions.

    Raises:
        SpecError: too many boards.
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
