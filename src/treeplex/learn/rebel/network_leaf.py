"""Leaf values from a network that reads public belief states (Brown et al. 2020)."""

import warnings
from collections.abc import Hashable
from functools import cached_property
from typing import Any

from treeplex.engine.tree.leaves import rows_reached
from treeplex.games.public import PublicTree, pair_state
from treeplex.learn.common.encoding import EncodedPlaces, Encoding
from treeplex.learn.common.value_net import Forward, Module, network_text
from treeplex.search.leaf import Prepared
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.horizon import subgame_roots
from treeplex.search.subgames.subgame import Places, Ranges


class Origin:
    """What a network of a file was trained for.

    Attributes:
        name: the file, or ``rebel:NAME``.
        rules: the public-tree rules.
        searching: how subgames were searched in its training; it was trained for the public states where these began.
    """

    def __init__(self, name: str, rules: PublicTree, searching: PlaythroughSettings) -> None:
        self.name, self.rules, self.searching = name, rules, searching
        self._warned = False

    @cached_property
    def roots(self) -> frozenset[Hashable] | None:
        """Futures of the public nodes where subgames began in training; None where there are too many to tell."""
        return subgame_roots(self.rules, self.searching.horizon)

    def check(self, places: Places) -> None:
        """Warn, once, of public states that it was not trained for."""
        if self._warned or self.roots is None:
            return
        states = [pair_state(state) for state in places.states]
        others = [state for state in states if self.rules.future(state.node) not in self.roots]
        if others:
            self._warned = True
            warnings.warn(
                f"{self.name} was not trained for {len(others)} of the {len(states)} public states it is asked about, such as "
                f"{places.game.name_of(others[0])}; its values mean nothing there: cut subgames at its own horizon, "
                f"{self.searching.horizon}",
                stacklevel=2,
            )


class NetworkLeaf:
    """Leaf values from a network.

    Attributes:
        encoding: how public belief states look to it.
        net: the network, float32 [K, inputs] to [K, outputs].
        forward: its outputs, float32 [K, outputs].
        prepared: rows for places, kept for as long as the same places are asked for.
        origin: of a network from a file, what it was trained for; None while it is trained.
        guess: of policies by another network, from which searches start; None without one.
        warm: iterations that a guess counts as.
    """

    origin: "Origin | None" = None

    def __init__(self, encoding: Encoding, net: Module, guess: Any = None, warm: int = 0) -> None:
        self.encoding, self.net, self.forward, self.guess, self.warm = encoding, net, Forward(net), guess, warm
        self.prepared: Prepared[Places, EncodedPlaces] = Prepared(self._encoded)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        prepared = self.prepared(places)
        # a fifth to a quarter of the leaves get nothing from the other player's current policy
        counted = None if player is None else rows_reached(reached[1 - player])
        outputs = self.forward(prepared.write(believed), counted)
        return prepared.read(outputs, [own.shape[1] for own in believed], player)

    def __repr__(self) -> str:
        origin = "" if self.origin is None else f" {self.origin.name}:"
        return f"<value network{origin} {network_text(self.net)}>"

    @property
    def searching(self) -> PlaythroughSettings | None:
        """Search settings for subgames, from the network's file."""
        return None if self.origin is None else self.origin.searching

    def _encoded(self, places: Places) -> EncodedPlaces:
        """Rows for places."""
        if self.origin is not None:
            self.origin.check(places)
        self.forward.refresh()
        return self.encoding.prepared(places)
