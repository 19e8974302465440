"""Checks that training can search the streets of full-game hold'em, before large objects are allocated."""

from collections.abc import Iterator

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE
from treeplex.games.size_estimate import count_text
from treeplex.holdem.betting.rules import CALL, BettingState
from treeplex.holdem.betting.tree_size import BettingSize, betting_size
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.nodes import check_acting
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.learn.rebel.whole.drawn_games import changed_game, sizes_of

MOST_DECISIONS = 2_000
"""Maximum number of decisions on a street, which each search traverses in Python."""
ARRAYS_BYTES = 8 * 8
"""Memory of a search in bytes per action, hand and board: policy, regrets, averages, values and other arrays."""
FEWER = "give fewer sizes (sizes=[75%;a]), a limit of raises (raises=[4;3;3;3]) or smaller stacks"
MANY_HANDS = 500
"""Minimum number of hands for which a network over single hands takes too long to train."""


def check_streets(game: PublicHoldem, settings: WholeRebelSettings, most: int | None = None) -> None:
    """Check that a game has betting on several streets, and that they are small enough to search.

    Args:
        game: the game as the user names it.
        settings: the training settings; their stacks, if any, replace the game's.
        most: maximum memory in bytes; None for all free memory.

    Raises:
        SpecError: training does not support the game; the message says what to change.
    """
    drawn = settings.stacks or ()
    rules = [changed_game(game, (stack, stack), sizes_of(game)).rules for stack in drawn] or [game.rules]
    for hand_rules in rules:
        check_acting(hand_rules)
    if len(list(called_streets(rules[0]))) < 2:
        raise SpecError(
            "all chips are in after the first street, so ReBeL has nothing to learn between streets; "
            f"give deeper stacks (stack={20 * game.rules.betting.big_blind}) or smaller sizes "
            "(sizes=[75%;a])"
        )
    free = available_memory() if most is None else most
    for table in called_streets(rules[-1]):
        check_street(game, settings, rules[-1], table, free)


def check_street(
    game: PublicHoldem, settings: WholeRebelSettings, rules: HandRules, table: BettingState, free: int | None
) -> None:
    """Check that a street is small enough to search on the minimum number of boards.

    Raises:
        SpecError: the street is too large.
    """
    rows = max(settings.boards, 1) if table.street else 1

    def needed(size: BettingSize) -> int:
        return ARRAYS_BYTES * rows * len(game.hands) * size.numbers((1,))

    def beyond(size: BettingSize) -> bool:
        return size.decisions > MOST_DECISIONS or (free is not None and needed(size) > free)

    size = betting_size(rules.betting, table, streets=1, enough=beyond)
    if not beyond(size):
        return
    name = street_names(rules.format)[table.street]
    where = "before the flop" if name == "preflop" else f"on the {name}" if name.isalpha() else f"on street {name}"
    problem = f"the betting {where} has at least {count_text(size.decisions)} decisions"
    if size.decisions > MOST_DECISIONS or free is None:
        raise SpecError(f"{problem}, too many for repeated searches (at most {MOST_DECISIONS:,}); {FEWER}")
    raise SpecError(
        f"{problem}, for which a search on {rows} boards needs at least {megabytes(needed(size))} of "
        f"memory, but {megabytes(free)} are free; {FEWER}" + (", or boards=1" if rows > 1 else "")
    )


def called_streets(rules: HandRules) -> Iterator[BettingState]:
    """Betting states at the starts of streets if players only check and call, or make the minimum raise where no call is
    offered; these streets have the largest betting trees."""
    table = rules.betting.root
    while table.player >= 0:
        yield table
        while table.player >= 0:
            actions = rules.betting.actions(table)
            table = rules.betting.after(table, CALL if CALL in actions else actions.raises[0])
        if table.player == CHANCE:
            table = rules.dealt(table, rules.format.board_sizes[table.street + 1])


def beware(game: PublicHoldem, settings: WholeRebelSettings) -> str:
    """A warning if there are too many single hands to learn; otherwise empty."""
    if settings.bins or len(game.hands) < MANY_HANDS:
        return ""
    return (
        f"a network of {len(game.hands):,} single hands on that number of boards learns little from "
        f"{settings.solves:,} streets; set bins=48 to learn bins of strength"
    )
