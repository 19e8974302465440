"""Policy tables against each other: exact values, and hands that agree with them."""

import numpy as np
import pytest

from treeplex.errors import PolicyError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_tree
from treeplex.search.agents.agent import TableAgent
from treeplex.search.evaluate.statistics import summary
from treeplex.search.evaluate.tables import TableHands, expected_payoffs, seat_policy, seated


def some_policy(game: CompiledGame, seed: int) -> Policy:
    weights = np.random.default_rng(seed).random(int(game.tree.sequence_offsets[-1])) + 0.05
    return Policy(game, normalised(game, weights))


GOOFSPIEL = "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)"


@pytest.mark.slow_cases("leduc_poker")
@pytest.mark.parametrize("spec", ["leduc_poker", "kuhn_poker(players=3)", GOOFSPIEL, "liars_dice(dice_sides=2)"])
def test_hands_agree_with_exact_values(spec: str) -> None:
    game, count = compile_game(spec), 40_000
    policies = [some_policy(game, seed) for seed in range(2)]
    seats = np.tile(np.arange(game.players) % 2, (count, 1))  # with three players one policy sits in two seats
    numbers = np.arange(count)
    payoffs = TableHands(game, policies).play(seats, deals=numbers, hands=numbers, seed=3)
    exact, found = expected_payoffs(game, [policies[agent] for agent in seats[0]]), summary(payoffs)
    assert (abs(np.array(found.mean) - exact) < 4 * np.array(found.error) + 1e-12).all()
    np.testing.assert_array_equal(
        payoffs[100:120], TableHands(game, policies).play(seats[:20], deals=numbers[100:120], hands=numbers[100:120], seed=3)
    )


def test_one_deal_is_dealt_alike() -> None:
    """In Kuhn poker, when all pass, the payoff says whose card is higher."""
    game = compile_game("kuhn_poker")
    passing = Policy.uniform(game).probabilities.copy()
    for infoset in range(len(game.infostates)):
        passing[game.sequences_at(infoset)] = [1.0, 0.0]
    hands, count = TableHands(game, [Policy(game, passing)]), 500
    seats, numbers = np.zeros((count, 2), np.int64), np.arange(count)
    one = hands.play(seats, deals=numbers // 2, hands=numbers)
    assert set(one[:, 0]) == {1.0, -1.0}
    np.testing.assert_array_equal(one[::2], one[1::2])
    assert (hands.play(seats, deals=numbers, hands=numbers)[::2] != one[1::2]).any()


def test_exact_values_are_those_of_the_judge() -> None:
    game = compile_game("leduc_poker(ranks=2)")
    one, other = some_policy(game, 1), some_policy(game, 2)
    np.testing.assert_allclose(expected_payoffs(game, (one, one)), judge(game, one).value)
    both = seated(game, (one, other))
    split = int(game.tree.sequence_offsets[1])
    np.testing.assert_array_equal(both.probabilities[:split], one.probabilities[:split])
    np.testing.assert_array_equal(both.probabilities[split:], other.probabilities[split:])
    with pytest.raises(PolicyError, match="kuhn_poker"):
        seated(game, (one, Policy.uniform(compile_game("kuhn_poker"))))


def test_what_an_agent_plays_in_its_seat() -> None:
    game, rules = compile_game("leduc_poker(ranks=2)"), public_tree("leduc_poker(ranks=2)")
    policy = some_policy(game, 4)
    found = seated(game, [seat_policy(TableAgent(rules, policy), game, seat) for seat in range(2)])
    np.testing.assert_array_equal(found.probabilities, policy.probabilities)
