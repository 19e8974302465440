"""Full no-limit hold'em with 50 big blinds: a blueprint in buckets against rule agents and a local best response.

The blueprint is that of ``runs/holdem-long``; without such a folder it is trained first, in an hour. An unfinished training run
is measured as it is. Matches and parts of the local best response are cached in ``runs``, so that a call computes only missing
ones.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
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
"""Number of parts, each with a separate seed, and hands per part."""
CODE = ("treeplex.search.evaluate", "treeplex.holdem.whole", "treeplex.holdem.blueprint.policy")
MILLI = 1000 / 2
"""mbb per chip."""


def long_blueprint() -> HoldemBlueprint:
    """The blueprint of ``runs/holdem-long``, trained first if missing."""
    if not FOLDER.exists():
        train(GAME, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=FOLDER)
    return HoldemBlueprint.load(FOLDER)


def against_rules(trained: int) -> tuple[list[list[str]], dict[str, float]]:
    """Rows and numbers of a blueprint's matches with rule agents."""
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


def bounded_in_parts(who: str, key: Mapping[str, Any], parts: int, hands: int, **options: Any) -> list[list[float]]:
    """Winnings of a local best response against an agent, in cached parts of ``hands`` hands with separate seeds.

    Args:
        who: the agent.
        key: cache key of a part, besides its seed.
        parts, hands: number of parts, and hands per part.
        options: of :func:`local_best_response`.

    Returns:
        Of each part the mean and its standard error, chips; and CPU seconds.
    """

    def part(seed: int) -> list[float]:
        began = process_time()
        found = local_best_response(GAME, who, hands=hands, seed=seed, **options)
        return [found.value, found.error, process_time() - began]

    found = []
    for seed in range(1, parts + 1):
        found.append(kept({"lbr": GAME, "hands": hands, "seed": seed, **key}, partial(part, seed)))
        print(who, options, seed, [MILLI * each for each in found[-1][:2]], f"{found[-1][2]:.0f} s", flush=True)
    return found


def together(parts: Sequence[Sequence[float]], hands: int) -> list[float]:
    """The mean of parts with equally many hands, and half the width of its 95% interval, in mbb/hand.

    Args:
        parts: the mean of each and its standard error, chips.
        hands: of all parts together.
    """
    mean, error = math.fsum(part[0] for part in parts), math.hypot(*(part[1] for part in parts))
    return [MILLI * mean / len(parts), half_width(MILLI * error / len(parts), hands)]


@study(title="No-limit hold'em: a blueprint in buckets", place=2, minutes=150)
def reproduce() -> Result:
    card = long_blueprint().card
    numbers: dict[str, Any] = {"blueprint": dict(card)}
    rules, numbers["rules"] = against_rules(card["boards"])
    key = {"boards": card["boards"], "actions": "fcpa", "code": code(*CODE)}
    numbers["lbr"] = together(bounded_in_parts(str(FOLDER), key, LBR_PARTS, LBR_HANDS, actions="fcpa"), LBR_PARTS * LBR_HANDS)
    return Result(
        source="Brown and Sandholm 2017, 2018, 2019; Lisý and Bowling 2017",
        findings=["A small blueprint beats simple players."],
        tables=[
            Table(
                "The blueprint against rule agents, in mbb/hand",
                ["against", "who is", "hands", "won", "95% interval"],
                rules,
            ),
        ],
        notes=[
            f"{GAME}; the blueprint: {card['boards']:,} boards with {card['deals']} deals each, {card['cpu_seconds']:,} CPU s.",
            f"A local best response (fold, call, pot, all-in) wins {numbers['lbr'][0]:+,.0f} ± "
            f"{numbers['lbr'][1]:,.0f} mbb/hand from it over {LBR_PARTS * LBR_HANDS:,} hands.",
        ],
        numbers=numbers,
    )
