"""ReBeL Figures 2 and 6, right, with 52 cards: search on the turn with networks from self-play and from random beliefs.

Training takes most of the time; networks and runs are cached in ``runs/papers`` one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.common.drawing import panels, save
from papers.common.kept import code, effort, kept, kept_file
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.rebel.turn_search import (
    EXACT,
    GAME,
    ITERATIONS,
    RIVER,
    STORAGE,
    Curve,
    curves_table,
    draw_panel,
    level_of,
    points,
    searched,
    spot,
    thousandths,
    whole_game,
)
from treeplex.holdem import Spot
from treeplex.holdem.search.leaves.binned_rivers import RiverBins
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot
from treeplex.learn import HoldemRebelSettings, RebelTrainer, read_turn_leaf, save_rivers
from treeplex.learn.common.device import torch_module
from treeplex.learn.rebel.files import read_net
from treeplex.learn.rebel.turns.river_net import RiverNet
from treeplex.learn.rebel.turns.river_targets import River
from treeplex.learn.rebel.turns.self_play import flat_range, random_range
from treeplex.search import SubgameSearch
from treeplex.search.search_trace import steps
from treeplex.search.subgames.subgame import Ranges

SETTINGS = HoldemRebelSettings(games=800)
KINDS = {"self-play": "self-play", "random beliefs, by strength": "random", "random beliefs, flat": "flat"}
"""Kinds of training by name, and their sources of public belief states."""
SEED = 0
LEARNT: Mapping[str, Sequence[str]] = {
    "self-play": ("lcfr", "lcfr-avg-modified", "flop"),
    "random beliefs, by strength": ("lcfr",),
    "random beliefs, flat": ("lcfr",),
}
"""Methods of search with each network."""
LONG = (64, 128, 256, 512)
"""Iterations of long searches with networks, whose average policies are evaluated."""
DOMAINS = ("CFR-D's iterations", "averages", "random by strength", "random, flat")
"""Domains of network queries: below the ends of an exact search of the turn, for these beliefs."""
LOOKS, FINE = (2, 4, 8, 16), 256
"""Iterations of that search at which networks are queried, and of the reference solves of rivers."""
BINS = (16, 32, 64, 128, 256)
TRAINING = (
    *("treeplex.learn.rebel", "treeplex.learn.common", "treeplex.search", "treeplex.solvers"),
    *("treeplex.holdem.forms", "treeplex.search.subgames", "treeplex.engine", "treeplex.holdem.rules"),
)
SEARCHING = (*TRAINING, "papers.rebel.turn_networks", "papers.rebel.turn_search", "treeplex.holdem.policies")
"""Modules that affect training runs and searches; see ``kept.py``."""


def network(kind: str, seed: int = SEED) -> tuple[RiverNet, dict[str, Any]]:
    """A trained network and its card; from the cache if the same code trained it on this machine."""
    settings = replace(SETTINGS, source=KINDS[kind], seed=seed)
    key = {"game": spot().identity, "settings": asdict(settings), "code": code(*TRAINING)}
    path = kept_file(key, f"rebel-teh-{settings.source}-{seed}", ".safetensors")
    if not path.is_file():
        trainer, began, losses = RebelTrainer(spot(), settings), process_time(), []
        while not trainer.finished:
            losses.append(trainer.round().loss)
        save_rivers(trainer, path, seconds=process_time() - began, loss=float(np.mean(losses[-len(losses) // 10 :])))
    found = read_net(path)
    return read_turn_leaf(path).function, {**found.card, "checksum": found.checksum}


def searched_with(turn: HoldemSubgame, kind: str, method: str, seed: int = SEED) -> Curve:
    """Curves of a search with a network, rivers played by solutions."""
    net, card = network(kind, seed)
    key = {"what": "rebel/turn_networks", "net": card["checksum"], "game": turn.game.spot.identity, "method": method}
    key |= {"river": RIVER, "points": points(), "storage": STORAGE, "code": code(*SEARCHING)}
    return dict(kept(key, lambda: Player(turn, RIVER, storage=STORAGE).curve(method, points(), net.leaf())))


def averages(player: Player, search: SubgameSearch, points: Sequence[int]) -> list[float]:
    """Exploitability in chips of the average policy of a search after each of ``points`` iterations."""
    found = []
    for point in points:
        search.run(point - search.iteration)
        found.append(float(player.judge(player.average(search), expected=False).exploitability))
    return found


def long_search(turn: HoldemSubgame, kind: str, seed: int = SEED) -> dict[str, Any]:
    """CFR-D with a network: chips of exploitability of its average policy at :data:`LONG` iterations; seconds an iteration."""
    net, card = network(kind, seed)

    def make() -> dict[str, Any]:
        player = Player(turn, RIVER, storage=STORAGE)
        search = player.search("lcfr", LONG[-1], net.leaf())
        found, seconds = [], 0.0
        for stop in LONG:
            began = process_time()
            search.run(stop - search.iteration)
            seconds += process_time() - began
            found.append(player.judge(player.average(search), expected=False).exploitability)
        return {"average": found, "seconds": seconds / LONG[-1]}

    key = {"what": "rebel/turn_networks long", "net": card["checksum"], "game": turn.game.spot.identity, "points": LONG}
    return dict(kept({**key, "river": RIVER, "storage": STORAGE, "code": code(*SEARCHING)}, make))


def river_errors(turn: HoldemSubgame, seed: int = SEED) -> dict[str, dict[str, float]]:
    """Root mean square error of hand values on rivers, as a share of the pot, by source of values and :data:`DOMAINS`.

    Sources are the networks, and exact values averaged over bins (:data:`BINS`), which give the least error possible with that
    number of bins. All hands of both players have equal weight.
    """
    nets = {kind: network(kind, seed) for kind in KINDS}

    def make() -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for domain, rivers in rivers_of(turn).items():
            inputs = np.stack([river.row()[0] for river in rivers])
            for kind, (net, _) in nets.items():
                found.setdefault(kind, {})[domain] = hands_error(rivers, net(inputs))
            for bins in BINS:
                other = [replace(river, bins=RiverBins.of(river.spot.format, river.bins.boards, bins)) for river in rivers]
                fitted = np.stack([river.row()[1] for river in other])
                found.setdefault(f"exact, {bins} bins", {})[domain] = hands_error(other, fitted)
            found.setdefault("showdown alone", {})[domain] = hands_error(rivers, np.zeros((len(rivers), 2 * SETTINGS.bins)))
        return found

    key = {"what": "rebel/turn_networks errors", "nets": [card["checksum"] for _, card in nets.values()], "looks": LOOKS}
    key |= {"bins": BINS, "fine": FINE, "river": RIVER, "game": turn.game.spot.identity}
    return dict(kept({**key, "storage": STORAGE, "code": code(*SEARCHING)}, make))


def hands_error(rivers: Sequence[River], outputs: NDArray[Any]) -> float:
    """Error of values of bins [n, 2B], interpolated for hands."""
    squares = []
    for river, row in zip(rivers, outputs, strict=True):
        low, share = river.bins.low[0].astype(np.int64), river.bins.share[0]
        for values, worth in zip(np.split(row, 2), river.worth, strict=True):
            squares.append(np.nanmean(((1.0 - share) * values[low] + share * values[low + 1] - worth) ** 2))
    return float(np.sqrt(np.mean(squares)))


def rivers_of(turn: HoldemSubgame) -> dict[str, list[River]]:
    """Rivers below all open ends of the turn, solved: for beliefs of an exact search and for random ones."""
    spot, generator, found = turn.game.spot, np.random.default_rng(0), {name: [] for name in DOMAINS}
    search = Player(turn, RIVER, storage=STORAGE).search("lcfr", LOOKS[-1])
    for step in steps(search, LOOKS[-1]):
        if step.number not in LOOKS:
            continue
        played, average = (search.arrays.reach_at_leaves(strategy) for strategy in (step.played, step.average))
        for k, node in enumerate(turn.nodes):
            paid = turn.game.tree.nodes[node].contributions
            for card in generator.choice(spot.format.cards_left(spot.board), 4, replace=False):
                stack = spot.pot / 2 + spot.stack - max(paid)
                river = replace(spot, board=(*spot.board, int(card)), pot=sum(paid), stack=stack)
                board = RiverBins.of(spot.format, (river.board,), SETTINGS.bins)
                pairs = [(own[0][k], own[1][k]) for own in (played, average)]
                pairs += [(draw(board, generator), draw(board, generator)) for draw in (random_range, flat_range)]
                for name, ranges in zip(DOMAINS, pairs, strict=True):
                    solved = River.solved(replace(river, ranges=ones(spot)), ranges, FINE, SETTINGS.bins, storage="float64")
                    found[name].append(solved)
    return found


def ones(spot: Spot) -> Ranges:
    """Equal weights for all hands."""
    return np.ones(len(spot.format.hands)), np.ones(len(spot.format.hands))


METHODS = {"lcfr": "CFR-D", "dcfr": "CFR-D by DCFR"}


def well_played(turn: HoldemSubgame, kind: str, method: str, seed: int = SEED) -> list[float]:
    """Exploitability of the average policy at :data:`LONG` iterations of a search with a network, in chips.

    Rivers are solved for its beliefs by :data:`FINE` iterations, many more than in the curves.
    """
    net, card = network(kind, seed)

    def make() -> list[float]:
        player = Player(turn, FINE, storage=STORAGE)
        return averages(player, player.search(method, LONG[-1], net.leaf()), LONG)

    return list(kept({**key_of(turn, method), "net": card["checksum"], "points": LONG}, make))


def exactly_searched(turn: HoldemSubgame, method: str) -> float:
    """Exploitability of the average policy of a search with exact values, after :data:`ITERATIONS` iterations, in chips."""

    def make() -> float:
        solving = Player(turn, RIVER, storage=STORAGE)
        search = solving.search(method, ITERATIONS, solving.endgames)
        return averages(Player(turn, FINE, storage=STORAGE), search, [ITERATIONS])[0]

    return float(kept({**key_of(turn, method), "net": "none", "points": ITERATIONS}, make))


def key_of(turn: HoldemSubgame, method: str) -> dict[str, Any]:
    """Cache key."""
    what = {
        "what": "rebel/turn_networks rivers",
        "game": turn.game.spot.identity,
        "method": method,
        "rivers": FINE,
        "exact": RIVER,
    }
    return what | {"storage": STORAGE, "code": code(*SEARCHING)}


OWN, PLAIN = "self-play", "lcfr"
Curves = Mapping[tuple[str, str], Curve]
"""Curves by source of leaf values and method."""
Well = Mapping[tuple[str, str], Sequence[float]]
"""Values by kind of training and method of search."""
EXACTLY = "exact values"


def draw(found: Curves, tabular: Sequence[float]) -> Picture:
    """Figure 6, right: methods with the network from self-play. Figure 2: CFR-D with all sources of values. Played policies."""
    figure, axes = panels(1, 2, size=(11.0, 4.6))
    own = {EXACT[method]: found[OWN, method]["played"] for method in LEARNT[OWN]}
    plain = {source: found[source, PLAIN]["played"] for source in (EXACTLY, *KINDS)}
    draw_panel(axes[0], "Figure 6 right: self-play network, 52 cards", own, tabular)
    draw_panel(axes[1], f"Figure 2: {EXACT[PLAIN]}, 52 cards", plain, tabular)
    axes[0].set_ylabel("exploitability, mbb/hand")
    return save(
        figure,
        "rebel-teh-nets.png",
        "Exploitability against iterations of search on a turn of hold'em with 52 cards, two panels with logarithmic axes: "
        "methods with a self-play network; CFR-D with exact values, a self-play network and networks from random beliefs",
    )


def long_table(found: Mapping[str, Mapping[str, Any]], tabular: Mapping[int, float]) -> Table:
    """Lowest exploitability with networks."""
    rows = [[kind, *map(thousandths, run["average"]), f"{1000.0 * run['seconds']:.0f}"] for kind, run in found.items()]
    rows.append(["whole game, linear CFR", *(thousandths(tabular[at]) if at in tabular else "" for at in LONG), ""])
    return Table(
        f"{EXACT[PLAIN]} with networks, more iterations: average policy, rivers solved for it, in mbb/hand",
        ["trained on", *map(str, LONG), "ms per iteration"],
        rows,
    )


def well_played_table(found: Well, exactly: Mapping[str, float], tabular: Mapping[int, float]) -> Table:
    """Exploitability of turn strategies with finely solved rivers."""
    rows = [[f"{kind}, {METHODS[method]}", *map(thousandths, chips)] for (kind, method), chips in found.items()]
    for method, chips in exactly.items():
        rows.append([f"{EXACTLY}, {METHODS[method]}", *(thousandths(chips) if at == ITERATIONS else "" for at in LONG)])
    rows.append(["whole game, linear CFR", *(thousandths(tabular[at]) if at in tabular else "" for at in LONG)])
    return Table(
        f"The same with rivers solved by {FINE} iterations for the average policy's beliefs instead of {RIVER}",
        ["", *map(str, LONG)],
        rows,
    )


def errors_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """Errors of hand values."""
    rows = [[name, *(f"{100.0 * errors[domain]:.1f}" for domain in DOMAINS)] for name, errors in found.items()]
    return Table("Root mean square error of a hand's value on a river, % of the pot", ["", *DOMAINS], rows)


def trainings_table(cards: Mapping[str, Mapping[str, Any]]) -> Table:
    """Cost of training runs."""
    rows = [
        [kind, f"{card['games']:,}", f"{card['rows']:,}", f"{card['steps']:,}", f"{card['loss']:.4f}", f"{card['seconds']:.0f}"]
        for kind, card in cards.items()
    ]
    return Table("Trainings", ["", "games", "rivers", "gradient steps", "last loss", "CPU seconds"], rows)


def findings(
    found: Curves, long: Mapping[str, Mapping[str, Any]], well: Well, errors: Mapping[str, Any], whole: Mapping[int, float]
) -> list[str]:
    """The findings, compared with the paper's claims."""
    paper = published("rebel")
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
    best, (plain, fast) = min(long[OWN]["average"]), (min(well[OWN, method]) for method in METHODS)
    return [
        f"After {ITERATIONS} iterations {EXACT[PLAIN]} with the network from self-play has {text[OWN, PLAIN]} mbb/hand, "
        f"with exact values {text[EXACTLY, PLAIN]}; in brackets the average policy with rivers solved for its beliefs.",
        f'Published: "{claims[1]}". With the network from self-play, after {ITERATIONS} iterations: '
        + ", ".join(f"{EXACT[method]} {text[OWN, method]}" for method in LEARNT[OWN])
        + ".",
        f'Published: "{claims[2]}". Here, {EXACT[PLAIN]} after {ITERATIONS} iterations: {random}; self-play '
        f"{text[OWN, PLAIN]} and {thousandths(long[OWN]['average'][-1])}. Errors of hand values on rivers of that "
        f"game, for beliefs of CFR-D's iterations and of averages, in percent of the pot: {off}.",
        f'Published: "{level["claims"][0]}". The lowest exploitability of {EXACT[PLAIN]} with the network from '
        f"self-play, {thousandths(best)} (average policy), is the level of {level_of(best, whole)} iterations of "
        f"linear CFR on the whole game. Most of the rest is due to rivers solved by {RIVER} iterations. With {FINE} "
        f"the lowest is {thousandths(plain)}, the level of {level_of(plain, whole)}, and {thousandths(fast)}, that of "
        f"{level_of(fast, whole)}, where it searches by DCFR.",
    ]


def notes() -> list[str]:
    """How it was measured."""
    low, high = SETTINGS.stacks
    return [
        f"The game of search and evaluation: {GAME} Search, played and average policy are as in the previous figure.",
        f"The games of training: any board, {low:,.0f} to {high:,.0f} chips per player, sizes changed by up to "
        f"{SETTINGS.perturbed:g} of the pot, as in the paper (appendix C.2). A turn is searched by "
        f"{SETTINGS.iterations} iterations of {EXACT[SETTINGS.method]}. From it {SETTINGS.rivers} rivers are sampled, "
        f"with new iterations, betting (with {100 * SETTINGS.exploration:.0f}% exploration) and cards, and solved by "
        f"{SETTINGS.river_iterations} iterations of DCFR. In the paper one subgame follows each search, and there are "
        f"millions of them.",
        f"The network sees a river's ranges in {SETTINGS.bins} bins of strength and the stack in pots, "
        f"{1 + 2 * SETTINGS.bins} numbers, and predicts values of bins relative to the showdown. It has "
        f"{SETTINGS.layers} layers of {SETTINGS.width}. The paper's network sees the cards and both ranges over 1,326 "
        "hands, and has far more layers and rows. At the end of the turn's betting it is queried for all 48 rivers.",
        "The paper does not say how it draws random beliefs. By strength: as in DeepStack, by halving hands in order "
        "of strength on the river. Flat: uniformly among all ranges. Both at a random end of the turn's betting, "
        f"with as many rivers as self-play. One seed, {SEED}.",
        f"Errors are on rivers below the ends of the turn, {FINE} iterations of DCFR, at iterations "
        f"{', '.join(map(str, LOOKS))} of a search with exact values. Rows `exact, {BINS[0]} bins` and on: exact "
        "values averaged over bins. No network with that number of bins can have a lower error.",
        (f"Exact values are from {RIVER} iterations of DCFR. An iteration updates both players. Without trainings: {effort()}"),
    ]


@study(title="ReBeL, Figures 2 and 6, right: networks on the turn with 52 cards", place=9, minutes=45, needs=("torch",))
def reproduce() -> Result:
    torch_module().set_num_threads(1)
    turn, paper = cut_spot(spot()), published("rebel")
    cards = {kind: network(kind)[1] for kind in KINDS}
    found = {(EXACTLY, method): searched(turn, method) for method in LEARNT[OWN]}
    found |= {(kind, method): searched_with(turn, kind, method) for kind in KINDS for method in LEARNT[kind]}
    long, errors, whole = {kind: long_search(turn, kind) for kind in KINDS}, river_errors(turn), whole_game(turn)
    well = {(kind, method): well_played(turn, kind, method) for kind in KINDS for method in METHODS}
    exactly = {method: exactly_searched(turn, method) for method in METHODS}
    tabular = [whole[point] for point in points()]
    return Result(
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
