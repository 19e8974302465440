"""Warm starts from a solution with fewer bet sizes: iterations and seconds to half a percent of the pot."""

from time import process_time
from typing import Any

from papers.common.kept import code, effort, kept
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.holdem import Spot
from treeplex.holdem.solve.carried_regrets import START
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options

SPOTS = {
    "turn, Td9d6hQc": {
        "board": "Td9d6hQc",
        "oop": "66+,A8s+,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+",
        "ip": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+",
    },
    "turn, Ks8s3d2h": {
        "board": "Ks8s3d2h",
        "oop": "22+,A2s+,A9o+,K9s+,KTo+,QTs+,J9s+",
        "ip": "JJ-22,AJs-A2s,KQs-K9s,KJo+,T8s+",
    },
    "river, Jh7c2d5s9h": {"board": "Jh7c2d5s9h", "oop": "top 50%", "ip": "top 50%"},
}
MONEY = {"pot": 100, "stack": 300}
FEW = {"bets": "75%,a", "raises": "a"}
"""Bet sizes of the existing solution."""
MORE = {"bets": "33%,75%,150%,a", "raises": "60%,a"}
TARGET, EVERY, MOST = 0.005, 5, 1000
"""Target exploitability in pots, iterations between evaluations, and maximum iterations."""
CODE = ("treeplex.holdem.solve", "treeplex.solvers", "treeplex.holdem.forms", "treeplex.engine", "treeplex.holdem.rules")


def spot_of(name: str, sizes: dict[str, str]) -> Spot:
    """A spot with these bet sizes."""
    return request_from_options({**SPOTS[name], **MONEY, **sizes}).spot()


def measured(name: str) -> dict[str, Any]:
    """Iterations and CPU seconds: of the small tree, of the large one from its solution, and of the large one from scratch."""
    target = TARGET * MONEY["pot"]
    found: dict[str, Any] = {}
    began = process_time()
    coarse = solve_spot(spot_of(name, FEW), target=target, every=EVERY, iterations=MOST, threads=1)
    found["small"] = [coarse.iterations, process_time() - began]
    for label, start in (("from it", coarse), ("from scratch", None)):
        began = process_time()
        fine = solve_spot(spot_of(name, MORE), target=target, every=EVERY, iterations=MOST, threads=1, start=start)
        found[label] = [fine.iterations - (START if start is not None else 0), process_time() - began]
    return found


@study(title="Warm starts with other bet sizes", place=17, minutes=8)
def reproduce() -> Result:
    for name in SPOTS:  # kernels are compiled or read
        solve_spot(spot_of(name, FEW), iterations=1, threads=1)
    found = {
        name: kept({"other sizes": name, "spot": SPOTS[name], "code": code(*CODE)}, lambda name=name: measured(name))
        for name in SPOTS
    }
    rows = []
    for name, own in found.items():
        cells = [f"{count:,}" for count in (own["small"][0], own["from it"][0], own["from scratch"][0])]
        rows.append([name, *cells, *(f"{own[label][1]:.1f}" for label in ("small", "from it", "from scratch"))])
        print(rows[-1], flush=True)
    return Result(
        source="a study of our own",
        findings=[
            (
                f"{name}: {own['from it'][0]:,} iterations from a solution with fewer sizes, {own['from scratch'][0]:,} "
                "from scratch."
            )
            for name, own in found.items()
        ],
        tables=[
            Table(
                f"Iterations and CPU seconds to {TARGET:.1%} of the pot",
                ["spot", "few sizes", "more, from them", "more, from scratch", "few, s", "from them, s", "from scratch, s"],
                rows,
            )
        ],
        notes=[
            f"Pot {MONEY['pot']}, {MONEY['stack']} behind. Few sizes: bets {FEW['bets']}, raises {FEW['raises']}; more: bets "
            f"{MORE['bets']}, raises {MORE['raises']}. One thread, exploitability measured every {EVERY} iterations. {effort()}"
        ],
        numbers=found,
    )
