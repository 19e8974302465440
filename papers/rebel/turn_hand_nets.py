"""ReBeL, Figure 2 on turn endgame hold'em as published: networks that value single hands, from self-play and random beliefs.

All bet sizes of the paper. Searches use the modified CFR-AVG, as in the figure, and CFR-D. Networks and evaluated points are
cached in ``runs/papers`` one by one, so an interrupted run can be resumed. Searches with exact values take most of the time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from math import sqrt
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, effort, kept, kept_file
from papers.common.results import Picture, Result, Table, published, stored
from papers.common.study import study
from papers.holdem.hands import fitted
from papers.rebel.turn_hands import unseen
from papers.rebel.turn_networks import KINDS
from papers.rebel.turn_search import EXACT, STORAGE, in_thousandths, thousandths
from treeplex.holdem import turn_endgame_holdem
from treeplex.holdem.search.leaves.hand_values import HandBoard, HandValues
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot
from treeplex.learn import HoldemRebelSettings, read_turn_leaf
from treeplex.learn.common.device import one_thread
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.net import FORM, read_hand_net
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import Situation
from treeplex.learn.hand_values.source import HandSource
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.learn.rebel.shipped_nets import RIVERS
from treeplex.learn.rebel.turns.river_targets import River
from treeplex.learn.rebel.turns.self_play import HoldemSelfPlay
from treeplex.search import LeafValue

NAME = "rebel/turn_hand_nets"
METHODS = ("lcfr-avg-modified", "lcfr")
"""Methods of search: the figure's, and CFR-D."""
POINTS = (8, 16, 32, 64)
"""Iterations of search at which the average policy is evaluated."""
RIVER, FINE = 64, 256
"""Iterations of Discounted CFR per river: for exact values, and for the rivers of an evaluated policy."""
PLAY = HoldemRebelSettings(games=80)
"""Sources of training beliefs: games, their rivers, and the searches of self-play."""
NETWORK = HandValueSettings(street="river")
"""The network, its gradient steps, and the hands sampled from each river; those of the library's network."""
PERFECT, OWN, LIBRARY = "exact values", "self-play", "library's network"
SOURCES = (PERFECT, *KINDS, LIBRARY)
"""Sources of leaf values."""
SHARED = (
    *("treeplex.engine", "treeplex.holdem.engine", "treeplex.holdem.forms", "treeplex.holdem.rules", "treeplex.solvers"),
    *("treeplex.holdem.search.leaves", "treeplex.holdem.search.subgames", "treeplex.holdem.solve"),
    *("treeplex.search.methods", "treeplex.search.search_trace", "treeplex.search.subgame_search", "treeplex.search.subgames"),
)
TRAINING = (
    *(*SHARED, "treeplex.learn.hand_values.source", "treeplex.learn.hand_values.net", "treeplex.learn.rebel.turns"),
    *("treeplex.learn.common", "papers.holdem.hands", "papers.rebel.turn_hand_nets"),
)
SEARCHING = (*SHARED, "treeplex.holdem.search.play_distribution", "treeplex.holdem.policies.judge")
"""Modules that affect training and searches; see ``kept.py``."""


def situation_of(river: River) -> Situation:
    """A solved river, whose values are relative to the showdown, as a situation of the hand networks."""
    board = HandBoard.of(river.spot.format, river.spot.board)
    reach, over = np.stack(river.ranges), np.zeros((2, len(river.spot.format.hands)))
    over[:, river.bins.order[0]] = np.nan_to_num(np.stack(river.worth))
    mass, equity = board.equities(reach)
    return Situation(board, river.spot.stack / river.spot.pot, reach, mass, equity, equity - 0.5 + over[:, board.held])


def network(source: str, method: str) -> NetFile:
    """A network trained on beliefs of a source, in self-play those of searches by ``method``; from the cache if present."""
    if source == LIBRARY:
        return read_net(shipped_hand_net("river"), form=FORM)
    settings = replace(PLAY, source=KINDS[source], method=method if source == OWN else PLAY.method)
    key = {"what": NAME, "game": turn_endgame_holdem().identity, "play": asdict(settings), "network": asdict(NETWORK)}
    key |= {"searching": read_net(RIVERS).checksum, "code": code(*TRAINING)}
    path = kept_file(key, f"rebel-turn-hand-net-{settings.source}", ".safetensors")
    if not path.is_file():
        with one_thread():
            train(settings, path)
    return read_net(path, form=FORM)


def train(settings: HoldemRebelSettings, path: Path) -> None:
    """Sample and solve rivers, fit a network to their hands, and write it."""
    began, generator, sampling = process_time(), np.random.default_rng(settings.seed), HandSource(NETWORK)
    play = HoldemSelfPlay(turn_endgame_holdem(), settings, read_turn_leaf(RIVERS), generator)
    rows = [sampling.sampled(situation_of(river), generator) for _ in range(settings.games) for river in play.rivers()]
    inputs, targets = (np.concatenate(part) for part in zip(*rows, strict=True))
    sampled = process_time()
    net = fitted(NETWORK, inputs, targets)
    seconds = {"sampling": sampled - began, "fitting": process_time() - sampled}
    net.save(path, settings=NETWORK.to_json(), card={"rivers": len(rows), "rows": len(inputs), **seconds})


def error_of(net: NetFile) -> float:
    """Root mean square error of hand values on unseen rivers, as a share of the pot, weighted by range."""

    def make() -> float:
        squares, weights, hand_net = 0.0, 0.0, read_hand_net(net.path)
        for situation in map(situation_of, unseen()):
            held = situation.reach[:, situation.board.held] * situation.mass
            squares += float((held * (hand_net.worth(situation) - situation.worth) ** 2).sum())
            weights += float(held.sum())
        return sqrt(squares / weights)

    with one_thread():
        return float(kept({"what": f"{NAME} errors", "net": net.checksum, "code": code(*TRAINING)}, make))


@cache
def turn() -> HoldemSubgame:
    """The published game, cut at the end of the turn's betting."""
    return cut_spot(turn_endgame_holdem())


@cache
def player(river_iterations: int) -> Player:
    """The turn, with rivers solved by ``river_iterations`` of Discounted CFR."""
    return Player(turn(), river_iterations, storage=STORAGE)


def leaf_of(source: str, method: str) -> tuple[LeafValue, Mapping[str, Any]]:
    """Leaf values of a source, and their cache key."""
    if source == PERFECT:
        return player(RIVER).endgames, {"exact": RIVER}
    net = network(source, method)
    return HandValues(hand_function(net.path)), {"net": net.checksum}


def searched(source: str, method: str) -> list[float]:
    """Exploitability of the average policy, in chips, after each number of iterations in :data:`POINTS`.

    Rivers are solved for the beliefs that the policy leads to.
    """
    leaf, values = leaf_of(source, method)
    fine = player(FINE)
    search = fine.search(method, POINTS[-1], leaf)

    def judged(point: int) -> float:
        search.run(point - search.iteration)
        return fine.judge(fine.average(search), expected=False).exploitability

    key = {"what": NAME, "game": turn_endgame_holdem().identity, **values, "method": method, "horizon": POINTS[-1]}
    key |= {"rivers": FINE, "storage": STORAGE, "code": code(*SEARCHING)}
    with one_thread():
        return [float(kept({**key, "point": point}, partial(judged, point))) for point in POINTS]


Chips = Mapping[str, Mapping[str, Sequence[float]]]
"""Curves by method and source."""
Cards = Mapping[str, Mapping[str, Any]]
"""Training cost and error of networks by name."""


@study(title="ReBeL, Figure 2: turn endgame hold'em as published, hand networks", place=16, minutes=50, needs=("torch",))
def reproduce() -> Result:
    cards, chips = {}, dict[str, dict[str, list[float]]]()
    for method in METHODS:
        for source in SOURCES[1:]:
            net, name = network(source, method), f"{source}, {EXACT[method]}" if source == OWN else source
            cards[name] = {**net.card, "error": error_of(net)}
        chips[method] = {source: searched(source, method) for source in reversed(SOURCES)}
    paper, whole = published("rebel"), stored("rebel/turn_endgame")
    tabular = dict(zip(whole["iterations"], whole["chips"]["19,000 behind"]["lcfr"], strict=True))
    level = tabular[paper["turn_endgame"]["iterations"]]
    return Result(
        source=f"{paper['source']}; {paper['turn_endgame']['source']}; appendices C.2 and I.",
        findings=findings(chips, cards, level),
        tables=[table(chips, tabular), trainings(cards)],
        pictures=[draw(chips, tabular, level)],
        notes=notes(),
        numbers={"points": POINTS, "chips": chips, "networks": cards},
    )


def findings(chips: Chips, cards: Cards, level: float) -> list[str]:
    """The findings, compared with the paper's claims."""
    paper, last = published("rebel"), {method: {source: own[-1] for source, own in of.items()} for method, of in chips.items()}
    figure, plain = (last[method] for method in METHODS)
    better = {source: "lower" if figure[source] < plain[source] else "higher" for source in (PERFECT, OWN)}
    random = [source for source in KINDS if source != OWN]
    errors = "; ".join(f"{name} {100.0 * card['error']:.1f}%" for name, card in cards.items())
    return [
        f'Published: "{paper["turn_endgame"]["claims"][0]}". That level is {thousandths(level)} mbb/hand here. After '
        f"{POINTS[-1]} iterations of the {EXACT[METHODS[0]]}, search with the network from self-play has "
        f"{thousandths(figure[OWN])} mbb/hand, search with exact values {thousandths(figure[PERFECT])}.",
        f'Published: "{paper["turn_search"]["claims"][1]}". {EXACT[METHODS[1]]} has {thousandths(plain[PERFECT])} mbb/hand '
        f"with exact values and {thousandths(plain[OWN])} with the network from self-play, so exploitability of the "
        f"{EXACT[METHODS[0]]} is {better[PERFECT]} with exact values and {better[OWN]} with the network.",
        f'Published: "{paper["turn_search"]["claims"][2]}". With the {EXACT[METHODS[0]]}: '
        + "; ".join(f"{source} {thousandths(figure[source])} mbb/hand" for source in random)
        + f"; the library's network, from random ranges that resemble those of play, {thousandths(figure[LIBRARY])}.",
        f"Errors of hand values on rivers of self-play: {errors} of the pot.",
    ]


def table(chips: Chips, tabular: Mapping[int, float]) -> Table:
    """All searches."""
    rows = [
        [f"{source}, {EXACT[method]}", *map(thousandths, own[source])] for method, own in chips.items() for source in SOURCES
    ]
    rows.append(["linear CFR on the whole game", *(thousandths(tabular[point]) for point in POINTS)])
    return Table(
        "Exploitability of the average policy in mbb/hand, by number of search iterations", ["", *map(str, POINTS)], rows
    )


def trainings(cards: Cards) -> Table:
    """Cost and errors of the networks."""
    rows = []
    for name, card in cards.items():
        size = ["", "", ""]
        if "rivers" in card:
            size = [f"{card['rivers']:,}", f"{card['sampling']:.0f}", f"{card['fitting']:.0f}"]
        rows.append([name, *size, f"{100.0 * card['error']:.1f}"])
    columns = ["", "rivers", "CPU s of sampling", "CPU s of fitting", "error, % of the pot"]
    return Table("Trained networks, and the error of a hand's value on unseen rivers of self-play", columns, rows)


def draw(chips: Chips, tabular: Mapping[int, float], level: float) -> Picture:
    """A panel for each method."""
    figure, axes = panels(1, 2, size=(11.0, 4.6))
    for panel, (method, own) in zip(axes, chips.items(), strict=True):
        for number, source in enumerate(SOURCES):
            style: dict[str, Any] = line_style(number)
            panel.plot(POINTS, in_thousandths(own[source]), label=source, **style)
        panel.plot(
            [*tabular], in_thousandths([*tabular.values()]), label="whole game, linear CFR", color="#9A9A9A", linewidth=1.2
        )
        panel.axhline(in_thousandths([level])[0], color="#9A9A9A", linewidth=0.9, zorder=1)
        dress(panel, f"Turn endgame hold'em: {EXACT[method]}")
        plain_labels(panel)
        panel.set(xlim=(POINTS[0], 2 * POINTS[-1]), ylim=(60, 12_000), xlabel="iterations (each updates both players)")
        panel.set_xticks([*POINTS, 2 * POINTS[-1]], [str(tick) for tick in (*POINTS, 2 * POINTS[-1])])
        panel.legend(frameon=False, fontsize=9, handlelength=3.2, loc="upper right")
    axes[0].set_ylabel("exploitability, mbb/hand")
    return save(
        figure,
        "rebel-turn-hand-nets.png",
        "Exploitability against iterations of search on turn endgame hold'em, two panels with logarithmic axes: modified "
        "CFR-AVG and CFR-D with exact values, hand networks from self-play, from random beliefs, and the library's; linear CFR "
        "on the whole game, and a line at 125 iterations of it",
    )


def notes() -> list[str]:
    """How it was measured."""
    low, high = PLAY.stacks
    return [
        "The game as published: first bets of half the pot, the pot or all-in, raises of three quarters or all-in, 3s7hTdKs, "
        f"19,000 behind. Training uses any board, {low:,.0f} to {high:,.0f} chips per player, and sizes changed by up to "
        f"{PLAY.perturbed:g} of the pot (appendix C.2).",
        f"A network values one hand at a time from its equity, its blockers and summaries of both ranges, {NETWORK.layers} "
        f"layers of {NETWORK.width}. The paper's network has six layers of 1,536 and outputs all 1,326 hands.",
        f"Self-play: {PLAY.games} turns searched by {PLAY.iterations} iterations of the method with the library's network over "
        f"bins of strength, {PLAY.rivers} rivers from each with {100 * PLAY.exploration:.0f}% exploration, solved by "
        f"{PLAY.river_iterations} iterations of DCFR. In the paper the network that is trained searches. Random beliefs, by "
        "strength: ranges drawn as in DeepStack. Flat: uniformly among all ranges. Both at a random end of the turn's betting, "
        "with the same number of rivers. The paper does not say how it draws random beliefs. All networks are from one seed.",
        "The library's network is trained on random boards, stacks and ranges with other bet sizes. The figure's curve with a "
        "policy network is left out.",
        f"Exact values are from {RIVER} iterations of DCFR for each query. The rivers of an evaluated policy are solved for "
        f"its beliefs by {FINE}. {effort()}",
    ]
