"""The iterations that playthroughs draw: every public state its own, and all combinations as often as they should be."""

from itertools import pairwise

import numpy as np
import pytest

from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import normalised
from treeplex.forms.sources.load import public_tree
from treeplex.search import ExactLeaf
from treeplex.search.methods import average_weights
from treeplex.search.play_distribution import Node, OpenState, keyed, playthrough_policy, search_shares
from treeplex.search.settings import PlaythroughSettings

ITERATIONS = 3


def test_no_two_paths_share_their_draws() -> None:
    paths = [(), (0,), (0, 0), (0, 0, 0), (1,), (1, 0), (0, 1)]
    drawn = sorted(tuple(keyed(7, path).random(4)) for path in paths)
    assert all(first != second for first, second in pairwise(drawn))


@pytest.mark.parametrize("depth", [1, 2])
def test_playthroughs_are_drawn_from_all_combinations_of_iterations(depth: int) -> None:
    """The mean over many playthroughs is the expectation, which is found here by trying every combination."""
    rules, game = public_tree("kuhn_poker"), compile_game("kuhn_poker")
    leaf = ExactLeaf(iterations=10)
    one = PlaythroughSettings(method="lcfr", iterations=ITERATIONS, depth=depth, playthroughs=1)
    share = average_weights("lcfr", ITERATIONS) / average_weights("lcfr", ITERATIONS).sum()
    total = np.zeros(int(game.tree.sequence_offsets[-1]))

    def follow(node: Node, weight: float) -> None:
        if not len(node.alive):
            return
        for stop in range(1, ITERATIONS + 1):
            node.below = {}
            found = np.zeros_like(total)
            search_shares(game, rules, leaf, one, [OpenState(node, np.array([0]), np.array([stop]))], found)
            total[:] += weight * share[stop - 1] * found
            for below in list(node.below.values()):
                follow(below, weight * share[stop - 1])

    state = rules.first_state()
    follow(Node((), state, (np.ones((1, state.weight.shape[0])), np.ones((1, state.weight.shape[1])))), 1.0)
    many = PlaythroughSettings(method="lcfr", iterations=ITERATIONS, depth=depth, playthroughs=216)
    found = [playthrough_policy(game, rules, leaf, many, np.random.default_rng(seed)).probabilities for seed in range(4)]
    np.testing.assert_allclose(np.mean(found, axis=0), normalised(game, total), atol=0.03)


def test_weights_of_iterations_cannot_be_changed_by_mistake() -> None:
    with pytest.raises(ValueError, match="read-only"):
        average_weights("lcfr", ITERATIONS)[0] = 1.0
