"""Values and exploitability on spots that another solver has printed figures for; the figures' source is in the data file.

``TREEPLEX_SLOW=1`` also solves the spots that take a minute. ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.libratus_endgames import read_libratus_endgame
from treeplex.holdem.spots.spot import Spot

DATA = json.loads((Path(__file__).parents[2] / "data" / "poker_reference.json").read_text())
REFERENCE: dict[str, Any] = {name: case for name, case in DATA.items() if not name.startswith("_")}
ENDGAMES, SLOW = os.environ.get("TREEPLEX_ENDGAMES"), os.environ.get("TREEPLEX_SLOW", "") not in ("", "0")
SINGLE = float(np.finfo(np.float32).eps)
"""The reference computes in single precision."""


def spot_of(name: str) -> Spot:
    case = REFERENCE[name]["spot"]
    if "endgame" in case:
        return read_libratus_endgame(Path(ENDGAMES or "") / f"subgame{case['endgame']}.txt")
    plan = BetPlan.same(case["bets"], case["raises"], river_donk=case.get("donk"), **case.get("thresholds", {}))
    return holdem(case["board"], case["oop"], case["ip"], pot=case["pot"], stack=case["stack"], bets=plan)


def cases(kind: str) -> list[Any]:
    """Names of the spots with such figures; those are skipped that need files or time that were not offered."""
    found = []
    for name in (name for name, case in REFERENCE.items() if kind in case):
        no_file = "endgame" in REFERENCE[name]["spot"] and not ENDGAMES
        no_time = kind == "solved" and REFERENCE[name].get("slow") and not SLOW
        reason = "TREEPLEX_ENDGAMES does not name the folder of LibratusEndgames" if no_file else "TREEPLEX_SLOW is not set"
        found.append(pytest.param(name, marks=pytest.mark.skipif(bool(no_file or no_time), reason=reason)))
    return found


@pytest.mark.slow_cases("flop")
@pytest.mark.parametrize("name", cases("uniform"))
def test_uniform_strategies(name: str) -> None:
    """Both programs judge the same strategy in the same game: what they say agrees to single precision."""
    spot, printed = spot_of(name), REFERENCE[name]["uniform"]
    found = solve_spot(spot, iterations=0, threads=1)
    assert 100 * found.exploitability / spot.pot == pytest.approx(printed["exploitability_percent"], rel=4 * SINGLE)
    assert found.ev[0] == pytest.approx(printed["ev_oop"], abs=(spot.stack + spot.pot) * SINGLE)


@pytest.mark.slow_cases("turn")
@pytest.mark.parametrize("name", cases("solved"))
def test_solved_spots(name: str) -> None:
    """Both values lie near the game's.

    Without rake a spot is a zero-sum game. Player i's EV u_i and gain g_i from a best response bracket its value v for the
    first player: u_0 - g_1 <= v <= u_0 + g_0, because u_i + g_i is no less than what player i can get against anything. The
    exploitability e is (g_0 + g_1) / 2, so |u_0 - v| <= 2 e, for our strategies and for those of the reference.
    """
    spot, printed = spot_of(name), REFERENCE[name]["solved"]
    theirs = printed["exploitability_percent"] / 100 * spot.pot
    slow = REFERENCE[name].get("slow", False)
    found = solve_spot(spot, target=theirs, iterations=10 * printed["iterations"], threads=None if slow else 1)
    assert found.target_reached
    digits = len(str(printed["ev_oop"]).partition(".")[2])
    assert abs(found.ev[0] - printed["ev_oop"]) <= 2 * found.exploitability + 2 * theirs + 0.5 * 10.0**-digits
    assert found.ev[0] == pytest.approx(-found.ev[1], abs=(spot.stack + spot.pot) * SINGLE)
