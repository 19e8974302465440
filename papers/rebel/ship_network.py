"""Add a trained ReBeL network to the library, with its exploitability on its card.

``python -m papers.rebel.ship_network 1x4f RUN`` evaluates ``net.safetensors`` of a finished ``treeplex train rebel`` as
``treeplex evaluate`` does, and writes it as ``liars_dice-1x4f.safetensors`` into ``src/treeplex/learn/rebel/networks``, weights
unchanged, with the result on its card. RUN may also be a network's file. ``--suffix flop`` writes an additional
``liars_dice-1x4f-flop.safetensors``. If a game has several networks, ``rebel`` is the one with the lowest exploitability on its
card, so all must be evaluated with equal numbers of playthroughs and iterations. A label that is not one of the paper's games
is used as the file's name.
"""

import argparse
from datetime import UTC, datetime

from papers.common.results import published
from treeplex.base.settings import pairs
from treeplex.errors import TreeplexError
from treeplex.learn import RebelJudgement, judge_rebel, shipped_nets
from treeplex.learn.rebel.files import NetFile, read_net, save_net
from treeplex.learn.rebel.shipped_nets import SHIPPED
from treeplex.learn.rebel.training.job import NET, is_rebel_folder
from treeplex.learn.rebel.training.judge import net_of
from treeplex.search import public_tree

KEPT = ("exploitability", "playthroughs", "iterations", "method", "depth", "rounds", "endgame", "warm", "seed", "settled")
"""Evaluation results on a card."""


def arguments() -> argparse.Namespace:
    """Command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("label", metavar="GAME_LABEL", help="1x4f, 1x5f, 1x6f or 2x3f, or the file's name")
    parser.add_argument("source", metavar="RUN", help="a training folder, or a network's file")
    parser.add_argument("--suffix", help="suffix of the file's name, such as flop, for another network for the game")
    parser.add_argument("--playthroughs", type=int, default=256, metavar="N")
    parser.add_argument("--iterations", type=int, default=256, metavar="T")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as in evaluate: --set endgame=32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    return parser.parse_args()


def ship(net: NetFile, name: str, found: RebelJudgement) -> None:
    """Write the network under a name, with its evaluation."""
    judged = {key: value for key, value in found.to_json().items() if key in KEPT}
    judged["date"] = datetime.now(UTC).date().isoformat()
    SHIPPED.mkdir(exist_ok=True)
    path = SHIPPED / f"{name}.safetensors"
    card = {**net.card, "judged": judged}
    save_net(path, net.weights, game=net.game, identity=net.identity, settings=net.settings, card=card)
    print(f"wrote {path}: exploitability {judged['exploitability']:.4e}")


def main() -> None:
    asked = arguments()
    games = published("rebel")["games"]
    name = f"liars_dice-{asked.label}" if asked.label in games else asked.label
    name += f"-{asked.suffix}" if asked.suffix else ""
    try:
        # the file, of which no parts of judgements are kept: what goes on the card is found by this version
        source = f"{asked.source}/{NET}" if is_rebel_folder(asked.source) else asked.source
        game = games.get(asked.label) or read_net(source).game
        net = net_of(source, public_tree(game))
        for other in shipped_nets().values():
            judged = other.card["judged"]
            counts = judged["playthroughs"], judged["iterations"]
            if other.identity == net.identity and other.path.stem != name and counts != (asked.playthroughs, asked.iterations):
                raise SystemExit(f"error: {other.path.name} was evaluated with N, T = {counts}; use the same for both")
        found = judge_rebel(
            game,
            source,
            playthroughs=asked.playthroughs,
            iterations=asked.iterations,
            search=pairs(asked.set),
            seed=asked.seed,
            workers=asked.workers,
            watch=lambda done, total, left: print(f"{done}/{total} playthroughs", flush=True),
        )
    except TreeplexError as error:
        raise SystemExit(f"error: {error}") from error
    ship(net, name, found)


if __name__ == "__main__":
    main()
