"""File format of ReBeL's networks: safetensors with a model card as metadata. Loading executes no code and needs no pickle."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from_bytes
from safetensors.numpy import save as bytes_from_arrays

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import open_regular, parse_json, read_bytes, tensor_metadata
from treeplex.base.version import own_version
from treeplex.errors import FileError, PolicyError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.learn.common.value_net import NetFactory
from treeplex.learn.rebel.nets import load_weights, networks
from treeplex.learn.rebel.network_leaf import NetworkLeaf, Origin
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.identity import public_identity

USUAL_ITERATIONS = 256
FORMAT, VERSION = "treeplex value network", 1
MAKERS = "train rebel"
Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class NetFile:
    """Contents of a network file: a value network and, optionally, a policy network.

    Attributes:
        path: the file.
        game, identity: spec of the game, and :func:`treeplex.search.subgames.identity.public_identity` of its rules.
        settings: the training settings by name; ``width`` and ``layers`` are the networks'.
        card: amount of training: ``solved``, ``steps``, ``seconds``.
        weights: float32 arrays by PyTorch's names; those of a policy network have the prefix ``policy.``.
        checksum: SHA-256 of all of the above.
    """

    path: Path
    game: str
    identity: str
    settings: Mapping[str, Any]
    card: Mapping[str, Any]
    weights: Arrays
    checksum: str

    @property
    def name(self) -> str:
        """Path of the file, or ``rebel:NAME`` for a shipped network."""
        return f"rebel:{self.path.stem}" if self.path.parent == Path(__file__).parent / "networks" else str(self.path)

    def __repr__(self) -> str:
        return f"<value network {self.name} for {self.game}>"

    @property
    def play_iterations(self) -> int:
        """Default iterations T per search in play: the value on the model card or, if it has none, the value used in training.

        More iterations can be worse, since the network has learned the values of searches with the T used in training.
        """
        return int(self.card.get("judged", {}).get("iterations", 0)) or int(self.settings.get("iterations", USUAL_ITERATIONS))

    def searching(self, **changes: Any) -> PlaythroughSettings:
        """The search settings used in training, with changes; None leaves a setting unchanged."""
        names = ("method", "depth", "rounds", "endgame")
        known = {name: self.settings[name] for name in names if name in self.settings}
        return PlaythroughSettings(**known | {name: value for name, value in changes.items() if value is not None})

    @property
    def horizon(self) -> Horizon:
        """Horizon of subgames in training. The network is valid only at public states where such subgames start."""
        return self.searching().horizon

    def leaf(self, rules: PublicTree | str | Game | None = None, net: NetFactory | str | None = None) -> NetworkLeaf:
        """Leaf values from this network; a policy network warm-starts searches.

        The leaf values warn at public states that the network was not trained for (:attr:`horizon`).

        Args:
            rules: public-tree rules of the game, or its spec or rules; None for the game that the file names.
            net: factory of a custom network, or its name ``file.py:NAME``, since reading the network file executes no code.

        Raises:
            SpecError: PyTorch is missing.
            PolicyError: the network was trained on different rules.
            FileError: the network does not fit the rules, a custom network's factory is not given, or the game is custom and
                not given.
        """
        rules = public_tree(self.game, named_in=self.path) if rules is None else public_tree(rules)
        if self.identity != public_identity(rules):
            raise PolicyError(f"{self.name} is a network for {self.game}, not for these rules; give the game it was trained on")
        custom = self.settings.get("net")
        if custom and net is None:
            raise FileError(
                f"{self.path} has a custom network, whose code is not run from a file; name it again: --set net={custom}"
            )
        try:
            settings = RebelSettings.from_json(self.settings, self.path)
            leaf = networks(rules, replace(settings, net=net)) if isinstance(net, str) else networks(rules, settings, net)
            load_weights(leaf, self.weights)
            leaf.origin = Origin(self.name, rules, self.searching(iterations=self.play_iterations))
        except (KeyError, ValueError, TypeError, RuntimeError) as error:
            raise FileError(
                f"{self.path}: the network for {self.game} does not fit the rules ({error}); give the game it was trained on"
            ) from error
        return leaf


def save_net(
    path: str | os.PathLike[str],
    weights: Arrays,
    *,
    game: str,
    identity: str,
    settings: Mapping[str, Any],
    card: Mapping[str, Any],
    form: str = FORMAT,
) -> None:
    """Write a network atomically to a file, or several networks to a file of another format.

    Raises:
        FileError: the file cannot be written.
    """
    header = {
        "format": form,
        "format_version": VERSION,
        "treeplex": own_version(),
        "game": game,
        "identity": identity,
        "settings": dict(settings),
        "card": dict(card),
    }
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}
    header["checksum"] = checksum(header, arrays)
    write_atomically(path, bytes_from_arrays(arrays, metadata={"header": json.dumps(header)}))


def read_net(path: str | os.PathLike[str], *, form: str = FORMAT, makers: str = MAKERS) -> NetFile:
    """Read a network file, or a file of another format; ``makers`` names the commands that write such files, for error
    messages.

    Raises:
        FileError: the file is missing, truncated, corrupted, from another version, or has non-finite weights.
    """
    data = read_bytes(path)
    try:
        header = parse_json(tensor_metadata(data)["header"])
        weights = arrays_from_bytes(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: truncated or not a value network; give one that {makers} wrote") from error
    if not isinstance(header, dict) or header.get("format") != form:
        raise FileError(f"{path}: not a value network; give one that {makers} wrote")
    if header.get("format_version") != VERSION:
        version = header.get("format_version")
        raise FileError(f"{path}: format version {version}, but this Treeplex reads {VERSION}; use the version that wrote it")
    if header.get("checksum") != checksum(header, weights):
        raise FileError(f"{path}: the file was changed after it was written (the checksum differs); restore a backup")
    if not all(np.isfinite(array).all() for array in weights.values()):
        raise FileError(f"{path}: some weights are not finite; use an earlier network")
    about = {name: header[name] for name in ("game", "identity", "settings", "card", "checksum")}
    return NetFile(path=Path(path), weights=weights, **about)


def is_net_file(path: str | os.PathLike[str], *, form: str = FORMAT) -> bool:
    """Whether a file's header marks it as a value network, or as another format."""
    source = Path(path)
    if source.suffix != ".safetensors" or not os.path.isfile(source):
        return False
    with open_regular(source) as file:
        size = int.from_bytes(file.read(8), "little")
        return f'"{form}"'.encode() in file.read(min(size, 1 << 16)).replace(b"\\", b"")


def checksum(header: Mapping[str, Any], arrays: Arrays) -> str:
    """SHA-256 of the header (without the checksum) and of the weights."""
    rest = {key: value for key, value in header.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(json.dumps([name, list(arrays[name].shape)]).encode())
        digest.update(np.ascontiguousarray(arrays[name], "<f4").tobytes())
    return digest.hexdigest()
