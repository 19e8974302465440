"""Default ranges of players who see a flop, by position and preflop raises.

The ranges are hand-written approximations for six players with about 100 big blinds; they are not solved. At nine-handed
tables, all early positions use the first position's ranges. Supply better ranges if you have them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.ranges import parse_range

POSITIONS = ("UTG", "HJ", "CO", "BTN", "SB", "BB")
"""Positions in preflop order of play."""

OPEN = {
    "UTG": "22+,A2s+,K9s+,QTs+,JTs,T9s,98s,87s,76s,AJo+,KQo",
    "HJ": "22+,A2s+,K7s+,Q9s+,J9s+,T9s,98s,87s,76s,65s,ATo+,KJo+,QJo",
    "CO": "22+,A2s+,K5s+,Q8s+,J8s+,T8s+,97s+,87s,76s,65s,54s,A9o+,KTo+,QTo+,JTo",
    "BTN": "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,54s,A3o+,K8o+,Q9o+,J9o+,T8o+,98o",
    "SB": "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,54s,A2o+,K8o+,Q9o+,J9o+,T9o",
}
"""Open raises by position."""
CALL = {
    "UTG": "JJ-22,AJs-ATs,KTs+,QTs+,JTs,T9s,98s,AQo:0.5",
    "HJ": "JJ-22,AJs-ATs,KTs+,QTs+,JTs,T9s,98s,87s,AQo",
    "CO": "TT-22,AJs-A9s,KTs+,QTs+,JTs,T9s,98s,87s,76s,AQo-AJo,KQo",
    "BTN": "99-22,AJs-A2s,K9s+,Q9s+,J9s+,T8s+,97s+,86s+,75s+,65s,AJo-ATo,KJo+,QJo",
    "SB": "99-22,AJs-A2s,K6s+,Q8s+,J8s+,T8s+,97s+,86s+,75s+,64s+,54s,AJo-A8o,KTo+,QTo+,JTo",
}
"""Calls of an open raise outside the big blind, by the raiser's position."""
BIG_BLIND_CALL = {
    "UTG": "TT-22,AJs-A2s,KQs:0.5,KJs-K6s,QTs+,Q9s,J9s+,T8s+,97s+,86s+,75s+,65s,54s,AQo:0.5,AJo,KQo",
    "HJ": "TT-22,AJs-A2s,KQs:0.5,KJs-K4s,Q8s+,J8s+,T8s+,97s+,86s+,75s+,64s+,54s,AQo:0.5,AJo-ATo,KJo+,QJo",
    "CO": "99-22,ATs-A2s,KTs-K2s,QTs-Q6s,J7s+,T7s+,96s+,85s+,75s+,64s+,53s+,AJo-A9o,KTo+,QTo+,JTo",
    "BTN": "88-22,A9s-A2s,K9s-K2s,Q9s-Q2s,J9s-J4s,T9s-T6s,97s-95s,86s-85s,75s-74s,64s-63s,53s+,43s,"
    "ATo-A4o,KJo-K8o,QJo-Q9o,JTo-J9o,T9o-T8o,98o",
    "SB": "77-22,A8s-A2s,KTs-K2s,QTs-Q2s,JTs-J4s,T9s-T5s,98s-95s,87s-84s,76s-74s,65s-63s,54s-52s,43s,"
    "ATo-A2o,KJo-K6o,QJo-Q8o,JTo-J8o,T9o-T8o,98o-97o,87o",
}
"""Calls of an open raise in the big blind, by the raiser's position."""
RERAISE = {
    "UTG": "QQ+,AKs,AQs,A5s-A4s,KQs:0.5,AKo",
    "HJ": "JJ+,AQs+,A5s-A4s,KQs,AKo,AQo:0.25",
    "CO": "TT+,AJs+,A5s-A3s,KJs+,QJs:0.5,76s:0.5,AQo+,AJo:0.25,KQo:0.5",
    "BTN": "99+,ATs+,A5s-A2s,KTs+,QTs+,JTs,T9s:0.5,98s:0.5,87s:0.5,76s:0.5,AJo+,ATo:0.5,KQo",
    "SB": "88+,A9s+,A5s-A3s:0.5,KJs+,QJs,J9s:0.5,T8s:0.5,AJo+,KQo",
}
"""3-bets, by the opener's position."""
CALL_RERAISE = {
    "UTG": "JJ-77,AQs-ATs,KTs+,QJs,JTs,T9s,AKo:0.5,AQo:0.25",
    "HJ": "JJ-66,AQs-ATs,KTs+,QTs+,JTs,T9s,98s,AKo:0.5,AQo:0.5",
    "CO": "TT-55,AQs-A8s,A5s-A4s,KTs+,QTs+,JTs,T9s,98s,87s,AQo,KQo:0.25",
    "BTN": "TT-22,AJs-A4s,K9s+,QTs+,J9s+,T9s,98s,87s,76s,65s,AQo-AJo,KQo:0.5",
    "SB": "TT-44,AJs-A7s,A5s-A4s,K9s+,Q9s+,J9s+,T8s+,98s,87s,76s,AQo-ATo,KQo",
}
"""Calls of a 3-bet by the opener, by position."""
FOURTH, CALL_FOURTH = "QQ+,AKs,A5s-A4s:0.5,AKo:0.75", "KK-TT:0.75,AKs:0.5,AQs,KQs:0.5,AKo:0.25"
"""4-bets, and calls of 4-bets; also used for all later raises."""
LIMP, CHECKED = (
    "22+,A2s+,K2s+,Q2s+,J4s+,T6s+,96s+,85s+,74s+,64s+,53s+,43s,A2o+,K5o+,Q7o+,J8o+,T8o+,97o+,87o,76o",
    "77-22,A8s-A2s,K9s-K2s,Q9s-Q2s,J9s-J2s,T9s-T2s,98s-92s,87s-82s,76s-72s,65s-62s,54s-52s,42s+,32s,"
    "A8o-A2o,K9o-K2o,Q9o-Q2o,J9o-J2o,T9o-T2o,98o-93o,87o-84o,76o-74o,65o-63o,54o-53o,43o",
)
"""Limps, and the big blind's check after a limp."""


@dataclass(frozen=True)
class PreflopPart:
    """A player's preflop actions.

    Attributes:
        position: one of :data:`POSITIONS`.
        raises: the number of raises before the flop.
        raised: whether the player made the last raise.
        opener: the position of the first raiser; empty if none.
    """

    position: str
    raises: int
    raised: bool
    opener: str


def range_of(part: PreflopPart) -> str:
    """The range text of a player with these preflop actions.

    Raises:
        SpecError: an unknown position.
    """
    for name in (part.position, part.opener or "BB"):
        if name not in POSITIONS:
            raise SpecError(f"position {name!r} is not known; write {', '.join(POSITIONS)}")
    opener = part.opener if part.opener in OPEN else "SB"
    if part.raises == 0:
        return CHECKED if part.position == "BB" else LIMP
    if part.raises == 1:
        if part.raised:
            return OPEN.get(part.position, RERAISE["SB"])
        return (BIG_BLIND_CALL if part.position == "BB" else CALL)[opener]
    if part.raises == 2:
        return RERAISE[opener] if part.raised else CALL_RERAISE[opener]
    return FOURTH if part.raised else CALL_FOURTH


def position_range(part: PreflopPart) -> NDArray[np.float64]:
    """The weights of :func:`range_of`, float64 [1326]."""
    return parse_range(range_of(part))
