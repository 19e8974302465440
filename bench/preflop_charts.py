"""Solve the preflop charts that ship with the library and write their files; each takes some minutes of processor time.

    python -m bench.preflop_charts 50bb 100bb 200bb

A chart keeps the strategy before the flop alone, with the records of its solve.
"""

import sys
from dataclasses import replace
from pathlib import Path

from treeplex.games.poker.spots.files import read_spot_file
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.preflop_charts import SHIPPED, solution_chart
from treeplex.runs.holdem.solve import solve_spot

SPOT, SET = Path("examples/spots/preflop-deep.yaml"), "48x2x2"


def chart_spot(stack: float) -> Spot:
    """The spot of a chart."""
    return replace(read_spot_file(SPOT).spot(), stack=stack, deal_set=SET)


def solve_chart(path: Path, spot: Spot) -> None:
    """Solve a spot as its file says and keep its strategy before the flop."""
    most = spot.settings.iterations
    found = solve_spot(
        spot,
        target=0.0,
        threads=2,
        every=most,
        progress=lambda at: print(path.stem, at.done, flush=True) if at.done % 10 == 0 else None,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    found.save(path, resumable=False, streets=1)
    often = ", ".join(f"{name} {100 * share:.1f}%" for name, share in solution_chart(found).often.items())
    print(path.stem, f"{found.records[-1].cpu_seconds:.0f} s", f"{1000 * found.exploitability:.1f} mbb", often, flush=True)


def main() -> None:
    """Solve the charts that were named; those that are there already are solved anew."""
    for name in sys.argv[1:]:
        solve_chart(SHIPPED / f"{name}.spot", chart_spot(float(name.removesuffix("bb"))))


if __name__ == "__main__":
    main()
