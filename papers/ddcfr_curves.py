"""DDCFR Figures 2, 3, 5 and 6: convergence of the CFR family on the paper's games, 1000 iterations.

The hold'em panels show what ``ddcfr_holdem.py`` left in ``papers/results``; run that first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ddcfr_curves_text import (
    AUTHORS,
    OTHERS,
    Found,
    Learned,
    References,
    curves_table,
    findings,
    learned_table,
    noise_table,
    notes,
    references,
    table,
)
from ddcfr_runs import (
    FLOOR,
    ITERATIONS,
    LATE,
    POINTS,
    Run,
    Theirs,
    as_numbers,
    as_runs,
    games,
    own_policy,
    run_on,
    stored_holdem,
    theirs,
)
from drawing import dress, few_labels, legend_in, line_style, panels, save
from results import Picture, Result, finish, published

DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
TRAINING = ("small_matrix", "kuhn", "goofspiel-3", "liars_dice-3")
HOLDEM = ("subgame-3", "subgame-4")
OURS_STYLE = {"color": "#4B2E83", "linestyle": "-", "linewidth": 2.0}
THEIRS_STYLE = {"color": "#E69F00", "linestyle": (0, (5, 1.5)), "linewidth": 2.0}
RANGE_STYLE = {"color": "#9A9A9A", "linewidth": 8, "alpha": 0.4}
POINT = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "none", "zorder": 6}
CROSS = {"color": "#000000", "linestyle": "none", "marker": "x", "markersize": 6, "zorder": 6}


@dataclass(frozen=True)
class Panel:
    """What one panel shows.

    Attributes:
        title: the game.
        points: iterations of the curves.
        fixed: CFR, CFR+ and DCFR.
        ours, theirs: learned, where they have been run.
        published: DDCFR's published exploitability by iteration.
        ends: the published end of each fixed algorithm.
    """

    title: str
    points: Sequence[int]
    fixed: Mapping[str, Run]
    ours: Run | None
    theirs: Run | None
    published: Mapping[int, float]
    ends: Mapping[str, float]

    @property
    def lines(self) -> list[tuple[Run, Mapping[str, Any]]]:
        """Runs and their styles."""
        found = [(self.fixed[key], line_style(number)) for number, key in enumerate(AUTHORS)]
        found += [(self.theirs, THEIRS_STYLE)] if self.theirs else []
        return found + ([(self.ours, OURS_STYLE)] if self.ours else [])


def tabular_panels(runs: Found, learned: Learned, known: References, curves: Mapping) -> list[Panel]:
    """A panel a tabular game."""
    found = []
    for name, fixed in runs.items():
        marks = {int(t): max(value, FLOOR) for t, value in curves.get(name, {}).get("ddcfr", {}).items()}
        marks = marks or {ITERATIONS: known[name]["ddcfr"].value}
        ends = {key: known[name][key].value for key in AUTHORS}
        title = name + (" (training)" if name in TRAINING else "")
        found.append(Panel(title, POINTS, fixed, learned.ours[name], learned.theirs and learned.theirs.get(name), marks, ends))
    return found


def holdem_panels(known: Mapping, learned: Learned) -> list[Panel]:
    """A panel a hold'em subgame, from the stored result of ``ddcfr_holdem.py``; empty where there is none."""
    numbers, curves, found = stored_holdem(), known["holdem"]["curves"], []
    for name in HOLDEM if numbers else ():
        fixed = {key: Run(**run) for key, run in numbers["float32"][name].items() if key in AUTHORS}
        marks = dict(zip(curves["t"], curves[name]["ddcfr"], strict=True))
        ends = {key: curves[name][key][-1] for key in AUTHORS}
        ours, authors = learned.ours.get(name), learned.theirs and learned.theirs.get(name)
        found.append(Panel(f"{name} (hold'em)", numbers["iterations"], fixed, ours, authors, marks, ends))
    return found


def draw(shown: Sequence[Panel], file: str, alt: str, fill: Callable[[Axes, Panel], None]) -> Picture:
    """A panel a game and one legend."""
    figure, axes = panels(4, 3, size=(10.5, 12.6))
    for place, panel in enumerate(shown):
        fill(axes[place], panel)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place + 3 >= len(shown):
            axes[place].set_xlabel("iterations", fontsize=10)
    for place in axes[len(shown) :]:
        place.set_axis_off()
    entries = {key: line_style(number) for number, key in enumerate(AUTHORS) if key != "cfr" or fill is whole}
    entries |= {"ddcfr, our policy": OURS_STYLE, "ddcfr, the authors' network": THEIRS_STYLE}
    entries |= {"DDCFR, published": POINT, "fixed variants, published end": CROSS}
    entries |= {"range of perturbed runs": RANGE_STYLE} if fill is late else {}
    handles = [Line2D([], [], label=label, **style) for label, style in entries.items()]  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=10, handlelength=3.2)
    return save(figure, file, alt)


def whole(axes: Axes, panel: Panel) -> None:
    """All iterations, as in figures 5 and 6."""
    for run, style in panel.lines:
        axes.plot(panel.points, run.curve, **style)
    axes.plot(list(panel.published), list(panel.published.values()), **POINT, clip_on=False)
    axes.plot([ITERATIONS] * len(panel.ends), list(panel.ends.values()), **CROSS, clip_on=False)
    dress(axes, panel.title)
    axes.set_xlim(1, ITERATIONS)


def late(axes: Axes, panel: Panel) -> None:
    """The last 500 iterations, as in figures 2 and 3, with the ranges of perturbed runs; CFR is far above and left out."""
    for run, style in panel.lines[1:]:
        axes.fill_between(LATE, run.low, run.high, color=style["color"], alpha=0.25, linewidth=0)
        axes.plot(LATE, run.late[0], **style)
    marks = {t: value for t, value in panel.published.items() if t >= LATE[0]}
    axes.plot(list(marks), list(marks.values()), **POINT, clip_on=False)
    ends = [value for key, value in panel.ends.items() if key != "cfr"]
    axes.plot([ITERATIONS] * len(ends), ends, **CROSS, clip_on=False)
    dress(axes, panel.title)
    axes.set_xscale("linear")
    axes.set(xlim=(LATE[0], ITERATIONS), xticks=[500, 600, 700, 800, 900, 1000])
    few_labels(axes)


def draw_variants(runs: Found) -> Picture:
    """The fixed variants that the paper does not have, beside those that it has."""
    figure, axes = panels(4, 3, size=(10.5, 11.0))
    for place, (name, found) in enumerate(runs.items()):
        for number, key in enumerate(DRAWN):
            axes[place].plot(POINTS, found[key].curve, **line_style(number))
        dress(axes[place], name)
        axes[place].set_xlim(1, ITERATIONS)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place >= 7:
            axes[place].set_xlabel("iterations", fontsize=10)
    legend_in(axes[10], {key: line_style(number) for number, key in enumerate(DRAWN)}, title="Measured")
    axes[11].set_axis_off()
    return save(
        figure,
        "ddcfr-variants.png",
        "Exploitability against iterations, both logarithmic, of eight fixed variants on the ten tabular games",
    )


def measure() -> tuple[dict[str, dict[str, Run]], Learned, Theirs]:
    """All runs: fixed variants, our policy, the authors' network; hold'em from its own script."""
    runs: dict[str, dict[str, Run]] = {}
    ours: dict[str, Run] = {}
    for name, game in games().items():
        few = () if game.seeds is not None and name in ("battleship-3", "big_leduc") else None
        runs[name] = {key: run_on(game, key) for key in AUTHORS} | {key: run_on(game, key, seeds=few) for key in OTHERS}
        ours[name] = run_on(game, own_policy())
        print(f"{name} done", flush=True)
    authors = theirs(
        "ddcfr_curves",
        lambda policy: as_numbers({"runs": {name: run_on(game, policy) for name, game in games().items()}})["runs"],
    )
    holdem = stored_holdem().get("learned", {})
    ours |= as_runs(holdem.get("ours", {}))
    found = as_runs(authors.found) | as_runs(holdem.get("theirs") or {}) if authors.found else None
    return runs, Learned(ours, found), authors


def main() -> None:
    numbers = published()["ddcfr"]
    runs, learned, authors = measure()
    known = references(numbers)
    shown = [*tabular_panels(runs, learned, known, numbers["curves"]["exploitability"]), *holdem_panels(numbers, learned)]
    finish(
        Result(
            name="ddcfr_curves",
            title="DDCFR, Figures 2, 3, 5 and 6: convergence",
            source=f"{numbers['source']}; figures 2 and 3 (iterations 500 to 1000), 5 and 6 (all)",
            findings=findings(numbers, runs, learned, known),
            tables=[
                learned_table(runs, learned, known, numbers),
                *([curves_table(numbers, learned.theirs)] if learned.theirs else []),
                table("Exploitability at iteration 1000, authors' files / measured", AUTHORS, runs, known),
                table("The other fixed variants, independent solver / measured", OTHERS, runs, known),
                noise_table(known, runs),
            ],
            pictures=[
                draw(
                    shown,
                    "ddcfr-curves-late.png",
                    "Figures 2 and 3: exploitability over iterations 500 to 1000 on the paper's games, of CFR+, DCFR, our "
                    "DDCFR policy and the authors' network, with the ranges of perturbed runs and published numbers as marks",
                    late,
                ),
                draw(
                    shown,
                    "ddcfr-curves.png",
                    "Figures 5 and 6: exploitability against iterations, both logarithmic, of CFR, CFR+, DCFR, our DDCFR "
                    "policy and the authors' network on the paper's games, with published numbers as marks",
                    whole,
                ),
                draw_variants(runs),
            ],
            notes=notes(numbers, authors),
            numbers={
                "iterations": POINTS,
                "ranges_at": list(LATE),
                "runs": as_numbers(runs),
                "ddcfr": as_numbers({"ours": learned.ours})["ours"],
                "authors_network": authors.record,
            },
        )
    )


if __name__ == "__main__":
    main()
