"""ReBeL Figures 2 and 6 with a small deck: search on the turn with exact values and with networks, and random beliefs.

``python papers/rebel_turn.py`` takes some ten minutes on one core; runs are kept in ``runs/papers`` one by one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drawing import dress, line_style, panels, plain_labels, save
from rebel_turn_runs import (
    EXACT,
    GAME,
    HORIZON,
    ITERATIONS,
    KINDS,
    LEARNT,
    PLAIN,
    RIVER,
    SEEDS,
    Curve,
    Trained,
    exact,
    learnt,
    points,
    whole_game,
)
from rebel_turn_search import Turn
from rebel_turn_text import curves_table, errors_table, findings, notes
from results import Picture, Result, finish, published
from treeplex.learn.rebel.value_net import torch_module


def draw(left: Mapping[str, Curve], trained: Trained, tabular: Sequence[float]) -> Picture:
    """Figure 6 left, Figure 6 right, Figure 2: exploitability of what is played; bands from the lowest seed to the highest."""
    figure, axes = panels(1, 3, size=(13.2, 4.6))
    for number, (method, found) in enumerate(left.items()):
        axes[0].plot(points(), found["played"], label=EXACT[method], **line_style(number))
    for number, method in enumerate(EXACT):
        if method in LEARNT:
            banded(axes[1], trained["self-play"], method, EXACT[method], number)
    axes[2].plot(points(), left[PLAIN]["played"], label="exact values", **line_style(2))
    banded(axes[2], trained["self-play"], PLAIN, "self-play", 0)
    banded(axes[2], trained["self-play, policy network"], PLAIN, "self-play, warm start", 1)
    banded(axes[2], trained["random beliefs"], PLAIN, "random beliefs", 3)
    axes[2].plot(points(), tabular, label="whole game, linear CFR", color="#9A9A9A", linewidth=1.2)
    titles = "Figure 6 left: exact values", "Figure 6 right: self-play network", f"Figure 2: {EXACT[PLAIN]}"
    low = min(min(found["played"]) for found in (*left.values(), {"played": tabular}))
    for panel, title in zip(axes, titles, strict=True):
        panel.set_ylim(0.8 * low, 3.0)
        dress(panel, title)
        plain_labels(panel)
        panel.set(xlim=(1, ITERATIONS), xlabel="iterations (each updates both players)")
        panel.set_xticks([1, 4, 16, 64, 128], ["1", "4", "16", "64", "128"])
        panel.legend(frameon=False, fontsize=9, handlelength=3.0, loc="lower left")
    axes[0].set_ylabel("exploitability, chips")
    return save(
        figure,
        "rebel-turn.png",
        "Exploitability against iterations of search on a small turn game, three panels with logarithmic axes: methods with "
        "exact values, methods with a self-play network, and networks from self-play and from random beliefs",
    )


def banded(axes: Any, runs: Sequence[Mapping[str, Any]], name: str, label: str, number: int) -> None:
    """The mean curve of some seeds and the range from their lowest to their highest."""
    found, style = np.array([run["curves"][name]["played"] for run in runs]), line_style(number)
    axes.plot(points(), found.mean(axis=0), label=label, **style)
    axes.fill_between(points(), found.min(axis=0), found.max(axis=0), color=style["color"], alpha=0.18, linewidth=0)


def without_nan(value: Any) -> Any:
    """Plain data with None where a warm start passes over a point."""
    if isinstance(value, Mapping):
        return {key: without_nan(own) for key, own in value.items()}
    if isinstance(value, list):
        return [without_nan(own) for own in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def main() -> None:
    torch_module().set_num_threads(1)
    turn, paper = Turn(GAME, HORIZON, RIVER), published()["rebel"]
    left = {method: exact(turn, method) for method in EXACT}
    trained = {kind: [learnt(turn, kind, seed) for seed in SEEDS] for kind in KINDS}
    tabular = whole_game(turn)
    finish(
        Result(
            name="rebel_turn",
            title="ReBeL, Figures 2 and 6, with a small deck",
            source=f"{paper['source']}; {paper['turn_search']['source']}",
            findings=findings(left, trained, tabular),
            tables=[curves_table(left, trained, tabular), errors_table(trained)],
            pictures=[draw(left, trained, [tabular[point] for point in points()])],
            notes=notes(turn),
            numbers={"points": points(), "exact": left, "trained": without_nan(trained), "whole_game": tabular},
        )
    )


if __name__ == "__main__":
    main()
