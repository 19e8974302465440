"""Add a network trained on full-game hold'em to the library, where ``rebel`` finds it by cards, blinds and stacks.

``python -m papers.rebel.ship_whole_network RUN NAME`` writes ``net.safetensors`` of a ``treeplex train rebel "holdem(...)"`` as
``NAME.safetensors`` into ``src/treeplex/learn/rebel/networks/whole``, weights unchanged; its card states the short training.
Evaluate it with ``rebel/whole_52``.
"""

import argparse

from treeplex.errors import TreeplexError
from treeplex.learn.rebel.files import save_net
from treeplex.learn.rebel.shipped_nets import WHOLE
from treeplex.learn.rebel.training.whole import whole_game, whole_net
from treeplex.learn.rebel.whole.nets import whole_identity

MOST_BYTES = 10_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="RUN", help="a training folder, or a network's file")
    parser.add_argument("name", metavar="NAME", help="the file's name, such as holdem-50bb")
    asked = parser.parse_args()
    try:
        net = whole_net(asked.source, None)
    except TreeplexError as error:
        raise SystemExit(f"error: {error}") from error
    if (size := sum(array.nbytes for array in net.weights.values())) > MOST_BYTES:
        raise SystemExit(f"error: weights of {size:,} bytes, more than {MOST_BYTES:,}; train a narrower network")
    WHOLE.mkdir(parents=True, exist_ok=True)
    path = WHOLE / f"{asked.name}.safetensors"
    minutes = net.card["cpu_seconds"] / 60
    beware = f"trained for {minutes:.0f} minutes of one core: a network to try the agent with, no strong player"
    card = {**net.card, "beware": beware}
    identity = whole_identity(whole_game(net.game)[1])
    save_net(path, net.weights, game=net.game, identity=identity, settings=net.settings, card=card)
    print(f"wrote {path}: {size:,} bytes, {net.card['solved']:,} streets, {beware}")


if __name__ == "__main__":
    main()
