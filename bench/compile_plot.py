"""The picture of compile time and memory against the size of the game."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

COLOURS = {
    "Leduc poker": "#0072B2",
    "Liar's Dice": "#D55E00",
    "Goofspiel": "#009E73",
    "Battleship": "#CC79A7",
    "Big Leduc": "#000000",
}
"""From the palette of Okabe and Ito, which colour-blind readers tell apart; markers and dashes differ too."""

MARKERS = {"Leduc poker": "o", "Liar's Dice": "s", "Goofspiel": "^", "Battleship": "D", "Big Leduc": "v"}


def draw(result: dict[str, Any], path: Path) -> Path:
    """Draw seconds and peak memory of every ladder on logarithmic axes; return the file written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, (time_axes, memory_axes) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    for name, games in result["ladders"].items():
        plot_ladder(time_axes, name, games, "seconds", 1.0)
        plot_ladder(memory_axes, name, games, "peak_bytes", 2.0**-20)
    last = max(game["histories"] for games in result["ladders"].values() for game in games)
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
    return path


def plot_ladder(axes: Axes, name: str, games: list[dict[str, Any]], key: str, unit: float) -> None:
    """One curve: filled markers and full lines for rules, open markers and dashes for public trees."""
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
    """A grey line of cost proportional to histories, up to ``last`` of them, named at its right end."""
    ends = np.array([1e3, last])
    axes.plot(ends, slope * ends, color="#777777", linewidth=1, linestyle=":")
    place = (last, slope * last)
    axes.annotate(text, place, (0, 4), textcoords="offset points", ha="right", va="bottom", fontsize=8, color="#555555")
