"""Searches that start from a guess: as if it had been played in the first iterations, and worth it if the guess is good."""

import numpy as np
import pytest

from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.leaves import gather
from treeplex.engine.tree.sweeps import backup, best_value, normalise, reach
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_tree
from treeplex.search import METHODS, Belief, ExactLeaf, NoLeaf, SubgameSearch
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.leaf import LeafValue
from treeplex.search.play_distribution import Node, OpenState, add_policies
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.batch import Subgames, cut_states
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search, start_warm
from treeplex.solvers import make_solver
from treeplex.solvers.rules.rule import average_after
from treeplex.solvers.rules.variants import VARIANTS

DICE = "liars_dice(dice_sides=3)"
FAMILY = sorted(VARIANTS.keys() & METHODS.keys())


class RecordingLeaf:
    """A guess that reads a policy of the compiled game."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __call__(self, subgames: Subgames, rows: np.ndarray, reached: Ranges, policy: np.ndarray) -> None:
        game, rules = self.policy.game, subgames.game
        for row in rows:
            state = subgames.decisions.states[row]
            player = rules.visit(state.node).player  # type: ignore[union-attr]
            for hand in np.flatnonzero(subgames.infosets[row] >= 0):
                first, stride, count = subgames.tree.infoset_layout[subgames.infosets[row, hand]]
                own = game.sequences_at(game.lookup[player, rules.infostate(state.node, player, int(hand))])
                policy[first : first + stride * count : stride] = self.policy.probabilities[own]


class ProbabilityGuess:
    """A guess that reads probabilities of the search's own sequences, float64 [Q]."""

    def __init__(self, probabilities: np.ndarray) -> None:
        self.probabilities = probabilities

    def __call__(self, subgames: Subgames, rows: np.ndarray, reached: Ranges, policy: np.ndarray) -> None:
        infosets = subgames.infosets[rows]
        there = np.isin(subgames.tree.sequence_infoset, infosets[infosets >= 0])
        policy[there] = self.probabilities[there]


class ToldLeaf(ExactLeaf):
    """Exact leaves and a guess."""

    def __init__(self, spec: str, warm: int, policy: Policy) -> None:
        super().__init__(iterations=30)
        self.warm, self.guess = warm, RecordingLeaf(policy)


def fresh(spec: str, method: str, leaf: LeafValue | None = None, depth: int | None = None, horizon: int = 60) -> SubgameSearch:
    rules = public_tree(spec)
    root = Belief.root(rules)
    ranges = root.ranges[0][None], root.ranges[1][None]
    return SubgameSearch(
        cut_states(rules, [root.state], Horizon(depth)), METHODS[method], leaf or NoLeaf(), ranges, horizon=horizon
    )


def solution(spec: str) -> Policy:
    solver = make_solver(compile_game(spec), "lp")
    solver.run(1)
    return solver.average_policy()


def some_policy(spec: str, seed: int = 0) -> Policy:
    """A random policy, everything positive."""
    game = compile_game(spec)
    generator = np.random.default_rng(seed)
    solver = make_solver(game, "cfr")
    solver.run(3)
    probabilities = solver.average_policy().probabilities * generator.uniform(0.5, 2.0, int(game.tree.sequence_offsets[-1]))
    return Policy(game, normalised(game, probabilities))


@pytest.mark.parametrize("method", [*FAMILY, "fp", "linear-fp", "cfr-avg", "lcfr-avg-modified"])
@pytest.mark.parametrize("depth", [None, 2])
def test_the_average_is_as_if_the_guess_had_been_played_fifteen_times(method: str, depth: int | None) -> None:
    """average after n more = its weight in 15 iterations times the guess + what the n more add."""
    spec = "kuhn_poker"
    guess = some_policy(spec)
    search = fresh(spec, method, ExactLeaf(iterations=20), depth)
    start_warm(search, RecordingLeaf(guess), 15)
    assert search.iteration == 15
    played = search.strategy.copy()
    scheme = search.method.scheme
    expected = search.average.copy()
    if method in FAMILY:
        share = 0.0
        for t in range(1, 16):
            row = scheme.schedule(t, search.horizon, **scheme.parameters)  # type: ignore[union-attr]
            share = row.average_discount * share + row.average
        assert expected == pytest.approx(share * played)
        for t in range(16, 41):
            now = search.strategy.copy()
            search.run(1)
            row = scheme.schedule(t, search.horizon, **scheme.parameters)  # type: ignore[union-attr]
            second = slice(*search.subgames.tree.sequence_offsets[1:3])
            expected = row.average_discount * expected + row.average * now
            assert search.average[: second.start] == pytest.approx(expected[: second.start])
        whole = average_after(scheme, search.horizon, 40)
        assert search.sum_weights == pytest.approx([whole[1], whole[1]])
    else:
        search.run(25)
        assert np.isfinite(search.average).all()
        assert search.sum_weights[0] == pytest.approx(average_after(scheme, search.horizon, 40)[1])


def normalise_all(subgames: Subgames, weights: np.ndarray, policy: np.ndarray) -> None:
    for player in (0, 1):
        normalise(subgames.tree, player, weights, policy)


@pytest.mark.parametrize("method", FAMILY)
def test_where_nothing_follows_it_is_the_search_itself_with_the_guess_played_fifteen_times(method: str) -> None:
    """In a matrix game best responses below are none, so regrets, average and values are those of CFR told what to play."""
    warm, told = fresh("modified_rps", method), fresh("modified_rps", method)
    own = told.average_policy()
    normalise_all(told.subgames, np.random.default_rng(0).random(len(own)), own)
    start_warm(warm, ProbabilityGuess(own), 15)
    for _ in range(15):
        for player in (0, 1):
            reach(told.subgames.tree, player, own, told.strategy)
        told.policy[:] = own
        told._simultaneous(
            METHODS[method].scheme.schedule(told.iteration + 1, told.horizon, **METHODS[method].scheme.parameters)
        )
        told.iteration += 1
    inner = told.subgames.tree.sequence_infoset >= 0
    assert warm.regrets[inner] == pytest.approx(told.regrets[inner], abs=1e-9)
    assert warm.average[inner] == pytest.approx(told.average[inner])
    for player in (0, 1):
        assert warm.root_values()[player] == pytest.approx(told.root_values()[player])


def test_regrets_are_fifteen_times_what_a_best_response_gains() -> None:
    search = fresh(DICE, "cfr")
    start_warm(search, RecordingLeaf(some_policy(DICE)), 15)
    tree, values = search.subgames.tree, workspace(search.subgames.tree)
    plain = np.zeros(1)
    for player in (0, 1):
        gradient(tree, search.subgames.payoff, player, search.strategy, values[0])
        plain = values[0].copy()
        best_value(tree, player, values[0], values[1])
        backup(tree, player, search.policy, plain, workspace(tree)[1])
        blocks = tree.blocks[tree.block_offsets[player] : tree.block_offsets[player + 1]]
        for first, _, count, actions in blocks:
            for j in range(count):
                own = first + np.arange(actions) * count + j
                expected = 15 * (values[0][own] - search.policy[own] @ values[0][own])
                assert search.regrets[own] == pytest.approx(expected)
        got = np.zeros(search.subgames.roots.sequences[player].shape)
        gather(search.subgames.roots.sequences[player], plain, got)
        assert search.sums[player] == pytest.approx(15 * got)


def exploitability(spec: str, search: SubgameSearch, sequences: np.ndarray) -> float:
    """Of a strategy of an uncut search at the root, in sequence form."""
    game, rules = compile_game(spec), public_tree(spec)
    root = Belief.root(rules)
    weights = np.zeros(int(game.tree.sequence_offsets[-1]))
    share = OpenState(Node((), root.state, (root.ranges[0][None], root.ranges[1][None])), np.array([0]), np.array([1]))
    add_policies(game, rules, share, search.subgames, 0, sequences, weights)
    return judge(game, Policy(game, normalised(game, weights))).exploitability


@pytest.mark.parametrize("more", [2, 5, 17, 49])
def test_a_solution_as_guess_leaves_only_the_error_of_what_is_played_after_it(more: int) -> None:
    """Exploitability is convex in sequence form, so that of the average is at most the later iterations' share of theirs."""
    warm, cold = fresh(DICE, "cfr"), fresh(DICE, "cfr")
    start_warm(warm, RecordingLeaf(solution(DICE)), 15)
    guess = warm.average.copy()
    assert exploitability(DICE, warm, guess) < 1e-6
    warm.run(more), cold.run(15 + more)
    found = exploitability(DICE, warm, warm.average)
    assert found <= more / (15 + more) * exploitability(DICE, warm, warm.average - guess) + 1e-9
    assert found < exploitability(DICE, cold, cold.average)


@pytest.mark.parametrize("depth", [1, 2])
def test_guesses_with_leaves_below(depth: int) -> None:
    """The values at the roots of a search that hardly goes beyond a solution are the game's."""
    leaf = ToldLeaf(DICE, 15, solution(DICE))
    rules = public_tree(DICE)
    root = Belief.root(rules)
    ranges = root.ranges[0][None], root.ranges[1][None]
    search = begin_search(cut_states(rules, [root.state], Horizon(depth)), METHODS["dcfr"], leaf, ranges, 16)
    assert search.iteration == 15
    assert root.beliefs[0] @ search.root_values()[0][0] == pytest.approx(1 / 9, abs=0.02)


def test_short_searches_leave_an_iteration_and_no_weight_changes_nothing() -> None:
    rules = public_tree(DICE)
    root = Belief.root(rules)
    ranges, subgames = (root.ranges[0][None], root.ranges[1][None]), cut_states(rules, [root.state], Horizon(1))
    leaf = ToldLeaf(DICE, 15, some_policy(DICE))
    assert begin_search(subgames, METHODS["dcfr"], leaf, ranges, 8).iteration == 7
    assert begin_search(subgames, METHODS["dcfr"], leaf, ranges, 1).iteration == 0
    leaf.warm = 0
    cold, plain = (begin_search(subgames, METHODS["dcfr"], each, ranges, 8) for each in (leaf, ExactLeaf(iterations=30)))
    cold.run(8), plain.run(8)
    assert np.array_equal(cold.average, plain.average)


def test_the_agent_plays_the_guess_in_the_iterations_it_counts_as() -> None:
    leaf = ToldLeaf(DICE, 5, some_policy(DICE))
    agent = SearchAgent(public_tree(DICE), leaf, PlaythroughSettings(iterations=8, depth=1), np.random.default_rng(0))
    agent.policy()
    assert agent._drawn is not None
    policies = agent._drawn[0].policies
    assert len(policies) == 8
    assert (policies[:5] == policies[0]).all()
    assert not np.array_equal(policies[5], policies[0])
