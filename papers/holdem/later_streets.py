"""The later streets of a compiled spot as a separate form, entered with given reach probabilities, on all boards at once.

Play there depends only on both players' reach, so all rivers of a game, or its turns with rivers, are solved at once for any
earlier policy. Isomorphic boards are represented once, so the earlier policy must treat them identically, as every policy of a
compiled spot does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.holdem import CompiledSpot, HoldemGame
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.engine.form import Workspace
from treeplex.holdem.forms.betting_forest import Forest, grow
from treeplex.holdem.forms.boards import Board, deal_chance
from treeplex.holdem.forms.compile_spot import arrays_of
from treeplex.holdem.forms.layout import rows_of
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands
from treeplex.holdem.rules.public import HoldemState
from treeplex.holdem.search.subgames.subgame import HoldemPlaces


@dataclass(frozen=True, eq=False)
class LaterStreets:
    """Some last streets of a spot.

    Attributes:
        whole: the spot.
        street: the first of them, counted from the spot's first.
        dealt: whether play enters after its cards are dealt; otherwise at the end of the previous street.
        ends: int64 [E], ends of the previous street after which players act.
        form: the spot of these streets alone. Its first street has no betting and has the boards where play enters; a solver
            stores it like the end of its arrays for ``whole``.
    """

    whole: CompiledSpot
    street: int
    dealt: bool
    ends: Ints
    form: CompiledSpot

    @property
    def entered_boards(self) -> list[Board]:
        """The boards where play enters."""
        return self.form.boards[0]

    @cached_property
    def entrances(self) -> HoldemPlaces:
        """The K public states where play enters, all ends of a board together."""
        nodes = self.form.forests[0].below
        game = HoldemGame(self.whole.spot, self.whole.betting)
        return HoldemPlaces(game, tuple(HoldemState(node, board.cards) for board in self.entered_boards for node in nodes))

    @property
    def stored_before(self) -> int:
        """Number of entries that a solver stores for earlier streets."""
        return self.whole.stored - self.form.stored

    def reaches(self, work: Workspace, player: int) -> Floats:
        """The reach of a player's hands at the entrances, float64 [K, H], from scratch space of ``whole`` with own reach."""
        count, street = len(self.ends), self.street - 1
        found = np.zeros((len(self.entrances), self.entrances.widths[player]))
        rows = np.array(self.whole.forests[street].ends, np.int64)[self.ends, player]
        for number, board in enumerate(self.entered_boards):
            place, hands = board.parent if self.dealt else number, board.hands[player]
            known = rows_of(self.whole.form, work, player, place, street=street)[rows]
            own = slice(number * count, (number + 1) * count)
            found[own, hands] = known[:, board.source[player]] if self.dealt else known
        return found

    def rows(self, work: Workspace, player: int, *, gathered: bool = False) -> Iterator[tuple[slice, Ints, Floats]]:
        """For each board at the entrances: its positions, a player's hands, and their rows [E, hands] in scratch space of
        ``form``.

        The rows are views of the entering reach or of the returned values.
        """
        count = len(self.ends)
        for number, board in enumerate(self.entered_boards):
            found = rows_of(self.form.form, work, player, number, gathered=gathered)
            yield slice(number * count, (number + 1) * count), board.hands[player].astype(np.int64), found


def later_streets(whole: CompiledSpot, street: int, *, dealt: bool = False) -> LaterStreets:
    """The streets of a spot from one on.

    Args:
        whole: the spot.
        street: the first of them, counted from the spot's first.
        dealt: whether play enters after its cards are dealt, so that a gadget can be placed at each deal; otherwise before.

    Raises:
        GameError: no such street, or nobody acts there.
    """
    if not 0 < street < len(whole.forests):
        raise GameError(f"the spot has streets 1 to {len(whole.forests) - 1} after its first one, not {street}")
    above = whole.forests[street - 1]
    ends = np.array([k for k, node in enumerate(above.below) if not isinstance(whole.betting.nodes[node], Showdown)], np.int64)
    if not len(ends):
        raise GameError(f"nobody acts on street {street} of the spot; choose other bets")
    roots = [above.below[k] for k in ends]
    forests = [Forest(above.street, roots, ends=[(k, k) for k in range(len(roots))], below=roots)]
    for forest in whole.forests[street:]:
        grown = Forest(forest.street, forests[-1].below)
        grow(grown, whole.betting, whole.spot.rake, last=forest is whole.forests[-1])
        forests.append(grown)
    boards = [whole.boards[street - 1], *whole.boards[street:]]
    if dealt:
        known, chance = whole.boards[street], deal_chance(whole.spot, street)
        doors = [replace(board, children=range(k, k + 1)) for k, board in enumerate(known)]
        boards = [doors, [entered(board, k, chance) for k, board in enumerate(known)], *whole.boards[street + 1 :]]
    form = replace(whole, forests=forests, boards=boards, form=arrays_of(whole.spot, forests, boards, Hands(whole.spot)))
    return LaterStreets(whole, street, dealt, ends, form)


def entered(board: Board, number: int, chance: float) -> Board:
    """A board with its cards already dealt, as the certain child of the board with this number."""
    first, second = (np.arange(len(own), dtype=np.int16) for own in board.hands)
    return replace(
        board,
        parent=number,
        source=(first, second),
        copies=[IDENTITY],
        targets=[(first, second)],
        share=1.0 / chance,
    )
