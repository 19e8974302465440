"""ReBeL on the smallest Liar's Dice: exploitability against CPU time, with one idea of the recipe changed at a time.

``trainings.py`` makes the training runs, in hours; this study plots the stored ones.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.rebel.trainings import BUDGETS, IDEAS, drawn, record_of
from treeplex.learn.rebel.settings import PAPER

NAMES = {
    "recipe": "the recipe",
    "endgames": "endgame solving",
    "narrow": "width 64 instead of 128",
    "wide": "width 256",
    "long": "T = 256 instead of 64",
    "linear": "Linear CFR instead of DCFR",
    "little_reuse": "rows seen 8 times, not 64",
    "all_rows": "early rows kept",
    "constant_rate": "step size does not fall",
    "paper": "the paper's settings",
}
Points = Mapping[str, Sequence[tuple[float, Sequence[float], int]]]
"""By idea and budget: mean CPU seconds, exploitability of each training run, and subgames."""


def points() -> Points:
    """All stored training runs."""
    found: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for plan in drawn():
        record = record_of(plan)
        if record is not None:
            name, _, budget = plan.kind.rpartition("_")
            found.setdefault((name, int(budget)), []).append(record)
    return {
        name: [
            (
                fmean(record["cpu_seconds"] for record in found[name, budget]),
                sorted(record["judged"][-1]["exploitability"] for record in found[name, budget]),
                found[name, budget][0]["solved"],
            )
            for budget in BUDGETS
            if (name, budget) in found
        ]
        for name in IDEAS
    }


def draw(found: Points, goal: float) -> Picture:
    """Means and ranges over training runs; half of the ideas in each panel, the recipe in both."""
    figure, axes = panels(1, 2, size=(10.6, 4.8))
    names = [name for name in found if name != "recipe" and found[name]]
    for panel, own in zip(axes, (names[::2], names[1::2]), strict=True):
        longest = 0.0
        for number, name in enumerate(["recipe", *own]):
            seconds = [each[0] for each in found[name]]
            longest = max(longest, *seconds)
            style = line_style(number)
            panel.plot(
                seconds, [fmean(each[1]) for each in found[name]], label=NAMES[name], marker="o", markersize=3.5, **style
            )
            panel.vlines(
                seconds,
                [each[1][0] for each in found[name]],
                [each[1][-1] for each in found[name]],
                color=style["color"],
                alpha=0.4,
            )
        panel.axhline(goal, color="#9A9A9A", linewidth=0.9, zorder=1)
        dress(panel, "Liar's Dice, one die of four faces")
        plain_labels(panel)
        panel.set_xticks([tick for tick in (1, 2, 5, 10, 20, 50, 100, 200) if tick < longest])
        panel.minorticks_off()
        panel.set(xlabel="CPU seconds of training")
        panel.legend(frameon=False, fontsize=8.5, handlelength=3.2)
    axes[0].set_ylabel("exploitability")
    return save(
        figure,
        "rebel-ideas.png",
        "Exploitability of trained networks that search, against CPU time of the training, both axes logarithmic: the "
        "recipe, and the recipe with one idea changed; bars span the trainings",
    )


@study(title="ReBeL: effect of each idea of the recipe", place=3, minutes=0.1)
def reproduce() -> Result:
    found = points()
    if not any(found.values()):
        raise SystemExit("no trainings for curves yet; python papers/run.py rebel/trainings makes them")
    goal = published("rebel")["table2"]["rebel_cfr"][0]
    rows = [
        [NAMES[name], f"{solved:,}", f"{seconds:.0f}", f"{fmean(every):.4f}", " ".join(f"{each:.4f}" for each in every)]
        for name, own in found.items()
        for seconds, every, solved in own
    ]
    last = {name: own[-1] for name, own in found.items() if len(own) == len(BUDGETS)}
    ordered = sorted(last, key=lambda name: fmean(last[name][1]))
    example = next(record for plan in drawn() if (record := record_of(plan)) is not None)["judged"][-1]
    findings = []
    if "recipe" in last:
        counts = [len(every) for own in found.values() for _, every, _ in own]
        least, most = min(counts), max(counts)
        trainings = f"{most} trainings of each" if least == most else f"{least} to {most} trainings of each"
        better = [NAMES[name] for name in ordered if fmean(last[name][1]) < fmean(last["recipe"][1])]
        worse = [
            f"{NAMES[name]} ({fmean(last[name][1]) / fmean(last['recipe'][1]):.1f} times as exploitable)"
            for name in ordered
            if last[name][1][0] > last["recipe"][1][-1]
        ]
        findings.append(
            f"With the longest budget the recipe reaches {fmean(last['recipe'][1]):.4f} in {last['recipe'][0]:.0f} "
            f"CPU seconds. Better on average: {', '.join(better) or 'none'}. Worse in every training than the recipe "
            f"in any: {', '.join(worse) or 'none'}. {trainings} do not rank close results, and evaluation is noisy "
            "too."
        )
    return Result(
        source="Brown, Bakhtin, Lerer and Gong 2020, ReBeL (arXiv 2007.13544), has no such figure; its figure 2 shows "
        "training against the number of subgames in another game",
        findings=findings,
        pictures=[draw(found, goal)],
        tables=[
            Table(
                ("Exploitability by idea and budget; each is a separate training, with its step size falling over its length"),
                ["", "subgames", "CPU seconds", "mean", "trainings, best first"],
                rows,
            )
        ],
        notes=[
            f"Evaluated as N = {example['playthroughs']} playthroughs averaged by reach, with T = "
            f"{example['iterations']} iterations of linear CFR in each search for all training methods, as in the "
            "paper (there N = 1,024). This is an upper bound of the agent's exploitability. The grey line is the "
            f"published {goal:.3f}.",
            "Before two trainings of the paper's settings were evaluated this way, all were evaluated with T = 128 "
            "of their own method, which gave another ranking: see `docs/log.md`.",
            "CPU seconds cover training only, on one core of a machine with other jobs.",
            f"The paper's settings are for {PAPER.solves:,} subgames. Here they get as many as the recipe, with step sizes "
            f"halved at the same fractions of each training run.",
            "Other slow settings get fewer subgames, so that measured training times are similar.",
        ],
        numbers={name: [list(each) for each in own] for name, own in found.items()},
    )
