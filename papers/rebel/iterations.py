"""ReBeL on Liar's Dice: exploitability of the library's networks by iterations per search, for Discounted CFR, with which they
were trained, and for linear CFR.

Finished evaluations are cached in ``runs/papers``.
"""

from collections.abc import Mapping

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, kept
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from treeplex.learn import judge_rebel, shipped_net
from treeplex.learn.rebel.shipped_nets import REBEL
from treeplex.search import public_tree

PLAYTHROUGHS, ITERATIONS = 256, (64, 128, 256, 512)
BANDED, SEEDS = "1x4f", (0, 1, 2, 3)
"""The game on which DCFR is also evaluated with other random seeds."""
PAPERS = 512
"""The paper's T: 1,024 updates of one player."""
JUDGING = ("treeplex.search", "treeplex.learn.rebel", "treeplex.search.subgames", "treeplex.engine.networks")
"""Modules that affect results; see ``kept.py``."""


METHODS = {"dcfr": "DCFR, as in training", "lcfr": "linear CFR, as in the paper"}
"""Methods for solving subgames in play."""
Values = Mapping[str, Mapping[str, Mapping[int, Mapping[str, float]]]]
"""Evaluations by method, game and T."""


def judged(game: str, label: str, method: str, iterations: int, seed: int = 0) -> dict[str, float]:
    """Exploitability of the library's network for a game that was trained without or with small endgames."""
    name = f"liars_dice-{label}"
    net = shipped_net(public_tree(game), name)
    key = {"what": "rebel/iterations", "net": net.checksum, "N": PLAYTHROUGHS, "T": iterations, "code": code(*JUDGING)}
    key |= {"method": method} if method != net.settings["method"] else {}
    key |= {"seed": seed} if seed else {}

    def make() -> dict[str, float]:
        source, search = f"{REBEL}:{name}", {"method": method}
        count = {"playthroughs": PLAYTHROUGHS, "iterations": iterations, "seed": seed, "workers": 1}
        found = judge_rebel(game, source, search=search, **count).to_json()
        print(f"{game} {method} T = {iterations}: {found['exploitability']:.4f}, {found['seconds']:.0f} s", flush=True)
        return {name: float(found[name]) for name in ("exploitability", "seconds", "endgame")}

    return dict(kept(key, make))


def draw(found: Values) -> Picture:
    """A panel for each method, a curve for each game."""
    figure, axes = panels(1, 2, size=(10.6, 4.4))
    for panel, (method, rows) in zip(axes, found.items(), strict=True):
        for number, (label, row) in enumerate(rows.items()):
            points = [each["exploitability"] for each in row.values()]
            panel.plot(list(row), points, label=label, marker="o", markersize=3.5, **line_style(number))
        dress(panel, METHODS[method])
        panel.set_xticks(ITERATIONS)
        panel.set_ylim(
            0.9 * min(each["exploitability"] for rows in found.values() for row in rows.values() for each in row.values()),
            1.1 * max(each["exploitability"] for rows in found.values() for row in rows.values() for each in row.values()),
        )
        plain_labels(panel)
        panel.minorticks_off()
        panel.set(xlabel="iterations T of a search, in play")
        panel.legend(frameon=False, fontsize=9)
    axes[0].set_ylabel("exploitability")
    return save(
        figure,
        "rebel-iterations.png",
        "Exploitability of four networks for Liar's Dice against the iterations of each search in play, both axes logarithmic, "
        "for searches by Discounted CFR and by linear CFR",
    )


def sentence(found: Values, method: str, goals: Mapping[str, float]) -> str:
    """The best T of a method, and the result with the paper's T, as a sentence."""
    rows = found[method]
    best = {label: min(row, key=lambda count, row=row: row[count]["exploitability"]) for label, row in rows.items()}
    at = {label: row[PAPERS]["exploitability"] for label, row in rows.items()}
    shown = {label: f"{label} {value:.4f} (published {goals[label]:.3f})" for label, value in at.items()}
    good = [shown[label] for label, value in at.items() if round(value, 3) <= goals[label]]
    bad = [text for text in shown.values() if text not in good]
    return (
        f"{METHODS[method]}: the lowest exploitability is at "
        f"{', '.join(f'{label} with T = {best[label]}' for label in rows)}. With the paper's T, {PAPERS} of these "
        f"iterations, at least as good as published: {', '.join(good) or 'none'}; not: {', '.join(bad) or 'none'}."
    )


def risen(rows: Mapping[str, Mapping[int, Mapping[str, float]]]) -> str:
    """The games on which the last doubling of T makes exploitability larger."""
    before, after = ITERATIONS[-2:]
    return (
        ", ".join(label for label, row in rows.items() if row[after]["exploitability"] > row[before]["exploitability"])
        or "none"
    )


def bands(game: str) -> dict[int, list[float]]:
    """Exploitability by DCFR with every seed, by T."""
    return {count: [judged(game, BANDED, "dcfr", count, seed)["exploitability"] for seed in SEEDS] for count in ITERATIONS}


def bands_table(found: Mapping[int, list[float]]) -> Table:
    """Spread of evaluations of one network."""
    rows = [[f"T = {count}", *(f"{value:.4f}" for value in values)] for count, values in found.items()]
    return Table(f"{BANDED} by DCFR with other random seeds of play", ["", *(f"seed {seed}" for seed in SEEDS)], rows)


@study(title="ReBeL on Liar's Dice: method and iterations in play", place=2, minutes=26, needs=("torch",))
def reproduce() -> Result:
    numbers = published("rebel")
    games, goals = numbers["games"], dict(zip(numbers["games"], numbers["table2"]["rebel_cfr"], strict=True))
    found = {
        method: {label: {count: judged(game, label, method, count) for count in ITERATIONS} for label, game in games.items()}
        for method in METHODS
    }
    spread = bands(games[BANDED])
    return Result(
        source=f"{numbers['source']}; the CFR-D row of Table 2, one T for all",
        findings=[
            *(sentence(found, method, goals) for method in METHODS),
            f"A single evaluation is noisy. {BANDED} by DCFR, seeds {SEEDS[0]} to {SEEDS[-1]}: "
            + "; ".join(f"T = {count} {min(row):.4f} to {max(row):.4f}" for count, row in spread.items())
            + ". The same seed on another processor gives another result: sums are rounded differently there, which "
            "near ties decides the policy (`treeplex evaluate GAME rebel:NAME --playthroughs 256 --iterations 512`).",
            f"From T = {ITERATIONS[-2]} to {ITERATIONS[-1]} exploitability rises with DCFR on {risen(found['dcfr'])}, "
            f"with linear CFR on {risen(found['lcfr'])}. Why more iterations can be worse with a network is known "
            "only in part: see `docs/log.md`, noise on beliefs in play.",
        ],
        pictures=[draw(found)],
        tables=[
            Table(
                f"Exploitability of four networks that ship, N = {PLAYTHROUGHS}",
                ["", *(f"T = {count}" for count in ITERATIONS), "endgame solving"],
                [
                    [
                        f"{label}, {method}",
                        *(f"{row[count]['exploitability']:.4f}" for count in ITERATIONS),
                        f"up to {row[PAPERS]['endgame']:.0f} nodes" if row[PAPERS]["endgame"] else "no",
                    ]
                    for method, rows in found.items()
                    for label, row in rows.items()
                ],
            ),
            bands_table(spread),
        ],
        notes=[
            "Networks are those without `-rests`. One training run per game (seed 0) by DCFR with T = 64. An iteration here "
            "updates both players once.",
            "Table 2 above uses DCFR with T = 256 (small endgames on 1x4f and all larger endgames: 512). The 256 iterations "
            "were chosen before this study, and its rows depend on that choice.",
        ],
        numbers={"seeds": {str(count): row for count, row in spread.items()}}
        | {
            method: {label: {str(count): each for count, each in row.items()} for label, row in rows.items()}
            for method, rows in found.items()
        },
    )
