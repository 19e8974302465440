"""Action abstraction: restricts a game to fewer actions, and adds off-tree actions on request."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError, SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.betting.size_grammar import parse_sizes, sizes_to_string
from treeplex.games.betting.stakes import Stakes
from treeplex.games.public import Bets, Chance, Decision, PublicState, PublicTree, State, Terminal, pair_state

Choice = Callable[[Hashable, Sequence[int]], Sequence[int]]
"""Function from a public node and its actions to those kept by the abstraction."""


class ActionAbstraction(PublicTree):
    """A public tree restricted to some actions: an action abstraction.

    Attributes:
        rules: rules of the whole game.
        chosen: function that selects the actions at a node; it may depend only on the node's future.
        added: further actions, by node.
    """

    def __init__(self, rules: PublicTree, chosen: Choice, added: dict[Hashable, tuple[int, ...]] | None = None) -> None:
        self.rules, self.chosen, self.added = rules, chosen, added or {}
        self.prior, self.deals, self.root = rules.prior, rules.deals, rules.root
        self.deal_histories, self.deal_depth = rules.deal_histories, rules.deal_depth

    def with_action(self, state: State, action: float) -> "tuple[ActionAbstraction, int]":
        """Return a copy with one more action at a state, and the action's label.

        Raises:
            GameError: the action is not legal there.
        """
        return self.with_action_at(pair_state(state).node, int(action)), int(action)

    def with_action_at(self, node: Hashable, action: int) -> "ActionAbstraction":
        """Return a copy with one more action at a node.

        Raises:
            GameError: the action is not legal there.
        """
        visited = self.rules.visit(node)
        if not isinstance(visited, Decision) or action not in visited.actions:
            raise GameError(f"action {action!r} is not legal at {node!r}")
        return ActionAbstraction(self.rules, self.chosen, self.added | {node: (*self.added.get(node, ()), action)})

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        visited = self.rules.visit(node)
        if not isinstance(visited, Decision) or visited.private:
            return visited
        wanted = {*self.chosen(node, visited.actions), *self.added.get(node, ())}
        actions = [action for action in visited.actions if action in wanted]
        if not actions:
            raise GameError(f"the abstraction has no action at {node!r}; keep at least one")
        return Decision(visited.player, actions)

    def child(self, node: Hashable, action: int) -> Hashable:
        return self.rules.child(node, action)

    def future(self, node: Hashable) -> Hashable:
        """The node's future according to the rules, or the node itself once an action has been added."""
        return node if self.added else self.rules.future(node)

    def bets(self, state: State) -> Bets | None:
        all_bets = self.rules.bets(state)
        if all_bets is None:
            return None
        considered = {*self.options(state).labels}
        numbers = [number for number, label in enumerate(self.rules.options(state).labels) if label in considered]
        return Bets(
            tuple(all_bets.kinds[number] for number in numbers), all_bets.sizes[numbers], all_bets.chips[numbers], all_bets.pot
        )

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


def bet_abstraction(rules: PublicTree | str | Game, sizes: Sequence[str]) -> ActionAbstraction:
    """Restrict a public tree to some bet sizes, keeping folds, checks and calls.

    Args:
        rules: the public-tree rules of the whole game, or its spec or rules.
        sizes: bet sizes, each a share of the pot after the call (``50%``) or all-in (``a``). A size outside the range of legal
            bets is replaced by the nearest legal bet.

    Returns:
        The restricted public tree.

    Raises:
        SpecError: a size is invalid or not offered by the rules.
    """
    rules = public_tree(rules)
    wanted = parse_sizes(",".join(map(str, sizes)), True)
    for size in wanted:
        if size.kind not in ("pot", "allin"):
            raise SpecError(f"size {size} is neither a share of the pot nor all-in; write 50%, for example, or a for all-in")
    parts = [np.inf if size.kind == "allin" else size.value for size in wanted]
    first = rules.first_state()

    def chosen(node: Hashable, actions: Sequence[int]) -> list[int]:
        bets = rules.bets(PublicState(node, first.weight))
        if bets is None:
            raise SpecError(f"{type(rules).__name__} has no bets; use a poker game")
        raised = [number for number, kind in enumerate(bets.kinds) if kind == "bet"]
        numbers = {number for number, kind in enumerate(bets.kinds) if kind != "bet"}
        for part in parts if raised else ():
            offered = bets.sizes[raised]
            part = min(max(part, offered[0]), offered[-1])
            nearest = raised[int(np.abs(offered - part).argmin())]
            if abs(bets.sizes[nearest] - part) * bets.pot > 0.5 + 1e-9:
                raise SpecError(
                    f"the game has no bet of {100 * part:.4g}% of the pot at {node!r}; change the sizes "
                    f"{sizes_to_string(wanted)}"
                )
            numbers.add(nearest)
        return [actions[number] for number in sorted(numbers)]

    return ActionAbstraction(rules, chosen)
