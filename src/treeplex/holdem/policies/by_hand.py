"""Hold'em policies from a public state on, for the engine and its searches: tables over hand classes.

Hands that a policy treats alike form a class: a bucket or a single hand. A table holds the policy of each class at a decision,
so the tree below a state is traversed once for all boards that share the same classes.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.forms.betting_forest import Forest
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import board_part
from treeplex.holdem.rules.public import HoldemGame


class Classes(NamedTuple):
    """Classes of hands that share a policy.

    Attributes:
        name: name of the tables; boards with the same classes have the same name.
        size: number of classes.
        of: int64 [H], the class of each hand; arbitrary for blocked hands.
    """

    name: Hashable
    size: int
    of: Ints


@runtime_checkable
class HandPolicy(Protocol):
    """A policy for all hands from a public state of hold'em on.

    Attributes:
        game: its betting from that state on.
    """

    @property
    def game(self) -> HoldemGame: ...

    def classes(self, board: tuple[int, ...]) -> Classes:
        """The classes of hands on a board."""
        ...

    def table(self, node: int, name: Hashable) -> Floats:
        """Policy of each class at a decision of the betting tree, float64 [A, classes].

        Args:
            node: index of the decision.
            name: name of the tables, see :meth:`classes`.
        """
        ...


@dataclass(frozen=True, eq=False)
class Bias:
    """A policy in which the probabilities of some kinds of action are multiplied by a factor, then renormalised.

    Attributes:
        policy: the policy.
        kinds: ``fold``, ``check`` and so on, see :class:`treeplex.holdem.betting.tree.Action`.
        factor: the factor.
    """

    policy: HandPolicy
    kinds: tuple[str, ...]
    factor: float

    def __post_init__(self) -> None:
        if not self.factor > 0:
            raise AlgorithmError(f"the factor of a bias is {self.factor!r}; give a number above 0")

    @property
    def game(self) -> HoldemGame:
        """The game that the policy is for."""
        return self.policy.game

    def classes(self, board: tuple[int, ...]) -> Classes:
        """The classes of hands on a board; see :class:`HandPolicy`."""
        return self.policy.classes(board)

    def table(self, node: int, name: Hashable) -> Floats:
        """The biased policy of each class at a decision; see :class:`HandPolicy`."""
        event = self.game.tree.nodes[node]
        assert isinstance(event, Decision)
        factors = np.array([self.factor if action.kind in self.kinds else 1.0 for action in event.actions])
        weighted = self.policy.table(node, name) * factors[:, None]
        return np.asarray(weighted / weighted.sum(axis=0))


FOLDS, CALLS, RAISES = ("fold",), ("check", "call"), ("bet", "raise", "allin")


def biased_hands(policy: HandPolicy, factor: float = 10.0) -> list[HandPolicy]:
    """Return the policy, and copies biased towards folding, calling and raising.

    Raises:
        AlgorithmError: the factor is not positive.
    """
    return [policy, *(Bias(policy, kinds, factor) for kinds in (FOLDS, CALLS, RAISES))]


def written(policy: HandPolicy, whole: CompiledSpot) -> NDArray[np.float32]:
    """A policy at all decisions of a compiled spot with the same betting, in a solver's layout, float32 [Q].

    Raises:
        AlgorithmError: the spot has different betting.
    """
    if whole.betting is not policy.game.tree:
        raise AlgorithmError("the policy's betting differs from the compiled spot's; compile the spot with the policy's bets")
    stored = np.empty(whole.stored, np.float32)
    for street, boards in enumerate(whole.boards):
        forest, tables = whole.forests[street], dict[Hashable, list[Singles]]()
        for number, board in enumerate(boards):
            classes = policy.classes(board.cards)
            if classes.name not in tables:
                tables = {classes.name: [stored_tables(policy, forest, player, classes) for player in (0, 1)]}
            for player, table in enumerate(tables[classes.name]):
                hands = board.hands[player]
                rows = stored[board_part(whole, street, number, player)].reshape(-1, len(hands))
                np.take(table, classes.of[hands], axis=1, out=rows, mode="wrap")
    return stored


def stored_tables(policy: HandPolicy, forest: Forest, player: int, classes: Classes) -> Singles:
    """The policy of each class at a player's decisions on a street, in a solver's order, float32 [actions, classes]."""
    rows = np.zeros((forest.actions[player], classes.size), np.float32)
    for node, (_, first, count) in zip(forest.numbers[player], forest.nodes[player], strict=True):
        rows[first : first + count] = policy.table(node, classes.name)
    return rows
