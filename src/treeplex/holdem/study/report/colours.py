"""Colours and letters for actions, shared by the terminal, pages and figures."""

from collections.abc import Sequence

FOLD, CALL, ALL_IN = "#A9CBE8", "#3DBB8F", "#A765D6"
BETS = ("#F5E663", "#E69F00", "#D65A14")
"""Bet colours, smallest to largest. They are close to the palette of Okabe and Ito (2008), adjusted so that all pairs are
distinguishable with every kind of colour vision and black text is readable on each. Brightness falls with bet size."""
INK = "#111111"
"""Text colour on all of these colours."""
RAMP = ("#F3ECD8", "#EBC98C", "#DD9E5B", "#B98586", "#8D87B8")
"""Colour ramp from low to high for equities and EVs; brightness decreases monotonically."""


def colours(kinds: Sequence[str]) -> tuple[str, ...]:
    """The colour of each action of a node, given their kinds in the order of the node (bets from small to large)."""
    return tuple(
        {"fold": FOLD, "check": CALL, "call": CALL, "allin": ALL_IN}.get(kind) or bet_colour(index, kinds)
        for index, kind in enumerate(kinds)
    )


def bet_colour(index: int, kinds: Sequence[str]) -> str:
    """The colour of a bet or raise, by its rank among the bets of the node."""
    bets = [number for number, kind in enumerate(kinds) if kind in ("bet", "raise")]
    if len(bets) == 1:
        return BETS[1]
    if len(bets) == 2:
        return (BETS[1], BETS[2])[bets.index(index)]
    where = 2 * bets.index(index) / (len(bets) - 1)
    return blend(BETS[int(where)], BETS[min(int(where) + 1, 2)], where - int(where))


def blend(first: str, second: str, part: float) -> str:
    """A blend of two colours; ``part`` 0 is the first, 1 the second."""
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + part * (b - a)):02X}" for a, b in pairs)


def ramp_colour(part: float) -> str:
    """The colour of a value; ``part`` 0 is the lowest, 1 the highest."""
    where = min(max(part, 0.0), 1.0) * (len(RAMP) - 1)
    return blend(RAMP[int(where)], RAMP[min(int(where) + 1, len(RAMP) - 1)], where - int(where))


def letters(kinds: Sequence[str]) -> tuple[str, ...]:
    """One character per action: F fold, X check, C call, A all-in, and 1, 2, ... for bets and raises by size."""
    known = {"fold": "F", "check": "X", "call": "C", "allin": "A"}
    marks, bets = [], 0
    for kind in kinds:
        if kind in known:
            marks.append(known[kind])
        else:
            bets += 1
            marks.append("123456789bdeghijklmnopqrstuvwyz"[min(bets, 31) - 1])
    return tuple(marks)


def aggressive_first(kinds: Sequence[str]) -> tuple[int, ...]:
    """Action indices in the order in which they fill a cell: largest bet first, fold last."""
    passive = {"fold": 2, "check": 1, "call": 1}
    return tuple(sorted(range(len(kinds)), key=lambda number: (passive.get(kinds[number], 0), -number)))
