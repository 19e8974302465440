"""The grammar of bet sizes: how people write what may be bet.

A list of sizes is text, separated by commas:

=========== ================================================================================================
``50%``     half the pot. A raise calls first and then raises *by* that share of the pot after the call. A bare number from
            10 on is per cent as well, ``50``, as in PioSolver; a smaller one is refused, since it could be meant in many ways.
``2.5x``    raise *to* 2.5 times the bet faced (raises only).
``100c``    a bet of 100 chips, or a raise by 100 chips. ``20c3r``: no such raise after 3 raises (raises only).
``e``       geometric: the same share of the pot on every street that is left, all-in on the last one.
            ``2e``: as if two streets were left; ``e200%``: at most 200% of the pot. A raise counts the raises
            before it on this street as streets gone.
``2.5bb``   a first bet of 2.5 big blinds; before the flop the first raise *to* 2.5 big blinds.
``a``       all-in.
``any``     every whole number of chips that the rules allow, alone.
``none``    no bet at all, alone.
=========== ================================================================================================

Grammar and meaning are those of postflop-solver (b-inary, 2023), so that trees can be compared one to one; ``any`` and big
blinds are our own. Case does not matter, and amounts are rounded to the nearest chip.
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
"""The smallest bare number that is read as per cent of the pot."""
NO_SIZES = ("none", "no", "-")
MOST = 1e9
"""The largest share of a pot, multiple and number of chips."""

GRAMMAR = (
    "write sizes such as 50% (of the pot), 2.5x (raises: times the bet faced), 100c (chips), 2.5bb (big blinds), e (geometric) "
    "or a (all-in)"
)


@dataclass(frozen=True)
class Size:
    """One size.

    Attributes:
        kind: ``pot``, ``last``, ``chips``, ``blinds``, ``geometric``, ``allin`` or ``any``.
        value: a share of the pot, a multiple of the bet faced, chips, big blinds, or the number of streets (0: those that are
            left).
        cap: for ``chips`` the most raises per street before which it may be used (0: no limit); for ``geometric`` the largest
            share of the pot (infinity: none).
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
"""Every whole number of chips that the rules allow."""


def decimal(value: float) -> str:
    """A number in plain decimals, as the grammar has them (at most ten, so that rounding noise does not show)."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def parse_sizes(text: str, raises: bool) -> tuple[Size, ...]:
    """Read a list of sizes for first bets (or donk bets), or for raises. An empty text is no size: check or call only.

    Raises:
        SpecError: text that is not a list of sizes, or a size that only raises can have.
    """
    if text.strip().lower() in NO_SIZES:
        return ()
    parts = [part.strip() for part in text.lower().split(",")]
    if parts[-1] == "":
        parts.pop()
    for part in parts[: -1 if len(parts) == 1 else None]:
        if part in (*NO_SIZES, "any"):
            what = "every bet" if part == "any" else "no bet at all"
            raise SpecError(f"{shown(part)} is for {what}, and stands alone; leave it out, or the other sizes")
    sizes = tuple(parse_size(part, text, raises) for part in parts)
    for part, size in zip(parts, sizes, strict=True):
        if max(size.value, 0.0 if size.kind == "geometric" else size.cap) > MOST:
            raise SpecError(f"bet size {within(part, text)}: it is too large; write a for all-in")
    return sizes


def check_sizes(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """The sizes, none of them a bet of nothing, or a share of the pot that says nothing.

    Raises:
        SpecError: one is.
    """
    for size in sizes:
        if size.kind not in ("allin", "any") and not (size.cap if size.kind == "geometric" else size.value):
            raise SpecError(f"bet size {shown(str(size))} is a bet of nothing; give more than 0, or none alone for no bet")
        if size.kind == "geometric" and size.value == 1 and size.cap < math.inf:
            raise SpecError(
                f"bet size {shown(str(size))}: over one street e is all-in; write a, or a share of the pot such as 75%"
            )
    return sizes


def within(part: str, text: str) -> str:
    """A part of a list of sizes, and the list where there is more of it."""
    return shown(part) if part == text.strip().lower() else f"{shown(part)} in {shown(text)}"


def parse_size(part: str, text: str, raises: bool) -> Size:
    """Read one size of the list ``text``."""
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
                f"bet size {within(part, text)}: a first bet has no bet to multiply; multiples such as 2.5x are for raises only"
            )
        if float(match[1]) <= 1:
            raise SpecError(f"raise size {within(part, text)}: the multiple must be greater than 1, such as 2.5x")
        return Size("last", float(match[1]))
    if match := CHIPS.fullmatch(part):
        if match[2] is not None and not raises:
            raise SpecError(f"bet size {within(part, text)}: only raises have a limit on their number; write 20c")
        if match[2] is not None and float(match[2]) == 0:
            raise SpecError(
                f"raise size {within(part, text)}: the number of raises must be at least 1; leave it out for no raise"
            )
        return Size("chips", float(match[1]), float(match[2] or 0))
    if match := GEOMETRIC.fullmatch(part):
        streets = float(match[1] or 0)
        if match[1] and not 1 <= streets <= MOST_STREETS:
            raise SpecError(f"bet size {within(part, text)}: the number of streets must be 1 to {MOST_STREETS}, such as 2e")
        return Size("geometric", streets, float(match[2]) / 100 if match[2] else math.inf)
    raise SpecError(f"cannot read the bet size {within(part, text)}; {GRAMMAR}")


def sizes_to_string(sizes: tuple[Size, ...]) -> str:
    """The text of a list of sizes; :func:`parse_sizes` reads it back."""
    return ",".join(map(str, sizes))
