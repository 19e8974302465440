"""Heads-up agents against each other: duplicate deals with AIVAT, in rounds that add up over calls.

A call adds rounds to the stored ones: ``papers/run.py holdem/league 3`` plays three more of every pair. Each round has its
own seed, so rounds of different calls and machines are independent.

``TREEPLEX_PROGRAM`` names a JSON file that describes a program of another author: ``name``, ``agent`` (a spec, in which
``{seed}`` stands for the round's seed), ``big_blinds`` (the stacks) and ``about`` (what it is and how it was trained). With
it a call plays only ``resolver`` against this program. Its stored rounds are shown without it.
"""

import json
import os
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from papers.common.results import Result, Table, store_run_with, stored_with
from papers.common.study import study
from treeplex import match
from treeplex.search.evaluate.statistics import half_width

RESOLVER = "resolver(think=none,iterations=80,threads=1)"
ENTRANTS = {"resolver": RESOLVER, "regular": "rules(style=regular)", "rock": "rules(style=rock)"}
"""Agents by the names of the table. ``resolver`` runs a fixed number of iterations, so results do not depend on the load."""
OPPONENTS = ("regular", "rock")
HANDS = 60
"""Hands of a round: each deal is played in both seatings."""
STUDY = "holdem/league"
BIG_BLIND, STACK = 2, 100
"""Chips, and the stacks of agents that are not programs in big blinds."""
SETTINGS = {"game": f"holdem(stack={BIG_BLIND * STACK})", "entrants": ENTRANTS}
WIDEST = 1000.0
"""Wider intervals, in mbb/hand, are only in the notes."""


def played(name: str, opponent: str, stack: int, seed: int) -> dict[str, Any]:
    """One round: hands, and ``resolver``'s mean winnings with their standard error, in mbb/hand; ``stack`` in big blinds."""
    agents = {"resolver": RESOLVER, name: opponent}
    game = f"holdem(stack={BIG_BLIND * stack})"
    found = match(game, agents, hands=HANDS, duplicate=True, aivat="checked", seed=seed, progress=False)
    scale = 1000.0 / BIG_BLIND
    return {"seed": seed, "hands": found.hands, "won": scale * found.value[0], "error": scale * found.stderr[0]}


def played_program(program: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One round against a program, with the program's description."""
    opponent = program["agent"].replace("{seed}", str(seed))
    found = played(program["name"], opponent, program["big_blinds"], seed)
    return found | {"big_blinds": program["big_blinds"], "about": program["about"]}


def pooled(rounds: Sequence[Mapping[str, Any]]) -> tuple[int, float, float]:
    """Hands, mean winnings and half the width of a 95% interval, in mbb/hand, over all deals of all rounds."""
    deals = [each["hands"] // 2 for each in rounds]
    total = sum(deals)
    mean = sum(count * each["won"] for count, each in zip(deals, rounds, strict=True)) / total
    squares = sum(
        count * (count - 1) * each["error"] ** 2 + count * (each["won"] - mean) ** 2
        for count, each in zip(deals, rounds, strict=True)
    )
    error = sqrt(squares / (total - 1) / total)
    return 2 * total, mean, half_width(error, total)


def add_rounds(runs: dict[str, list[dict[str, Any]]], rounds: int) -> None:
    """Play and store rounds of every pair, or of the program's.

    Raises:
        SystemExit: the stored rounds are of another program with the same name.
    """
    file = os.environ.get("TREEPLEX_PROGRAM")
    program = json.loads(Path(file).read_text(encoding="utf-8")) if file else None
    for opponent in [program["name"]] if program else OPPONENTS:
        name = f"resolver {opponent}"
        if program and any(each.get("about") != program["about"] for each in runs.get(name, [])):
            raise SystemExit(f"the stored rounds of {opponent} are of another program; give this one another name in {file}")
        for _ in range(rounds):
            done = runs.get(name, [])
            seed = len(done)
            fresh = played_program(program, seed) if program else played(opponent, ENTRANTS[opponent], STACK, seed)
            runs[name] = [*done, fresh]
            store_run_with(STUDY, SETTINGS, ["runs", name, seed], fresh)
            print(name, fresh, pooled(runs[name]), flush=True)


@study(title="Heads-up agents against each other", place=22, minutes=15)
def reproduce(rounds: int = 1) -> Result:
    runs: dict[str, list[dict[str, Any]]] = dict(stored_with(STUDY, SETTINGS).get("runs", {}))
    add_rounds(runs, rounds)
    found = {name: pooled(each) for name, each in runs.items()}
    shown = {name: row for name, row in found.items() if row[2] < WIDEST}
    rows = [
        [*name.split(), str(runs[name][0].get("big_blinds", STACK)), f"{hands:,}", f"{mean:+,.0f}", f"{half:,.0f}"]
        for name, (hands, mean, half) in shown.items()
    ]
    about = [f"{name.split()[1]}: {pair[0]['about']}" for name, pair in runs.items() if "about" in pair[0]]
    hidden = [
        f"{name.replace(' ', ' against ')} after {hands:,} hands: {mean:+,.0f} ± {half:,.0f}"
        for name, (hands, mean, half) in found.items()
        if name not in shown
    ]
    return Result(
        source="own",
        findings=[
            f"`{one}` wins {mean} ± {half} mbb/hand from `{other}` at {stack} big blinds ({hands} hands)"
            + (", which is no significant difference." if abs(found[f"{one} {other}"][1]) < found[f"{one} {other}"][2] else ".")
            for one, other, stack, hands, mean, half in rows
        ],
        tables=[Table("Winnings in mbb/hand", ["agent", "against", "big blinds", "hands", "wins", "± (95%)"], rows)],
        notes=[
            "`holdem`, duplicate deals, AIVAT with check-down values. "
            + "; ".join([*(f"{name}: `{text}`" for name, text in ENTRANTS.items()), *about])
            + f". Intervals wider than ±{WIDEST:,.0f} mbb/hand are no result"
            + (f" ({'; '.join(hidden)})." if hidden else ".")
        ],
        numbers={"settings": SETTINGS, "runs": runs},
    )
