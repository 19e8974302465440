"""Infosets as rows of features: the infosets visited by traversals, or all infosets of a compiled game."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats, Ints, Singles, SmallInts
from treeplex.engine.histories.reaches import opposing_reaches
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.heads import masked_softmax
from treeplex.forms.policies.neural import with_player
from treeplex.learn.neural.features import USUAL, infoset_features

COLUMNS = ("player", "features", "legal")


class Infosets:
    """Features and legal actions of P infosets, in the order of their first visit.

    Attributes:
        player: int32 [P], the acting player.
        features: float32 [P, F], network features.
        legal: bool [P, A], legal actions. In uncompiled games A is the number of action ids. In a compiled game, actions are
            numbered within each infoset, legal ones first.
    """

    player: SmallInts
    features: Singles
    legal: Bools
    nowhere: ClassVar[float] = 0.0
    """Placeholder in rows for a missing infoset."""

    def __init__(self, player: SmallInts, features: Singles, legal: Bools) -> None:
        self.player, self.features, self.legal = player, features, legal

    def __len__(self) -> int:
        return len(self.legal)

    @classmethod
    def joined(cls, parts: "Sequence[Infosets]") -> "Infosets":
        """Concatenate infosets; duplicates are kept."""
        player, features, legal = (np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS)
        return Infosets(player, features, legal)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The attributes by name."""
        return {name: getattr(self, name) for name in COLUMNS}

    def at(self, numbers: NDArray[np.integer]) -> "Infosets":
        """The selected infosets."""
        return Infosets(self.player[numbers], self.features[numbers], self.legal[numbers])

    def rows(self, numbers: Any = slice(None)) -> NDArray[Any]:
        """One player's infosets as rows for buffers and networks: features and legal actions, float32 [n, F + A]."""
        return np.concatenate([self.features[numbers], self.legal[numbers].astype(np.float32)], axis=1)

    def rows_or_none(self, numbers: NDArray[np.integer]) -> NDArray[Any]:
        """Feature rows by infoset number; number -1 gives the padding row :attr:`nowhere`."""
        rows = self.rows(np.maximum(numbers, 0))
        rows[numbers < 0] = self.nowhere
        return rows

    def with_player(self, players: int) -> Singles:
        """Inputs of a network shared by all players: features and the one-hot acting player, float32 [P, F + N]."""
        return with_player(self.features, self.player.astype(np.int64), players)

    def softmax(self, logits: Floats) -> Floats:
        """Softmax policy from logits, float64 [P, A]; zero for illegal actions."""
        return masked_softmax(logits, self.legal)

    def centred(self, matrix: Floats) -> Floats:
        """Subtract the mean over legal actions, float64 [P, A]; zero for illegal actions."""
        legal = np.where(self.legal, matrix, 0.0)
        return np.where(self.legal, legal - legal.sum(axis=1, keepdims=True) / self.legal.sum(axis=1, keepdims=True), 0.0)

    def sums(self, infosets: SmallInts, actions: SmallInts, weights: Floats) -> Floats:
        """Sum weights, float64 [D], by infoset and action; returns float64 [P, A]."""
        places = infosets.astype(np.int64) * self.legal.shape[1] + actions
        return np.asarray(np.bincount(places, weights, self.legal.size).reshape(self.legal.shape), np.float64)

    def within(self, infosets: SmallInts) -> "tuple[Infosets, Ints | slice, SmallInts]":
        """Keep only the infosets at the given decisions, int32 [D], to save network evaluations.

        Returns:
            The restricted infosets, their numbers here, and the decisions' infosets renumbered.
        """
        chosen, numbers = np.unique(infosets, return_inverse=True)
        return self.at(chosen), chosen.astype(np.int64), numbers.astype(np.int32)


class ActionValues(NamedTuple):
    """Action values under a policy.

    Attributes:
        own_reach: float64 [I], the acting player's own reach probability.
        values: float64 [I, A], counterfactual values: expected payoffs times the reach of chance and the other players.
        infoset_values: float64 [I], their expectation under the policy.
    """

    own_reach: Floats
    values: Floats
    infoset_values: Floats

    @property
    def advantages(self) -> Floats:
        """Action values minus the policy's value, float64 [I, A]; undefined for illegal actions."""
        return self.values - self.infoset_values[:, None]


class GameInfosets(Infosets):
    """All I infosets of a compiled game, in its order, with conversions and exact values of policies.

    Attributes:
        game: the game.
        sequences: int64 [I, A], sequence of each action; 0 for illegal ones.
        begin: int64 [N + 1], each player's first infoset.
    """

    nowhere = -1.0

    def __init__(self, game: CompiledGame, kind: str = USUAL) -> None:
        self.game, self.kind, self.begin = game, kind, np.asarray(game.tree.infoset_offsets, np.int64)
        first, stride, actions = game.tree.infoset_layout.T[:, :, None]
        numbers = np.arange(int(actions.max()))
        self.player = np.repeat(np.arange(game.players, dtype=np.int32), game.infosets)
        self.legal = numbers < actions
        self.sequences = np.where(self.legal, first + stride * numbers, 0)

    @cached_property
    def features(self) -> Singles:  # type: ignore[override]
        """Network inputs of each infoset, float32 [I, F]."""
        return infoset_features(self.game, self.kind)

    def rows(self, numbers: Any = slice(None)) -> NDArray[Any]:
        """Infoset numbers relative to the player's first infoset, int32 [n]."""
        chosen = np.arange(len(self))[numbers]
        return np.asarray(chosen - self.begin[self.player[chosen]], np.int32)

    def within(self, infosets: SmallInts) -> tuple[Infosets, Ints | slice, SmallInts]:
        """All infosets, unrestricted, since networks evaluate all of them at once."""
        return self, slice(None), infosets

    def matrix(self, table: Floats) -> Floats:
        """Convert a table float64 [Q] to a matrix float64 [I, A], zero for illegal actions."""
        return np.where(self.legal, table[self.sequences], 0.0)

    def table(self, matrix: Floats) -> Floats:
        """Convert a matrix float64 [I, A] to a table float64 [Q], with 1 for empty sequences."""
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
        """Exact values under a policy, float64 [I, A]."""
        tree, table = self.game.tree, self.table(policy)
        strategy, (values, infoset_values, _) = self.strategy(table), workspace(tree)
        for player in range(self.game.players):
            gradient(tree, self.game.payoff, player, strategy, values)
            backup(tree, player, table, values, infoset_values)
        return ActionValues(strategy[tree.infoset_parent], self.matrix(values), infoset_values)

    def opposing_reaches(self, policy: Floats) -> Floats:
        """Reach probability of chance and the other players at each infoset, float64 [I]."""
        return opposing_reaches(histories_of(self.game), self.game.tree.infoset_layout, self.table(policy))
