"""What hands get in streets of hold'em by their best response to a policy that a solve of them found."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.holdem.betting.tree import StreetEnd
from treeplex.holdem.forms.layout import board_number
from treeplex.holdem.policies.node_values import HoldemValues, ratio
from treeplex.holdem.rules.public import holdem_state

if TYPE_CHECKING:
    from treeplex.holdem.search.subgames.subgame import HoldemArrays, HoldemSubgame


def values_to_leaves(subgame: "HoldemSubgame", arrays: "HoldemArrays", policy: NDArray[Any], player: int) -> HoldemValues:
    """The values of a best response in one street of hold'em that is cut off, whose leaves' entries the arrays have.

    Raises:
        AlgorithmError: a subgame that is cut off after more than one street.
    """
    if subgame.streets > 1:
        raise AlgorithmError("values are read in one street of hold'em that is cut off, or in streets to the end")
    arrays.respond(player)
    ends = arrays.crew.work.gathered.copy()  # those of its board lie as in the whole game
    return HoldemValues(subgame.whole, np.array(policy, np.float64), ends=ends, responder=player)


class HoldemResponse:
    """A best response in streets of hold'em."""

    def __init__(self, subgame: "HoldemSubgame", values: HoldemValues, player: int) -> None:
        """Read the values of a player's best response where they are asked for."""
        self.subgame, self.player, self._values = subgame, player, values
        first, second = (own[0, subgame.held(each)] for each, own in enumerate(subgame.normalised))
        self._reach = first, second

    def at(self, path: tuple[int, ...]) -> Floats:
        """See :class:`treeplex.search.subgames.subgame.ResponseValues`."""
        subgame, values, game = self.subgame, self._values, self.subgame.game
        state, street, place = subgame.state, 0, 0
        tree = values.tree(street, place, state.node, self._reach)
        for label in path:
            before, event = state, game.event(state)
            state = holdem_state(game.after(state, label))
            if len(state.board) > len(before.board):
                street += 1
                number = board_number(subgame.whole, street, state.board) if street < len(subgame.whole.forests) else None
                if number is None or not isinstance(event, StreetEnd) or (len(subgame.leaves) and street == subgame.streets):
                    raise GameError(f"the subgame does not go to {game.name_of(state)}")
                place = number
                tree = values.tree(street, place, state.node, values.below(street, place, tree.reach[before.node]))
        board = values.board_number(street, place)
        hands = subgame.whole.boards[street][place].hands[self.player]
        met = values.compatible(board, self.player, tree.reach[state.node][1 - self.player])
        found = np.full(len(game.spot.format.hands), np.nan)
        found[hands] = ratio(tree.values[state.node][self.player], met)
        return found
