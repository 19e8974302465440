"""Conversion of training folders of ReBeL on full-game hold'em that were written during the development of 0.1.0::

    python -m treeplex.learn.rebel.training.convert FOLDER

Their identity of the game was computed from names of Python classes. The conversion replaces it in ``run.json``, the network
and the checkpoint; everything else stays the same. Converting a folder twice changes nothing.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

from treeplex.errors import TreeplexError
from treeplex.learn.rebel.files import read_net, save_net
from treeplex.learn.rebel.training.job import NET
from treeplex.learn.rebel.training.whole import WHOLE, whole_game
from treeplex.learn.rebel.whole.nets import leaf_of, whole_identity
from treeplex.run.job.checkpoint import position_of, write_checkpoint
from treeplex.run.job.folder import JobFolder


def convert(path: str | os.PathLike[str]) -> None:
    """Give a training folder the identity that this version computes for its game.

    Raises:
        FileError: not a training folder of ReBeL on full-game hold'em, in use, damaged, or its network does not fit the game.
    """
    folder, net_path = JobFolder(WHOLE, path), Path(path) / NET
    with folder:
        about = folder.reopen()
        game = whole_game(about["game"], folder.path)[1]
        identity = whole_identity(game)
        if net_path.exists():
            net = read_net(net_path)
            leaf_of(net, game)
            save_net(net_path, net.weights, game=net.game, identity=identity, settings=net.settings, card=net.card)
        if about["last"] is not None:
            with folder.state() as file:
                position = replace(position_of(file), identity=identity)
                arrays = {name: file[name].copy() for name in file}
            write_checkpoint(Path(file.path), position, arrays)
        # The description comes last: until it is written, an interrupted conversion can be repeated.
        folder.describe({**about, "identity": identity}, status=about["status"], records=folder.records())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m treeplex.learn.rebel.training.convert FOLDER")
    try:
        convert(sys.argv[1])
    except TreeplexError as error:
        sys.exit(f"error: {error}")
    print(f"{sys.argv[1]} can be resumed with this version")
