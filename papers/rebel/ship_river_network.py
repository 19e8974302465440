"""Add the self-play network of ``turn_networks.py`` to the library, with the exploitability of search with it.

``python -m papers.rebel.ship_river_network`` trains the network if ``runs/papers`` has none of the same code, searches the turn
of ``turn_networks.py`` with it as ``treeplex holdem search`` does, and writes it where ``rebel`` finds it, weights unchanged,
with the exploitability of the average policy on its card.
"""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from papers.rebel.turn_networks import KINDS, SEED, SETTINGS, network
from papers.rebel.turn_search import spot
from treeplex.learn.first_street.search import ITERATIONS, METHOD, search_spot
from treeplex.learn.rebel.shipped_nets import RIVERS
from treeplex.learn.rebel.turns.nets import save_turn_leaf

KIND, RIVER = "self-play", 256
"""The network, and iterations of river solves in its evaluation."""


def main() -> None:
    turn, (net, card) = spot(), network(KIND)
    settings = asdict(replace(SETTINGS, source=KINDS[KIND], seed=SEED))
    about = {name: value for name, value in card.items() if name != "checksum"} | {"spot": turn.to_json()}
    with TemporaryDirectory() as folder:
        draft = Path(folder) / RIVERS.name
        save_turn_leaf(net.leaf(), draft, settings=settings, card=about)
        found = search_spot(turn, draft, iterations=ITERATIONS, river=RIVER, judge=True).played
    assert found is not None
    judged = {"spot": turn.identity, "method": METHOD, "iterations": ITERATIONS, "river": RIVER}
    judged |= {"exploitability": found.exploitability, "date": datetime.now(UTC).date().isoformat()}
    RIVERS.parent.mkdir(parents=True, exist_ok=True)
    save_turn_leaf(net.leaf(), RIVERS, settings=settings, card={**about, "judged": judged})
    print(f"wrote {RIVERS.name}: exploitability {found.exploitability:.4g} chips")


if __name__ == "__main__":
    main()
