"""Heads-up agents against each other, in rounds that add up over calls.

A call adds rounds to the stored ones: ``papers/run.py holdem/league regular=3 rock=2`` plays three more against ``regular`` and
two more against ``rock``; without options, one against each opponent. Each round has its own seed, so rounds of different calls
and machines are independent.
A payoff is the mean over both players' hands (imaginary observations) and all preflop lines, less the luck of cards and actions
by check-down values, so deals are not repeated in both seats. Earlier rounds sampled the preflop line; both are unbiased.

Opponents with a blueprint share the one in ``runs/holdem-100bb``, which is first trained for 40 minutes if it is missing.
``rebel`` plays at 50 big blinds, for which it has a network.

``TREEPLEX_PROGRAM`` names a JSON file that describes a program of another author: ``name``, ``agent`` (a spec with
``policies=true``, in which ``{seed}`` stands for the round's seed), ``big_blinds`` (the stacks) and ``about`` (what it is and
how it was trained). With it, a call plays only ``resolver`` against this program, one round or as many as its name is given.
Its stored rounds are shown without the file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from math import isfinite, sqrt
from pathlib import Path
from time import process_time
from typing import Any

from papers.common.drawing import panels, save
from papers.common.results import Picture, Result, Table, store_run_with, stored_with
from papers.common.study import study
from treeplex import agent, load, train
from treeplex.run.plots import GREY, GRID, INK, PALETTE
from treeplex.search import BaseAgent
from treeplex.search.evaluate.statistics import half_width
from treeplex.search.evaluate.winnings import CheckedDown, sampled_winnings

RESOLVER = "resolver(think=none,iterations=80,threads=1)"
"""A fixed number of iterations, so that results do not depend on the load."""
FOLDER = Path("runs/holdem-100bb")
BLUEPRINT, BOARDS = "holdem(stack=200,preflop=[2.5bb;3x;a],sizes=[50%;100%;a],raises=[4;3;3;3])", 1_000_000
"""The blueprint's game, and the number of boards of its training."""
OPPONENTS = {
    **{name: f"rules(style={name})" for name in ("regular", "rock", "station", "maniac")},
    "blueprint": f"blueprint(file={FOLDER})",
    "endgames": f"endgames(blueprint={FOLDER},think=none,iterations=80,threads=1)",
    "libratus": f"libratus(blueprint={FOLDER},iterations=80)",
    "modicum": f"modicum(blueprint={FOLDER},iterations=80)",
    "pluribus": f"pluribus(blueprint={FOLDER})",
    "deepstack": "deepstack(iterations=80)",
    "rebel": "rebel",
}
HANDS, SPLITS = 20, (8, 4)
"""Hands of a round, and how often each is continued from its flop, and from each turn."""
STUDY = "holdem/league"
BIG_BLIND, STACK, STACKS = 2, 100, {"rebel": 50}
"""Chips, and the stacks of agents that are not programs in big blinds; ``rebel`` has a network for 50."""
VERSION = 4
"""Increase it when ``resolver`` or an opponent plays differently: rounds of other versions are dropped."""
SETTINGS = {
    "game": f"holdem(stack={BIG_BLIND * STACK})",
    "resolver": RESOLVER,
    "hands": HANDS,
    "splits": list(SPLITS),
    "version": VERSION,
}
WIDEST = 200.0
"""Wider intervals, in mbb/hand, are only in the notes."""


def played(opponent: str, stack: int, seed: int) -> dict[str, Any]:
    """One round: hands, and ``resolver``'s mean winnings with their standard error, in mbb/hand; ``stack`` in big blinds."""
    began, scale = process_time(), 1000.0 / BIG_BLIND
    game = load(f"holdem(stack={BIG_BLIND * stack})")
    values, other = CheckedDown(game.public.exactly_shared), agent(opponent, game)
    found = sampled_winnings(agent(RESOLVER, game), other, HANDS, seed=seed, values=values, splits=SPLITS)
    won, error, seconds = scale * found.value, scale * found.error, round(process_time() - began)
    remarks = other.remarks() if isinstance(other, BaseAgent) else []
    if isinstance(other, BaseAgent):
        other.close()
    return {"seed": seed, "hands": found.hands, "won": won, "error": error, "seconds": seconds, "remarks": remarks}


def pooled(rounds: Sequence[Mapping[str, Any]]) -> tuple[int, float, float]:
    """Hands, mean winnings and half the width of a 95% interval, in mbb/hand, over all rounds."""
    pairs = [each["hands"] // 2 for each in rounds]  # a hand in each seat
    total = sum(pairs)
    mean = sum(count * each["won"] for count, each in zip(pairs, rounds, strict=True)) / total
    squares = sum(
        count * (count - 1) * each["error"] ** 2 + count * (each["won"] - mean) ** 2
        for count, each in zip(pairs, rounds, strict=True)
    )
    error = sqrt(squares / (total - 1) / total)
    return 2 * total, mean, half_width(error, total)


def add_rounds(runs: dict[str, list[dict[str, Any]]], asked: Mapping[str, int]) -> None:
    """Play and store rounds: as many per opponent as ``asked`` says, or one each if it is empty.

    Raises:
        SystemExit: an opponent is unknown, or the stored rounds are of another program with the same name.
    """
    file = os.environ.get("TREEPLEX_PROGRAM")
    program = json.loads(Path(file).read_text(encoding="utf-8")) if file else None
    known = [program["name"]] if program else [*OPPONENTS]
    if unknown := {*asked} - {*known}:
        raise SystemExit(f"{STUDY}: unknown opponents {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    for name, rounds in (asked or dict.fromkeys(known, 1)).items():
        if str(FOLDER) in OPPONENTS.get(name, "") and not FOLDER.exists():
            train(BLUEPRINT, "blueprint", out=FOLDER, settings={"boards": BOARDS})
        for _ in range(rounds):
            done = runs.get(name, [])
            if program and any(each.get(key) != program[key] for each in done for key in ("about", "big_blinds")):
                raise SystemExit(f"the stored rounds of {name} are of another program; give this one another name in {file}")
            seed = max((each["seed"] for each in done), default=-1) + 1
            if program:
                fresh = played(program["agent"].replace("{seed}", str(seed)), program["big_blinds"], seed)
                fresh |= {"big_blinds": program["big_blinds"], "about": program["about"]}
            else:
                stack = STACKS.get(name, STACK)
                fresh = played(OPPONENTS[name], stack, seed) | {"big_blinds": stack}
            runs[name] = [*done, fresh]
            store_run_with(STUDY, SETTINGS, ["runs", name, len(done)], fresh)
            print(name, fresh, pooled(runs[name]), flush=True)


def hidden_rows(found: Mapping[str, tuple[int, float, float]]) -> str:
    """Rows that are too wide for a table, in brackets; empty if there are none."""
    words = [
        f"{name} after {hands:,} hands: {mean:+,.0f}" + (f" ± {half:,.0f}" if isfinite(half) else ", no interval yet")
        for name, (hands, mean, half) in found.items()
    ]
    return f" ({'; '.join(words)})" if words else ""


def drawn(found: Mapping[str, tuple[int, float, float]]) -> Picture:
    """The winnings with their intervals, as points in a row for each opponent."""
    names = sorted(found, key=lambda name: found[name][1])
    figure, (axes, *_) = panels(1, 1, size=(7.0, 1.2 + 0.4 * len(names)))
    means, halves = ([found[name][column] for name in names] for column in (1, 2))
    axes.errorbar(means, range(len(names)), xerr=halves, fmt="o", capsize=4, color=PALETTE[0])
    axes.axvline(0.0, color=GREY, linewidth=1.0)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel("mbb/hand that resolver wins, with 95% intervals", color=INK)
    axes.tick_params(colors=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    return save(figure, "holdem-league.png", "Winnings of resolver from each opponent, with 95% intervals.")


@study(title="`resolver` against other agents", place=22, minutes=60)
def reproduce(*options: str) -> Result:
    asked = {name: int(rounds or 1) for name, _, rounds in (option.partition("=") for option in options)}
    runs: dict[str, list[dict[str, Any]]] = dict(stored_with(STUDY, SETTINGS).get("runs", {}))
    add_rounds(runs, asked)
    found = {name: pooled(each) for name, each in runs.items()}
    shown = {name: row for name, row in found.items() if row[2] < WIDEST}
    rows = [
        [
            name,
            str(runs[name][0].get("big_blinds", STACK)),
            f"{hands:,}",
            f"{mean:+,.0f}",
            f"{half:,.0f}",
            f"{sum(each['seconds'] for each in runs[name]) / hands:.1f}",
        ]
        for name, (hands, mean, half) in shown.items()
    ]
    about = [f"{name}: {each[0]['about']}" for name, each in runs.items() if "about" in each[0]]
    first, second = SPLITS
    return Result(
        source="own",
        findings=[
            f"`resolver` wins {mean} ± {half} mbb/hand from `{name}` at {stack} big blinds ({hands} hands)"
            + (", not significantly different from 0." if abs(shown[name][1]) < shown[name][2] else ".")
            for name, stack, hands, mean, half, _ in rows
        ],
        tables=[
            Table(
                "Winnings of `resolver` in mbb/hand",
                ["against", "big blinds", "hands", "wins", "± (95%)", "CPU s per hand"],
                rows,
            )
        ],
        pictures=[drawn(shown)] if shown else [],
        notes=[
            f"`holdem`; resolver: `{RESOLVER}`; "
            + "; ".join([*(f"{name}: `{text}`" for name, text in OPPONENTS.items() if name in runs), *about])
            + ". Payoffs are means over both players' hands and, in later rounds, over all preflop lines, less luck by "
            "check-down values. "
            f"Each hand is continued {first} times from its flop, and from each turn {second} times. Intervals wider than "
            f"±{WIDEST:,.0f} mbb/hand are not reported"
            f"{hidden_rows({name: row for name, row in found.items() if name not in shown})}."
        ],
        numbers={"settings": SETTINGS, "runs": runs},
    )
