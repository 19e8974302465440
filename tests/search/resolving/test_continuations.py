"""Leaves behind which the opponent chooses among continuations (Brown, Sandholm and Amos 2018)."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import treeplex as tp
from tests.random_games import RandomPublicGame
from tests.search.exact_values import Path, PublicProgram
from tests.search.resolving.test_resolved import random_policy
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.games.public import PublicTree
from treeplex.search import METHODS, Belief, Horizon, SubgameSearch, public_tree
from treeplex.search.resolving.continuations import BlueprintLeaf, biased_policies, biased_policy
from treeplex.search.resolving.payoffs import expected_payoffs
from treeplex.search.resolving.self_generation import self_generated_policies
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.policy_tables import subgame_policy
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import GameSolver

CHOOSING = ["cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "fp", "linear-fp", "lcfr-simultaneous", "linear-fp-simultaneous"]


@cache
def program() -> PublicProgram:
    rules = public_tree("leduc_poker")
    return PublicProgram(rules, rules.first_state())


def first_round(policy: tp.Policy, choices: list[tp.Policy], player: int) -> dict[Path, np.ndarray]:
    """How a player plays Leduc's first round if the other one chooses between policies after it."""
    rules = public_tree("leduc_poker")
    leaf = BlueprintLeaf(rules, policy, {1 - player: choices})
    search = SubgameSearch(cut_states(rules, [rules.first_state()], Horizon(rounds=1)), METHODS["cfr+"], leaf)
    search.run(1000)
    average, decisions = search.average_policy(), search.subgames.decisions
    return {path: search.policy_at(number, average) for number, path in enumerate(decisions.paths)}


@cache
def blueprint(iterations: int | None) -> tp.Policy:
    """The average of so many iterations of CFR in Leduc poker; None: an equilibrium."""
    game = tp.compile("leduc_poker")
    if iterations is None:
        return tp.solve(game, "lp").policy
    solver = GameSolver(game, VARIANTS["cfr"])
    solver.run(iterations)
    return solver.average_policy()


def loss(first: list[dict[Path, np.ndarray]]) -> float:
    """What players lose on average by these first rounds if they play on as is best."""
    ranges = Belief.root(public_tree("leduc_poker")).ranges
    kept = [program().value(ranges, player, fixed) for player, fixed in enumerate(first)]
    return -sum(kept) / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("iterations", "one", "four"), [(None, None, 0.0004), (50, 0.104, 0.0525), (10, None, 0.219)], ids=["lp", "50", "10"]
)
def test_the_first_round_of_leduc(iterations: int | None, one: float | None, four: float) -> None:
    """From an equilibrium four continuations lose nothing, and one a tenth of a chip; from worse blueprints less is gained.

    With one continuation and an equilibrium the figure depends on which of many first rounds the solver finds.
    """
    policy = blueprint(iterations)
    found = loss([first_round(policy, biased_policies(policy), player) for player in (0, 1)])
    assert found == pytest.approx(four, rel=0.02, abs=4e-4)
    single = loss([first_round(policy, [policy], player) for player in (0, 1)])
    assert single > 0.05
    assert one is None or single == pytest.approx(one, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("iterations", "count", "lost"), [(None, 4, 0.0), (50, 6, 0.0407)], ids=["lp", "50"])
def test_generated_continuations_of_leduc(iterations: int | None, count: int, lost: float) -> None:
    """They lose nothing from an equilibrium, and from a rough blueprint less than one continuation or four biased ones."""
    policy, rules = blueprint(iterations), public_tree("leduc_poker")
    made = [self_generated_policies(rules, policy, 1 - player, count) for player in (0, 1)]
    assert [len(each) for each in made] == [count, count]
    assert loss([first_round(policy, made[player], player) for player in (0, 1)]) == pytest.approx(lost, rel=0.03, abs=4e-4)


def values_of_pure_policies(policy: tp.Policy, player: int) -> list[float]:
    """What a player gets by each of its pure policies against a policy."""
    game, found = policy.game, []
    own = [game.sequences_at(infoset) for infoset in range(len(policy)) if game.player_of(infoset) == player]
    for actions in product(*(range(len(sequences)) for sequences in own)):
        probabilities = policy.probabilities.copy()
        for sequences, action in zip(own, actions, strict=True):
            probabilities[sequences] = np.eye(len(sequences))[action]
        found.append(tp.judge(game, tp.Policy(game, probabilities)).value[player])
    return found


@pytest.mark.parametrize("player", [0, 1])
def test_generated_continuations_are_best_responses(player: int) -> None:
    """To what the other player finds before leaves, and the blueprint behind them: no pure policy of Kuhn poker gets more."""
    game, rules, horizon = tp.compile("kuhn_poker"), public_tree("kuhn_poker"), Horizon(2)
    policy = random_policy(game, player)
    made = self_generated_policies(rules, policy, player, 3, horizon=horizon, iterations=50)
    assert made[0] is policy
    for count in (1, 2):
        leaf = BlueprintLeaf(rules, policy, {player: made[:count]})
        search = SubgameSearch(cut_states(rules, [rules.first_state()], horizon), METHODS["cfr+"], leaf)
        search.run(50)
        faced, average = policy.probabilities.copy(), search.average_policy()
        for number, state in enumerate(search.subgames.decisions.true_states):
            if rules.options(state).player != player:
                for hand, shares in enumerate(search.policy_at(number, average).T):
                    faced[game.sequences_at(game.lookup[1 - player, rules.infostate_at(state, 1 - player, hand)])] = shares
        theirs = [game.sequences_at(infoset) for infoset in range(len(policy)) if game.player_of(infoset) == player]
        joined = faced.copy()
        for sequences in theirs:
            joined[sequences] = made[count].probabilities[sequences]
        pure = values_of_pure_policies(tp.Policy(game, faced), player)
        assert max(pure) > np.mean(pure) + 0.05
        assert tp.judge(game, tp.Policy(game, joined)).value[player] == pytest.approx(max(pure), abs=1e-12)
        assert not np.array_equal(faced, policy.probabilities)


@pytest.mark.parametrize(
    ("player", "count", "method", "message"),
    [
        (2, 2, "cfr+", "player is 2; give 0 or 1, the player who chooses continuations at leaves"),
        (0, 0, "cfr+", "count is 0; give an integer of at least 1"),
        (0, 2, "cfrr", "unknown method 'cfrr'; known: "),
        (0, 3, "cfr-avg", "cfr-avg does not support choices of continuations at leaves"),
    ],
)
def test_what_is_not_generated(player: int, count: int, method: str, message: str) -> None:
    game = tp.compile("kuhn_poker")
    with pytest.raises(AlgorithmError, match=message):
        self_generated_policies(
            public_tree("kuhn_poker"), tp.Policy.uniform(game), player, count, horizon=Horizon(1), method=method, iterations=2
        )


def always(action: int) -> tp.Policy:
    game = tp.compile("modified_rps")
    return tp.Policy(game, np.concatenate([[1.0, *np.eye(3)[action]]] * 2))


@pytest.mark.quick_cases("linear-fp-simultaneous")
@pytest.mark.parametrize("method", CHOOSING)
def test_three_answers_to_rock_paper_scissors(method: str) -> None:
    """Section 3 of the paper: valued by the equilibrium alone the first move may be anything; three answers make it right."""
    rules = public_tree("modified_rps")
    equilibrium = tp.solve("modified_rps", "lp").policy
    found = []
    for choices in ({}, {1: [always(0), always(1), always(2)]}):
        leaf = BlueprintLeaf(rules, equilibrium, choices)
        search = SubgameSearch(cut_states(rules, [rules.first_state()], Horizon(1)), METHODS[method], leaf)
        search.run(1000)
        found.append(search.policy_at(0, search.average_policy())[:, 0])
    assert np.abs(found[0] - [0.4, 0.4, 0.2]).max() > 0.1
    assert found[1] == pytest.approx([0.4, 0.4, 0.2], abs=0.02)


def both_choose(rules: PublicTree, policies: list[tp.Policy], iterations: int) -> float:
    """Player 0's value where both players choose between policies after two moves."""
    root = Belief.root(rules)
    leaf = BlueprintLeaf(rules, policies[0], {0: policies, 1: policies})
    search = SubgameSearch(cut_states(rules, [root.state], Horizon(2)), METHODS["pcfr+"], leaf)
    search.run(iterations)
    return float(root.beliefs[0] @ search.root_values()[0][0])


def test_both_may_choose() -> None:
    """With an equilibrium among the continuations of both, neither gets more than the game is worth."""
    game = tp.compile("kuhn_poker")
    policies = [tp.solve(game, "lp").policy, *(random_policy(game, seed) for seed in range(3))]
    assert both_choose(public_tree("kuhn_poker"), policies, 1000) == pytest.approx(-1 / 18, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_the_policies(seed: int) -> None:
    """Whatever chance and private moves follow: both play one policy, before the leaves and after them."""
    game = tp.compile(RandomPublicGame(seed, depth=5))
    policy = random_policy(game, seed)
    rules = public_tree(game.rules)
    check_values(game, rules, policy, Horizon(1 + seed % 3))


def check_values(game: tp.CompiledGame, rules: PublicTree, policy: tp.Policy, horizon: Horizon) -> None:
    subgames = cut_states(rules, [rules.first_state()], horizon)
    arrays = subgames.start()
    arrays.policy[:] = subgame_policy(policy, subgames)
    for player in (0, 1):
        arrays.play(player)
    reached, root = arrays.reach_at_leaves(arrays.strategy), Belief.root(rules)
    values = BlueprintLeaf(rules, policy)(subgames.leaves, reached, reached)
    pairs = float(root.ranges[0] @ root.opposing[0])
    for player in (0, 1):
        arrays.write_gradient(player, arrays.strategy)
        arrays.write_leaves(player, values[player] * subgames.leaves.opposing(reached, player))
        arrays.improve(player, Weights())
        got = float(root.ranges[player] @ arrays.root_entries(player)[0]) / pairs
        assert got == pytest.approx(tp.judge(game, policy).value[player], abs=1e-9)


def test_private_moves_behind_leaves() -> None:
    game, rules = tp.compile("modified_rps"), public_tree("modified_rps")
    check_values(game, rules, random_policy(game, 0), Horizon(1))
    assert expected_payoffs(rules, rules.first_state(), (always(2), always(1))) == pytest.approx(2.0)


def test_biases() -> None:
    game = tp.compile("leduc_poker")
    uniform = tp.Policy.uniform(game)
    plain, fold, call, rise = biased_policies(uniform)
    assert plain is uniform
    facing = next(state for _, state in game.lookup if len(uniform[state]) == 3)
    assert fold[facing] == pytest.approx({0: 10 / 12, 1: 1 / 12, 2: 1 / 12})
    assert call[facing] == pytest.approx({0: 1 / 12, 1: 10 / 12, 2: 1 / 12})
    assert rise[facing] == pytest.approx({0: 1 / 12, 1: 1 / 12, 2: 10 / 12})
    assert biased_policy(uniform, ["fold"], 1.0).probabilities == pytest.approx(uniform.probabilities)


def test_what_is_refused() -> None:
    rules, game = public_tree("kuhn_poker"), tp.compile("kuhn_poker")
    uniform = tp.Policy.uniform(game)
    with pytest.raises(AlgorithmError, match="kuhn_poker has no action called fold; give the names"):
        biased_policies(uniform)
    with pytest.raises(AlgorithmError, match="the bias factor is 0"):
        biased_policy(uniform, ["bet"], 0)
    for choices in ({2: [uniform]}, {1: []}):
        with pytest.raises(AlgorithmError, match="give at least one policy for player 0, player 1 or both"):
            BlueprintLeaf(rules, uniform, choices)
    leaf = BlueprintLeaf(rules, uniform, {1: [uniform, uniform]})
    with pytest.raises(AlgorithmError, match=r"cfr-avg does not support choices of continuations at leaves"):
        SubgameSearch(cut_states(rules, [rules.first_state()], Horizon(1)), METHODS["cfr-avg"], leaf)
