"""Leaf values from a network that reads public belief states (Brown et al. 2020)."""

from treeplex.engine.tree.leaves import rows_reached
from treeplex.forms.subgames.subgame import Places, Ranges
from treeplex.learn.common.networks import Forward, Module
from treeplex.search.encoding import EncodedPlaces, Encoding
from treeplex.search.leaf import Prepared


class NetworkLeaf:
    """Leaf values from a network.

    Attributes:
        encoding: how public belief states look to it.
        net: the network, float32 [K, inputs] to [K, outputs].
        forward: its outputs, float32 [K, outputs].
        prepared: rows for places, kept for as long as the same places are asked for.
    """

    def __init__(self, encoding: Encoding, net: Module) -> None:
        self.encoding, self.net, self.forward = encoding, net, Forward(net)
        self.prepared: Prepared[Places, EncodedPlaces] = Prepared(self._encoded)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        prepared = self.prepared(places)
        # a fifth to a quarter of the leaves get nothing from the other player's current policy
        counted = None if player is None else rows_reached(reached[1 - player])
        outputs = self.forward(prepared.write(believed), counted)
        return prepared.read(outputs, [own.shape[1] for own in believed], player)

    def _encoded(self, places: Places) -> EncodedPlaces:
        """Rows for places."""
        self.forward.refresh()
        return self.encoding.prepared(places)
