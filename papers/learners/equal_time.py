"""Learners at equal CPU time: exact exploitability after a few seconds on small games, compared with tabular algorithms."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import treeplex as tp
from papers.common.drawing import save
from papers.common.results import Picture, Result, Table, stored
from papers.common.study import study
from papers.learners.timed import BOTH, BUDGET, NETWORKS, SEEDS, TABULAR, measured
from papers.learners.trained import STORED, earlier, values_of
from treeplex import Policy, judge
from treeplex.base.arrays import Floats
from treeplex.learn.common.device import one_thread
from treeplex.run.plots import INK

STUDY = "learners/equal_time"
FLOOR = 1e-6
"""Shares of uniform play's exploitability below this count as zero."""
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
"""Learners by table label, in the order of measurement."""


def all_of(game: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """A column: uniform play, and each learner's cells by seed as text, reusing stored ones."""
    compiled = tp.compile(game)
    uniform = judge(compiled, Policy.uniform(compiled)).exploitability
    sizes = {"infosets": len(compiled.infostates), "histories": compiled.size.histories}
    found: dict[str, Any] = {"uniform": {"exploitability": uniform, **sizes}}
    with one_thread():
        for name, entry in BOTH.items():
            known = before.get(name, {})
            found[name] = {str(seed): known.get(str(seed)) or measured(name, game, seed) for seed in entry.seeds}
    return found


def parts(numbers: Mapping[str, Any], names: Sequence[str]) -> Floats:
    """Exploitability as a share of uniform play's, learners by games by seeds."""
    games = [numbers[game] for game in numbers]
    found = [[values_of(each[name], "exploitability") for each in games] for name in names]
    uniform = [each["uniform"]["exploitability"] for each in games]
    return np.maximum(np.array(found) / np.array(uniform)[:, None], FLOOR)


def means(numbers: Mapping[str, Any], names: Sequence[str]) -> Floats:
    """Mean over seeds of exploitability as a share of uniform play's; some learners have one seed."""
    return np.concatenate([parts(numbers, [name]).mean(axis=2) for name in names])


def mean_ranks(values: Floats) -> list[float]:
    """Mean rank of each row over the columns, 1 for the smallest."""
    return list(np.mean((values[None] < values[:, None]).sum(axis=1) + 1.0, axis=1))


def number(value: float) -> str:
    """A share as text."""
    if value <= FLOOR:
        return "< 1e-6"
    digits = 3 if value >= 0.01 else 4
    return f"{value:.{digits}f}" if value >= 0.0001 else f"{value:.0e}".replace("e-0", "e-")


def ranked(numbers: Mapping[str, Any]) -> dict[str, float]:
    """Networks by mean rank over games, best first; ranks are those of means over seeds."""
    ranks = dict(zip(NETWORKS, mean_ranks(means(numbers, list(NETWORKS))), strict=True))
    return dict(sorted(ranks.items(), key=lambda each: each[1]))


def ranks_by_seed(numbers: Mapping[str, Any], names: Sequence[str]) -> Floats:
    """Mean ranks over games, networks by seeds."""
    found = parts(numbers, names)
    return np.array([mean_ranks(found[:, :, seed]) for seed in range(found.shape[2])]).T


def shown(numbers: Mapping[str, Any]) -> Table:
    """The table of means; the best network and the best other method are bold in each column."""
    ranks, rows = ranked(numbers), []
    for names, kind in ((list(ranks), "network"), (list(TABULAR), "table")):
        values = means(numbers, names)
        for name, row in zip(names, values, strict=True):
            cells = [
                f"**{number(each)}**" if each <= least else number(each)
                for each, least in zip(row, values.min(axis=0), strict=True)
            ]
            rows.append([f"`{name}`", f"{kind}, {BOTH[name].sees}", *cells, f"{ranks[name]:.1f}" if name in ranks else ""])
    caption = f"Exploitability after {BUDGET:g} CPU seconds, as a fraction of uniform play's, the mean over seeds"
    return Table(caption, ["learner", "learns by", *numbers, "mean rank of networks"], rows)


def spread(numbers: Mapping[str, Any]) -> Table:
    """Range over seeds of all randomised methods, for networks also of mean ranks."""
    networks = list(ranked(numbers))
    ranks, rows = dict(zip(networks, ranks_by_seed(numbers, networks), strict=True)), []
    for name in (*networks, *(each for each, entry in TABULAR.items() if len(entry.seeds) > 1)):
        found = parts(numbers, [name])[0]
        cells = [f"{number(row.min())} to {number(row.max())}" for row in found]
        rank = f"{ranks[name].min():.1f} to {ranks[name].max():.1f}" if name in ranks else ""
        rows.append([f"`{name}`", *cells, rank])
    return Table("The range over seeds", ["learner", *numbers, "mean rank of networks"], rows)


def agreement(numbers: Mapping[str, Any]) -> str:
    """Agreement of seeds on the order of networks, as a sentence."""
    ranks = ranks_by_seed(numbers, list(NETWORKS))
    ahead = ranks[:, None] < ranks[None]
    every, behind = ahead.all(axis=2).sum(), math.comb(len(NETWORKS), 2)
    return f"Of {behind} pairs of networks, {every} are in the same order by mean rank with each of the {ranks.shape[1]} seeds."


def drawn(numbers: Mapping[str, Any]) -> Picture:
    """A map of the table; lighter cells are less exploitable."""
    networks = list(ranked(numbers))
    names = [*networks, *TABULAR]
    values = means(numbers, names)
    lowest = -3.0
    figure = Figure(figsize=(max(2.4 + 0.95 * len(numbers), 6.5), 1.7 + 0.33 * len(names)), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    heights = np.clip(np.log10(values), lowest, 0.0)
    image = axes.imshow(heights, aspect="auto", cmap="cividis_r", norm=Normalize(lowest, 0.0))
    for group in (range(len(networks)), range(len(networks), len(names))):
        for row in group:
            for column in range(len(numbers)):
                best = values[row, column] <= values[list(group), column].min()
                shade = "white" if heights[row, column] > lowest / 2.0 else INK
                weight = "bold" if best else "normal"
                text = f"{number(values[row, column])}{' ●' if best else ''}"
                axes.text(column, row, text, ha="center", va="center", fontsize=9, color=shade, fontweight=weight)
    axes.axhline(len(networks) - 0.5, color="white", linewidth=5)
    axes.set_xticks(range(len(numbers)), list(numbers), fontsize=10, color=INK)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(names)), names, fontsize=10, color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for middle, words in (((len(networks) - 1) / 2.0, "networks"), (len(networks) + (len(TABULAR) - 1) / 2.0, "tables")):
        axes.text(1.01, middle, words, transform=axes.get_yaxis_transform(), rotation=270, va="center", fontsize=10, color=INK)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.7, aspect=40, pad=0.02, extend="both")
    bar.set_ticks([-3, -2, -1, 0], labels=["0.001", "0.01", "0.1", "1, as uniform"])
    bar.set_label(f"part of uniform play's exploitability left after {BUDGET:g} CPU seconds (●: least of its kind)", fontsize=9)
    bar.outline.set_visible(False)
    return save(
        figure,
        "learners-equal-time.png",
        "A map with a row for each learner and a column for each game; light cells are nearly unexploitable, dark ones as "
        "exploitable as uniform play. Tables are far lighter than networks.",
    )


@study(title="Learners at equal CPU time", place=2, minutes=50, needs=("torch",))
def reproduce(*options: str) -> Result:
    """Options: games in :data:`GAMES` to measure; others are shown as stored. With :data:`STORED`, only missing seeds are
    measured.
    """
    if unknown := set(options) - {*GAMES, STORED}:
        raise SystemExit(f"{STUDY} has no game called {', '.join(sorted(unknown))}; it has {', '.join(GAMES)}")
    chosen, before, numbers = [each for each in options if each != STORED], stored(STUDY), {}
    for title, game in GAMES.items():
        if not chosen or title in chosen:
            numbers[title] = all_of(game, earlier(STUDY, options).get(title, {}))
        elif title in before:
            numbers[title] = before[title]
    ranks = ranked(numbers)
    values = means(numbers, list(NETWORKS))
    winners = {
        title: " and ".join(f"`{name}`" for name, part in zip(NETWORKS, column, strict=True) if part <= column.min())
        for title, column in zip(numbers, values.T, strict=True)
    }
    first, second, last = (list(ranks)[place] for place in (0, 1, -1))
    tabular = means(numbers, ["es-mccfr"])[0]
    ahead = sum(bool(tabular[column] <= values[:, column].min()) for column in range(len(numbers)))
    spent = [second for title in numbers for name in BOTH for second in values_of(numbers[title][name], "cpu_seconds")]
    easy = [title for title, middle in zip(numbers, np.median(values, axis=0), strict=True) if middle < 0.01]
    worse = [f"`{name}`" for name in NETWORKS if (means(numbers, [name])[0] >= 1.0).any()]
    sizes = "; ".join(
        f"{title} is `{GAMES[title]}`, {each['uniform']['infosets']:,} infosets" for title, each in numbers.items()
    )
    return Result(
        source="a study of our own; the page of each learner names its paper",
        findings=[
            f"The best network by game: {', '.join(f'{title} {names}' for title, names in winners.items())}.",
            f"By mean rank over {len(numbers)} games: `{first}` ({ranks[first]:.1f} of {len(NETWORKS)}), then `{second}` "
            f"({ranks[second]:.1f}); last `{last}` ({ranks[last]:.1f}).",
            agreement(numbers),
            f"Tabular external sampling beats every network on {ahead} of {len(numbers)} games.",
            *([f"Too easy to compare, since most networks are below 0.01: {', '.join(easy)}."] if easy else []),
            *([f"No better than uniform play on at least one game: {', '.join(worse)}."] if worse else []),
        ],
        tables=[shown(numbers), spread(numbers)],
        pictures=[drawn(numbers)],
        notes=[
            f"The mean of {len(SEEDS)} seeds is shown where something is random; ranks are those of means. {BUDGET:g} "
            f"seconds are short: methods that are slow to start look worse than they are. Runs took {min(spent):.1f} "
            f"to {max(spent):.1f} s: a step is not interrupted, and on larger games the network of `deep-cfr`'s "
            "average takes longer than estimated.",
            "Settings are the defaults except for fewer gradient steps and traversals where few iterations would fit "
            "otherwise: 100 per iteration for the five of Deep CFR's family, 150 for critics, 2,000 playthroughs for "
            "`vr-deep-pdcfr+`, and 500 steps for the network of `deep-cfr`'s average, which count. `escher` is "
            "corrected; it and `vr-deep-pdcfr+` average exactly. A trial run determines how many steps fit, and "
            "schedules (step sizes, `r-nad`'s phases, `nfsp`'s exploration) have that length. Nothing was tuned.",
            "Limits of the comparison: defaults are from papers or were tried on Kuhn and Leduc poker. `neurd`, "
            "`rcfr`, `ned`, `psro` and `cfr+` see the whole game at each step. `psro` has exact responses; `sd-cfr`, "
            "`dream`, `escher` and `vr-deep-pdcfr+` have exact averages. Networks are evaluated at all infosets at once, "
            "which is only possible in small games, where tables also fit. Times exclude compilation, imports and the trial "
            "run. One thread; other jobs on the machine cost CPU time too.",
            f"Games: {sizes}.",
        ],
        numbers=numbers,
    )
