"""Files for DeepStack's networks, and leaf values from them."""

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
"""Name of the networks' file in a training folder."""
FORM = "treeplex networks for betting rounds"


def read_round_nets(path: str | os.PathLike[str]) -> NetFile:
    """Read a file of networks, or the one in a training folder.

    Raises:
        FileError: the file is missing, truncated, corrupted, from another version, or not a file of DeepStack networks.
    """
    file = Path(path) / NETS if Path(path).is_dir() else Path(path)
    return read_net(file, form=FORM, makers="train deepstack")


def deepstack_leaf(path: str | os.PathLike[str], rules: PublicTree | str | Game) -> DeepStackLeaf:
    """Leaf values at the ends of betting rounds from the networks in a training folder or file.

    Args:
        path: folder of a ``deepstack`` training run, or its ``nets.safetensors``.
        rules: public-tree rules of the game that the networks were trained on, or the game's spec or rules.

    Raises:
        FileError: the file cannot be read.
        PolicyError: the networks were trained on another game.
        SpecError: PyTorch is missing.
    """
    file, rules = read_round_nets(path), public_tree(rules)
    if file.identity != public_identity(rules):
        raise PolicyError(f"{path} has networks for {file.game}, not for these rules; give the game they were trained on")
    try:
        unit, width, layers = (file.settings[name] for name in ("unit", "width", "layers"))
        nets = RoundNets(rules, unit=str(unit), width=int(width), layers=int(layers), seed=0)
        nets.load(file.weights)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise FileError(
            f"{path}: the networks for {file.game} do not fit the rules ({error}); give the game they were trained on"
        ) from error
    return DeepStackLeaf(nets)
