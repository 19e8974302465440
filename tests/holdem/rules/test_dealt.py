"""Spots dealt card by card: the game that whole hands and streets make, and what networks see of it."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from tests.games.walks import histories
from treeplex.errors import GameError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.plain import probabilities_of
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.dealt import DealtSpot
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import all_hands, flop_holdem, leduc_holdem, turn_endgame_holdem
from treeplex.holdem.spots.spot import Spot

PAIRS = small(ranks=3, suits=2, hole=2, deal=(0, 1))
TWO_CARDS = Spot((), 2.0, 20.0, all_hands(PAIRS), FixedLimit((2.0, 4.0), (1, 1)), format=PAIRS)
TWICE = small(ranks=2, suits=2, hole=1, deal=(0, 1, 1))
ALL_IN = Spot((), 2.0, 3.0, all_hands(TWICE), BetPlan.same("a", "", streets=3), format=TWICE)


@pytest.mark.slow_cases("spot1")
@pytest.mark.parametrize("spot", [leduc_holdem(2), TWO_CARDS, ALL_IN])
def test_it_is_the_game_with_hands_and_streets_dealt_whole(spot: Spot) -> None:
    """Infostates and actions are equal, and a policy has equal values in both games."""
    dealt, whole = compile_game(DealtSpot(spot)), compile_game(PokerGame(spot))
    names = {compiled: set(compiled.lookup) for compiled in (dealt, whole)}
    assert names[dealt] == names[whole]
    random = np.random.default_rng(0)
    plays = {}
    for key, shares in Policy.uniform(whole).items():
        weights = random.random(len(shares)) + 0.1
        plays[key] = dict(zip(shares, (weights / weights.sum()).tolist(), strict=True))
    mixed = [Policy(compiled, probabilities_of(compiled, plays)) for compiled in (dealt, whole)]
    first, second = (judge(compiled, own) for compiled, own in zip((dealt, whole), mixed, strict=True))
    np.testing.assert_allclose((*first.value, *first.best_response_values), (*second.value, *second.best_response_values))


def test_cards_come_one_by_one_and_a_street_begins_when_all_are_there() -> None:
    state = DealtSpot(flop_holdem()).new_initial_state()
    for card in parse_cards("As Kd 2c 2h"):
        assert len(state.chance_outcomes()) == 52 - len(state.deal.hole)
        state = state.child(card)
    assert (state.current_player(), state.deal.board) == (1, ())
    for name in ("call", "check"):
        (action,) = [each for each in state.legal_actions() if state.action_to_string(each) == name]
        state = state.child(action)
    for card in parse_cards("Qs Jd Th"):
        assert state.current_player() == CHANCE
        state = state.child(card)
    assert state.current_player() == 0
    assert state.deal.board == parse_cards("Th Jd Qs")
    assert "[Private: AsKd]" in state.information_state_string(0)


def brute_force(board: tuple[int, ...], hand: tuple[int, ...]) -> tuple[object, object]:
    """The least pair of board and hand over all renamings of suits."""
    return min(
        (tuple(sorted(c - c % 4 + suits[c % 4] for c in board)), tuple(sorted(c - c % 4 + suits[c % 4] for c in hand)))
        for suits in permutations(range(3))
    )


def test_hands_and_boards_look_alike_where_suits_are_all_that_differs() -> None:
    form = small(ranks=3, suits=3, hole=2, deal=(0, 2))
    spot = Spot((), 2.0, 20.0, all_hands(form), FixedLimit((2.0, 4.0), (1, 1)), format=form)
    game = DealtSpot(spot)
    kinds: dict[object, bytes] = {}
    for board in ((), *combinations(form.deck, 2)):
        hands = np.flatnonzero(~np.isin(form.hands, board).any(axis=1))
        shown, alike = game.look.alike(board, hands)
        rows = game.look.cards(shown, alike)
        for hand, row in zip(hands, rows, strict=True):
            kind = brute_force(board, tuple(map(int, form.hands[hand])))
            assert kinds.setdefault(kind, row.tobytes()) == row.tobytes()
    assert len(set(kinds.values())) == len(kinds)


def test_the_strength_of_a_hand_is_the_share_of_hands_it_beats() -> None:
    game = DealtSpot(flop_holdem())
    board, (aces,) = game.look.alike(parse_cards("As Kd 2c"), np.array([game.look.place[parse_cards("Ac Ah")]]))
    strengths = format_strengths(game.spot.format, board)
    possible = strengths[strengths >= 0]
    share = ((possible < strengths[aces]).sum() + 0.5 * (possible == strengths[aces]).sum()) / len(possible)
    assert game.look.strengths(board)[aces] == pytest.approx(share)


def test_tensors_have_one_length_and_tell_betting_apart() -> None:
    lengths = {len(state.information_state_tensor(0)) for state, _ in histories(DealtSpot(leduc_holdem(2)))}
    game = DealtSpot(flop_holdem())
    assert len(lengths) == 1
    decisions = [number for number, _ in game.cards_aside.tree.decisions()]
    assert len(np.unique(game.look.betting[decisions], axis=0)) == len(decisions)


@pytest.mark.parametrize(
    "spot",
    [
        replace(leduc_holdem(), ranges=(np.array([1.0, 1, 1, 1, 1, 0.5]), np.ones(6))),
        replace(turn_endgame_holdem(), runouts=(0, 0, 0, 10)),
    ],
)
def test_what_cannot_be_dealt_card_by_card_is_refused(spot: Spot) -> None:
    with pytest.raises(GameError, match="all hands are possible and equally likely, all boards are dealt"):
        DealtSpot(spot)
