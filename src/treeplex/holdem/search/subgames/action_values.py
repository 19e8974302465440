"""Action values in a street of hold'em that was searched or solved, by its average policy."""

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
    """The first street of a subgame that begins with a decision.

    Attributes:
        values: of the average policy, before and after.
        root: the node of the betting tree where the subgame begins.
        reach: both players' range weights there, float64 [hands], in the order of the compiled subgame.
    """

    values: HoldemValues
    root: int
    reach: Pair

    def of_hands(self, state: State) -> Floats:
        """Action values at a decision of the street to the acting player, float64 [A, H], in chips; H hands of the format.

        Counted from half of the pot with which the game began; NaN for hands that cannot be held or meet no hand of the other.
        """
        game, node = self.values.game, holdem_state(state).node
        event = game.betting.nodes[node]
        assert isinstance(event, Decision)
        player, tree = event.player, self.values.tree(0, 0, self.root, self.reach)
        met = self.values.compatible(0, player, tree.reach[node][1 - player])
        worth = np.array([tree.values[child][player] for child in event.children])
        found = np.full((len(worth), len(game.spot.format.hands)), np.nan)
        found[:, game.boards[0][0].hands[player]] = ratio(worth, np.broadcast_to(met, worth.shape))
        return found


def worth_of_solution(subgame: "HoldemSubgame", average: NDArray[np.float32]) -> StreetWorth | None:
    """A subgame that nothing is cut off of; None where it begins with a deal."""
    if not isinstance(subgame.game.event(subgame.state), Decision):
        return None
    values = HoldemValues(subgame.whole, average)
    return StreetWorth(values, subgame.state.node, values.root_reach())


def worth_of_search(subgame: "HoldemSubgame", search: "SubgameSearch") -> StreetWorth | None:
    """A street that is cut off and was searched, its ends worth what the leaf says of the average policy.

    None for subgames that begin with a deal or are cut after more than one street.
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
    ends = arrays.crew.work.gathered.copy()  # those of the first board lie where the whole game has them
    first, second = (own[0][subgame.held(player)] for player, own in enumerate(arrays.ranges))
    known = HoldemValues(subgame.whole, search.average_policy().astype(np.float32), ends=ends)
    return StreetWorth(known, subgame.state.node, (first, second))
