"""Rounds searched by sampling, against the same rounds as compiled games and against slow sums."""

from functools import cache, partial

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.betting.rounds import pay_hands
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_game
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.betting.nodes import dealt, number_nodes, visit_public
from treeplex.games.card_game import CardGame
from treeplex.holdem.blueprint.agent import guided_betting
from treeplex.holdem.blueprint.policy import HoldemBlueprint, bucket_rows_of, shares_of
from treeplex.holdem.blueprint.solver import BlueprintSolver
from treeplex.search.many_players.sampled_rounds import DrawnDeals, GuidedBetting, SampledResult, SampledRounds
from treeplex.search.many_players.search import Continuations
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.many_players import RoundSubgame, cut_round
from treeplex.search.subgames.policy_tables import table_at

pytestmark = pytest.mark.slow

KUHN, LEDUC = "kuhn_poker(players=3)", "leduc_poker(players=3,ranks=2,suits=2,raises=1)"


@cache
def blueprint(spec: str, iterations: int = 5) -> tuple[CardGame, Policy]:
    game = compile_game(spec)
    found = public_game(spec)
    assert isinstance(found, CardGame)
    return found, tp.solve(game, "cfr", iterations=iterations).policy


@cache
def guided(spec: str) -> GuidedBetting:
    return GuidedBetting.of_policy(*blueprint(spec))


def in_subgame(found: SampledResult, subgame: RoundSubgame, ranges: tuple[np.ndarray, ...]) -> Policy:
    """What a search by sampling found, its choices among continuations included, in the same round as a compiled game."""
    rules, searched = subgame.game, found.cut.round
    compiled = subgame.compiled(ranges)
    policy, waiting = np.ones(int(compiled.tree.sequence_offsets[-1])), [subgame.state]
    while waiting:
        state = waiting.pop()
        options = rules.options(state)
        if options.player >= 0:
            table, sequences = found.table(state, average=True), subgame.sequences[state]
            for hand in np.flatnonzero(sequences[0] >= 0):
                policy[sequences[:, hand]] = table[:, hand]
            waiting += [rules.after(state, label) for label in options.labels]
        elif options.player == CHANCE:
            leaf = searched.leaves.tolist().index(found.guided.find(rules.after(state, options.labels[0])))
            for player, row in enumerate(searched.choices[leaf].tolist()):
                for hand in range(len(rules.hands)):
                    text = f"continuation of {hand} at {rules.name_of(state)}"
                    if row >= 0 and (player, text) in compiled.lookup:
                        own = compiled.sequences_at(compiled.lookup[player, text])
                        policy[own] = found.tables.average[row : row + len(own), hand]
        else:
            assert options.player == TERMINAL
    return Policy(compiled, normalised(compiled, policy))


@pytest.mark.parametrize("spec", [KUHN, LEDUC])
def test_sampling_finds_the_equilibrium_that_sums_over_deals_find(spec: str) -> None:
    """What all players can gain in the enumerated round, choices among continuations included, goes to zero."""
    rules, policy = blueprint(spec)
    belief = Belief.root(rules)
    subgame = cut_round(rules, belief.state, Continuations(rules, policy))
    gains = []
    for iterations in (20, 1500):
        found = SampledRounds(guided(spec), iterations=iterations, deals=32, seed=1).solve(belief.state, belief.ranges, {})
        gains.append(tp.nash_conv(subgame.compiled(belief.ranges), in_subgame(found, subgame, belief.ranges)))
    assert gains[1] < 0.02
    assert gains[1] < 0.2 * gains[0]


def test_a_later_round_is_searched_from_its_beliefs() -> None:
    rules, policy = blueprint(LEDUC)
    belief = Belief.root(rules)
    while rules.options(belief.state).player != CHANCE:
        belief = belief.after(1, table_at(policy, rules, belief.state))
    belief = belief.after(2)
    subgame = cut_round(rules, belief.state, Continuations(rules, policy))
    found = SampledRounds(guided(LEDUC), iterations=1000, deals=16).solve(belief.state, belief.ranges, {})
    assert tp.nash_conv(subgame.compiled(belief.ranges), in_subgame(found, subgame, belief.ranges)) < 0.02


def test_what_is_frozen_stays_and_the_time_is_kept() -> None:
    rules, _ = blueprint(LEDUC)
    root, ranges = rules.first_state(), Belief.root(rules).ranges
    table = np.random.default_rng(0).dirichlet(np.ones(2), size=4).T
    found = SampledRounds(guided(LEDUC), iterations=200).solve(root, ranges, {root: table})
    for average in (True, False):
        np.testing.assert_allclose(found.table(root, average=average), table)
    quick = SampledRounds(guided(LEDUC), iterations=10**6).solve(root, ranges, {}, think=0.05)
    assert 1 <= quick.iterations < 10**5
    again = [SampledRounds(guided(LEDUC), iterations=20).solve(root, ranges, {}).table(root, average=True) for _ in range(2)]
    np.testing.assert_array_equal(*again)


def test_the_blueprint_is_played_as_it_is() -> None:
    rules, policy = blueprint(LEDUC)
    state = rules.first_state()
    for label in (1, 2, 1, 1):
        np.testing.assert_allclose(guided(LEDUC).policy_at(state), table_at(policy, rules, state), atol=1e-6)
        state = rules.after(state, label)
    assert rules.options(state).player == CHANCE
    state = rules.after(state, 3)
    np.testing.assert_allclose(guided(LEDUC).policy_at(state), table_at(policy, rules, state), atol=1e-6)


@pytest.mark.parametrize("most", [10**6, 0])
def test_deals_are_drawn_as_beliefs_say(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a table of all combinations, and independently until no two hands share a card."""
    monkeypatch.setattr("treeplex.search.many_players.sampled_rounds.MOST_JOINT", most)
    rules, _ = blueprint(LEDUC)
    ranges = tuple(np.array(own) for own in ([0.7, 0.1, 0.1, 0.1], [0.6, 0.2, 0.1, 0.1], [0.25] * 4))
    drawn = DrawnDeals(guided(LEDUC), rules.first_state(), ranges, np.random.default_rng(1))
    deals = drawn.take(40_000)
    found = np.zeros((4, 4, 4))
    np.add.at(found, tuple(deals.hands.T), 1 / len(deals.hands))
    joint = rules.joint(rules.first_state(), ranges)
    assert abs(found - joint / joint.sum()).max() < 0.01
    assert (deals.keys[deals.boards[:, None], deals.hands] >= 0).all()
    apart = DrawnDeals(guided(LEDUC), rules.first_state(), (np.ones(4), np.ones(4), np.ones(4)), np.random.default_rng(1))
    assert apart.take(10).hands.shape == (10, 3)
    with pytest.raises(GameError, match="no deal of these ranges"):
        DrawnDeals(guided(LEDUC), rules.first_state(), (np.eye(4)[0],) * 3, np.random.default_rng(1)).take(1)


def test_hands_are_paid_what_the_rules_pay() -> None:
    """Side pots, odd chips and rake, for all hands of a player at once."""
    game = tp.load("holdem(players=4,ranks=5,suits=2,hole=1,deal=[0;1],stack=[9;4;6;7],blinds=[1;3],rake=0.05,sizes=[a])")
    rules, random, checked = game.public_game(), np.random.default_rng(0), 0
    nodes, states = number_nodes(dealt(rules, rules.first_state()), partial(visit_public, rules), 4, (1, 1))
    keys = np.maximum(np.arange(10) // 2, 0)
    for node in random.integers(len(states), size=100):
        for slot, after in enumerate(visit_public(rules, states[node]).after, nodes.first[node]):
            if nodes.child[slot] < 0:
                held, player, values = random.permutation(10)[:4], int(random.integers(4)), np.zeros(10)
                pay_hands(nodes.ends, -1 - nodes.child[slot], keys, held, player, values)
                deals = np.repeat(held[None], 10, axis=0)
                deals[:, player] = np.arange(10)
                np.testing.assert_allclose(values, rules.settlement(after).payoffs(keys[deals])[:, player])
                checked += 1
    assert checked > 50


def test_hands_in_buckets_are_searched_one_by_one() -> None:
    """Twelve cards, two of them in hand and five on the board: the blueprint has buckets, the search has hands."""
    game = tp.load("holdem(players=3,ranks=6,suits=2,stack=6,preflop=[a],sizes=[a],raises=[1;1;1;1])")
    rows = bucket_rows_of(game, (4, 1, 1, 2), "percentile", False)
    solver = BlueprintSolver(game.rules, rows, deals=4)
    solver.run(20)
    shares = shares_of(solver.tables.average, solver.nodes, rows.counts)
    public = game.public_game()
    known = guided_betting(public, HoldemBlueprint(game, rows, solver.nodes, shares))
    state, ranges = public.first_state(), public.first_ranges()
    deals = DrawnDeals(known, state, ranges, np.random.default_rng(0)).take(50)
    for deal, board in zip(deals.hands, deals.boards, strict=True):
        assert len(set(public.hands[deal].ravel().tolist())) == 6
        assert (deals.keys[board, deal] >= 0).all()
    assert len(np.unique(deals.keys, axis=0)) > 100
    table = SampledRounds(known, iterations=300, deals=16).solve(state, ranges, {}).table(state, average=True)
    assert table.sum(axis=0) == pytest.approx(np.ones(66))
    assert table[0].max() > 0.9 > 0.1 > table[0].min()


def test_settings_that_do_not_fit() -> None:
    with pytest.raises(AlgorithmError, match="1 to 4 continuations"):
        SampledRounds(guided(KUHN), count=5)
    rules, _ = blueprint(LEDUC)
    state = rules.first_state()
    for label in (1, 1, 1):
        state = rules.after(state, label)
    with pytest.raises(GameError, match="no player acts"):
        SampledRounds(guided(LEDUC)).solve(state, Belief.root(rules).ranges, {})
