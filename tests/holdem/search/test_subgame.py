"""Search in hold'em: a turn whose subgames end with the betting round, against the whole game by linear programming."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import treeplex as tp
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Chance, Decision, PublicState
from treeplex.holdem.rules.rules import PokerPublicTree, PokerState, cards_of_deal
from treeplex.learn.common.encoding import Encoding
from treeplex.search import METHODS, Belief, ExactLeaf, NoLeaf, SubgameSearch
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.batch import Subgames, cut_states
from treeplex.search.subgames.horizon import Horizon
from treeplex.solvers.exact.lp import LinearProgram

TURN = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])"
"""Ten cards, four on the table: 15 hands, six rivers, one bet a street, of half the pot or all-in."""
ROUND = Horizon(rounds=True, endgame=7)
"""To the end of the round; the river of an all-in is seven public nodes."""


@cache
def rules_of_the_turn() -> PokerPublicTree:
    rules = public_tree(TURN)
    assert isinstance(rules, PokerPublicTree)
    return rules


@cache
def exact_value() -> float:
    """What player 0 gets in an equilibrium of the whole game."""
    game = compile_game(TURN)
    exact = LinearProgram(game)
    exact.run(1)
    return float(tp.judge(game, exact.average_policy()).value[0])


def searched(method: str, iterations: int, horizon: Horizon = ROUND) -> tuple[Subgames, SubgameSearch]:
    rules = rules_of_the_turn()
    root = Belief.root(rules)
    subgames = cut_states(rules, [root.state], horizon)
    leaf = ExactLeaf(iterations=40) if len(subgames.leaves) else NoLeaf()
    search = SubgameSearch(subgames, METHODS[method], leaf, (root.ranges[0][None], root.ranges[1][None]), horizon=iterations)
    search.run(iterations)
    return subgames, search


def mean_value(search: SubgameSearch) -> float:
    """Half of what player 0 gets, less what player 1 gets, by the values at the root."""
    beliefs, values = Belief.root(rules_of_the_turn()).beliefs, search.root_values()
    return float(beliefs[0] @ values[0][0] - beliefs[1] @ values[1][0]) / 2


def test_subgames_end_with_the_betting_round() -> None:
    """Leaves are where a card comes, before it is seen; after an all-in too, unless so little is left whole."""
    rules = rules_of_the_turn()
    subgames, _ = searched("dcfr", 1)
    assert [rules.game.lines[state.node[0]] for state in subgames.leaves.states] == [  # type: ignore[index]
        "check,check",
        "check,bet 1,call",
        "bet 1,call",
    ]
    assert all(isinstance(rules.visit(state.node), Chance) for state in subgames.leaves.states)
    below = cut_states(rules, list(subgames.leaves.states), ROUND)
    assert len(below.leaves) == 0
    assert {len(path) for path in below.decisions.paths} == {1, 2, 3}  # each begins with the river
    root = Belief.root(rules).state
    assert [len(cut_states(rules, [root], Horizon(rounds=True, endgame=most)).leaves) for most in (0, 6, 7)] == [5, 5, 3]


@pytest.mark.quick_cases("cfr-avg-modified-simultaneous")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_finds_the_value_of_the_whole_game(method: str) -> None:
    _, search = searched(method, 100)
    assert mean_value(search) == pytest.approx(exact_value(), abs=0.01)


def test_without_an_end_of_the_round_it_is_the_whole_game() -> None:
    _, search = searched("dcfr", 300, Horizon())
    assert mean_value(search) == pytest.approx(exact_value(), abs=2e-3)
    assert mean_value(search) == pytest.approx(tp.solve(TURN, "dcfr", iterations=300).value[0], abs=2e-3)


@pytest.mark.slow
def test_what_search_plays_is_nearly_an_equilibrium() -> None:
    rules, game = rules_of_the_turn(), compile_game(TURN)
    settings = PlaythroughSettings(method="dcfr", iterations=32, depth=0, rounds=True, endgame=7, playthroughs=16, batch=16)
    policy = playthrough_policy(game, rules, ExactLeaf(iterations=40), settings, np.random.default_rng(0))
    assert tp.judge(game, policy).exploitability < 0.1 < tp.judge(game, Policy.uniform(game)).exploitability / 5


def test_a_hand_that_nobody_believes_in_is_worth_what_it_gets_by_best_play() -> None:
    """Equation 1: a player whose range holds only hands that fold would call with the best hand all the same."""
    rules = public_tree("kuhn_poker")
    subgames = cut_states(rules, [Belief.root(rules).state], Horizon(2))
    (leaf,) = [k for k, path in enumerate(subgames.leaves.paths) if path == (0, 1)]  # pass, bet: player 0 is to answer
    reached = tuple(np.ones(own.shape) for own in subgames.leaves.sequences)
    reached[0][leaf] = [1.0, 0.0, 0.0]
    values = ExactLeaf(iterations=100)(subgames.leaves, reached, reached)  # type: ignore[arg-type]
    assert values[0][leaf] == pytest.approx([-1.0, values[0][leaf][1], 2.0], abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_beliefs_after_a_card_are_those_of_all_histories(seed: int) -> None:
    """Random ranges on the turn; then the joint distribution over hands by enumerating deals, and the one of the search."""
    rules, generator = rules_of_the_turn(), np.random.default_rng(seed)
    state = Belief.root(rules)
    ranges = [generator.random(15), generator.random(15)]
    for label in (1, 1):  # check, check
        state = state.after(label, np.full((len(rules.visit(state.state.node).actions), 15), 0.5))  # type: ignore[union-attr]
    belief = Belief.of(rules, state.state, ranges)
    visited = rules.visit(belief.state.node)
    assert isinstance(visited, Chance)
    game = rules.game
    for label, _ in visited.outcomes:
        after = belief.after(label)
        (card,) = cards_of_deal(label, 1)
        expected = np.zeros((15, 15))
        for first, second in product(range(15), repeat=2):
            chance = rules.prior[first, second] * ranges[0][first] * ranges[1][second]
            if chance:
                hands = int(rules.hands[first]), int(rules.hands[second])
                node = belief.state.node[0]  # type: ignore[index]
                deals = dict(PokerState(game, hands, node, game.spot.board).chance_outcomes())
                expected[first, second] = chance * deals.get(label, 0.0)
        assert after.joint == pytest.approx(expected / expected.sum())
        holds = np.array([card in game.spot.format.hands[hand] for hand in rules.hands])
        assert holds.sum() == 5
        for player in (0, 1):
            assert (after.ranges[player][holds] == 0).all()
            assert (after.beliefs[player][~holds] > 0).all()


def test_rows_say_nothing_of_hands_that_a_card_excludes_and_give_back_ranges_and_values() -> None:
    rules, generator = rules_of_the_turn(), np.random.default_rng(0)
    encoding = Encoding(rules)
    root = Belief.root(rules).state
    states = [state for _, state in walk(rules, root) if isinstance(rules.visit(state.node), Chance | Decision)]
    places = cut_states(rules, states[:1] + [state for state in states if len(state.node[1]) == 5][:40]).roots  # type: ignore[index]
    prepared = encoding.prepared(places)
    reached = tuple(generator.random((len(places), 15)) for _ in range(2))
    rows = prepared.write((reached[0], reached[1])).copy()
    for k, state in enumerate(places.states):
        actor = prepared.slots[0][k]  # where player 0's part is
        shown = set(state.node[1])  # type: ignore[index]
        holds = np.array([bool(shown & set(map(int, rules.game.spot.format.hands[hand]))) for hand in rules.hands])
        for player in (0, 1):
            slot = actor if player == 0 else 1 - actor
            beliefs = rows[k, encoding.features + 15 * slot :][:15]
            assert (beliefs[holds] == 0).all()
            assert beliefs.sum() == pytest.approx(1.0, abs=1e-6)
            base = state.weight.sum(axis=1 - player)
            undone = np.divide(beliefs, base, out=np.zeros(15), where=base > 0)
            possible = np.where(base > 0, reached[player][k], 0.0)
            assert undone / undone.sum() == pytest.approx(possible / possible.sum(), abs=1e-6)
    values = tuple(generator.normal(size=(len(places), 15)).astype(np.float32).astype(float) for _ in range(2))
    again = prepared.read(prepared.targets((values[0], values[1])), (15, 15))
    assert again[0] == pytest.approx(values[0])
    assert again[1] == pytest.approx(values[1])


def walk(rules: PokerPublicTree, root: PublicState) -> list[tuple[tuple[int, ...], PublicState]]:
    """All public states with the way to them."""
    found: list[tuple[tuple[int, ...], PublicState]] = [((), root)]
    for path, state in found:
        visited, after = state.successors(rules)
        if isinstance(visited, Chance | Decision):
            labels = [label for label, _ in visited.outcomes] if isinstance(visited, Chance) else list(visited.actions)
            found += [((*path, label), child) for label, child in zip(labels, after, strict=True)]
    return found
