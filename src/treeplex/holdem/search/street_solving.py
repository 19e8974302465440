"""How streets of whole hold'em are solved again: sizes, solves, what they keep, and where a flop ends."""

from collections.abc import Iterator
from dataclasses import dataclass

from treeplex.base.spec import shown
from treeplex.errors import AlgorithmError, SpecError
from treeplex.games.betting.size_grammar import NO_SIZES, parse_sizes
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, BetPlan
from treeplex.search.resolving.settings import ROUND, Resolving

BLUEPRINT, ESTIMATES, RANGES = PROMISES = ("blueprint", "estimates", "ranges")
"""What a hand's first solve keeps: what hands could get at most against the blueprint, what they get by it, or only ranges."""
MOST_BIASED = 4
"""Continuations: the blueprint, and the same biased to folding, calling or raising."""
FLOP_BOARDS = 16
"""Complete boards on which continuations behind a flop are valued."""


@dataclass(frozen=True)
class StreetSolving:
    """How streets are solved again.

    Attributes:
        start: the first street that is, 1 for the flop to 3 for the river.
        bets: sizes on each street from there on, where that street is solved for its own play; the last one is used for later
            streets below it.
        later: sizes of later streets within a solve.
        raises: sizes of raises, everywhere.
        add_allin, force_allin: where all-in is offered besides, see :class:`treeplex.holdem.betting.bet_plan.BetPlan`.
        iterations: of each solve at most.
        gadget, method, threads: see :class:`treeplex.search.resolving.settings.Resolving`.
        drop: hands that are less likely than this, compared with the likeliest one, are left out, and play the blueprint.
        promises: one of :data:`PROMISES`, what stands before a hand's first solve: what hands could get at most against the
            blueprint, what they get where both play it (estimates, Brown and Sandholm 2017), or nothing; nothing as well where
            too many boards follow, as on flops of 52 cards.
        continuations: from how many continuations of the blueprint the opponent chooses at the end of the flop; 0: the flop is
            solved to the end of the hand.
        boards: complete boards at most that continuations are valued on.
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
    drop: float = 1e-3
    promises: str = RANGES
    continuations: int = 0
    boards: int = FLOP_BOARDS

    def plans(self, street: int, least: float) -> Iterator[BetPlan]:
        """The sizes of a solve that begins on a street, then smaller trees: without raises on later streets, without any.

        Args:
            street: where it begins.
            least: the smallest bet in chips.
        """
        own = self.bets[min(street - self.start, len(self.bets) - 1)]
        for here, after in ((self.raises, self.raises), (self.raises, "none"), ("none", "none")):
            plan = BetPlan.same(self.later, after, min_bet=least, add_allin=self.add_allin, force_allin=self.force_allin)
            yield plan.override(street, bets=own, raises=here)

    @property
    def resolving(self) -> Resolving:
        """Resolving settings for the agent that solves a spot."""
        return Resolving(gadget=self.gadget, every=ROUND, method=self.method, iterations=self.iterations, threads=self.threads)

    def check(self) -> None:
        """Refuse what does not go together.

        Raises:
            AlgorithmError, SpecError: one line about the first thing that is wrong.
        """
        _ = self.resolving
        if self.promises not in PROMISES:
            raise AlgorithmError(f"unknown promises {self.promises!r}; known: {', '.join(PROMISES)}")
        if not 0 <= self.continuations <= MOST_BIASED:
            raise AlgorithmError(f"continuations must be from 0 to {MOST_BIASED} in hold'em, not {self.continuations}")
        for street, text in zip(HOLDEM_STREETS[self.start :], self.bets, strict=False):
            check_sizes(street, text)
        check_sizes("later", self.later)
        check_sizes("raises", self.raises, raises=True)


def check_sizes(name: str, text: str, *, raises: bool = False) -> None:
    """Refuse a text that is no list of bet sizes.

    Args:
        name: of the setting that has the text.
        text: the sizes, separated by commas.
        raises: whether they are for raises.

    Raises:
        SpecError: it names the setting, and says how sizes are written.
    """
    try:
        parse_sizes(text, raises)
    except SpecError as error:
        raise SpecError(f"{name}={shown(text)}: {error}; [50%;a] for several, {NO_SIZES[0]} for no bet") from None
