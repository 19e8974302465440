"""Spots of a small deck."""

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
TURN = "TcJdQcKd"


def small_spot(bets: BetPlan | str = "50%,a", board: str = TURN) -> Spot:
    """All hands, a pot of 2 and 3 behind; ten cards."""
    plan = BetPlan.same(bets, "") if isinstance(bets, str) else bets
    return Spot(parse_cards(board), 2.0, 3.0, all_hands(DECK), plan, format=DECK)
