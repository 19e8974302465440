"""Search of hold'em's turn on the hold'em engine: against search over pairs of hands, linear programs and solutions."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import public_tree
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.engine.passes import EXPECT, answer
from treeplex.holdem.forms.layout import rows_of
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.rules.rules import PokerPublicTree
from treeplex.holdem.search.leaves.endgames import HoldemEndgames
from treeplex.holdem.search.subgames.subgame import HoldemArrays, HoldemSubgame, cut_spot
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem, turn_endgame_holdem
from treeplex.search import METHODS, Belief, ExactLeaf, SubgameSearch, ZeroLeaf, cut
from treeplex.search.subgames.batch import Subgames, cut_states
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Places, Ranges
from treeplex.solvers.exact.lp import LinearProgram

SPEC = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[a])"
ROUND = Horizon(rounds=True, endgame=7)
"""To the end of the round; the river of an all-in is seven public nodes."""


@cache
def rules_of_the_turn() -> PokerPublicTree:
    rules = public_tree(SPEC)
    assert isinstance(rules, PokerPublicTree)
    return rules


@cache
def small_turn() -> HoldemSubgame:
    return cut_spot(rules_of_the_turn().game.spot)


@cache
def by_pairs() -> Subgames:
    """The turn for the search over pairs."""
    return cut_states(rules_of_the_turn(), [Belief.root(rules_of_the_turn()).state], ROUND)


@cache
def whole_deck() -> HoldemSubgame:
    """52 cards and some hands of each player; one size and all-in."""
    spot = holdem(
        "3s7hTdKs", "QQ+,AKs,JTs,98s,76s", "99,KQs,A5s,QJs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%,a", "a")
    )
    return cut_spot(spot)


def widened(own: np.ndarray) -> np.ndarray:
    """Numbers over the hands of the small turn as numbers over those of the format."""
    wide = np.zeros((*own.shape[:-1], len(rules_of_the_turn().game.spot.format.hands)))
    wide[..., rules_of_the_turn().hands] = own
    return wide


@pytest.mark.slow_cases(
    "cfr",
    "dcfr",
    "dcfr+",
    "lcfr",
    "lcfr-avg",
    "linear-fp",
    "p2pcfr+",
    "p2pcfr+-simultaneous",
    "pcfr+",
    "pdcfr",
    "sapcfr+",
    "sapcfr+-simultaneous",
)
@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_round_is_that_of_the_search_over_pairs(method: str) -> None:
    """Iteration for iteration, from random ranges, folds and all-ins included; leaves are worth nothing."""
    generator = np.random.default_rng(0)
    ranges = generator.random(15), generator.random(15)
    other = SubgameSearch(by_pairs(), METHODS[method], ZeroLeaf(), (ranges[0][None], ranges[1][None]))
    search = SubgameSearch(small_turn(), METHODS[method], ZeroLeaf(), (widened(ranges[0][None]), widened(ranges[1][None])))
    for _ in range(3):
        other.run(5), search.run(5)
        for player in (0, 1):
            mine = search.root_values()[player][0][rules_of_the_turn().hands]
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

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        found = []
        for own in (0, 1):
            value = np.zeros_like(believed[own])
            for weight, numbers in zip((believed[0], believed[1], reached[1 - own]), self.numbers[own:], strict=False):
                share = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
                value += 0.3 * np.tanh(3.0 * np.einsum("kij,kj->ki", numbers, share))
            found.append(value)
        return found[0], found[1]


class WideBent(Bent):
    """The values over the format's hands."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        hands = rules_of_the_turn().hands
        narrow = [(own[0][:, hands], own[1][:, hands]) for own in (believed, reached)]
        first, second = super().__call__(places, narrow[0], narrow[1], player)
        return widened(first), widened(second)


@pytest.mark.parametrize("method", ["lcfr", *(name for name in sorted(METHODS) if name.startswith("lcfr-avg"))])
def test_leaves_are_asked_as_in_the_search_over_pairs(method: str) -> None:
    """For the same beliefs and the same reach in every iteration; small enough that no hand goes where nobody else does."""
    root = np.random.default_rng(0).random((2, 1, 15))
    count = len(by_pairs().leaves)
    other = SubgameSearch(by_pairs(), METHODS[method], Bent(count), (root[0], root[1]))
    search = SubgameSearch(small_turn(), METHODS[method], WideBent(count), (widened(root[0]), widened(root[1])))
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
    search = SubgameSearch(small_turn(), METHODS["cfr"], ZeroLeaf())
    wide = [(widened(own[0]), widened(own[1])) for own in (believed, reached)]
    for iterations, ends in ((1, [0, 1, 2]), (40, [1])):
        leaf = HoldemEndgames(small_turn(), iterations=iterations)
        mine = leaf(search.subgame.leaves, *wide)
        expected = ExactLeaf(iterations=iterations)(by_pairs().leaves, believed, reached)
        for player in (0, 1):
            assert mine[player][ends][:, rules_of_the_turn().hands] == pytest.approx(expected[player][ends], abs=1e-9)
            assert leaf(search.subgame.leaves, *wide, player)[player] == pytest.approx(mine[player], abs=0)
        assert leaf.solved == 1
        single = HoldemEndgames(small_turn(), iterations=iterations, storage="float32")(search.subgame.leaves, *wide)
        assert single[0][ends] == pytest.approx(mine[0][ends], abs=1e-2)


def test_rivers_have_the_value_that_they_have_over_pairs() -> None:
    """The value of each end; those of hands are not unique."""
    believed, _ = reaches(1)
    search = SubgameSearch(small_turn(), METHODS["cfr"], ZeroLeaf())
    wide = widened(believed[0]), widened(believed[1])
    values = HoldemEndgames(small_turn(), iterations=400)(search.subgame.leaves, wide, wide)
    expected = ExactLeaf(iterations=400)(by_pairs().leaves, believed, believed)
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


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cfr", "lcfr", "dcfr", "cfr-avg", "lcfr-avg-modified", "fp", "linear-fp", "flop"])
def test_exact_leaves_lead_to_the_value_of_the_whole_game(method: str) -> None:
    search = SubgameSearch(small_turn(), METHODS[method], HoldemEndgames(small_turn(), iterations=30), horizon=80)
    search.run(80)
    belief = Belief.root(search.subgame.game)
    first, second = search.root_values()
    mean = float(belief.beliefs[0] @ first[0] - belief.beliefs[1] @ second[0]) / 2
    assert mean == pytest.approx(exact_value(), abs=0.02)


def exploitability(turn: HoldemSubgame, top: np.ndarray, below: np.ndarray) -> float:
    crew = judging_crew(turn.whole, 1)
    store = HoldemSolver(turn.whole, "dcfr", threads=1, storage="float64").store
    return judge_spot(turn.whole, np.concatenate((top, below)), store, crew, expected=False).exploitability


@cache
def whole_solution() -> HoldemSolver:
    solver = HoldemSolver(whole_deck().whole, "dcfr", threads=1, storage="float64")
    solver.run(200)
    return solver


@pytest.mark.slow
@pytest.mark.parametrize(("method", "most"), [("lcfr", 0.3), ("lcfr-avg", 0.7), ("lcfr-avg-modified", 0.3), ("flop", 0.3)])
def test_the_whole_deck_leads_to_the_whole_solution(method: str, most: float) -> None:
    """Value, and exploitability of the average policy with rivers solved for its beliefs, in a pot of 20."""
    turn, whole = whole_deck(), whole_solution()
    judged = judge_spot(turn.whole, whole.store.average, whole.store, judging_crew(turn.whole, 1))
    assert judged.exploitability < 0.02
    leaf = HoldemEndgames(turn, iterations=32)
    search = SubgameSearch(turn, METHODS[method], leaf, horizon=32)
    found = []
    for iterations in (2, 30):
        search.run(iterations)
        ends = search.arrays.reach_at_leaves(search.average)
        found.append(exploitability(turn, search.average, leaf.solution(ends)))
    assert found[1] < most < found[0] / 2
    belief = Belief.root(search.subgame.game)
    first, second = search.root_values()
    mean = float(belief.beliefs[0] @ first[0] - belief.beliefs[1] @ second[0]) / 2
    assert mean == pytest.approx((judged.value[0] - judged.value[1]) / 2, abs=0.4)


def test_parts_of_a_solution_are_parts_of_its_arrays() -> None:
    """The rivers of a whole solution, reached by its turn, give the turn's player what the judge says."""
    turn = whole_deck()
    top, below = np.split(whole_solution().store.average, [turn.top.stored])
    assert len(below) == turn.below.stored
    search = SubgameSearch(turn, METHODS["cfr"], ZeroLeaf())
    leaf = HoldemEndgames(turn, iterations=1)
    leaf.enter(search.arrays.reach_at_leaves(top))
    again = np.zeros_like(below)
    for player in (0, 1):
        leaf.walk(player, below, again, keep=0.0, add=1.0)
    assert exploitability(turn, top, again) == pytest.approx(exploitability(turn, top, below))
    assert exploitability(turn, top, np.roll(below, 1)) > 10 * exploitability(turn, top, below)


def test_all_ins_are_worth_what_the_rivers_deal() -> None:
    """Two hands of 52 cards, every river dealt; turn endgame hold'em with all 1,128 hands."""
    turn = cut_spot(turn_endgame_holdem())
    search = SubgameSearch(turn, METHODS["cfr"], ZeroLeaf())
    arrays = search.arrays
    assert isinstance(arrays, HoldemArrays)
    crew, form, nodes = arrays.crew, turn.game.spot.format, turn.game.tree.nodes
    generator = np.random.default_rng(0)
    weights = generator.random((2, 1128))
    for player in (0, 1):
        rows_of(crew.form, crew.work, player)[:] = weights[player]
    crew.ascend_groups(answer, 0, EXPECT, search.average[:0], arrays.store.average_scales, arrays.store)
    values = rows_of(crew.form, crew.work, 0, gathered=True)
    ends = turn.top.forests[0]
    all_in = [k for k, node in enumerate(ends.below) if isinstance(nodes[node], Showdown)]
    assert len(all_in) == len(ends.ends) - len(turn.open_ends) > 0
    hands, board = form.hands[turn.held(0)], turn.game.spot.board
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
    search = SubgameSearch(turn, METHODS["dcfr"], ZeroLeaf())
    search.run(3)
    for end, node in enumerate(turn.nodes):
        path = turn.game.path_to(turn.game.state(node, turn.game.spot.board))
        belief = Belief.along(turn.game, path, lambda at: search.policy_at(at.state.node, search.policy))
        for player in (0, 1):
            reached = search.arrays.reach_at_leaves(search.strategy)[player][end]
            if reached.any():
                assert belief.ranges[player] == pytest.approx(reached / reached.sum())


def test_what_does_not_fit_is_refused() -> None:
    turn, narrow = small_turn(), whole_deck()
    with pytest.raises(AlgorithmError, match="give only 'rounds', without 'depth'"):
        cut(turn.game, [Belief.root(turn.game)], Horizon(2))
    with pytest.raises(AlgorithmError, match="object is not a gadget; give Resolve"):
        cut(turn.game, [Belief.root(turn.game)], Horizon(rounds=1), gadget=object())  # type: ignore[arg-type]
    with pytest.raises(GameError, match="cut one at a time; give one belief, not 2"):
        cut(turn.game, [Belief.root(turn.game)] * 2, Horizon(rounds=1))
    with pytest.raises(AlgorithmError, match="needs a CFR variant"):
        HoldemEndgames(turn, method="fp")
    with pytest.raises(AlgorithmError, match="for the leaves of another subgame"):
        SubgameSearch(narrow, METHODS["dcfr"], HoldemEndgames(turn)).run(1)
    with pytest.raises(GameError, match="range of player 0 has hands that were not compiled; compile the subgame with them"):
        SubgameSearch(narrow, METHODS["dcfr"], ZeroLeaf(), (np.ones((1, 1326)), np.ones((1, 1326))))
    with pytest.raises(GameError, match="range of player 1"):
        SubgameSearch(turn, METHODS["dcfr"], ZeroLeaf(), (np.ones((1, 45)), -np.ones((1, 45))))
    search = SubgameSearch(turn, METHODS["dcfr"], ZeroLeaf())
    with pytest.raises(GameError, match="not a decision of this street"):
        search.policy_at(turn.nodes[0], search.average)
    with pytest.raises(AlgorithmError, match="is not in a public tree, which this search needs"):
        search.values_of_average(turn.ranges)
    over = turn.game.after(turn.game.after(turn.game.first_state(), 1), 0)
    with pytest.raises(GameError, match="where no player acts"):
        cut(turn.game, [Belief.of(turn.game, over)], Horizon(rounds=1))
