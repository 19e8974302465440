"""Ready-made spots: spots from text, and the games used in published results."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import HOLDEM, Format, flop, rhode_island, royal, small
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.spots.spot import Rake, Spot


def holdem(
    board: str,
    oop: str | Floats,
    ip: str | Floats,
    *,
    pot: float,
    stack: float,
    bets: BetPlan | FixedLimit,
    rake: Rake | None = None,
    chip: float = 1.0,
    blinds: tuple[float, float] | None = None,
) -> Spot:
    """A hold'em spot whose board and, optionally, ranges are given as text: ``holdem("Td9d6h", "QQ+,AK", "22+", ...)``.

    The other arguments are the fields of :class:`Spot`.

    Raises:
        SpecError: a text that cannot be read, or a value out of range.
    """
    ranges = weights(oop), weights(ip)
    return Spot(parse_cards(board), pot, stack, ranges, bets, rake or Rake(), chip=chip, blinds=blinds)


def weights(range_: str | Floats) -> Floats:
    """A range as float64 [1326], from text or array."""
    return parse_range(range_) if isinstance(range_, str) else range_


def all_hands(format: Format) -> tuple[Floats, Floats]:
    """Weight 1 for every hand of both players."""
    return np.ones(len(format.hands)), np.ones(len(format.hands))


def turn_endgame_holdem(board: str = "3s7hTdKs", stack_behind: float = 19_000.0) -> Spot:
    """Turn endgame hold'em: no-limit hold'em from the turn, every hand equally likely, 1,000 chips per player in the pot.

    First bets are 0.5 pot, 1 pot or all-in, raises 0.75 pot or all-in; the big blind of 100 is the smallest bet. Source:
    Brown et al. (2020), "Combining deep reinforcement learning and search for imperfect-information games", appendix C.2.
    The paper's 20,000 chips per player can be read with the pot included (``stack_behind`` 19,000, the default) or excluded.
    ``board`` has four cards.
    """
    plan = BetPlan.same("50%,100%,a", "75%,a", min_bet=100.0)
    return Spot(parse_cards(board), 2_000.0, stack_behind, all_hands(HOLDEM), plan)


def limit_holdem(small_bet: float = 10.0) -> Spot:
    """Heads-up limit Texas hold'em from the deal: at most four bets per street, blinds of half a small bet and one small bet.

    Bets are one small bet before the turn and two from then on. With the default (blinds 5 and 10, bets 10 and 20) this is the
    game of Zinkevich et al. (2007), "Regret minimization in games with incomplete information". Stacks never run out.

    Raises:
        SpecError: ``small_bet`` is not greater than 0.
    """
    bets = FixedLimit((small_bet, small_bet, 2 * small_bet, 2 * small_bet), (4, 4, 4, 4))
    return Spot((), 0.0, unbound(bets), all_hands(HOLDEM), bets, chip=small_bet / 2, blinds=(small_bet / 2, small_bet))


def rhode_island_holdem(ranks: int = 13) -> Spot:
    """Rhode Island hold'em from the deal: ante 5, bets of 10, then 20 and 20, at most three per street.

    Source: Shi and Littman (2001), "Abstraction methods for game theoretic poker"; the sizes are those with the linear
    program of 91,224,226 rows in Gilpin and Sandholm (2007), "Lossless abstraction of imperfect information games".
    """
    form = rhode_island(ranks)
    bets = FixedLimit((10.0, 20.0, 20.0), (3, 3, 3))
    return Spot((), 10.0, unbound(bets), all_hands(form), bets, format=form)


def flop_holdem(raises: int = 3) -> Spot:
    """Flop hold'em from the deal: blinds of 50 and 100, raises of 100, at most ``raises`` of them on each of two streets.

    Source: Brown, Lerer, Gross and Sandholm (2019), "Deep counterfactual regret minimization"; with 1 raise it is ``2-1`` of
    Bowling, Burch, Johanson and Tammelin's CFR+ program (2015).

    Raises:
        SpecError: ``raises`` is negative.
    """
    bets = FixedLimit((100.0, 100.0), (raises + 1, raises))  # the big blind counts as a bet
    return Spot((), 0.0, unbound(bets), all_hands(flop()), bets, format=flop(), chip=50.0, blinds=(50.0, 100.0))


def royal_holdem(raises: int = 1) -> Spot:
    """Limit hold'em with the 20 cards from ten to ace and all four streets, at most ``raises`` raises on each.

    Blinds are 5 and 10, bets 10 and, from the turn on, 20. With 3 raises regrets alone take 94 GB.

    Raises:
        SpecError: ``raises`` is negative.
    """
    bets = FixedLimit((10.0, 10.0, 20.0, 20.0), (raises + 1, raises, raises, raises))
    return Spot((), 0.0, unbound(bets), all_hands(royal()), bets, format=royal(), chip=5.0, blinds=(5.0, 10.0))


def leduc_holdem(ranks: int = 3, raises: int = 2) -> Spot:
    """Leduc poker as a spot: ``ranks`` ranks in two suits, ante 1, bets 2 and 4, at most ``raises`` bets per street."""
    form = small(ranks=ranks)
    bets = FixedLimit((2.0, 4.0), (raises, raises))
    return Spot((), 2.0, unbound(bets), all_hands(form), bets, format=form)


def unbound(bets: FixedLimit) -> float:
    """A stack that no betting line exhausts."""
    return math.fsum(bet * (most + 1) for bet, most in zip(bets.bets, bets.most, strict=True))


NAMED: Mapping[str, Callable[[], Spot]] = {
    "turn_endgame": turn_endgame_holdem,
    "flop_holdem": flop_holdem,
    "royal_holdem": royal_holdem,
    "rhode_island_holdem": rhode_island_holdem,
    "leduc_holdem": leduc_holdem,
}
"""The spots of :data:`treeplex.holdem.spots.spot_table.NAMED`."""
