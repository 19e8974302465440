"""Solve the shipped preflop charts and write their files; each takes several minutes of CPU time (20bb: a quarter of an hour).

    python -m bench.preflop_charts 10bb 20bb 30bb 50bb 100bb 200bb 300bb
    python -m bench.preflop_charts --network       distances of network charts, from stored results

A chart contains only the preflop strategy, with the records of its solve.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.preflop_charts import BY_NETWORK, SHIPPED, solution_chart

SPOT, SET = Path("examples/spots/preflop-deep.yaml"), "48x2x2"
SHORT, SHORT_STACK, SHORT_ITERATIONS = Path("examples/spots/preflop-20bb.yaml"), 20.0, 360
"""The spot of stacks up to 20 big blinds, solved by DCFR, which comes closer to equilibrium there than HS-DCFR."""
RESULTS = Path(__file__).resolve().parents[1] / "papers/holdem/results"
NETWORK = "network, 1,755 flops"
"""Name of the network's chart in the study of the shortest stack."""


def chart_spot(stack: float) -> Spot:
    """The spot of a chart."""
    if stack > SHORT_STACK:
        return replace(read_spot_file(SPOT).spot(), stack=stack, deal_set=SET)
    spot = replace(read_spot_file(SHORT).spot(), stack=stack)
    settings = replace(spot.settings, algorithm="dcfr", iterations=SHORT_ITERATIONS)
    return replace(spot, settings=settings)


def solve_chart(path: Path, spot: Spot) -> None:
    """Solve a spot with the settings in its file and save its preflop strategy."""
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


def measured(study: str) -> Iterator[tuple[list[str], Any]]:
    """The numbers of a study's results and their file."""
    for line in (RESULTS / f"{study}.jsonl").read_text("utf-8").splitlines():
        found = json.loads(line)
        if "run" in found:
            yield found["run"], found["value"]


def network_distances() -> Mapping[str, Mapping[str, Any]]:
    """By chart: shares of play, over all hands, by which a chart by a network differs, by decision; and whether from this chart
    (``own``) or from one with other bets on the boards of :data:`SET`.
    """
    short = {
        place[1]: round(value["apart"], 4)
        for place, value in measured("preflop_network")
        if place[0] == "decisions" and place[2] == NETWORK
    }
    found = {"20bb": {"own": False, "apart": short}}
    for (stack,), value in measured("preflop_network_deep"):
        apart = {line: round(row["apart"][0], 4) for line, row in value["lines"].items()}
        found[f"{stack}bb"] = {"own": True, "apart": apart}
    return found


def main() -> None:
    """Solve the named charts, replacing existing files."""
    if sys.argv[1:] == ["--network"]:
        BY_NETWORK.write_text(json.dumps(network_distances(), indent=2) + "\n", "utf-8")
        return
    for name in sys.argv[1:]:
        solve_chart(SHIPPED / f"{name}.spot", chart_spot(float(name.removesuffix("bb"))))


if __name__ == "__main__":
    main()
