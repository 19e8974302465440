"""Coin toss (Brown and Sandholm 2017, figure 1) as public-tree rules, with its histories. See docs/notebook/resolving.md."""

import numpy as np

import treeplex as tp
from treeplex.games import Decision, PublicTree, Terminal

SOLD = np.array([[0.5], [-0.5]])
GUESSED = np.array([[-1.0, 1.0], [1.0, -1.0]])


class Toss(tp.State):
    """Player 0 sees the coin and sells it (0) or plays (1); player 1 guesses heads (0) or tails (1), and wins 1 if right."""

    def __init__(self, moves=()):
        self.moves = moves

    def current_player(self):
        if len(self.moves) < 2:
            return (tp.CHANCE, 0)[len(self.moves)]
        return 1 if self.moves[1:] == (1,) else tp.TERMINAL

    def legal_actions(self, player=None):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def child(self, action):
        return Toss((*self.moves, action))

    def returns(self):
        coin, *guess = self.moves[0], *self.moves[2:]
        payoff = float(GUESSED[coin, guess[0]] if guess else SOLD[coin, 0])
        return [payoff, -payoff]

    def information_state_string(self, player=None):
        return "guess" if len(self.moves) == 2 else f"coin {self.moves[0]}"

    def public_state(self):
        return self.moves[1:]


class CoinToss(tp.Game):
    """The full game."""

    def new_initial_state(self):
        return Toss()

    def public_tree(self):
        return TossTree()


class TossTree(PublicTree):
    """Player 0's hand is the coin, player 1 has none; nodes are the public moves."""

    root, prior, deals, deal_histories, deal_depth = (), np.full((2, 1), 0.5), np.ones((2, 1), np.int64), 1, 1

    def visit(self, node):
        if len(node) == 2 or node == (0,):
            return Terminal(GUESSED[:, node[1:]] if node[0] else SOLD, 1.0)
        return Decision(len(node), (0, 1))

    def child(self, node, action):
        return (*node, action)

    def infostate(self, node, player, hand):
        return "guess" if player else f"coin {hand}"

    def action_to_string(self, node, action):
        return str(action)
