"""Parameters of named games that define the deck."""

from collections.abc import Sequence

from treeplex.errors import SpecError
from treeplex.games.parameters import choice, integer, items
from treeplex.holdem.cards.format import RANKINGS, Format, small


def deck_of(game: str, ranks: int, suits: int, hole: int, deal: Sequence[int], ranking: str) -> Format:
    """The deck format given by the parameters of a named game.

    Raises:
        SpecError: a value out of range, a deck too small for the deal, or board cards before any betting.
    """
    streets = [integer(game, "deal", cards, 0) for cards in items(game, "deal", deal)]
    if streets[0]:
        raise SpecError(f"{game}: deal begins with {streets[0]}; write 0 there, since betting begins before any board card")
    return small(
        integer(game, "ranks", ranks, 1, 13),
        integer(game, "suits", suits, 1, 4),
        integer(game, "hole", hole, 1, 2),
        streets,
        choice(game, "ranking", ranking, RANKINGS),
    )
