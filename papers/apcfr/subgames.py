"""Asynchronous predictive CFR+ on two river subgames of no-limit hold'em, compared with published exploitabilities.

The game files are not part of the project: ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames' subgame3.txt and
subgame4.txt.
"""

from typing import Any

from papers.common.kept import code, kept
from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.ddcfr.hands import HANDS, NUMBERS, Subgame, hand_curve

PUBLISHED = published("apcfr")["subgames"]
POINTS = (1000, 3000, 5000)
NAMES = ("pcfr+", "sapcfr+", "apcfr+", "apdcfr+", "dcfr", "dcfr+")


def curve_of(game: Subgame, algorithm: str) -> list[float]:
    """Exploitability in the authors' unit after each of ``POINTS``."""
    key = {"game": game.spot.identity, "algorithm": algorithm, "points": POINTS, "storage": "float64", "code": code(*HANDS)}
    found: list[float] = kept(key, lambda: hand_curve(game.compiled, algorithm, POINTS, game.crew))
    return [game.scale * value for value in found]


@study(title="Subgames 3 and 4 of no-limit hold'em", place=2, minutes=1, needs=("TREEPLEX_ENDGAMES",))
def reproduce() -> Result:
    games = {name: Subgame(name) for name in NUMBERS}
    runs: dict[str, Any] = {name: {one: curve_of(game, name) for one, game in games.items()} for name in NAMES}
    rows = []
    for name, found in runs.items():
        if name in PUBLISHED:
            cells = [text for value in PUBLISHED[name] for text in ("", "", f"{value:.2e}")]
            rows.append([f"`{name}`", "published", *cells])
        rows.append([f"`{name}`", "measured", *(f"{value:.2e}" for one in games for value in found[one])])
    theirs = [PUBLISHED["sapcfr+"][place] / PUBLISHED["pcfr+"][place] for place in (0, 1)]
    ratios = {name: [runs[name][one][-1] / PUBLISHED[name][place] for place, one in enumerate(games)] for name in NAMES[:2]}
    named = ["{:.2f} and {:.2f}".format(*ratios[name]) for name in NAMES[:2]]
    better = [runs["sapcfr+"][one][-1] / runs["pcfr+"][one][-1] for one in games]
    return Result(
        source=PUBLISHED["source"],
        findings=[
            f"After {POINTS[-1]:,} iterations `pcfr+` is at {named[0]} times the published exploitability of Subgames 3 "
            f"and 4, `sapcfr+` at {named[1]} times.",
            f"`sapcfr+` is at {better[0]:.2f} and {better[1]:.2f} times `pcfr+` (published: {theirs[0]:.2f} and "
            f"{theirs[1]:.2f}). The discounting variants are less exploitable than all predictive ones on both subgames.",
        ],
        tables=[
            Table(
                "Exploitability by number of iterations, big blinds",
                ("algorithm", "", *(f"{one}, {points:,}" for one in games for points in POINTS)),
                rows,
            )
        ],
        notes=[
            "The number of iterations is not published with the table. At 5,000, `pcfr+` matches its published values. "
            "The files are interpreted as in the DDCFR authors' program. Double precision, alternating updates.",
        ],
        numbers={"runs": runs},
    )
