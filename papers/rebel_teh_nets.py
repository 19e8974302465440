"""ReBeL Figures 2 and 6, right, with 52 cards: search on the turn with networks from self-play and from random beliefs.

``python papers/rebel_teh_nets.py`` takes some forty minutes on one core, most of it for trainings; networks and runs are kept
in ``runs/papers`` one by one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from drawing import panels, save
from kept import effort
from rebel_teh_nets_long import METHODS, exactly_searched, well_played
from rebel_teh_nets_runs import (
    BINS,
    DOMAINS,
    FINE,
    KINDS,
    LEARNT,
    LONG,
    LOOKS,
    SEED,
    SETTINGS,
    long_search,
    network,
    river_errors,
    searched_with,
)
from rebel_teh_search import GAME, curves_table, draw_panel, level_of, thousandths
from rebel_teh_search_runs import (
    EXACT,
    ITERATIONS,
    RIVER,
    Curve,
    points,
    searched,
    spot,
    whole_game,
)
from results import Picture, Result, Table, finish, published
from treeplex.forms.holdem.subgame import cut_spot
from treeplex.learn.rebel.value_net import torch_module

OWN, PLAIN = "self-play", "lcfr"
Curves = Mapping[tuple[str, str], Curve]
"""By what values the ends of the turn's betting and by method."""
Well = Mapping[tuple[str, str], Sequence[float]]
"""By kind of training and method of search."""
EXACTLY = "exact values"


def draw(found: Curves, tabular: Sequence[float]) -> Picture:
    """Figure 6, right: methods with the network from self-play. Figure 2: CFR-D with all values. What is played."""
    figure, axes = panels(1, 2, size=(11.0, 4.6))
    own = {EXACT[method]: found[OWN, method]["played"] for method in LEARNT[OWN]}
    plain = {source: found[source, PLAIN]["played"] for source in (EXACTLY, *KINDS)}
    draw_panel(axes[0], "Figure 6 right: self-play network, 52 cards", own, tabular)
    draw_panel(axes[1], f"Figure 2: {EXACT[PLAIN]}, 52 cards", plain, tabular)
    axes[0].set_ylabel("exploitability, thousandths of a big blind")
    return save(
        figure,
        "rebel-teh-nets.png",
        "Exploitability against iterations of search on a turn of hold'em with 52 cards, two panels with logarithmic axes: "
        "methods with a self-play network; CFR-D with exact values, a self-play network and networks from random beliefs",
    )


def long_table(found: Mapping[str, Mapping[str, Any]], tabular: Mapping[int, float]) -> Table:
    """How far down networks lead."""
    rows = [[kind, *map(thousandths, run["average"]), f"{1000.0 * run['seconds']:.0f}"] for kind, run in found.items()]
    rows.append(["whole game, linear CFR", *(thousandths(tabular[at]) if at in tabular else "" for at in LONG), ""])
    return Table(
        f"{EXACT[PLAIN]} with networks for longer: average policy, rivers solved for it, in thousandths of a big blind",
        ["trained on", *map(str, LONG), "ms an iteration"],
        rows,
    )


def well_played_table(found: Well, exactly: Mapping[str, float], tabular: Mapping[int, float]) -> Table:
    """How good the turn is by itself."""
    rows = [[f"{kind}, {METHODS[method]}", *map(thousandths, chips)] for (kind, method), chips in found.items()]
    for method, chips in exactly.items():
        rows.append([f"{EXACTLY}, {METHODS[method]}", *(thousandths(chips) if at == ITERATIONS else "" for at in LONG)])
    rows.append(["whole game, linear CFR", *(thousandths(tabular[at]) if at in tabular else "" for at in LONG)])
    return Table(
        f"The same, rivers solved by {FINE} iterations for the average policy's beliefs instead of {RIVER}",
        ["", *map(str, LONG)],
        rows,
    )


def errors_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """How far values of hands are off."""
    rows = [[name, *(f"{100.0 * errors[domain]:.1f}" for domain in DOMAINS)] for name, errors in found.items()]
    return Table("Root mean square error of a hand's value on a river, % of the pot", ["", *DOMAINS], rows)


def trainings_table(cards: Mapping[str, Mapping[str, Any]]) -> Table:
    """What trainings took."""
    rows = [
        [kind, f"{card['games']:,}", f"{card['rows']:,}", f"{card['steps']:,}", f"{card['loss']:.4f}", f"{card['seconds']:.0f}"]
        for kind, card in cards.items()
    ]
    return Table("Trainings", ["", "games", "rivers", "gradient steps", "last loss", "CPU seconds"], rows)


def findings(
    found: Curves, long: Mapping[str, Mapping[str, Any]], well: Well, errors: Mapping[str, Any], whole: Mapping[int, float]
) -> list[str]:
    """What the figures say, beside what the paper says."""
    paper = published()["rebel"]
    claims, level = paper["turn_search"]["claims"], paper["turn_endgame"]
    at_end = {key: [thousandths(curve[which][-1]) for which in ("played", "average")] for key, curve in found.items()}
    text = {key: f"{played} ({average})" for key, (played, average) in at_end.items()}
    kinds = [kind for kind in KINDS if kind != OWN]
    random = "; ".join(
        f"{kind} {text[kind, PLAIN]}, and {thousandths(long[kind]['average'][-1])} after {LONG[-1]}" for kind in kinds
    )
    off = "; ".join(
        f"{kind} {100.0 * errors[kind][DOMAINS[0]]:.1f}% and {100.0 * errors[kind][DOMAINS[1]]:.1f}%" for kind in KINDS
    )
    best, least = min(long[OWN]["average"]), min(min(well[OWN, method]) for method in METHODS)
    return [
        f"After {ITERATIONS} iterations {EXACT[PLAIN]} with the network from self-play has {text[OWN, PLAIN]} thousandths "
        f"of a big blind, with exact values {text[EXACTLY, PLAIN]}; in brackets the average policy with rivers solved for its "
        "beliefs.",
        f'Published: "{claims[1]}". With the network from self-play, after {ITERATIONS} iterations: '
        + ", ".join(f"{EXACT[method]} {text[OWN, method]}" for method in LEARNT[OWN])
        + ".",
        f'Published: "{claims[2]}". Here, {EXACT[PLAIN]} after {ITERATIONS} iterations: {random}; self-play '
        f"{text[OWN, PLAIN]} and {thousandths(long[OWN]['average'][-1])}. On rivers of that game, for beliefs of CFR-D's "
        f"iterations and of averages, values of hands are off by so much of the pot: {off}.",
        f'Published: "{level["claims"][0]}". The least that {EXACT[PLAIN]} comes to with the network from self-play, '
        f"{thousandths(best)} (average policy), is the level of {level_of(best, whole)} iterations of linear CFR on the whole "
        f"game. What is left there is mostly that rivers are solved by {RIVER} iterations: with {FINE} the least is "
        f"{thousandths(least)}, the level of {level_of(least, whole)}.",
    ]


def notes() -> list[str]:
    """How it was measured."""
    low, high = SETTINGS.stacks
    return [
        f"The game of search and judge: {GAME} Search, played and average as in the figure before it.",
        f"The games of training: any board, {low:,.0f} to {high:,.0f} chips a player, sizes moved by up to "
        f"{SETTINGS.perturbed:g} of the pot, as in the paper (appendix C.2). A turn is searched by {SETTINGS.iterations} "
        f"iterations of {EXACT[SETTINGS.method]}; {SETTINGS.rivers} rivers are taken from it, for iterations, betting (with "
        f"{100 * SETTINGS.exploration:.0f}% exploration) and cards drawn anew, and solved by {SETTINGS.river_iterations} "
        "iterations of DCFR. In the paper one subgame follows from each, and it has millions of them.",
        f"The network sees a river's ranges in {SETTINGS.bins} bins of strength and the stack in parts of the pot, "
        f"{1 + 2 * SETTINGS.bins} numbers, and says what bins are worth over the showdown; {SETTINGS.layers} layers of "
        f"{SETTINGS.width}. The paper's sees the cards, both ranges over 1,326 hands, and has far more layers and rows. At the "
        "end of the turn's betting it is asked for all 48 rivers.",
        "The paper does not say how it draws random beliefs. By strength: as DeepStack does, by halving hands in order of "
        "strength on the river. Flat: uniformly among all ranges. Both at a random end of the turn's betting, with as many "
        f"rivers as self-play. One seed, {SEED}.",
        f"Errors: rivers below the ends of the turn, {FINE} iterations of DCFR, at iterations {', '.join(map(str, LOOKS))} of "
        f"a search with exact values. Rows `exact, {BINS[0]} bins` and on: exact values after they were put into bins; no "
        "network of so many bins can be better.",
        f"Exact values are {RIVER} iterations of DCFR. An iteration updates both players. Without trainings: {effort()}",
    ]


def main() -> None:
    torch_module().set_num_threads(1)
    turn, paper = cut_spot(spot()), published()["rebel"]
    cards = {kind: network(kind)[1] for kind in KINDS}
    found = {(EXACTLY, method): searched(turn, method) for method in LEARNT[OWN]}
    found |= {(kind, method): searched_with(turn, kind, method) for kind in KINDS for method in LEARNT[kind]}
    long, errors, whole = {kind: long_search(turn, kind) for kind in KINDS}, river_errors(turn), whole_game(turn)
    well = {(kind, method): well_played(turn, kind, method) for kind in KINDS for method in METHODS}
    exactly = {method: exactly_searched(turn, method) for method in METHODS}
    tabular = [whole[point] for point in points()]
    finish(
        Result(
            name="rebel_teh_nets",
            title="ReBeL, Figures 2 and 6, right: networks on the turn with 52 cards",
            source=f"{paper['source']}; {paper['turn_search']['source']}",
            findings=findings(found, long, well, errors, whole),
            tables=[
                curves_table({f"{source}, {EXACT[method]}": curve for (source, method), curve in found.items()}, tabular),
                long_table(long, whole),
                well_played_table(well, exactly, whole),
                errors_table(errors),
                trainings_table(cards),
            ],
            pictures=[draw(found, tabular)],
            notes=notes(),
            numbers={
                "points": points(),
                "curves": {f"{source}, {method}": curve for (source, method), curve in found.items()},
                "long": long,
                "well_played": {f"{kind}, {method}": chips for (kind, method), chips in well.items()},
                "exactly_searched": exactly,
                "errors": errors,
                "trainings": cards,
                "whole_game": whole,
            },
        )
    )


if __name__ == "__main__":
    main()
