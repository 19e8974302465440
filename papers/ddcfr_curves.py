"""DDCFR Figures 2, 3, 5 and 6: convergence of the CFR family on the paper's tabular games, 1000 iterations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import treeplex as tp
from curves import SEEDS, curve, log_points, noise_runs
from drawing import dress, floored, legend_in, line_style, panels, save
from results import Picture, Result, Table, finish, published, short

ITERATIONS = 1000
FLOOR = 1e-12
"""The paper's least exploitability; smaller values are drawn there."""
AUTHORS = ("cfr", "cfr+", "dcfr")
OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+")
DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
LARGE = ("battleship-3", "big_leduc")
"""Games on which eight more runs of every variant would take minutes."""
LARGE_SEEDS = SEEDS[:3]
TRAINING = ("small_matrix", "kuhn", "goofspiel-3", "liars_dice-3")
EXACT_UNTIL = 10
THREE_DIGITS, TWO_DIGITS = 5e-3, 5e-2
"""Relative differences within which two numbers are the same, for references of so many digits."""
POINT = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "white", "zorder": 5}
CROSS = {"color": "#000000", "linestyle": "none", "marker": "x", "markersize": 6, "zorder": 5}

Curves = dict[str, list[float]]
Band = tuple[float, float]


def noise_of(name: str, game: tp.CompiledGame, curves: Curves) -> dict[str, Band]:
    """The range of exploitability at the last iteration over the run and perturbed ones; a point where none were made."""
    found = {}
    for algorithm, values in curves.items():
        large = name in LARGE
        seeds = SEEDS if not large else LARGE_SEEDS if algorithm in AUTHORS else ()
        every = [max(value, FLOOR) for value in (values[-1], *noise_runs(game, algorithm, ITERATIONS, seeds=seeds))]
        found[algorithm] = (min(every), max(every))
    return found


@dataclass(frozen=True)
class Reference:
    """Published exploitability at iteration 1000, floored, with what is known of its noise."""

    value: float
    tolerance: float
    band: Band

    def mark(self, measured: float, own: Band) -> str:
        """Empty for the same digits, ``~`` for overlapping ranges, ``*`` for none, ``°`` where neither side has a range."""
        if abs(max(measured, FLOOR) / self.value - 1.0) <= self.tolerance:
            return ""
        if self.band[0] == self.band[1] and own[0] == own[1]:
            return "°"
        slack = 1.0 + self.tolerance
        return "~" if own[0] <= self.band[1] * slack and self.band[0] <= own[1] * slack else "*"


def references(numbers: Mapping) -> dict[str, dict[str, Reference]]:
    """The published numbers by game and algorithm."""
    final, bands = numbers["final"], numbers["noise_band"]["exploitability"]
    found: dict[str, dict[str, Reference]] = {}
    for name, row in final["exploitability"].items():
        rough = final["two_digits"].get(name, ())
        found[name] = {}
        for algorithm, value in row.items():
            value = max(value, FLOOR)
            low, high = bands.get(name, {}).get(algorithm, (value, value))
            tolerance = TWO_DIGITS if algorithm in rough else THREE_DIGITS
            found[name][algorithm] = Reference(value, tolerance, (min(low, value), max(high, value)))
    return found


def cell(reference: Reference | None, value: float, own: Band) -> str:
    """Published / measured and the mark."""
    if reference is None:
        return f"- / {short(value)}"
    return f"{short(reference.value)} / {short(value)} {reference.mark(value, own)}".strip()


def table(caption: str, algorithms: Sequence[str], runs: Mapping[str, Curves], known: Mapping, noise: Mapping) -> Table:
    """One row a game, one column an algorithm."""
    rows = [
        [name, *(cell(known[name].get(key), curves[key][-1], noise[name][key]) for key in algorithms)]
        for name, curves in runs.items()
    ]
    return Table(caption, ["game", *algorithms], rows)


def early_gap(points: Sequence[int], runs: Mapping[str, Curves], reference: Mapping) -> dict[str, float]:
    """The greatest relative difference from the reference run at iterations 1 and 10, by game."""
    gaps = {}
    for name, curves in reference.items():
        gaps[name] = max(
            abs(max(runs[name][key][points.index(t)], FLOOR) / values[str(t)] - 1.0)
            for key, values in curves.items()
            if key in runs[name]
            for t in (1, EXACT_UNTIL)
        )
    return gaps


def draw(points: Sequence[int], runs: Mapping[str, Curves], authors: Mapping, known: Mapping) -> Picture:
    """A panel a game; the authors' numbers as marks."""
    figure, axes = panels(4, 3, size=(10.5, 11.0))
    for place, (name, curves) in enumerate(runs.items()):
        for number, key in enumerate(DRAWN):
            axes[place].plot(points, floored(curves[key], FLOOR), **line_style(number))
        learned = {int(t): value for t, value in authors.get(name, {}).get("ddcfr", {}).items()}
        learned = learned or {ITERATIONS: known[name]["ddcfr"].value}
        axes[place].plot(list(learned), list(learned.values()), **POINT, clip_on=False)
        axes[place].plot([ITERATIONS] * len(AUTHORS), [known[name][key].value for key in AUTHORS], **CROSS, clip_on=False)
        dress(axes[place], name + (" (training)" if name in TRAINING else ""))
        axes[place].set_xlim(1, ITERATIONS)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place >= 7:
            axes[place].set_xlabel("iterations", fontsize=10)
    legend_in(axes[10], {key: line_style(number) for number, key in enumerate(DRAWN)}, title="Measured")
    legend_in(axes[11], {"DDCFR (learned)": POINT, "CFR, CFR+, DCFR\nat iteration 1000": CROSS}, title="Published")
    return save(
        figure,
        "ddcfr-curves.png",
        "Exploitability against iterations, both logarithmic, of eight fixed variants on the ten tabular games of the "
        "DDCFR paper, with the authors' numbers as marks on the curves' ends",
    )


def reduction(runs: Mapping[str, Curves], known: Mapping) -> tuple[float, float]:
    """By how much DDCFR's published exploitability is below DCFR's, ours and the authors', mean over the testing games."""
    names = [name for name in runs if name not in TRAINING]
    ours = [1.0 - known[name]["ddcfr"].value / runs[name]["dcfr"][-1] for name in names]
    theirs = [1.0 - known[name]["ddcfr"].value / known[name]["dcfr"].value for name in names]
    return sum(ours) / len(names), sum(theirs) / len(names)


def tally(runs: Mapping[str, Curves], known: Mapping, noise: Mapping, algorithms: Sequence[str]) -> str:
    """How many numbers have which mark, in words."""
    marks: dict[str, list[str]] = {mark: [] for mark in ("", "~", "*", "°")}
    for name, curves in runs.items():
        for key in algorithms:
            if key in known[name]:
                marks[known[name][key].mark(curves[key][-1], noise[name][key])].append(f"{key} on {name}")
    parts = [f"{len(marks[''])} of {sum(map(len, marks.values()))} agree to their digits"]
    parts += [f"for {len(marks['~'])} more the ranges under rounding overlap"] if marks["~"] else []
    parts += [f"{len(marks['*'])} lie apart ({', '.join(marks['*'])})"] if marks["*"] else ["none lies apart"]
    parts += [f"{len(marks['°'])} differ where no range is known ({', '.join(marks['°'])})"] if marks["°"] else []
    return "; ".join(parts) + "."


def measure(games: Mapping[str, str], points: Sequence[int]) -> tuple[dict[str, Curves], dict[str, dict[str, Band]]]:
    """Curves and ranges by game and algorithm."""
    runs: dict[str, Curves] = {}
    noise: dict[str, dict[str, Band]] = {}
    for name, spec in games.items():
        game = tp.compile(spec)
        runs[name] = {key: curve(game, key, points) for key in (*AUTHORS, *OTHERS)}
        noise[name] = noise_of(name, game, runs[name])
        print(f"{name} done", flush=True)
    return runs, noise


def ddcfr_table(runs: Mapping[str, Curves], known: Mapping) -> Table:
    """Published DDCFR beside measured DCFR."""
    rows = []
    for name, curves in runs.items():
        learned, fixed = known[name]["ddcfr"].value, max(curves["dcfr"][-1], FLOOR)
        rows.append([name, short(learned), short(fixed), f"{learned / fixed:.2g}"])
    return Table("DDCFR, authors' files, beside measured DCFR", ["game", "DDCFR, published", "DCFR, measured", "ratio"], rows)


def noise_table(known: Mapping, noise: Mapping) -> Table:
    """Ranges of the authors' algorithms, reference and own."""
    rows = [[name, *(f"{spread(known[name][key].band)}; {spread(own[key])}" for key in AUTHORS)] for name, own in noise.items()]
    return Table(
        "Ranges at iteration 1000 under changes of the size of rounding: reference; measured", ["game", *AUTHORS], rows
    )


def spread(band: Band) -> str:
    """A range, or one number where both ends print alike."""
    low, high = map(short, band)
    return low if low == high else f"{low} to {high}"


def double_precision(runs: Mapping[str, Curves], numbers: Mapping) -> str:
    """Big Leduc beside the independent solver, which has the precision of the library."""
    reference = numbers["reference"]["exploitability"]["big_leduc"]
    pairs = [f"{key} {short(reference[key][str(ITERATIONS)])} and {short(runs['big_leduc'][key][-1])}" for key in AUTHORS]
    return (
        "the authors ran Big Leduc in single precision; the independent solver, in double, and this run have "
        f"{', '.join(pairs)}"
    )


def main() -> None:
    numbers = published()["ddcfr"]
    points = log_points(ITERATIONS, also=(10, 20, 100, 200, 500))
    runs, noise = measure(numbers["games"], points)
    finish(summary(numbers, points, runs, noise))


def summary(
    numbers: Mapping, points: Sequence[int], runs: Mapping[str, Curves], noise: Mapping[str, Mapping[str, Band]]
) -> Result:
    """Published beside measured."""
    known, authors = references(numbers), numbers["curves"]["exploitability"]
    gaps = early_gap(points, runs, numbers["reference"]["exploitability"])
    ours, theirs = reduction(runs, known)
    findings = [
        f"CFR, CFR+ and DCFR at iteration 1000 against the authors' files: {tally(runs, known, noise, AUTHORS)} Beside "
        f"this: {double_precision(runs, numbers)}; on Battleship-3 the reference is a single run without a range.",
        f"The other variants against the independent solver: {tally(runs, known, noise, OTHERS)}",
        f"At iterations 1 and {EXACT_UNTIL}, before rounding matters, the greatest relative difference from the reference "
        f"runs is " + ", ".join(f"{gap:.0e} on {name}" for name, gap in gaps.items()) + ".",
        "DDCFR itself is not in the library yet: its column and marks are the authors'. On the six testing games here its "
        f"published exploitability at iteration 1000 is on average {ours:.0%} below our DCFR's and {theirs:.0%} below "
        "theirs (the paper says 42%, over eight games with the two hold'em subgames).",
    ]
    return Result(
        name="ddcfr_curves",
        title="DDCFR, Figures 2, 3, 5 and 6: convergence on the tabular games",
        source=f"{numbers['source']}; figures 2 and 3 (iterations 500 to 1000), 5 and 6 (all)",
        findings=findings,
        tables=[
            table("Exploitability at iteration 1000, authors' files / measured", AUTHORS, runs, known, noise),
            ddcfr_table(runs, known),
            table("The other fixed variants, independent solver / measured", OTHERS, runs, known, noise),
            noise_table(known, noise),
        ],
        pictures=[draw(points, runs, authors, known)],
        notes=[
            f"Published curves: {numbers['curves']['source']}.",
            f"Published table: {numbers['final']['source']}.",
            "Marks: none, the same digits; `~`, the ranges below overlap; `*`, they do not; `°`, no range is known on "
            "either side; `-`, no reference.",
            f"Reference ranges: {numbers['noise_band']['source']}. Measured ranges: the run and {len(SEEDS)} more that "
            f"are changed in the same way ({len(LARGE_SEEDS)} on {' and '.join(LARGE)}, for {', '.join(AUTHORS)} only). "
            "Near ties one rounding decides the next policy, so two correct programs part after some tens of "
            "iterations on some games; eight runs do not show the whole range.",
            "A reference without a range is a single run, so `*` beside one says less than it seems to.",
        ],
        numbers={"iterations": points, "exploitability": runs, "noise": noise, "early_gap": gaps},
    )


if __name__ == "__main__":
    main()
