"""ReBeL Figures 2 and 6 with a small deck: search on the turn with exact values and with networks, and random beliefs.

Searches with exact values are those of ``small_turn_boards``. Stored training runs are not repeated.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np

from papers.common.curves import curve, log_points
from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, effort, kept
from papers.common.results import Picture, Result, Table, published, stored, verdict
from papers.common.study import study
from papers.rebel.small_turn_exact import (
    ALTERNATING,
    BOARDS,
    CFR_D,
    EXACT,
    HORIZON,
    ITERATIONS,
    MARKS,
    MODIFIED,
    RIVER,
    SOUND,
    Curve,
    points,
    runs_on_boards,
)
from papers.rebel.small_turn_search import DOMAINS, Turn, errors
from treeplex.learn import RebelSettings, RebelTrainer
from treeplex.learn.common.device import torch_module

NAME = "rebel/small_turn"
SEEDS = (0, 1)
SETTINGS = RebelSettings(
    iterations=32, depth=0, rounds=True, endgame=9, solves=6144, burn_in=512, reuse=256.0, width=128, warm=15
)
LEARNT = (CFR_D, MODIFIED, "flop")
KINDS: Mapping[str, Mapping[str, Any]] = {
    "self-play": {},
    "random beliefs": {"source": "random"},
    "self-play, policy network": {"policy_net": True},
}
LONGEST = 1024
"""Iterations of linear CFR on the full game."""
CODE = (
    *("papers.rebel.small_turn", "papers.rebel.small_turn_search"),
    *("treeplex.search", "treeplex.learn", "treeplex.forms", "treeplex.engine", "treeplex.holdem.rules"),
)
"""Modules that affect results; see ``kept.py``."""
TrainingCurves = Mapping[str, Sequence[Mapping[str, Any]]]
"""Records by kind of training, one entry per seed."""


def learnt(turn: Turn, kind: str, seed: int) -> dict[str, Any]:
    """A training run, searches with its networks and their errors: curves by name, seconds, loss."""
    numbers = stored(NAME)
    if numbers.get("points") == points() and seed < len(numbers.get("trained", {}).get(kind, ())):
        return dict(replaced(numbers["trained"][kind][seed], None, math.nan))
    settings = replace(SETTINGS, seed=seed, **KINDS[kind])

    def make() -> dict[str, Any]:
        trainer, began, loss = RebelTrainer(turn.rules, settings), process_time(), []
        while not trainer.finished:
            loss.append(trainer.round().loss)
        seconds = process_time() - began
        found = {
            method: turn.curve(trainer.leaf, method, points()) for method in (LEARNT if kind == "self-play" else (MODIFIED,))
        }
        if trainer.leaf.guess is not None:
            trainer.leaf.warm = 0
            found["cold"] = turn.curve(trainer.leaf, MODIFIED, points())
        last = statistics.fmean(loss[-len(loss) // 10 :])
        return {"curves": found, "seconds": seconds, "loss": last, "errors": errors(turn, trainer.leaf)}

    key = {"what": f"{NAME} learnt", "game": turn.game.identity, "settings": asdict(settings), "points": points()}
    return dict(kept({**key, "river": RIVER, "code": code(*CODE)}, make))


def whole_game(turn: Turn) -> dict[int, float]:
    """Exploitability of linear CFR on the full game, by iterations."""
    marks = sorted({*points(), *log_points(LONGEST, a_decade=24)})
    return dict(zip(marks, curve(turn.game, "lcfr", marks), strict=True))


OWN, RANDOM, WARM = "self-play", "random beliefs", "self-play, policy network"


def at_marks(values: Sequence[float]) -> list[str]:
    """A curve at the marks; empty at those skipped by a warm start."""
    found = [values[points().index(mark)] for mark in MARKS]
    return ["" if np.isnan(value) else f"{value:.3f}" for value in found]


def mean_at(runs: Sequence[Mapping[str, Any]], name: str, mark: int) -> float:
    """Exploitability of the played policy after a number of iterations, mean over seeds."""
    return statistics.fmean(run["curves"][name]["played"][points().index(mark)] for run in runs)


def spread(runs: Sequence[Mapping[str, Any]], name: str, mark: int) -> str:
    """Mean exploitability of the played policy with its range over seeds."""
    values = [run["curves"][name]["played"][points().index(mark)] for run in runs]
    return f"{mean_at(runs, name, mark):.3f} [{min(values):.3f}, {max(values):.3f}]"


def equals(tabular: Mapping[int, float], level: float) -> str:
    """Iterations of linear CFR on the full game needed to reach a level."""
    below = [iterations for iterations, value in tabular.items() if value <= level]
    return str(min(below)) if below else f"more than {LONGEST}"


def curves_table(left: Mapping[str, Curve], trained: TrainingCurves, tabular: Mapping[int, float]) -> Table:
    """All curves at the marks: the played policy, and the average policy with rivers solved for its beliefs."""
    rows = []
    for method, found in left.items():
        rows.append([f"exact, {EXACT[method]}", *at_marks(found["played"]), *at_marks(found["average"])])
    for kind, runs in trained.items():
        for name in runs[0]["curves"]:
            warm = ", warm start" if "cold" in runs[0]["curves"] else ""
            text = f"{EXACT[MODIFIED]}, no warm start" if name == "cold" else EXACT[name] + warm
            rows.append([f"{kind}, {text}", *mean_cells(runs, name, "played"), *mean_cells(runs, name, "average")])
    rows.append(["whole game, linear CFR", *(f"{tabular[mark]:.3f}" for mark in MARKS), *[""] * len(MARKS)])
    columns = [f"{which}, {mark}" for which in ("played", "average") for mark in MARKS]
    return Table(
        f"Exploitability in chips by number of iterations; for networks the mean of {len(SEEDS)}", ["", *columns], rows
    )


def mean_cells(runs: Sequence[Mapping[str, Any]], name: str, which: str) -> list[str]:
    """The mean of some seeds at the marks."""
    return at_marks(np.mean([run["curves"][name][which] for run in runs], axis=0).tolist())


def errors_table(trained: TrainingCurves) -> Table:
    """Errors of networks' values, and training cost."""
    rows = []
    for kind, runs in trained.items():
        cells = [f"{mean_error(runs, name):.3f}" for name in DOMAINS]
        seconds, loss = (statistics.fmean(run[name] for run in runs) for name in ("seconds", "loss"))
        rows.append([kind, *cells, f"{loss:.3f}", f"{seconds:.0f}"])
    return Table(
        "Root mean square error of a hand's value at a leaf, as a fraction of the pot there, by source of beliefs",
        ["trained on", *DOMAINS, "last loss", "CPU seconds"],
        rows,
    )


def compared(left: Mapping[str, Curve], worse: str, better: str) -> str:
    """Two methods compared at the last mark, for both policies."""
    found = [[left[name][which][-1] for which in ("played", "average")] for name in (worse, better)]
    return f"{EXACT[worse]} {found[0][0]:.3f} ({found[0][1]:.3f}), {EXACT[better]} {found[1][0]:.3f} ({found[1][1]:.3f})"


def mean_error(runs: Sequence[Mapping[str, Any]], domain: str) -> float:
    """Mean error over seeds."""
    return statistics.fmean(run["errors"][domain] for run in runs)


def findings(left: Mapping[str, Curve], trained: TrainingCurves, tabular: Mapping[int, float]) -> list[str]:
    """The findings, compared with the paper's claims."""
    paper = published("rebel")
    claims, last = paper["turn_search"]["claims"], MARKS[-1]
    return [
        f'Published: "{claims[0]}". Here, after {last} iterations with exact values: {compared(left, SOUND, CFR_D)} '
        "chips; in brackets the average policy with rivers solved for its beliefs. "
        f"{verdict(*exceeds(left, SOUND, CFR_D))} Other boards and the effect of rounding have a separate section.",
        f'Published: "{claims[1]}". With exact values: {compared(left, CFR_D, MODIFIED)}. '
        f"{verdict(*exceeds(left, CFR_D, MODIFIED))} With networks from self-play, which here solve with DCFR in "
        f"training: CFR-D {spread(trained[OWN], CFR_D, last)}, {EXACT[MODIFIED]} "
        f"{spread(trained[OWN], MODIFIED, last)}.",
        "The order of updates determines the result of this comparison. The paper's updates alternate, and so do those "
        "above. With "
        f"simultaneous updates: {compared(left, f'{SOUND}-simultaneous', f'{MODIFIED}-simultaneous')}.",
        f'Published: "{claims[2]}". {random_beliefs(left, trained)}',
        best_level(trained, tabular, paper["turn_endgame"]["iterations"]),
        warm_start(trained[WARM]),
    ]


def exceeds(left: Mapping[str, Curve], one: str, other: str) -> list[bool]:
    """Whether one method is more exploitable than another at the last mark: played and average policy."""
    return [left[one][which][-1] > left[other][which][-1] for which in ("played", "average")]


def random_beliefs(left: Mapping[str, Curve], trained: TrainingCurves) -> str:
    """Networks from random beliefs compared with those from self-play: in search, and by errors."""
    own, random = trained[OWN], trained[RANDOM]
    right = {mark: left[MODIFIED]["played"][points().index(mark)] for mark in MARKS[-2:]}
    parts = [
        f"after {mark} iterations {spread(random, MODIFIED, mark)} chips with networks from random beliefs, "
        f"{spread(own, MODIFIED, mark)} with those from self-play, {level:.3f} with exact values"
        for mark, level in right.items()
    ]
    seconds = [statistics.fmean(run["seconds"] for run in runs) for runs in (random, own)]
    off = [[mean_error(runs, name) for runs in (random, own)] for name in (DOMAINS[0], DOMAINS[2])]
    return (
        f"Here {EXACT[MODIFIED]} has {'; '.join(parts)}. The training runs solve the same number of subgames, in "
        f"{seconds[0]:.0f} and {seconds[1]:.0f} CPU s. For CFR-D's beliefs, networks from random beliefs err by "
        f"{off[0][0]:.3f} of the pot per hand and those from self-play by {off[0][1]:.3f}; for random beliefs it is "
        f"{off[1][0]:.3f} and {off[1][1]:.3f}."
    )


def best_level(trained: TrainingCurves, tabular: Mapping[int, float], published_level: int) -> str:
    """Lowest exploitability with networks, in equivalent iterations on the full game."""
    own = trained[OWN]
    level, method, mark = min((mean_at(own, method, mark), method, mark) for method in LEARNT for mark in MARKS)
    return (
        f"At their best, {EXACT[method]} with {mark} iterations, searches with networks from self-play have {level:.3f} chips "
        f"on average, as {equals(tabular, level)} iterations of linear CFR on the whole game. The paper's level is that of "
        f"about {published_level}."
    )


def warm_start(runs: Sequence[Mapping[str, Any]]) -> str:
    """Effect of the policy network, as a sentence."""
    parts = [
        f"{spread(runs, MODIFIED, mark)} after {mark} iterations, and {spread(runs, 'cold', mark)} without the start"
        for mark in (MARKS[0], MARKS[1], MARKS[-1])
    ]
    return (
        f"With a policy network, which starts searches as if with {SETTINGS.warm} iterations, {EXACT[MODIFIED]} has "
        f"{'; '.join(parts)}. That training took {statistics.fmean(run['seconds'] for run in runs):.0f} s."
    )


def notes(turn: Turn) -> list[str]:
    """How it was measured."""
    spot, rules = turn.rules.game.spot, turn.rules
    return [
        f"The game is `{rules.game.spec}`: {spot.pot:g} chips in the pot, {spot.stack:g} behind, the bets of turn endgame "
        f"hold'em, a deck of {len(spot.format.deck)} cards, {len(rules.hands)} hands, {len(turn.top.leaves)} ways to the river "
        "with chips left. The paper's has 52 cards and 1,326 hands and trains with random stacks, sizes and boards; here "
        "everything is fixed. In the left panel bands are over three boards, and everything else uses the first board.",
        "Subgames end with the betting round, before the next card is dealt, so that a leaf is one row for a "
        "network. The next subgame begins there and goes to the end of the game. The paper's network, too, is "
        "queried at the ends of betting rounds; whether before or after the card, the paper does not say. After an "
        "all-in the rivers are dealt without a query.",
        "The paper does not say how a turn search is turned into a policy for the whole game. Played: on the turn the "
        "policy of each iteration, below a leaf an exact solution of the river for that iteration's beliefs, "
        "averaged as the method averages. Theorem 5 is about this policy, and in expectation the agent plays it. "
        "Average: the average policy on the turn, and below it an exact solution of the river for its beliefs.",
        f"Exact values and rivers are from {RIVER} iterations of DCFR. CFR is linear, FP linear optimistic, as in the "
        "paper. One iteration updates both players, so 64 are the paper's 128 if it counts updates of one player.",
        f"Trainings: {SETTINGS.solves:,} subgames, {SETTINGS.iterations} iterations of {SETTINGS.method.upper()} "
        f"each, each row seen {SETTINGS.reuse:g} times, width {SETTINGS.width}, and the recipe's other settings; "
        f"seeds {', '.join(map(str, SEEDS))}. Episodes continue from the beliefs of the sampled iteration. Brackets contain "
        f"the lowest and the highest seed. " + effort(),
    ]


def draw(boards: Mapping[str, Mapping[str, Curve]], trained: TrainingCurves, tabular: Sequence[float]) -> Picture:
    """Figure 6 left, Figure 6 right, Figure 2: exploitability of the played policy; bands are over boards or seeds."""
    figure, axes = panels(1, 3, size=(13.2, 4.6))
    left = next(iter(boards.values()))
    for number, (method, found) in enumerate(left.items()):
        axes[0].plot(points(), found["played"], label=EXACT[method], **line_style(number))
        if method in ALTERNATING:
            between = np.array([own[method]["played"] for own in boards.values()])
            style = {"color": line_style(number)["color"], "alpha": 0.12, "linewidth": 0}
            axes[0].fill_between(points(), between.min(axis=0), between.max(axis=0), **style)
    for number, method in enumerate(EXACT):
        if method in LEARNT:
            banded(axes[1], trained["self-play"], method, EXACT[method], number)
    axes[2].plot(points(), left[MODIFIED]["played"], label="exact values", **line_style(2))
    banded(axes[2], trained["self-play"], MODIFIED, "self-play", 0)
    banded(axes[2], trained["self-play, policy network"], MODIFIED, "self-play, warm start", 1)
    banded(axes[2], trained["random beliefs"], MODIFIED, "random beliefs", 3)
    axes[2].plot(points(), tabular, label="whole game, linear CFR", color="#9A9A9A", linewidth=1.2)
    titles = "Figure 6 left: exact values", "Figure 6 right: self-play network", f"Figure 2: {EXACT[MODIFIED]}"
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


def replaced(value: Any, old: float | None, new: float | None) -> Any:
    """Plain data with None in place of NaN, or the reverse, at points skipped by a warm start."""
    if isinstance(value, Mapping):
        return {key: replaced(own, old, new) for key, own in value.items()}
    if isinstance(value, list):
        return [replaced(own, old, new) for own in value]
    same = value is None if old is None else isinstance(value, float) and math.isnan(value)
    return new if same else value


@study(title="ReBeL, Figures 2 and 6, with a small deck", place=7, minutes=30, needs=("torch",))
def reproduce() -> Result:
    torch_module().set_num_threads(1)
    paper = published("rebel")
    boards = {board: {method: runs[0] for method, runs in own.items()} for board, own in runs_on_boards().items()}
    turn = Turn(next(iter(BOARDS.values())), HORIZON, RIVER)
    left = next(iter(boards.values()))
    trained = {kind: [learnt(turn, kind, seed) for seed in SEEDS] for kind in KINDS}
    tabular = whole_game(turn)
    return Result(
        source=f"{paper['source']}; {paper['turn_search']['source']}",
        findings=findings(left, trained, tabular),
        tables=[curves_table(left, trained, tabular), errors_table(trained)],
        pictures=[draw(boards, trained, [tabular[point] for point in points()])],
        notes=notes(turn),
        numbers={"points": points(), "trained": replaced(trained, math.nan, None), "whole_game": tabular},
    )
