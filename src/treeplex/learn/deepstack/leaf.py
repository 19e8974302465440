"""Leaf values from DeepStack's networks for betting rounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import AlgorithmError
from treeplex.games.public import PublicState, PublicTree
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.encoding import EncodedPlaces, Encoding
from treeplex.learn.common.value_net import Forward
from treeplex.learn.deepstack.situations import met_and_believed, pots, round_starts
from treeplex.learn.deepstack.value_net import Module, fresh_net
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.resolving.next_round import NextRoundLeaf
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.subgame import Places, Ranges

ROUND = "round"
"""Prefix of weights' names, followed by the number of deals before the round."""


class DeepStackLeaf(NextRoundLeaf):
    """Leaf values at the ends of betting rounds, from the network for the next round; exactly zero-sum.

    Attributes:
        rounds: the networks.
    """

    def __init__(self, rounds: "RoundNets") -> None:
        super().__init__(rounds)
        self.rounds = rounds


class RoundNets:
    """Hand values at the starts of betting rounds, from one network per round; see :class:`treeplex.search.leaf.LeafValue`.

    Attributes:
        rules: the public-tree rules.
        encoding: encoding of public belief states as network inputs.
        starts: for each round after the first, the public states where it starts.
        nets: each round's network, float32 [n, inputs] to [n, 2H], before values are made zero-sum.
    """

    def __init__(self, rules: PublicTree, *, unit: str, width: int, layers: int, seed: int) -> None:
        """Create untrained networks; see :class:`treeplex.learn.deepstack.settings.DeepStackSettings`.

        Raises:
            SpecError: PyTorch is missing.
            GameError: no round starts with a deal, or the rules do not define features of public states.
        """
        self.rules, self.encoding = rules, Encoding(rules)
        self.starts: Sequence[list[PublicState]] = round_starts(rules)
        sizes = self.encoding.inputs, self.encoding.outputs
        self.nets: list[Module] = [
            fresh_net(unit, *sizes, width=width, layers=layers, seed=seed + k) for k in range(len(self.starts))
        ]
        self._forwards = [Forward(net) for net in self.nets]
        self._round = {rules.future(state.node): k for k, states in enumerate(self.starts) for state in states}
        self._prepared: SingleEntryCache[Places, tuple[EncodedPlaces, list[Ints], Floats]] = SingleEntryCache(self._encoded)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        prepared, rounds, pot = self._prepared(places)
        assert isinstance(places, PairPlaces)
        rows, outputs = prepared.write(believed), np.zeros((len(places), self.encoding.outputs), np.float32)
        for chosen, forward in zip(rounds, self._forwards, strict=True):
            if len(chosen):
                outputs[chosen] = forward(rows, chosen)[chosen]
        values = prepared.read(outputs, places.widths)
        _, joint = met_and_believed(places, believed)
        surplus = sum((weights * value).sum(axis=1, keepdims=True) for weights, value in zip(joint, values, strict=True))
        return tuple(pot * (value - 0.5 * surplus) for value in values)

    def _encoded(self, places: Places) -> tuple[EncodedPlaces, list[Ints], Floats]:
        """Input rows of public states, the rows of each network, and the pots.

        Raises:
            AlgorithmError: a state is not the start of a betting round in the networks' game.
        """
        assert isinstance(places, PairPlaces)
        numbers = [self._round.get(self.rules.future(state.node), -1) for state in places.states]
        if -1 in numbers:
            name = self.rules.name_of(places.states[numbers.index(-1)])
            raise AlgorithmError(f"no round of the networks' game starts at {name}; cut subgames of that game with rounds=1")
        rounds = [np.flatnonzero(np.array(numbers, np.int64) == k) for k in range(len(self.nets))]
        return self.encoding.prepared(places), rounds, pots(places)

    def weights(self) -> dict[str, NDArray[Any]]:
        """Copies of all weights, keyed by round and parameter name."""
        return {
            f"{ROUND}{k}.{name}": tensor.numpy().copy()
            for k, net in enumerate(self.nets, start=1)
            for name, tensor in net.state_dict().items()
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Load the weights of :meth:`weights` into the networks.

        Raises:
            KeyError, RuntimeError: the weights do not fit.
        """
        torch = torch_module()
        for k, net in enumerate(self.nets, start=1):
            names = list(net.state_dict())
            net.load_state_dict({name: torch.from_numpy(np.array(arrays[f"{ROUND}{k}.{name}"])) for name in names})
