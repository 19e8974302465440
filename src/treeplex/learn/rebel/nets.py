"""ReBeL's policy network (Brown et al. 2020, section 5.3, appendix E), which warm-starts searches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.games.public import PublicTree
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.encoding import EncodedPlaces, Encoding
from treeplex.learn.common.value_net import Forward, Module, NetFactory, custom_net, network_text, value_net
from treeplex.learn.rebel.network_leaf import NetworkLeaf
from treeplex.learn.rebel.policy_encoding import STEPS, PolicyEncoding
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.subgames.batch import Subgames
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import guess_of

Arrays = Mapping[str, NDArray[Any]]
PREFIX = "policy."
"""Prefix of a policy network's weights in a file that also has a value network's."""


class NetworkGuess:
    """Initial policies from a network whose outputs are logits.

    Attributes:
        encoding: the encoding of its input rows.
        net: the network, float32 [K, inputs] to [K, H * A].
        forward: evaluates the network.
    """

    def __init__(self, encoding: PolicyEncoding, net: Module) -> None:
        self.encoding, self.net, self.forward = encoding, net, Forward(net)
        self._prepared: SingleEntryCache[Subgames, tuple[Ints, EncodedPlaces]] = SingleEntryCache(self._encoded)

    def __repr__(self) -> str:
        return f"<policy network: {network_text(self.net)}>"

    def __call__(self, subgames: Subgames, rows: Ints, reached: Ranges, policy: Floats) -> None:
        table, prepared = self._prepared(subgames)
        sequences, from_numpy = table[rows], torch_module().from_numpy
        logits, legal = self.forward(prepared.write(reached), rows)[rows], (sequences >= 0).any(axis=1)
        policies = probabilities(from_numpy(logits), from_numpy(legal)).numpy()
        policy[sequences[sequences >= 0]] = policies[sequences >= 0]

    def _encoded(self, subgames: Subgames) -> tuple[Ints, EncodedPlaces]:
        """Sequences and input rows for all decisions of a batch of subgames."""
        self.forward.refresh()
        return self.encoding.table(subgames), self.encoding.encoding.prepared(subgames.decisions)


def probabilities(logits: Any, legal: Any) -> Any:
    """Policies [K, H, A] from outputs [K, H * A]: a softmax over legal actions, bool [K, A]."""
    split = logits.reshape(len(legal), -1, legal.shape[1])
    return split.masked_fill(~legal[:, None], -torch_module().inf).softmax(dim=-1)


def policy_loss(net: Module, inputs: Any, targets: Any, legal: Any) -> Any:
    """Mean squared error of probabilities, over hands with a target and legal actions."""
    counted = (targets.any(dim=-1, keepdim=True) & legal[:, None]).float()
    errors = (probabilities(net(inputs), legal) - targets.float() / STEPS) ** 2
    return (errors * counted).sum() / counted.sum().clamp(min=1.0)


def policy_entropy(net: Module, inputs: Any, targets: Any, legal: Any) -> Any:
    """Mean cross entropy of policies, over hands with a target."""
    logits = net(inputs).reshape(len(legal), -1, legal.shape[1])
    shares = logits.masked_fill(~legal[:, None], -torch_module().inf).log_softmax(dim=-1).masked_fill(~legal[:, None], 0.0)
    counted = targets.any(dim=-1).sum()
    return -(targets.float() / STEPS * shares).sum() / counted.clamp(min=1)


def networks(rules: PublicTree, settings: RebelSettings, net: NetFactory | None = None) -> NetworkLeaf:
    """Create untrained networks; the settings determine whether there is a policy network.

    Args:
        rules: the game's rules.
        settings: the training settings; their ``net`` names a custom value network, whose file is executed.
        net: factory of the value network, in place of ``settings.net``.

    Raises:
        SpecError: PyTorch is missing, or a custom network does not fit.
        GameError: the rules do not define features, or have too many public nodes for a policy network.
    """
    encoding, sizes = Encoding(rules), {"width": settings.width, "layers": settings.layers, "seed": settings.seed}
    if custom := net or settings.net:
        values = custom_net(custom, encoding.inputs, encoding.outputs, seed=settings.seed)
    else:
        values = value_net(encoding.inputs, encoding.outputs, **sizes)
    if not settings.policy_net:
        return NetworkLeaf(encoding, values)
    policies = PolicyEncoding(encoding)
    guess = NetworkGuess(policies, value_net(encoding.inputs, policies.outputs, **sizes))
    return NetworkLeaf(encoding, values, guess, settings.warm)


def modules_of(leaf: Any) -> dict[str, Module]:
    """The networks of a leaf value, keyed by the prefix of their weight names."""
    guess = guess_of(leaf)
    return {"": leaf.net} | ({} if guess is None else {PREFIX: guess.net})


def weights_of(leaf: Any) -> dict[str, NDArray[Any]]:
    """Copies of a leaf value's weights by name; those of a policy network start with :data:`PREFIX`."""
    modules = modules_of(leaf).items()
    return {prefix + name: weights.numpy().copy() for prefix, net in modules for name, weights in net.state_dict().items()}


def load_weights(leaf: Any, arrays: Arrays) -> None:
    """Load the weights of :func:`weights_of` into networks.

    Raises:
        RuntimeError: the weights do not fit.
    """
    torch = torch_module()
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    guesses = {name.removeprefix(PREFIX): tensors.pop(name) for name in list(tensors) if name.startswith(PREFIX)}
    modules = modules_of(leaf)
    modules[""].load_state_dict(tensors)
    if PREFIX in modules:
        modules[PREFIX].load_state_dict(guesses)
    elif guesses:
        raise RuntimeError("the state has weights of a policy network, but this run has no policy network")
