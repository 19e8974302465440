"""Best-response values of hands on hold'em streets against the policy of a solve."""

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
    """Best-response values on one hold'em street with a cut, whose leaf entries are in the arrays.

    Raises:
        AlgorithmError: the subgame spans several streets before the cut.
    """
    if subgame.streets > 1:
        raise AlgorithmError("best-response values need a subgame of one street, or one that reaches the end of the game")
    arrays.respond(player)
    ends = arrays.crew.work.gathered.copy()  # those of its board have the same location as in the whole game
    return HoldemValues(subgame.whole, np.array(policy, np.float64), ends=ends, responder=player)


class HoldemResponse:
    """A best response on hold'em streets."""

    def __init__(self, subgame: "HoldemSubgame", values: HoldemValues, player: int) -> None:
        """Prepare a player's best-response values, which are read on demand."""
        self.subgame, self.player, self._values = subgame, player, values
        first, second = (weights[0, subgame.held(owner)] for owner, weights in enumerate(subgame.normalised))
        self._reach = first, second

    def at(self, path: tuple[int, ...]) -> Floats:
        """Best-response values; see :class:`treeplex.search.subgames.subgame.ResponseValues`."""
        subgame, values, game = self.subgame, self._values, self.subgame.game
        state, street, board_index = subgame.state, 0, 0
        tree = values.tree(street, board_index, state.node, self._reach)
        for label in path:
            before, event = state, game.event(state)
            state = holdem_state(game.after(state, label))
            if len(state.board) > len(before.board):
                street += 1
                number = board_number(subgame.whole, street, state.board) if street < len(subgame.whole.forests) else None
                if number is None or not isinstance(event, StreetEnd) or (len(subgame.leaves) and street == subgame.streets):
                    raise GameError(f"the subgame does not contain {game.name_of(state)}")
                board_index = number
                tree = values.tree(street, board_index, state.node, values.below(street, board_index, tree.reach[before.node]))
        board = values.board_number(street, board_index)
        hands = subgame.whole.boards[street][board_index].hands[self.player]
        met = values.compatible(board, self.player, tree.reach[state.node][1 - self.player])
        hand_values = np.full(len(game.spot.format.hands), np.nan)
        hand_values[hands] = ratio(tree.values[state.node][self.player], met)
        return hand_values
