"""Search of hold'em's turn on the hand engine: against search over pairs of hands, linear programming and whole solutions."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.holdem.passes import EXPECT, answer
from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate.holdem.judge import judge_spot, judging_crew
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.holdem.split_turn import SplitTurn, split_turn
from treeplex.forms.subgames.batch import Subgames, cut
from treeplex.forms.subgames.horizon import Horizon
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.betting.tree import Showdown
from treeplex.games.poker.cards.evaluator import format_strengths
from treeplex.games.poker.rules import PokerPublicTree
from treeplex.games.poker.spots.known import holdem, turn_endgame_holdem
from treeplex.games.poker.spots.spot import Spot
from treeplex.search import METHODS, ExactLeaf, PublicBelief, SubgameSearch, ZeroLeaf
from treeplex.search.holdem.beliefs import HoldemBelief
from treeplex.search.holdem.leaf import HoldemZeroLeaf, RiverLeaf, held, rows_of
from treeplex.search.holdem.subgame import HoldemSearch
from treeplex.search.leaf import Ranges
from treeplex.solvers.exact.lp import LinearProgram
from treeplex.solvers.holdem.solver import HoldemSolver

SPEC = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[a])"
ROUND = Horizon(rounds=True, endgame=7)
"""To the end of the round; the river of an all-in is seven public nodes."""


@cache
def rules_of_the_turn() -> PokerPublicTree:
    rules = public_rules(SPEC)
    assert isinstance(rules, PokerPublicTree)
    return rules


@cache
def small_turn() -> SplitTurn:
    return split_turn(rules_of_the_turn().game.spot)


@cache
def by_pairs() -> Subgames:
    """The same turn for the search over pairs."""
    return cut(rules_of_the_turn(), [PublicBelief.root(rules_of_the_turn()).state], ROUND)


@cache
def whole_deck() -> SplitTurn:
    """52 cards and some hands of each player; one size and all-in."""
    spot = holdem(
        "3s7hTdKs", "QQ+,AKs,JTs,98s,76s", "99,KQs,A5s,QJs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%,a", "a")
    )
    return split_turn(spot)


def widened(own: np.ndarray) -> np.ndarray:
    """Numbers over the hands of the small turn as numbers over those of the format."""
    wide = np.zeros((*own.shape[:-1], len(rules_of_the_turn().game.spot.format.hands)))
    wide[..., rules_of_the_turn().hands] = own
    return wide


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_round_is_that_of_the_search_over_pairs(method: str) -> None:
    """Iteration for iteration, from random ranges, folds and all-ins included; leaves are worth nothing."""
    generator = np.random.default_rng(0)
    ranges = generator.random(15), generator.random(15)
    other = SubgameSearch(by_pairs(), METHODS[method], ZeroLeaf(), (ranges[0][None], ranges[1][None]))
    search = HoldemSearch(small_turn(), METHODS[method], HoldemZeroLeaf(), (widened(ranges[0]), widened(ranges[1])))
    for _ in range(3):
        other.run(5), search.run(5)
        for player in (0, 1):
            mine = search.root_values()[player][rules_of_the_turn().hands]
            assert mine == pytest.approx(other.root_values()[player][0], abs=1e-9)
        average, compared = other.average_policy(), 0
        for number, state in enumerate(by_pairs().decisions.states):
            node, board = state.node  # type: ignore[misc]
            if len(board) == 4:
                mine = search.policy_at(node, search.average)[:, rules_of_the_turn().hands]
                assert mine == pytest.approx(other.policy_at(number, average), abs=1e-9)
                compared += 1
        assert compared == 8


class Bent:
    """Leaf values that hang on what is believed of both players, their own hands included, and on what is reached."""

    def __init__(self, leaves: int) -> None:
        self.numbers = np.random.default_rng(1).normal(size=(4, leaves, 15, 15))

    def __call__(self, places: object, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        found = []
        for own in (0, 1):
            value = np.zeros_like(believed[own])
            for weight, numbers in zip((believed[0], believed[1], reached[1 - own]), self.numbers[own:], strict=False):
                share = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
                value += 0.3 * np.tanh(3.0 * np.einsum("kij,kj->ki", numbers, share))
            found.append(value)
        return found[0], found[1]


class WideBent(Bent):
    """The same over the format's hands."""

    def __call__(self, places: object, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        hands = rules_of_the_turn().hands
        narrow = [(own[0][:, hands], own[1][:, hands]) for own in (believed, reached)]
        first, second = super().__call__(places, narrow[0], narrow[1], player)
        return widened(first), widened(second)


@pytest.mark.parametrize("method", ["lcfr", *(name for name in sorted(METHODS) if name.startswith("lcfr-avg"))])
def test_leaves_are_asked_as_in_the_search_over_pairs(method: str) -> None:
    """For the same beliefs and the same reach in every iteration; small enough that no hand goes where nobody else does."""
    root = np.random.default_rng(0).random((2, 15))
    count = len(by_pairs().leaves)
    other = SubgameSearch(by_pairs(), METHODS[method], Bent(count), (root[0][None], root[1][None]))
    search = HoldemSearch(small_turn(), METHODS[method], WideBent(count), (widened(root[0]), widened(root[1])))
    for _ in range(12):
        other.run(1), search.run(1)
        for number, state in enumerate(by_pairs().decisions.states):
            node, board = state.node  # type: ignore[misc]
            if len(board) == 4:
                mine = search.policy_at(node, search.average)[:, rules_of_the_turn().hands]
                assert mine == pytest.approx(other.policy_at(number, other.average_policy()), abs=1e-7)


def reaches(seed: int) -> tuple[Ranges, Ranges]:
    """Random reaches at the small turn's open ends, what is believed and what is valued."""
    numbers = np.random.default_rng(seed).random((4, len(small_turn().open_ends), 15)) ** 3
    return (numbers[0], numbers[1]), (numbers[2], numbers[3])


def test_rivers_are_worth_what_they_are_over_pairs() -> None:
    """Under the uniform policy everywhere; after more iterations where no hand has actions that tie, which rounding decides."""
    believed, reached = reaches(0)
    search = HoldemSearch(small_turn(), METHODS["cfr"], HoldemZeroLeaf(), small_turn().game.spot.ranges)
    wide = [(widened(own[0]), widened(own[1])) for own in (believed, reached)]
    for iterations, ends in ((1, [0, 1, 2]), (40, [1])):
        leaf = RiverLeaf(small_turn(), iterations=iterations)
        mine = leaf(search.places, *wide)
        expected = ExactLeaf(rules_of_the_turn(), iterations=iterations)(by_pairs().leaves, believed, reached)
        for player in (0, 1):
            assert mine[player][ends][:, rules_of_the_turn().hands] == pytest.approx(expected[player][ends], abs=1e-9)
            assert leaf(search.places, *wide, player)[player] == pytest.approx(mine[player], abs=0)
        assert leaf.solved == 1
        single = RiverLeaf(small_turn(), iterations=iterations, storage="float32")(search.places, *wide)
        assert single[0][ends] == pytest.approx(mine[0][ends], abs=1e-2)


def test_rivers_have_the_value_that_they_have_over_pairs() -> None:
    """The value of each end; those of hands are not unique."""
    believed, _ = reaches(1)
    search = HoldemSearch(small_turn(), METHODS["cfr"], HoldemZeroLeaf(), small_turn().game.spot.ranges)
    wide = widened(believed[0]), widened(believed[1])
    values = RiverLeaf(small_turn(), iterations=400)(search.places, wide, wide)
    expected = ExactLeaf(rules_of_the_turn(), iterations=400)(by_pairs().leaves, believed, believed)
    for end, state in enumerate(by_pairs().leaves.states):
        joint = state.weight * np.outer(believed[0][end], believed[1][end])
        joint /= joint.sum()
        for player in (0, 1):
            own = joint.sum(axis=1 - player)
            mine = own @ values[player][end][rules_of_the_turn().hands]
            assert mine == pytest.approx(own @ expected[player][end], abs=1e-3)


@cache
def exact_value() -> float:
    """What player 0 gets in an equilibrium of the whole small game."""
    game = compile_game(SPEC)
    exact = LinearProgram(game)
    exact.run(1)
    return float(tp.judge(game, exact.average_policy()).value[0])


@pytest.mark.parametrize("method", ["cfr", "lcfr", "dcfr", "cfr-avg", "lcfr-avg-modified", "fp", "linear-fp", "flop"])
def test_exact_leaves_lead_to_the_value_of_the_whole_game(method: str) -> None:
    spot = small_turn().game.spot
    search = HoldemSearch(small_turn(), METHODS[method], RiverLeaf(small_turn(), iterations=30), spot.ranges, horizon=80)
    search.run(80)
    belief = HoldemBelief.root(search.rules)
    first, second = search.root_values()
    mean = float(belief.beliefs[0] @ first - belief.beliefs[1] @ second) / 2
    assert mean == pytest.approx(exact_value(), abs=0.02)


def exploitability(turn: SplitTurn, top: np.ndarray, below: np.ndarray) -> float:
    crew = judging_crew(turn.game, 1)
    store = HoldemSolver(turn.game, "dcfr", threads=1, storage="float64").store
    return judge_spot(turn.game, np.concatenate((top, below)), store, crew, expected=False).exploitability


@cache
def whole_solution() -> HoldemSolver:
    solver = HoldemSolver(whole_deck().game, "dcfr", threads=1, storage="float64")
    solver.run(200)
    return solver


@pytest.mark.parametrize(("method", "most"), [("lcfr", 0.3), ("lcfr-avg", 0.7), ("lcfr-avg-modified", 0.3), ("flop", 0.3)])
def test_the_whole_deck_leads_to_the_whole_solution(method: str, most: float) -> None:
    """Value, and exploitability of the average policy with rivers solved for its beliefs, in a pot of 20."""
    turn, whole = whole_deck(), whole_solution()
    judged = judge_spot(turn.game, whole.store.average, whole.store, judging_crew(turn.game, 1))
    assert judged.exploitability < 0.02
    leaf = RiverLeaf(turn, iterations=32)
    search = HoldemSearch(turn, METHODS[method], leaf, turn.game.spot.ranges, horizon=32)
    found = []
    for iterations in (2, 30):
        search.run(iterations)
        ends = search.reach_at_ends(search.average)
        found.append(exploitability(turn, search.average, leaf.solution(ends)))
    assert found[1] < most < found[0] / 2
    belief = HoldemBelief.root(search.rules)
    first, second = search.root_values()
    mean = float(belief.beliefs[0] @ first - belief.beliefs[1] @ second) / 2
    assert mean == pytest.approx((judged.ev[0] - judged.ev[1]) / 2, abs=0.4)


def test_parts_of_a_solution_are_parts_of_its_arrays() -> None:
    """The rivers of a whole solution, reached by its turn, give the turn's player what the judge says."""
    turn = whole_deck()
    top, below = np.split(whole_solution().store.average, [turn.top.stored])
    assert len(below) == turn.below.stored
    search = HoldemSearch(turn, METHODS["cfr"], HoldemZeroLeaf(), turn.game.spot.ranges)
    leaf = RiverLeaf(turn, iterations=1)
    leaf.enter(search.reach_at_ends(top))
    again = np.zeros_like(below)
    for player in (0, 1):
        leaf.walk(player, below, again, keep=0.0, add=1.0)
    assert exploitability(turn, top, again) == pytest.approx(exploitability(turn, top, below))
    assert exploitability(turn, top, np.roll(below, 1)) > 10 * exploitability(turn, top, below)


def test_all_ins_are_worth_what_the_rivers_deal() -> None:
    """Two hands of 52 cards, every river dealt; turn endgame hold'em with all 1,128 hands."""
    turn = split_turn(turn_endgame_holdem())
    search = HoldemSearch(turn, METHODS["cfr"], HoldemZeroLeaf(), turn.game.spot.ranges)
    form, nodes = turn.game.spot.format, turn.game.betting.nodes
    generator = np.random.default_rng(0)
    weights = generator.random((2, 1128))
    for player in (0, 1):
        rows_of(search.crew.form, search.crew.work, player)[:] = weights[player]
    search.crew.ascend_groups(answer, 0, EXPECT, search.average[:0], search.store.average_scales, search.store)
    values = rows_of(search.crew.form, search.crew.work, 0, gathered=True)
    ends = turn.top.forests[0]
    all_in = [k for k, node in enumerate(ends.below) if isinstance(nodes[node], Showdown)]
    assert len(all_in) == len(ends.ends) - len(turn.open_ends) > 0
    hands, board = form.hands[held(turn, 0)], turn.game.spot.board
    strength = {card: format_strengths(form, (*board, card), hands) for card in set(form.deck) - set(board)}
    for mine, k in product(generator.integers(1128, size=3).tolist(), (all_in[0], all_in[-1])):
        total = 0.0
        for other in range(1128):
            if not set(hands[mine].tolist()) & set(hands[other].tolist()):
                left = set(form.deck) - set(board) - set(hands[mine].tolist()) - set(hands[other].tolist())
                won = sum(np.sign(strength[card][mine] - strength[card][other]) for card in left)
                total += weights[1][other] * won / len(left)
        chips = min(nodes[ends.below[k]].contributions)
        assert values[k, mine] == pytest.approx(chips * total)


def test_what_a_search_plays_moves_beliefs() -> None:
    """From the policy of a search to the public belief state after it, as the ranges at its ends."""
    turn = small_turn()
    search = HoldemSearch(turn, METHODS["dcfr"], HoldemZeroLeaf(), turn.game.spot.ranges)
    search.run(3)
    for end, node in enumerate(turn.nodes):
        belief = HoldemBelief.at(
            search.rules, node, turn.game.spot.board, lambda at: search.policy_at(at.node, search.store.guesses)
        )
        for player in (0, 1):
            reached = search.reach_at_ends(search.strategy)[player][end]
            if reached.any():
                assert belief.ranges[player] == pytest.approx(reached / reached.sum())


def test_what_does_not_fit_is_refused() -> None:
    turn = small_turn()
    with pytest.raises(GameError, match="4 streets of betting, not 2"):
        split_turn(Spot((), 2.0, 4.0, (np.ones(45), np.ones(45)), turn.game.spot.bets, format=turn.game.spot.format))
    with pytest.raises(AlgorithmError, match="a variant of CFR"):
        RiverLeaf(turn, method="fp")
    with pytest.raises(AlgorithmError, match="other ends of betting"):
        HoldemSearch(whole_deck(), METHODS["dcfr"], RiverLeaf(turn), whole_deck().game.spot.ranges).run(1)
    narrow = whole_deck()
    with pytest.raises(GameError, match="compiled without"):
        HoldemSearch(narrow, METHODS["dcfr"], HoldemZeroLeaf(), (np.ones(1326), np.ones(1326)))
    with pytest.raises(GameError, match="range of player 1"):
        HoldemSearch(turn, METHODS["dcfr"], HoldemZeroLeaf(), (np.ones(45), -np.ones(45)))
    search = HoldemSearch(turn, METHODS["dcfr"], HoldemZeroLeaf(), turn.game.spot.ranges)
    with pytest.raises(GameError, match="no decision of this round"):
        search.policy_at(turn.nodes[0], search.average)
