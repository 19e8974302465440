"""Continuations behind leaves of hold'em: against the enumerated rules of the same spot, and what is drawn against all."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.poker_games import Both
from tests.spot_agents import small_spot
from treeplex.errors import AlgorithmError
from treeplex.forms.sources.load import public_tree
from treeplex.holdem.agents.spot_blueprint import SpotHands
from treeplex.holdem.betting.tree import StreetEnd
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.rules.public import HoldemGame, HoldemState
from treeplex.holdem.rules.rules import PokerPublicTree
from treeplex.holdem.search.leaves.continuations import ContinuationPayoffs, boards_ahead, counterpart
from treeplex.holdem.spots.spot import Rake
from treeplex.search import METHODS, Belief, BlueprintLeaf, Horizon, SubgameSearch, biased_policies, cut
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.settings import ResolveSettings
from treeplex.search.subgames.batch import PairPlaces

ROUND, ALONE = Horizon(rounds=1), Horizon(rounds=1, all_in=True)
FLOP = "TcJdQc"


@cache
def random_blueprint(board: str, seed: int) -> tuple[Both, HoldemPolicy]:
    """A spot for both engines, and a random policy of it."""
    both = Both(small_spot("100%,a" if len(board) > 6 else "a", board))
    average = np.random.default_rng(seed).random(both.hands.stored)
    return both, HoldemPolicy(both.hands, average, np.zeros(0, np.float32), (), len(both.hands.boards))


def both_leaves(board: str, count: int, player: int) -> tuple[PokerPublicTree, BlueprintLeaf, HoldemGame, BlueprintLeaf]:
    """The enumerated rules with a leaf, and the spot as hold'em with one; a player chooses among so many continuations."""
    both, policy = random_blueprint(board, 0)
    rules, game = public_tree(both.rules), HoldemGame(both.spot, both.hands.betting)
    assert isinstance(rules, PokerPublicTree)
    plain, hands = both.policy(policy.average), SpotHands(policy)
    pairs = BlueprintLeaf(rules, plain, {player: biased_policies(plain)[:count]})
    return rules, pairs, game, BlueprintLeaf(game, hands, {player: biased_policies(hands)[:count]}, boards=42)


@pytest.mark.slow
@pytest.mark.parametrize(("board", "count", "player"), [("TcJdQcKd", 4, 0), ("TcJdQcKd", 1, 1), (FLOP, 2, 1)])
def test_values_are_those_of_the_enumerated_rules(board: str, count: int, player: int) -> None:
    """One street below the leaves, and two."""
    rules, pairs, game, hands = both_leaves(board, count, player)
    there, here = cut(rules, [Belief.root(rules)], ROUND).leaves, cut(game, [Belief.root(game)], ROUND).leaves
    assert isinstance(there, PairPlaces)
    numbers = {state.node: k for k, state in enumerate(there.true_states)}
    same = [numbers[tuple(state)] for state in here.states if isinstance(state, HoldemState)]
    random, shapes = np.random.default_rng(1), [count if each == player else 1 for each in (0, 1)]
    whole = tuple(random.random((shapes[each], *can.shape)) * can for each, can in enumerate(here.possible))
    few = [np.zeros((shapes[each], len(there), there.widths[each])) for each in (0, 1)]
    for own, other in zip(few, whole, strict=True):
        own[:, same] = other[:, :, rules.hands]
    if count == 1:
        whole, few = tuple(own[0] for own in whole), [own[0] for own in few]
    found, expected = hands(here, whole, whole), pairs(there, tuple(few), tuple(few))
    for own, other in zip(found, expected, strict=True):
        assert np.abs(own[..., rules.hands] - other[..., same, :]).max() < 1e-5
        assert np.abs(own).max() > 1.0


@pytest.mark.slow
def test_searches_of_a_turn_find_the_same() -> None:
    """The opponent chooses among four continuations; both engines solve the turn the same."""
    rules, pairs, game, hands = both_leaves("TcJdQcKd", 4, 1)
    values = []
    for public, leaf in ((rules, pairs), (game, hands)):
        root = Belief.root(public)
        search = SubgameSearch(cut(public, [root], ROUND), METHODS["cfr+"], leaf, horizon=200)
        search.run(200)
        values.append(search.mean_values()[0][0])
    assert values[0] == pytest.approx(values[1], abs=2e-3)


def test_all_ins_may_be_leaves() -> None:
    """A flop by itself, without any board behind it, is worth what it is with the cards dealt inside."""
    _, policy = random_blueprint(FLOP, 0)
    hands = SpotHands(policy)
    values = []
    for horizon in (ROUND, Horizon(rounds=1, all_in=True)):
        leaf = BlueprintLeaf(hands.game, hands, {1: biased_policies(hands)}, boards=42)
        subgame = cut(hands.game, [Belief.root(hands.game)], horizon)
        search = SubgameSearch(subgame, METHODS["cfr+"], leaf, horizon=30)
        search.run(30)
        values.append(np.concatenate(search.root_values()))
        assert len(subgame.leaves) == (1 if horizon is ROUND else 3)
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_boards_that_are_drawn() -> None:
    """All of them, or as evenly as can be; and values from a few are close to those from all."""
    _, policy = random_blueprint(FLOP, 0)
    format, board = policy.spot.format, policy.spot.board
    whole, every = boards_ahead(format, board, 42)
    assert every
    assert len({frozenset(each[3:]) for each in whole}) == 21
    assert len(set(whole)) == 42
    some, every = boards_ahead(format, board, 16)
    assert not every
    assert len(some) == 16
    turns = [each[3] for each in some]
    assert turns == sorted(turns)
    assert max(map(turns.count, turns)) - min(map(turns.count, turns)) <= 1
    assert len(set(turns)) == 7
    for each, most in ((HoldemPolicy.uniform(policy.game), 0.02), (policy, 0.15)):
        hands = SpotHands(each)
        state = next(HoldemState(k, board) for k, node in enumerate(hands.game.tree.nodes) if isinstance(node, StreetEnd))
        held = np.flatnonzero(hands.game.free(board))
        found = [ContinuationPayoffs(([hands], [hands]), count).payoffs([state], (held, held)) for count in (42, 16)]
        assert [boards for _, boards in found] == [42, 16]
        exact, drawn = (pairs[0][0, 0] for pairs, _ in found)
        assert np.abs((exact - drawn).sum(axis=1)).mean() < most * np.abs(exact.sum(axis=1)).mean()


def test_as_many_boards_as_there_is_time_for() -> None:
    """One at least; drawn ones are as many as fit, and where all are looked at, time does not matter."""
    _, policy = random_blueprint(FLOP, 0)
    hands = SpotHands(policy)
    ends = [k for k, node in enumerate(hands.game.tree.nodes) if isinstance(node, StreetEnd) and node.street == 1]
    states = [HoldemState(number, policy.spot.board) for number in ends]
    held = np.flatnonzero(hands.game.free(policy.spot.board))
    for most, seconds, boards in ((16, 0.0, 1), (16, 1e3, 16), (42, 0.0, 42)):
        pairs, looked_at = ContinuationPayoffs(([hands], [hands]), most).payoffs(states, (held, held), seconds)
        assert looked_at == boards
        assert all(np.isfinite(each).all() and np.abs(each).max() > 1.0 for each in pairs)
    game = hands.game
    agent = ResolvingAgent(
        game, ResolveSettings(every="round", iterations=3), BlueprintLeaf(game, hands, boards=16), horizon=ALONE
    )
    agent.think = 1e3
    agent.policy()
    assert agent.thought is not None
    assert agent.thought.boards == 16


def test_hands_that_a_later_board_blocks_change_nothing() -> None:
    """A subgame of two streets looks at all hands of its first board behind leaves after the second."""
    _, policy = random_blueprint(FLOP, 0)
    hands, board = SpotHands(policy), (*policy.spot.board, policy.spot.format.deck[1])
    game = hands.game
    end = next(k for k, node in enumerate(game.tree.nodes) if isinstance(node, StreetEnd) and node.street == 2)
    first, later = (np.flatnonzero(game.free(cards)) for cards in (policy.spot.board, board))
    places = np.searchsorted(first, later)
    continued = ContinuationPayoffs(([hands], [hands]), 3)
    ((every,), _), ((free,), _) = (continued.payoffs([HoldemState(end, board)], (own, own)) for own in (first, later))
    assert np.array_equal(every[..., places[:, None], places], free)
    assert np.array_equal(
        continued.all_in(board, (first, first))[..., places[:, None], places], continued.all_in(board, (later, later))
    )
    search = SubgameSearch(
        cut(game, [Belief.root(game)], Horizon(rounds=2)), METHODS["cfr+"], BlueprintLeaf(game, hands, boards=3)
    )
    search.run(2)
    assert np.isfinite(search.root_values()[0]).all()


def test_other_bets_are_heard() -> None:
    """Bets of two thirds of the pot are heard as the pot, and payoffs are in parts of what is in the middle."""
    both, policy = random_blueprint("TcJdQcKd", 0)
    hands = SpotHands(policy)
    other = HoldemGame.of(small_spot("75%,a"))
    for state in cut(other, [Belief.root(other)], ROUND).leaves.states:
        assert isinstance(state, HoldemState)
        there, scale = counterpart(other, state, hands.game)
        assert other.pot(state) == pytest.approx(scale * hands.game.pot(there))
        assert hands.game.event(there).street == 2
    leaf = BlueprintLeaf(other, hands, {1: biased_policies(hands)})
    search = SubgameSearch(cut(other, [Belief.root(other)], ROUND), METHODS["cfr+"], leaf)
    search.run(5)
    assert np.isfinite(search.root_values()[0]).all()
    assert both.spot.pot == 2.0


def test_what_is_refused() -> None:
    both, policy = random_blueprint("TcJdQcKd", 0)
    hands = SpotHands(policy)
    plain, rules = both.policy(policy.average), public_tree(both.rules)
    with pytest.raises(AlgorithmError, match="the factor of a bias is 0"):
        biased_policies(hands, 0)
    with pytest.raises(AlgorithmError, match="policies over hands, not tables"):
        BlueprintLeaf(hands.game, plain)
    with pytest.raises(AlgorithmError, match="give policy tables of this game"):
        BlueprintLeaf(rules, hands)
    with pytest.raises(AlgorithmError, match="at least one board"):
        BlueprintLeaf(hands.game, hands, boards=0)
    raked = replace(both.spot, rake=Rake(0.05))
    raked_hands = SpotHands(HoldemPolicy.uniform(Both(raked).hands))
    with pytest.raises(AlgorithmError, match="do not support rake"):
        BlueprintLeaf(raked_hands.game, raked_hands)
