"""Numbers of infosets as matrices, infosets by actions: of those that walks met, or of a whole compiled game."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.histories.reaches import opposing_reaches
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.heads import masked_softmax
from treeplex.learn.neural.walks.rules_walks import Met


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


class Infosets:
    """I infosets by A actions.

    Attributes:
        legal: bool [I, A], which actions each infoset has.
    """

    def __init__(self, legal: NDArray[np.bool_]) -> None:
        self.legal = legal

    def __len__(self) -> int:
        return len(self.legal)

    def softmax(self, logits: Floats) -> Floats:
        """The policy of logits, float64 [I, A]; illegal actions have probability zero."""
        return masked_softmax(logits, self.legal)

    def centred(self, matrix: Floats) -> Floats:
        """Numbers less their mean over legal actions, float64 [I, A]; zero for illegal ones."""
        legal = np.where(self.legal, matrix, 0.0)
        return np.where(self.legal, legal - legal.sum(axis=1, keepdims=True) / self.legal.sum(axis=1, keepdims=True), 0.0)

    def sums(self, infosets: SmallInts, actions: SmallInts, weights: Floats) -> Floats:
        """Sums of the weights of rows, float64 [D], by infoset and action, float64 [I, A]."""
        places = infosets.astype(np.int64) * self.legal.shape[1] + actions
        return np.asarray(np.bincount(places, weights, self.legal.size).reshape(self.legal.shape), np.float64)

    def within(self, infosets: SmallInts) -> tuple[Self, Ints | slice, SmallInts]:
        """The part that the infosets of some rows, int32 [D], are looked up in.

        Returns:
            it, which infosets of these it has, and the rows' infosets as numbers of it.
        """
        return self, slice(None), infosets


class MetInfosets(Infosets):
    """Infosets that walks by the rules met.

    Attributes:
        met: what they look like.
    """

    def __init__(self, met: Met) -> None:
        super().__init__(met.legal)
        self.met = met

    def within(self, infosets: SmallInts) -> tuple[Self, Ints | slice, SmallInts]:
        """Those of the rows alone, since a network is asked for each."""
        chosen, numbers = np.unique(infosets, return_inverse=True)
        return type(self)(self.met.at(chosen)), chosen.astype(np.int64), numbers.astype(np.int32)

    def joined(self, other: "MetInfosets") -> "MetInfosets":
        """Those, and behind them others; what is met twice stands there twice."""
        return MetInfosets(Met(*(np.concatenate(pair) for pair in zip(self.met, other.met, strict=True))))


class Grid(Infosets):
    """Infosets by actions of a compiled game, and what play by such a matrix is worth.

    Attributes:
        game: the game.
        legal: bool [I, A], A the most actions of an infoset; legal ones come first.
        sequences: int64 [I, A], the sequence of each action; of illegal ones 0.
    """

    def __init__(self, game: CompiledGame) -> None:
        self.game = game
        first, stride, actions = game.tree.infoset_layout.T[:, :, None]
        numbers = np.arange(int(actions.max()))
        super().__init__(numbers < actions)
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
