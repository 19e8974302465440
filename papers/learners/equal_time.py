"""Learners at equal processor time: what each comes to in a few seconds on small games, exactly judged, tables beside."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from papers.common.drawing import save
from papers.common.kept import code, kept
from papers.common.results import Picture, Result, Table, stored
from papers.common.study import study
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load_rules
from treeplex.learn.learner import Learner
from treeplex.learn.torch.device import one_thread
from treeplex.runs.plots import INK
from treeplex.runs.train.registry import NEURAL, neural_class
from treeplex.solvers import make_solver

STUDY = "learners/equal_time"
BUDGET = 6.0
"""Processor seconds of a cell."""
SEED = 0
FLOOR = 1e-6
"""Parts of uniform play's exploitability below count as none."""
TRIED = 0.4
"""Processor seconds of the trial that tells how long a step takes."""
GAMES: Mapping[str, str] = {
    "Kuhn": "kuhn_poker",
    "Leduc": "leduc_poker",
    "liar's dice": "liars_dice(dice_sides=4)",
    "Goofspiel": "goofspiel(num_cards=4,imp_info=true,points_order=descending,returns_type=win_loss)",
    "phantom": "phantom_ttt(rows=2,line=2)",
    "hold'em": "small_holdem(ranks=3,suits=2,deal=[0;1;1],bets=[1;2;2],raises=1)",
    "battleship": "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots=3,"
    "allow_repeated_shots=false)",
    "dark hex": "dark_hex(num_rows=2,num_cols=3)",
}
"""By what a table calls them, in the order in which they are measured."""


class Entry(NamedTuple):
    """A learner: what it uses of the game at a step, and settings besides the defaults, for a short training."""

    sees: str
    settings: Mapping[str, Any] = {}


SAMPLES, WHOLE = "samples", "whole game"
FEW: Mapping[str, Any] = {"fits": 100}
FEW_CRITIC: Mapping[str, Any] = {"fits": 100, "critic_fits": 150}
NETWORKS: Mapping[str, Entry] = {
    "sd-cfr": Entry(SAMPLES, FEW),
    "deep-cfr": Entry(SAMPLES, {**FEW, "average_fits": 500}),
    "dream": Entry(SAMPLES, FEW_CRITIC),
    "escher": Entry(SAMPLES, {**FEW_CRITIC, "corrected": True, "average": "exact"}),
    "vr-deep-pdcfr+": Entry(SAMPLES, {**FEW_CRITIC, "walks": 2000, "average": "exact"}),
    "nfsp": Entry(SAMPLES),
    "armac": Entry(SAMPLES, {"critic_fits": 150}),
    "qpg": Entry(SAMPLES),
    "r-nad": Entry(SAMPLES),
    "mmd": Entry(SAMPLES),
    "ppo": Entry(SAMPLES),
    "neurd": Entry(WHOLE),
    "rcfr": Entry(WHOLE),
    "ned": Entry(WHOLE),
}
TABULAR: Mapping[str, Entry] = {
    "es-mccfr": Entry(SAMPLES),
    "os-mccfr": Entry(SAMPLES),
    "ccs-mccfr": Entry("sampled chance"),
    "psro": Entry(WHOLE),
    "cfr+": Entry(WHOLE),
}
"""Without networks; ``psro`` is a learner whose default responses are exact."""
BOTH: Mapping[str, Entry] = {**NETWORKS, **TABULAR}


def clocked(action: Callable[[], Any]) -> float:
    """The processor seconds of a call."""
    began = time.process_time()
    action()
    return time.process_time() - began


def steps_within(step: Callable[[], Any], seconds: float) -> int:
    """Take steps for so many processor seconds, at least one; one that would end more than half a step late is left out."""
    began, steps, longest = time.process_time(), 0, 0.0
    while steps == 0 or time.process_time() - began + longest / 2.0 < seconds:
        longest = clocked(step)
        steps += 1
    return steps


def fresh(name: str, game: str, changes: Mapping[str, Any]) -> Learner:
    """A learner that has not begun, with everything ready that the clock is not to see."""
    made = neural_class(NEURAL[name])
    settings = made.settings_class().changed({**BOTH[name].settings, **changes, "seed": SEED})
    return made(load_rules(game), settings)


def planned(name: str, steps: int) -> dict[str, Any]:
    """Settings that say how long the training is, for schedules that depend on it."""
    plan: dict[str, Any] = {"steps": steps}
    if name == "r-nad":
        plan["phase"] = max(steps // 27, 20)
    if name == "nfsp":
        plan["explore_over"] = 4000 * steps
    return plan


def learned(name: str, game: str) -> dict[str, float]:
    """What a learner comes to within the budget, the average's network included.

    A trial of the same learner, whose time is not counted, compiles kernels and tells how many steps there will be.
    """
    trial = fresh(name, game, {})
    trial.step()
    trial.policy()
    reserved = clocked(trial.policy)
    began = time.process_time()
    tried = steps_within(trial.step, TRIED)
    steps = max(round((BUDGET - reserved) * tried / (time.process_time() - began)), 1)
    student = fresh(name, game, planned(name, steps))
    return timed(student.step, student.policy, BUDGET - reserved)


def solved(name: str, game: str) -> dict[str, float]:
    """The same for a tabular algorithm, whose steps are as many iterations as take a hundredth of a second or more."""
    compiled = compile_game(game)
    trial, chunk = make_solver(compiled, name), 1
    trial.run(1)
    trial.average_policy()
    while clocked(partial(trial.run, chunk)) < 0.01:
        chunk *= 2
    solver = make_solver(compiled, name)
    found = timed(lambda: solver.run(chunk), solver.average_policy, BUDGET)
    return {**found, "steps": solver.iteration}


def timed(step: Callable[[], Any], policy: Callable[[], Policy], seconds: float) -> dict[str, float]:
    """Steps within the time, and the exploitability of the policy at the end."""
    began = time.process_time()
    steps = steps_within(step, seconds)
    result = policy()
    spent = time.process_time() - began
    return {"exploitability": judge(result.game, result).exploitability, "steps": steps, "cpu_seconds": spent}


def measured(name: str, game: str) -> dict[str, float]:
    """A cell, kept."""
    entry = BOTH[name]
    neural = name in NEURAL
    modules = ("treeplex.learn.neural", "treeplex.engine.histories") if neural else ("treeplex.solvers", "treeplex.engine")
    key = {"study": STUDY, "game": game, "learner": name, "settings": dict(entry.settings), "seed": SEED, "seconds": BUDGET}
    found: dict[str, float] = kept({**key, "code": code(*modules)}, lambda: (learned if neural else solved)(name, game))
    print(game, name, found, flush=True)
    return found


def all_of(game: str) -> dict[str, Any]:
    """A column: uniform play, and each learner."""
    compiled = compile_game(game)
    uniform = judge(compiled, Policy.uniform(compiled)).exploitability
    sizes = {"infosets": len(compiled.infostates), "histories": compiled.size.histories}
    with one_thread():
        return {"uniform": {"exploitability": uniform, **sizes}, **{name: measured(name, game) for name in BOTH}}


def parts(numbers: Mapping[str, Any], names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Exploitability as a part of that of uniform play, learners by games."""
    games = list(numbers)
    found = [
        [numbers[game][name]["exploitability"] / numbers[game]["uniform"]["exploitability"] for game in games] for name in names
    ]
    return np.maximum(np.array(found), FLOOR)


def mean_ranks(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """The mean place of each row over the columns, 1 for the least."""
    return list(np.mean((values[None] < values[:, None]).sum(axis=1) + 1.0, axis=1))


def number(value: float) -> str:
    """A part as text."""
    if value <= FLOOR:
        return "< 1e-6"
    digits = 3 if value >= 0.01 else 4
    return f"{value:.{digits}f}" if value >= 0.0001 else f"{value:.0e}".replace("e-0", "e-")


def shown(numbers: Mapping[str, Any]) -> Table:
    """The table: the best of the networks and of the others is bold in each column."""
    rows = []
    for names in (NETWORKS, TABULAR):
        values = parts(numbers, list(names))
        ranks = mean_ranks(values) if names is NETWORKS else [math.nan] * len(names)
        for place in np.argsort(ranks) if names is NETWORKS else range(len(names)):
            name, row = list(names)[place], values[place]
            cells = [number(each) for each in row]
            cells = [
                f"**{cell}**" if each <= least else cell
                for cell, each, least in zip(cells, row, values.min(axis=0), strict=True)
            ]
            kind = "network" if names is NETWORKS else "table"
            rank = f"{ranks[place]:.1f}" if names is NETWORKS else ""
            rows.append([f"`{name}`", f"{kind}, {names[name].sees}", *cells, rank])
    caption = f"Exploitability after {BUDGET:g} processor seconds, as a part of that of uniform play"
    return Table(caption, ["learner", "learns by", *numbers, "mean rank of networks"], rows)


def drawn(numbers: Mapping[str, Any]) -> Picture:
    """A map of the table: the lighter, the less exploitable."""
    ranked = [list(NETWORKS)[place] for place in np.argsort(mean_ranks(parts(numbers, list(NETWORKS))))]
    names = [*ranked, *TABULAR]
    values = parts(numbers, names)
    lowest = -3.0
    figure = Figure(figsize=(max(2.4 + 0.95 * len(numbers), 6.5), 1.7 + 0.33 * len(names)), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    heights = np.clip(np.log10(values), lowest, 0.0)
    image = axes.imshow(heights, aspect="auto", cmap="cividis_r", norm=Normalize(lowest, 0.0))
    for group in (range(len(ranked)), range(len(ranked), len(names))):
        for row in group:
            for column in range(len(numbers)):
                best = values[row, column] <= values[list(group), column].min()
                shade = "white" if heights[row, column] > lowest / 2.0 else INK
                weight = "bold" if best else "normal"
                text = f"{number(values[row, column])}{' ●' if best else ''}"
                axes.text(column, row, text, ha="center", va="center", fontsize=9, color=shade, fontweight=weight)
    axes.axhline(len(ranked) - 0.5, color="white", linewidth=5)
    axes.set_xticks(range(len(numbers)), list(numbers), fontsize=10, color=INK)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(names)), names, fontsize=10, color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for middle, words in (((len(ranked) - 1) / 2.0, "networks"), (len(ranked) + (len(TABULAR) - 1) / 2.0, "tables")):
        axes.text(1.01, middle, words, transform=axes.get_yaxis_transform(), rotation=270, va="center", fontsize=10, color=INK)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.7, aspect=40, pad=0.02, extend="both")
    bar.set_ticks([-3, -2, -1, 0], labels=["0.001", "0.01", "0.1", "1, as uniform"])
    bar.set_label(
        f"part of uniform play's exploitability left after {BUDGET:g} processor seconds (●: least of its kind)", fontsize=9
    )
    bar.outline.set_visible(False)
    return save(
        figure,
        "learners-equal-time.png",
        "A map with a row for each learner and a column for each game; light cells are nearly unexploitable, dark ones as "
        "exploitable as uniform play. Tables are far lighter than networks.",
    )


@study(title="Learners at equal processor time", place=2, minutes=20, needs=("torch",))
def reproduce(options: list[str] | None = None) -> Result:
    """With options: games to measure, as in :data:`GAMES`; others are shown as they were measured before."""
    if unknown := set(options or ()) - GAMES.keys():
        raise SystemExit(f"{STUDY} has no game called {', '.join(sorted(unknown))}; it has {', '.join(GAMES)}")
    known = stored(STUDY)
    numbers = {}
    for title, game in GAMES.items():
        if not options or title in options:
            numbers[title] = all_of(game)
        elif title in known:
            numbers[title] = known[title]
    values = parts(numbers, list(NETWORKS))
    winners = {title: list(NETWORKS)[place] for title, place in zip(numbers, values.argmin(axis=0), strict=True)}
    ranks = dict(zip(NETWORKS, mean_ranks(values), strict=True))
    first, second, last = (sorted(ranks, key=ranks.__getitem__)[place] for place in (0, 1, -1))
    tabular = parts(numbers, ["es-mccfr"])[0]
    ahead = sum(bool(tabular[column] <= values[:, column].min()) for column in range(len(numbers)))
    spent = [numbers[title][name]["cpu_seconds"] for title in numbers for name in BOTH]
    easy = [title for title, middle in zip(numbers, np.median(values, axis=0), strict=True) if middle < 0.01]
    worse = [f"`{name}`" for name in NETWORKS if (parts(numbers, [name])[0] >= 1.0).any()]
    sizes = "; ".join(
        f"{title} is `{GAMES[title]}`, {each['uniform']['infosets']:,} infosets" for title, each in numbers.items()
    )
    return Result(
        source="a study of our own; each learner's paper is named on its page",
        findings=[
            f"The best network by game: {', '.join(f'{title} `{name}`' for title, name in winners.items())}.",
            f"By mean rank over {len(numbers)} games: `{first}` ({ranks[first]:.1f} of {len(NETWORKS)}), then `{second}` "
            f"({ranks[second]:.1f}); last `{last}` ({ranks[last]:.1f}).",
            f"Tabular external sampling is ahead of every network on {ahead} of {len(numbers)} games.",
            *([f"Too easy to tell much, for most networks are below 0.01: {', '.join(easy)}."] if easy else []),
            *([f"On at least one game no better than uniform play: {', '.join(worse)}."] if worse else []),
        ],
        tables=[shown(numbers)],
        pictures=[drawn(numbers)],
        notes=[
            f"One seed, {SEED}, so that small differences mean nothing. {BUDGET:g} seconds are short: methods that are slow to "
            f"start look worse than they are. Cells took {min(spent):.1f} to {max(spent):.1f} s, for a step is not cut short.",
            "Settings are the defaults but for fewer gradient steps where otherwise only two or three iterations would fit: "
            "100 an iteration for the five of Deep CFR's family, 150 of critics, 2,000 playthroughs of `vr-deep-pdcfr+`, 500 "
            "steps of the network of `deep-cfr`'s average, which count; `escher` is corrected, it and `vr-deep-pdcfr+` average "
            "exactly; a trial tells how many steps fit, and schedules (step sizes, `r-nad`'s phases, `nfsp`'s exploration) are "
            "as long as that. Nothing was tuned.",
            "What is unfair: defaults are from papers or were tried on Kuhn and Leduc poker; `neurd`, `rcfr`, `ned`, `psro` "
            "and `cfr+` see the whole game at each step; `psro` has exact responses, `sd-cfr`, `dream`, `escher` and "
            "`vr-deep-pdcfr+` exact averages; networks are asked for all infosets at once, which only small games allow, and "
            "tables fit here. Compiling, imports and the trial are not counted. One thread; the machine did other work "
            "meanwhile, which costs processor time too.",
            f"Games: {sizes}.",
        ],
        numbers=numbers,
    )
