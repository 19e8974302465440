"""The judge against OpenSpiel's and against the oracle."""

import numpy as np
import pytest
from hypothesis import given

from tests import oracle
from tests.compiled_view import close_policies, dict_of, policy_of
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.errors import PolicyError
from treeplex.evaluate import best_response, judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.run.judge import expected_values, exploitability, nash_conv
from treeplex.solvers import make_solver

pyspiel = pytest.importorskip("pyspiel")

BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots=2,allow_repeated_shots=false)"
GOOFSPIEL = "goofspiel(imp_info=true,num_cards={},points_order=descending)"
PAIRS = {
    "kuhn_poker": "kuhn_poker",
    "kuhn_poker(players=3)": "kuhn_poker(players=3)",
    "leduc_poker": "leduc_poker",
    "leduc_poker(suit_isomorphism=true)": "leduc_poker(suit_isomorphism=true)",
    "liars_dice(dice_sides=3)": "liars_dice(dice_sides=3)",
    "liars_dice(dice_sides=4)": "liars_dice(dice_sides=4)",
    GOOFSPIEL.format(3): f"turn_based_simultaneous_game(game={GOOFSPIEL.format(3)})",
    GOOFSPIEL.format(4): f"turn_based_simultaneous_game(game={GOOFSPIEL.format(4)})",
    BATTLESHIP: BATTLESHIP,
    "openspiel:tiny_bridge_2p": "tiny_bridge_2p",
    "openspiel:tiny_hanabi": "tiny_hanabi",
    "openspiel:first_sealed_auction(max_value=4)": "first_sealed_auction(max_value=4)",
    "openspiel:first_sealed_auction(max_value=3,players=3)": "first_sealed_auction(max_value=3,players=3)",
}
"""Games here and there: zero, common and general sums, two and three players, built-in and wrapped rules."""


def random_policy(name: str, seed: int) -> Policy:
    game = compile_game(name)
    generator = np.random.default_rng(seed)
    weights = generator.random(len(game.action_ids)) ** 3 * (generator.random(len(game.action_ids)) < 0.8)
    return Policy(game, normalised(game, weights))


def tabular(policy: Policy) -> object:
    return pyspiel.TabularPolicy({infostate: list(at.items()) for infostate, at in policy.to_dict().items()})


@pytest.mark.slow_cases("leduc_poker", "liars_dice(dice_sides=4)", "openspiel:tiny_bridge_2p")
@pytest.mark.parametrize("name", PAIRS)
def test_against_openspiel(name: str) -> None:
    theirs = pyspiel.load_game(PAIRS[name])
    for seed in range(1 if "bridge" in name else 2):  # OpenSpiel takes seconds for that one
        policy = random_policy(name, seed)
        found, table = judge(policy.game, policy), tabular(policy)
        returns = pyspiel.expected_returns(theirs.new_initial_state(), table, -1, False)
        assert found.value == pytest.approx(returns, abs=1e-9)
        gap = pyspiel.nash_conv(theirs, table)
        assert found.nash_conv == pytest.approx(gap, abs=1e-9)
        assert found.exploitability == pytest.approx(gap / policy.game.players, abs=1e-9)
        for player in range(policy.game.players):
            value = pyspiel.TabularBestResponse(theirs, player, table).value_from_state(theirs.new_initial_state())
            assert found.best_response_values[player] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice_sides=3)", BATTLESHIP])
def test_exploitability_of_two_player_zero_sum_games(name: str) -> None:
    policy = random_policy(name, 5)
    assert exploitability(policy.game, policy) == pytest.approx(
        pyspiel.exploitability(pyspiel.load_game(PAIRS[name]), tabular(policy)), abs=1e-9
    )


@STEADY
@given(games(), SEEDS)
def test_against_the_oracle(rules: RandomGame, seed: int) -> None:
    root, game = oracle.grow(rules), compile_rules(rules)
    table = oracle.random_policy(root, np.random.default_rng(seed))
    policy = policy_of(game, table)
    before = policy.probabilities.copy()
    found = judge(game, policy)
    np.testing.assert_allclose(found.value, oracle.expected_values(root, table), atol=1e-12)
    assert found.nash_conv == pytest.approx(oracle.nash_conv(root, table), abs=1e-12)
    assert found.exploitability == pytest.approx(found.nash_conv / game.players, abs=1e-15)
    assert nash_conv(game, policy) == found.nash_conv
    assert exploitability(game, policy) == found.exploitability
    assert expected_values(game, policy).tolist() == list(found.value)
    for player in range(game.players):
        value, response = best_response(game, policy, player)
        expected, pure = oracle.best_response(root, table, player)
        assert value == pytest.approx(expected, abs=1e-12)
        close_policies(dict_of(response), table | pure)
        assert judge(game, response).value[player] == pytest.approx(value, abs=1e-12)
    np.testing.assert_array_equal(policy.probabilities, before)


def test_known_numbers() -> None:
    """Uniform play: OpenSpiel's values of the first player and exploitabilities."""
    for name, value, gap in [
        ("kuhn_poker", 0.125, 0.9166666666666665),
        ("leduc_poker", -0.078125, 4.747222222222223),
        ("liars_dice(dice_sides=2)", 0.125, 1.125),
        ("liars_dice(dice_sides=3)", 0.018518518518518517, 1.1111111111111112),
    ]:
        game = compile_game(name)
        found = judge(game, Policy.uniform(game))
        assert found.value == pytest.approx((value, -value), abs=1e-12)
        assert found.nash_conv == pytest.approx(gap, abs=1e-12)


@pytest.mark.slow
def test_big_leduc_by_public_tree_only() -> None:
    """Uniform play on six million histories; the number is that of the DDCFR paper's first iteration."""
    game = compile_game("big_leduc")
    assert exploitability(game, Policy.uniform(game)) == pytest.approx(4.157665329150333, abs=1e-10)


@pytest.mark.parametrize("name", ["kuhn_poker", "matrix(rows=[[3,-1],[-2,1]])", "modified_rps"])
def test_rounding_never_makes_an_exact_solution_better_than_exact(name: str) -> None:
    """The solution of a linear program, of which rounding would have a player of Kuhn poker gain -1.4e-17."""
    game = compile_game(name)
    solver = make_solver(game, "lp")
    solver.run(1)
    found = judge(game, solver.average_policy())
    assert min(found.gains) >= 0.0
    assert 0.0 <= found.exploitability <= found.nash_conv < 1e-12


def test_a_policy_of_another_game() -> None:
    kuhn, leduc = compile_game("kuhn_poker"), compile_game("leduc_poker")
    message = "this is a policy for kuhn_poker, not for leduc_poker; solve or load one for this game"
    for ask in (judge, nash_conv, exploitability, expected_values):
        with pytest.raises(PolicyError, match=message):
            ask(leduc, Policy.uniform(kuhn))
    with pytest.raises(PolicyError, match=message):
        best_response(leduc, Policy.uniform(kuhn), 0)
    with pytest.raises(PolicyError, match=r"not for leduc_poker\(ante=2\)"):
        judge(compile_game("leduc_poker(ante=2)"), Policy.uniform(leduc))


def test_the_same_game_compiled_again_is_no_other_game() -> None:
    again = compile_rules(RandomGame(7, depth=6))
    assert judge(compile_rules(RandomGame(7, depth=6)), Policy.uniform(again)).nash_conv > 0


@pytest.mark.parametrize("player", [-1, 2])
def test_no_such_player(player: int) -> None:
    game = compile_game("kuhn_poker")
    with pytest.raises(PolicyError, match=f"no player {player} in kuhn_poker"):
        best_response(game, Policy.uniform(game), player)
