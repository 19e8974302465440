"""Flops of a small deck, cut at the flop's end, at the turn's end, or nowhere: against public trees over pairs of hands."""

from functools import cache

import numpy as np
import pytest

import treeplex as tp
from treeplex.games.public import pair_state
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.public import HoldemGame, holdem_state
from treeplex.holdem.rules.rules import PokerGame, PokerPublicTree
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.encoding import Encoding
from treeplex.search import METHODS, ExactLeaf, SubgameSearch, ZeroLeaf, cut
from treeplex.search.leaf import LeafValue
from treeplex.search.subgames.batch import Subgames
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Places, Ranges

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
UNTIED = 2
"""Iterations in which no hand has actions that tie, which rounding would decide."""


@cache
def spot() -> Spot:
    """Ten cards, three on the table; every hand at a random weight, so that no actions tie."""
    generator = np.random.default_rng(5)
    ranges = tuple(0.2 + 0.8 * generator.random(45) for _ in range(2))
    return Spot(parse_cards("TcJdQc"), 2.0, 3.0, (ranges[0], ranges[1]), BetPlan.same("50%,a", ""), format=DECK)


@cache
def rules() -> PokerPublicTree:
    tree = PokerGame(spot(), "flop").public_tree()
    assert isinstance(tree, PokerPublicTree)
    return tree


@cache
def by_hands(streets: int) -> HoldemSubgame:
    return cut_spot(spot(), streets)


@cache
def by_pairs(streets: int) -> Subgames:
    """The values for the search over pairs; where both are all-in the cards are dealt inside."""
    horizon = Horizon(rounds=streets, endgame=57 if streets == 1 else 7) if streets < 3 else Horizon()
    found = cut(rules(), [Belief.root(rules())], horizon)
    assert isinstance(found, Subgames)
    return found


def wide(own: np.ndarray) -> np.ndarray:
    """Numbers over the hands of the rules as numbers over those of the format."""
    found = np.zeros((*own.shape[:-1], 45))
    found[..., rules().hands] = own
    return found


@cache
def pairs_of_leaves(streets: int) -> list[int]:
    """For each leaf of the search over hands the number of the same one over pairs."""
    numbers = {pair_state(state).node: k for k, state in enumerate(by_pairs(streets).leaves.states)}
    return [numbers[tuple(state)] for state in by_hands(streets).leaves.states]


class Bent:
    """Network-shaped values: a fixed function of the beliefs about both players, another one at every leaf.

    Reach over pairs does not count the weights with which the spot begins, so these are put in.
    """

    def __init__(self, leaves: int) -> None:
        self.begun = [weights[rules().hands] for weights in spot().ranges]
        self.weights = np.random.default_rng(3).normal(size=(2, leaves, len(rules().hands), 2 * len(rules().hands)))

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        counted = [own * begun for own, begun in zip(believed, self.begun, strict=True)]
        shares = [own / np.maximum(own.sum(axis=1, keepdims=True), 1e-300) for own in counted]
        rows = np.concatenate(shares, axis=1)
        return tuple(np.tanh(np.einsum("kij,kj->ki", weights, rows)) for weights in self.weights)


class WideBent(Bent):
    """The values for leaves of the search over hands."""

    def __init__(self, streets: int) -> None:
        super().__init__(len(by_pairs(streets).leaves))
        self.weights = self.weights[:, pairs_of_leaves(streets)]
        self.begun = [np.ones(len(rules().hands))] * 2

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        hands = rules().hands
        found = super().__call__(places, tuple(own[:, hands] for own in believed), reached, player)
        return tuple(wide(own) for own in found)


def beside(
    streets: int, method: str, iterations: int, leaves: tuple[LeafValue, LeafValue]
) -> tuple[SubgameSearch, SubgameSearch]:
    """Both searches; ranges over hands count the spot's weights, which those over pairs have in the prior."""
    uniform = np.ones((1, len(rules().hands)))
    other = SubgameSearch(by_pairs(streets), METHODS[method], leaves[0], (uniform, uniform), horizon=iterations)
    search = SubgameSearch(by_hands(streets), METHODS[method], leaves[1], horizon=iterations)
    other.run(iterations), search.run(iterations)
    return other, search


def compare_policies(other: SubgameSearch, search: SubgameSearch, within: float) -> int:
    """The average policies are the same at every decision on every board; how many there are."""
    game, compared = by_hands(1).game, 0
    for number, (state, path) in enumerate(zip(other.subgames.decisions.states, other.subgames.decisions.paths, strict=True)):
        node, board = pair_state(state).node
        event = game.event(game.state(node, board))
        kind, mine = search.subgame.find(0, tuple(game.path_to(game.state(node, board))))
        assert kind == "decision"
        found = search.policy_at(mine, search.average_policy())[:, rules().hands]
        expected = other.policy_at(number, other.average_policy())
        there = other.subgames.infosets[number] >= 0
        there &= spot().ranges[event.player][rules().hands] > 0  # type: ignore[union-attr]
        assert found[:, there] == pytest.approx(expected[:, there], abs=within), path
        compared += 1
    return compared


def compare_values(other: SubgameSearch, search: SubgameSearch, within: float) -> None:
    """Root values of hands that are held."""
    for player in (0, 1):
        held = spot().ranges[player][rules().hands] > 0
        mine, theirs = search.root_values()[player][0][rules().hands], other.root_values()[player][0]
        assert mine[held] == pytest.approx(theirs[held], abs=within)


@pytest.mark.parametrize("streets", [1, 2])
def test_it_is_cut_where_the_street_ends(streets: int) -> None:
    """Leaves are those of the public tree: nodes of the betting, on each board of the last street before the cut."""
    subgame, pairs = by_hands(streets), by_pairs(streets)
    assert sorted(tuple(state) for state in subgame.leaves.states) == sorted(pair_state(s).node for s in pairs.leaves.states)
    assert {len(state.board) for state in subgame.leaves.states} == {2 + streets}
    for number, state in enumerate(subgame.leaves.states):
        assert subgame.find(0, tuple(subgame.game.path_to(state))) == ("leaf", number)


@pytest.mark.slow_cases("3-cfr", "3-dcfr", "3-pdcfr+", "3-lcfr-avg", "3-lcfr-avg-simultaneous")
@pytest.mark.parametrize("method", ["cfr", "dcfr", "pdcfr+", "lcfr-avg", "lcfr-avg-simultaneous", "lcfr-avg-modified", "flop"])
@pytest.mark.parametrize("streets", [1, 2, 3])
def test_the_same_policies_as_over_pairs(streets: int, method: str) -> None:
    """Iteration for iteration, with values that hang on beliefs at the leaves; over three streets nothing is cut off.

    Best responses tie from the start there, see the test of values below.
    """
    if streets == 3 and method == "flop":
        pytest.skip("ties")
    leaves = (Bent(len(by_pairs(streets).leaves)), WideBent(streets)) if streets < 3 else (ZeroLeaf(), ZeroLeaf())
    other, search = beside(streets, method, UNTIED, leaves)
    compare_values(other, search, 1e-9)
    assert compare_policies(other, search, 1e-7) > (3, 20, 100)[streets - 1]


@pytest.mark.parametrize("streets", [1, 2])
def test_nothing_at_the_leaves(streets: int) -> None:
    other, search = beside(streets, "lcfr", UNTIED, (ZeroLeaf(), ZeroLeaf()))
    compare_values(other, search, 1e-9)
    compare_policies(other, search, 1e-9)


@pytest.mark.parametrize("streets", [1, 2])
def test_exact_leaves_are_worth_what_they_are_over_pairs(streets: int) -> None:
    """With few iterations below, at random beliefs; both solve the same endgames by the same algorithm."""
    subgame, order = by_hands(streets), pairs_of_leaves(streets)
    generator = np.random.default_rng(1)
    reached = tuple(generator.random((len(subgame.leaves), len(rules().hands))) for _ in range(2))
    free = np.array([subgame.game.free(state.board) for state in subgame.leaves.states])
    weighted = tuple(wide(own) * weights * free for own, weights in zip(reached, spot().ranges, strict=True))
    mine = ExactLeaf(iterations=1)(subgame.leaves, weighted, weighted)
    placed = tuple(np.zeros_like(own) for own in reached)
    for own, given in zip(placed, reached, strict=True):
        own[order] = given
    expected = ExactLeaf(iterations=1)(by_pairs(streets).leaves, placed, placed)
    for player in (0, 1):
        held = spot().ranges[player][rules().hands] > 0
        for k in range(len(subgame.leaves)):
            can = held & free[k][rules().hands]
            found = mine[player][k][rules().hands]
            assert found[can] == pytest.approx(expected[player][order[k]][can], abs=1e-9)


@cache
def value() -> tuple[float, float]:
    """The whole flop, solved by the hold'em engine: player 0's value in equilibrium, and a low exploitability."""
    solver = HoldemSolver(by_hands(1).whole, "dcfr", threads=1, storage="float64")
    solver.run(400)
    judged = Player(by_hands(1), 1, storage="float64").judge(solver.store.average)
    return (judged.value[0] - judged.value[1]) / 2, judged.exploitability


@pytest.mark.slow
@pytest.mark.parametrize(("streets", "method"), [(1, "lcfr"), (1, "lcfr-avg"), (2, "lcfr"), (2, "flop")])
def test_exact_leaves_lead_to_the_value_of_the_whole_flop(streets: int, method: str) -> None:
    search = SubgameSearch(by_hands(streets), METHODS[method], ExactLeaf(iterations=24), horizon=40)
    search.run(40)
    first, second = search.mean_values()
    exact, off = value()
    assert off < 1e-3
    assert (first[0] - second[0]) / 2 == pytest.approx(exact, abs=0.02)


@pytest.mark.slow_cases("dcfr", "pdcfr+")
@pytest.mark.parametrize(
    "method", ["dcfr", "pdcfr+", "dcfr-simultaneous", "lcfr-avg-simultaneous", "flop", "flop-simultaneous"]
)
def test_a_flop_that_is_not_cut_is_solved(method: str) -> None:
    """By every kind of update, in all three streets: the judge of whole strategies finds hardly anything to gain."""
    search, judge = (
        SubgameSearch(by_hands(3), METHODS[method], ZeroLeaf(), horizon=100),
        Player(by_hands(1), 1, storage="float64"),
    )
    search.run(2)
    before = judge.judge(search.average).exploitability
    search.run(98)
    found = judge.judge(search.average)
    assert found.exploitability < 0.03 < before
    assert (found.value[0] - found.value[1]) / 2 == pytest.approx(value()[0], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("streets", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_what_is_played_with_endgames_solved_is_nearly_an_equilibrium(streets: int) -> None:
    player = Player(by_hands(streets), 64, storage="float64")
    found = player.curve("lcfr", [2, 32])
    for which in ("played", "average"):
        assert found[which][1] < 0.05 < found[which][0]


def test_a_network_values_any_street() -> None:
    """A network over features and hands, untrained, at the end of the flop and of the turn: finite values of every hand."""
    pytest.importorskip("torch")
    from treeplex.learn.common.value_net import value_net
    from treeplex.learn.rebel.network_leaf import NetworkLeaf

    encoding = Encoding(by_hands(1).game)
    leaf = NetworkLeaf(encoding, value_net(encoding.inputs, encoding.outputs, width=8, layers=1, seed=0))
    for streets in (1, 2):
        search = SubgameSearch(by_hands(streets), METHODS["lcfr-avg-modified"], leaf)
        search.run(3)
        assert all(np.isfinite(own).all() and own.any() for own in search.root_values())


def test_a_subgame_begins_at_any_node_of_any_street() -> None:
    """After a check and a bet on the turn, and where a card is to come: as over pairs from the same beliefs."""
    game, tree = HoldemGame.of(spot()), rules()
    belief = Belief.root(game)
    for label in (0, 0, parse_cards("Kc")[0], 0, 1):  # check, check, a king, check, a bet
        options = game.options(belief.state)
        policy = np.random.default_rng(len(holdem_state(belief.state).board)).random((len(options.labels), 45)) + 0.1
        belief = belief.after(label, policy / policy.sum(axis=0) if options.player >= 0 else None)
        if game.options(belief.state).player == -4 or len(holdem_state(belief.state).board) < 3:
            raise AssertionError
        if holdem_state(belief.state).node == 0:
            continue
        state = holdem_state(belief.state)
        subgame = cut(game, [belief])
        place = tree.first_state()
        for step in game.path_to(state):
            at = tree.options(place)
            place = tree.after(place, at.labels[step] if at.player >= 0 else step)
        assert place.node == tuple(state)
        own = [
            ranges[tree.hands] / np.maximum(w[tree.hands], 1e-300)
            for ranges, w in zip(belief.ranges, spot().ranges, strict=True)
        ]
        other = cut(tree, [Belief.of(tree, place, own)])
        mine, theirs = (SubgameSearch(each, METHODS["cfr"], ZeroLeaf()) for each in (subgame, other))
        mine.run(2), theirs.run(2)
        compare_values_of(mine, theirs, belief)


def compare_values_of(mine: SubgameSearch, theirs: SubgameSearch, belief: Belief) -> None:
    """Root values of hands with a weight."""
    for player in (0, 1):
        held = belief.ranges[player][rules().hands] > 0
        found, expected = mine.root_values()[player][0][rules().hands], theirs.root_values()[player][0]
        assert found[held] == pytest.approx(expected[held], abs=1e-9)


def test_the_compiled_game_has_the_same_value() -> None:
    """The general engine on the whole public tree."""
    solved = tp.solve(PokerGame(spot(), "flop"), "dcfr", iterations=300)
    assert solved.value[0] == pytest.approx(value()[0], abs=0.01)
