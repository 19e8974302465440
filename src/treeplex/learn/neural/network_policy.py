"""Network policies for compiled games, stored in small files, and the shipped network policies."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from treeplex.base.spec import nearest
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.views.infoset_tensors import infoset_tensors
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.views import TENSOR, View
from treeplex.learn.neural.features import largest_in, varying_columns
from treeplex.learn.neural.fitting.approximator import Network
from treeplex.learn.neural.frame import NeuralLearner

SHIPPED, SUFFIX = Path(__file__).parent / "networks", ".safetensors"
WORD = "network:"
"""Prefix for a shipped network's name, which can be given in place of a file."""


def network_policy(learner: NeuralLearner, networks: Sequence[Network]) -> NeuralPolicy:
    """Create a policy from one network per player, such as those of a learned average.

    A learner's networks see only the columns of ``information_state_tensor`` that vary; here they see all columns, with zero
    weights for the constant ones.

    Raises:
        AlgorithmError: the networks were not trained on the rules' tensors.
    """
    game, tensors = learner.compiled, infoset_tensors(learner.compiled)
    varying = None if tensors is None else varying_columns(tensors)
    if tensors is None or varying is None or varying.sum() != learner.infosets.features.shape[1]:
        raise AlgorithmError(f"the networks for {game} do not use information_state_tensor; train with features=tensor")
    scale = np.where(varying, largest_in(tensors), 1.0).astype(np.float32)
    ids, players_layers = np.unique(game.action_ids[learner.slots]), []
    for player, network in enumerate(networks):
        layers = list(network.copied_layers())
        first = np.zeros((len(layers[0][0]), len(varying)), np.float32)
        first[:, varying] = layers[0][0]
        layers[0] = first, layers[0][1]
        columns = np.searchsorted(ids, np.unique(game.action_ids[learner.slots[learner.slots_of(player)]]))
        matrix, biases = np.zeros((len(ids), layers[-1][0].shape[1]), np.float32), np.zeros(len(ids), np.float32)
        matrix[columns], biases[columns] = layers[-1]
        players_layers.append([*layers[:-1], (matrix, biases)])
    return NeuralPolicy(game.spec, game.players, View(TENSOR, scale, tuple(map(int, ids))), players_layers)


def shipped_networks() -> dict[str, Path]:
    """Files of all shipped networks, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob(f"*{SUFFIX}"))}


def shipped_network(text: str) -> Path | None:
    """The file that ``network:NAME`` refers to; None for any other text.

    Raises:
        SpecError: unknown name.
    """
    if not text.startswith(WORD):
        return None
    name, known = text.removeprefix(WORD), shipped_networks()
    if name not in known:
        listed = ", ".join(WORD + network_name for network_name in known)
        raise SpecError(f"unknown network {text}{nearest(name, known)}; known: {listed}")
    return known[name]


__all__ = ["network_policy", "shipped_network", "shipped_networks"]
