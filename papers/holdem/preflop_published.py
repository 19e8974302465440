"""Preflop charts with the rules of two published charts: raise or fold with rake, and a tournament's antes.

The shipped charts have limps, no rake and no antes. Here their tree and boards are solved with the published rules, as far as
these are stated, so that the remaining differences have other causes. Solves are cached in ``runs/preflop``.
"""

from dataclasses import replace

from bench.preflop_charts import chart_spot
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.charts import FOLDER, solved_once
from papers.holdem.preflop_deep import published_rows
from treeplex.holdem import BetPlan, HoldemSolution, Rake, Spot
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.study.preflop_charts import read_solved, solution_chart

RAKE = Rake(0.05, 0.3, no_flop_no_drop=True)
ANTE = 0.12
STEPS = ("rake", "no limps", "both")
"""Changes to the chart of 100 big blinds, separately and together."""


def by_rules(name: str) -> Spot:
    """The spot of a chart with published rules, by file name."""
    stack, rules = name.split("bb-")
    spot = chart_spot(float(stack))
    assert isinstance(spot.bets, BetPlan)
    if rules == "antes":
        bets = spot.bets.override("preflop", 1, raises="2.1x")
        return replace(spot, pot=2 * ANTE, stack=spot.stack - ANTE, chip=0.01, bets=bets)
    bets = spot.bets if rules == "rake" else replace(spot.bets, limps=False)
    return replace(spot, rake=Rake() if rules == "no-limps" else RAKE, bets=bets)


def solved(name: str) -> HoldemSolution:
    """A solved chart with published rules, from its file if there is one."""
    path, spot = FOLDER / f"{name}.spot", by_rules(name)
    if path.exists() and ((known := read_solved(str(path))) is None or known.spot.identity != spot.identity):
        path.unlink()
    return solved_once(path, lambda: solve_spot(spot, target=0.0, threads=1, every=spot.settings.iterations or 0))


def rows_of(charts: dict[str, HoldemSolution]) -> dict[str, tuple[str, str]]:
    """Published frequencies and those of charts, by topic."""
    return {about: (theirs, ours) for about, theirs, ours in published_rows(charts)}


@study(title="Preflop charts with published rules", place=20, minutes=7)
def reproduce() -> Result:
    deep = {step: solved(f"100bb-{step.replace(' ', '-')}") for step in STEPS}
    middle = solved("50bb-antes")
    shipped = {name: chart for name in ("100bb", "50bb") if (chart := read_solved(name)) is not None}
    here, theirs = rows_of(shipped), rows_of({"100bb": deep["both"], "50bb": middle})
    single = {step: rows_of({"100bb": deep[step]}) for step in STEPS[:2]}
    charts = {"100 bb": shipped["100bb"], **{f"100 bb, {step}": deep[step] for step in STEPS}}
    charts |= {"50 bb": shipped["50bb"], "50 bb, antes": middle}
    often = {name: solution_chart(chart).often for name, chart in charts.items()}
    return Result(
        source="GetCoach 2024 and University.Poker, as linked below",
        findings=[
            "With the rules of the published chart for 100 big blinds, the small blind opens "
            f"{100 * often['100 bb, both']['raise 2.5']:.0f}% (published: about 80), and without rake "
            f"{100 * often['100 bb, no limps']['raise 2.5']:.0f}%. With limps and without rake it raises "
            f"{100 * often['100 bb']['raise 2.5']:.0f}% and limps {100 * often['100 bb']['call']:.0f}%.",
            f"With antes of {ANTE:g} big blinds and stacks of 50, the small blind folds "
            f"{100 * often['50 bb, antes']['fold']:.0f}% (published: 4), and without antes "
            f"{100 * often['50 bb']['fold']:.0f}%.",
        ],
        tables=[
            Table(
                ("Frequencies published in words, those of the shipped charts, and those under the published rules (%)"),
                ["", "published", "ships", *STEPS[:2], "published rules"],
                [
                    [about, said, here[about][1], *(single[step].get(about, ("", ""))[1] for step in STEPS[:2]), ours]
                    for about, (said, ours) in theirs.items()
                ],
            ),
            Table(
                "The first decision",
                ["chart", "small blind", "small blind's value (mbb/hand)", "exploitability"],
                [
                    [
                        name,
                        ", ".join(f"{action} {100 * share:.1f}%" for action, share in often[name].items()),
                        f"{1000 * chart.ev[1]:+.0f}",
                        f"{1000 * chart.exploitability:.1f}",
                    ]
                    for name, chart in charts.items()
                ],
            ),
        ],
        notes=[
            "examples/spots/preflop-deep.yaml with `rake: {rate: 5%, cap: 0.3, no_flop_no_drop: true}` and `limps: "
            f"false`, or with a pot of {2 * ANTE:g} and opens to 2.1. 3-bets and sizes after the flop are those of "
            "the charts that ship; the articles do not state theirs.",
        ],
        numbers={"first": often, "value": {name: float(chart.ev[1]) for name, chart in charts.items()}},
    )
