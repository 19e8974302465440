"""Spots that deal only some of their boards: the same game where all are dealt, and a smaller one, by enumeration."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest

from tests.poker_games import SYMMETRIC, unfolded
from treeplex.errors import GameError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import royal
from treeplex.holdem.cards.spread import evenly_spread
from treeplex.holdem.engine.passes import EXPECT
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.policies.judge import judging_crew
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.as_fields import spot_fields
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot, spot_from_json

SOME = (0, 6, 3, 4)
PUSH = Spot((), 0.0, 10.0, all_hands(royal()), BetPlan.same("", "a"), format=royal(), chip=0.5, blinds=(0.5, 1.0), runouts=SOME)


@pytest.fixture(scope="module")
def pushed() -> CompiledSpot:
    return compile_spot(PUSH)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_as_many_deals_as_there_are_make_the_same_game(name: str) -> None:
    spot = SYMMETRIC[name]
    whole = compile_spot(spot)
    sizes, deck = spot.format.board_sizes, len(spot.format.deck)
    before = (0, *sizes[:-1])
    some = replace(
        spot,
        runouts=tuple(comb(deck - sizes_before, deal) for sizes_before, deal in zip(before, spot.format.deal, strict=True)),
    )
    for found, true in zip(compile_spot(some).form, whole.form, strict=True):
        np.testing.assert_array_equal(found, true)


def test_sizes_are_those_of_the_compiled_spot(pushed: CompiledSpot) -> None:
    found, true = spot_size(PUSH), pushed.size
    assert found.boards == true.boards == (1, 6, 18, 72)
    for name in ("nodes", "decisions", "stored", "infosets", "form_bytes"):
        assert getattr(found, name) == getattr(true, name), name
    assert (found.extent.hands, found.extent.kept) == (true.extent.hands, true.extent.kept)
    assert found.extent.returned >= true.extent.returned


def test_values_are_those_of_an_enumeration(pushed: CompiledSpot) -> None:
    """Uniform policies: the small blind folds, calls or pushes; each pair of hands counts every board with its share."""
    hands = PUSH.format.hands
    free = ~(hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    met, margin = np.zeros(free.shape), np.zeros(free.shape)
    for board in unfolded(pushed)[-1]:
        use = ~np.isin(hands, board.cards).any(axis=1)
        strength = format_strengths(PUSH.format, board.cards)
        river = pushed.boards[3][board.board]
        turn = pushed.boards[2][river.parent]
        share = river.share * turn.share * pushed.boards[1][turn.parent].share
        pairs = free * np.outer(use, use) * share / (comb(16, 3) * 13 * 12)
        met, margin = met + pairs, margin + pairs * np.sign(strength[:, None] - strength[None, :])
    assert met[free].mean() == pytest.approx(1.0)
    # of player 1: folds; limps (checked, or raised all-in and folded or called); pushes (folded or called)
    worth = -0.5 * free / 3
    worth = worth + (-margin / 2 + (-1.0 * free - 10 * margin) / 4) / 3
    worth = worth + (1.0 * free - 10 * margin) / 6
    judge, store = judging_crew(pushed, 1), HoldemSolver(pushed, threads=1, storage="float64").store
    judge.answer(1, EXPECT, store.average, store.average_scales, store)
    np.testing.assert_allclose(judge.root_values(1), worth.sum(axis=0), rtol=1e-9)


@pytest.mark.slow
def test_it_is_solved(pushed: CompiledSpot) -> None:
    solver = HoldemSolver(pushed, "cfr+", threads=1, storage="float64")
    solver.run(300)
    assert solver.form.exploitability(solver.tables) < 1e-3


def test_deals_are_spread_evenly() -> None:
    cards, weights = [(card,) for card in range(52)], [1.0] * 52
    taken = evenly_spread(cards, weights, 13, (1, 2, 3))
    assert {place >> 2 for place in taken} == set(range(13))
    assert set(taken.values()) == {4.0}
    assert taken == evenly_spread(cards, weights, 13, (3, 1, 2)) != evenly_spread(cards, weights, 13, (1, 2, 4))
    assert evenly_spread([(0,), (4,)], [1.0, 9.0], 2) == {1: 10.0}
    with pytest.raises(SpecError, match="draw at least 1"):
        evenly_spread(cards, weights, 0)


def test_it_is_said_in_fields_and_files() -> None:
    fields = {"blinds": "0.5, 1", "pot": "0", "stack": "10", "oop": "all", "ip": "all"}
    spot = request_from_options({**fields, "flops": 25, "rivers": 4}).spot()
    assert spot.runouts == (0, 25, 0, 4)
    assert request_from_options({**fields, **spot_fields(spot)}).spot().identity == spot.identity
    assert spot_from_json(spot.to_json(), spot.ranges).identity == spot.identity
    assert replace(spot, runouts=()).identity != spot.identity == replace(spot, runouts=(9, 25, 0, 4)).identity
    with pytest.raises(SpecError, match="not an integer of at least 1"):
        request_from_options({**fields, "flops": 0}).spot()
    with pytest.raises(SpecError, match="for each of the 4 streets"):
        replace(spot, runouts=(25,))


def test_what_does_not_go_with_it() -> None:
    with pytest.raises(GameError, match="use isomorphism=True"):
        compile_spot(PUSH, isomorphism=False)
    with pytest.raises(GameError, match="leave out 'runouts'"):
        HoldemGame.of(PUSH)
