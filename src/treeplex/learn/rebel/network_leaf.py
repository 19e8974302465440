"""Leaf values from a network over public belief states (Brown et al. 2020)."""

import warnings
from collections.abc import Hashable
from functools import cached_property
from typing import Any

from treeplex.engine.tree.leaves import rows_reached
from treeplex.games.public import PublicTree, pair_state
from treeplex.learn.common.encoding import EncodedPlaces, Encoding
from treeplex.learn.common.value_net import Forward, Module, network_text
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.horizon import subgame_roots
from treeplex.search.subgames.subgame import Places, Ranges


class Origin:
    """Origin of a network that was read from a file.

    Attributes:
        name: the file, or ``rebel:NAME``.
        rules: the public-tree rules.
        searching: search settings used in training; the network is valid for the public states where its subgames start.
    """

    def __init__(self, name: str, rules: PublicTree, searching: PlaythroughSettings) -> None:
        self.name, self.rules, self.searching = name, rules, searching
        self._warned = False

    @cached_property
    def roots(self) -> frozenset[Hashable] | None:
        """Set of futures at the public nodes where subgames start in training; None if there are too many to list."""
        return subgame_roots(self.rules, self.searching.horizon)

    def check(self, places: Places) -> None:
        """Warn once about public states that the network was not trained for."""
        if self._warned or self.roots is None:
            return
        states = [pair_state(state) for state in places.states]
        others = [state for state in states if self.rules.future(state.node) not in self.roots]
        if others:
            self._warned = True
            warnings.warn(
                f"{self.name} was not trained for {len(others)} of the {len(states)} public states "
                f"evaluated, such as {places.game.name_of(others[0])}; its values are meaningless there: "
                f"cut subgames at its own horizon, {self.searching.horizon}",
                stacklevel=2,
            )


class NetworkLeaf:
    """Leaf values from a network.

    Attributes:
        encoding: encoding of public belief states as network inputs.
        net: the network, float32 [K, inputs] to [K, outputs].
        forward: evaluates the network, float32 [K, outputs].
        prepared: cached input rows for the most recent public states.
        origin: origin of a network that was read from a file; None during training.
        guess: initial policies from another network, for warm starts; None without one.
        warm: number of iterations that a warm start counts as.
    """

    origin: "Origin | None" = None

    def __init__(self, encoding: Encoding, net: Module, guess: Any = None, warm: int = 0) -> None:
        self.encoding, self.net, self.forward, self.guess, self.warm = encoding, net, Forward(net), guess, warm
        self.prepared: SingleEntryCache[Places, EncodedPlaces] = SingleEntryCache(self._encoded)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        prepared = self.prepared(places)
        # a fifth to a quarter of the leaves have zero reach under the other player's current policy
        counted = None if player is None else rows_reached(reached[1 - player])
        outputs = self.forward(prepared.write(believed), counted)
        return prepared.read(outputs, [reach.shape[1] for reach in believed], player)

    def __repr__(self) -> str:
        origin = "" if self.origin is None else f" {self.origin.name}:"
        return f"<value network{origin} {network_text(self.net)}>"

    @property
    def searching(self) -> PlaythroughSettings | None:
        """Search settings for subgames, from the network's file."""
        return None if self.origin is None else self.origin.searching

    def _encoded(self, places: Places) -> EncodedPlaces:
        """Input rows of public states."""
        if self.origin is not None:
            self.origin.check(places)
        self.forward.refresh()
        return self.encoding.prepared(places)
