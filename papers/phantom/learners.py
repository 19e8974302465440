"""Deep learners on phantom tic-tac-toe and dark hex, whole boards: trained by the rules, judged exactly, beside tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import treeplex as tp
from papers.common.drawing import dress, legend_in, line_style, panels, plain_labels, save
from papers.common.kept import FOLDER
from papers.common.results import Picture, Result, Table, stored
from papers.common.study import study

GAMES = ("phantom_ttt", "dark_hex")
GRADIENT = {"batch": 256, "rate": 0.001}
NFSP = {"plays": 256, "fits": 16, "refresh": 30, "explore_over": 600_000, "batch": 256}
DEEP_CFR = {"walks": 2, "fits": 300, "average_fits": 2000, "memory": 500_000}
RUNS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "ppo": {
        "phantom_ttt": {**GRADIENT, "episodes": 600_000, "every": 600},
        "dark_hex": {**GRADIENT, "episodes": 150_000, "every": 200},
    },
    "mmd": {
        "phantom_ttt": {**GRADIENT, "episodes": 600_000, "every": 600},
        "dark_hex": {**GRADIENT, "episodes": 150_000, "every": 200},
    },
    "nfsp": {game: {**NFSP, "episodes": 600_000, "every": 600} for game in GAMES},
    "deep-cfr": {
        "phantom_ttt": {**DEEP_CFR, "steps": 8, "every": 4},
        "dark_hex": {**DEEP_CFR, "steps": 32, "every": 16},
    },
}
"""Settings besides the defaults."""
COLUMNS = ("game", "learner", "episodes", "million histories", "exploitability", "processor time")
TABULAR = "dcfr"
Curve = Mapping[str, Mapping[str, float]]
"""Measures and processor seconds by the number of updates, as text."""


def trained(learner: str, game: str) -> dict[str, dict[str, float]]:
    """The curve of a training, resumed from its folder if there is one."""
    folder = FOLDER / "phantom-learners" / f"{learner}-{game}"
    if (folder / "run.json").is_file():
        training = tp.train(resume=folder, settings=RUNS[learner][game])
    else:
        training = tp.train(game, learner, settings=RUNS[learner][game], out=folder)
    return {str(record.done): {**record.measures, "cpu_seconds": record.cpu_seconds} for record in training.records}


@study(title="Deep learners on phantom tic-tac-toe and dark hex, judged exactly", place=3, minutes=50, needs=("torch",))
def reproduce(options: list[str] | None = None) -> Result:
    """With options, trainings such as ``"nfsp dark_hex"``: the others are as they are stored."""
    numbers: dict[str, Any] = stored("phantom/learners") if options else {}
    names = [f"{learner} {game}" for game in GAMES for learner in RUNS]
    for name in options or names:
        learner, _, game = name.partition(" ")
        numbers[name] = trained(learner, game)
    numbers = {name: numbers[name] for name in names if name in numbers}
    tables = {game: stored("phantom/whole_boards")[game]["curves"][TABULAR] for game in GAMES}
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938)",
        findings=findings(numbers, tables),
        tables=[Table("Exploitability of the result", COLUMNS, rows(numbers, tables))],
        pictures=[drawn(numbers, tables)],
        notes=[
            "One seed, 0. `ppo` and `mmd`: one network of two layers of 128 units for both players, of own stones, known "
            "stones and the order of own tries; 256 episodes an update, step size 0.001 that falls to zero; the last "
            "policy. Clip 0.1, entropy 0.05, and for MMD a divergence of weight 0.05 are those of the paper for phantom "
            "tic-tac-toe. `nfsp` and `deep-cfr`: three layers of 64 units for each player; the average policy. `nfsp` "
            "plays 256 episodes a batch, with 16 gradient steps of 256 rows; `deep-cfr` makes two walks for each player in an "
            f"iteration{walked(numbers)}. The paper has three layers of 512 units, 10 million "
            "decisions, ten seeds, and settings tuned for each game; it reports `ppo` and `mmd` as the best of its "
            "learners, about alike, and `nfsp` behind them; it has no `deep-cfr`. Its values stand in figures only.",
            "Exploitability is exact: the network is read for all 6 million infosets in batches. Processor seconds are those "
            "of walks and gradient steps on one thread, without judging; the machine did other work meanwhile. The rows of "
            "the table are from `phantom/whole_boards`.",
        ],
        numbers=numbers,
    )


def rows(numbers: Mapping[str, Curve], tables: Mapping[str, Sequence[Mapping[str, float]]]) -> list[list[str]]:
    """Of each training, and beneath those of a game of the tabular solver."""
    found = list[list[str]]()
    for game in GAMES:
        for learner in RUNS:
            for place, each in enumerate(numbers.get(f"{learner} {game}", {}).values()):
                names = ["", ""] if place else [f"`{game}`", f"`{learner}`"]
                effort = [f"{each['episodes']:,.0f}", f"{each['nodes'] / 1e6:.2f}"]
                found.append([*names, *effort, f"{each['exploitability']:.4f}", f"{each['cpu_seconds']:.0f} s"])
        for place, point in enumerate(tables[game]):
            names = ["", "" if place else f"`{TABULAR}`"]
            effort = [f"{point['iterations']:.0f} iterations", ""]
            found.append([*names, *effort, f"{point['exploitability']:.4f}", f"{point['seconds']:.0f} s"])
    return found


def findings(numbers: Mapping[str, Curve], tables: Mapping[str, Sequence[Mapping[str, float]]]) -> list[str]:
    """What each comes to on each game, best first."""
    found = []
    for game in GAMES:
        last = {
            learner: [*numbers[f"{learner} {game}"].values()][-1]["exploitability"]
            for learner in RUNS
            if f"{learner} {game}" in numbers
        }
        order = sorted(last, key=last.__getitem__)
        found.append(f"On `{game}` the order is " + ", ".join(f"`{each}` ({last[each]:.3f})" for each in order) + ".")
        below = next(point for point in tables[game] if point["exploitability"] < last[order[0]])
        found.append(
            f"A table is below all of them on `{game}` after {below['seconds']:.0f} processor seconds: `{TABULAR}` comes to "
            f"{below['exploitability']:.4f} in {below['iterations']:.0f} iterations."
        )
    return found


def walked(numbers: Mapping[str, Curve]) -> str:
    """How long the walks of ``deep-cfr`` are, where it was trained."""
    found = []
    for game in GAMES:
        if f"deep-cfr {game}" in numbers:
            last = [*numbers[f"deep-cfr {game}"].values()][-1]
            found.append(f"{last['nodes'] / last['episodes']:,.0f} histories each on `{game}`")
    return "".join(f", {each}" for each in found)


def drawn(numbers: Mapping[str, Curve], tables: Mapping[str, Sequence[Mapping[str, float]]]) -> Picture:
    """Exploitability against processor seconds."""
    figure, axes = panels(1, 3, size=(10.5, 3.6))
    styles = {name: line_style(number) for number, name in enumerate((*RUNS, TABULAR))}
    for game, each in zip(GAMES, axes, strict=False):
        for learner in RUNS:
            points = [point for point in numbers.get(f"{learner} {game}", {}).values() if point["cpu_seconds"] > 0.0]
            seconds, heights = ([point[name] for point in points] for name in ("cpu_seconds", "exploitability"))
            each.plot(seconds, heights, marker="o", markersize=3.5, **styles[learner])
        line = tables[game]
        heights = [point["exploitability"] for point in line]
        each.plot([point["seconds"] for point in line], heights, marker="o", markersize=3.5, **styles[TABULAR])
        dress(each, game.replace("_", " "))
        plain_labels(each)
        each.set_xlabel("processor seconds")
    axes[0].set_ylabel("exploitability")
    shown = [name for name in RUNS if any(f"{name} {game}" in numbers for game in GAMES)]
    legend_in(axes[-1], {**{name: styles[name] for name in shown}, f"{TABULAR}, a table": styles[TABULAR]})
    alt = "For each game curves of deep learners against processor time; that of a table is far below all of them"
    return save(figure, "phantom-learners.png", alt)
