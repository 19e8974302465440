"""Winnings from re-solving flops, turns and rivers against the agent's own blueprint.

As ``own_blueprint``, but one street earlier, with Modicum as the agent. ``python papers/run.py holdem/own_blueprint_flop 0.25``
plays a quarter of the hands; hands cached by settings and code are not played again.
"""

import json
from pathlib import Path
from time import process_time

import numpy as np

from papers.common.kept import code, kept_file
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.own_blueprint import CODE, FOLDER, GAME, MILLI, one_hand, own_blueprint
from treeplex import agent, load
from treeplex.base.arrays import Floats
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.search.evaluate.statistics import half_width

AGENT = "iterations=80,think=60,boards=8"
HANDS, FLOP, PLAYS = 800, 1, 1
"""Hands, the agent's first betting round, and plays in each seat."""


def file_of(blueprint: HoldemBlueprint) -> Path:
    """File of cached hands."""
    key = {"game": GAME, "agent": AGENT, "plays": PLAYS, "blueprint": dict(blueprint.card)}
    return kept_file({**key, "code": code(*CODE, "treeplex.holdem.agents.modicum")}, "own-blueprint-flop", ".jsonl")


def hands_of(count: int) -> Floats:
    """The first ``count`` hands, float64 [count, 4]: payoff, luck, whether the flop was reached, CPU seconds."""
    file = file_of(own_blueprint())
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    game = load(GAME)
    blueprint, player = agent(str(FOLDER), game), agent(f"modicum(blueprint={FOLDER},{AGENT})", game)
    with file.open("a") as lines:
        for number in range(len(known), count):
            began = process_time()
            known.append([*one_hand(number, player, blueprint, FLOP, PLAYS), process_time() - began])
            lines.write(json.dumps(known[-1]) + "\n")
            lines.flush()
            if (number + 1) % 50 == 0:
                print(number + 1, interval(np.array(known)), flush=True)
    return np.array(known[:count])


def interval(found: Floats) -> tuple[float, float]:
    """Variance-reduced winnings and half the width of their 95% interval, in mbb/hand."""
    won = MILLI * (found[:, 0] - found[:, 1])
    return float(won.mean()), half_width(float(won.std(ddof=1)) / len(won) ** 0.5, len(won))


@study(title="Re-solving flops, turns and rivers against the agent's own blueprint", place=None, minutes=60)
def reproduce(times: float = 1.0) -> Result:
    found = hands_of(round(times * HANDS))
    mean, error = interval(found)
    raw = MILLI * found[:, 0]
    half = half_width(float(raw.std(ddof=1)) / len(raw) ** 0.5, len(raw))
    return Result(
        source="Brown, Sandholm and Amos 2018; Burch, Schmid, Moravčík, Morrill and Bowling 2018",
        findings=[
            f"Where flops, turns and rivers are solved again, the agent wins {mean:+,.0f} ± {error:,.0f} mbb/hand over "
            f"{len(found):,} hands, luck taken out."
        ],
        tables=[
            Table(
                "What Modicum wins from its own blueprint, in mbb/hand, ± 95%",
                ["re-solved", "hands", "reach the flop", "raw", "±", "variance-reduced", "±", "CPU s"],
                [
                    [
                        "flops, turns and rivers",
                        f"{len(found):,}",
                        f"{found[:, 2].mean():.0%}",
                        f"{raw.mean():+,.0f}",
                        f"{half:,.0f}",
                        f"{mean:+,.0f}",
                        f"{error:,.0f}",
                        f"{found[:, 3].mean():.2f}",
                    ]
                ],
            )
        ],
        notes=[
            "Preflop both play the blueprint, and hands that end there count as zero. From the flop on the agent plays "
            "in each seat from the same cards and ranges; variance from turn and river cards is reduced with values without "
            f"further betting. `modicum({AGENT})`.",
        ],
        numbers={"won": mean, "interval": error, "hands": len(found)},
    )
