"""Planes of hands worked out by hand, and columns of bets."""

from contextlib import suppress

import numpy as np
import pytest

from treeplex.errors import GameError, SpecError
from treeplex.forms.sources.load import load
from treeplex.games.registry import games
from treeplex.holdem.cards.cards import parse_cards
from treeplex.learn.alphaholdem import planes as planes_module
from treeplex.learn.alphaholdem.planes import BOTH, FOLD, OFFERED, OTHER, OWN, PASS, POKER, PastAction, PlaneCoder, poker_of


def coder_of(spec: str) -> PlaneCoder:
    return PlaneCoder(poker_of(load(spec)), (0.5, 1.0, 2.0), 6)


def test_leduc_poker() -> None:
    coder = coder_of("leduc_poker")
    game = coder.game
    assert coder.card_shape == (4, 2, 3)
    assert coder.action_shape == (13, 4, 6)
    assert coder.most == 13
    start = game.first_state()
    first = coder.offer(start)
    assert (first.player, first.street, list(first.labels), first.column.tolist()) == (0, 0, [1, 2], [PASS, 3])
    raised = game.after(start, 2)
    facing = coder.offer(raised)
    assert facing.column.tolist() == [FOLD, PASS, 2]  # 2 more chips into a pot of 6 after the call
    called = game.after(raised, 1)
    shown = game.after(called, 3)
    cards = coder.cards(shown, [0, 4])  # the jack of suit 0 and the king of suit 0; the board is the queen of suit 1
    assert [plane.nonzero()[0].tolist() for plane in cards[0]] == [[0], [1], [1], [0, 1]]
    assert cards[1, 0, 0, 2] == cards[1, 1, 1, 1] == cards[1, 2, 1, 1] == 1
    assert cards.sum() == 2 * 5
    done = [PastAction(0, 0, 3, first.legal), PastAction(1, 0, PASS, facing.legal)]
    now = coder.offer(shown)
    planes = coder.actions(done, now)
    assert planes[0, OWN].tolist() == planes[0, BOTH].tolist() == [0, 0, 0, 1, 0, 0]
    assert planes[1, OTHER].tolist() == planes[1, BOTH].tolist() == [0, 1, 0, 0, 0, 0]
    assert planes[0, OFFERED].tolist() == [0, 1, 0, 1, 0, 0]
    assert planes[1, OFFERED].tolist() == [1, 1, 1, 0, 0, 0]
    assert planes[12, OFFERED].tolist() == now.legal.astype(int).tolist()
    assert not planes[12, :OFFERED].any()
    assert not planes[2:12].any()


def test_small_decks_have_planes_of_their_own() -> None:
    """Four suits by six ranks, a board of one card and then another."""
    coder = coder_of("small_holdem(ranks=6,suits=4,deal=[0;1;1],bets=[1;2;2],raises=1)")
    assert coder.card_shape == (5, 4, 6)
    assert coder.most == 1 + 1 + 2 + 2
    game, state = coder.game, coder.game.first_state()
    for _ in range(2):  # both check
        state = game.after(state, game.options(state).labels[0])
    state = game.after(state, 4 * 12 + 3)  # the ace of the last suit
    cards = coder.cards(state, [0])
    assert cards[0, 0, 0, 0] == cards[0, -1, 0, 0] == 1
    assert cards[0, 1, 3, 5] == cards[0, -2, 3, 5] == cards[0, -1, 3, 5] == 1
    assert cards.sum() == 1 + 1 + 1 + 2


def test_endgames_are_refused() -> None:
    with pytest.raises(GameError, match="AlphaHoldem does not support turn_holdem; use one of leduc_poker"):
        coder_of("turn_holdem")


def test_bets_of_holdem_fall_into_columns() -> None:
    coder = coder_of("holdem")
    assert coder.card_shape == (6, 4, 13)
    assert coder.action_shape == (25, 4, 6)
    assert coder.most == 200
    offer = coder.offer(coder.game.first_state())
    assert [offer.labels[number] for number in offer.played.tolist()] == [0, 1, 4, 6, 10, 200]
    # the pot after the call is 4 chips: to 4, 6 and 10 is half of it, all of it and twice of it above the blind
    assert offer.column[list(offer.labels).index(7)] == 3
    assert offer.column[list(offer.labels).index(199)] == 4


def test_cards_of_holdem() -> None:
    coder = coder_of("holdem")
    state = coder.game.first_state()
    for label in (1, 1, *parse_cards("As7d2c"), 1, 1, *parse_cards("Kh")):
        state = coder.game.after(state, label)
    hands = coder.game.hands.tolist()
    hand = hands.index(sorted(parse_cards("QsQh")))
    cards = coder.cards(state, [hand])[0]
    assert [int(plane.sum()) for plane in cards] == [2, 3, 1, 0, 4, 6]
    assert cards[2].nonzero()[1].tolist() == [11]  # a king


def test_other_games_are_refused() -> None:
    for spec in ("liars_dice", "leduc_poker(players=3)", "tic_tac_toe"):
        with pytest.raises(GameError, match="AlphaHoldem does not support"):
            poker_of(load(spec))


def test_all_games_of_two_players_that_it_knows_are_named() -> None:
    known = []
    for name in games():
        with suppress(GameError, SpecError):  # a game of its own parameters, or no poker
            poker_of(load(name))
            known.append(name)
    assert {*known} == {*POKER.split(", ")}


def test_hands_that_a_seat_may_hold_differ_in_their_cards() -> None:
    coder = coder_of("holdem(stack=6,sizes=[100%;a],ranks=4,suits=2,hole=1,deal=[0;1;1])")
    cards = coder.cards(coder.game.first_state(), range(len(coder.game.hands)))
    assert coder.card_shape == (5, 2, 4)
    assert len(np.unique(cards.reshape(len(cards), -1), axis=0)) == 8


def test_offers_that_are_kept_are_those_of_fresh_coders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planes_module, "KEPT", 2)
    kept, game = coder_of("leduc_poker"), coder_of("leduc_poker").game
    states = [game.first_state(), game.after(game.first_state(), 1), game.after(game.first_state(), 2)]
    for state in (*states, *states):
        found, fresh = kept.offer(state), coder_of("leduc_poker").offer(state)
        assert (found.player, list(found.labels)) == (fresh.player, list(fresh.labels))
        assert found.played.tolist() == fresh.played.tolist()
