"""A turn taken apart where its betting round ends, for search: the round by itself, and the rivers below it by themselves."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.forms.holdem.betting_forest import Forest, grow
from treeplex.forms.holdem.boards import Hands
from treeplex.forms.holdem.compile_spot import CompiledSpot, arrays_of, compile_spot
from treeplex.games.poker.betting.tree import Showdown, StreetEnd, payoffs
from treeplex.games.poker.spots.spot import Spot

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SplitTurn:
    """A spot with two streets, and its parts; all have the same boards, and hands in the same order.

    Attributes:
        game: the whole spot, every river by itself: ranges may be replaced, so suits cannot stand for each other.
        top: the first street; of the rivers only those after an all-in, where nobody acts. Where players go on to act,
            nothing is paid.
        below: the rivers under the open ends. Its first street has no betting, but one root (and one end) for each open end,
            so that the range with which a player comes to an end is one row of reach.
        open_ends: int64 [K], the ends of the first street after which players act.

    What a solver stores of ``game`` is what it stores of ``top``, followed by what it stores of ``below``.
    """

    game: CompiledSpot
    top: CompiledSpot
    below: CompiledSpot
    open_ends: Ints

    @property
    def nodes(self) -> list[int]:
        """The nodes of the betting tree where the open ends are, a street end each."""
        numbers = {node.child: number for number, node in enumerate(self.game.betting.nodes) if isinstance(node, StreetEnd)}
        return [numbers[self.game.forests[0].below[k]] for k in self.open_ends]


def split_turn(spot: Spot) -> SplitTurn:
    """Compile a spot for search. Hands with a weight in its ranges are those that can be held; the weights can be replaced.

    Raises:
        GameError: the spot has not two streets, or as :func:`compile_spot`.
    """
    if len(spot.streets) != 2:
        raise GameError(f"the spot has {len(spot.streets)} streets of betting, not 2: give the board of the turn")
    game = compile_spot(spot, isomorphism=False)
    first = game.forests[0]
    all_in = [isinstance(game.betting.nodes[node], Showdown) for node in first.below]
    open_ends = np.flatnonzero(~np.array(all_in, bool))
    return SplitTurn(game, top_of(game), below_of(game, open_ends), open_ends)


def part_of(game: CompiledSpot, forests: list[Forest]) -> CompiledSpot:
    """The spot with other forests on the same boards."""
    return replace(game, forests=forests, form=arrays_of(game.spot, forests, game.boards, Hands(game.spot)))


def top_of(game: CompiledSpot) -> CompiledSpot:
    """The first street, and showdowns on the rivers after an all-in."""
    first, last = game.forests
    river = Forest(last.street, last.roots)
    for k, number in enumerate(last.roots):
        node = game.betting.nodes[number]
        if isinstance(node, Showdown):
            river.showdowns.append((k, k))
            river.showdown_values.append(payoffs(node, game.spot.rake))
    return part_of(game, [first, river])


def below_of(game: CompiledSpot, ends: Ints) -> CompiledSpot:
    """The rivers under some ends of the first street."""
    first, last = game.forests
    roots = [first.below[k] for k in ends]
    door = Forest(first.street, roots, ends=[(k, k) for k in range(len(roots))], below=roots)
    river = Forest(last.street, roots)
    grow(river, game.betting, game.spot.rake, last=True)
    return part_of(game, [door, river])
