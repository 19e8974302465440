"""Hand histories of an evening, made from one hand."""

from tests.holdem.study.review.hands import STARS

PREFLOP = STARS[: STARS.index("Dora: calls $1.50")] + "Dora: folds\n*** SUMMARY ***\n"
MULTIWAY = STARS.replace("Carl: x: folds", "Carl: x: calls $2").replace(
    "Dora: checks\nHero: bets $2.75\nDora: calls $2.75\n", "Carl: x: checks\nDora: checks\nHero: checks\n", 1
)
MULTIWAY = MULTIWAY[: MULTIWAY.index("*** TURN")] + "*** SUMMARY ***\n"
ALL_IN = (
    STARS[: STARS.index("Dora: calls $1.50")]
    + "Dora: raises $97.50 to $100 and is all-in\nHero: calls $97.50 and is all-in\n"
    + "*** FLOP *** [Td 9d 6h]\n*** TURN *** [Td 9d 6h] [Qc]\n*** RIVER *** [Td 9d 6h Qc] [2s]\n*** SUMMARY ***\n"
)
STRADDLE = STARS.replace("*** HOLE CARDS ***", "Alice: posts straddle $2\n*** HOLE CARDS ***").replace(
    "Hero: raises $1.50 to $2.50\nCarl: x: folds", "Hero: raises $3 to $5\nCarl: x: folds"
)
STRADDLE = STRADDLE.replace("Dora: calls $1.50", "Dora: calls $4").replace(
    "Alice: folds\nBob, the (1st): folds\nHero", "Bob, the (1st): folds\nHero"
)
STRADDLE = STRADDLE.replace("Dora: calls $4", "Dora: calls $4\nAlice: folds")
ANTES = STARS.replace(
    "Carl: x: posts small blind $0.50",
    "Alice: posts the ante $0.10\nDora: posts the ante $0.10\nCarl: x: posts small blind $0.50",
)
OMAHA = STARS.replace("Hold'em No Limit", "Omaha Pot Limit")
UNKNOWN = STARS.replace("Dealt to Hero [As Qd]\n", "")
FOLDED = STARS.replace("Dealt to Hero [As Qd]", "Dealt to Alice [7c 2d]")
CUT_OFF = STARS[: STARS.index("*** RIVER")]


def numbered(hand: str, number: int) -> str:
    """The hand with another number, and so another digest."""
    return hand.replace("#240123456789", f"#{240_000_000_000 + number}")
