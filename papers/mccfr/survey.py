"""All sampling schemes on Kuhn and Leduc poker: exploitability by iterations and by histories, compared with other figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.drawing import dress, legend_outside, line_style, panels, plain_labels, power_labels, save
from papers.common.kept import effort
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.mccfr.runs import SEEDS, band, judged, over_seeds, quarters
from treeplex import judge
from treeplex.solvers import make_solver
from treeplex.solvers.sampling.solver import SAMPLINGS

Runs = Sequence[Mapping[str, Sequence[float]]]

GAMES = {"Kuhn poker": "kuhn_poker", "Leduc poker": "leduc_poker"}
VARIANTS = ("cfr", "cfr+", "lcfr", "dcfr")
TRIAL_SEEDS = range(1, 11)
"""Games with reference figures."""
LONG = ("es-mccfr", "os-mccfr", "vr-mccfr")
LONG_SEEDS = SEEDS[:3]
"""Schemes with a million iterations for every variant, and their seeds."""
EXTRA = {"es-mccfr, baseline=learned": ("es-mccfr", {"baseline": "learned"})}
"""Curves in addition to those of the schemes with defaults."""
MARKS = (10_000, 100_000, 1_000_000)
DICE, DICE_SEEDS = "liars_dice", SEEDS[:2]
DICE_ITERATIONS = {"cs-mccfr": 10_000, "es-mccfr": 100_000, "as-mccfr": 100_000, "es-mccfr, baseline=learned": 100_000}
"""Iterations on the larger game, if not a million."""
HISTORIES = (1_000_000, 10_000_000)
FULL = {"kuhn_poker": 100_000, "leduc_poker": 3200, DICE: 320}
"""Iterations of CFR over the whole tree, for comparison."""


def full_sweeps(game: tp.CompiledGame, points: Sequence[int]) -> dict[str, list[float]]:
    """Exploitability and visited histories of plain CFR without sampling."""
    run = make_solver(game, "cfr")
    found: dict[str, list[float]] = {"exploitability": [], "nodes": []}
    for point in points:
        run.run(point - run.iteration)
        found["exploitability"].append(judge(game, run.average_policy()).exploitability)
        found["nodes"].append(float(run.nodes))
    return found


def draw(found: Mapping[str, Mapping[str, Runs]]) -> Picture:
    """Exploitability against visited histories, a panel per game."""
    figure, axes = panels(1, 3, size=(13.0, 4.8))
    names = list(next(iter(found.values())))
    styles = {name: line_style(number) for number, name in enumerate(names)}
    for panel, (title, curves) in zip(axes, found.items(), strict=True):
        for name, runs in curves.items():
            across, up = (np.exp(np.log([run[field] for run in runs]).mean(axis=0)) for field in ("nodes", "exploitability"))
            panel.plot(across, up, **styles[name])
        dress(panel, title)
        plain_labels(panel)
        power_labels(panel)
        panel.set_xlabel("histories")
    axes[0].set_ylabel("exploitability")
    legend_outside(figure, styles, columns=4, length=3.0)
    return save(
        figure,
        "mccfr-survey.png",
        "Exploitability against histories on Kuhn poker, Leduc poker and Liar's Dice, all sampling schemes and full "
        "sweeps, both axes logarithmic: full sweeps are lowest on Kuhn from the start, on Leduc after some millions "
        "of histories, and on Liar's Dice above external sampling throughout",
    )


def beside(found: Mapping[str, Mapping[str, Runs]], points: Sequence[int], trial: Mapping[str, Any]) -> Table:
    """Every scheme with the plain variant, with the trial's figures if available."""
    rows = []
    for title, spec in GAMES.items():
        for scheme in (*SAMPLINGS, *EXTRA):
            given = trial["exploitability"][spec].get(scheme)
            for source in ("trial", "here") if given else ("here",):
                cells = [
                    f"{given[place]:g}"
                    if source == "trial"
                    else band(over_seeds(found[title][scheme], "exploitability", points.index(mark)))
                    for place, mark in enumerate(MARKS)
                ]
                rows.append([f"{title}, {scheme}" + (f": {source}" if given else ""), *cells])
    return Table(
        f"Exploitability by iterations, `variant=cfr`: mean over {len(SEEDS)} seeds, {len(TRIAL_SEEDS)} where "
        "compared with the trial's [least, greatest]",
        ["", *(f"{mark:,}" for mark in MARKS)],
        rows,
    )


def after_histories(runs: Runs, histories: float) -> float | None:
    """Exploitability after a number of visited histories, interpolated between points; None beyond the last one."""
    found = []
    for run in runs:
        if not run["nodes"][0] <= histories <= run["nodes"][-1]:
            return None
        found.append(np.interp(np.log(histories), np.log(run["nodes"]), np.log(run["exploitability"])))
    return float(np.exp(np.mean(found)))


def by_histories(found: Mapping[str, Mapping[str, Runs]]) -> Table:
    """Every curve of the figure after some numbers of histories."""
    names = list(next(iter(found.values())))
    rows = []
    for name in names:
        values = [after_histories(curves[name], histories) for curves in found.values() for histories in HISTORIES]
        rows.append([name, *("" if value is None else f"{value:#.3g}" for value in values)])
    columns = [f"{title}, {histories:,}" for title in found for histories in HISTORIES]
    return Table("Exploitability by histories, `variant=cfr`: geometric mean over seeds", ["", *columns], rows)


def by_variant(game: tp.CompiledGame) -> tuple[Table, dict[str, dict[str, Runs]]]:
    """Every scheme with every variant on Leduc: 100,000 iterations, for some a million."""
    found: dict[str, dict[str, Runs]] = {}
    rows = []
    for mark, seeds in ((MARKS[1], SEEDS), (MARKS[2], LONG_SEEDS)):
        for scheme in SAMPLINGS if mark == MARKS[1] else LONG:
            name = f"{scheme}, {mark:,} iterations"
            found[name] = {
                variant: [judged(game, scheme, seed, {"variant": variant}, [mark]) for seed in seeds] for variant in VARIANTS
            }
            rows.append([name, *(band(over_seeds(runs, "exploitability")) for runs in found[name].values())])
    caption = (
        f"Leduc poker, exploitability by variant: mean over {len(SEEDS)} seeds, {len(LONG_SEEDS)} for a million iterations "
        "[least, greatest]"
    )
    return Table(caption, ["", *VARIANTS], rows), found


def verdicts(found: Mapping[str, Mapping[str, Runs]], points: Sequence[int], trial: Mapping[str, Any]) -> list[str]:
    """Whether the trial's figures are in our ranges, as sentences."""
    lines = []
    for title, spec in GAMES.items():
        for scheme, given in trial["exploitability"][spec].items():
            cells = []
            for place, mark in enumerate(MARKS):
                values = over_seeds(found[title][scheme], "exploitability", points.index(mark))
                where = "below" if max(values) < given[place] else "above" if min(values) > given[place] else "around"
                cells.append(f"{where} {given[place]:g} at {mark:,}")
            lines.append(f"{title}, `{scheme}`: {', '.join(cells)}.")
    return lines


def curves_of(game: tp.CompiledGame, spec: str, given: Mapping[str, Any]) -> dict[str, Runs]:
    """Every scheme with defaults, the extra curves, and full sweeps."""
    found: dict[str, Runs] = {}
    for name, (scheme, parameters) in {**{scheme: (scheme, {}) for scheme in SAMPLINGS}, **EXTRA}.items():
        points = quarters(100, DICE_ITERATIONS.get(name, MARKS[-1]) if spec == DICE else MARKS[-1])
        seeds = DICE_SEEDS if spec == DICE else TRIAL_SEEDS if name in given else SEEDS
        found[name] = [judged(game, scheme, seed, parameters, points) for seed in seeds]
    return {**found, "cfr, full sweeps": [full_sweeps(game, quarters(1, FULL[spec]))]}


def dice(found: Mapping[str, Mapping[str, Runs]], above: str, below: str) -> float:
    """A ratio of exploitabilities on the last game after the last number of histories."""
    *_, curves = found.values()
    high, low = (after_histories(curves[name], HISTORIES[-1]) for name in (above, below))
    return high / low if high and low else float("nan")


@study(title="Monte Carlo CFR: all schemes and variants on Kuhn and Leduc poker", place=4, minutes=6)
def reproduce() -> Result:
    points, trial = quarters(100, MARKS[-1]), published("mccfr")["trial"]
    compiled = {title: tp.compile(spec) for title, spec in GAMES.items()}
    found = {title: curves_of(game, GAMES[title], trial["exploitability"][GAMES[title]]) for title, game in compiled.items()}
    drawn = {**found, "Liar's Dice, 6 faces": curves_of(tp.compile(DICE), DICE, {})}
    table, variants = by_variant(compiled["Leduc poker"])
    given = trial["baselines_leduc"]
    vr = variants[f"vr-mccfr, {MARKS[-1]:,} iterations"]
    last = {variant: band(over_seeds(vr[variant], "exploitability")) for variant in vr}
    return Result(
        source=trial["source"][0].upper() + trial["source"][1:],
        findings=[
            "The range of our seeds compared with the trial's figures: " + " ".join(verdicts(found, points, trial)),
            f"With learned baselines (`vr-mccfr`) after a million iterations on Leduc: {last['cfr']} with plain "
            f"regret matching, trial {given['cfr']:g}; {last['cfr+']} with cfr+, trial {given['cfr+']:g}; "
            f"{last['lcfr']} with lcfr.",
            "Schemes are compared by histories, because an iteration of one scheme visits ten times as many as that of "
            "another. By histories, full sweeps of CFR are best on games as small as Kuhn and, after some "
            "millions of histories, Leduc. On Liar's Dice with its 300,000 histories external sampling is "
            f"{dice(drawn, 'cfr, full sweeps', 'es-mccfr, baseline=learned'):.2g} times less exploitable after "
            f"{HISTORIES[-1]:,} histories. A history takes tens of nanoseconds in a sampled traversal and about one in a sweep "
            "([benchmarks](benchmarks.md)). In seconds, sweeps are better wherever the game can be compiled, and sampling "
            "is for games that cannot be compiled.",
            "Without baselines the floor of cfr+ and the discounts of dcfr do not help, because they retain noise. lcfr "
            "helps in outcome and robust sampling, and early on in external sampling. In `vr-mccfr` all three help, "
            "and lcfr most.",
        ],
        tables=[beside(found, points, trial), by_histories(drawn), table],
        pictures=[draw(drawn)],
        notes=[
            f"Seeds from {SEEDS[0]}; lazy averages, default parameters. With these, average strategy sampling follows "
            "every action of the traverser until sums in the average approach beta = 10^6, so it equals external sampling for "
            "most of these runs. Curves are geometric means over seeds.",
            "The trial measured OpenSpiel's external sampling on Leduc as well: "
            f"{trial['openspiel_external_leduc'][1]} after 100,000 iterations. " + effort(),
        ],
        numbers={"iterations": points, "found": drawn, "variants": variants},
    )
