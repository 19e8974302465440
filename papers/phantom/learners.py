"""Deep learners on phantom tic-tac-toe and dark hex, full boards: trained from the rules, evaluated exactly, compared with
tables.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.common.comparison import verdict
from papers.common.drawing import dress, legend_in, line_style, panels, plain_labels, save
from papers.common.results import Picture, Result, Table, stored
from papers.common.study import study
from papers.learners.trained import BANDS, SEEDS, STORED, band, folder_of, trained, values_of

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
COLUMNS = ("game", "learner", "seeds", "episodes", "million histories", "exploitability", "CPU time")
TABULAR = "dcfr"
NAMES = [f"{learner} {game}" for game in GAMES for learner in RUNS]
Curve = Mapping[str, Mapping[str, float]]
"""Measurements and CPU seconds by number of updates as text."""
Seeds = Mapping[str, Curve]
"""Curves by seed as text."""


def curves(name: str, before: Seeds) -> dict[str, Curve]:
    """The curve of each seed; stored ones if a training run has no folder."""
    learner, _, game = name.partition(" ")
    found = dict[str, Curve]()
    for seed in map(str, SEEDS):
        if seed in before and not folder_of(game, learner, int(seed)).exists():
            found[seed] = before[seed]
            continue
        records = trained(game, learner, RUNS[learner][game], seed=int(seed)).records
        found[seed] = {str(record.done): {**record.measures, "cpu_seconds": record.cpu_seconds} for record in records}
        print(name, seed, records[-1].measures, flush=True)
    return found


def over_seeds(found: Seeds) -> list[dict[str, Mapping[str, float]]]:
    """Results of the seeds at each number of updates."""
    first = next(iter(found.values()))
    return [{seed: curve[done] for seed, curve in found.items()} for done in first]


@study(title="Deep learners on phantom tic-tac-toe and dark hex", place=3, minutes=150, needs=("torch",))
def reproduce(*options: str) -> Result:
    """Options: training runs such as ``"nfsp dark_hex"``; others are taken as stored. With :data:`STORED`, so are seeds without
    a folder.
    """
    before: dict[str, Any] = stored("phantom/learners") if options else {}
    wanted = [each for each in options if each != STORED] or NAMES
    known = before if STORED in options else {}
    numbers = {name: curves(name, known.get(name, {})) if name in wanted else before.get(name) for name in NAMES}
    numbers = {name: each for name, each in numbers.items() if each}
    tables = {game: stored("phantom/whole_boards")[game]["curves"][TABULAR] for game in GAMES}
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938)",
        findings=findings(numbers, tables),
        tables=[Table("Exploitability of the result", COLUMNS, rows(numbers, tables))],
        pictures=[drawn(numbers, tables)],
        notes=[
            f"{BANDS} `ppo` and `mmd` have one network of two layers of 128 units for both players; inputs are own "
            "stones, known stones and the order of own tries. They use 256 episodes per update, a step size of 0.001 "
            "that falls to zero, and the last policy. Clip 0.1, entropy 0.05, and for MMD a divergence weight of "
            "0.05 are the paper's values for phantom tic-tac-toe. `nfsp` and `deep-cfr` have three layers of 64 "
            "units per player and use the average policy. `nfsp` plays 256 episodes per batch, with 16 gradient "
            f"steps of 256 rows. `deep-cfr` makes two traversals per player in an iteration{walked(numbers)}. The paper "
            "has three layers of 512 units, 10 million decisions, ten seeds, and settings tuned for each game. It "
            "reports `ppo` and `mmd` as its best learners, about equal, and `nfsp` behind them. It has no "
            "`deep-cfr`. Its values are in figures only.",
            "Exploitability is exact: the network is evaluated at all 6 million infosets in batches. CPU seconds "
            "count traversals and gradient steps on one thread, without evaluation; the machine was busy with other jobs. "
            "The rows of the table are from `phantom/whole_boards`.",
        ],
        numbers=numbers,
    )


def rows(numbers: Mapping[str, Seeds], tables: Mapping[str, Sequence[Mapping[str, float]]]) -> list[list[str]]:
    """Rows of each training run, followed by rows of the tabular solver on the game."""
    found = list[list[str]]()
    for game in GAMES:
        for learner in RUNS:
            if f"{learner} {game}" not in numbers:
                continue
            for place, each in enumerate(over_seeds(numbers[f"{learner} {game}"])):
                names = ["", "", ""] if place else [f"`{game}`", f"`{learner}`", str(len(each))]
                episodes, nodes, seconds = (np.mean(values_of(each, of)) for of in ("episodes", "nodes", "cpu_seconds"))
                gains = values_of(each, "exploitability")
                gain = band(gains, 4) if min(gains) < max(gains) else f"{gains[0]:.4f}"
                found.append([*names, f"{episodes:,.0f}", f"{nodes / 1e6:.2f}", gain, f"{seconds:.0f} s"])
        for place, point in enumerate(tables[game]):
            names = ["", "" if place else f"`{TABULAR}`", ""]
            effort = [f"{point['iterations']:.0f} iterations", ""]
            found.append([*names, *effort, f"{point['exploitability']:.4f}", f"{point['seconds']:.0f} s"])
    return found


def findings(numbers: Mapping[str, Seeds], tables: Mapping[str, Sequence[Mapping[str, float]]]) -> list[str]:
    """Results on each game, best first."""
    found = []
    for game in GAMES:
        last = {
            learner: values_of(over_seeds(numbers[f"{learner} {game}"])[-1], "exploitability")
            for learner in RUNS
            if f"{learner} {game}" in numbers
        }
        order = sorted(last, key=lambda learner: float(np.mean(last[learner])))
        means = ", ".join(f"`{each}` {band(last[each], 3)}" for each in order)
        first, second = (last[each] for each in order[:2])
        found.append(f"On `{game}` the order of means is {means}; comparison of the first two: {verdict((first, second))}.")
        least = min(min(each) for each in last.values())
        below = next(point for point in tables[game] if point["exploitability"] < least)
        found.append(
            f"A table beats all of them on `{game}` after {below['seconds']:.0f} CPU seconds: `{TABULAR}` reaches "
            f"{below['exploitability']:.4f} in {below['iterations']:.0f} iterations."
        )
    return found


def walked(numbers: Mapping[str, Seeds]) -> str:
    """Length of the traversals of ``deep-cfr``, as a sentence."""
    found = []
    for game in GAMES:
        if f"deep-cfr {game}" in numbers:
            last = over_seeds(numbers[f"deep-cfr {game}"])[-1]
            nodes, episodes = (sum(values_of(last, of)) for of in ("nodes", "episodes"))
            found.append(f"{nodes / episodes:,.0f} histories each on `{game}`")
    return "".join(f", {each}" for each in found)


def drawn(numbers: Mapping[str, Seeds], tables: Mapping[str, Sequence[Mapping[str, float]]]) -> Picture:
    """Exploitability against CPU seconds: means, and bands over seeds."""
    figure, axes = panels(1, 3, size=(10.5, 3.6))
    styles = {name: line_style(number) for number, name in enumerate((*RUNS, TABULAR))}
    for game, each in zip(GAMES, axes, strict=False):
        for learner in RUNS:
            if f"{learner} {game}" not in numbers:
                continue
            points = over_seeds(numbers[f"{learner} {game}"])[1:]
            seconds = [np.mean(values_of(point, "cpu_seconds")) for point in points]
            heights = np.array([values_of(point, "exploitability") for point in points])
            each.plot(seconds, heights.mean(axis=1), marker="o", markersize=3.5, **styles[learner])
            each.fill_between(seconds, heights.min(axis=1), heights.max(axis=1), alpha=0.15, color=styles[learner]["color"])
        line = tables[game]
        heights = [point["exploitability"] for point in line]
        each.plot([point["seconds"] for point in line], heights, marker="o", markersize=3.5, **styles[TABULAR])
        dress(each, game.replace("_", " "))
        plain_labels(each)
        each.set_xlabel("CPU seconds")
    axes[0].set_ylabel("exploitability")
    shown = [name for name in RUNS if any(f"{name} {game}" in numbers for game in GAMES)]
    legend_in(axes[-1], {**{name: styles[name] for name in shown}, f"{TABULAR}, a table": styles[TABULAR]})
    alt = "For each game curves of deep learners against CPU time, with bands; that of a table is far below all of them"
    return save(figure, "phantom-learners.png", alt)
