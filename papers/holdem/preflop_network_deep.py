"""Preflop charts of 50, 100 and 200 big blinds by a network for hands over all 1,755 flops, compared with the shipped
charts, which have the same preflop betting and are full solves on fitted boards."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bench.preflop_charts import SPOT, chart_spot
from papers.common.kept import code, kept
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.preflop_deep import reached
from papers.holdem.preflop_network import CODE, ITERATIONS
from papers.holdem.preflop_network import SPOT as LEARNED
from treeplex.holdem import BetPlan, HoldemSolution, Spot
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.study.preflop_charts import chart_distance, read_solved, solution_chart
from treeplex.learn.hand_values.net import FORM
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.rebel.files import read_net

STACKS = (50, 100, 200)
LINES = {"": "first", "c": "after a limp", "r2.5": "after a raise", "r2.5,r10": "after a 3-bet"}


def until_flop(stack: float) -> Spot:
    """The spot of a shipped chart, cut at the flop, with the network's bets after it."""
    spot, learned = chart_spot(stack), read_spot_file(LEARNED).spot()
    assert isinstance(spot.bets, BetPlan)
    assert isinstance(learned.bets, BetPlan)
    bets = replace(spot.bets, streets=(spot.bets.streets[0], *learned.bets.streets[1:]))
    return replace(learned, stack=spot.stack, bets=bets, settings=replace(learned.settings, iterations=ITERATIONS))


def shipped(stack: float) -> HoldemSolution:
    """The shipped chart."""
    found = read_solved(f"{stack:g}bb")
    assert found is not None
    return found


def charted(stack: float) -> dict[str, Any]:
    """A chart from the network: seconds, the small blind's value in big blinds, and by line its comparison with the shipped
    one.
    """
    solution, other = solve_spot(until_flop(stack), "dcfr", until="flop", iterations=ITERATIONS), shipped(stack)
    lines = {}
    for line, text in LINES.items():
        mine, theirs = solution_chart(solution, line), solution_chart(other, line)
        apart = [chart_distance(theirs, mine), reached(theirs, mine)]
        lines[text] = {"network": dict(mine.often), "boards": dict(theirs.often), "apart": apart}
    return {"seconds": solution.records[-1].cpu_seconds, "value": solution.ev[1], "lines": lines}


def words(often: Mapping[str, float]) -> str:
    """Action frequencies in %, as text."""
    return ", ".join(f"{name} {100 * each:.1f}" for name, each in often.items())


@study(title="Preflop charts of deep stacks from a network over all flops", place=11, minutes=60, needs=("torch",))
def reproduce() -> Result:
    net = read_net(shipped_hand_net("flop"), form=FORM)
    most, own = float(net.settings["most_stack"]), code(*CODE, "papers.holdem.preflop_network_deep")
    found = {}
    for stack in STACKS:
        key = {"what": "holdem/preflop_network_deep", "game": until_flop(stack).identity, "net": net.checksum, "code": own}
        found[stack] = kept(key, partial(charted, stack))
        print(stack, found[stack], flush=True)
    first = [100 * each["lines"]["first"]["apart"][0] for each in found.values()]
    return Result(
        source="a study of our own",
        findings=[
            "At the first decision charts from the network differ from the shipped ones by "
            + ", ".join(f"{apart:.0f}%" for apart in first[:-1])
            + f" and {first[-1]:.0f}% of play at "
            + ", ".join(map(str, STACKS[:-1]))
            + f" and {STACKS[-1]} big blinds.",
        ],
        tables=[
            Table(
                "Action frequencies (%), and difference between the network's chart and the one that ships (% of "
                "play, over all hands and weighted by reach)",
                ["big blinds", "decision", "boards `48x2x2`, ships", "network, 1,755 flops", "apart", "weighted by reach"],
                [
                    [
                        f"{stack}",
                        text,
                        words(row["boards"]),
                        words(row["network"]),
                        *(f"{100 * each:.1f}" for each in row["apart"]),
                    ]
                    for stack, chart in found.items()
                    for text, row in chart["lines"].items()
                ],
            ),
            Table(
                "Cost and the small blind's value (mbb/hand)",
                ["big blinds", "CPU seconds", "boards `48x2x2`", "network"],
                [
                    [
                        f"{stack}",
                        f"{chart['seconds']:.0f}",
                        f"{1000 * shipped(stack).ev[1]:+.0f}",
                        f"{1000 * chart['value']:+.0f}",
                    ]
                    for stack, chart in found.items()
                ],
            ),
        ],
        notes=[
            f"{ITERATIONS} iterations of DCFR. Before the flop, both use the bets of {SPOT}. After the flop, the network "
            f"uses those of {LEARNED}, on which it was trained with stacks of up to {most:g} pots. In limped or "
            "single-raised pots deeper stacks are left at 100 and 200 big blinds; there the network extrapolates."
        ],
        numbers={f"{stack}": chart for stack, chart in found.items()},
    )
