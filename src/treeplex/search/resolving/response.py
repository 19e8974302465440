"""What hands get at the public states of a subgame by their best response to a policy that a solve of it found.

An agent that solves again carries such values on: they are what the opponent's hands are promised where the next solve begins.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.games.public import Decision, PublicState, Terminal, pair_state
from treeplex.holdem.betting.tree import StreetEnd
from treeplex.holdem.forms.subgame import HoldemArrays, HoldemSubgame, board_number, checked
from treeplex.holdem.policies.node_values import HoldemValues, ratio
from treeplex.holdem.rules.public import holdem_state
from treeplex.search.subgames.batch import BatchArrays, Subgames
from treeplex.search.subgames.beliefs import moved_range
from treeplex.search.subgames.subgame import Subgame


class ResponseValues(Protocol):
    """The values of a player's hands everywhere in a subgame."""

    def at(self, path: tuple[int, ...]) -> Floats:
        """Expected payoff of each hand at a public state, given that it is held there, float64 [H], in the game's units.

        NaN for hands that meet nobody.

        Args:
            path: the labels of actions and outcomes of chance from the subgame's root, none of them after a leaf.

        Raises:
            GameError: the subgame does not go there.
        """
        ...


def response_values(subgame: Subgame, policy: NDArray[Any], player: int, leaf_values: Floats | None = None) -> ResponseValues:
    """What a player's hands get by their best response.

    Args:
        subgame: one subgame, with the ranges with which it begins.
        policy: [Q], what the other one plays, see :meth:`treeplex.search.subgame.SubgameSearch.average_policy`.
        player: who responds.
        leaf_values: float64 [K, H_player], what its hands are worth where the subgame is cut off.

    Raises:
        AlgorithmError: a subgame that is cut off, without values for its leaves.
    """
    if len(subgame.leaves) and leaf_values is None:
        raise AlgorithmError("the subgame is cut off, so what hands get depends on its leaves: give leaf_values")
    if isinstance(subgame, HoldemSubgame) and not len(subgame.leaves):
        return HoldemResponse(subgame, HoldemValues(subgame.begun, policy, responder=player), player)
    arrays, other = subgame.start(predicts=True), 1 - player
    arrays.policy[:] = policy
    arrays.play(other)
    arrays.write_gradient(player, arrays.strategy)
    entries = np.zeros((0, subgame.leaves.widths[player]))
    if leaf_values is not None and len(subgame.leaves):
        entries = leaf_values * subgame.leaves.opposing(arrays.reach_at_leaves(arrays.strategy), player)
        arrays.write_leaves(player, entries)
    if isinstance(subgame, HoldemSubgame):
        assert isinstance(arrays, HoldemArrays)
        return HoldemResponse(subgame, values_to_leaves(subgame, arrays, policy, player), player)
    assert isinstance(subgame, Subgames)
    assert isinstance(arrays, BatchArrays)
    arrays.respond(player)
    return PairResponse(subgame, arrays, player, entries)


class PairResponse:
    """A best response in a subgame of a public tree."""

    def __init__(self, subgame: Subgames, arrays: BatchArrays, player: int, entries: Floats) -> None:
        """Read on.

        Args:
            subgame: the subgame.
            arrays: after the best response; policy and strategy of the other player are those responded to.
            player: who responded.
            entries: float64 [K, H_player], at the leaves.
        """
        self.subgame, self.player, self._entries = subgame, player, entries
        self._policy, self._infosets = arrays.policy, arrays.infoset_values
        self._ranges = tuple(own[0] for own in arrays.ranges)

    def at(self, path: tuple[int, ...]) -> Floats:
        """See :class:`ResponseValues`."""
        rules, other = self.subgame.game, 1 - self.player
        state = pair_state(self.subgame.roots.states[0])
        reached = self._ranges[other][: state.weight.shape[other]]
        for depth, label in enumerate(path):
            options = rules.options(state)
            if options.player == other:
                table = self._table(path[:depth])
                reached = moved_range(reached, table, list(options.labels).index(label), private=options.private)
            state = rules.after(state, label)
        mass = reached @ (state.weight.T if self.player == 0 else state.weight)
        found = self._below(path, state, reached)
        return np.asarray(np.divide(found, mass, out=np.full(len(mass), np.nan), where=mass > 0))

    def _table(self, path: tuple[int, ...]) -> Floats:
        """How the other player's hands play at a decision."""
        return self.subgame.policy_at(self._find("decision", path), self._policy)

    def _find(self, wanted: str, path: tuple[int, ...]) -> int:
        kind, number = self.subgame.find(0, path)
        if kind != wanted:
            raise GameError(f"the subgame has no {wanted} after {path}")
        return number

    def _below(self, path: tuple[int, ...], state: PublicState, reached: Floats) -> Floats:
        """Counterfactual values of the hands at a state, float64 [H], from the other one's reach there, [H_other]."""
        rules, size = self.subgame.game, state.weight.shape[self.player]
        if self.subgame.find(0, path)[0] == "leaf":
            return np.asarray(self._entries[self._find("leaf", path), :size])
        visited, following = state.successors(rules)
        if isinstance(visited, Terminal):
            payoffs = state.weight * visited.matrix * visited.scale
            return np.asarray(payoffs @ reached if self.player == 0 else -(reached @ payoffs))
        if isinstance(visited, Decision) and visited.player == self.player:
            infosets = self.subgame.infosets[self._find("decision", path), :size]
            return np.where(infosets >= 0, self._infosets[infosets], 0.0)
        total, labels = np.zeros(size), rules.options(state).labels
        table = self._table(path) if isinstance(visited, Decision) else None
        for number, (label, after) in enumerate(zip(labels, following, strict=False)):
            if after.weight.any():
                private = isinstance(visited, Decision) and visited.private
                moved = reached if table is None else moved_range(reached, table, number, private=private)
                total += self._below((*path, label), after, moved)
        return total


def values_to_leaves(subgame: HoldemSubgame, arrays: HoldemArrays, policy: NDArray[Any], player: int) -> HoldemValues:
    """The values of a best response in one street of hold'em that is cut off, whose leaves' entries the arrays have.

    Raises:
        AlgorithmError: a subgame that is cut off after more than one street.
    """
    if subgame.streets > 1:
        raise AlgorithmError("values are read in one street of hold'em that is cut off, or in streets to the end")
    arrays.respond(player)
    ends = arrays.crew.work.gathered.copy()  # those of its board lie as in the whole game
    return HoldemValues(subgame.whole, np.array(policy, np.float64), ends=ends, responder=player)


class HoldemResponse:
    """A best response in streets of hold'em."""

    def __init__(self, subgame: HoldemSubgame, values: HoldemValues, player: int) -> None:
        """Read the values of a player's best response where they are asked for."""
        self.subgame, self.player, self._values = subgame, player, values
        first, second = (own[subgame.held(each)] for each, own in enumerate(checked(subgame, subgame.ranges)))
        self._reach = first, second

    def at(self, path: tuple[int, ...]) -> Floats:
        """See :class:`ResponseValues`."""
        subgame, values, game = self.subgame, self._values, self.subgame.game
        state, street, place = subgame.state, 0, 0
        tree = values.tree(street, place, state.node, self._reach)
        for label in path:
            before, event = state, game.event(state)
            state = holdem_state(game.after(state, label))
            if len(state.board) > len(before.board):
                street += 1
                number = board_number(subgame.whole, street, state.board) if street < len(subgame.whole.forests) else None
                if number is None or not isinstance(event, StreetEnd) or (len(subgame.leaves) and street == subgame.streets):
                    raise GameError(f"the subgame does not go to {game.name_of(state)}")
                place = number
                tree = values.tree(street, place, state.node, values.below(street, place, tree.reach[before.node]))
        board = values.board_number(street, place)
        hands = subgame.whole.boards[street][place].hands[self.player]
        met = values.compatible(board, self.player, tree.reach[state.node][1 - self.player])
        found = np.full(len(game.spot.format.hands), np.nan)
        found[hands] = ratio(tree.values[state.node][self.player], met)
        return found
