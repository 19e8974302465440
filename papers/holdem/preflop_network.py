"""Preflop charts by a network for hands over all 1,755 flops, compared with charts of the same betting from full solves on
fitted boards, and errors of the network on flops that such charts lead to."""

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from papers.common.kept import code, kept, kept_file
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.charts import LINES, solved_once
from treeplex.base.arrays import Floats
from treeplex.holdem import HoldemSolution, Spot, parse_cards
from treeplex.holdem.cards.cards import HAND_CLASSES
from treeplex.holdem.cards.fitted_deals import SETS
from treeplex.holdem.search.leaves.hand_values import HandBoard
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.study.preflop_charts import chart_distance, solution_chart
from treeplex.learn.hand_values.net import FORM, hand_net_of
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import Situation, solve_situation
from treeplex.learn.rebel.files import NetFile, read_net

SPOT, ITERATIONS = Path("examples/spots/preflop-until.yaml"), 60
NETWORK = "network, 1,755 flops"
FLOPS = ("Ks8s3d", "Jh7c2d", "9h8h5h")
PLACES = {"limped": ("", 1, "c", 0, 2.0), "raised": ("", 2, "r2", 1, 4.0)}
"""Lines by which the first chart reaches flops: the small blind's line and action, the big blind's, and the pot."""
SOLVED = HandValueSettings(street="flop", iterations=60)
"""Settings of the full solves of flops that the network is compared with."""
STEP = 24
"""Complete boards per flop for equities in preflop solves."""
CODE = (
    *("papers.holdem.preflop_network", "treeplex.learn.hand_values", "treeplex.holdem.solve", "treeplex.holdem.search"),
    *("treeplex.holdem.policies", "treeplex.solvers", "treeplex.holdem.forms", "treeplex.engine", "treeplex.holdem.rules"),
)
"""Modules that affect results; see ``kept.py``."""


def whole_spot(name: str) -> Spot:
    """The spot on a set of boards, for a full solve."""
    spot = read_spot_file(SPOT).spot()
    return replace(spot, deal_set=name, settings=replace(spot.settings, until=None))


def chart_key(name: str, net: NetFile) -> dict[str, Any]:
    """Cache key of a chart's solution."""
    key = {"what": "holdem/preflop_network", "iterations": ITERATIONS, "code": code(*CODE)}
    if name == NETWORK:
        return {**key, "game": read_spot_file(SPOT).spot().identity, "net": net.checksum}
    return {**key, "game": whole_spot(name).identity}


def charts(net: NetFile) -> dict[str, HoldemSolution]:
    """Charts of the same betting, solved on both sets of boards and by the network on all flops; from files if they exist."""
    found = {}
    for name in (*SETS, NETWORK):
        path = kept_file(chart_key(name, net), f"preflop-network-20bb-{name.split(',')[0]}", ".spot")
        whole = partial(solve_spot, algorithm="hs-dcfr", iterations=ITERATIONS, target=0.0, threads=1, every=ITERATIONS)
        alone = partial(solve_spot, read_spot_file(SPOT).spot(), "dcfr", until="flop", iterations=ITERATIONS)
        found[name] = solved_once(path, alone if name == NETWORK else partial(whole, whole_spot(name)))
    return found


def ranges(chart: HoldemSolution, place: str) -> tuple[Floats, Floats]:
    """Both players' reach of each hand at a flop, by a chart."""
    opened, raised, line, answered, _ = PLACES[place]
    small, big = solution_chart(chart, opened).shares[raised], solution_chart(chart, line).shares[answered]
    return big[HAND_CLASSES], small[HAND_CLASSES]


def flop_errors(chart: HoldemSolution, net: NetFile) -> list[dict[str, Any]]:
    """By flop and line: mean absolute errors of the network and of showdown values relative to full solves, in pots."""
    key = {**chart_key(next(iter(SETS)), net), "net": net.checksum, "settings": asdict(SOLVED)}
    return [
        kept({**key, "flop": text, "place": PLACES[place]}, partial(errors_at, chart, net, text, place))
        for text in FLOPS
        for place in PLACES
    ]


def errors_at(chart: HoldemSolution, net: NetFile, text: str, place: str) -> dict[str, Any]:
    """Mean absolute errors on one flop after one line, in pots."""
    board, pot = HandBoard.of(chart.spot.format, parse_cards(text)), PLACES[place][-1]
    held = [np.where(np.isin(np.arange(1326), board.held), own, 0.0) for own in ranges(chart, place)]
    reach = np.stack([own / own.sum() for own in held])
    true = solve_situation(board, (chart.spot.stack - pot / 2) / pot, reach, SOLVED)
    found = {"flop": text, "place": place} | errors(true, hand_net_of(net).worth)
    print(found, flush=True)
    return found


def errors(true: Situation, worth: Any) -> dict[str, float]:
    """Mean absolute errors of hands weighted by range, and of a range's value, in pots."""
    some = HandBoard.of(true.board.format, true.board.cards, every=STEP)
    mass, equity = some.equities(true.reach, step=STEP)
    guesses = {
        "showdown": true.equity - 0.5,
        "network": worth(true),
        "network, 49 boards": worth(replace(true, board=some, mass=mass, equity=equity)),
    }
    found = {}
    for name, guess in guesses.items():
        away = guess - true.worth
        found[name] = float((np.abs(away) * true.weights).sum() / 2)
        found[f"{name}, range"] = float(np.abs((away * true.weights).sum(axis=1)).mean())
    return found


def decision_rows(solved_charts: dict[str, HoldemSolution]) -> dict[str, dict[str, Any]]:
    """By line: action frequencies of each chart, and its distance from the first."""
    found: dict[str, dict[str, Any]] = {}
    for line, text in LINES.items():
        each = {name: solution_chart(solution, line) for name, solution in solved_charts.items()}
        first = each[next(iter(SETS))]
        found[text] = {
            name: {
                "often": dict(chart.often),
                "apart": chart_distance(first, chart),
            }
            for name, chart in each.items()
        }
    return found


@study(title="Preflop charts from a network over all flops", place=10, minutes=25, needs=("torch",))
def reproduce() -> Result:
    net, (one, other) = read_net(shipped_hand_net("flop"), form=FORM), SETS
    solved_charts = charts(net)
    rows, away = decision_rows(solved_charts), flop_errors(solved_charts[one], net)
    mean = {name: float(np.mean([row[name] for row in away])) for name in away[0] if name not in ("flop", "place")}
    first = rows["first"]
    return Result(
        source="a study of our own",
        findings=[
            "At the first decision, the network's chart differs from the chart on fitted boards by "
            f"{100 * first[NETWORK]['apart']:.1f}% of play, and the chart on another set of boards differs by "
            f"{100 * first[other]['apart']:.1f}%.",
            f"On flops that the chart leads to, the network's hand values have a mean error of {mean['network']:.3f} pots on "
            f"average, and showdown values have {mean['showdown']:.3f}.",
        ],
        tables=[
            Table(
                "20 big blinds, bets of the pot and all-in after the flop: action frequencies (%)",
                ["decision", *(f"`{name}`" if name != NETWORK else name for name in solved_charts)],
                [
                    [
                        line,
                        *(
                            ", ".join(f"{key} {100 * often:.1f}" for key, often in each["often"].items())
                            for each in found.values()
                        ),
                    ]
                    for line, found in rows.items()
                ],
            ),
            Table(
                f"Distance of charts from that on `{one}` (% of play)",
                ["decision", f"`{other}`", NETWORK],
                [[line, *(f"{100 * found[name]['apart']:.1f}" for name in (other, NETWORK))] for line, found in rows.items()],
            ),
            Table(
                "Cost of the charts and the small blind's value (mbb/hand)",
                ["chart", "CPU seconds", "value"],
                [
                    [
                        name if name == NETWORK else f"`{name}`",
                        f"{solution.records[-1].cpu_seconds:.0f}",
                        f"{1000 * solution.ev[1]:+.0f}",
                    ]
                    for name, solution in solved_charts.items()
                ],
            ),
            Table(
                "Mean absolute errors on flops relative to full solves, in pots: of hands weighted by how often they "
                "are held, and of a range's value",
                ["flop", "", "showdown", "range", "network", "range", "network, 49 boards", "range"],
                [
                    [row["flop"], row["place"], *(f"{row[name]:.3f}" for name in row if name not in ("flop", "place"))]
                    for row in [*away, {"flop": "mean", "place": ""} | mean]
                ],
            ),
        ],
        notes=[
            f"`{SPOT}`, {ITERATIONS} iterations each, HS-DCFR on fitted boards and DCFR before the network. The "
            f"network was trained on {net.card['situations']:,} situations on random flops, each solved until the "
            "turn with the library's network for turns. Before the flop its equities use 49 complete boards of each "
            "flop."
        ],
        numbers={"decisions": rows, "flops": away, "value": {name: each.ev[1] for name, each in solved_charts.items()}},
    )
