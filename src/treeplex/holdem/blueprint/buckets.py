"""A full-game hold'em blueprint from a given street on, as a policy over hands."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import PolicyError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.betting.tree import BettingTree, Decision, StreetEnd, tree_from
from treeplex.holdem.blueprint.policy import HoldemBlueprint, bucket_rows
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.policies.by_hand import Classes, HandPolicy, biased_hands
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.whole.public import PublicHand, PublicHoldem


@dataclass(frozen=True, eq=False)
class BucketPolicy:
    """A blueprint from a street on, as a :class:`treeplex.holdem.policies.by_hand.HandPolicy` over buckets.

    Attributes:
        blueprint: the blueprint.
        game: the blueprint's betting from the street on.
        nodes: the blueprint's node for each decision of ``game``; -1 elsewhere.
    """

    blueprint: HoldemBlueprint
    game: HoldemGame
    nodes: NDArray[np.int64] = field(repr=False)
    _tables: dict[int, Floats] = field(repr=False, default_factory=dict)

    @classmethod
    def of(
        cls, blueprint: HoldemBlueprint, node: int, state: PublicHand, ranges: Sequence[Floats] | None = None
    ) -> "BucketPolicy":
        """The blueprint's policy from the start of a street on.

        Args:
            blueprint: the blueprint.
            node: its decision at the start of the street.
            state: the public state of the game there.
            ranges: for each player float64 [H], the ranges at the start of the street; None for all hands.

        Raises:
            GameError: no heads-up street begins there.
            PolicyError: the node does not match the state.
        """
        holdem = PublicHoldem(blueprint.game.rules)
        hands = np.ones(len(holdem.hands))
        tree, numbers = street_tree(blueprint, node, state.table)
        spot = holdem.spot_at(state, (hands, hands) if ranges is None else ranges, BetPlan.same("a", "a"))
        return cls(blueprint, HoldemGame(spot, tree), numbers)

    @classmethod
    def whole(cls, blueprint: HoldemBlueprint, spot: CompiledSpot) -> "BucketPolicy":
        """The blueprint's policy for the full game.

        Args:
            blueprint: the blueprint.
            spot: the game, compiled (:func:`treeplex.holdem.street_search.exact.compiled_whole`).

        Raises:
            PolicyError: the spot has different actions.
        """
        return cls(blueprint, HoldemGame(spot.spot, spot.betting), numbered(blueprint, spot.betting, 0, ""))

    def classes(self, board: tuple[int, ...]) -> Classes:
        """The bucket of each hand on a board."""
        street = self.game.spot.format.street(board)
        return Classes(street, self.blueprint.rows.counts[street], bucket_rows(self.blueprint.rows, board))

    def table(self, node: int, name: Hashable) -> Floats:
        """The policy of each bucket at a decision of the betting tree, float64 [A, classes]."""
        if node not in self._tables:
            self._tables[node] = self.blueprint.table(int(self.nodes[node]))
        return self._tables[node]

    def biased(self, factor: float = 10.0) -> list[HandPolicy]:
        """The policy, and copies biased towards folding, calling and raising."""
        return biased_hands(self, factor)


@lru_cache(maxsize=32)
def street_tree(blueprint: HoldemBlueprint, node: int, table: BettingState) -> tuple[BettingTree, Ints]:
    """The betting tree from the start of a street on, and the blueprint's node for each of its decisions (-1 elsewhere).

    Raises:
        GameError: no heads-up street begins there.
        PolicyError: the node does not match the state.
    """
    tree = tree_from(blueprint.game.rules.betting, table)
    return tree, numbered(blueprint, tree, node, table.line)


def numbered(blueprint: HoldemBlueprint, tree: BettingTree, node: int, line: str) -> Ints:
    """The blueprint's node for each decision of a betting tree, int64 [nodes]; -1 elsewhere.

    Args:
        blueprint: the blueprint.
        tree: betting with the same actions.
        node: the blueprint's node of the first decision.
        line: the actions before that decision.

    Raises:
        PolicyError: the decisions have different actions.
    """
    numbers, stack = np.full(len(tree), -1, np.int64), [(0, node)]
    while stack:
        tree_node, number = stack.pop()
        event = tree.nodes[tree_node]
        if isinstance(event, StreetEnd):
            stack.append((event.child, number))
        elif isinstance(event, Decision):
            if number < 0 or len(blueprint.labels(number)) != len(event.actions):
                raise PolicyError(
                    f"the blueprint's actions at decision {number} differ from the spot's after {line or 'the blinds'}"
                )
            numbers[tree_node] = number
            stack += [(child, blueprint.after(number, k)) for k, child in enumerate(event.children)]
    return numbers
