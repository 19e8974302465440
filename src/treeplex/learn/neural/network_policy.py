"""Networks that learners of compiled games leave, as policies on rules in small files; and those that come with the library."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from treeplex.base.spec import nearest
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.views.infoset_tensors import infoset_tensors
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.views import TENSOR, View
from treeplex.learn.neural.features import changing, largest_in
from treeplex.learn.neural.fitting.approximator import Network
from treeplex.learn.neural.frame import NeuralLearner

SHIPPED, SUFFIX = Path(__file__).parent / "networks", ".safetensors"
WORD = "network:"
"""Before the name of one that comes with the library, in place of a file."""


def network_policy(learner: NeuralLearner, networks: Sequence[Network]) -> NeuralPolicy:
    """A policy from a network of each player, such as a learned average has them.

    A learner's networks see the columns of ``information_state_tensor`` that differ between infosets; here they see all, the
    others with weights of zero.

    Raises:
        AlgorithmError: the networks do not see tensors of the rules.
    """
    game, tensors = learner.compiled, infoset_tensors(learner.compiled)
    kept = None if tensors is None else changing(tensors)
    if tensors is None or kept is None or kept.sum() != learner.infosets.features.shape[1]:
        raise AlgorithmError(f"the networks for {game} see no information_state_tensor; train with features=tensor")
    scale = np.where(kept, largest_in(tensors), 1.0).astype(np.float32)
    ids, found = np.unique(game.action_ids[learner.slots]), []
    for player, network in enumerate(networks):
        layers = list(network.copied_layers())
        first = np.zeros((len(layers[0][0]), len(kept)), np.float32)
        first[:, kept] = layers[0][0]
        layers[0] = first, layers[0][1]
        own = np.searchsorted(ids, np.unique(game.action_ids[learner.slots[learner.slots_of(player)]]))
        matrix, biases = np.zeros((len(ids), layers[-1][0].shape[1]), np.float32), np.zeros(len(ids), np.float32)
        matrix[own], biases[own] = layers[-1]
        found.append([*layers[:-1], (matrix, biases)])
    return NeuralPolicy(game.spec, game.players, View(TENSOR, scale, tuple(map(int, ids))), found)


def shipped_networks() -> dict[str, Path]:
    """The files of all networks that come with the library, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob(f"*{SUFFIX}"))}


def shipped_network(text: str) -> Path | None:
    """The file that ``network:NAME`` means; None for another text.

    Raises:
        SpecError: there is none of that name.
    """
    if not text.startswith(WORD):
        return None
    name, known = text.removeprefix(WORD), shipped_networks()
    if name not in known:
        listed = ", ".join(WORD + each for each in known)
        raise SpecError(f"unknown network {text}{nearest(name, known)}; known: {listed}")
    return known[name]


__all__ = ["network_policy", "shipped_network", "shipped_networks"]
