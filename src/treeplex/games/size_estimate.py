"""Knuth's estimate of the size of a game, from random playouts.

A playout chooses actions uniformly. The sum, along the playout, of the products of the numbers of actions is an unbiased
estimate of the number of histories (Knuth 1975, Estimating the Efficiency of Backtrack Programs). A game is refused only if a
lower bound exceeds the limit. The bound is the better of two: five standard errors below the mean, and a bound from Markov's
inequality for playouts that differ by orders of magnitude: of n playouts the r-th largest is at least k times the mean with
probability at most ``comb(n, r) / k**r``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter
from typing import Final, NoReturn, final

from treeplex.errors import GameSizeError
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.turn_based import TurnBasedState

MOST_HISTORIES = 50_000_000
"""Default limit of histories that are walked (about five gigabytes)."""
LOOK_EVERY = 256
"""Steps of a walk between two checks of the time."""
EARLY_STEPS, EARLY_SECONDS = 20_000, 0.3
"""Histories after which the size is first estimated; smaller games are never estimated."""
PLAYOUTS, PLAYOUT_SECONDS = 1000, 0.6
"""Limits of an estimate in seconds and playouts, whichever is reached first."""
FEW_PLAYOUTS = 64
"""Number of playouts if the estimate is far below the limit."""
LATER, LONGER = 4.0, 0.1
"""An inconclusive estimate is repeated when the elapsed time has grown by this factor, for this fraction of it."""
DOUBT = 1e-6
"""Failure probability of Markov's bound."""
STANDARD_ERRORS = 5
HISTORY_BYTES = 100
"""Upper bounds of bytes and seconds per history when compiling."""

Playout = Callable[[Random, float], int]
"""``playout(random, deadline)``: one sample of the size, cut short at the deadline (:func:`time.perf_counter`)."""
Count = Callable[[float], int | None]
"""``count(deadline)``: the size within a factor of two, or None if unknown by the deadline."""


@dataclass(frozen=True)
class SizeEstimate:
    """A size estimated from playouts.

    Attributes:
        playouts: number of playouts.
        mean: their mean, an unbiased estimate of the size.
        error: relative standard error.
        least: a lower bound that holds almost surely.
    """

    playouts: int
    mean: int
    error: float
    least: int


def history_playout(game: Game) -> Playout:
    """Return a playout function that estimates the number of histories."""

    def play(random: Random, deadline: float) -> int:
        state: State = game.new_initial_state()
        total = product = 1
        while perf_counter() < deadline and (player := state.current_player()) != TERMINAL:
            if player == SIMULTANEOUS:
                state = TurnBasedState(state, game.num_players)
            elif player == CHANCE:
                actions: Sequence[int] = [action for action, probability in state.chance_outcomes() if probability > 0]
            else:
                actions = state.legal_actions()
            if player != SIMULTANEOUS:
                product *= len(actions)
                total += product
                state = state.child(random.choice(actions))
        return total

    return play


def estimated_histories(game: Game, playouts: int = FEW_PLAYOUTS) -> int:
    """Estimate the number of histories; deterministic for given rules."""
    playout, random = history_playout(game), Random(0)
    return sum(playout(random, math.inf) for _ in range(playouts)) // playouts


def summary_of(sizes: Sequence[int]) -> SizeEstimate:
    """Estimate the mean of a sample of sizes, which may exceed the range of floats."""
    count, mean = len(sizes), sum(sizes) // len(sizes)
    shares = [size * 10**9 // max(mean, 1) / 10**9 for size in sizes]
    spread = math.sqrt(sum((share - 1) ** 2 for share in shares) / max(count - 1, 1) / count) if count > 1 else 1.0
    below = mean * max(0, int((1 - STANDARD_ERRORS * spread) * 10**9)) // 10**9 if count >= FEW_PLAYOUTS else 0
    return SizeEstimate(count, mean, spread, max(below, markov_bound(sizes)))


def markov_bound(sizes: Sequence[int]) -> int:
    """Return a lower bound on the mean of ``sizes``, from Markov's inequality for the r-th largest size, rounded down."""
    ordered, count = sorted(sizes, reverse=True), len(sizes)
    ranks = sorted({*(2**power for power in range(count.bit_length())), count})
    best = 0
    for rank in ranks:
        shrink = (math.log(DOUBT / len(ranks)) - math.log(math.comb(count, rank))) / rank
        best = max(best, ordered[rank - 1] * int(math.exp(shrink) * 2**60) >> 60)
    return best


@final
class SizeCheck:
    """Monitors a walk and raises :class:`GameSizeError` as soon as the walk is clearly going to exceed its limit.

    Attributes:
        next_look: the number of steps at which to call :meth:`look` next.
    """

    def __init__(
        self,
        name: str,
        playout: Playout,
        limit: int = MOST_HISTORIES,
        *,
        unit: str = "histories",
        count: Count = lambda deadline: None,
    ) -> None:
        """Monitor a walk over the game ``name`` with at most ``limit`` units. An exact ``count`` is tried before playouts."""
        self._name: Final = name
        self._playout: Final = playout
        self._limit: Final = limit
        self._unit: Final = unit
        self._count: Final = count
        self._begun: Final = perf_counter()
        self._random: Final = Random(0)
        self._sizes: Final[list[int]] = []
        self._next_estimate = EARLY_SECONDS
        self.next_look = min(16, LOOK_EVERY, limit + 1)

    def look(self, steps: int, count: int) -> None:
        """Check a walk after ``steps`` steps and ``count`` units against the limit.

        Raises:
            GameSizeError: the count exceeds the limit, or will.
        """
        if count > self._limit:
            raise GameSizeError(
                f"{self._name} has more than {self._limit:,} {self._unit}; choose smaller parameters, or raise the limit "
                "(tp.compile(game, limit=...), --limit)"
            )
        spent = perf_counter() - self._begun
        if spent >= self._next_estimate or (steps >= EARLY_STEPS and self._next_estimate == EARLY_SECONDS):
            self._next_estimate = LATER * max(spent, EARLY_SECONDS)
            self._estimate(spent / max(count, 1), max(PLAYOUT_SECONDS, LONGER * spent))
        self.next_look = min(2 * steps, steps + LOOK_EVERY)
        if self._unit == "histories":
            self.next_look = min(self.next_look, self._limit + 1)

    def _clearly_small(self) -> bool:
        return len(self._sizes) >= FEW_PLAYOUTS and sum(self._sizes) * 4 < self._limit * len(self._sizes)

    def _estimate(self, seconds_each: float, seconds: float) -> None:
        deadline, most = perf_counter() + seconds, len(self._sizes) + PLAYOUTS
        try:
            counted = self._count(deadline)
            if counted is not None:
                self._next_estimate = math.inf
                if counted > 2 * self._limit:
                    self._refuse(counted, "counted over its public tree", seconds_each)
                return
            deadline = max(deadline, perf_counter() + seconds / 2)
            while len(self._sizes) < most and not self._clearly_small():
                self._sizes.append(self._playout(self._random, deadline))
                if perf_counter() >= deadline:
                    break
        except GameSizeError:
            raise
        except Exception:  # the walk reports errors in the rules with their place
            self._next_estimate = math.inf
            return
        summary = summary_of(self._sizes)
        if summary.least > self._limit:
            how = (
                f"Knuth's estimate from {summary.playouts:,} random playouts, standard error {summary.error:.0%}; "
                f"almost surely at least {count_text(summary.least)}"
            )
            self._refuse(summary.mean, how, seconds_each)

    def _refuse(self, size: int, how: str, seconds_each: float) -> NoReturn:
        raise GameSizeError(
            f"{self._name} has about {count_text(size)} {self._unit}, more than the limit of {self._limit:,} ({how}). "
            "Enumerating "
            f"them would take {time_text(size, seconds_each)} and {memory_text(size)}. Choose smaller parameters, "
            "sample it without compiling (treeplex sample, tp.sample), or raise the limit "
            "(tp.compile(game, limit=...), --limit)"
        )


def clearly_more(game: Game, most: int = MOST_HISTORIES) -> bool:
    """Return whether random playouts indicate more than ``most`` histories; fast, but not a proof."""
    playout, random, sizes = history_playout(game), Random(0), list[int]()
    deadline = perf_counter() + PLAYOUT_SECONDS
    while len(sizes) < PLAYOUTS and (len(sizes) < 2 or perf_counter() < deadline):
        sizes.append(playout(random, deadline))
        if len(sizes) >= FEW_PLAYOUTS and sum(sizes) * 4 < most * len(sizes):
            return False
    return summary_of(sizes).least > most


def count_text(count: int) -> str:
    """Format a count of any size in few characters: 123,000,000, or 4.5e12."""
    if count < 10**9:
        digits = max(0, len(str(count)) - 3)
        return f"{count // 10**digits * 10**digits:,}"
    power = math.log10(count)
    exponent = int(power + math.log10(1 / 0.995))  # 9.96 rounds to 10.0
    return f"{10 ** (power - exponent):.1f}e{exponent}"


def time_text(count: int, seconds_each: float) -> str:
    """Format the time that ``count`` steps take."""
    power = math.log10(count) + math.log10(max(seconds_each, 1e-9))
    for name, seconds in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if power >= math.log10(1.5 * seconds):
            return "more than 1,000 years" if power > math.log10(31_557_600e3) else f"about {10**power / seconds:,.0f} {name}"
    return f"about {10**power:,.0f} seconds"


def memory_text(count: int) -> str:
    """Format the memory needed to compile ``count`` histories."""
    if count * HISTORY_BYTES > 10**15:
        return "more than 1,000 TB"
    unit, size = ("TB", 10**12) if count * HISTORY_BYTES >= 10**12 else ("GB", 10**9)
    return f"about {count * HISTORY_BYTES / size:,.0f} {unit}"
