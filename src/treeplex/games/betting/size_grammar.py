"""The grammar of bet sizes.

A list of sizes is a string of sizes separated by commas:

=========== ================================================================================================
``50%``     half the pot. A raise is *by* that fraction of the pot after calling. A bare number from
            10 up is a percentage too (``50``), as in PioSolver. Smaller bare numbers are ambiguous and refused.
``2.5x``    raise *to* 2.5 times the bet faced (raises only).
``100c``    a bet of 100 chips, or a raise by 100 chips. ``20c3r``: no such raise after 3 raises (raises only).
``e``       geometric: the same fraction of the pot on every remaining street, all-in on the last.
            ``2e``: as if two streets remained. ``e200%``: at most 200% of the pot. For a raise, each
                        earlier raise on this street counts as a street.
``2.5bb``   a first bet of 2.5 big blinds; before the flop the first raise *to* 2.5 big blinds.
``a``       all-in.
``any``     every legal whole number of chips; cannot be combined with other sizes.
``none``    no bet; cannot be combined with other sizes.
=========== ================================================================================================

Grammar and semantics follow postflop-solver (b-inary, 2023), so that trees can be compared one to one. ``any`` and big blinds
are additions. Case is ignored, and amounts are rounded to the nearest chip.
"""

import math
import re
from dataclasses import dataclass

from treeplex.base.spec import shown
from treeplex.errors import SpecError

NUMBER = r"(\d++(?:\.\d*+)?|\.\d++)"
POT = re.compile(rf"{NUMBER}%")
LAST = re.compile(rf"{NUMBER}x")
BLINDS = re.compile(rf"{NUMBER} ?bb")
CHIPS = re.compile(rf"{NUMBER}c(?:(\d+)r)?")
GEOMETRIC = re.compile(rf"(\d*)e(?:{NUMBER}%)?")
MOST_STREETS = 100
LEAST_BARE = 10
"""Smallest bare number that is read as a percentage of the pot."""
NO_SIZES = ("none", "no", "-")
MOST = 1e9
"""Largest fraction of the pot, multiple of a bet, or number of chips."""

GRAMMAR = (
    "write sizes such as 50% (of the pot), 2.5x (raises: times the bet faced), 100c (chips), 2.5bb (big blinds), e (geometric) "
    "or a (all-in)"
)


@dataclass(frozen=True)
class Size:
    """One bet size.

    Attributes:
        kind: ``pot``, ``last``, ``chips``, ``blinds``, ``geometric``, ``allin`` or ``any``.
        value: a fraction of the pot, a multiple of the bet faced, chips, big blinds, or a number of streets (0: all remaining).
        cap: for ``chips``, the number of raises per street after which it is not used (0: no limit); for ``geometric``, the
            largest fraction of the pot (infinity: no limit).
    """

    kind: str
    value: float = 0.0
    cap: float = 0.0

    def __str__(self) -> str:
        if self.kind == "pot":
            return f"{decimal(self.value * 100)}%"
        if self.kind == "last":
            return f"{decimal(self.value)}x"
        if self.kind == "chips":
            return f"{decimal(self.value)}c" + (f"{self.cap:.0f}r" if self.cap else "")
        if self.kind == "blinds":
            return f"{decimal(self.value)}bb"
        if self.kind == "geometric":
            most = "" if math.isinf(self.cap) else f"{decimal(self.cap * 100)}%"
            return (f"{self.value:.0f}" if self.value else "") + "e" + most
        return "any" if self.kind == "any" else "a"


ANY = (Size("any"),)
"""Every legal whole number of chips."""


def decimal(value: float) -> str:
    """Format a number as a plain decimal with at most ten places, which hides rounding errors."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def parse_sizes(text: str, raises: bool) -> tuple[Size, ...]:
    """Parse a list of sizes for bets (or donk bets) or for raises; an empty string allows only check and call.

    Raises:
        SpecError: the text is not a list of sizes, or has a raise size for a bet.
    """
    if text.strip().lower() in NO_SIZES:
        return ()
    parts = [part.strip() for part in text.lower().split(",")]
    if parts[-1] == "":
        parts.pop()
    for part in parts[: -1 if len(parts) == 1 else None]:
        if part in (*NO_SIZES, "any"):
            what = "every bet" if part == "any" else "no bet"
            raise SpecError(f"{shown(part)} means {what} and cannot be combined with other sizes; remove it or the other sizes")
    sizes = tuple(parse_size(part, text, raises) for part in parts)
    for part, size in zip(parts, sizes, strict=True):
        if max(size.value, 0.0 if size.kind == "geometric" else size.cap) > MOST:
            raise SpecError(f"bet size {within(part, text)} is too large; write a for all-in")
    return sizes


def check_sizes(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """Check that no size is a zero bet or a redundant geometric size; return the sizes.

    Raises:
        SpecError: a size is invalid.
    """
    for size in sizes:
        if size.kind not in ("allin", "any") and not (size.cap if size.kind == "geometric" else size.value):
            raise SpecError(f"bet size {shown(str(size))} must be greater than 0; write none to allow no bets")
        if size.kind == "geometric" and size.value == 1 and size.cap < math.inf:
            raise SpecError(
                f"bet size {shown(str(size))}: a geometric size over one street is all-in; write a, or a percentage of the "
                "pot such as 75%"
            )
    return sizes


def within(part: str, text: str) -> str:
    """Quote a size, followed by the list it belongs to if that list has other sizes."""
    return shown(part) if part == text.strip().lower() else f"{shown(part)} in {shown(text)}"


def parse_size(part: str, text: str, raises: bool) -> Size:
    """Parse one size of the list ``text``."""
    if part in ("a", "any"):
        return Size("allin" if part == "a" else part)
    if match := BLINDS.fullmatch(part):
        return Size("blinds", float(match[1]))
    if match := POT.fullmatch(part):
        return Size("pot", float(match[1]) / 100)
    if (match := re.fullmatch(NUMBER, part)) and float(match[1]) >= LEAST_BARE:
        return Size("pot", float(match[1]) / 100)
    if match := LAST.fullmatch(part):
        if not raises:
            raise SpecError(
                f"bet size {within(part, text)}: multiples such as 2.5x apply only to raises; write a percentage of the pot "
                "such as 75%"
            )
        if float(match[1]) <= 1:
            raise SpecError(f"raise size {within(part, text)}: the multiple must be greater than 1, such as 2.5x")
        return Size("last", float(match[1]))
    if match := CHIPS.fullmatch(part):
        if match[2] is not None and not raises:
            raise SpecError(
                f"bet size {within(part, text)}: a limit on the number of raises applies only to raises; write the size "
                "alone, such as 20c"
            )
        if match[2] is not None and float(match[2]) == 0:
            raise SpecError(
                f"raise size {within(part, text)}: the limit on the number of raises must be at least 1; omit the size for "
                "no raise"
            )
        return Size("chips", float(match[1]), float(match[2] or 0))
    if match := GEOMETRIC.fullmatch(part):
        streets = float(match[1] or 0)
        if match[1] and not 1 <= streets <= MOST_STREETS:
            raise SpecError(f"bet size {within(part, text)}: the number of streets must be 1 to {MOST_STREETS}, such as 2e")
        return Size("geometric", streets, float(match[2]) / 100 if match[2] else math.inf)
    raise SpecError(f"cannot read the bet size {within(part, text)}; {GRAMMAR}")


def sizes_to_string(sizes: tuple[Size, ...]) -> str:
    """Format a list of sizes; :func:`parse_sizes` reads it back."""
    return ",".join(map(str, sizes))
