"""Long searches with the networks of ``rebel_teh_nets.py``, whose rivers are then solved well: how good the turns are."""

from typing import Any

from kept import code, kept
from rebel_teh_nets_runs import FINE, LONG, SEARCHING, SEED, network
from rebel_teh_search_runs import ITERATIONS, RIVER, STORAGE
from treeplex.forms.holdem.subgame import HoldemSubgame
from treeplex.search.holdem.play_distribution import Player

METHODS = {"lcfr": "CFR-D", "dcfr": "CFR-D by DCFR"}


def well_played(turn: HoldemSubgame, kind: str, method: str, seed: int = SEED) -> list[float]:
    """Exploitability of the average policy at :data:`LONG` iterations of a search with a network, in chips.

    Rivers are solved for its beliefs by :data:`FINE` iterations, many more than in the curves.
    """
    net, card = network(kind, seed)

    def make() -> list[float]:
        player, found = Player(turn, FINE, storage=STORAGE), []
        search = player.search(method, LONG[-1], net.leaf())
        for stop in LONG:
            search.run(stop - search.iteration)
            found.append(player.judge(player.average(search), expected=False).exploitability)
        return found

    return list(kept({**key_of(turn, method), "net": card["checksum"], "points": LONG}, make))


def exactly_searched(turn: HoldemSubgame, method: str) -> float:
    """The same of a search with exact values, after :data:`ITERATIONS` iterations."""

    def make() -> float:
        solving = Player(turn, RIVER, storage=STORAGE)
        search = solving.search(method, ITERATIONS, solving.rivers)
        search.run(ITERATIONS)
        player = Player(turn, FINE, storage=STORAGE)
        return player.judge(player.average(search), expected=False).exploitability

    return float(kept({**key_of(turn, method), "net": "none", "points": ITERATIONS}, make))


def key_of(turn: HoldemSubgame, method: str) -> dict[str, Any]:
    """What decides the numbers."""
    what = {"what": "rebel_teh_nets_long", "game": turn.game.spot.identity, "method": method, "rivers": FINE, "exact": RIVER}
    return what | {"storage": STORAGE, "code": code(*SEARCHING, "rebel_teh_nets_long")}
