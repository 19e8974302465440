"""Conversion between policies of compiled games and tables over actions and hands at public states."""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.games.public import PublicGame, State
from treeplex.search.subgames.batch import Subgames


def table_at(policy: Policy, rules: PublicGame, state: State) -> Floats:
    """Tabulate a policy for all hands at a decision, float64 [A, H]; uniform for impossible hands."""
    options = rules.options(state)
    table = np.full((len(options.labels), len(rules.possible(state)[options.player])), 1.0 / len(options.labels))
    for hand, sequences in sequences_at(policy.game, rules, state).items():
        table[:, hand] = policy.probabilities[sequences]
    return table


def sequences_at(game: CompiledGame, rules: PublicGame, state: State) -> dict[int, Ints]:
    """Map each possible hand at a decision's public state to its actions' sequences in the compiled game.

    Raises:
        PolicyError: the compiled game lacks an infostate of these rules.
    """
    player, by_hand = rules.options(state).player, {}
    for hand in np.flatnonzero(rules.possible(state)[player]).tolist():
        key = player, rules.infostate_at(state, player, hand)
        if key not in game.lookup:
            raise PolicyError(f"a policy for {game} has no infostate {key[1]!r} of player {player}; give one for this game")
        by_hand[hand] = game.sequences_at(game.lookup[key])
    return by_hand


def subgame_policy(policy: Policy, subgames: Subgames) -> Floats:
    """Convert a policy to the sequences of subgames, float64 [Q], for :func:`treeplex.search.subgame_search.subgame_values`."""
    probabilities = np.zeros(subgames.size)
    for infosets, state in zip(subgames.infosets, subgames.decisions.true_states, strict=True):
        for hand, sequences in sequences_at(policy.game, subgames.game, state).items():
            first, stride, actions = subgames.tree.infoset_layout[infosets[hand]]
            probabilities[first : first + stride * actions : stride] = policy.probabilities[sequences]
    return probabilities
