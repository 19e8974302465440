"""Games with fewer actions: what search considers, to which actions that were played all the same can be added."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.games.public import Chance, Decision, Leaf, PublicTree, State, pair_state
from treeplex.games.stakes import Stakes

Choice = Callable[[Hashable, Sequence[int]], Sequence[int]]
"""From a public node and its actions to those that are considered there."""


class ActionSubset(PublicTree):
    """Public-tree rules in which only some actions are considered.

    Attributes:
        rules: the rules of the whole game.
        chosen: what is considered at a node; it must depend on nothing but the node's future.
        added: actions considered besides, by node.
    """

    def __init__(self, rules: PublicTree, chosen: Choice, added: dict[Hashable, tuple[int, ...]] | None = None) -> None:
        self.rules, self.chosen, self.added = rules, chosen, added or {}
        self.prior, self.deals, self.root = rules.prior, rules.deals, rules.root
        self.deal_histories, self.deal_depth = rules.deal_histories, rules.deal_depth

    def with_action(self, state: State, action: float) -> "tuple[ActionSubset, int]":
        """The same with one more action at a state, and that action.

        Raises:
            GameError: the rules have no such action there.
        """
        return self.with_action_at(pair_state(state).node, int(action)), int(action)

    def with_action_at(self, node: Hashable, action: int) -> "ActionSubset":
        """The same with one more action at a node.

        Raises:
            GameError: the rules have no such action there.
        """
        visited = self.rules.visit(node)
        if not isinstance(visited, Decision) or action not in visited.actions:
            raise GameError(f"no action {action!r} at {node!r}")
        return ActionSubset(self.rules, self.chosen, self.added | {node: (*self.added.get(node, ()), action)})

    def visit(self, node: Hashable) -> Decision | Chance | Leaf:
        visited = self.rules.visit(node)
        if not isinstance(visited, Decision) or visited.private:
            return visited
        wanted = {*self.chosen(node, visited.actions), *self.added.get(node, ())}
        kept = [action for action in visited.actions if action in wanted]
        if not kept:
            raise GameError(f"no action is considered at {node!r}; leave at least one")
        return Decision(visited.player, kept)

    def child(self, node: Hashable, action: int) -> Hashable:
        return self.rules.child(node, action)

    def future(self, node: Hashable) -> Hashable:
        """The rules' own while nothing was added; then the node itself."""
        return node if self.added else self.rules.future(node)

    def picture(self, node: Hashable) -> str | None:
        return self.rules.picture(node)

    def features(self, node: Hashable) -> NDArray[np.float64] | None:
        return self.rules.features(node)

    def strengths(self, node: Hashable, player: int) -> NDArray[np.float64] | None:
        return self.rules.strengths(node, player)

    def stakes(self, node: Hashable) -> Stakes | None:
        return self.rules.stakes(node)

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        return self.rules.infostate(node, player, hand)

    def action_to_string(self, node: Hashable, action: int) -> str:
        return self.rules.action_to_string(node, action)
