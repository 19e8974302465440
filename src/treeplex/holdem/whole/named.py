"""The named game ``holdem``, with checks of its parameters."""

import math
from collections.abc import Mapping, Sequence

from treeplex.errors import GameError, SpecError
from treeplex.games.betting.size_grammar import ANY, Size, check_sizes, decimal, parse_sizes
from treeplex.games.parameters import GameInfo, choice, flag, integer, items, real
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, BetPlan, StreetSizes, half_up
from treeplex.holdem.betting.rules import RULES, TDA, BettingRules
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.rules.deck_parameters import deck_of
from treeplex.holdem.spots.fields import PLAYERS
from treeplex.holdem.spots.spot import PLAYERS as POSITIONS
from treeplex.holdem.spots.spot import Rake
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.hand import HandRules

NAME = "holdem"
ALL = "sizes"
"""Default sizes for streets and players."""
MOST_PLAYERS = 10
MOST_CHIPS = 10**9
LIMIT_RAISES = 4
"""Default limit of bets and raises per street in fixed limit; preflop the big blind counts as one."""
BY_PLAYER: Mapping[str, str] = {
    **{player: f"raise sizes {where}, heads-up" for player, where in zip(PLAYERS, POSITIONS, strict=True)},
    **{
        f"{player}_{street}": f"raise sizes of this player {'preflop' if street == 'preflop' else f'on the {street}'}"
        for player in PLAYERS
        for street in HOLDEM_STREETS
    },
}
"""Parameters with sizes for one of two players, on all streets or on one street."""
PLANS = (ALL, *HOLDEM_STREETS, *BY_PLAYER)
"""Every parameter that is a list of sizes."""


def holdem(
    *,
    players: int = 2,
    stack: int | Sequence[int] = 200,
    blinds: Sequence[int] = (1, 2),
    ante: int | Sequence[int] = 0,
    dealer: int = -1,
    sizes: Sequence[str] = (),
    preflop: Sequence[str] = (),
    flop: Sequence[str] = (),
    turn: Sequence[str] = (),
    river: Sequence[str] = (),
    limps: bool = True,
    add_allin: float = 0.0,
    force_allin: float = 0.0,
    merge: float = 0.0,
    bets: Sequence[int] = (),
    raises: int | Sequence[int] = 0,
    rake: float = 0.0,
    rake_cap: float = 0.0,
    no_flop_no_drop: bool = False,
    ranks: int = 13,
    suits: int = 4,
    hole: int = 2,
    deal: Sequence[int] = (0, 3, 1, 1),
    ranking: str = "five",
    rules: str = TDA,
    **by_player: Sequence[str],
) -> Holdem:
    """Texas hold'em from the blinds on, for two to ten players, payoffs in chips; no limit, or fixed limit with ``bets``.

    ``by_player`` has sizes for one of two players, see :data:`BY_PLAYER`.

    Raises:
        SpecError: a value out of range, or values that contradict each other.
    """
    given = dict(locals())
    del given["by_player"]
    for name in by_player:
        choice(NAME, "a list of sizes", name, BY_PLAYER)
    given |= {name: by_player[name] for name in BY_PLAYER if by_player.get(name)}
    seats = integer(NAME, "players", players, 2, MOST_PLAYERS)
    form = deck_format(ranks, suits, hole, deal, ranking)
    streets = form.streets
    posted = amounts("blinds", blinds, 0, seats)
    if len(posted) < 2 or list(posted) != sorted(posted) or not posted[1]:
        raise SpecError(
            f"{NAME}: blinds are {list(posted)}; give the small and the big blind, then any straddles, in ascending order"
        )
    dead = isinstance(ante, list | tuple)
    antes = amounts("ante", ante, 0, seats) if dead else (integer(NAME, "ante", ante, 0, MOST_CHIPS),) * seats
    by_seat = isinstance(stack, list | tuple)
    chips = amounts("stack", stack, 1, seats) if by_seat else (integer(NAME, "stack", stack, 1, MOST_CHIPS),) * seats
    if len(chips) != seats:
        raise SpecError(f"{NAME}: stack has {len(chips)} entries for {seats} players; give one number, or one for each player")
    limits = tuple(integer(NAME, "bets", bet, 1, MOST_CHIPS) for bet in bets)
    given["stack"] = chips[0] if len(set(chips)) == 1 else list(chips)
    if limits and len(limits) != streets:
        raise SpecError(f"{NAME}: bets needs one size for each of the {streets} streets, such as bets=[2;2;4;4]")
    plans = {name: sizes_in(name, texts) for name in PLANS if (texts := given.get(name)) not in (None, (), [])}
    check_plans(plans, form, seats, limits)
    seat = integer(NAME, "dealer", dealer, -1, seats - 1)
    thresholds = {name: real(NAME, name, given[name], 0.0) for name in ("add_allin", "force_allin", "merge")}
    betting = BettingRules(
        dealer=seats - 1 if seat < 0 else seat,
        stacks=chips,
        blinds=posted,
        antes=antes,
        big_blind_ante=dead,
        streets=streets,
        limits=limits,
        most=most_raises(raises, streets, bool(limits)),
        rules=choice(NAME, "rules", rules, RULES),
        plan=BetPlan(street_lists(plans, streets), **thresholds, limps=flag(NAME, "limps", limps)),
    )
    for name, listed in plans.items():
        try:
            check_least(name, listed, betting)
        except SpecError as error:
            raise SpecError(f"{NAME}: {name}: {error}") from None
    cap = real(NAME, "rake_cap", rake_cap, 0.0) or math.inf
    share = real(NAME, "rake", rake, 0.0)
    if share > 1:
        raise SpecError(f"{NAME}: rake is {share:g}; give a share of the pot from 0 to 1, such as 0.05")
    taken = Rake(share, cap, flag(NAME, "no_flop_no_drop", no_flop_no_drop))
    hand = HandRules(form, betting, taken)
    try:
        return Holdem(hand, INFO.spec(given), given)
    except GameError as error:
        raise SpecError(f"{NAME}: {error}") from None


def deck_format(ranks: int, suits: int, hole: int, deal: Sequence[int], ranking: str) -> Format:
    """The format: hold'em, or one with a small deck."""
    made = deck_of(NAME, ranks, suits, hole, deal, ranking)
    same = (made.deck, made.hole, made.deal, made.ranking) == (HOLDEM.deck, HOLDEM.hole, HOLDEM.deal, HOLDEM.ranking)
    return HOLDEM if same else made


def sizes_in(name: str, texts: object) -> tuple[Size, ...]:
    """The sizes of a parameter."""
    if not isinstance(texts, list | tuple):
        raise SpecError(f"{NAME}: {name} must be a list such as {name}=[50%;a], not {texts!r}")
    try:
        return check_sizes(parse_sizes(",".join(map(str, texts)), raises=True))
    except SpecError as error:
        raise SpecError(f"{NAME}: {name}: {error}") from None


def street_lists(given: Mapping[str, tuple[Size, ...]], streets: int) -> tuple[tuple[StreetSizes, StreetSizes], ...]:
    """The sizes of each street out of position and in position, from the lists ``given``: ``oop_turn``, ``turn``, ``oop``."""

    def of(street: int, player: str) -> StreetSizes:
        named = HOLDEM_STREETS[street : street + 1]
        names = (*(f"{player}_{name}" for name in named), *named, player, ALL)
        return StreetSizes.of(next((given[name] for name in names if name in given), ANY))

    return tuple((of(street, PLAYERS[0]), of(street, PLAYERS[1])) for street in range(streets))


def check_least(name: str, sizes: Sequence[Size], betting: BettingRules) -> None:
    """Reject sizes that are below the minimum raise everywhere they apply.

    Args:
        name: name of the list, which implies the street: preflop a raise is at least the largest blind.
        sizes: the list.
        betting: betting rules of the hand.

    Raises:
        SpecError: a size is too small.
    """
    blind, preflop = betting.big_blind, name.endswith(HOLDEM_STREETS[0])
    smallest = max(betting.blinds) if preflop else betting.smallest_bet
    first = 2 * smallest if preflop else smallest
    for size in sizes:
        if size.kind == "blinds" and half_up(size.value * blind) < first:
            least = decimal(first / blind)
            raise SpecError(f"bet size {decimal(size.value)}bb is below the minimum raise to {least}bb; give at least that")
        if size.kind == "chips" and size.value < smallest:
            raise SpecError(f"bet size {size} is below the minimum raise of {smallest} chips; give at least that")


def check_plans(plans: Mapping[str, object], form: Format, seats: int, limits: Sequence[int]) -> None:
    """Reject bet sizes combined with fixed limits, for missing players, or for streets that are not played."""
    if plans and limits:
        raise SpecError(f"{NAME}: 'bets' is for fixed limit and {' and '.join(plans)} for no limit; give only one of them")
    for name in plans:
        player, street = name.split("_")[0], name.split("_")[-1]
        if player in PLAYERS and seats != 2:
            raise SpecError(f"{NAME}: {name} is for two players, not {seats}; give sizes by street, such as turn=[50%;a]")
        if street in HOLDEM_STREETS[form.streets :]:
            raise SpecError(
                f"{NAME}: {name} is for a street that is not played, since the game has only {form.streets} "
                "streets; leave it out"
            )


def amounts(name: str, values: object, low: int, most: int) -> tuple[int, ...]:
    """A list of at most ``most`` chip amounts."""
    chips = tuple(integer(NAME, name, value, low, MOST_CHIPS) for value in items(NAME, name, values))
    if len(chips) > most:
        raise SpecError(f"{NAME}: {name} has {len(chips)} entries for {most} players; give at most one per player")
    return chips


def most_raises(raises: int | Sequence[int], streets: int, limit: bool) -> tuple[int, ...]:
    """Limits of bets and raises on each street; empty for no limits."""
    if not isinstance(raises, int):
        limits = tuple(integer(NAME, "raises", most, 0) for most in items(NAME, "raises", raises))
        if len(limits) != streets:
            raise SpecError(f"{NAME}: raises needs one number for each of the {streets} streets, such as raises=[3;4;4;4]")
        return limits
    if integer(NAME, "raises", raises, 0):
        return (raises,) * streets
    return (LIMIT_RAISES - 1, *[LIMIT_RAISES] * (streets - 1)) if limit else ()


INFO = GameInfo(
    name=NAME,
    summary="Texas hold'em from the blinds to the showdown, two to ten players, no limit or fixed limit",
    source="the rules of card rooms (Poker TDA, 2022) or of the Annual Computer Poker Competition; OpenSpiel universal_poker",
    build=holdem,
    meanings={
        "players": "number of players, 2 to 10",
        "stack": "chips before the hand: one number, or one per player",
        "blinds": "small and big blind, then straddles",
        "ante": "ante of every player; a list is dead money by position, small blind first: [0;2] for a big-blind ante",
        "dealer": "player on the button; -1 for the last player",
        "sizes": "raise sizes, such as [50%;100%;a], capped at all-in; empty for every integer number of chips",
        "preflop": "raise sizes preflop, such as [2.5bb;3x;a]; empty for those of sizes",
        "flop": "raise sizes on the flop, the second street; empty for those of sizes",
        "turn": "raise sizes on the turn, the third street; empty for those of sizes",
        "river": "raise sizes on the river, the fourth street; empty for those of sizes",
        "limps": "whether the first player to enter the pot preflop may just call",
        "add_allin": "add all-in if it is at most this share of the pot after a call; 0 never",
        "force_allin": "turn a raise into all-in if it leaves at most this share of the pot behind; 0 never",
        "merge": "drop a raise of Y pots next to a larger one of X pots if (1 + X) / (1 + Y) < 1 + merge; 0 never",
        "bets": "fixed limit: the bet of each street, such as [2;2;4;4]; empty for no limit",
        "raises": "most bets and raises on a street, one number or one per street; 0: four in fixed limit, else any number",
        "rake": "rake, as a share of the pot",
        "rake_cap": "most chips of rake; 0 for no cap",
        "no_flop_no_drop": "true: no rake from hands that end preflop",
        "ranks": "highest ranks in the deck, 1 to 13",
        "suits": "suits in the deck, 1 to 4",
        "hole": "hole cards per player, 1 or 2",
        "deal": "board cards dealt before each street of betting, beginning with 0",
        "ranking": "five: the best five cards of hold'em; three: the three-card hands of Rhode Island hold'em",
        "rules": "tda: the rules of card rooms; acpc: the rules of the Annual Computer Poker Competition and OpenSpiel",
    },
    optional=BY_PLAYER,
    note="full-game hold'em is far too large to compile, except with small decks and short stacks",
)
