"""Settings for re-solving streets in full-game hold'em: bet sizes, iterations, guaranteed values, and flop leaves."""

from collections.abc import Iterator
from dataclasses import dataclass

from treeplex.base.spec import shown
from treeplex.errors import AlgorithmError, SpecError
from treeplex.games.betting.size_grammar import NO_SIZES, parse_sizes
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, BetPlan
from treeplex.search.methods import METHODS
from treeplex.search.resolving.resolved import UNSAFE
from treeplex.search.resolving.settings import ROUND, ResolveSettings
from treeplex.solvers.rules.fictitious import FictitiousRule

BLUEPRINT, ESTIMATES, RANGES = PROMISES = ("blueprint", "estimates", "ranges")
"""Opponent values that a first solve guarantees: best responses to the blueprint, the blueprint's values, or none."""
MOST_BIASED = 4
"""Number of continuations: the blueprint, and the blueprint biased towards folding, calling and raising."""
FLOP_BOARDS = 16
"""Number of complete boards used to value continuations behind a flop."""


@dataclass(frozen=True)
class StreetSolving:
    """Settings for re-solving streets.

    Attributes:
        start: the first street to solve, from 1 (flop) to 3 (river).
        bets: bet sizes on each solved street from ``start`` on; the last entry is used for later streets.
        later: bet sizes on later streets within a solve.
        raises: raise sizes on all streets.
        add_allin, force_allin: thresholds of :class:`treeplex.holdem.betting.bet_plan.BetPlan`.
        iterations: maximum number of iterations in a solve.
        gadget, method, threads, every: see :class:`treeplex.search.resolving.settings.ResolveSettings`.
        drop: hands whose reach relative to the likeliest hand is below this threshold are left out of solves and play the
            blueprint.
        promises: one of :data:`PROMISES`, the opponent values that a hand's first solve guarantees: best-response values
            against the blueprint, values where both play it (estimates, Brown and Sandholm 2017), or none; also none where too
            many boards follow, as on flops with 52 cards.
        continuations: number of continuations of the blueprint that the opponent chooses from at the end of the flop; 0 solves
            the flop to the end of the hand.
        boards: maximum number of complete boards used to value continuations.
    """

    start: int = 2
    bets: tuple[str, ...] = ("66%", "50%,100%,a")
    later: str = "75%"
    raises: str = "100%"
    add_allin: float = 1.5
    force_allin: float = 0.25
    iterations: int = 200
    gadget: str = "resolve"
    method: str = "dcfr"
    threads: int = 2
    every: str = ROUND
    drop: float = 1e-3
    promises: str = RANGES
    continuations: int = 0
    boards: int = FLOP_BOARDS

    def plans(self, street: int, least: float) -> Iterator[BetPlan]:
        """Bet plans for a solve that begins on a street, largest first: all sizes, no raises on later streets, then no raises.

        Args:
            street: the street on which the solve begins.
            least: smallest bet in chips.
        """
        sizes = self.bets[min(street - self.start, len(self.bets) - 1)]
        for here, after in ((self.raises, self.raises), (self.raises, "none"), ("none", "none")):
            plan = BetPlan.same(self.later, after, min_bet=least, add_allin=self.add_allin, force_allin=self.force_allin)
            yield plan.override(street, bets=sizes, raises=here)

    @property
    def resolving(self) -> ResolveSettings:
        """Re-solving settings for the agent that solves the spot."""
        return ResolveSettings(
            gadget=self.gadget,
            every=self.every,
            method=self.method,
            iterations=self.iterations,
            threads=self.threads,
        )

    def check(self) -> None:
        """Reject settings that contradict each other.

        Raises:
            AlgorithmError, SpecError: the message describes the first invalid setting.
        """
        _ = self.resolving
        if self.promises not in PROMISES:
            raise AlgorithmError(f"unknown promises {self.promises!r}; known: {', '.join(PROMISES)}")
        method = METHODS[self.method]
        if self.gadget != UNSAFE and isinstance(method.scheme, FictitiousRule):
            raise SpecError(f"in hold'em {self.method} does not support gadgets; use gadget={UNSAFE}, or a variant of CFR")
        if self.continuations > 1 and (method.leaves != "current" or isinstance(method.scheme, FictitiousRule)):
            raise SpecError(f"{self.method} does not support choices of continuations; use another method, such as cfr+")
        if not 0 <= self.continuations <= MOST_BIASED:
            raise AlgorithmError(f"continuations is {self.continuations}; it must be from 0 to {MOST_BIASED} in hold'em")
        for street, text in zip(HOLDEM_STREETS[self.start :], self.bets, strict=False):
            check_sizes(street, text)
        check_sizes("later", self.later)
        check_sizes("raises", self.raises, raises=True)


def check_sizes(name: str, text: str, *, raises: bool = False) -> None:
    """Reject a text that is not a list of bet sizes.

    Args:
        name: name of the setting.
        text: the sizes, separated by commas.
        raises: whether the sizes are for raises.

    Raises:
        SpecError: names the setting and the syntax of sizes.
    """
    try:
        parse_sizes(text, raises)
    except SpecError as error:
        raise SpecError(f"{name}={shown(text)}: {error}; write [50%;a] for several sizes, {NO_SIZES[0]} for no bet") from None
