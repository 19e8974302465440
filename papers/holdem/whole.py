"""Whole no-limit hold'em with 50 big blinds: a blueprint in buckets against rule agents and a local best response.

The blueprint is that of ``runs/holdem-long``; without such a folder it is trained first, in an hour. What is there of a
training is measured as it is. Matches and parts of the local best response are kept in ``runs``, so that a call goes on with
what is missing.
"""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from papers.common.kept import code, kept
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import match, train
from treeplex.arena import local_best_response
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.search.agents.by_rules import STYLES
from treeplex.search.evaluate.statistics import half_width

GAME = "holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[50%;100%;a],raises=[4;3;3;3])"
FOLDER, BOARDS = Path("runs/holdem-long"), 1_000_000
HANDS = dict.fromkeys(STYLES, 20_000) | {"folder": 1000}
LBR_PARTS, LBR_HANDS = 20, 1000
"""How often, each with a seed of its own, and hands of each."""
CODE = ("treeplex.search.evaluate", "treeplex.holdem.whole", "treeplex.holdem.blueprint.policy")
MILLI = 1000 / 2
"""Thousandths of a big blind in a chip."""


def long_blueprint() -> HoldemBlueprint:
    """The blueprint of ``runs/holdem-long``, trained first where it is missing."""
    if not FOLDER.exists():
        train(GAME, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=FOLDER)
    return HoldemBlueprint.load(FOLDER)


def against_rules(trained: int) -> tuple[list[list[str]], dict[str, float]]:
    """Rows and numbers of matches with rule agents, of a blueprint of so many boards."""
    rows, numbers = [], {}
    for style, about in STYLES.items():
        folder = Path(f"runs/holdem-rules/{trained}-{style}")
        agents = [str(FOLDER), f"rules(style={style})"]
        if (folder / "run.json").exists():
            found = match(resume=folder, hands=HANDS[style])
        else:
            found = match(GAME, agents, hands=HANDS[style], seed=1, out=folder)
        low, high = (MILLI * each for each in found.interval[0])
        numbers[style] = MILLI * found.value[0]
        rows.append([f"`{style}`", about.about, f"{HANDS[style]:,}", f"{numbers[style]:+,.0f}", f"{low:+,.0f} to {high:+,.0f}"])
        print(rows[-1], flush=True)
    return rows, numbers


def part(seed: int) -> list[float]:
    """What a local best response gets in the hands of one seed, and its standard error, chips."""
    found = local_best_response(GAME, str(FOLDER), hands=LBR_HANDS, actions="fcpa", seed=seed)
    return [found.value, found.error]


def together(parts: Sequence[Sequence[float]], hands: int) -> list[float]:
    """The mean of parts of equally many hands and half the width of its 95% interval, mbb a hand.

    Args:
        parts: the mean of each and its standard error, chips.
        hands: of all parts together.
    """
    mean, error = math.fsum(part[0] for part in parts), math.hypot(*(part[1] for part in parts))
    return [MILLI * mean / len(parts), half_width(MILLI * error / len(parts), hands)]


def bounded(trained: int) -> list[float]:
    """What a local best response gets over all parts, and half the width of the 95% interval, mbb a hand."""
    found = []
    for seed in range(1, LBR_PARTS + 1):
        key = {"lbr": GAME, "boards": trained, "hands": LBR_HANDS, "seed": seed, "code": code(*CODE)}
        found.append(kept(key, partial(part, seed)))
        print("local best response", seed, found[-1], flush=True)
    return together(found, LBR_PARTS * LBR_HANDS)


@study(title="Whole no-limit hold'em", place=2, minutes=150)
def reproduce() -> Result:
    card = long_blueprint().card
    numbers: dict[str, Any] = {"blueprint": dict(card)}
    rules, numbers["rules"] = against_rules(card["boards"])
    numbers["lbr"] = bounded(card["boards"])
    return Result(
        source="Brown and Sandholm 2017, 2018, 2019; Lisý and Bowling 2017",
        findings=["A small blueprint beats simple players."],
        tables=[
            Table(
                "The blueprint against rule agents, in thousandths of a big blind a hand",
                ["against", "who is", "hands", "won", "95% interval"],
                rules,
            ),
        ],
        notes=[
            f"{GAME}; the blueprint: {card['boards']:,} boards with {card['deals']} deals each, "
            f"{card['cpu_seconds']:,} s of one core.",
            f"A local best response (fold, call, pot, all-in) gets {numbers['lbr'][0]:+,.0f} ± {numbers['lbr'][1]:,.0f} mbb "
            f"a hand from it over {LBR_PARTS * LBR_HANDS:,} hands.",
        ],
        numbers=numbers,
    )
