"""Time and memory against size: trees, phantom games, sampling, rivers, turns, flops, blueprints, threads and workers.

Every point is measured in a fresh process. An interrupted run continues after the points that are already measured.

    python bench/run.py growth [--quick] [--series "a tree, dense payoffs"] [--seconds 120]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bench.common import record
from bench.common.benchmark import benchmark
from bench.iteration_speed import battleship
from papers.common.lines import read_lines, write_lines
from treeplex.engine.tree.shared import MOST_THREADS

LEDUC = [{"game": f"leduc_poker(ranks={ranks})"} for ranks in (3, 6, 12, 26, 52, 104)]
DICE = [{"game": f"liars_dice(numdice=1,dice_sides={faces})"} for faces in (3, 4, 5, 6, 7, 8, 9, 10)]
OTHERS = [
    {"game": game} for game in ("leduc_poker(players=3)", "big_leduc", "liars_dice(numdice=2,dice_sides=4)", battleship(3))
]
BETTING = [{"game": f"holdem(ranks={ranks},hole=1,deal=[0;1],stack=20,sizes=[100%;a],raises=[2;2])"} for ranks in (3, 6, 13)]
STACKS = [
    {"game": f"holdem(ranks=13,hole=1,deal=[0;1],stack={stack},sizes=[50%;100%;a],raises=[4;4])"} for stack in (10, 40, 200)
]
RIVER, TURN, FLOP = "Td9d6hQc2s", "Td9d6hQc", "Td9d6h"
HANDS = [{"board": RIVER, "sizes": 5, "hands": hands} for hands in (30, 100, 300, 1081)]
SIZES = [{"board": TURN, "sizes": sizes} for sizes in (1, 2, 3, 5)]
TURNS = [*({"board": TURN, "sizes": 1, "hands": hands} for hands in (30, 100)), *SIZES, {**SIZES[2], "hands": 1081}]
BOARDS = [{"board": FLOP, "runouts": [0, 0, turns, rivers]} for turns, rivers in ((3, 2), (6, 5), (12, 10), (24, 24))]
FLOPS = [*BOARDS, {"board": FLOP}, {"board": FLOP, "sizes": 2}, {"board": FLOP, "sizes": 3}]

Points = Sequence[Mapping[str, Any]]
TWO_THREADS = ", 2 threads"
"""End of the name of a series that repeats another with two threads."""
UNLIKE = "other trees"
"""A series of games of different kinds, without slopes."""
SERIES: dict[str, tuple[str, Points]] = {
    "a tree, dense payoffs": ("tree", LEDUC),
    f"a tree, dense payoffs{TWO_THREADS}": ("tree", [{**point, "threads": 2} for point in LEDUC]),
    "a tree, dense payoffs, single precision": ("tree", [{**point, "precision": "single"} for point in LEDUC]),
    "a tree, small matrices": ("tree", DICE),
    f"a tree, small matrices{TWO_THREADS}": ("tree", [{**point, "threads": 2} for point in DICE]),
    UNLIKE: ("tree", OTHERS),
    f"{UNLIKE}{TWO_THREADS}": ("tree", [{**point, "threads": 2} for point in OTHERS]),
    "a tree, sparse payoffs": ("tree", [{"game": f"goofspiel(num_cards={cards},imp_info=true)"} for cards in (3, 4, 5)]),
    "a phantom game": (
        "tree",
        [{"game": f"phantom_ttt(rows={rows},columns={columns},line=2)"} for rows, columns in ((2, 2), (2, 3))]
        + [{"game": "phantom_ttt"}],
    ),
    "whole hold'em, small decks": ("tree", BETTING),
    "sampling from rules": (
        "sampling",
        [{"game": "goofspiel(num_cards=6,imp_info=true)", "histories": 10**power} for power in (3, 4, 5, 6)],
    ),
    "a river": ("spot", HANDS),
    "a turn": ("spot", TURNS),
    "a flop": ("spot", FLOPS),
    f"a flop{TWO_THREADS}": ("spot", [{**point, "threads": 2} for point in FLOPS]),
    "a flop, int16": ("spot", [{**point, "storage": "int16"} for point in FLOPS]),
    "a blueprint": ("blueprint", STACKS),
    "a turn in parts, 1 worker": ("parts", [{**point, "workers": 1} for point in SIZES]),
    "a turn in parts, 2 workers": ("parts", [{**point, "workers": 2} for point in SIZES]),
}
"""The kind of every series (:mod:`bench.common.growth_points`) and its points, smallest first."""

LIMIT = 180.0
"""Seconds after which a point is abandoned; larger ones of its series are then left out."""
QUICK_POINTS = 2
COMPARED = 50e6
"""Bytes from which a predicted peak is compared with the measured one; below it, Python's own memory dominates."""
CLOSE = 0.05
LEAST = 0.1
"""MiB below which memory is not shown, because it depends on what Python frees."""
TAIL = 3
"""Number of largest points from which slopes are computed."""
CORES = (16, 64)
"""Numbers of cores for which speed-ups are estimated."""
MOST_CORES = {"tree": MOST_THREADS}
"""Maximum number of threads by kind of series, where there is one."""
PARTIAL = record.BENCH / "quick" / "growth.partial.jsonl"


def one_point(kind: str, smallest: Mapping[str, Any], point: Mapping[str, Any], limit: float) -> dict[str, Any] | None:
    """Measure a point in a process of its own; None if it fails or takes too long."""
    command = [sys.executable, "-m", "bench.common.growth_points", kind, json.dumps([smallest, point])]
    try:
        done = subprocess.run(
            command, cwd=record.ROOT, env=record.compiling(), capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        print(f"  more than {limit:g} s", file=sys.stderr, flush=True)
        return None
    if done.returncode:
        print(f"  failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr, flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def climb(name: str, options: argparse.Namespace, stored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Measure the points of a series that are not stored yet."""
    kind, points = SERIES[name]
    found: list[dict[str, Any]] = []
    for point in points[:QUICK_POINTS] if options.quick else points:
        known = next((line["value"] for line in stored[1:] if line["run"] == [name, dict(point)]), None)
        if known is None:
            print(f"{name}: {json.dumps(point)}", file=sys.stderr, flush=True)
            known = one_point(kind, points[0], point, options.seconds)
            if known is None:
                break
            stored.append({"run": [name, dict(point)], "value": known})
            if not options.quick:
                write_lines(PARTIAL, stored)
        found.append({"settings": dict(point), **known})
    return found


def slope(points: Points, key: str) -> float | None:
    """Exponent of the power law through the largest points, by least squares on logarithms; None for fewer than three."""
    last = [point for point in points if point[key] > 0][-TAIL:]
    if len(last) < TAIL:
        return None
    sizes, values = (np.log([point[field] for point in last]) for field in ("size", key))
    return float(np.polyfit(sizes, values, 1)[0])


def ratio(point: Mapping[str, Any]) -> float | None:
    """Predicted over measured peak; None for small points and without a prediction."""
    if "predicted_bytes" not in point or point["peak_bytes"] < COMPARED:
        return None
    return float(point["predicted_bytes"] / point["peak_bytes"])


def settings_text(settings: Mapping[str, Any]) -> str:
    """The settings of a point for the table."""
    return ", ".join(str(value) if key in ("game", "board") else f"{key} {value}" for key, value in settings.items())


def more_cores(series: Mapping[str, Points]) -> list[list[str]]:
    """Rows of the largest game of each series with one and two threads: measured speed-up, and estimates for more.

    The estimate is Amdahl's law for the serial share that two threads show. Points that seem more than twice as fast are noise
    and left out. The series :data:`UNLIKE` has a row per game.
    """
    rows = []
    for name, points in series.items():
        shared = series.get(f"{name}{TWO_THREADS}", [])
        pairs = [
            (one, two)
            for one in points
            for two in shared
            if two["settings"] == one["settings"] | {"threads": 2} and one["seconds"] < 2 * two["seconds"]
        ]
        if not pairs:
            continue
        kind, _ = SERIES[name]
        most = MOST_CORES.get(kind, max(CORES))
        for one, two in pairs if name == UNLIKE else [max(pairs, key=lambda pair: pair[0]["size"])]:
            serial = 2 * two["seconds"] / one["seconds"] - 1
            found = [1 / (serial + (1 - serial) / cores) for cores in CORES if cores <= most]
            shown = [f"{times:.2f}" for times in (one["seconds"] / two["seconds"], *found)]
            game = f"`{one['settings']['game']}`" if name == UNLIKE else name
            rows.append([game, f"{one['size']:,}", *shown, *["-"] * (1 + len(CORES) - len(shown))])
    return rows


def tables(result: dict[str, Any]) -> str:
    """The result as markdown: a row per point, slopes, estimates for more cores, and the accuracy of predicted memory."""
    rows, slopes, ratios = [], [], []
    for name, points in result["series"].items():
        for point in points:
            found = ratio(point)
            ratios += [] if found is None else [found]
            rows.append(
                [
                    name,
                    f"`{settings_text(point['settings'])}`",
                    f"{point['size']:,}",
                    record.digits(1e3 * point["seconds"]),
                    record.digits(1e9 * point["seconds"] / point["size"]),
                    record.digits(point["build_seconds"]),
                    record.digits(point["peak_bytes"] / 2**20),
                    record.digits(point["peak_bytes"] / point["size"]),
                    "" if found is None else f"{found:.2f}",
                ]
            )
        if name.startswith(UNLIKE):
            continue
        exponents = [slope(points, key) for key in ("seconds", "peak_bytes")]
        slopes.append([name, *("" if exponent is None else f"{exponent:.2f}" for exponent in exponents)])
    header = ["series", "point", "infosets", "ms per iteration", "ns per infoset", "build, s", "peak, MiB", "bytes per infoset"]
    parts = [
        record.markdown_table([*header, "predicted / measured"], rows, left=2),
        f"Slopes on logarithmic axes, over the {TAIL} largest points of a series; 1 is proportional to the number of infosets:",
        record.markdown_table(["series", "time", "memory"], slopes),
    ]
    if estimates := more_cores(result["series"]):
        parts += [
            "Speed-up of the largest game on two threads, and rough estimates for more cores: the serial share that two "
            f"threads show stays (Amdahl), and a core is as fast as here. Trees use at most {MOST_THREADS} threads:",
            record.markdown_table(["series", "infosets", "2 threads", *(f"{cores} cores" for cores in CORES)], estimates),
        ]
    if ratios:
        close = sum(abs(found - 1) <= CLOSE for found in ratios)
        parts.append(
            f"Of {len(ratios)} peaks above {COMPARED / 1e6:g} MB, `treeplex info` and the estimates predict {close} within "
            f"{CLOSE:.0%} (from {min(ratios):.2f} to {max(ratios):.2f} of the measured peak)."
        )
    return "\n\n".join(parts)


def draw(series: Mapping[str, Points], path: Path) -> None:
    """Draw seconds per iteration and peak memory of every series on logarithmic axes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, both = plt.subplots(1, 2, figsize=(12, 6.4), layout="constrained")
    colours = plt.get_cmap("tab10")
    for axes, key, unit, title, label in (
        (both[0], "seconds", 1e3, "Time of an iteration", "ms"),
        (both[1], "peak_bytes", 2.0**-20, "Peak memory", "MiB above the start"),
    ):
        for number, (name, points) in enumerate(series.items()):
            shown = [point for point in points if point[key] > 0]
            axes.plot(
                [point["size"] for point in shown],
                [point[key] * unit for point in shown],
                color=colours(number % 10),
                marker="os^Dv"[number % 5],
                linestyle="-" if number < 10 else "--",
                markersize=4.5,
                linewidth=1.3,
                label=name,
            )
        axes.set(title=title, ylabel=label, xlabel="infosets", xscale="log", yscale="log")
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
    both[1].set_ylim(bottom=LEAST)
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    figure.savefig(path, dpi=140)
    plt.close(figure)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--series", action="append", choices=list(SERIES), help="only this series (repeatable)")
    parser.add_argument("--seconds", type=float, default=LIMIT, help=f"seconds for a point (default: {LIMIT:g})")


@benchmark(
    title="Time and memory against size",
    place=11,
    minutes=15,
    about=(
        "Each point runs in a fresh process, after the smallest point of its series has loaded the kernels: building, "
        "iterations, and one evaluation. An iteration of sampling is one walk per player, and of a blueprint one board with 64 "
        "deals; all others are iterations of DCFR. Memory is the peak resident size minus the resident size before. For trees "
        "the peak while compiling is not included. Predicted memory is that of `treeplex info` and of estimates, without the "
        "memory that Python and the kernels need."
    ),
    picture=("growth.png", "Time per iteration and peak memory against the number of infosets, on logarithmic axes"),
    pinned=False,
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    about = {"commit": record.commit(), "machine": record.machine()}
    lines = [] if options.quick else read_lines(PARTIAL)
    stored = lines if lines and lines[0] == about else [about]
    names = options.series or list(SERIES)
    series = {name: climb(name, options, stored) for name in SERIES if name in names}
    series = {name: points for name, points in series.items() if points}
    folder = record.BENCH / "quick" if options.quick or options.series else record.ROOT / "docs" / "images"
    draw(series, folder / "growth.png")
    if not options.quick:
        PARTIAL.unlink(missing_ok=True)
    return {"series": series}
