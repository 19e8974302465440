"""CFR-S and CFR-Jr: the joint play, against the oracle, explicit distributions and OpenSpiel."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pytest

from tests import oracle
from tests.compiled_view import dict_of
from tests.random_games import RandomGame
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.evaluate.cce import cce_gap, cce_gaps
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy
from treeplex.solvers.joint.cfr_joint import CfrJr, CfrS, JointSolver

GOOFSPIEL = "goofspiel(num_cards=3,imp_info=true,points_order=descending,returns_type=total_points)"
SHAPLEY = "matrix(rows=[[0,0,1],[1,0,0],[0,1,0]],second=[[0,1,0],[0,0,1],[1,0,0]])"
LEDUC = compile_game("leduc_poker")
SMALL = [RandomGame(3, players=2, depth=5, zero_sum=False), RandomGame(18, players=3, depth=5, zero_sum=False)]
KINDS: list[Callable[..., JointSolver]] = [CfrS, CfrJr, partial(CfrS, plus=1), partial(CfrJr, plus=1, tilt=0.5)]


def played(solver: JointSolver, iterations: int) -> list[dict]:
    """What each iteration plays, as policies by name; read off the change of the average."""
    plays = []
    for _ in range(iterations):
        before = solver.average.copy()
        solver.run(1)
        game, step = solver.game, solver.average - before
        policy = dict_of(Policy.uniform(game))
        for (player, infostate), infoset in game.lookup.items():
            weights = step[game.sequences_at(infoset)]
            if weights.sum() > 1e-12:
                policy[player, infostate] = dict(zip(game.actions_at(infoset), weights / weights.sum(), strict=True))
        plays.append(policy)
    return plays


def pure(root: oracle.Node, player: int) -> list[dict]:
    """All pure strategies of a player, by name."""
    actions = {key: ids for key, ids in oracle.action_sets(root).items() if key[0] == player}
    return [
        {key: {a: float(a == choice) for a in actions[key]} for key, choice in zip(actions, choices, strict=True)}
        for choices in product(*actions.values())
    ]


@pytest.mark.slow_cases("3 players-CfrS", "3 players-CfrJr", "3 players-kind3")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", SMALL, ids=["2 players", "3 players"])
def test_the_gap_is_that_of_the_joint_distribution(rules: RandomGame, kind: Callable[..., JointSolver]) -> None:
    """Against the distribution over iterations itself, with every pure strategy tried as a deviation."""
    root, solver = oracle.grow(rules), kind(compile_rules(rules), seed=5)
    plays = played(solver, 12)
    paid = np.mean([oracle.expected_values(root, play) for play in plays], axis=0)
    np.testing.assert_allclose(solver.payoffs(), paid, atol=1e-12)
    expected = []
    for player in range(rules.players):
        gains = [
            np.mean([oracle.expected_values(root, {**play, **strategy})[player] for play in plays])
            for strategy in pure(root, player)
        ]
        expected.append(max(gains) - paid[player])
    np.testing.assert_allclose(solver.gaps(), expected, atol=1e-12)
    assert solver.measures() == pytest.approx({"cce_gap": max(expected), "welfare": paid.sum()}, abs=1e-12)
    device = solver.device()
    np.testing.assert_allclose(cce_gaps(device), expected, atol=1e-12)
    np.testing.assert_allclose(device.payoffs, paid, atol=1e-12)


@pytest.mark.parametrize("kind", [CfrJr, partial(CfrS, seed=2), partial(CfrJr, plus=1)])
@pytest.mark.parametrize("rules", SMALL, ids=["2 players", "3 players"])
def test_regrets_against_the_oracle(rules: RandomGame, kind: Callable[..., JointSolver]) -> None:
    """Regrets are counterfactual regrets of the current policy against what the others played; then regret matching."""
    root, solver = oracle.grow(rules), kind(compile_rules(rules))
    regrets = {key: np.zeros(len(actions)) for key, actions in oracle.action_sets(root).items()}
    for _ in range(8):
        current = dict_of(solver.current_policy())
        (play,) = played(solver, 1)
        for player in range(rules.players):
            seen = {key: (current if key[0] == player else play)[key] for key in current}
            for key, values in oracle.counterfactual_values(root, seen, player).items():
                regrets[key] += values - np.dot(values, list(current[key].values()))
                if solver.plus:
                    regrets[key] = np.maximum(regrets[key], 0.0)
        found = {key: solver.regrets[solver.game.sequences_at(infoset)] for key, infoset in solver.game.lookup.items()}
        for key, expected in regrets.items():
            np.testing.assert_allclose(found[key], expected, atol=1e-11)
            positive = np.maximum(expected, 0.0)
            if positive.sum() > 1e-9:
                after = np.array([*dict_of(solver.current_policy())[key].values()])
                np.testing.assert_allclose(after, positive / positive.sum(), atol=1e-8)


def test_cfr_s_draws_the_plans_of_its_streams() -> None:
    """Infosets in compiled order, a number of the stream (seed, iteration, player) at each that the plan leads to."""
    solver, game = CfrS(LEDUC, seed=11), LEDUC
    for t in range(1, 6):
        policy, before = solver.policy.copy(), solver.average.copy()
        solver.run(1)
        for player in range(2):
            stream, there = Stream(11, t, player), {int(game.tree.sequence_offsets[player])}
            for infoset in range(*(int(i) for i in game.tree.infoset_offsets[player : player + 2])):
                if int(game.tree.infoset_parent[infoset]) in there:
                    sequences = game.sequences_at(infoset)
                    edges = np.cumsum(policy[sequences])
                    there.add(int(sequences[np.searchsorted(edges, stream.draw() * edges[-1], side="right")]))
            own = slice(*(int(q) for q in game.tree.sequence_offsets[player : player + 2]))
            assert set(np.flatnonzero((solver.average - before)[own]) + own.start) == there


def test_what_cfr_s_plays_is_right_on_average() -> None:
    """The first iteration of 4,000 seeds: the mean of what is drawn is the uniform policy, within four standard errors."""
    game = compile_game("kuhn_poker")
    total, uniform = np.zeros(int(game.tree.sequence_offsets[-1])), CfrS(game).strategy
    for seed in range(4000):
        solver = CfrS(game, seed=seed, keep=2)
        solver.run(1)
        total += solver.average
    spread = np.sqrt(uniform * (1 - uniform) / 4000)
    assert (abs(total / 4000 - uniform) <= 4 * spread + 1e-12).all()


@pytest.mark.slow_cases("0-CfrS", "0-CfrJr")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep", [0, 6])
def test_continues_bit_for_bit(kind: Callable[..., JointSolver], keep: int) -> None:
    straight, first, second = (kind(LEDUC, keep=keep, seed=3) for _ in range(3))
    straight.run(23)
    first.run(9)
    state = first.state()
    first.run(4)
    second.run(2)
    second.restore(state)
    second.run(14)
    for name, array in straight.state().items():
        np.testing.assert_array_equal(second.state()[name], array, err_msg=name)
    assert second.measures() == straight.measures()
    np.testing.assert_array_equal(second.device(samples=50).plans[0], straight.device(samples=50).plans[0])


def test_a_state_that_does_not_fit() -> None:
    solver = CfrJr(LEDUC, keep=4)
    solver.run(3)
    state = solver.state()
    for name, change in (("kept", state["kept"][:-1]), ("kept", state["kept"][:, :-1]), ("regrets", state["regrets"][:-1])):
        with pytest.raises(FileError, match=f"array '{name}' should have shape"):
            CfrJr(LEDUC, keep=4).restore({**state, name: change})
    with pytest.raises(FileError, match=r"array 'kept' should have shape .*, found none"):
        CfrJr(LEDUC, keep=4).restore({name: array for name, array in state.items() if name != "kept"})
    with pytest.raises(FileError, match="it stores 3 iterations, but this solver stores at most 2"):
        CfrJr(LEDUC, keep=2).restore(state)


def test_which_iterations_are_kept() -> None:
    game = compile_game("kuhn_poker")
    whole, part = CfrJr(game), CfrJr(game, keep=6)
    kept = {6: [1, 2, 3, 4, 5, 6], 7: [2, 4, 6], 13: [2, 4, 6, 8, 10, 12], 14: [4, 8, 12], 30: [8, 16, 24]}
    for iteration, expected in kept.items():
        for solver in (whole, part):
            solver.run(iteration - solver.iteration)
        assert part.spacing.tolist() == [expected[0], len(expected)]
        np.testing.assert_array_equal(part.kept[: len(expected)], whole.kept[np.array(expected) - 1])
    assert part.gaps().tolist() == whole.gaps().tolist()
    assert whole.notes() == []
    assert "3 of 30 iterations are stored for the device (every 8th)" in part.notes()[0]
    seven = CfrJr(game, keep=7)
    seven.run(7)
    assert seven.spacing.tolist() == [1, 7]
    assert cce_gap(part.device()) != pytest.approx(part.measures()["cce_gap"], abs=1e-9), "a device has a gap of its own"


@pytest.mark.parametrize(
    ("build", "at_thousand", "at_ten_thousand", "welfare"),
    [(CfrJr, 0.0125, 0.0016, 5.96), (CfrS, 0.022, 0.0027, 5.95)],
)
def test_goofspiel(build: Callable[..., JointSolver], at_thousand: float, at_ten_thousand: float, welfare: float) -> None:
    """Three cards, two players, points won. The joint play approaches a CCE in which ties are rare; its averages do not.

    An independent implementation, simultaneous regret matching, found joint gaps of 0.0102 and 0.0013 and a welfare of 5.98
    for CFR-Jr, 0.031 and 0.0031 for CFR-S, and 0.29 and 0.39 for the product of averages. Bounds leave room for how rounding
    and seeds change the course: over 12 seeds CFR-Jr had 0.0087 to 0.0107 and 0.0011 to 0.0014.
    """
    game = compile_game(GOOFSPIEL)
    for seed in range(3):
        solver = build(game, seed=seed)
        solver.run(1000)
        assert solver.measures()["cce_gap"] < at_thousand
        solver.run(9000)
        assert solver.measures()["cce_gap"] < at_ten_thousand
        assert solver.measures()["welfare"] > welfare
        assert judge(game, solver.average_policy()).exploitability > 0.1


def test_a_uniform_start_keeps_symmetric_players_alike() -> None:
    """Without tilt both players of goofspiel play the same, ties are frequent, and half of the points are lost."""
    game = compile_game(GOOFSPIEL)
    solver = CfrJr(game, tilt=0)
    solver.run(100)
    np.testing.assert_allclose(*solver.payoffs(), rtol=1e-9)
    assert solver.measures()["welfare"] < 4.5


def test_shapley() -> None:
    """The uniform policy is a fixed point; away from it the joint play is better than the equilibrium, and a CCE."""
    game = compile_game(SHAPLEY)
    still = CfrJr(game, tilt=0)
    still.run(200)
    assert still.measures() == pytest.approx({"cce_gap": 0.0, "welfare": 2 / 3}, abs=1e-12)
    for solver in (CfrJr(game), CfrS(game)):
        solver.run(5000)
        assert solver.measures()["cce_gap"] < 0.005
        assert solver.measures()["welfare"] > 0.8


@pytest.mark.parametrize(
    ("build", "at_thousand", "at_five_thousand"),
    [(CfrJr, 0.0065, 0.0021), (CfrS, 0.012, 0.0034), (partial(CfrJr, plus=1), 0.0038, 0.0009)],
)
def test_three_player_kuhn(build: Callable[..., JointSolver], at_thousand: float, at_five_thousand: float) -> None:
    """The independent implementation found 0.0057 (CFR-Jr) and 0.0090 (CFR-S) after 1,000 iterations."""
    solver = build(compile_game("kuhn_poker(players=3)"))
    solver.run(1000)
    assert 0.0 < solver.measures()["cce_gap"] < at_thousand
    solver.run(4000)
    assert 0.0 < solver.measures()["cce_gap"] < at_five_thousand
    assert abs(solver.measures()["welfare"]) < 1e-9
    assert cce_gap(solver.device()) == pytest.approx(solver.measures()["cce_gap"], abs=1e-10)


def test_a_product_of_averages_that_is_no_equilibrium_costs_nothing() -> None:
    """With two players and zero sums the joint play's gaps add up to NashConv of the averages."""
    game = compile_game("leduc_poker")
    solver = CfrJr(game)
    solver.run(200)
    assert solver.gaps().sum() == pytest.approx(judge(game, solver.average_policy()).nash_conv, abs=1e-9)


def test_before_the_first_iteration() -> None:
    game = compile_game("kuhn_poker")
    solver = CfrS(game)
    found = judge(game, Policy.uniform(game))
    np.testing.assert_allclose(solver.gaps(), found.gains, atol=1e-12)
    np.testing.assert_allclose(solver.payoffs(), found.value, atol=1e-12)
    with pytest.raises(AlgorithmError, match="cfr-s has not stored an iteration yet"):
        solver.device()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"plus": 2}, "plus of cfr-jr must be 0 or 1, not 2"),
        ({"keep": 1}, "keep of cfr-jr must be an integer of at least 2"),
        ({"keep": 2.5}, "not 2.5"),
        ({"keep": float("inf")}, "not inf"),
        (
            {"keep": 1e15},
            r"keep=1e\+15 of cfr-jr needs 208,000,000 GB for kuhn_poker, more than the available memory; lower keep",
        ),
        ({"keep": 1e300}, "more than the available memory"),
        ({"tilt": 1.5}, "tilt of cfr-jr must be a number from 0 to 1"),
        ({"tilt": float("nan")}, "not nan"),
    ],
)
def test_parameters(parameters: dict, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        CfrJr(compile_game("kuhn_poker"), **parameters)


def test_the_tilt_is_drawn_from_the_seed() -> None:
    game = compile_game("kuhn_poker")
    first, again, other, none = CfrJr(game, seed=1), CfrJr(game, seed=1), CfrJr(game, seed=2), CfrJr(game, seed=1, tilt=0)
    assert np.array_equal(first.policy, again.policy)
    assert not np.array_equal(first.policy, other.policy)
    assert 0.0 < abs(first.policy - none.policy).max() <= 0.1
    assert np.array_equal(CfrS(game, seed=1).policy, none.policy)
