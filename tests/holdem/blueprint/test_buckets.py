"""Blueprints in buckets as policies of hands: from the first card on they play on every board what the blueprint says."""

import numpy as np
import pytest

from treeplex.errors import PolicyError
from treeplex.forms.sources.load import load
from treeplex.holdem.blueprint.buckets import BucketPolicy
from treeplex.holdem.blueprint.policy import HoldemBlueprint, bucket_rows_of, shares_of
from treeplex.holdem.blueprint.solver import BlueprintSolver
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import policy_table
from treeplex.holdem.policies.by_hand import written
from treeplex.holdem.street_search.exact import compiled_whole

NINE = "holdem(ranks=3,suits=3,stack=4,sizes=[a])"


@pytest.fixture(scope="module")
def whole() -> CompiledSpot:
    return compiled_whole(load(NINE).public)


@pytest.fixture(scope="module")
def blueprint() -> HoldemBlueprint:
    game = load(NINE)
    rows = bucket_rows_of(game, (6, 3, 3, 3), "kmeans", False)
    solver = BlueprintSolver(game.rules, rows, deals=8, seed=1)
    solver.run(20)
    return HoldemBlueprint(game, rows, solver.nodes, shares_of(solver.tables.average, solver.nodes, rows.counts))


@pytest.mark.quick_cases("3")
@pytest.mark.parametrize("street", [0, 1, 3])
def test_every_hand_plays_as_the_blueprint_says(whole: CompiledSpot, blueprint: HoldemBlueprint, street: int) -> None:
    policy = BucketPolicy.whole(blueprint, whole)
    average, uneven = written(policy, whole), 0
    number = len(whole.boards[street]) // 2
    board = whole.boards[street][number]
    for player in (0, 1):
        for node in whole.forests[street].numbers[player]:
            known = blueprint.policy_at(int(policy.nodes[node]), board.cards)[:, board.hands[player]]
            assert np.allclose(policy_table(whole, node, average, street, number)[:, board.hands[player]], known, atol=1e-6)
            uneven += np.ptp(known[0]) > 0.01
    assert uneven


def test_other_betting_is_refused(blueprint: HoldemBlueprint) -> None:
    other = compiled_whole(load("holdem(ranks=3,suits=3,stack=12,sizes=[100%;a])").public)
    with pytest.raises(PolicyError, match="differ from the spot's after the blinds"):
        BucketPolicy.whole(blueprint, other)
