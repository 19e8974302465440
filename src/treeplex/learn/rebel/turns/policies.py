"""ReBeL's policy network on hold'em turns (Brown et al. 2020, section 5.3, appendices E and J).

Its inputs are those of the value network for single hands, both players' chips in the pot, and whether there was a bet on the
current street. For each hand of the acting player it outputs the probability of each action: columns are fold, check or call,
all-in, then other bets and raises in ascending order, so that a size has the same column when sizes and stacks vary.
"""

from collections.abc import Sequence
from itertools import count

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Action, Decision
from treeplex.holdem.forms.layout import decision_rows
from treeplex.holdem.rules.public import HoldemGame, HoldemState
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.holdem.search.subgames.warm_start import policies_from
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import Forward, Module, value_net
from treeplex.learn.rebel.nets import probabilities
from treeplex.learn.rebel.policy_encoding import STEPS, PolicyRows
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.subgame import Ranges

FIXED = {"fold": 0, "check": 1, "call": 1, "allin": 2}
"""Columns for actions without a size."""


def columns_of(actions: Sequence[Action], columns: int) -> list[int]:
    """Column of each action at a decision; if there are more sizes than in training, the largest share the last column."""
    sized = count(len(set(FIXED.values())))
    return [FIXED[action.kind] if action.kind in FIXED else min(next(sized), columns - 1) for action in actions]


def most_columns(spot: Spot) -> int:
    """Largest number of columns at any decision of a spot."""
    streets = spot.bets.streets if isinstance(spot.bets, BetPlan) else ()
    sizes = [len(player_sizes) for street in streets for player in street for player_sizes in (player.bets, player.raises)]
    return len(set(FIXED.values())) + max(sizes, default=1)


def rows_at(game: HoldemGame, board: Sequence[int], nodes: Ints, reached: Ranges) -> Singles:
    """Network inputs at decisions, float32 [K, inputs].

    Args:
        game: the game.
        board: the board cards.
        nodes: int64 [K], the decisions.
        reached: float64 [K, H] for each player.
    """
    seen = np.array([game.features_at(HoldemState(int(node), tuple(board))) for node in nodes])
    beliefs = []
    for player in (0, 1):
        likely = reached[player] * game.compatible(reached[1 - player])
        total = likely.sum(axis=1, keepdims=True)
        uniform = game.free(board) / game.free(board).sum()
        beliefs.append(likely.shape[1] * np.where(total > 0, likely / np.maximum(total, 1e-300), uniform))
    return np.concatenate((seen, *beliefs), axis=1).astype(np.float32)


def inputs_of(spot: Spot) -> int:
    """Number of inputs in a row."""
    game = HoldemGame.of(spot)
    return len(game.features_at(game.first_state())) + 2 * len(spot.format.hands)


class TurnGuess:
    """Initial policies for a turn from a network; a :class:`treeplex.search.warm_start.guess.Guess`.

    Attributes:
        columns: A.
        net: float32 [n, inputs] to [n, H * A], logits.
        forward: evaluates the network.
    """

    def __init__(self, inputs: int, hands: int, columns: int, *, width: int, layers: int, seed: int) -> None:
        """Create an untrained network.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.columns = columns
        self.net: Module = value_net(inputs, hands * columns, width=width, layers=layers, seed=seed)
        self.forward = Forward(self.net)

    def __call__(self, subgame: HoldemSubgame, rows: Ints, reached: Ranges, policy: Floats) -> None:
        first, second = (reach[rows] for reach in reached)
        from_numpy, game = torch_module().from_numpy, subgame.game
        events = [game.tree.nodes[node] for node in rows]
        columns = [columns_of(event.actions, self.columns) for event in events if isinstance(event, Decision)]
        legal = np.zeros((len(rows), self.columns), np.bool_)
        for row, taken in zip(legal, columns, strict=True):
            row[taken] = True
        logits = self.forward(rows_at(game, subgame.state.board, rows, (first, second)))
        policies = probabilities(from_numpy(logits), from_numpy(legal)).numpy()
        for node, table, taken, event in zip(rows, policies, columns, events, strict=True):
            assert isinstance(event, Decision)
            decision_rows(subgame.top, int(node), policy)[:] = table[subgame.held(event.player)][:, taken].T


def examples_of(search: SubgameSearch, columns: int) -> PolicyRows:
    """Training rows: the average policy at every decision of a turn search, with the beliefs that this policy leads to.

    Hands with zero reach have no target, and decisions that no hand reaches are omitted.
    """
    subgame = search.subgame
    assert isinstance(subgame, HoldemSubgame)
    reached, tables = policies_from(search, search.average_policy())
    nodes = np.array(list(tables))
    first, second = (reach[nodes] for reach in reached)
    targets = np.zeros((len(nodes), first.shape[1], columns), np.uint8)
    legal = np.zeros((len(nodes), columns), np.bool_)
    for k, (node, table) in enumerate(tables.items()):
        event = subgame.game.tree.nodes[node]
        assert isinstance(event, Decision)
        taken = columns_of(event.actions, columns)
        there = (first, second)[event.player][k] > 0
        legal[k, taken] = True
        targets[k][:, taken] = np.where(there[:, None], np.rint(table.T * STEPS), 0)
    return PolicyRows.of(rows_at(subgame.game, subgame.state.board, nodes, (first, second)), targets, legal)
