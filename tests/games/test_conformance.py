"""What every built-in game must obey."""

import inspect
import random

import pytest

from tests.games.walks import histories, playout
from treeplex.errors import GameError
from treeplex.games import CHANCE, TERMINAL, Game, State, TurnBased
from treeplex.games.registry import games, load
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.repeated import RepeatedState

SMALL = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "leduc_poker(suit_isomorphism=true)",
    "leduc_poker(ranks=2,suits=3,raises=1)",
    "leduc_poker(players=3,ranks=2,raises=1)",
    "no_limit_leduc(stack=500)",
    "small_holdem",
    "small_holdem(hole=2,deal=[0;2],bets=[1;3],raises=1)",
    "small_holdem(ranks=2,ranking=three,ante=2,sizes=[50%;a],stack=5)",
    "turn_holdem(ranks=5,stack=3,bets=[100%],raises=[])",
    "holdem(stack=4,ranks=2,suits=2,hole=1,deal=[0;1])",
    "holdem(players=3,stack=[4;2;3],ante=1,sizes=[a],ranks=2,suits=2,hole=1,deal=[0;1])",
    "liars_dice(dice_sides=3)",
    "liars_dice(dice_sides=2,numdice0=2)",
    "liars_dice(players=3,dice_sides=2)",
    "goofspiel(num_cards=3,imp_info=true)",
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=4,points_order=descending,imp_info=true,num_turns=3)",
    "goofspiel(players=3,num_cards=3,points_order=ascending,imp_info=true,returns_type=total_points)",
    "goofspiel(num_cards=1)",
    "oshi_zumo(coins=2,size=1,horizon=3)",
    "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots=2,allow_repeated_shots=false)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2.5],num_shots=1,loss_multiplier=2)",
    "phantom_ttt(rows=2,columns=2,line=2)",
    "phantom_ttt(gameversion=abrupt,obstype=reveal-numturns,rows=2,columns=2,line=2)",
    "dark_hex(board_size=2)",
    "dark_hex(gameversion=adh,num_rows=3,num_cols=1)",
    "small_matrix",
    "modified_rps",
    "rock_paper_scissors",
    "matrix(rows=[[1,2],[3,4]],second=[[0,1],[-1.5,0]])",
]
LARGE = [
    "big_leduc",
    "leduc_poker(players=3)",
    "rhode_island",
    "bucketed_holdem(buckets=2,cards=royal,boards=20,river_boards=20)",
    "bucketed_holdem(buckets=[3;2],cards=royal,board=TcJdQhKs,sizes=[100%;a],stack=8,pot=2)",
    "holdem",
    "holdem(players=6,stack=20000,blinds=[50;100;200],ante=[0;100],sizes=[50%;a],preflop=[5bb;3x;a],force_allin=0.3)",
    "holdem(players=3,bets=[2;2;4;4],rules=acpc)",
    "repeated_poker(max_num_hands=3)",
    "repeated_poker(game=holdem(players=3,stack=[9;12;15],ante=1),max_num_hands=20,reset_stacks=false)",
    "liars_dice",
    "goofspiel",
    "goofspiel(players=3,imp_info=true)",
    "oshi_zumo",
    "battleship",
    "tic_tac_toe",
    "phantom_ttt",
    "dark_hex(obstype=reveal-numturns)",
]
ZERO_SUM = [name for name in SMALL + LARGE if not any(word in name for word in ("total_points", "loss_multiplier", "second"))]


def test_every_game_is_tried() -> None:
    assert {name.partition("(")[0] for name in SMALL + LARGE} == set(games())


def check_state(game: Game, state: State) -> None:
    player = state.current_player()
    legal = list(state.legal_actions())
    if player == TERMINAL:
        assert legal == []
        assert len(state.returns()) == game.num_players
        assert all(isinstance(payoff, float) for payoff in state.returns())
        return
    assert legal
    assert legal == sorted(set(legal))
    assert all(isinstance(action, int) for action in legal)
    names = [state.action_to_string(action) for action in legal]
    assert len(set(names)) == len(names)
    if player == CHANCE:
        outcomes = state.chance_outcomes()
        assert [action for action, _ in outcomes] == legal
        assert sum(probability for _, probability in outcomes) == pytest.approx(1.0, abs=1e-12)
        assert all(probability > 0 for _, probability in outcomes)
        with pytest.raises(GameError, match="give the player"):
            state.information_state_string()
    else:
        assert 0 <= player < game.num_players
        assert state.information_state_string() == state.information_state_string(player)


def view(game: Game, state: State) -> tuple[object, ...]:
    """Everything a state says."""
    strings = [] if state.is_terminal() else [state.information_state_string(player) for player in range(game.num_players)]
    end = state.returns() if state.is_terminal() else None
    return state.current_player(), tuple(state.legal_actions()), strings, end, state.public_state()


def check_children(game: Game, state: State) -> None:
    before = view(game, state)
    for action in state.legal_actions():
        first, again = state.child(action), state.child(action)
        assert first is not state
        assert view(game, first) == view(game, again)
    assert view(game, state) == before


@pytest.mark.parametrize("name", SMALL)
def test_all_states(name: str) -> None:
    game = load(name)
    for number, (state, _) in enumerate(histories(game)):
        check_state(game, state)
        if number % 7 == 0:
            check_children(game, state)


@pytest.mark.slow_cases(
    "bucketed_holdem(buckets=2,cards=royal,boards=20,river_boards=20)",
    "bucketed_holdem(buckets=[3;2],cards=royal,board=TcJdQhKs,sizes=[100%;a],stack=8,pot=2)",
    "repeated_poker(max_num_hands=3)",
    "repeated_poker(game=holdem(players=3,stack=[9;12;15],ante=1),max_num_hands=20,reset_stacks=false)",
    "battleship",
)
@pytest.mark.parametrize("name", LARGE)
def test_random_plays(name: str) -> None:
    game = load(name)
    generator = random.Random(0)
    for _ in range(3):
        for state, _ in playout(game, generator):
            check_state(game, state)
            check_children(game, state)


@pytest.mark.slow_cases("bucketed_holdem(buckets=2,cards=royal,boards=20,river_boards=20)")
@pytest.mark.parametrize("name", SMALL + LARGE)
def test_illegal_actions_are_refused(name: str) -> None:
    """Among the actions tried are those that are legal elsewhere in the same play, such as a card that is dealt."""
    game = load(name)
    states = [state for state, _ in playout(game, random.Random(3))]
    actions = {-1, 7, 10**6}.union(*(list(state.legal_actions())[-3:] for state in states))
    for state in states:
        refused = actions.difference(state.legal_actions())
        if isinstance(state, HoldemHistory | RepeatedState) and state.current_player() >= 0:
            refused = {-1, 10**6}  # a whole hand may also be played with bets that its menu leaves out
        assert refused
        for action in refused:
            with pytest.raises(GameError) as caught:
                state.child(action)
            assert str(action) in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_joint_action_is_checked_for_each_player() -> None:
    game = load("oshi_zumo(coins=2,size=1,horizon=3)")
    assert isinstance(game, TurnBased)
    root = game.game.new_initial_state()
    assert root.child((2, 0)).legal_actions(1) == range(3)  # type: ignore[arg-type]
    for action in (1, (0, 3), (3, 0)):
        with pytest.raises(GameError, match=r"not legal|give a tuple"):
            root.child(action)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SMALL)
def test_infostates_determine_player_actions_and_public_state(name: str) -> None:
    game = load(name)
    known: dict[tuple[int, str], tuple[object, ...]] = {}
    for state, _ in histories(game):
        if state.is_terminal():
            continue
        public = state.public_state()
        assert public is not None
        hash(public)
        for player in range(game.num_players):
            acting = state.current_player() == player
            fact = (public, tuple(state.legal_actions())) if acting else (public,)
            key = (player, acting, state.information_state_string(player))
            assert known.setdefault(key, fact) == fact
            assert known.setdefault(key[::2], (public,)) == (public,)


@pytest.mark.parametrize("name", [name for name in SMALL if not name.startswith("goofspiel(num_cards=3)")])
def test_players_remember_their_infostates_and_actions(name: str) -> None:
    game = load(name)
    past: dict[tuple[int, str], tuple[object, ...]] = {}
    stack = [(game.new_initial_state(), ((),) * game.num_players)]
    while stack:
        state, memories = stack.pop()
        player = state.current_player()
        if player >= 0:
            infostate = state.information_state_string()
            assert past.setdefault((player, infostate), memories[player]) == memories[player]
        for action in state.legal_actions():
            after = list(memories)
            if player >= 0:
                after[player] = (*memories[player], (infostate, action))
            stack.append((state.child(action), tuple(after)))


def test_goofspiel_with_open_bids_forgets() -> None:
    game = load("goofspiel(num_cards=4)")
    infostates: dict[str, set[tuple[int, ...]]] = {}
    for bids in [((0, 2), (1, 3)), ((1, 3), (0, 2))]:
        state = game.new_initial_state()
        for card, bid in zip((3, 2), bids, strict=True):
            for action in (card, *bid):
                state = state.child(action)
        infostates.setdefault(state.information_state_string(0), set()).add(bids)
    assert len(infostates) == 1


@pytest.mark.slow_cases("battleship")
@pytest.mark.parametrize("name", ZERO_SUM)
def test_payoffs_sum_to_zero(name: str) -> None:
    game = load(name)
    generator = random.Random(1)
    for _ in range(20):
        *_, (state, _) = playout(game, generator)
        assert sum(state.returns()) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow_cases("bucketed_holdem(buckets=2,cards=royal,boards=20,river_boards=20)")
@pytest.mark.parametrize("name", SMALL + LARGE)
def test_spec_makes_the_same_game(name: str) -> None:
    game = load(name)
    assert game.spec == name
    again = load(game.spec)
    assert again.spec == game.spec
    assert again.parameters() == game.parameters()
    assert again.num_players == game.num_players
    assert name in repr(game)
    generator = random.Random(2)
    for (state, action), (other, _) in zip(playout(game, generator), playout(again, random.Random(2)), strict=True):
        assert view(game, state) == view(again, other)
        assert action is None or state.action_to_string(action) == other.action_to_string(action)


@pytest.mark.parametrize("name", list(games()))
def test_descriptions(name: str) -> None:
    info = games()[name]
    assert info.name == name
    assert info.summary
    assert info.source
    assert inspect.getdoc(info.build)
    assert set(info.meanings) == set(info.defaults())
    assert all(parameter.meaning for parameter in info.parameters)
    if name != "matrix":
        assert info.make({}).spec == name
