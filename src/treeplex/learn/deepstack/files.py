"""DeepStack's networks as a file, and the leaf that reads them."""

import os
from pathlib import Path

from treeplex.errors import FileError, PolicyError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.learn.deepstack.leaf import DeepStackLeaf, RoundNets
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.search.subgames.identity import public_identity

NETS = "nets.safetensors"
"""The networks in a training's folder."""
FORM = "treeplex networks for betting rounds"


def read_round_nets(path: str | os.PathLike[str]) -> NetFile:
    """Read a file of networks, or that in a training's folder.

    Raises:
        FileError: missing, truncated, changed, of another version, or something else.
    """
    file = Path(path) / NETS if Path(path).is_dir() else Path(path)
    return read_net(file, form=FORM, makers="train deepstack")


def deepstack_leaf(path: str | os.PathLike[str], rules: PublicTree | str | Game) -> DeepStackLeaf:
    """Leaf values where betting rounds end, by the networks of a training's folder or file.

    Args:
        path: the folder of a training by ``deepstack``, or its ``nets.safetensors``.
        rules: the public-tree rules of the game that it was trained on, or its spec or rules.

    Raises:
        FileError: it cannot be read.
        PolicyError: networks of another game.
        SpecError: PyTorch is missing.
    """
    found, rules = read_round_nets(path), public_tree(rules)
    if found.identity != public_identity(rules):
        raise PolicyError(f"{path} has networks for {found.game}, not for these rules; give the game that they were trained on")
    try:
        unit, width, layers = (found.settings[name] for name in ("unit", "width", "layers"))
        nets = RoundNets(rules, unit=str(unit), width=int(width), layers=int(layers), seed=0)
        nets.load(found.weights)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise FileError(f"{path}: networks for {found.game} that do not fit the rules ({error})") from error
    return DeepStackLeaf(nets)
