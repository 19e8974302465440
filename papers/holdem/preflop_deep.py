"""Preflop charts of 10 to 300 big blinds: error of equities on fitted, evenly spread or random boards, the charts, and
the difference between two sets of boards without a common flop.

Solves are cached in ``runs/preflop``, so that a call computes only missing ones.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.preflop_charts import SET, SHORT, chart_spot
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.charts import FOLDER, LINES, equity_errors, solved_once
from treeplex.base.arrays import Floats
from treeplex.holdem import HoldemSolution, Spot
from treeplex.holdem.blueprint.preflop import PreflopChart
from treeplex.holdem.cards.fitted_deals import SETS
from treeplex.holdem.forms.boards import weighted_boards
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.study.preflop_charts import chart_distance, read_solved, shipped_charts, solution_chart

FEW_BETS, ITERATIONS = "examples/spots/preflop.yaml", 120
"""The spot that is solved on both sets of boards."""
DRAWS = 20
FOLDED = ("T4o", "T3o", "T2o", "74o", "73o", "72o", "J3o", "J2o", "43o", "42o", "Q2o", "32o")
"""GetCoach (2024): hands that the small blind does not open to 2.5 with 100 big blinds, rake 5% up to 0.3 big blinds."""
WORDS = "Frequencies published in words and those of the charts (%)"
WAYS = 22_100 * 49 * 48
"""Number of ways to deal flop, turn and river."""


def random_boards(counts: tuple[int, int, int], generator: np.random.Generator) -> tuple[NDArray[np.uint8], Floats]:
    """Random flops, random turns of each and random rivers of each, with the number of deals each board represents."""
    found = []
    for _ in range(counts[0]):
        flop = tuple(generator.choice(52, 3, replace=False))
        left = [card for card in range(52) if card not in flop]
        for turn in generator.choice(left, counts[1], replace=False):
            rivers = [card for card in left if card != turn]
            found += [(*flop, turn, river) for river in generator.choice(rivers, counts[2], replace=False)]
    return np.array(found, np.uint8), np.full(len(found), WAYS / len(found))


def equities(spot: Spot) -> dict[str, tuple[float, float]]:
    """Errors by method of choosing boards."""
    counts, generator = SETS[SET], np.random.default_rng(0)
    draws = [equity_errors(*random_boards(counts, generator)) for _ in range(DRAWS)]
    found = {
        f"random, mean of {DRAWS}": (float(np.mean([rms for rms, _ in draws])), float(np.mean([most for _, most in draws])))
    }
    found["evenly spread"] = equity_errors(*weighted_boards(replace(spot, deal_set="", runouts=(0, *counts))))
    return found | {f"fitted, `{name}`": equity_errors(*weighted_boards(replace(spot, deal_set=name))) for name in SETS}


def solve_set(name: str) -> HoldemSolution:
    """The spot with few bets on a set of boards, from its file if there is one."""
    spot = replace(read_spot_file(FEW_BETS).spot(), deal_set=name)
    solve = partial(solve_spot, spot, "dcfr", iterations=ITERATIONS, target=0.0, threads=1, every=ITERATIONS)
    return solved_once(FOLDER / f"20bb-{name}-{ITERATIONS}.spot", solve)


def two_sets() -> dict[str, dict[str, list[float]]]:
    """Action frequencies on both sets of boards, by line and action, and the distance between the charts."""
    one, other = map(solve_set, SETS)
    found = {}
    for line in LINES:
        first, second = solution_chart(one, line), solution_chart(other, line)
        rows = {name: [first.often[name], second.often[name]] for name in first.actions}
        found[line] = rows | {"apart": [chart_distance(first, second), reached(first, second)]}
    return found


def reached(one: PreflopChart, other: PreflopChart) -> float:
    """Distance of two charts as in :func:`chart_distance`, weighted by the first chart's reach."""
    members = one.reach * np.array([6 if len(name) == 2 else 4 if name[2] == "s" else 12 for name in one.classes])
    return float(np.abs(one.shares - other.shares).sum(axis=0) @ members / members.sum() / 2)


def published_rows(charts: dict[str, HoldemSolution]) -> list[list[str]]:
    """Frequencies published in words, compared with those of the charts."""
    rows = []
    if (deep := charts.get("100bb")) is not None:
        first = solution_chart(deep)
        often, raised = first.often, first.shares[first.actions.index("raise 2.5")]
        folded = np.isin(first.classes, FOLDED)
        members = np.array([6 if len(name) == 2 else 4 if name[2] == "s" else 12 for name in first.classes])
        suited = np.array([name.endswith("s") for name in first.classes])
        rows += [
            [
                "100 bb, opens",
                "about 80, all by a raise",
                f"{100 * (1 - often['fold']):.0f}, {100 * often['raise 2.5']:.0f} by a raise",
            ],
            ["100 bb, plays suited hands", "all", f"{100 * (1 - first.shares[0][suited].mean()):.0f}"],
            [
                f"100 bb, folds {', '.join(FOLDED)}",
                "all",
                f"{100 * (first.shares[0] * members)[folded].sum() / members[folded].sum():.0f}, raises "
                f"{100 * (raised * members)[folded].sum() / members[folded].sum():.0f}",
            ],
        ]
    if (middle := charts.get("50bb")) is not None:
        first, limped = solution_chart(middle), solution_chart(middle, "c")
        rows += [
            ["50 bb, folds the small blind", "4", f"{100 * first.often['fold']:.0f}"],
            ["50 bb, raises a limp", "34", f"{100 * (1 - limped.often['check']):.0f}"],
        ]
    return rows


def shipped_row(name: str, solution: HoldemSolution) -> list[str]:
    """The row of a shipped chart."""
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


@study(title="Preflop charts of deep stacks", place=7, minutes=30)
def reproduce() -> Result:
    spot = chart_spot(100.0)
    found, apart = equities(spot), two_sets()
    solved = {name: solution for name in shipped_charts() if (solution := read_solved(name)) is not None}
    fitted, random = found[f"fitted, `{SET}`"][0], next(iter(found.values()))[0]
    often = [abs(one - other) for rows in apart.values() for name, (one, other) in rows.items() if name != "apart"]
    words = published_rows(solved)
    counts, shape = SETS[SET], " x ".join(map(str, SETS[SET]))
    return Result(
        source="a study of our own",
        findings=[
            (
                f"On fitted boards the error of class equities is {random / fitted:.1f} times smaller than on as many "
                "random ones."
            ),
            f"Charts of 20 big blinds on two sets of boards differ by {100 * apart['']['apart'][0]:.1f}% of play at "
            f"the first decision and {100 * apart['r2']['apart'][0]:.1f}% after a raise. Action frequencies differ by "
            f"at most {100 * max(often):.1f} points.",
        ],
        tables=[
            Table(
                (
                    f"Equities of hand classes all-in before the flop on {np.prod(counts)} boards compared with all, "
                    f"{shape} (% of the pot)"
                ),
                ["boards", "root mean square error", "largest"],
                [[name, f"{100 * rms:.1f}", f"{100 * most:.1f}"] for name, (rms, most) in found.items()],
            ),
            Table(
                "Charts that ship: numbers stored (millions), CPU seconds, exploitability in the solved game and the "
                "small blind's value (mbb/hand)",
                ["chart", "dealt", "numbers", "iterations", "s", "exploitability", "value", "first decision"],
                [shipped_row(name, solution) for name, solution in solved.items()],
            ),
            Table(
                f"20 big blinds on two sets of boards, {FEW_BETS}, {ITERATIONS} iterations of DCFR: action frequencies "
                "(%) and difference between the charts (% of play, over all hands and weighted by reach)",
                ["decision", *(f"`{name}`" for name in SETS), "apart", "weighted by reach"],
                [
                    [
                        LINES[line],
                        *(", ".join(f"{k} {100 * v[n]:.1f}" for k, v in rows.items() if k != "apart") for n in (0, 1)),
                        *(f"{100 * each:.1f}" for each in rows["apart"]),
                    ]
                    for line, rows in apart.items()
                ],
            ),
            *([Table(WORDS, ["", "published", "here"], words)] if words else []),
        ],
        notes=[
            f"examples/spots/preflop-deep.yaml, HS-DCFR; `10bb` and `20bb`: {SHORT}, DCFR. Published: 100 bb by [GetCoach](https://www.getcoach.poker/articles/"
            "heads-up-poker-a-strategic-guide-to-winning-one-on-one/), a raise to 2.5 or a fold, rake 5% up to 0.3 bb; 50 bb "
            "by [University.Poker](https://pokeruni.co/en/articles/heads-up-hu-in-tournament-poker-how-to-exploit-an-opponents-game)"
            ", raises to 2.1 bb, limps, antes of 0.12 bb."
        ],
        numbers={"equities": found, "apart": apart},
    )
