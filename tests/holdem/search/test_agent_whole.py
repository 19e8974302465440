"""What the agent for turns of hold'em plays in whole games, over its draws, is the policy that is judged."""

import copy

import numpy as np
import pytest

from tests.holdem.search.test_agent import FixedDraws
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Decision, Fold, StreetEnd, payoffs
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.rules.public import holdem_state
from treeplex.holdem.search.agent import agent_game, holdem_agent
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Rake
from treeplex.search import ExactLeaf
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.methods import average_weights

pytestmark = pytest.mark.slow

SPOT = holdem("3s7hTdKs", "QQ,AKs", "99,KQs", pot=20.0, stack=40.0, bets=BetPlan.same("100%", ""))
T = 3
HANDS = SPOT.format.hands
DECK = [int(card) for card in SPOT.format.deck if card not in SPOT.board]


def agents(method: str, river: int) -> tuple[list[SearchAgent], np.ndarray]:
    """For each iteration an agent that draws it, and how often it is drawn, float64 [T]."""
    weights = average_weights(method, T)
    weights = weights / weights.sum()

    numbers, leaf = np.cumsum(weights) - weights / 2, ExactLeaf(iterations=river)
    return [
        holdem_agent(SPOT, leaf, FixedDraws(number), method=method, iterations=T, endgame=river) for number in numbers
    ], weights


class Responder:
    """A best response to the mixture, by going through lines, rivers and pairs of hands one by one.

    Attributes:
        player: who responds.
        hands, others: its hands and the other's, as rows of ``format.hands``.
        apart: bool [hands, others], which pairs share no card.
    """

    def __init__(self, player: int) -> None:
        self.player = player
        self.hands, self.others = (np.flatnonzero(SPOT.ranges[each]) for each in (player, 1 - player))
        shared = HANDS[self.hands][:, None, :, None] == HANDS[self.others][None, :, None, :]
        self.apart = ~shared.any(axis=(2, 3))

    def value(self, mixture: list[SearchAgent], reach: np.ndarray) -> np.ndarray:
        """What its best response gets with each hand from here, summed over the other's; ``reach`` is float64 [T, others]."""
        game = agent_game(mixture[0])
        event, board = game.event(mixture[0].state), holdem_state(mixture[0].state).board
        if isinstance(event, Fold):
            return self.paid(board, reach, payoffs(event, Rake()))
        if not isinstance(event, Decision):
            if len(board) == len(SPOT.board):
                return np.sum([self.on_river(mixture, card, reach) for card in DECK], axis=0)
            return self.paid(board, reach, payoffs(event, Rake()))
        found, own = [], event.player == self.player
        tables = [self.table(agent) for agent in mixture]  # also where the responder acts: what follows is searched only once
        for action in range(len(event.actions)):
            moved = [copy.copy(agent) for agent in mixture]
            for agent in moved:
                agent.see(action)
            found.append(self.value(moved, reach if own else reach * [table[action] for table in tables]))
        return np.max(found, axis=0) if own else np.sum(found, axis=0)

    def table(self, agent: SearchAgent) -> np.ndarray:
        """How an agent would play the hands of this node's player, float64 [A, hands]; 0 where the board has them."""
        event = agent_game(agent).event(agent.state)
        assert isinstance(event, Decision)
        hands = self.hands if event.player == self.player else self.others
        possible = agent.game.possible(agent.state)[event.player][hands]
        rows = np.zeros((len(event.actions), len(hands)))
        there = np.flatnonzero(possible)
        rows[:, there] = agent.policy()[:, hands[there]]
        return rows

    def on_river(self, mixture: list[SearchAgent], card: int, reach: np.ndarray) -> np.ndarray:
        """A river of 44 that is as likely as any other to players with two cards each."""
        clean, others = (~(HANDS[hands] == card).any(axis=1) for hands in (self.hands, self.others))
        event, reach = agent_game(mixture[0]).event(mixture[0].state), reach * others / (len(DECK) - 4)
        if not isinstance(event, StreetEnd):
            return clean * self.paid((*SPOT.board, card), reach, payoffs(event, Rake()))
        moved = [copy.copy(agent) for agent in mixture]
        for agent in moved:
            agent.see(card)
        return clean * self.value(moved, reach)

    def paid(self, board: tuple[int, ...], reach: np.ndarray, amounts: tuple[float, ...]) -> np.ndarray:
        """Amounts for both players (a fold), or for a win, a loss and a tie."""
        if len(amounts) == 2:
            return amounts[self.player] * (self.apart @ reach.sum(axis=0))
        own, other = (format_strengths(SPOT.format, board, HANDS[hands]) for hands in (self.hands, self.others))
        win, lose, tie = amounts
        ahead = np.sign(own[:, None].astype(int) - other[None, :])
        return (self.apart * np.choose(ahead + 1, [lose, tie, win])) @ reach.sum(axis=0)


@pytest.mark.parametrize(
    ("method", "river", "tolerance"),
    [
        ("lcfr", 2, 1e-6),
        ("lcfr-avg", 2, 1e-6),
        pytest.param("lcfr", 30, 0.06, marks=pytest.mark.slow),
        pytest.param("lcfr-avg", 30, 0.005, marks=pytest.mark.slow),
    ],
)
def test_its_mixture_is_as_exploitable_as_what_is_judged(method: str, river: int, tolerance: float) -> None:
    """Two iterations on the river are not yet about beliefs, but lines, draws and weights must agree to rounding.

    After thirty beliefs count: without moving them lcfr is 56% off, with those of the iteration lcfr-avg 23%. What is left is
    ties, which rounding breaks: the judge itself in float32 is 3% and 0.05% off.
    """
    turn = cut_spot(SPOT)
    judged = Player(turn, river, storage="float64").curve(method, [T], ExactLeaf(iterations=river))["played"][0]
    mixture, weights = agents(method, river)
    total = 0.0
    for player in (0, 1):
        best = Responder(player)
        reach = weights[:, None] * SPOT.ranges[1 - player][best.others]
        pairs = float(SPOT.ranges[player][best.hands] @ best.apart @ SPOT.ranges[1 - player][best.others])
        total += float(SPOT.ranges[player][best.hands] @ best.value(mixture, reach)) / pairs
    assert total / 2 == pytest.approx(judged, rel=tolerance)
