"""Trainings and searches of ``rebel_teh_nets.py``: networks for turns with 52 cards, and what search plays with them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kept import FOLDER, code, kept
from rebel_teh_search_runs import RIVER, STORAGE, Curve, points, spot
from results import machine
from treeplex.forms.holdem.subgame import HoldemSubgame
from treeplex.forms.subgames.subgame import Ranges
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.rebel.files import read_net
from treeplex.learn.rebel.holdem_self_play import flat_range, random_range
from treeplex.learn.rebel.holdem_trainer import HoldemRebelSettings, save_rivers
from treeplex.learn.rebel.river_net import RiverNet, read_river_net
from treeplex.learn.rebel.river_targets import River
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.search.holdem.play_distribution import Player
from treeplex.search.holdem.strength_bins import RiverBins
from treeplex.search.search_trace import steps

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
"""Iterations of long searches with networks, of which the average policy is judged."""
DOMAINS = ("CFR-D's iterations", "averages", "random by strength", "random, flat")
"""Where networks are asked: below the ends of an exact search of the turn, for these beliefs."""
LOOKS, FINE = (2, 4, 8, 16), 256
"""Iterations of that search at which they are, and of the rivers that they are compared with."""
BINS = (16, 32, 64, 128, 256)
TRAINING = (
    *(
        "treeplex.learn.rebel.holdem_trainer",
        "treeplex.learn.rebel.holdem_self_play",
        "treeplex.learn.rebel.river_targets",
        "treeplex.learn.rebel.river_net",
    ),
    *(
        "treeplex.learn.common.fitting",
        "treeplex.learn.rebel.value_net",
        "treeplex.learn.common.replay",
        "treeplex.learn.rebel.random_beliefs",
    ),
    "treeplex.search.holdem.strength_bins",
    *(
        "treeplex.search.subgame",
        "treeplex.forms.subgames.beliefs",
        "treeplex.solvers.holdem.solver",
        "treeplex.solvers.rules.variants",
    ),
    *("treeplex.engine.holdem.strength_bins", "treeplex.engine.networks.mlp_batch", "treeplex.engine.holdem"),
    *(
        "treeplex.forms.holdem.subgame",
        "treeplex.forms.holdem.compile_spot",
        "treeplex.forms.holdem.boards",
        "treeplex.games.poker",
    ),
    *(
        "treeplex.forms.holdem.betting_forest",
        "treeplex.search.leaf",
        "treeplex.engine.tree.regret",
        "treeplex.learn.common.schedules",
    ),
)
SEARCHING = (
    *(*TRAINING, "rebel_teh_nets_runs", "rebel_teh_search_runs", "treeplex.evaluate.holdem.judge"),
    *("treeplex.search.holdem.play_distribution", "treeplex.search.holdem.endgames", "treeplex.search.search_trace"),
)
"""What decides the numbers of a training, and of a search, besides settings; see ``kept.py``."""


def network(kind: str, seed: int = SEED) -> tuple[RiverNet, dict[str, Any]]:
    """A trained network and its card; from ``runs/papers`` if the same code trained it before on this machine."""
    settings = replace(SETTINGS, source=KINDS[kind], seed=seed)
    key = {"game": spot().identity, "settings": asdict(settings), "code": code(*TRAINING), "machine": machine(1)}
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    path = FOLDER / f"rebel-teh-{settings.source}-{seed}-{digest}.safetensors"
    if not path.is_file():
        FOLDER.mkdir(parents=True, exist_ok=True)
        trainer, began, losses = RebelTrainer(spot(), settings), process_time(), []
        while not trainer.finished:
            losses.append(trainer.round().loss)
        save_rivers(trainer, path, seconds=process_time() - began, loss=float(np.mean(losses[-len(losses) // 10 :])))
    found = read_net(path)
    return read_river_net(path), {**found.card, "checksum": found.checksum}


def searched_with(turn: HoldemSubgame, kind: str, method: str, seed: int = SEED) -> Curve:
    """Curves of a search with a network, rivers played by solutions."""
    net, card = network(kind, seed)
    key = {"what": "rebel_teh_nets", "net": card["checksum"], "game": turn.game.spot.identity, "method": method}
    key |= {"river": RIVER, "points": points(), "storage": STORAGE, "code": code(*SEARCHING)}
    return dict(kept(key, lambda: Player(turn, RIVER, storage=STORAGE).curve(method, points(), net.leaf())))


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

    key = {"what": "rebel_teh_nets long", "net": card["checksum"], "game": turn.game.spot.identity, "points": LONG}
    return dict(kept({**key, "river": RIVER, "storage": STORAGE, "code": code(*SEARCHING)}, make))


def river_errors(turn: HoldemSubgame, seed: int = SEED) -> dict[str, dict[str, float]]:
    """Root mean square error of values of hands on rivers, in parts of the pot, by what values them and by :data:`DOMAINS`.

    Values come from each network, and from exact values after they were put into so many bins (:data:`BINS`): the least error
    that a network of that many bins can have. All hands of both players count alike.
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

    key = {"what": "rebel_teh_nets errors", "nets": [card["checksum"] for _, card in nets.values()], "looks": LOOKS}
    key |= {"bins": BINS, "fine": FINE, "river": RIVER, "game": turn.game.spot.identity}
    return dict(kept({**key, "storage": STORAGE, "code": code(*SEARCHING)}, make))


def hands_error(rivers: Sequence[River], outputs: NDArray[Any]) -> float:
    """Of values of bins [n, 2B], read off for hands."""
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
            for card in generator.choice([card for card in spot.format.deck if card not in spot.board], 4, replace=False):
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
    """Every hand alike."""
    return np.ones(len(spot.format.hands)), np.ones(len(spot.format.hands))
