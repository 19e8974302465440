"""Tabulation of networks on hold'em spots: the policy of every hand on every board, for evaluation by the hold'em engine.

A network's input is the concatenation of the player's cards and the betting (:class:`treeplex.holdem.rules.looks.SpotLook`).
Its first layer is therefore a sum of two parts: the cards' part is computed once per board, the betting's part once per node.
Isomorphic hands and boards have the same inputs, so each class is evaluated once.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints, Singles
from treeplex.base.workers.executor import in_threads
from treeplex.engine.networks.mlp_batch import packed, padded
from treeplex.engine.networks.rectified import first_layer, rectified
from treeplex.errors import PolicyError
from treeplex.forms.policies.heads import HEADS
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.views import TENSOR
from treeplex.holdem.engine.passes import BoardPool
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import board_part
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.rules.dealt import DealtSpot

Watch = Callable[[int, int], None]
"""Progress callback: (boards read, boards in all); the members of a mixture are read one after another."""


class SplitNetwork(NamedTuple):
    """A player's network, with its first layer split into two parts.

    Attributes:
        panels, biases: weights of the cards, as :func:`treeplex.engine.networks.rectified.first_layer` reads them.
        betting: float32 [nodes, padded width], the contribution of the betting at each node, including the layer's biases.
        sizes, parameters: the layers, as :func:`treeplex.engine.networks.rectified.rectified` reads them.
    """

    panels: Singles
    biases: Singles
    betting: Singles
    sizes: Ints
    parameters: Singles


def average_of_network(
    policy: NeuralPolicy, game: CompiledSpot, *, threads: int = 1, watch: Watch | None = None
) -> NDArray[np.float32]:
    """A network's unnormalised policy on a compiled spot, float32 [Q] in a solver's layout.

    For a mixture it is the sum of the members' policies, each times its weight and own reach: a player follows one member
    from the deal to the end (Steinberger 2019, equation 6).

    Args:
        policy: a network trained on :class:`treeplex.holdem.rules.dealt.DealtSpot` of this spot.
        game: the compiled spot.
        threads: threads that share the boards.
        watch: called after each board of any member.

    Raises:
        PolicyError: the network's inputs or actions are not those of the spot.
        GameError: the spot's cards cannot be dealt one by one.
    """
    rules = DealtSpot(game.spot)
    check_fits(policy, rules)
    readings = [
        NetworkReader(policy.head, rules, game, split_networks(policy, rules, member)) for member in range(policy.members)
    ]
    if len(readings) == 1:
        return readings[0].table(threads, watch)
    crew = BoardPool(game.form, make_workspace(game.form, threads, np.float32, raked=game.raked), raked=game.raked)
    sums, none = np.zeros(game.stored, np.float32), np.zeros(0, np.float32)
    store, boards = store_of_policy(game, sums, none), sum(map(len, game.boards))
    for member, (reading, weights) in enumerate(zip(readings, policy.weights, strict=True)):
        member_watch = None if watch is None else partial(tell_of_member, watch, member * boards, len(readings) * boards)
        played = reading.table(threads, member_watch)
        for player, weight in enumerate(weights):
            crew.descend(player, played, none, store, add=float(weight), streets=len(game.boards))
    return sums


def tell_of_member(watch: Watch, before: int, total: int, done: int, _: int) -> None:
    """Report the number of boards read, including those read for earlier networks of a mixture."""
    watch(before + done, total)


class NetworkReader(NamedTuple):
    """Tabulates both players' networks for a compiled spot.

    Attributes:
        head: kind of output, of :data:`treeplex.forms.policies.heads.HEADS`.
        rules: rules of the spot.
        game: the compiled spot.
        networks: both players' networks.
    """

    head: str
    rules: DealtSpot
    game: CompiledSpot
    networks: list[SplitNetwork]

    def table(self, threads: int, watch: Watch | None) -> NDArray[np.float32]:
        """The networks' policy at all decisions, float32 [Q]."""
        policies = np.empty(self.game.stored, np.float32)
        places = [(street, number) for street, boards in enumerate(self.game.boards) for number in range(len(boards))]
        for done, _ in enumerate(in_threads(threads, partial(self.read_board, policies), places), 1):
            if watch is not None:
                watch(done, len(places))
        return policies

    def read_board(self, table: NDArray[np.float32], location: tuple[int, int]) -> None:
        """Write both players' policies at all decisions on a board, given by its street and its index there."""
        (street, number), look = location, self.rules.look
        board, forest, head = self.game.boards[street][number], self.game.forests[street], HEADS[self.head]
        for player, network in enumerate(self.networks):
            hands = board.hands[player].astype(np.int64)
            shown, alike = look.alike(board.cards, hands)
            kinds, kind = np.unique(alike, return_inverse=True)
            before = first_layer(look.cards(shown, kinds), network.panels, network.biases)
            outputs = np.empty((len(kinds), int(network.sizes[-1])), np.float32)
            rows = table[board_part(self.game, street, number, player)].reshape(-1, len(hands))
            for node, (_, first, count) in zip(forest.numbers[player], forest.nodes[player], strict=True):
                rectified(network.sizes, network.parameters, before, network.betting[node], outputs)
                chosen = outputs[:, self.rules.cards_aside.moves[node]]
                shares = head(chosen, np.ones(chosen.shape, np.bool_)).astype(np.float32)
                np.take(np.ascontiguousarray(shares.T), kind, axis=1, out=rows[first : first + count], mode="wrap")


def check_fits(policy: NeuralPolicy, rules: DealtSpot) -> None:
    """Reject a network whose inputs or actions do not fit a spot.

    Raises:
        PolicyError: they are not.
    """
    view, named = policy.view, policy.spec or "rules without a name"
    if view.kind != TENSOR:
        raise PolicyError(
            f"the network for {named} uses features=words, which spots do not support; train one with features=tensor"
        )
    if policy.players != 2 or len(view.scale) != rules.look.width or view.actions != tuple(range(rules.num_distinct_actions)):
        raise PolicyError(
            f"the network for {named} has {len(view.scale)} inputs and {len(view.actions)} actions, but "
            f"{rules} has {rules.look.width} and {rules.num_distinct_actions}; train one for this spot"
        )


def split_networks(policy: NeuralPolicy, rules: DealtSpot, member: int) -> list[SplitNetwork]:
    """Both players' networks for one member of a mixture, with their first layers split into two parts."""
    return [split_network(policy, rules, player, member) for player in (0, 1)]


def split_network(policy: NeuralPolicy, rules: DealtSpot, player: int, member: int) -> SplitNetwork:
    """A player's network, with its first layer split into two parts."""
    layers = policy.networks[0 if policy.shared else member * policy.players + player]
    (matrix, biases), rest = layers[0], layers[1:]
    look, features = rules.look, len(policy.view.scale)
    seen, cards = matrix[:, :features] / policy.view.scale, rules.look.cards_width
    first_biases = biases + matrix[:, features + player] if policy.shared else biases
    wide = padded(len(first_biases))
    betting = np.zeros((len(look.betting), wide), np.float32)
    betting[:, : len(first_biases)] = look.betting @ seen[:, cards:].T + first_biases
    panels = packed([seen[:, :cards]], [np.zeros(len(first_biases), np.float32)], [], [])
    return SplitNetwork(
        panels[: cards * wide],
        panels[cards * wide :],
        betting,
        np.array([len(first_biases), *(len(part) for _, part in rest)], np.int64),
        packed([part for part, _ in rest], [part for _, part in rest], [], []) if rest else np.zeros(0, np.float32),
    )
