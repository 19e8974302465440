"""Bucketed hold'em by name."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from treeplex.base.notices import reporting, tell
from treeplex.errors import SpecError
from treeplex.games.parameters import GameInfo, flag, integer, items, real
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.buckets.game import BucketGame, Table
from treeplex.holdem.buckets.plan import BLINDS, HISTOGRAM, LIMIT_BETS, MOST_SEQUENCES, BucketPlan
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.cards.format import Format, format_named
from treeplex.holdem.spots.known import all_hands, unbound
from treeplex.holdem.spots.spot import Spot

if TYPE_CHECKING:
    from treeplex.holdem.buckets.buckets import Buckets

NAME = "bucketed_holdem"


def bucketed_holdem(
    *,
    buckets: int | Sequence[int] = 5,
    cards: str = "holdem",
    board: str = "",
    sizes: Sequence[str] = (),
    stack: float = 0,
    pot: float = 0,
    method: str = "percentile",
    nested: bool = True,
    boards: int = 20_000,
    river_boards: int = 20_000,
    seed: int = 0,
) -> BucketGame:
    """Bucketed hold'em: fixed limit, or no-limit if ``sizes`` and ``stack`` are given; payoffs in chips.

    Raises:
        SpecError: a value out of range.
    """
    form = format_named(str(cards))
    start = parse_cards(str(board)) if board else ()
    street = form.street(start)
    played = form.streets - street
    given = [
        integer(NAME, "buckets", count, 1)
        for count in (items(NAME, "buckets", buckets) if isinstance(buckets, list | tuple) else [buckets] * played)
    ]
    if len(given) != played or form.streets != 4:
        raise SpecError(f"{NAME}: buckets are {given}; give one number, or one for each of the {played} streets")
    one, two, three, four = [*[1] * street, *given]
    plan = BucketPlan(
        (one, two, three, four), str(method), flag(NAME, "nested", nested), integer(NAME, "river_boards", river_boards, 1)
    )
    plan.check_sequences(MOST_SEQUENCES)
    bets: BetPlan | FixedLimit = LIMIT_BETS
    if sizes:
        texts = ",".join(map(str, items(NAME, "sizes", sizes)))
        bets = BetPlan.same(texts, texts)
    elif stack:
        raise SpecError(
            f"{NAME}: stack is {stack}, but 'sizes' is missing; leave out 'stack' for fixed limit, or add sizes=[100%;a]"
        )
    behind = real(NAME, "stack", stack, 1) if sizes else unbound(LIMIT_BETS)
    before = real(NAME, "pot", pot, 0)
    spot = Spot(start, before, behind, all_hands(form), bets, format=form, blinds=None if start else BLINDS)
    key = plan, form, start
    count, first = integer(NAME, "boards", boards, 1), integer(NAME, "seed", seed, 0)
    values: dict[str, object] = {"buckets": given[0] if len(set(given)) == 1 else given, "cards": str(cards)}
    values |= {"board": cards_to_string(start), "sizes": list(sizes), "stack": stack, "pot": pot, "method": plan.method}
    values |= {"nested": plan.nested, "boards": count, "river_boards": plan.boards, "seed": first}
    return BucketGame(
        spot,
        given,
        lambda: tables_of(*key, count, first),
        buckets=lambda: buckets_of(*key),
        spec=INFO.spec(values),
        parameters=values,
    )


@lru_cache(maxsize=4)
def buckets_of(plan: BucketPlan, form: Format, start: tuple[int, ...] = ()) -> "Buckets":
    """The buckets of a plan on boards with the given first cards; hand strengths are cached on disk."""
    from treeplex.holdem.buckets.buckets import (
        make_buckets,
    )  # imported here because they load Numba, which most games do not need
    from treeplex.holdem.buckets.strength_files import load_clusters, load_strengths

    with reporting(None, "preparing buckets"):
        strengths = load_strengths(form, done=lambda n, of: tell(f"computing hand strengths: part {n} of {of}"))
        tell("dividing hands into buckets")
        ready = load_clusters(strengths, plan.counts, plan.seed, tell) if plan.method == HISTOGRAM else None
        return make_buckets(strengths, plan, start=start, ready=ready)


@lru_cache(maxsize=1)
def tables_of(plan: BucketPlan, form: Format, start: tuple[int, ...], boards: int, seed: int) -> tuple[Table, Table]:
    """The joint tables of a plan's buckets."""
    from treeplex.holdem.buckets.joint import joint_tables

    with reporting(None, "counting pairs of hands"):
        return joint_tables(
            buckets_of(plan, form, start),
            boards,
            seed=seed,
            start=start,
            done=lambda n, of: tell(f"counting pairs of hands: {n:,}/{of:,} boards"),
        )


INFO = GameInfo(
    name=NAME,
    summary="hold'em with hands bucketed by strength: limit hold'em from the deal, or no limit from any street",
    source="Zinkevich, Johanson, Bowling and Piccione (2007), Regret minimization in games with incomplete information",
    build=bucketed_holdem,
    meanings={
        "buckets": "buckets per street: one number, or a list",
        "cards": "holdem, or a smaller deck with the same streets, such as royal",
        "board": "starting board, such as Td9d6h; empty for a preflop start with blinds of 1 and 2",
        "sizes": "no limit: bet and raise sizes, such as [100%;a]; empty for fixed limit with bets of 2, 2, 4 and 4",
        "stack": "no limit: chips behind, blinds included",
        "pot": "starting pot in chips, half from each player",
        "method": "percentile, kmeans, kmeans-pair or (with nested=false) histogram",
        "nested": "true: split hands again after every sequence of buckets; false: once per street",
        "boards": "random boards for the joint distribution of bucket sequences; all boards if there are no more",
        "river_boards": "random boards for the river's buckets, or for all streets' buckets with a starting board",
        "seed": "seed of the boards",
    },
)
