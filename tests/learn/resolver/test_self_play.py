"""Turns of self-play: the beliefs are those of the board, and each solve values them."""

import numpy as np

from treeplex.holdem.cards.format import HOLDEM
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.situations import played
from treeplex.learn.resolver.self_play import played_turns

TURN = HandValueSettings(ranges="play", hands=40, iterations=4)


def test_turns_of_one_flop() -> None:
    turns = played_turns(3, np.random.default_rng(1), iterations=2)
    assert 1 <= len(turns) <= 3
    assert len({turn.board[:3] for turn in turns}) == 1
    for turn in turns:
        blocked = np.isin(HOLDEM.hands, turn.board).any(axis=1)
        assert turn.stack > 0
        np.testing.assert_allclose(turn.reach.sum(axis=1), 1.0)
        assert not turn.reach[:, blocked].any()
        assert (turn.reach > 0).sum() > 200


def test_turns_of_self_play_are_solved() -> None:
    found = played(TURN, 2, np.random.default_rng(2))
    assert len(found) == 2
    for each in found:
        assert 1 <= (each.reach > 0).sum(axis=1).max() <= 60
        met = each.reach[:, each.board.held] * each.mass
        assert abs(float((met * each.worth).sum())) < 0.02 * float(met.sum())
