"""Random situations of DeepStack's networks: where rounds begin, and what rows say."""

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.search.exact_values import PublicProgram
from treeplex.errors import GameError
from treeplex.learn.deepstack.situations import SearchedRanges, SituationMaker, round_starts
from treeplex.search import NextRoundLeaf, NoLeaf, ZeroLeaf, public_tree
from treeplex.search.subgames.horizon import TO_THE_END

LEDUC, DECK = public_tree("leduc_poker"), public_tree("rhode_island(ranks=2,raises=1)")


def test_rounds_begin_with_every_card_and_pot() -> None:
    (starts,) = round_starts(LEDUC)
    found = {(LEDUC.pot(state.node), state.node.public_card) for state in starts}  # type: ignore[attr-defined]
    assert found == {(pot, card) for pot in (2.0, 6.0, 10.0) for card in range(6)}
    assert len(starts) == 18
    assert [len(states) for states in round_starts(DECK)] == [8 * 2, 28 * 4]


def test_games_without_deals_have_no_rounds() -> None:
    with pytest.raises(GameError, match="no betting round starts with a deal"):
        round_starts(public_tree("kuhn_poker"))


@pytest.mark.parametrize("begun", [False, True])
def test_searches_come_to_situations_of_the_round(begun: bool) -> None:
    first, second = round_starts(DECK)
    searched = SearchedRanges(DECK, first if begun else None, NextRoundLeaf(ZeroLeaf()))
    beliefs = searched.beliefs(200, "dcfr", np.random.default_rng(1))
    known = {DECK.future(state.node) for state in (second if begun else first)}
    assert len(beliefs) > 100
    assert {DECK.future(belief.state.node) for belief in beliefs} <= known
    assert max(own.max() for belief in beliefs for own in belief.ranges) > 0.2  # of seven hands that can be there
    assert all(own.sum() == pytest.approx(1) for belief in beliefs for own in belief.ranges)


def test_a_row_is_a_solved_situation() -> None:
    """Against a linear program of what follows."""
    (starts,) = round_starts(LEDUC)
    maker = SituationMaker(LEDUC, starts, NoLeaf(), TO_THE_END)
    rows = maker.solved(maker.random(12, np.random.default_rng(0)), "dcfr", 500)
    ranges, possible = rows.inputs[:, -12:].reshape(-1, 2, 6), 1 - rows.inputs[:, :6]  # the public card is nobody's
    assert (ranges * (1 - possible[:, None]) == 0).all()
    others = ranges[:, ::-1].sum(axis=2, keepdims=True) - ranges[:, ::-1]
    assert rows.met.reshape(-1, 2, 6) == pytest.approx(others * possible[:, None], abs=1e-6)
    assert rows.beliefs.reshape(-1, 2, 6).sum(axis=2) == pytest.approx(np.ones((len(ranges), 2)), abs=1e-6)
    worth = (rows.beliefs * rows.targets).reshape(-1, 2, 6).sum(axis=2)
    shown = {}
    for state in starts:
        shown[tuple(LEDUC.features(state.node).astype(np.float32))] = state  # type: ignore[union-attr]
    for row, own, found in zip(rows.inputs, ranges.astype(float), worth, strict=True):
        state = shown[tuple(row[:-12])]
        exact = PublicProgram(LEDUC, state).value((own[0], own[1])) / LEDUC.pot(state.node)
        assert found == pytest.approx([exact, -exact], abs=0.01)
