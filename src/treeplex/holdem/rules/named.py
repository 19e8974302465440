"""Named small poker games, for algorithms that enumerate infosets; see :mod:`treeplex.holdem.rules.rules`.

Amounts are whole chips. Actions are numbered separately for each game: fold, check, call, then bets, raises and all-ins by
amount."""

from collections.abc import Mapping, Sequence

from treeplex.errors import SpecError
from treeplex.games.parameters import GameInfo, integer, items
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.cards.format import Format, rhode_island, small
from treeplex.holdem.rules.deck_parameters import deck_of
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import all_hands, unbound
from treeplex.holdem.spots.spot import Spot

TURN = 4
"""Number of board cards on the turn."""


def small_holdem(
    *,
    ranks: int = 3,
    suits: int = 2,
    hole: int = 1,
    deal: Sequence[int] = (0, 1),
    ranking: str = "five",
    ante: int = 1,
    bets: Sequence[int] = (),
    raises: int = 2,
    sizes: Sequence[str] = (),
    stack: int = 0,
) -> PokerGame:
    """Hold'em with a small deck; payoffs in chips. Betting is fixed limit, or no limit with ``sizes`` and a ``stack``.

    Raises:
        SpecError: a value out of range, a deck too small for the deal, or bets that do not fit the streets.
    """
    name = "small_holdem"
    form = deck_of(name, ranks, suits, hole, deal, ranking)
    streets = list(form.deal)
    values: dict[str, object] = {"ranks": ranks, "suits": suits, "hole": hole, "deal": streets, "ranking": ranking}
    values |= {"ante": ante, "bets": bets, "raises": raises, "sizes": sizes, "stack": stack}
    if sizes:
        if bets:
            raise SpecError(f"{name}: 'bets' is for fixed limit and 'sizes' for no limit; give only one of them")
        texts = ",".join(map(str, items(name, "sizes", sizes)))
        plan: BetPlan | FixedLimit = BetPlan.same(texts, texts, streets=len(streets))
        integer(name, "stack", stack, 1)
    else:
        plan = fixed_limit(name, bets or [2, *[4] * (len(streets) - 1)], raises, len(streets))
        integer(name, "stack", stack, 0)
    return game(SMALL_HOLDEM_INFO, values, form, plan)


def no_limit_leduc(
    *, ranks: int = 3, suits: int = 2, ante: int = 100, stack: int = 1200, sizes: Sequence[str] = ("100%", "a")
) -> PokerGame:
    """No-limit Leduc poker: one private and one public card, bets as fractions of the pot or all-in; payoffs in chips.

    The smallest bet and raise is one ante. Smaller sizes become one ante, and sizes beyond the stack become all-in. With the
    same deck, ante and stack, infostates with few sizes also exist with more sizes, so a policy for fewer sizes is part of a
    policy for more sizes.

    Raises:
        SpecError: a value out of range, or a size that cannot be read.
    """
    name = "no_limit_leduc"
    form = small(integer(name, "ranks", ranks, 1, 13), integer(name, "suits", suits, 1, 4), 1, (0, 1))
    ante = integer(name, "ante", ante, 1)
    stack = integer(name, "stack", stack, ante + 1)
    offered = [str(size) for size in items(name, "sizes", sizes)]
    texts = ",".join(offered)
    plan = BetPlan.same(texts, texts, streets=form.streets, min_bet=float(ante))
    values = {"ranks": ranks, "suits": suits, "ante": ante, "stack": stack, "sizes": offered}
    spot = Spot((), 2.0 * ante, float(stack - ante), all_hands(form), plan, format=form)
    return PokerGame(spot, NO_LIMIT_LEDUC_INFO.spec(values), values)


def turn_holdem(
    *,
    ranks: int = 6,
    suits: int = 2,
    board: str = "",
    ante: int = 1,
    stack: int = 20,
    bets: Sequence[str] = ("50%", "100%", "a"),
    raises: Sequence[str] = ("75%", "a"),
) -> PokerGame:
    """Turn endgame hold'em with a small deck: no-limit hold'em from a given turn on, with two betting rounds; payoffs in chips.

    Turn endgame hold'em (Brown et al. 2020, appendix C.2) has 1,000 chips per player in the pot, 20,000 behind, and these
    bets and raises; the defaults are the same in thousands, rounded to whole chips. Every hand is equally likely. The
    default ``board`` is that of :func:`spread_board`.

    Raises:
        SpecError: a value out of range, a size that cannot be read, fewer than nine cards, or a board without exactly four of
            them.
    """
    name = "turn_holdem"
    form = small(integer(name, "ranks", ranks, 1, 13), integer(name, "suits", suits, 1, 4), 2, (0, 3, 1, 1))
    spread = spread_board(ranks, suits)
    cards = parse_cards(str(board)) if board else spread
    form.check_cards(cards)
    if len(cards) != TURN:
        raise SpecError(f"{name}: board has {len(cards)} cards; the turn has {TURN}, such as board={cards_to_string(spread)}")
    offered = [list(map(str, sizes)) for sizes in (items(name, "bets", bets), items(name, "raises", raises) if raises else ())]
    values = {"ranks": ranks, "suits": suits, "board": cards_to_string(cards) if board else ""}
    values |= {"ante": ante, "stack": stack, "bets": offered[0], "raises": offered[1]}
    plan = BetPlan.same(*map(",".join, offered), streets=form.streets)
    pot, behind = 2.0 * integer(name, "ante", ante, 1), float(integer(name, "stack", stack, 1))
    return PokerGame(Spot(cards, pot, behind, all_hands(form), plan, format=form), TURN_HOLDEM_INFO.spec(values), values)


def spread_board(ranks: int, suits: int) -> tuple[int, ...]:
    """A board of four cards from a small deck, spread over its ranks and suits as evenly as possible."""
    return tuple(4 * (13 - ranks + (2 * i + 1) * ranks // (2 * TURN)) + i % suits for i in range(TURN))


def rhode_island_poker(*, ranks: int = 13, ante: int = 5, bets: Sequence[int] = (10, 20, 20), raises: int = 3) -> PokerGame:
    """Rhode Island hold'em: one hole card each, two single board cards, three-card hands, fixed limit; payoffs in chips.

    Raises:
        SpecError: a value out of range.
    """
    name = "rhode_island"
    form = rhode_island(integer(name, "ranks", ranks, 1, 13))
    values: dict[str, object] = {"ranks": ranks, "ante": ante, "bets": bets, "raises": raises}
    return game(RHODE_ISLAND_INFO, values, form, fixed_limit(name, bets, raises, form.streets))


def fixed_limit(name: str, bets: Sequence[int], raises: int, streets: int) -> FixedLimit:
    """The fixed-limit betting plan with these bet sizes and this number of raises.

    Raises:
        SpecError: a bet below one chip, or not one bet per street.
    """
    sizes = [integer(name, "bets", bet, 1) for bet in items(name, "bets", bets)]
    if len(sizes) != streets:
        raise SpecError(f"{name}: bets needs one size for each of the {streets} streets, such as bets=[2;4], not {sizes}")
    return FixedLimit(tuple(map(float, sizes)), (integer(name, "raises", raises, 0),) * streets)


def game(info: GameInfo, values: Mapping[str, object], form: Format, plan: BetPlan | FixedLimit) -> PokerGame:
    """The game with these parameters; a stack of 0 means a stack that fixed-limit betting cannot exhaust."""
    ante = integer(info.name, "ante", values["ante"], 1)
    stack = float(integer(info.name, "stack", values.get("stack", 0), 0))
    if isinstance(plan, FixedLimit) and not stack:
        stack = unbound(plan)
    parameters = {key: list(value) if isinstance(value, list | tuple) else value for key, value in values.items()}
    return PokerGame(Spot((), 2.0 * ante, stack, all_hands(form), plan, format=form), info.spec(values), parameters)


SMALL_HOLDEM_INFO = GameInfo(
    name="small_holdem",
    summary="hold'em with a small deck, one or two hole cards, fixed limit or no limit",
    source="Southey et al. (2005), Bayes' bluff, with the defaults: Leduc poker; other decks are ours",
    build=small_holdem,
    meanings={
        "ranks": "highest ranks in the deck, 1 to 13",
        "suits": "suits in the deck, 1 to 4",
        "hole": "hole cards per player, 1 or 2",
        "deal": "board cards dealt before each street of betting, beginning with 0",
        "ranking": "five: the best five cards of hold'em; three: the three-card hands of Rhode Island hold'em",
        "ante": "ante, in chips",
        "bets": "fixed limit: the bet of each street, in chips; empty for 2 and then 4",
        "raises": "fixed limit: most bets and raises on a street",
        "sizes": "no limit: bet and raise sizes, such as [50%;a]; empty for fixed limit",
        "stack": "chips behind the ante; 0 for a stack that fixed limit never exhausts",
    },
)

NO_LIMIT_LEDUC_INFO = GameInfo(
    name="no_limit_leduc",
    summary="no-limit Leduc poker: bets as shares of the pot, and all-in",
    source="Moravčík et al. (2017), DeepStack: the game DeepStack-Leduc of its tutorial",
    build=no_limit_leduc,
    meanings={
        "ranks": "highest ranks in the deck, 1 to 13",
        "suits": "suits in the deck, 1 to 4",
        "ante": "ante and smallest bet, in chips",
        "stack": "chips of each player, ante included",
        "sizes": "bet and raise sizes, as shares of the pot after the call, or all-in (a)",
    },
)

TURN_HOLDEM_INFO = GameInfo(
    name="turn_holdem",
    summary="no-limit hold'em with a small deck from a given turn, two streets of betting",
    source="Brown et al. (2020), Combining deep reinforcement learning and search, with a full deck; small decks are ours",
    build=turn_holdem,
    meanings={
        "ranks": "highest ranks in the deck, 1 to 13",
        "suits": "suits in the deck, 1 to 4",
        "board": "the four board cards, such as TcJdQhAs; empty for a board spread over ranks and suits",
        "ante": "chips of each player in the pot",
        "stack": "chips behind",
        "bets": "first bet sizes, as shares of the pot or all-in (a)",
        "raises": "raise sizes",
    },
)

RHODE_ISLAND_INFO = GameInfo(
    name="rhode_island",
    summary="one private and two public cards, three-card hands, three rounds of limit betting",
    source="Shi and Littman (2001), Abstraction methods for game theoretic poker",
    build=rhode_island_poker,
    meanings={
        "ranks": "highest ranks in the deck of four suits, 1 to 13; 13 is too large to enumerate",
        "ante": "ante, in chips",
        "bets": "the bet of each street, in chips",
        "raises": "most bets and raises on a street",
    },
)
