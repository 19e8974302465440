"""Spots by enumerated rules: what they deal, say and pay, and that both ways to compile them agree."""

import random

import numpy as np
import pytest

from tests.forms.compile.test_compile_game import check_same
from tests.games.walks import histories, playout
from tests.poker_games import SPOTS
from treeplex.errors import GameError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.base import CHANCE
from treeplex.games.registry import load
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.rules import PokerGame, PokerState, cards_of_deal, number_of_deal
from treeplex.holdem.spots.known import all_hands, leduc_holdem, limit_holdem, rhode_island_holdem, turn_endgame_holdem
from treeplex.holdem.spots.spot import Rake, Spot
from treeplex.solvers.exact.lp import LinearProgram

ALL_IN = BetPlan.same("a", "", streets=2)
TWO_STREETS = small(ranks=3, suits=2, hole=2, deal=(0, 2))


def follow(game: PokerGame, *actions: str) -> PokerState:
    """The state after actions given by their names."""
    state = game.new_initial_state()
    for name in actions:
        (action,) = [each for each in state.legal_actions() if state.action_to_string(each) == name]
        state = state.child(action)
    return state


def test_an_all_in_runs_out_the_board() -> None:
    game = PokerGame(Spot((), 4, 3, all_hands(TWO_STREETS), ALL_IN, Rake(0.1), TWO_STREETS))
    state = follow(game, "Deal AcQd", "Deal KdKc", "check", "allin 3", "call")
    assert (state.current_player(), state.board) == (CHANCE, ())
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["Deal QcAd"]
    end = follow(game, "Deal AcQd", "Deal KdKc", "check", "allin 3", "call", "Deal QcAd")
    assert end.is_terminal()
    assert end.returns() == [pytest.approx(5 - 1.0), -5]
    folded = follow(game, "Deal AcQd", "Deal KdKc", "check", "allin 3", "fold")
    assert folded.returns() == [-2, pytest.approx(2 - 0.4)]


def test_ties_split_the_pot_after_rake() -> None:
    game = PokerGame(Spot((), 4, 3, all_hands(TWO_STREETS), ALL_IN, Rake(0.1, 0.5), TWO_STREETS))
    line = ["Deal AcKd", "Deal AdKc", "check", "check", "Deal QcQd", "check", "check"]
    assert follow(game, *line).returns() == [-0.2, -0.2]
    line[-2:] = ["check", "allin 3", "call"]
    assert follow(game, *line).returns() == [-0.25, -0.25]


def test_what_players_know() -> None:
    game = PokerGame(
        Spot((), 0, 8, all_hands(small()), BetPlan.same("50%,a", "60%,a", streets=2), format=small(), blinds=(1, 2))
    )
    state = follow(game, "Deal Kd", "Deal Ac", "call", "check", "Deal Qc", "check")
    assert state.current_player() == 1
    expected = "[Observer: 1][Private: Ac][Player: 1][Board: Qc][Actions: call,check/check]"
    assert state.information_state_string() == expected
    assert state.information_state_string(0) == expected.replace("Observer: 1", "Observer: 0").replace(
        "Private: Ac", "Private: Kd"
    )
    dealing = follow(game, "Deal Kd")
    assert dealing.information_state_string(0).startswith("[Observer: 0][Private: Kd][Player: -1]")
    assert dealing.information_state_string(1).startswith("[Observer: 1][Private: ][Player: -1]")
    with pytest.raises(GameError, match="give the player"):
        dealing.information_state_string()
    assert game.parameters() == {}


def test_hands_are_dealt_by_weight() -> None:
    form = small(ranks=2, suits=2, hole=1, deal=(0,))
    ranges = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1.0, 1.0, 3.0, 0.0])
    game = PokerGame(Spot((), 2, 4, ranges, BetPlan.same("a", "", streets=1), format=form))
    weights = np.outer(*ranges) * (1 - np.eye(4))
    found = np.zeros((4, 4))
    for first, chance in game.new_initial_state().chance_outcomes():
        for second, given in game.new_initial_state().child(first).chance_outcomes():
            found[first, second] = chance * given
    np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)


def test_boards_are_dealt_alike_and_by_number() -> None:
    game = PokerGame(SPOTS["turn"])
    generator = random.Random(0)
    for _ in range(20):
        for state, action in playout(game, generator):
            assert isinstance(state, PokerState)
            if state.is_chance_node() and len(state.hands) == 2:
                chances = [chance for _, chance in state.chance_outcomes()]
                assert len(set(chances)) == 1
                assert chances[0] == pytest.approx(1 / 3)
                assert state.child(action or 0).board[:-1] == state.board
    assert cards_of_deal(number_of_deal((3, 51, 0)), 3) == (3, 51, 0)


def test_given_strengths_replace_the_cards() -> None:
    river = SPOTS["river"]
    strengths = np.arange(len(river.format.hands))[::-1]
    spot = Spot(river.board, 5, 12, river.ranges, river.bets, format=river.format, strengths=strengths)
    game = PokerGame(spot)
    for state, _ in histories(game):
        if state.is_terminal() and isinstance(state, PokerState) and game.lines[state.node].endswith("check,check"):
            assert (state.returns()[0] > 0) == (state.hands[0] < state.hands[1])


@pytest.mark.slow_cases("no limit")
@pytest.mark.parametrize("name", ["one card", "leduc", "no limit", "river", "turn"])
def test_both_ways_to_compile_agree(name: str) -> None:
    game = PokerGame(SPOTS[name], name)
    assert game.public_tree() is not None
    check_same(compile_game(game), compile_rules(game))


@pytest.mark.slow_cases("turn_holdem(ranks=5,stack=3)")
@pytest.mark.parametrize("spec", ["turn_holdem(ranks=5,stack=3)", "turn_holdem(ranks=3,suits=4,stack=2,bets=[a],raises=[])"])
def test_both_ways_to_compile_a_turn_agree(spec: str) -> None:
    check_same(compile_game(spec), compile_rules(load(spec)))


def test_the_turn_is_that_of_turn_endgame_holdem() -> None:
    """Betting lines are those with all cards and a thousand times the chips."""
    small_deck, whole_deck = load("turn_holdem(ante=1000,stack=20000)"), PokerGame(turn_endgame_holdem(stack_behind=20_000.0))
    assert isinstance(small_deck, PokerGame)
    assert small_deck.lines == whole_deck.lines
    assert [small_deck.names[action] for action in small_deck.moves[0]] == ["check", "bet 1000", "bet 2000", "allin 20000"]


def test_no_public_tree_with_rake() -> None:
    assert PokerGame(SPOTS["river, raked"]).public_tree() is None
    assert compile_game(PokerGame(SPOTS["river, raked"])).constant is None


def test_leduc_is_leduc() -> None:
    games = [compile_game(game) for game in ("leduc_poker", "small_holdem", PokerGame(leduc_holdem()))]
    for game in games[1:]:
        assert game.size == games[0].size
        assert (game.infosets, game.sequences) == (games[0].infosets, games[0].sequences)
        exact = LinearProgram(game)
        exact.run(1)
        assert judge(game, exact.average_policy()).value[0] == pytest.approx(-0.0856064240781, abs=1e-9)


def test_large_games_are_refused_before_anything_is_walked() -> None:
    for spot, message in ((rhode_island_holdem(), "too many to enumerate"), (limit_holdem(), "too many hands")):
        with pytest.raises(GameError, match=message):
            PokerGame(spot).public_tree()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("small_holdem(deal=[1;1])", "deal begins with 1"),
        ("small_holdem(deal=2)", "deal must be a list"),
        ("small_holdem(ranks=1)", "need 3 cards"),
        ("small_holdem(hole=3)", "from 1 to 2, not 3"),
        ("small_holdem(ranking=fiv)", "did you mean 'five'"),
        ("small_holdem(bets=[2])", "each of the 2 streets"),
        ("small_holdem(bets=[2;0])", "of at least 1, not 0"),
        ("small_holdem(bets=[2;4],sizes=[a],stack=4)", "for fixed limit and 'sizes' for no limit; give only one of them"),
        ("small_holdem(sizes=[a])", "stack must be an integer of at least 1"),
        ("small_holdem(sizes=[5],stack=4)", "cannot read the bet size"),
        ("small_holdem(ante=0)", "ante must be an integer of at least 1"),
        ("turn_holdem(ranks=4)", "need 9 cards, but the deck has 8"),
        ("turn_holdem(board=AcKd)", "board has 2 cards; the turn has 4, such as board=9cJdQcAd"),
        ("turn_holdem(board=AcKdQc2d)", "2d is not in the deck"),
        ("turn_holdem(bets=50%)", "bets must be a list"),
        ("turn_holdem(raises=[5])", "cannot read the bet size '5'"),
        ("turn_holdem(stack=0)", "stack must be an integer of at least 1"),
        ("rhode_island(ranks=14)", "from 1 to 13"),
        ("rhode_island(raises=-1)", "of at least 0"),
    ],
)
def test_errors_name_the_place_and_the_remedy(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(spec)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("small_holdem(deal=[0,1],stack=0)", "small_holdem"),
        ("small_holdem(bets=[2;4])", "small_holdem(bets=[2;4])"),
        ("small_holdem(stack=9, sizes=[50%,a])", "small_holdem(sizes=[50%;a],stack=9)"),
        ("turn_holdem(bets=[50%;100%;a],raises=[75%;a],board=)", "turn_holdem"),
        ("turn_holdem(raises=[],board=AcJdQc9d)", "turn_holdem(board=AcJdQc9d,raises=[])"),
        ("rhode_island(bets=[10;20;20],ranks=4)", "rhode_island(ranks=4)"),
    ],
)
def test_canonical_spec(written: str, canonical: str) -> None:
    assert load(written).spec == canonical
    assert load(canonical).spec == canonical


def test_no_limit_sizes_are_those_of_spots() -> None:
    game = load("small_holdem(sizes=[50%;a],stack=9,ante=2)")
    assert isinstance(game, PokerGame)
    assert game.names[:3] == ["fold", "check", "call"]
    assert [game.names[action] for action in game.moves[0]] == ["check", "bet 2", "allin 9"]
    assert game.spot.board == parse_cards("")
