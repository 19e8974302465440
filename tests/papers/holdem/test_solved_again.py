"""Last streets of whole hold'em solved again on all boards at once: as one by one, and safe behind gadgets."""

import numpy as np
import pytest

from papers.holdem.later_streets import LaterStreets, later_streets
from papers.holdem.resolved_streets import spread
from papers.holdem.solved_again import entering_ranges, solved_again
from treeplex.errors import AlgorithmError
from treeplex.forms.sources.load import load
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import policy_table
from treeplex.holdem.policies.node_values import HoldemValues, ratio
from treeplex.holdem.rules.public import HoldemGame, holdem_state
from treeplex.holdem.search.subgames.endgame_search import EndgameSearch
from treeplex.holdem.search.subgames.subgame import cut_holdem
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole
from treeplex.search.methods import METHODS
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.gadgets import GADGETS
from treeplex.search.subgames.horizon import TO_THE_END

TURN, RIVER = 2, 3


@pytest.fixture(scope="module")
def whole() -> CompiledSpot:
    return compiled_whole(load("holdem(ranks=3,suits=3,stack=4,sizes=[a])").public)


@pytest.fixture(scope="module")
def rough(whole: CompiledSpot) -> np.ndarray:
    return early(whole)


def early(whole: CompiledSpot) -> np.ndarray:
    """A policy after two iterations, with a bit of every action; it treats hands alike that differ only in suits."""
    solver = HoldemSolver(whole, "dcfr", threads=1, storage="float64")
    solver.run(2)
    return solver.store.average + 0.02


def promised(whole: CompiledSpot, average: np.ndarray, belief: Belief, player: int) -> np.ndarray:
    """What the other player's hands get at most on a river, by the judge's walk of the tree, float64 [1, H]."""
    state, other, street = holdem_state(belief.state), 1 - player, RIVER
    place = [board.cards for board in whole.boards[street]].index(state.board)
    board, values = whole.boards[street][place], HoldemValues(whole, average, responder=other)
    first, second = (own[hands] for own, hands in zip(belief.ranges, board.hands, strict=True))
    entries = values.tree(street, place, state.node, (first, second)).values[state.node][other]
    met = values.compatible(values.board_number(street, place), other, (first, second)[player])
    return spread(np.nan_to_num(ratio(entries, met)), board.hands[other], len(belief.ranges[other]))[None]


@pytest.fixture(scope="module")
def rivers() -> LaterStreets:
    """All rivers of a deck of ten cards."""
    ten = compiled_whole(load("holdem(ranks=5,suits=2,stack=8,sizes=[a])").public)
    return later_streets(ten, RIVER, dealt=True)


@pytest.mark.slow
@pytest.mark.parametrize("gadget", ["none", *GADGETS])
def test_all_boards_at_once_play_as_one_by_one(rivers: LaterStreets, gadget: str) -> None:
    """The first iterations; later ones may differ where an action meets nobody."""
    later, whole, iterations = rivers, rivers.whole, 2
    average = early(whole)
    found, ranges = solved_again(later, average, gadget, iterations=iterations), entering_ranges(later, average)
    game, place = HoldemGame(whole.spot, whole.betting), len(later.entrances) // 2
    belief = Belief.of(game, later.entrances.states[place], [own[place] for own in ranges])
    board = holdem_state(belief.state).board
    number = [each.cards for each in whole.boards[RIVER]].index(board)
    for player in (0, 1):
        front = None if gadget == "none" else GADGETS[gadget](player, promised(whole, average, belief, player))
        alone = cut_holdem(game, belief, TO_THE_END, front)
        search = EndgameSearch(alone, METHODS["dcfr"], horizon=iterations)
        search.run(iterations)
        hands = alone.whole.boards[0][0].hands[player]
        for node in alone.whole.forests[0].numbers[player]:
            one = policy_table(alone.whole, node, search.average_policy())[:, hands]
            assert np.allclose(policy_table(whole, node, found, RIVER, number)[:, hands], one, atol=1e-3)


def test_where_one_enters_makes_no_difference(whole: CompiledSpot, rough: np.ndarray) -> None:
    before, after = (
        judge_whole(whole, solved_again(later_streets(whole, TURN, dealt=dealt), rough, iterations=30)).exploitability
        for dealt in (False, True)
    )
    assert before == pytest.approx(after, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("gadget", GADGETS)
def test_behind_gadgets_it_is_never_worse(whole: CompiledSpot, gadget: str) -> None:
    policy = np.random.default_rng(3).random(whole.stored)
    before = judge_whole(whole, policy).exploitability
    after = judge_whole(whole, solved_again(later_streets(whole, TURN, dealt=True), policy, gadget, iterations=60))
    assert after.exploitability < before


def test_what_is_refused(whole: CompiledSpot, rough: np.ndarray) -> None:
    river = later_streets(whole, RIVER)
    with pytest.raises(AlgorithmError, match="unknown gadget 'reach'; known: none, resolve, maxmargin"):
        solved_again(river, rough, "reach")
    with pytest.raises(AlgorithmError, match="gadget resolve needs streets that begin with a deal"):
        solved_again(river, rough, "resolve")
    with pytest.raises(AlgorithmError, match="by a variant of CFR with fixed weights, not by fp"):
        solved_again(river, rough, method="fp")
