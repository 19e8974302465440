"""What networks see: all infosets apart, from the rules, from words or from whoever writes rules."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError
from treeplex.forms.compile.views.histories import histories_of
from treeplex.games.builtin.leduc_poker import LeducState
from treeplex.learn.neural.features import KINDS, history_features, infoset_features, states_of, tells_apart


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", ["leduc_poker", "goofspiel(num_cards=3,imp_info=true)"])
def test_all_infosets_differ(game: str, kind: str) -> None:
    compiled = tp.compile(game)
    if kind == "tensor" and game != "leduc_poker":
        with pytest.raises(GameError, match="have no information_state_tensor; use features=words"):
            infoset_features(compiled, kind)
        return
    rows = infoset_features(compiled, kind)
    assert tells_apart(compiled, rows)
    assert np.abs(rows).max() <= 1.0
    assert rows.dtype == np.float32


def test_leduc_has_cards() -> None:
    """Two infosets that differ in the suit of the private card alone differ in two columns."""
    compiled = tp.compile("leduc_poker")
    rows = infoset_features(compiled)
    names = {text: number for number, text in enumerate(compiled.infostates)}
    text = "[Observer: 0][Private: 0][Round 1][Player: 0][Pot: 2][Money: 99 99][Round1: ][Round2: ]"
    suited = text.replace("Private: 0", "Private: 1")
    assert (rows[names[text]] != rows[names[suited]]).sum() == 2
    assert rows.shape[1] < infoset_features(compiled, "words").shape[1]


def test_openspiel_games_have_their_own_tensor() -> None:
    pytest.importorskip("pyspiel")
    compiled = tp.compile("openspiel:kuhn_poker")
    rows = infoset_features(compiled, "tensor")
    assert tells_apart(compiled, rows)
    assert rows.shape == (12, 8)  # of 11 columns, those of bets that nobody acts after are left out


def test_rules_that_say_the_same_of_all_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tp.compile("leduc_poker")
    monkeypatch.setattr(LeducState, "information_state_tensor", lambda *_: [1.0])
    with pytest.raises(GameError, match="the same tensor for different infosets; use features=words"):
        infoset_features(compiled, "tensor")
    np.testing.assert_array_equal(infoset_features(compiled), infoset_features(compiled, "words"))


def test_histories_that_somebody_tells_apart_differ() -> None:
    compiled = tp.compile("kuhn_poker")
    nodes = histories_of(compiled).nodes
    rows = history_features(compiled)
    deciding = nodes[:, 0] >= 0
    assert len(np.unique(rows[deciding], axis=0)) == deciding.sum()
    assert not rows[~deciding].any()
    for node, state in states_of(compiled, histories_of(compiled)):
        assert state.current_player() == nodes[node, 0]
