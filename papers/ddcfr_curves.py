"""DDCFR Figures 2, 3, 5 and 6: convergence of the CFR family on the paper's tabular games, 1000 iterations."""

import math
from collections.abc import Mapping, Sequence

from curves import SEEDS, curve, log_points, noise_band
from drawing import dress, floored, legend_in, line_style, panels, save
from results import Picture, Result, Table, finish, published, short

import treeplex as tp

ITERATIONS = 1000
FLOOR = 1e-12
"""The paper's least exploitability; smaller values are drawn there."""
AUTHORS = ("cfr", "cfr+", "dcfr")
OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+")
DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
WITHOUT_BAND = ("battleship-3", "big_leduc")
"""Games on which eight more runs of every variant would take minutes."""
TRAINING = ("small_matrix", "kuhn", "goofspiel-3", "liars_dice-3")
EXACT_UNTIL = 10
SAME = 5e-3
"""Two numbers are the same when they differ by no more than rounding to three digits does."""
POINT = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "white", "zorder": 5}
CROSS = {"color": "#000000", "linestyle": "none", "marker": "x", "markersize": 6, "zorder": 5}

Curves = dict[str, list[float]]
Band = tuple[float, float]


def agrees(reference: float, value: float, band: Band) -> bool:
    """Whether a measured number is the reference's, or both lie in the noise band, or both are at the floor."""
    reference, value = max(reference, FLOOR), max(value, FLOOR)
    inside = band[0] * (1 - SAME) <= reference <= band[1] * (1 + SAME) and band[0] <= max(value, FLOOR) <= band[1]
    return abs(value / reference - 1.0) <= SAME or inside


def wider(first: Band, second: Sequence[float] | None) -> Band:
    """The smallest band that holds both."""
    return (min(first[0], second[0]), max(first[1], second[1])) if second else first


def bands_of(name: str, game: tp.CompiledGame, last: Mapping[str, float], known: Mapping[str, Sequence[float]]) -> dict[str, Band]:
    """Noise bands of every variant: those of the published reruns, and the library's own where they are quick."""
    found = {}
    for algorithm, value in last.items():
        own = (value, value) if name in WITHOUT_BAND else noise_band(game, algorithm, ITERATIONS)
        low, high = wider(own, known.get(algorithm))
        found[algorithm] = (max(low, FLOOR), max(high, FLOOR))
    return found


def cell(reference: float | None, value: float, band: Band) -> str:
    """Published / measured, starred where they disagree beyond the noise band."""
    if reference is None:
        return f"- / {short(value)}"
    return f"{short(reference)} / {short(value)}" + ("" if agrees(reference, value, band) else " *")


def table(caption: str, algorithms: Sequence[str], runs: Mapping[str, Curves], final: Mapping, bands: Mapping) -> Table:
    """One row a game, one column an algorithm."""
    rows = [
        [name, *(cell(final[name].get(key), curves[key][-1], bands[name][key]) for key in algorithms)]
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


def draw(points: Sequence[int], runs: Mapping[str, Curves], authors: Mapping, final: Mapping) -> Picture:
    """A panel a game; the authors' numbers as marks."""
    figure, axes = panels(4, 3, size=(10.5, 11.0))
    for place, (name, curves) in enumerate(runs.items()):
        for number, key in enumerate(DRAWN):
            axes[place].plot(points, floored(curves[key], FLOOR), **line_style(number))
        learned = {int(t): value for t, value in authors.get(name, {}).get("ddcfr", {}).items()} or {ITERATIONS: final[name]["ddcfr"]}
        axes[place].plot(list(learned), list(learned.values()), **POINT, clip_on=False)
        axes[place].plot([ITERATIONS] * len(AUTHORS), [final[name][key] for key in AUTHORS], **CROSS, clip_on=False)
        dress(axes[place], name + (" (training)" if name in TRAINING else ""))
        axes[place].set_xlim(1, ITERATIONS)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place >= 8:
            axes[place].set_xlabel("iterations", fontsize=10)
    legend_in(axes[10], {key: line_style(number) for number, key in enumerate(DRAWN)}, title="Measured")
    legend_in(axes[11], {"DDCFR (learned)": POINT, "CFR, CFR+, DCFR\nat iteration 1000": CROSS}, title="Published")
    return save(
        figure,
        "ddcfr-curves.png",
        "Exploitability against iterations, both logarithmic, of eight fixed variants on the ten tabular games of the DDCFR paper, "
        "with the authors' numbers as marks on the curves' ends",
    )


def ratio_to_dcfr(final: Mapping, runs: Mapping[str, Curves]) -> float:
    """Geometric mean over the testing games of published DDCFR over our DCFR, at iteration 1000."""
    names = [name for name in runs if name not in TRAINING]
    return math.exp(sum(math.log(final[name]["ddcfr"] / runs[name]["dcfr"][-1]) for name in names) / len(names))


def main() -> None:
    numbers = published()["ddcfr"]
    final, authors = numbers["final"]["exploitability"], numbers["curves"]["exploitability"]
    points = log_points(ITERATIONS, also=(10, 20, 100, 200, 500))
    runs: dict[str, Curves] = {}
    bands: dict[str, dict[str, Band]] = {}
    for name, spec in numbers["games"].items():
        game = tp.compile(spec)
        runs[name] = {key: curve(game, key, points) for key in (*AUTHORS, *OTHERS)}
        last = {key: values[-1] for key, values in runs[name].items()}
        bands[name] = bands_of(name, game, last, numbers["noise_band"]["exploitability"].get(name, {}))
        print(f"{name} done", flush=True)
    hs_dcfr = {name: curves["hs-dcfr"]["1000"] for name, curves in numbers["reference"]["exploitability"].items()}
    final = {name: {**row, **({"hs-dcfr": hs_dcfr[name]} if name in hs_dcfr else {})} for name, row in final.items()}
    gaps = early_gap(points, runs, numbers["reference"]["exploitability"])
    pairs = [(name, key) for name in runs for key in runs[name] if key in final[name]]
    starred = [(n, k) for n, k in pairs if not agrees(final[n][k], runs[n][k][-1], bands[n][k])]
    close = sum(abs(max(runs[n][k][-1], FLOOR) / final[n][k] - 1.0) <= SAME for n, k in pairs)
    authors_rows = [(n, k) for n, k in starred if k in AUTHORS]
    findings = [
        f"Of {len(pairs)} numbers at iteration 1000, {close} agree to three digits, {len(pairs) - close - len(starred)} more lie with "
        f"the reference in the noise band, {len(starred)} do not: {', '.join(f'{k} on {n}' for n, k in starred) or 'none'}.",
        f"Of the authors' own {len(runs) * len(AUTHORS)} (CFR, CFR+, DCFR), {len(runs) * len(AUTHORS) - len(authors_rows)} agree in "
        "this sense.",
        f"At iterations 1 and {EXACT_UNTIL} the greatest relative difference from the reference runs is "
        + ", ".join(f"{gap:.0e} on {name}" for name, gap in gaps.items())
        + ".",
        "DDCFR itself is not in the library yet: its column and marks are the authors'. Set beside our DCFR its geometric mean on the six "
        f"testing games of this table is {ratio_to_dcfr(final, runs):.2f} of DCFR's exploitability at iteration 1000.",
    ]
    ddcfr_rows = [
        [name, short(final[name]["ddcfr"]), short(curves["dcfr"][-1]), f"{final[name]['ddcfr'] / max(curves['dcfr'][-1], FLOOR):.2f}"]
        for name, curves in runs.items()
    ]
    band_rows = [
        [name, *(f"{short(bands[name][key][0])} to {short(bands[name][key][1])}" for key in (*AUTHORS, "pcfr+"))]
        for name in runs
        if name not in WITHOUT_BAND
    ]
    finish(
        Result(
            name="ddcfr_curves",
            title="DDCFR, Figures 2, 3, 5 and 6: convergence on the tabular games",
            source=f"{numbers['source']}; figures 2 and 3 (iterations 500 to 1000), 5 and 6 (all)",
            findings=findings,
            tables=[
                table("Exploitability at iteration 1000, authors' files / measured", AUTHORS, runs, final, bands),
                Table("DDCFR, authors' files, beside measured DCFR", ["game", "DDCFR, published", "DCFR, measured", "ratio"], ddcfr_rows),
                table("The other fixed variants, independent solver / measured", OTHERS, runs, final, bands),
                Table("Noise bands at iteration 1000", ["game", *AUTHORS, "pcfr+"], band_rows),
            ],
            pictures=[draw(points, runs, authors, final)],
            notes=[
                f"Published: {numbers['curves']['source']}. {numbers['final']['source'].capitalize()}.",
                f"Noise bands: {numbers['noise_band']['source']}; joined with the same of the library "
                f"({len(SEEDS)} perturbed runs), except on {' and '.join(WITHOUT_BAND)}, which have no band. Near ties one "
                "rounding decides the next policy, so that two correct programs part after some tens of iterations on some games.",
                "A star marks a number that differs from the reference by more than rounding to three digits and is outside the band.",
                "The authors ran Big Leduc in single precision.",
            ],
            numbers={"iterations": points, "exploitability": runs, "noise_band": bands, "early_gap": gaps},
        )
    )


if __name__ == "__main__":
    main()
