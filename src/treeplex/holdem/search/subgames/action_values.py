"""Action values on a searched or solved hold'em street, under its average policy."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.games.public import State
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.policies.node_values import HoldemValues, ratio
from treeplex.holdem.rules.public import holdem_state
from treeplex.search.leaf import leaf_values

if TYPE_CHECKING:
    from treeplex.holdem.search.subgames.subgame import HoldemSubgame
    from treeplex.search.subgame_search import SubgameSearch

Pair = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class StreetWorth:
    """Values on the first street of a subgame that starts at a decision.

    Attributes:
        values: values of the average policy.
        root: the betting-tree node where the subgame begins.
        reach: both players' range weights there, float64 [hands], in the order of the compiled subgame.
    """

    values: HoldemValues
    root: int
    reach: Pair

    def of_hands(self, state: State) -> Floats:
        """The acting player's action values at a decision of the street, float64 [A, H], in chips; H hands of the format.

        Relative to half of the game's starting pot; NaN for hands that are impossible or have no compatible opposing hand.
        """
        game, node = self.values.game, holdem_state(state).node
        event = game.betting.nodes[node]
        assert isinstance(event, Decision)
        player, tree = event.player, self.values.tree(0, 0, self.root, self.reach)
        met = self.values.compatible(0, player, tree.reach[node][1 - player])
        worth = np.array([tree.values[child][player] for child in event.children])
        action_values = np.full((len(worth), len(game.spot.format.hands)), np.nan)
        action_values[:, game.boards[0][0].hands[player]] = ratio(worth, np.broadcast_to(met, worth.shape))
        return action_values


def worth_of_solution(subgame: "HoldemSubgame", average: NDArray[np.float32]) -> StreetWorth | None:
    """Values in a subgame without a cut; None if it starts with a deal."""
    if not isinstance(subgame.game.event(subgame.state), Decision):
        return None
    values = HoldemValues(subgame.whole, average)
    return StreetWorth(values, subgame.state.node, values.root_reach())


def worth_of_search(subgame: "HoldemSubgame", search: "SubgameSearch") -> StreetWorth | None:
    """Values on a searched street with a cut; the leaf values at its ends are those for the average policy.

    None for subgames that begin with a deal or span several streets before the cut.
    """
    if subgame.streets != 1 or not isinstance(subgame.game.event(subgame.state), Decision):
        return None
    arrays: Any = search.arrays
    average = arrays.sequence_form(search.average_policy())
    reached = arrays.reach_at_leaves(average)
    for player in (0, 1):
        arrays.write_gradient(player, average)
        values = leaf_values(search.leaf, subgame.leaves, reached, reached, player)[player]
        arrays.write_leaves(player, values * subgame.leaves.opposing(reached, player))
    ends = arrays.crew.work.gathered.copy()  # those of the first board have the same location as in the whole game
    first, second = (weights[0][subgame.held(player)] for player, weights in enumerate(arrays.ranges))
    known = HoldemValues(subgame.whole, search.average_policy().astype(np.float32), ends=ends)
    return StreetWorth(known, subgame.state.node, (first, second))
