"""Budgets: choose bet sizes, raises, storage and threads so that a spot can be solved within a given memory and time.

:func:`fit_spot` starts from the spot's own sizes and removes sizes in the order of :data:`LADDER` until the estimates of
:mod:`treeplex.holdem.solve.estimate` are within the budget. :func:`coarse_spot` is a small version of a spot, whose strategy
can be shown while the spot itself is being built.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, final

from treeplex.base.spec import shown
from treeplex.base.storage.memory import megabytes
from treeplex.engine.threads import checked_threads
from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import Size
from treeplex.holdem.betting.bet_plan import BetPlan, StreetSizes
from treeplex.holdem.forms.spot_form import ON_DEVICE
from treeplex.holdem.solve.estimate import (
    DEFAULT_SHARE,
    JUDGED,
    START_SECONDS,
    SpotEstimate,
    estimate_spot,
    solving_seconds,
)
from treeplex.holdem.solve.solver import CPU
from treeplex.holdem.spots.as_fields import NONE, bet_fields
from treeplex.holdem.spots.fields import PLAYERS, Target, street_names
from treeplex.holdem.spots.files import SpotRequest, load_spot, request_from_options
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import TURN_ENDGAME
from treeplex.solvers.registry import DEFAULT_ALGORITHM

PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)")
MEMORY_UNITS = {"mb": 1e6, "gb": 1e9, "tb": 1e12, "m": 1e6, "g": 1e9}
TIME_UNITS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0}
EXAMPLE = "4GB,60s"
WISHED = {"bets": "33%, 75%, 150%, a", "raises": "2.5x, a", "thresholds": {"force_allin": "20%", "merge": "10%"}}
"""Betting from which a budget removes sizes, for spots without sizes of their own."""
STORAGES = ("float32", "int16")
"""Storage types that a budget chooses from, best first."""
LEAST_SECONDS = 0.1
"""Seconds that a resumed solve runs if its time is up."""
TYPICAL_BET = 0.75
"""Share of the pot of the last first bet that remains."""
COARSE_NUMBERS, LARGE_NUMBERS = 3_000_000, 12_000_000
"""Maximum numbers per array of a coarse spot, and of a spot that needs no coarse version."""


@final
@dataclass(frozen=True)
class Budget:
    """Memory and time for solving a spot.

    Attributes:
        memory: bytes; None for the free memory of the machine.
        seconds: seconds from start to end; None for no limit.
    """

    memory: float | None = None
    seconds: float | None = None

    @classmethod
    def read(cls, text: str, place: str = "budget") -> "Budget":
        """Parse ``4GB,60s``, in either order; one of the two may be missing.

        Raises:
            SpecError: the text is not a budget; the message begins with ``place``.
        """
        found: dict[str, float] = {}
        for part in filter(None, (part.strip() for part in re.split(r",|;|\band\b", text.lower()))):
            match = PART.fullmatch(part)
            unit = match[2] if match else ""
            kind, factor = ("memory", MEMORY_UNITS.get(unit)) if unit in MEMORY_UNITS else ("seconds", TIME_UNITS.get(unit))
            if match is None or factor is None or not (amount := factor * float(match[1])):
                raise SpecError(f"{place}: cannot read {shown(part)}; write memory and time, such as {EXAMPLE}")
            if kind in found:
                raise SpecError(f"{place}: {shown(text)} gives {kind} twice; write one of each, such as {EXAMPLE}")
            found[kind] = amount
        if not found:
            raise SpecError(f"{place}: is empty; write memory and time, such as {EXAMPLE}")
        return cls(found.get("memory"), found.get("seconds"))

    @property
    def solver_seconds(self) -> float | None:
        """The limit of the solver's own time, without building and evaluation; None for no limit."""
        return None if self.seconds is None else max(self.seconds - START_SECONDS, 1.0) / JUDGED

    def seconds_left(self, spent: float) -> float | None:
        """Solver seconds left after some were spent, at least :data:`LEAST_SECONDS`; None for no limit."""
        limit = self.solver_seconds
        return None if limit is None else max(limit - spent, LEAST_SECONDS)

    def __str__(self) -> str:
        parts = [] if self.memory is None else [megabytes(self.memory)]
        return ", ".join(parts + ([] if self.seconds is None else [duration(self.seconds)]))


class Caps(NamedTuple):
    """Maximum numbers of sizes for first bets and for raises on a street."""

    bets: int
    raises: int


class Rung(NamedTuple):
    """Caps on bet sizes for earlier streets, the second-last and the last one, and whether donk bets are kept by default."""

    early: Caps
    middle: Caps
    last: Caps
    leads: bool


def rung(early: tuple[int, int], middle: tuple[int, int], last: tuple[int, int], leads: bool = False) -> Rung:
    """Create a rung of :data:`LADDER` from (bets, raises) for earlier streets, the second-last and the last one."""
    return Rung(Caps(*early), Caps(*middle), Caps(*last), leads)


LADDER: Final = (
    rung((9, 9), (9, 9), (9, 9), leads=True),
    rung((9, 9), (9, 9), (9, 9)),
    rung((4, 2), (4, 2), (4, 2)),
    rung((3, 2), (3, 2), (3, 2)),
    rung((3, 2), (2, 2), (3, 2)),
    rung((2, 2), (2, 2), (2, 2)),
    rung((2, 1), (2, 1), (2, 1)),
    rung((2, 1), (1, 1), (2, 1)),
    rung((2, 1), (1, 1), (1, 1)),
    rung((1, 1), (1, 1), (1, 1)),
    rung((1, 1), (1, 1), (1, 0)),
    rung((1, 1), (1, 0), (1, 0)),
    rung((1, 0), (1, 0), (1, 0)),
)
"""Betting trees from large to small: the last streets, which have the most boards, lose sizes and raises first."""


@dataclass(frozen=True)
class FittedSpot:
    """A spot whose betting, storage and threads were chosen for a budget.

    Attributes:
        spot: the spot; its ``settings`` have storage, threads and target.
        budget: the budget.
        estimate: its estimate, at the speed of this machine if that was measured.
        seconds: expected seconds to the target.
        left_out: the sizes that were removed, such as ``river bets 150%, a``.
        larger: why the next larger betting tree does not fit; None if nothing was removed.
    """

    spot: Spot
    budget: Budget
    estimate: SpotEstimate
    seconds: float
    left_out: tuple[str, ...]
    larger: str | None

    @property
    def storage(self) -> str:
        """The storage type."""
        assert self.spot.settings.storage is not None
        return self.spot.settings.storage

    @property
    def memory(self) -> int:
        """Bytes for solving and evaluation."""
        return self.estimate.memory[self.storage]

    @property
    def late(self) -> bool:
        """Whether the target is expected only after the time limit."""
        return self.budget.seconds is not None and self.seconds > self.budget.seconds

    def fields(self) -> dict[str, Any]:
        """The chosen fields of a spot file."""
        how = self.spot.settings
        assert how.target is not None
        target = how.target
        text = f"{100 * target.amount:.12g}%" if target.of_pot else f"{target.amount:.12g}c"
        return {**bet_fields(self.spot), "storage": self.storage, "threads": str(how.threads), "target": text}

    def to_json(self) -> dict[str, Any]:
        """The choice as fields for ``--json``."""
        return {
            "memory_mb": None if self.budget.memory is None else self.budget.memory / 1e6,
            "seconds": self.budget.seconds,
            "fields": self.fields(),
            "left_out": list(self.left_out),
            "larger": self.larger,
            "expected_memory_mb": self.memory / 1e6,
            "expected_seconds": self.seconds,
        }

    def facts(self) -> dict[str, str]:
        """The choice as human-readable fields, by name."""
        fields = bet_fields(self.spot)
        facts = {"budget": str(self.budget)}
        facts |= {name: sizes_text(fields[name]) for name in ("bets", "raises")}
        facts["left out"] = "; ".join(self.left_out) or "nothing"
        if self.larger:
            facts["because"] = self.larger
        facts["storage"] = f"{self.storage}, {megabytes(self.memory)}"
        threads = self.estimate.threads
        facts["expected"] = f"about {duration(self.seconds)} with {threads} thread{'s' if threads > 1 else ''}"
        if self.late:
            facts["expected"] += ", longer than the budget; the solve stops when the time is up"
        return facts

    def __str__(self) -> str:
        return "\n".join(f"{name:<10} {text}" for name, text in self.facts().items())


def wished(request: SpotRequest) -> SpotRequest:
    """The request, with the sizes :data:`WISHED` if it gives no sizes."""
    own = "limit" in request.fields or any(request.layers.get(name) for name in ("bets", "raises"))
    return request if own else request.over(request_from_options(WISHED))


def fit_spot(spot: Spot, budget: Budget, *, threads: int | None = None, pace: float = 1.0) -> FittedSpot:
    """Choose the largest betting tree, the storage and the threads with which a spot can be solved within a budget.

    Args:
        spot: the spot. Sizes are removed from its own; its storage, threads and target are respected.
        budget: the memory and the time.
        threads: number of threads unless the spot's settings have one; default: one per available core.
        pace: measured seconds per iteration, divided by the estimate's; see :func:`machine_pace`.

    Raises:
        SpecError: the smallest tree does not fit into memory, or the spot has fixed limits.
    """
    plan, how = spot.bets, spot.settings
    if not isinstance(plan, BetPlan):
        raise SpecError("budget: fixed-limit spots have no sizes to choose; leave the budget out")
    if how.until:
        raise SpecError(f"budget: a budget covers all streets; leave out either 'until' ({how.until}) or the budget")
    target = how.target or Target(DEFAULT_SHARE, True)
    how = replace(how, threads=checked_threads(how.threads or threads), target=target)
    larger: str | None = None
    smallest: FittedSpot | None = None
    for bets in plans(plan, spot.street, len(street_names(spot.format))):
        fitted = fitted_storage(replace(spot, bets=bets, settings=how), budget, pace)
        if isinstance(fitted, str):
            larger = fitted
            continue
        fitted = replace(fitted, left_out=tuple(differences(plan, bets, spot)), larger=larger and f"a larger tree {larger}")
        if not fitted.late:
            return fitted
        smallest, larger = fitted, f"takes about {duration(fitted.seconds)}"
    if smallest is None:
        raise SpecError(f"budget: the smallest betting tree {larger}; narrow the ranges, or give more memory")
    return smallest


def fitted_storage(spot: Spot, budget: Budget, pace: float) -> FittedSpot | str:
    """The spot with the best storage type that fits into memory, or the reason why none fits."""
    how = spot.settings
    try:
        estimate = estimate_spot(spot, how.algorithm or DEFAULT_ALGORITHM, threads=how.threads, isomorphism=not how.locks)
    except SpecError as error:
        return f"cannot be solved ({error})"
    if estimate.refusal:
        return f"cannot be solved ({estimate.refusal})"
    most = min((limit for limit in (budget.memory, estimate.available) if limit is not None), default=math.inf)
    floats = how.device not in (None, CPU) or how.locks
    kinds = (how.storage,) if how.storage is not None else ON_DEVICE[:1] if floats else STORAGES
    fitting = [kind for kind in kinds if estimate.memory.get(kind, 0) <= most]
    if not fitting:
        return f"needs {megabytes(estimate.memory[kinds[-1]])} in {kinds[-1]}"
    estimate = replace(estimate, seconds=pace * estimate.seconds)
    chosen = replace(spot, settings=replace(how, storage=fitting[0]))
    return FittedSpot(chosen, budget, estimate, solving_seconds(estimate), (), None)


def plans(plan: BetPlan, first: int, streets: int) -> Iterator[BetPlan]:
    """Distinct bet plans along the ladder, from the full plan to the smallest."""
    last: BetPlan | None = None
    for step in LADDER:
        rows = []
        for street, sides in enumerate(plan.streets):
            caps = step.last if street == streets - 1 else step.middle if street == streets - 2 else step.early
            leads = step.leads or street == first
            rows.append(sides if street < first else (capped(sides[0], caps, leads=leads), capped(sides[1], caps, leads=True)))
        now = replace(plan, streets=tuple(rows))
        if now != last:
            yield now
        last = now


def capped(sizes: StreetSizes, caps: Caps, *, leads: bool) -> StreetSizes:
    """A player's sizes on a street, reduced to the caps; without leads, default donk bets are removed."""
    donk = sizes.donk if leads or sizes.donk is not None else ()
    return StreetSizes(
        chosen_sizes(sizes.bets, caps.bets), chosen_sizes(sizes.raises, caps.raises), donk and chosen_sizes(donk, caps.bets)
    )


def chosen_sizes(sizes: tuple[Size, ...], count: int) -> tuple[Size, ...]:
    """At most ``count`` of the sizes, in their order.

    One size: the one nearest to three quarters of the pot. Two: the smallest and that one, or the smallest and all-in if there
    are no others. More: these, then all-in, then the largest.
    """
    if len(sizes) <= count:
        return sizes
    ranked = sorted((size for size in sizes if size.kind != "allin"), key=weight_of)
    allin = [size for size in sizes if size.kind == "allin"]
    middle = sorted(ranked, key=lambda size: abs(math.log(weight_of(size) / TYPICAL_BET)))
    wanted = middle[:1] + ranked[:1] + (middle[1:2] if middle[:1] == ranked[:1] else []) + allin + ranked[::-1]
    kept = set(list(dict.fromkeys(wanted))[:count])
    return tuple(size for size in sizes if size in kept)


def weight_of(size: Size) -> float:
    """Sort key of a size: its share of the pot, exact or approximate."""
    return max(TYPICAL_BET if size.kind == "geometric" else size.value, 1e-6)


def differences(plan: BetPlan, smaller: BetPlan, spot: Spot) -> Iterator[str]:
    """The sizes of a plan that a smaller plan lacks, by street and kind."""
    for street in spot.streets:
        name, pairs = street_names(spot.format)[street], list(zip(plan.streets[street], smaller.streets[street], strict=True))
        for kind in ("bets", "raises"):
            lost = [missing(getattr(one, kind), getattr(other, kind)) for one, other in pairs]
            if lost[0] == lost[1]:
                lost = lost[:1]
            for who, sizes in zip(("",) if len(lost) == 1 else (" of OOP", " of IP"), lost, strict=True):
                if sizes:
                    yield f"{name} {kind}{who} {sizes}"
        before, after = pairs[0][0].donk, pairs[0][1].donk
        if before != after:
            yield f"{name} leads" if before is None or not after else f"{name} leads {missing(before, after)}"


def missing(sizes: Sequence[Size], kept: Sequence[Size]) -> str:
    """The dropped sizes, as text."""
    return ", ".join(str(size) for size in sizes if size not in kept)


def sizes_text(value: Any) -> str:
    """Sizes by street as one line: ``flop 33%, 75%; turn, river 75%``."""
    groups: dict[str, list[str]] = {}
    for street, sizes in value.items():
        text = sizes if isinstance(sizes, str) else ", ".join(f"{who.upper()} {sizes[who]}" for who in PLAYERS if who in sizes)
        groups.setdefault(text.replace(",", ", ").replace(",  ", ", "), []).append(street)
    return "; ".join(f"{', '.join(streets)} {text}" for text, streets in groups.items()) or NONE


def duration(seconds: float) -> str:
    """Seconds as text: ``41 s``, ``3.4 min``, ``2.1 h``."""
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.3g} min" if seconds < 6000 else f"{seconds / 3600:.3g} h"


@lru_cache(maxsize=8)
def machine_pace(threads: int) -> float:
    """Ratio of measured to estimated seconds per iteration on this machine, measured once on a small spot."""
    estimate = estimate_spot(load_spot(TURN_ENDGAME), threads=threads)
    return estimate.at_pace_here().seconds / estimate.seconds


def coarse_spot(spot: Spot, numbers: int = COARSE_NUMBERS) -> Spot | None:
    """The spot with fewer turns and rivers and one size on later streets, with at most ``numbers`` entries per array.

    The first street has the same sizes, so that its strategy has the same actions.

    Returns:
        None if the spot has at most :data:`LARGE_NUMBERS`, has no later street, or deals a subset of boards already.
    """
    first, names, plan = spot.street, street_names(spot.format), spot.bets
    later = len(names) - 1 - first
    if not later or spot.runouts or spot.settings.locks or not isinstance(plan, BetPlan):
        return None
    if estimate_spot(spot, threads=1).size.stored <= LARGE_NUMBERS:
        return None
    small = LADDER[-1]
    for caps in ((Caps(2, 1), Caps(1, 1)), (small.middle, small.last)):
        rows = list(plan.streets)
        for street in range(first + 1, len(names)):
            of_street, (oop, ip) = caps[street == len(names) - 1], plan.streets[street]
            rows[street] = capped(oop, of_street, leads=False), capped(ip, of_street, leads=True)
        for count in (5, 4, 3, 2):
            runouts = tuple(count if street > first else 0 for street in range(len(names)))
            tried = replace(spot, bets=replace(plan, streets=tuple(rows)), runouts=runouts)
            if estimate_spot(tried, threads=1).size.stored <= numbers:
                return tried
    return None
