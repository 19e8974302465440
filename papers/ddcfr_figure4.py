"""DDCFR Figure 4: alpha, beta, gamma and tau over the iterations, chosen by our policy and by the authors' network."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.lines import Line2D

from ddcfr_figure4_text import (
    FIXED,
    HORIZON,
    SHOWN,
    SYMBOLS,
    TIMES,
    WHO,
    Traces,
    claims_table,
    exponents_table,
    findings,
    leduc_table,
)
from ddcfr_runs import STEERED, Game, Theirs, digest, games, own_policy, theirs, training
from drawing import dress, line_style, panels, save
from kept import code, effort, kept
from results import Picture, Result, finish, published
from treeplex.engine.tree.learned import trace_episode
from treeplex.solvers.rules.discount_policy import DiscountPolicy

PAPERS_GAMES = ("small_matrix", "liars_dice-3", "battleship-3", "big_leduc")
"""The games that the paper's figure shows, beside the mean over all."""
OTHER_STYLE = {"color": "#C4C4C4", "linestyle": "-", "linewidth": 0.9}
MEAN_STYLE = {"color": "#000000", "linestyle": "-", "linewidth": 2.2}
DCFR_STYLE = {"color": "#5F5F5F", "linestyle": (0, (1, 1.5)), "linewidth": 1.6}
LIMITS = {"alpha": (-0.1, 5.1), "beta": (-5.1, 0.1), "gamma": (-0.1, 5.1), "tau": (0.9, 22.0)}


def traced(game: Game, policy: DiscountPolicy) -> dict[str, list[float]]:
    """What a policy chooses for each of :data:`TIMES` on a game."""
    key = {"trace": game.identity, "algorithm": digest(policy), "times": list(TIMES), "code": code(*STEERED)}

    def make() -> dict[str, list[float]]:
        _, rows = trace_episode(game.compiled.tree, game.compiled.payoff, policy.compiled, HORIZON)
        place = np.searchsorted(rows[:, 0], TIMES, side="right") - 1
        columns = {"alpha": 2, "beta": 3, "gamma": 4, "tau": 6}
        return {name: rows[place, column].tolist() for name, column in columns.items()}

    found: dict[str, list[float]] = kept(key, make)
    return found


def all_traces(policy: DiscountPolicy) -> Traces:
    """By game."""
    return {name: traced(game, policy) for name, game in games().items()}


def mean_of(traces: Traces, key: str) -> list[float]:
    """Over the games."""
    return np.mean([trace[key] for trace in traces.values()], axis=0).tolist()


def draw(shown: Mapping[str, Traces]) -> Picture:
    """A row a network, a panel a quantity."""
    figure, axes = panels(len(shown), 4, size=(11.5, 0.6 + 2.9 * len(shown)))
    for row, (who, traces) in enumerate(shown.items()):
        for column, key in enumerate(SYMBOLS):
            panel = axes[4 * row + column]
            for name in traces:
                if name not in PAPERS_GAMES:
                    panel.plot(TIMES, traces[name][key], **OTHER_STYLE)
            for number, name in enumerate(PAPERS_GAMES):
                panel.plot(TIMES, traces[name][key], **line_style(number))
            panel.plot(TIMES, mean_of(traces, key), **MEAN_STYLE)
            if key in FIXED:
                panel.axhline(FIXED[key], **DCFR_STYLE)
            dress(panel, f"{SYMBOLS[key]}, {WHO[who]}", logarithmic=False)
            panel.set_xscale("linear")
            panel.set(xlim=(0, HORIZON), ylim=LIMITS[key], xticks=[0, 250, 500, 750, 1000])
            if key == "tau":
                panel.set_yscale("log")
                panel.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
                panel.minorticks_off()
            if row == len(shown) - 1:
                panel.set_xlabel("iteration t")
    entries = {name: line_style(number) for number, name in enumerate(PAPERS_GAMES)}
    entries |= {"mean of all ten games": MEAN_STYLE, "the other games": OTHER_STYLE, "DCFR": DCFR_STYLE}
    handles = [Line2D([], [], label=label, **style) for label, style in entries.items()]  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=7, frameon=False, fontsize=9.5, handlelength=2.6)
    return save(
        figure,
        "ddcfr-figure-4.png",
        "Alpha, beta, gamma and tau against iterations, one line a game and one for the mean of all games, beside DCFR's "
        "constants; a row of panels for " + " and one for ".join(WHO[who] for who in shown),
    )


def main() -> None:
    numbers = published()["ddcfr"]
    ours = all_traces(own_policy())
    authors: Theirs = theirs("ddcfr_figure4", all_traces)
    shown: dict[str, Traces] = {"ours": ours} | ({"theirs": authors.found} if authors.found else {})
    finish(
        Result(
            name="ddcfr_figure4",
            title="DDCFR, Figure 4: learned and fixed discounting",
            source=f"{numbers['source']}; figure 4",
            findings=findings(numbers["figure4"], shown),
            tables=[
                claims_table(shown),
                exponents_table(shown, SHOWN),
                *([leduc_table(numbers["figure4"], shown["theirs"]["leduc"])] if "theirs" in shown else []),
            ],
            pictures=[draw(shown)],
            notes=notes(numbers["figure4"], authors, len(games())),
            numbers={"t": list(TIMES), "ours": ours, "authors_network": authors.record},
        )
    )


def notes(known: Mapping, authors: Theirs, count: int) -> Sequence[str]:
    """How it was measured."""
    return [
        f"One undisturbed run of {HORIZON} iterations a game and network, on the {count} tabular games; a decision that holds "
        "for tau iterations is drawn for all of them.",
        f"Published points on Leduc: {known['source']}.",
        training(own_policy()),
        authors.note,
        "The exponents of `dcfr+` and `hs-dcfr` are computed back from the weights that the solver is given at each t; the "
        "offset 1.5 in the discount of `dcfr+` shows as a slightly smaller alpha; -∞ is a floor at zero.",
        effort(),
    ]


if __name__ == "__main__":
    main()
