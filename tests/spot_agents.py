"""Spots of a small deck, and what an agent plays at every public state of one, to be judged exactly."""

import numpy as np

from treeplex.evaluate.match.agents import Agent
from treeplex.forms.holdem.compile_spot import compile_spot
from treeplex.forms.holdem.subgame import board_part
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.games.poker.cards.format import small
from treeplex.games.poker.public import HoldemGame
from treeplex.games.poker.spots.known import all_hands
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.policy import HoldemPolicy

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
TURN = "TcJdQcKd"


def small_spot(bets: BetPlan | str = "50%,a", board: str = TURN) -> Spot:
    """All hands, a pot of 2 and 3 behind; ten cards."""
    plan = BetPlan.same(bets, "") if isinstance(bets, str) else bets
    return Spot(parse_cards(board), 2.0, 3.0, all_hands(DECK), plan, format=DECK)


def policy_of_agent(agent: Agent, spot: Spot) -> HoldemPolicy:
    """What an agent plays at every decision of a spot; a new play for each."""
    game, whole = HoldemGame.of(spot), compile_spot(spot, isomorphism=False)
    average = np.zeros(whole.stored, np.float32)
    for street, boards in enumerate(whole.boards):
        for number, board in enumerate(boards):
            for player in (0, 1):
                forest, hands = whole.forests[street], board.hands[player]
                rows = average[board_part(whole, street, number, player)].reshape(-1, len(hands))
                for node, (_, first, count) in zip(forest.numbers[player], forest.nodes[player], strict=True):
                    agent.begin()
                    for label in game.path_to(game.state(node, board.cards)):
                        agent.see(label)
                    rows[first : first + count] = agent.policy()[:, hands]
    return HoldemPolicy(whole, average, np.zeros(0, np.float32), (), len(whole.boards))
