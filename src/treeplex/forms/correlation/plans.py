"""Reduced plans of a player, and strategies as mixtures of plans."""

from math import log10

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.plans.plans import decompose
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Plans

MOST_PLANS = 1_000_000
"""Limit of :func:`all_plans`."""
MOST_WRITTEN = 10**15
"""Largest count that messages show in full; larger ones are shown as powers of ten."""


def last_sequences(game: CompiledGame, player: int) -> Ints:
    """Return the sequences after which a player does not move again, int64 (global numbers)."""
    first, end = (int(q) for q in game.tree.sequence_offsets[player : player + 2])
    i0, i1 = (int(i) for i in game.tree.infoset_offsets[player : player + 2])
    return np.setdiff1d(np.arange(first, end), game.tree.infoset_parent[i0:i1])


def count_plans(game: CompiledGame, player: int) -> int:
    """Return the number of a player's reduced plans: a product over infosets of sums over actions."""
    first = int(game.tree.sequence_offsets[player])
    below = [1] * game.sequences[player]
    i0, i1 = (int(i) for i in game.tree.infoset_offsets[player : player + 2])
    for infoset in range(i1 - 1, i0 - 1, -1):
        parent = int(game.tree.infoset_parent[infoset]) - first
        below[parent] *= sum(below[q - first] for q in game.sequences_at(infoset).tolist())
    return below[0]


def written(count: int) -> str:
    """Format a count of any size: ``8,000``, or ``about 10^671``."""
    return f"{count:,}" if count < MOST_WRITTEN else f"about 10^{int(log10(count))}"


def all_plans(game: CompiledGame, player: int, *, most: int = MOST_PLANS) -> Plans:
    """Return all reduced plans of a player, int32 [P_i, I_i], in lexicographic order of their actions.

    Raises:
        AlgorithmError: there are more than ``most``.
    """
    count = count_plans(game, player)
    if count > most:
        raise AlgorithmError(
            f"player {player} of {game} has {written(count)} reduced plans, more than {most:,}; choose a smaller game"
        )
    tree, infosets = game.tree, game.infosets[player]
    i0 = int(tree.infoset_offsets[player])
    plans = np.full((1, infosets), -1, np.int32)
    reached = np.zeros((1, int(tree.sequence_offsets[-1])), np.bool_)
    reached[:, tree.sequence_offsets[player]] = True
    for local in range(infosets):
        here = reached[:, tree.infoset_parent[i0 + local]]
        sequences = game.sequences_at(i0 + local)
        copies = np.where(here, len(sequences), 1)
        rows = np.repeat(np.arange(len(plans)), copies)
        action = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        plans, reached, here = plans[rows], reached[rows], here[rows]
        plans[here, local] = action[here]
        reached[here, sequences[action[here]]] = True
    return plans


def plans_of(game: CompiledGame, player: int, strategy: Floats) -> tuple[Plans, Floats]:
    """Convert a strategy to a realisation-equivalent mixture of reduced plans.

    Args:
        game: the compiled game.
        player: owner of the strategy.
        strategy: float64 [Q], a strategy in sequence form, of which the player's slice is read.

    Returns:
        Plans int32 [P, I_i] and their weights float64 [P], which sum to 1; P is at most the number of the player's last
        sequences. On every sequence the weights of the plans that play it sum to its weight in ``strategy``, up to about 2^-52
        per plan.
    """
    most = len(last_sequences(game, player))
    plans, weights = np.empty((most, game.infosets[player]), np.int32), np.empty(most)
    count = decompose(game.tree, player, strategy, plans, weights)
    return plans[:count], weights[:count] / weights[:count].sum()
