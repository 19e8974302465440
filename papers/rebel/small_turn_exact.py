"""Searches with exact values on three turns of a small deck, repeated with perturbations of the size of rounding.

Searches stored by ``rebel/small_turn_boards`` are not repeated; ``small_turn`` shows the unperturbed runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from papers.common.curves import log_points
from papers.common.kept import code, kept
from papers.common.results import store_run_with, stored_with
from papers.rebel.small_turn_search import DISTURBANCE, Turn
from treeplex.search import Horizon

NAME = "rebel/small_turn_boards"
BOARDS = {
    "9cJdQcAd": "turn_holdem",
    "9c9dQcAd": "turn_holdem(board=9c9dQcAd)",
    "TcJcQcKc": "turn_holdem(board=TcJcQcKc)",
}
"""Games by turn: the default one, one with a pair, and four consecutive cards of a suit."""
HORIZON = Horizon(rounds=True, endgame=9)
"""Depth limit at the end of the round; after an all-in the deal and eight rivers are nine public nodes."""
ITERATIONS, MARKS, RIVER = 128, (16, 32, 64, 128), 256
CFR_D, SOUND, MODIFIED = "lcfr", "lcfr-avg", "lcfr-avg-modified"
EXACT = {
    CFR_D: "CFR-D",
    SOUND: "CFR-AVG",
    MODIFIED: "modified CFR-AVG",
    "flop": "FP",
    "lcfr-avg-simultaneous": "CFR-AVG, simultaneous updates",
    "lcfr-avg-modified-simultaneous": "modified CFR-AVG, simultaneous updates",
}
"""Methods by name; updates alternate, as in the paper, unless the name says otherwise."""
ALTERNATING = (CFR_D, SOUND, MODIFIED, "flop")
CLAIMED = (CFR_D, SOUND, MODIFIED)
"""Methods in the paper's claims, which are repeated."""
REPEATS = 2
"""Number of perturbed runs, in addition to the unperturbed one."""
CODE = (
    *("papers.rebel.small_turn_exact", "papers.rebel.small_turn_search"),
    *("treeplex.search", "treeplex.forms", "treeplex.engine", "treeplex.holdem.rules"),
)
"""Modules that affect results; see ``kept.py``."""
Curve = Mapping[str, Sequence[float]]
"""``played`` and ``average``, exploitability in chips at :func:`points`."""
Runs = Mapping[str, Mapping[str, Sequence[Curve]]]
"""Runs by board and method, the unperturbed one first."""


def points() -> list[int]:
    """Iterations at which policies are evaluated."""
    return log_points(ITERATIONS, a_decade=8, also=MARKS)


def settings() -> dict[str, Any]:
    """Settings that determine all stored numbers."""
    return {"boards": list(BOARDS.values()), "points": points(), "river": RIVER, "disturbance": DISTURBANCE}


def exact(turn: Turn, method: str, seed: int) -> Curve:
    """A search with exact values at the leaves; a seed above 0 perturbs it."""
    key = {"what": NAME, "game": turn.game.identity, "method": method, "river": RIVER, "points": points()}
    key |= {"seed": seed, "disturbance": DISTURBANCE, "code": code(*CODE)}
    return dict(kept(key, lambda: turn.curve(turn.rivers, method, points(), seed=seed)))


def runs_on_boards() -> Runs:
    """All searches; new ones are stored one by one."""
    known: Runs = stored_with(NAME, settings()).get("runs", {})
    found: dict[str, dict[str, Sequence[Curve]]] = {}
    for board, game in BOARDS.items():
        found[board], turn = {}, None
        for method in ALTERNATING if len(found) > 1 else EXACT:
            curves = list(known.get(board, {}).get(method, ()))
            for seed in range(len(curves), 1 + (REPEATS if method in CLAIMED else 0)):
                turn = turn or Turn(game, HORIZON, RIVER)
                curves.append(exact(turn, method, seed))
                print(board, method, seed, [f"{curves[-1]['played'][points().index(mark)]:.3f}" for mark in MARKS], flush=True)
                store_run_with(NAME, settings(), ["runs", board, method, seed], curves[-1])
            found[board][method] = curves
    return found
