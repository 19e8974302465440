"""Tables of a compiled game as matrices, infosets by actions, and what play by such a matrix is worth."""

from typing import NamedTuple

import numpy as np

from treeplex.engine.histories.episodes import Episodes, play_episodes
from treeplex.engine.histories.reaches import opposing_reaches
from treeplex.engine.tree.form import Floats, SmallInts, workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.histories import histories_of


class ActionValues(NamedTuple):
    """What actions are worth under a policy.

    Attributes:
        own_reach: float64 [I], of whoever acts there: the product of own probabilities.
        values: float64 [I, A], counterfactual: expected payoffs times the probability that chance and the others lead there.
        infoset_values: float64 [I], their mean by the policy.
    """

    own_reach: Floats
    values: Floats
    infoset_values: Floats

    @property
    def advantages(self) -> Floats:
        """Float64 [I, A], how much more an action is worth than the policy; of illegal actions meaningless."""
        return self.values - self.infoset_values[:, None]


class Grid:
    """Infosets by actions of a compiled game.

    Attributes:
        game: the game.
        legal: bool [I, A], A the most actions of an infoset; legal ones come first.
        sequences: int64 [I, A], the sequence of each action; of illegal ones 0.
    """

    def __init__(self, game: CompiledGame) -> None:
        self.game = game
        first, stride, actions = game.tree.infoset_layout.T[:, :, None]
        numbers = np.arange(int(actions.max()))
        self.legal = numbers < actions
        self.sequences = np.where(self.legal, first + stride * numbers, 0)

    @property
    def payoffs(self) -> Floats:
        """What each player gets at the ends of the game, float64 [Z, N]."""
        return histories_of(self.game).payoffs

    def matrix(self, table: Floats) -> Floats:
        """A table float64 [Q] as a matrix float64 [I, A], zero for illegal actions."""
        return np.where(self.legal, table[self.sequences], 0.0)

    def table(self, matrix: Floats) -> Floats:
        """A matrix float64 [I, A] as a table float64 [Q], one for empty sequences."""
        table = np.ones(int(self.game.tree.sequence_offsets[-1]))
        table[self.sequences[self.legal]] = matrix[self.legal]
        return table

    def softmax(self, logits: Floats) -> Floats:
        """The policy of logits, float64 [I, A]; illegal actions have probability zero."""
        masked = np.where(self.legal, logits, -np.inf)
        weights = np.exp(masked - masked.max(axis=1, keepdims=True))
        policy: Floats = weights / weights.sum(axis=1, keepdims=True)
        return policy

    def centred(self, matrix: Floats) -> Floats:
        """Numbers less their mean over legal actions, float64 [I, A]; zero for illegal ones."""
        legal = np.where(self.legal, matrix, 0.0)
        return np.where(self.legal, legal - legal.sum(axis=1, keepdims=True) / self.legal.sum(axis=1, keepdims=True), 0.0)

    def strategy(self, table: Floats) -> Floats:
        """The sequence form of a policy, both float64 [Q]."""
        strategy = np.empty_like(table)
        for player in range(self.game.players):
            reach(self.game.tree, player, table, strategy)
        return strategy

    def action_values(self, policy: Floats) -> ActionValues:
        """Exact values under a policy float64 [I, A]."""
        tree, table = self.game.tree, self.table(policy)
        strategy, (values, infoset_values, _) = self.strategy(table), workspace(tree)
        for player in range(self.game.players):
            gradient(tree, self.game.payoff, player, strategy, values)
            backup(tree, player, table, values, infoset_values)
        return ActionValues(strategy[tree.infoset_parent], self.matrix(values), infoset_values)

    def opposing_reaches(self, policy: Floats) -> Floats:
        """Of every infoset the probability that chance and the others lead there, float64 [I]."""
        return opposing_reaches(histories_of(self.game), self.game.tree.infoset_layout, self.table(policy))

    def play(self, policy: Floats, episodes: int, seed: int, number: int) -> Episodes:
        """Episodes in which all follow a policy, float64 [I, A]; ``number`` is that of the first."""
        game, seats = self.game, np.zeros((episodes, self.game.players), np.int64)
        return play_episodes(
            histories_of(game), game.tree.infoset_layout, self.table(policy)[None], seats, game.size.depth, seed, number
        )

    def sums(self, infosets: SmallInts, actions: SmallInts, weights: Floats) -> Floats:
        """Sums of the weights of rows, float64 [D], by infoset and action, float64 [I, A]."""
        places = infosets.astype(np.int64) * self.legal.shape[1] + actions
        return np.bincount(places, weights, self.legal.size).reshape(self.legal.shape)
