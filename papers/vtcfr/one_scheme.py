"""One scheme for every game? Value-tested CFR+ compared with every fixed and learned variant.

With names of games as options only these are run and their scores printed, without storing a result. With the option
``stored``, stored runs of unchanged algorithms are reused, so that only new algorithms are measured.
"""

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from papers.common.curves import NOISE, PERTURBED_ITERATIONS
from papers.common.drawing import dress, floored, legend_outside, line_style, panels, save
from papers.common.report import markdown
from papers.common.results import Picture, Result, Table, stored
from papers.common.study import study
from papers.vtcfr.games import FRESH, GROUPS, LOOKED_AT, TUNED_ON
from papers.vtcfr.runs import (
    CANDIDATES,
    DRAWN,
    GAMES,
    LEARNED,
    PROCESSES,
    SEEDS,
    SHOWN,
    STAGES,
    TESTED,
    TIMED,
    Run,
    earlier,
    loadable,
    measure,
    versions,
)
from papers.vtcfr.scores import (
    AHEAD,
    BEHIND,
    FLOOR,
    TIED,
    VERDICTS,
    Lead,
    Scores,
    count,
    geometric_mean,
    in_groups,
    leads,
    mean_and_worst,
    scores,
)
from treeplex.run.plots import GREY, INK

NEVER_TUNED = (FRESH,)
CLOSE = 2.0
"""The tested claim: within this factor of the best other variant on every held-out game."""
STORED = "stored"
LEAST_SECONDS = 0.01
"""Shorter runs are not timed."""
DARKEST = 4.0
"""Dex at which the colour scale of the map saturates."""


def number(value: float) -> str:
    """A score to two digits."""
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e") if value > FLOOR * (1.0 + 1e-9) else "0"


def beside(each: Lead) -> str:
    """A lead with its range and rival."""
    band = f" [{each.low:+.2f}, {each.high:+.2f}]" if each.low < each.high else ""
    return f"{each.dex:+.2f}{band} ({each.rival})"


def table(group: str, measured: Scores, names: Sequence[str], found: Mapping[str, Lead]) -> Table:
    """The scores of a group of games."""
    rows = []
    for game in in_groups(measured, (group,)):
        row = measured[game]
        least = min(score.value for score in row.values())
        cells = [f"**{number(row[name].value)}**" if row[name].value == least else number(row[name].value) for name in names]
        rows.append([game, *cells, *([beside(found[game])] if found else [])])
    return Table(f"Scores, games {group}", ["game", *names, *(["log10(vt/best other)"] if found else [])], rows)


def standing(measured: Scores, names: Sequence[str], subject: str) -> Table:
    """Every algorithm compared with the best of the others except ``subject``."""
    rows = []
    for name in names:
        found = leads(measured, name, but=subject)
        fair = {game: found[game] for game in in_groups(found, NEVER_TUNED)}
        cells = ["/".join(str(len(count(fair, verdict))) for verdict in VERDICTS)]
        cells.append(str(sum(each.dex <= np.log10(CLOSE) for each in fair.values())))
        for group in GROUPS:
            mean, worst, _ = mean_and_worst({game: found[game] for game in in_groups(found, (group,))})
            cells.append(f"{mean:+.2f} / {worst:+.2f}")
        rows.append([name, *cells])
    head = ["algorithm", "/".join(VERDICTS), f"within {CLOSE:g} times", *(f"{group}: mean / worst" for group in GROUPS)]
    total = len(in_groups(measured, NEVER_TUNED))
    caption = (
        f"Each algorithm compared with the best other fixed or learned one ({subject} excluded as a rival): counts "
        f"over the {total} games never tuned on, dex by group"
    )
    return Table(caption, head, rows)


def draw_map(measured: Scores, names: Sequence[str], subject: str) -> Picture:
    """A map of games by algorithms: score relative to the least of the game."""
    games = [game for group in GROUPS for game in in_groups(measured, (group,))]
    ratio = np.array([[measured[game][name].value for name in names] for game in games])
    dex = np.log10(ratio / ratio.min(axis=1, keepdims=True))
    figure = Figure(figsize=(3.4 + 0.46 * len(names), 1.6 + 0.215 * len(games)), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    image = axes.imshow(dex, aspect="auto", cmap="cividis_r", norm=Normalize(0.0, DARKEST))
    for row, column in np.ndindex(*dex.shape):
        shade = "white" if dex[row, column] > DARKEST / 2 else INK
        text = "●" if dex[row, column] == 0 else f"{dex[row, column]:.1f}"
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=shade)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="left", fontsize=9, color=INK)
    axes.xaxis.tick_top()
    axes.get_xticklabels()[names.index(subject)].set_fontweight("bold")
    axes.set_yticks(range(len(games)), games, fontsize=8, color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    end = 0
    for group in GROUPS:
        start, end = end, end + len(in_groups(games, (group,)))
        if end > start:
            axes.axhline(end - 0.5, color="white", linewidth=3)
            axes.text(
                1.01, (start + end - 1) / 2, group, transform=axes.get_yaxis_transform(), rotation=270, va="center", fontsize=9
            )
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.01, extend="max")
    bar.set_label("decimal orders of magnitude above the least score of the game (●: the least)", fontsize=9, color=INK)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)
    return save(
        figure,
        "vt-study-map.png",
        "A map with a row for each game and a column for each algorithm; darker cells have scores further above the best of "
        "their row",
    )


def draw_curves(runs: Sequence[Run], names: Sequence[str], subject: str) -> Picture | None:
    """Exploitability against iterations on the games of ``SHOWN``, geometric mean over repeats."""
    curves: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        if run.game in SHOWN:
            curves.setdefault(run.game, {}).setdefault(run.algorithm, []).append(run)
    if len(curves) < len(SHOWN):
        return None
    drawn = [name for name in DRAWN if name in names and name != subject]
    styles = {name: line_style(place) for place, name in enumerate(drawn)}
    if subject in names:
        styles[subject] = {"color": INK, "linestyle": "-", "linewidth": 2.4, "zorder": 4}
    figure, axes = panels(2, 3, size=(11.0, 7.0))
    for place, name in enumerate(SHOWN):
        for algorithm, style in styles.items():
            found = curves[name][algorithm]
            points = sorted(found[0].exploitability)
            every = np.array([floored([run.exploitability[point] for point in points], FLOOR) for run in found])
            axes[place].plot(points, [geometric_mean(column) for column in every.T], **style)
            if algorithm == subject and len(found) > 1:
                axes[place].fill_between(points, every.min(axis=0), every.max(axis=0), color=GREY, alpha=0.25, linewidth=0)
        dress(axes[place], name)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place >= 3:
            axes[place].set_xlabel("iterations", fontsize=10)
    legend_outside(figure, styles, columns=len(styles), length=2.6)
    return save(
        figure,
        "vt-study-curves.png",
        f"Exploitability against iterations, both logarithmic, of {', '.join(styles)} on six games that were not tuned on",
    )


def answer(found: Mapping[str, Lead], measured: Scores, subject: str) -> list[str]:
    """The claim, whether it holds, and its exceptions."""
    fair = {game: found[game] for game in in_groups(found, NEVER_TUNED)}
    far = [game for game, each in fair.items() if each.dex > np.log10(CLOSE)]
    mean, worst, where = mean_and_worst(fair)
    solved = [game for game in count(fair, TIED) if measured[game][subject].solved and measured[game][fair[game].rival].solved]
    behind = sorted(count(fair, BEHIND), key=lambda game: -fair[game].dex)
    named = ", ".join(f"{game} {fair[game].dex:+.2f} ({fair[game].rival})" for game in sorted(far, key=lambda g: -fair[g].dex))
    claim = f"within {CLOSE:g} times the best other variant on every game that was never tuned on"
    verdict = (
        f"Yes: {subject} is {claim}, {len(fair)} games."
        if not far
        else f"No: {subject} is not {claim}. It is on {len(fair) - len(far)} of {len(fair)}; not on {named} dex."
    )
    listed = ": " + ", ".join(f"{game} {beside(fair[game])}" for game in behind) if behind else ""
    tied = len(count(fair, TIED))
    return [
        f"One scheme for every game? {verdict}",
        f"On these games it is best on {len(count(fair, AHEAD))}, tied on {tied} ({len(solved)} solved by both, "
        f"{tied - len(solved)} with overlapping ranges) and behind on {len(behind)}{listed}.",
        f"Its score is on average {10 ** abs(mean):.2g} times {'below' if mean < 0 else 'above'} that of the best "
        f"other variant of each game ({mean:+.2f} dex); the worst is {worst:+.2f} dex on {where}.",
    ]


def comparison(measured: Scores, names: Sequence[str], subject: str) -> list[str]:
    """The best other algorithm, the learned ones, and whether tuning games give better scores."""
    fair = {game: measured[game] for game in in_groups(measured, NEVER_TUNED)}
    others = {name: mean_and_worst(leads(fair, name, but=subject)) for name in names}
    own = others.pop(subject)
    steady, safe = (min(others, key=lambda name: others[name][place]) for place in (0, 1))
    lines = [
        f"By the same measure, {steady} has the lowest mean of the other algorithms, {others[steady][0]:+.2f} dex "
        f"(worst {others[steady][1]:+.2f}), and {safe} the lowest worst case, {others[safe][1]:+.2f} (mean "
        f"{others[safe][0]:+.2f}); {subject} has {own[0]:+.2f} and {own[1]:+.2f}. "
        + ("It is ahead in both." if own[0] < others[steady][0] and own[1] < others[safe][1] else "It is not ahead in both.")
    ]
    learned = [name for name in LEARNED if name in names]
    if learned:
        ahead = {name: sum(row[name].high < row[subject].low for row in fair.values()) for name in learned}
        lines.append(
            "Learned variants, compared with fixed and other learned ones: "
            + "; ".join(
                f"{name} has mean {others[name][0]:+.2f}, worst {others[name][1]:+.2f} on {others[name][2]}; games where it is "
                f"distinctly below {subject}: {ahead[name]}"
                for name in learned
            )
            + "."
        )
    means = {
        group: mean_and_worst(leads({game: measured[game] for game in in_groups(measured, (group,))}, subject))[0]
        for group in GROUPS
        if in_groups(measured, (group,))
    }
    if TUNED_ON in means and FRESH in means:
        gap = means[FRESH] - means[TUNED_ON]
        lines.append(
            f"Mean dex of {subject}: " + ", ".join(f"{mean:+.2f} on games {group}" for group, mean in means.items()) + ". "
            f"The mean on fresh games is {'not above' if gap <= 0 else f'{gap:.2f} dex above'} that on games {TUNED_ON}."
        )
    return lines


def cost(runs: Sequence[Run], subject: str, base: str = TIMED[1]) -> list[str]:
    """CPU time of a run relative to ``base``, median over games."""
    spent: dict[str, dict[str, float]] = {}
    for run in runs:
        if run.algorithm not in (subject, base):
            continue
        of_game = spent.setdefault(run.game, {})
        of_game[run.algorithm] = min(run.seconds, of_game.get(run.algorithm, run.seconds))
    ratios = [
        times[subject] / times[base]
        for times in spent.values()
        if {subject, base} <= times.keys() and times[base] > LEAST_SECONDS
    ]
    if not ratios or subject == base:
        return []
    return [
        f"A run of {subject}, evaluation included, takes {median(ratios):.2f} times the CPU time of one of {base} "
        f"(median of the {len(ratios)} games where that is more than {LEAST_SECONDS:g} s, quickest repeats)."
    ]


def notes(missing: Mapping[str, str], left_out: Sequence[str]) -> list[str]:
    """How it was measured."""
    large = [name for name, game in GAMES.items() if game.large]
    lines = [
        f"Score: geometric mean of exploitability after {', '.join(map(str, STAGES))} iterations and over {len(SEEDS)}"
        f" repeats (one on {' and '.join(large)}), all perturbed in iterations 1 to {PERTURBED_ITERATIONS} by "
        f"{NOISE:g} of regrets. Values below {FLOOR:g} game units count as {FLOOR:g}, printed as 0. Dex: decimal "
        "logarithm of a ratio of scores, negative where better. Ranges: over repeats, both sides' combined; games "
        "with one repeat have none.",
        "Best: all repeats below all repeats of every other algorithm. Behind: above all repeats of some other. "
        "Tied: the rest. The best other variant is chosen for each game in hindsight, which is impossible in practice.",
        f"Every algorithm has its own default parameters and average and a horizon of {STAGES[-1]} iterations, which "
        "sets the pace of hyperparameter schedules and learned variants. The evaluated policy is the algorithm's own "
        f"average. For {TESTED} it is, for each player, the best of five candidates, a choice that is part of it and "
        "of its time.",
        f"Groups: {TUNED_ON}: {TESTED}'s constants were chosen on these or DDCFR was trained on them; {LOOKED_AT}: it "
        "was checked on these during development, and the constants of its discount were chosen among four pairs, "
        f"(alpha0, ramp) = (1, 0.5), (0.3, 0.8), (0.3, 0.7) and (0.5, 0.7); {FRESH}: made after that, from new seeds "
        "and sizes. All are in papers/vtcfr/games.py. Two games of Goofspiel with five random cards were removed "
        "from the fresh ones, since a run took eight seconds; a few of their scores of sapcfr+ had been seen, none "
        f"of {TESTED}.",
        "The two hold'em subgames of the DDCFR paper have a separate section.",
    ]
    lines += [f"Left out here: {name} ({reason})." for name, reason in missing.items()]
    return lines + ([f"Left out, as there are no such algorithms: {', '.join(left_out)}."] if left_out else [])


@study(title="One scheme for every game: value-tested CFR+ compared with every fixed and learned variant", place=1, minutes=8)
def reproduce(*options: str) -> Result | None:
    names = [name for name in options if name != STORED]
    unknown = sorted(set(names) - set(GAMES))
    if unknown:
        raise SystemExit(f"no game called {', '.join(unknown)}; there are {', '.join(GAMES)}")
    games, missing = loadable(names or list(GAMES))
    known = versions(CANDIDATES)
    runs = measure(games, known, done=earlier(stored("vtcfr/one_scheme")["exploitability"], known) if STORED in options else ())
    measured = scores(runs)
    if names or TESTED not in known:
        found = leads(measured, TESTED) if TESTED in known else {}
        for group in GROUPS:
            if in_groups(measured, (group,)):
                print("\n" + markdown(table(group, measured, list(known), found)))
        return None
    return summary(runs, measured, list(known), missing)


def summary(
    runs: Sequence[Run], measured: Scores, names: Sequence[str], missing: Mapping[str, str], subject: str = TESTED
) -> Result:
    """Everything in the report."""
    found = leads(measured, subject)
    pictures = [draw_map(measured, names, subject), draw_curves(runs, names, subject)]
    return Result(
        source=f"A study of our own: {len(names)} algorithms on {len(measured)} games, "
        f"{len(in_groups(measured, NEVER_TUNED))} of them never tuned on",
        findings=[*answer(found, measured, subject), *comparison(measured, names, subject), *cost(runs, subject)],
        tables=[standing(measured, names, subject), *(table(group, measured, names, found) for group in GROUPS)],
        pictures=[picture for picture in pictures if picture],
        notes=notes(missing, [name for name in CANDIDATES if name not in names]),
        numbers={"iterations": STAGES, "exploitability": exploitability(runs)},
        threads=PROCESSES,
    )


def exploitability(runs: Sequence[Run]) -> dict[str, dict[str, list[list[float]]]]:
    """Values at ``STAGES`` by game and algorithm, a list per repeat."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for run in runs:
        found.setdefault(run.game, {}).setdefault(run.algorithm, []).append([run.exploitability[stage] for stage in STAGES])
    return found
