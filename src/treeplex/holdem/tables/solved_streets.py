"""Values a person's decisions in a hold'em hand by solving its streets."""

import importlib.util
import re
from collections.abc import Callable

from treeplex.base.version import install_hint
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.study.review.played_hand import RecordedHand, played_hand
from treeplex.holdem.study.review.review import SHARE, ReviewSettings, judged
from treeplex.holdem.tables.whole import WholeTable
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.phh import phh_of
from treeplex.run.job.record import Progress
from treeplex.search.tables.judging import DecisionReview

LATER = HOLDEM_STREETS[1:]
"""Streets that can be solved."""


def check_streets(rules: HandRules, street: str) -> None:
    """Reject games whose streets cannot be solved, before a hand is played.

    Raises:
        SpecError: the street or game is not supported, or PokerKit is not installed.
    """
    if street not in LATER:
        raise SpecError(f"--review is {street!r}; give the first street to solve: {', '.join(LATER)}")
    if rules.format is not HOLDEM or rules.betting.players != 2 or rules.betting.limits:
        raise SpecError("--review needs heads-up no-limit hold'em with 52 cards; leave it out")
    if importlib.util.find_spec("pokerkit") is None:
        raise SpecError(f"--review needs PokerKit; run: {install_hint('poker')}")


def solved_decisions(table: WholeTable, person: int, street: str, watch: Callable[[str], None]) -> list[DecisionReview]:
    """A person's decisions from a street onwards, with values from the solved streets; empty if the hand has no such street.

    The starting ranges are the usual ones of the positions, see :mod:`treeplex.holdem.study.review.review`.

    Args:
        table: the table, after a hand.
        person: the person's player number.
        street: the first street to solve.
        watch: called with the name of each street before its solve.

    Raises:
        JobInterrupt: Ctrl-C was pressed.
    """
    hand = recorded(table, person)
    wanted = LATER[LATER.index(street) :]
    there = (
        [] if hand is None else [name for street_spot in hand.streets if (name := HOLDEM_STREETS[street_spot.street]) in wanted]
    )
    if hand is None or not there:
        return []

    def report_street(name: str, progress: Progress, pot: float) -> None:
        watch(name)

    def in_big_blinds(name: str) -> str:
        return re.sub(r"\d[\d.]*", lambda chips: table.amount(float(chips[0])), name.replace("allin", "all-in"))

    decided: list[DecisionReview] = []
    for street_review in judged(hand, ReviewSettings(first=there[0]), report_street).streets:
        for made in street_review.choices:
            names = tuple(map(in_big_blinds, made.actions))
            close = SHARE * made.pot
            decided.append(DecisionReview(street_review.street, names, made.played, made.ev, made.frequency, "solution", close))
    return decided


def recorded(table: WholeTable, person: int) -> RecordedHand | None:
    """The finished hand in the form that reviews need; None if no street is heads-up with chips behind."""
    names = ["you" if player == person else "they" for player in range(table.players)]
    try:
        return played_hand(phh_of(table.history(), names), hero="you")
    except SpecError:
        return None
