"""Compile time and memory against the size of the game, from rules and from public trees.

Each game is compiled in a fresh process on one core. Memory is the highest resident size while compiling minus the resident
size before, after all imports and the compilation of a small game. Then the game is stored in an empty cache and read again.

    python bench/run.py compile_scale [--quick] [--limit 1e7]
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from bench.common import record
from bench.common.benchmark import benchmark
from bench.iteration_speed import GOOFSPIEL, battleship

RULES, PUBLIC = "rules", "public tree"
GOAL_BYTES = 100.0
LARGE = 1_000_000
"""Minimum number of histories for comparing bytes per history with the goal; below it, fixed costs dominate."""

LADDERS: dict[str, tuple[str, list[str]]] = {
    "Leduc poker, rules": (RULES, [f"leduc_poker(ranks={ranks})" for ranks in (3, 5, 8, 12, 18, 26)]),
    "Liar's Dice, rules": (RULES, [f"liars_dice(numdice=1,dice_sides={faces})" for faces in (3, 4, 5, 6, 7, 8)]),
    "Goofspiel, rules": (RULES, [GOOFSPIEL.replace("num_cards=5", f"num_cards={cards}") for cards in (4, 5, 6)]),
    "Battleship, rules": (RULES, [battleship(2), battleship(3)]),
    "Custom game, rules": (RULES, [f"examples/mygame.py:MyGame(ranks={ranks})" for ranks in (20, 60, 180, 540)]),
    "Leduc poker, public tree": (PUBLIC, [f"leduc_poker(ranks={ranks})" for ranks in (3, 5, 8, 12, 18, 26, 52)]),
    "Big Leduc, public tree": (PUBLIC, [f"leduc_poker(ranks={ranks},raises=6)" for ranks in (3, 6, 12, 24)]),
    "Liar's Dice, public tree": (PUBLIC, [f"liars_dice(numdice=1,dice_sides={faces})" for faces in (3, 4, 5, 6, 7, 8)]),
}
NAMES = {battleship(2): "Battleship-2", battleship(3): "Battleship-3"}
QUICK_LIMIT = 30_000


def one_compile(path: str, spec: str) -> dict[str, Any]:
    """Compile one game in this process."""
    from treeplex.forms.compile.public_tree import compile_public_tree
    from treeplex.forms.compile.walk import compile_rules
    from treeplex.forms.sources.load import load

    def compiled(text: str) -> Any:
        game = load(text)
        return compile_rules(game) if path == RULES else compile_public_tree(game, game.public_tree())

    compiled("leduc_poker(ranks=2,suits=2)" if path == PUBLIC else "kuhn_poker")
    before = resident_bytes()
    start = time.perf_counter()
    game = compiled(spec)
    seconds = time.perf_counter() - start
    used = max(resident_bytes(highest=True) - before, 0)
    kept = sum(array.nbytes for part in (game.tree, *game.payoff[:3], (game.action_ids,)) for array in part)
    sparse, dense, *_ = game.payoff
    return {
        "spec": spec,
        "histories": game.size.histories,
        "terminals": game.size.terminals,
        "infosets": sum(game.infosets),
        "sequences": sum(game.sequences),
        "payoff_entries": int(sparse.values.size),
        "payoff_terminals": int(dense.scales.size),
        "seconds": seconds,
        "peak_bytes": used,
        "kept_bytes": int(kept),
        "cached_seconds": cached_seconds(spec, game),
    }


def cached_seconds(spec: str, game: Any) -> float | None:
    """Seconds to load the game and read its arrays from the cache on disk; None if it cannot be cached."""
    from treeplex.forms.compile import game_cache
    from treeplex.forms.sources.load import load

    game_cache.LEAST_SECONDS = 0.0
    with tempfile.TemporaryDirectory() as folder:
        os.environ[game_cache.ENVIRONMENT] = folder
        game_cache.cached(load(spec), {}, None, lambda: game)
        start = time.perf_counter()
        read = game_cache.cached(load(spec), {}, None, lambda: game)
        return None if read is game else time.perf_counter() - start


def resident_bytes(*, highest: bool = False) -> int:
    """Current resident size of this process, resetting the peak; or the peak since the last reset."""
    try:
        if not highest:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        status = Path("/proc/self/status").read_text(encoding="ascii")
        found = re.search(r"VmHWM:\s+(\d+)" if highest else r"VmRSS:\s+(\d+)", status)
        assert found is not None
        return 1024 * int(found.group(1))
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def climb(name: str, limit: float) -> list[dict[str, Any]]:
    """Compile the games of one series until the next would pass ``limit`` histories (ten times that through public trees)."""
    path, specs = LADDERS[name]
    limit *= 10 if path == PUBLIC else 1
    found: list[dict[str, Any]] = []
    for spec in specs:
        if found and found[-1]["histories"] * growth(found) > limit:
            break
        print(f"{name}: {spec} ...", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "bench.compile_scale", path, spec]
        done = subprocess.run(command, cwd=record.ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            break
        found.append(json.loads(done.stdout))
    return found


def growth(found: list[dict[str, Any]]) -> float:
    """Growth factor from the previous game to the last one; a guess for the first."""
    return found[-1]["histories"] / found[-2]["histories"] * 0.8 if len(found) > 1 else 2.0


def tables(result: dict[str, Any]) -> str:
    """The result as markdown: one table, and whether the goals are met."""
    rows = []
    for name, games in result["ladders"].items():
        for game in games:
            per_million = 1e6 * game["seconds"] / game["histories"]
            peak = game["peak_bytes"] / game["histories"]
            rows.append(
                [
                    name,
                    NAMES.get(game["spec"], f"`{game['spec']}`"),
                    f"{game['histories']:,}",
                    record.digits(game["seconds"]),
                    record.digits(per_million),
                    record.digits(game["peak_bytes"] / 2**20),
                    record.digits(peak),
                    record.digits(game["kept_bytes"] / game["histories"]),
                    "" if game.get("cached_seconds") is None else record.digits(game["cached_seconds"]),
                ]
            )
    header = [
        "series",
        "game",
        "histories",
        "seconds",
        "seconds per million histories",
        "peak MiB",
        "peak bytes per history",
        "bytes stored per history",
        "seconds from the cache",
    ]
    if not any(row[-1] for row in rows):  # results before there was a cache
        rows, header = [row[:-1] for row in rows], header[:-1]
    return f"{record.markdown_table(header, rows, left=2)}\n\n{verdicts(result)}"


def verdicts(result: dict[str, Any]) -> str:
    """For each series with more than a million histories: memory against the goal, and growth of time."""
    lines = []
    for name, games in result["ladders"].items():
        largest = games[-1] if games else {"histories": 0}
        if largest["histories"] < LARGE:
            continue
        peak = largest["peak_bytes"] / largest["histories"]
        goal = f"goal {GOAL_BYTES:g}: {'met' if peak < GOAL_BYTES else 'missed'}"
        pace = [1e6 * game["seconds"] / game["histories"] for game in games]
        lines.append(
            f"- {name}: {record.digits(peak)} bytes per history at {largest['histories']:,} histories ({goal}); "
            f"{record.digits(pace[0])} seconds per million histories for the smallest game, "
            f"{record.digits(pace[-1])} for the largest."
        )
    return "\n".join(lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=float, default=None, help="most histories through rules (default 1.3e7; 3e4 with --quick)"
    )


COLOURS = {
    "Leduc poker": "#0072B2",
    "Liar's Dice": "#D55E00",
    "Goofspiel": "#009E73",
    "Battleship": "#CC79A7",
    "Big Leduc": "#000000",
    "Custom game": "#56B4E9",
}
"""From the palette of Okabe and Ito, which colour-blind readers tell apart; markers and dashes differ too."""

MARKERS = {"Leduc poker": "o", "Liar's Dice": "s", "Goofspiel": "^", "Battleship": "D", "Big Leduc": "v", "Custom game": "P"}


def draw(ladders: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Draw seconds and peak memory of every ladder on logarithmic axes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, (time_axes, memory_axes) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    for name, games in ladders.items():
        plot_ladder(time_axes, name, games, "seconds", 1.0)
        plot_ladder(memory_axes, name, games, "peak_bytes", 2.0**-20)
    last = max(game["histories"] for games in ladders.values() for game in games)
    reference(time_axes, 10e-6, last, "10 s per million histories")
    reference(memory_axes, 100 * 2.0**-20, last, "100 bytes per history")
    time_axes.set(title="Time to compile", ylabel="seconds, one core")
    memory_axes.set(title="Memory to compile", ylabel="MiB above the start, at most")
    for axes in (time_axes, memory_axes):
        axes.set(xscale="log", yscale="log", xlabel="histories of the game")
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
    time_axes.legend(frameon=False, fontsize=8.5, loc="upper left", handlelength=3)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def plot_ladder(axes: Axes, name: str, games: list[dict[str, Any]], key: str, unit: float) -> None:
    """One curve: filled markers and full lines for rules, open markers and dashed lines for public trees."""
    shown = [game for game in games if game[key] > 0]
    family, path = name.split(", ")
    through_rules = path == "rules"
    axes.plot(
        [game["histories"] for game in shown],
        [game[key] * unit for game in shown],
        color=COLOURS[family],
        marker=MARKERS[family],
        markerfacecolor=COLOURS[family] if through_rules else "white",
        linestyle="-" if through_rules else "--",
        linewidth=1.6,
        markersize=6,
        label=name,
    )


def reference(axes: Axes, slope: float, last: float, text: str) -> None:
    """A grey line proportional to the number of histories, up to ``last``, labelled at its right end."""
    ends = np.array([1e3, last])
    axes.plot(ends, slope * ends, color="#777777", linewidth=1, linestyle=":")
    place = (last, slope * last)
    axes.annotate(text, place, (0, 4), textcoords="offset points", ha="right", va="bottom", fontsize=8, color="#555555")


@benchmark(
    title="Compiling: time and memory",
    place=7,
    minutes=5,
    about=(
        "Each game compiles in a fresh process on one core. Memory is the peak resident size minus the resident size before "
        "compiling. Bytes stored are the arrays of the compiled game, without infostate strings."
    ),
    picture=("compile_scale.png", "Compile time and memory against the number of histories"),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    limit = options.limit or (QUICK_LIMIT if options.quick else 1.3e7)
    ladders = {name: climb(name, limit) for name in LADDERS}
    folder = record.BENCH / "quick" if options.quick else record.ROOT / "docs" / "images"
    draw(ladders, folder / "compile_scale.png")
    return {"ladders": ladders}


if __name__ == "__main__":
    print(json.dumps(one_compile(sys.argv[1], sys.argv[2])))
