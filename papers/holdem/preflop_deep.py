"""Preflop charts of 50, 100 and 200 big blinds: how exact equities are on boards that are fitted, evenly spread or random, what
the charts say, and how far two sets of boards without a common flop differ.

What is solved is kept in ``runs/preflop``, so that a call goes on with what is missing.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.preflop_charts import SET, chart_spot, solve_chart
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.forms.holdem.boards import complete_boards
from treeplex.forms.policies.preflop import PreflopChart
from treeplex.games.poker.cards.class_equities import class_equities, equities_on
from treeplex.games.poker.cards.fitted_deals import SETS
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.preflop_charts import chart_distance, read_solved, shipped_charts, solution_chart
from treeplex.runs.holdem.solution import HoldemSolution

Floats = NDArray[np.float64]
FOLDER, STACK, OTHER = Path("runs/preflop"), 100.0, "48x2x2b"
LINES = {
    "": "first",
    "c": "after a limp",
    "r2.5": "after a raise",
    "r2.5,r10": "after a 3-bet",
    "r2.5,r10,r25": "after a 4-bet",
}
DRAWS = 20
WAYS = 22_100 * 49 * 48
"""Of dealing flop, turn and river."""


def random_boards(counts: tuple[int, int, int], generator: np.random.Generator) -> tuple[NDArray[np.uint8], Floats]:
    """So many random flops, random turns of each and random rivers of each, and how many deals each board stands for."""
    found = []
    for _ in range(counts[0]):
        flop = tuple(generator.choice(52, 3, replace=False))
        left = [card for card in range(52) if card not in flop]
        for turn in generator.choice(left, counts[1], replace=False):
            rivers = [card for card in left if card != turn]
            found += [(*flop, turn, river) for river in generator.choice(rivers, counts[2], replace=False)]
    return np.array(found, np.uint8), np.full(len(found), WAYS / len(found))


def errors(boards: NDArray[np.uint8], weights: Floats) -> tuple[float, float]:
    """The root mean square error of equities of classes, weighted by pairs of hands, and the largest."""
    exact = class_equities()
    away = equities_on(boards, weights) - exact.equity
    return float(np.sqrt((away**2 * exact.pairs).sum() / exact.pairs.sum())), float(np.abs(away).max())


def equities(spot: Spot) -> dict[str, tuple[float, float]]:
    """Errors by how boards are chosen."""
    counts, generator = SETS[SET], np.random.default_rng(0)
    draws = [errors(*random_boards(counts, generator)) for _ in range(DRAWS)]
    found = {
        f"random, mean of {DRAWS}": (float(np.mean([rms for rms, _ in draws])), float(np.mean([most for _, most in draws])))
    }
    found["evenly spread"] = errors(*complete_boards(replace(spot, deal_set="", runouts=(0, *counts))))
    return found | {f"fitted, `{name}`": errors(*complete_boards(replace(spot, deal_set=name))) for name in SETS}


def two_sets(spot: Spot) -> dict[str, dict[str, list[float]]]:
    """How often each action is taken on either set of boards, by line and action, and how far charts are apart."""
    path = FOLDER / f"{STACK:g}bb-{OTHER}.spot"
    if not path.exists():
        solve_chart(path, replace(spot, deal_set=OTHER))
    one, other = read_solved(f"{STACK:g}bb"), read_solved(str(path))
    assert one is not None
    assert other is not None
    found = {}
    for line in LINES:
        first, second = solution_chart(one, line), solution_chart(other, line)
        rows = {name: [first.often[name], second.often[name]] for name in first.actions}
        found[line] = rows | {"apart": [chart_distance(first, second), reached(first, second)]}
    return found


def reached(one: PreflopChart, other: PreflopChart) -> float:
    """How differently two charts play, as :func:`chart_distance`, over the hands that come here by the first chart."""
    members = one.reach * np.array([6 if len(name) == 2 else 4 if name[2] == "s" else 12 for name in one.classes])
    return float(np.abs(one.shares - other.shares).sum(axis=0) @ members / members.sum() / 2)


def shipped_row(name: str, solution: HoldemSolution) -> list[str]:
    """What is said of a chart that ships."""
    spot = solution.spot
    return [
        f"`{name}`",
        " x ".join(map(str, spot.runouts[1:])) + (f", `{spot.deal_set}`" if spot.deal_set else ", evenly spread"),
        f"{solution.game.stored / 1e6:.0f}",
        f"{solution.iterations}",
        f"{solution.records[-1].cpu_seconds:.0f}",
        f"{1000 * solution.exploitability:.1f}",
        f"{1000 * solution.ev[1]:+.0f}",
        ", ".join(f"{key} {100 * each:.1f}%" for key, each in solution_chart(solution).often.items()),
    ]


@study(title="Preflop charts of deep stacks", place=3, minutes=30)
def reproduce() -> Result:
    spot = chart_spot(STACK)
    found, apart = equities(spot), two_sets(spot)
    solved = {name: solution for name in shipped_charts() if (solution := read_solved(name)) is not None}
    fitted, random = found[f"fitted, `{SET}`"][0], next(iter(found.values()))[0]
    often = [abs(one - other) for rows in apart.values() for name, (one, other) in rows.items() if name != "apart"]
    counts, shape = SETS[SET], " x ".join(map(str, SETS[SET]))
    return Result(
        source="the library's own",
        findings=[
            f"On fitted boards equities of classes are {random / fitted:.1f} times as exact as on as many random ones.",
            f"Charts of {STACK:g} big blinds on two sets of boards differ by {100 * apart['']['apart'][0]:.1f}% of play at the "
            f"first decision and {100 * apart['r2.5']['apart'][0]:.1f}% after a raise; how often an action is taken by at most "
            f"{100 * max(often):.1f} points.",
        ],
        tables=[
            Table(
                f"Equities of classes all-in before the flop on {np.prod(counts)} boards beside all, {shape} (% of the pot)",
                ["boards", "root mean square error", "largest"],
                [[name, f"{100 * rms:.1f}", f"{100 * most:.1f}"] for name, (rms, most) in found.items()],
            ),
            Table(
                "Charts that ship: numbers stored (millions), seconds of one core, exploitability in the game solved and the "
                "small blind's value (mbb a hand)",
                ["chart", "dealt", "numbers", "iterations", "s", "exploitability", "value", "first decision"],
                [shipped_row(name, solution) for name, solution in solved.items()],
            ),
            Table(
                f"{STACK:g} big blinds on the boards of `{SET}` and of `{OTHER}`: how often actions are taken (%), and how far "
                "the charts are apart (% of play, over all hands and over those that come there)",
                ["decision", "`" + SET + "`", "`" + OTHER + "`", "apart", "of those that come"],
                [
                    [
                        LINES[line],
                        *(", ".join(f"{k} {100 * v[n]:.1f}" for k, v in rows.items() if k != "apart") for n in (0, 1)),
                        *(f"{100 * each:.1f}" for each in rows["apart"]),
                    ]
                    for line, rows in apart.items()
                ],
            ),
        ],
        notes=["examples/spots/preflop-deep.yaml, DCFR, one thread."],
        numbers={"equities": found, "apart": apart},
    )
