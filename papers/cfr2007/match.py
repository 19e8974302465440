"""Matches of limit hold'em with real cards: every pair of strategies on the same deals, in both seats.

Each deal is played twice, the second time with seats and cards exchanged (duplicate poker), which removes most of the variance.
The value of a deal is either exact, by traversing the betting tree with both strategies, or sampled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.cfr2007.deals import play_hands, value_deals
from papers.cfr2007.strategy import LimitStrategy
from treeplex.base.arrays import Floats
from treeplex.errors import PolicyError, SpecError
from treeplex.holdem.buckets.buckets import placed
from treeplex.holdem.cards.strength import River

CHUNK = 4096
"""Deals whose cards are dealt at a time."""
DRAWS = 64
"""Maximum number of random numbers (actions) per sampled hand."""


@dataclass(frozen=True, eq=False)
class LimitMatch:
    """Results of all pairs of strategies, in mbb/hand.

    Attributes:
        names: of the strategies.
        deals: number of deals, each played twice.
        means: float64 [n, n], winnings of the row's strategy against the column's.
        errors: float64 [n, n], standard errors of the means; NaN of a single deal.
        sampled: whether actions were drawn; else values are exact over the betting.
    """

    names: tuple[str, ...]
    deals: int
    means: Floats
    errors: Floats
    sampled: bool

    def cells(self, row: int) -> list[str]:
        """A strategy's means and standard errors as text, empty against itself."""
        pairs = zip(self.means[row], self.errors[row], strict=True)
        return ["" if column == row else f"{mean:+.1f} ± {error:.1f}" for column, (mean, error) in enumerate(pairs)]


def play_limit(
    strategies: Sequence[LimitStrategy],
    deals: int,
    *,
    seed: int = 0,
    sampled: bool = False,
    done: Callable[[int, int], None] | None = None,
) -> LimitMatch:
    """Play every strategy against every other one.

    Args:
        strategies: at least two, for the same cards and betting.
        deals: independent deals of two hands and a board.
        seed: of cards and of actions.
        sampled: sample actions instead of computing exact values over all betting.
        done: called with (deals done, deals).

    Raises:
        PolicyError: fewer than two strategies, or they are for different games.
        SpecError: no deals.
    """
    check_alike(strategies)
    if deals < 1:
        raise SpecError(f"deals must be at least 1, not {deals}")
    count = len(strategies)
    sums, squares = np.zeros((count, count)), np.zeros((count, count))
    played = 0
    while played < deals:
        size = min(CHUNK, deals - played)
        gains = chunk_gains(strategies, size, np.random.default_rng([seed, played]), sampled)
        sums += gains.sum(axis=2)
        squares += (gains**2).sum(axis=2)
        played += size
        if done:
            done(played, deals)
    means = sums / deals
    variance = np.maximum(squares / deals - means**2, 0.0)
    errors = np.sqrt(variance / (deals - 1)) if deals > 1 else np.full_like(means, np.nan)
    return LimitMatch(tuple(strategy.name for strategy in strategies), deals, means, errors, sampled)


def check_alike(strategies: Sequence[LimitStrategy]) -> None:
    """Raise an error for strategies of different games."""
    if len(strategies) < 2:
        raise PolicyError("a match needs at least two strategies; give another run folder")
    first = strategies[0]
    for other in strategies[1:]:
        same_cards = other.game.spot.format == first.game.spot.format
        if not same_cards or any(not np.array_equal(a, b) for a, b in zip(first.game.betting, other.game.betting, strict=True)):
            raise PolicyError(f"{first.name} and {other.name} are for different cards or betting; they cannot play each other")


def chunk_gains(strategies: Sequence[LimitStrategy], size: int, random: np.random.Generator, sampled: bool) -> Floats:
    """Winnings of each strategy against each other on ``size`` deals, mean of both seats: float64 [n, n, size]."""
    sequences, wins = deal_cards(strategies, size, random)
    draws = random.random((size, DRAWS)) if sampled else np.zeros((0, 0))
    betting = strategies[0].game.betting
    milli = 1000.0 / strategies[0].game.big_blind
    count = len(strategies)
    value = np.zeros((count, count, size))  # of player 0, who is the first of the pair
    for a in range(count):
        for b in range(count):
            if a == b:
                continue
            cards = sequences[a, 0], sequences[b, 1]
            tables = strategies[a].average, strategies[b].average
            if sampled:
                play_hands(betting, *tables, *cards, wins, draws, value[a, b])
            else:
                value_deals(betting, *tables, *cards, wins, value[a, b])
    return milli * (value - value.transpose(1, 0, 2)) / 2


def deal_cards(
    strategies: Sequence[LimitStrategy], size: int, random: np.random.Generator
) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Deal boards and two hands each.

    Returns:
        uint16 [n, 2, size], each strategy's bucket sequence of the hand of each seat, and float32 [size], the sign of the
        showdown for player 0.
    """
    strengths = strategies[0].game.buckets.strengths
    deck, hands = np.array(strengths.format.deck, dtype=np.int64), strengths.format.hands
    cards = deck[np.argsort(random.random((size, len(deck))), axis=1)[:, :9]]
    places = placed(strengths, np.ascontiguousarray(cards[:, :5]))
    index = np.full((52, 52), -1)
    index[hands[:, 0], hands[:, 1]] = index[hands[:, 1], hands[:, 0]] = np.arange(len(hands))
    held = np.stack([index[cards[:, 5], cards[:, 6]], index[cards[:, 7], cards[:, 8]]], axis=1)
    river = River(strengths.format)
    found = np.empty(len(hands), dtype=np.int32)
    sequences = np.empty((len(strategies), 2, size), dtype=np.uint16)
    wins = np.empty(size, dtype=np.float32)
    for deal in range(size):
        keys, codes = river(places.boards[deal])
        one, two = held[deal]
        wins[deal] = np.sign(int(keys[one]) - int(keys[two]))
        for number, strategy in enumerate(strategies):
            strategy.game.buckets.sequences(places, deal, (keys, codes), found)
            sequences[number, 0, deal], sequences[number, 1, deal] = found[one], found[two]
    return sequences, wins
