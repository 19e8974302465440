"""Sizes of whole hold'em by street and player, by hand; and everything that reads them."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.games.registry import load
from treeplex.holdem.betting.tree import Decision, tree_from
from treeplex.holdem.street_search.betting import StreetBetting
from treeplex.holdem.street_search.exact import whole_spot
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.nodes import betting_nodes
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.rebel.whole.drawn_games import changed_game, sizes_of
from treeplex.learn.rebel.whole.guess import StreetPolicies
from treeplex.learn.rebel.whole.value_leaf import WholeEncoding

SIZES = "stack=100,sizes=[50%;a],preflop=[3x;a],oop_flop=[100%],turn=[75%],ip_turn=[25%;200%],river=[a],oop_river=[none]"
FLOP, TURN, RIVER = (48, 44, 25), (1,), (2,)
SMALL = "holdem(ranks=3,suits=2,hole=1,deal=[0;1;1],stack=8,{})"


def public_of(spec: str) -> PublicHoldem:
    game = load(spec).public
    assert isinstance(game, PublicHoldem)
    return game


def offered(spec: str, line: tuple[int, ...]) -> list[int]:
    """The actions after a line of actions and cards."""
    game = public_of(spec)
    state = game.first_state()
    for label in line:
        state = game.after(state, label)
    return list(game.actions(state))


@pytest.mark.parametrize(
    ("line", "actions"),
    [
        ((), [0, 1, 6, 100]),  # the dealer raises to three times the big blind, or all-in
        ((6, 1, *FLOP), [1, 18]),  # a pot of 12: the player out of position bets all of it
        ((6, 1, *FLOP, 1), [1, 12, 100]),  # sizes: half of it, or all-in
        ((6, 1, *FLOP, 1, 12), [0, 1, 36]),  # a pot of 24 after the call, and a raise by it
        ((6, 1, *FLOP, 1, 1, *TURN), [1, 15]),  # turn: three quarters of 12
        ((6, 1, *FLOP, 1, 1, *TURN, 1), [1, 9, 30]),  # ip_turn: a quarter of 12, or twice as much as is in
        ((6, 1, *FLOP, 1, 1, *TURN, 1, 1, *RIVER), [1]),  # oop_river=[none]
        ((6, 1, *FLOP, 1, 1, *TURN, 1, 1, *RIVER, 1), [1, 100]),
        ((6, 1, *FLOP, 1, 1, *TURN, 1, 1, *RIVER, 1, 100), [0, 1]),
    ],
)
def test_sizes_by_hand(line: tuple[int, ...], actions: list[int]) -> None:
    assert offered(f"holdem({SIZES})", line) == actions


def test_the_dealer_is_in_position_whoever_it_is() -> None:
    """With the button at player 0 the same sizes are player 1's out of position."""
    assert offered(f"holdem({SIZES},dealer=0)", (6, 1, *FLOP)) == [1, 18]
    repeated = load(f'repeated_poker(game="holdem({SIZES})",max_num_hands=2)')
    state = repeated.new_initial_state()
    for _ in range(2):  # the button moves after the first hand
        for action in (0, 2, 4, 7, 6, 1, *FLOP):
            state = state.child(action)
        assert list(state.legal_actions()) == [1, 18]
        state = state.child(18).child(0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sizes=[50%;a]", "flop=[50%;a],turn=[50%;a],river=[50%;a],preflop=[50%;a]"),
        ("sizes=[50%;a]", "oop=[50%;a],ip=[50%;a]"),
        ("oop=[a],ip=[a],turn=[50%;a]", "sizes=[a],oop_turn=[50%;a],ip_turn=[50%;a]"),
        ("oop=[a],sizes=[50%]", "ip=[50%],oop=[a]"),
        ("sizes=[a],turn=[],oop_turn=[]", "sizes=[a]"),
    ],
)
def test_several_words_for_one_plan(one: str, other: str) -> None:
    first, second = (load(f"holdem({each})").rules for each in (one, other))
    assert first.betting.plan == second.betting.plan


def test_the_spec_reads_back() -> None:
    game = load(f"holdem({SIZES})")
    again = load(str(game))
    assert str(again) == str(game)
    assert again.rules == game.rules
    assert "turn=[75%],river=[a],oop_flop=[100%],oop_river=[none],ip_turn=[25%;200%]" in str(game)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("sizes=5", r"sizes must be a list such as sizes=\[50%;a\], not 5"),
        ("sizes=[a],oop_turn=[z]", "oop_turn: cannot read the bet size 'z'"),
        ("bets=[2;2;4;4],ip_river=[a]", "'bets' is for fixed limit and ip_river for no limit"),
        ("players=3,oop_turn=[a]", "oop_turn is for two players, not 3"),
        ("hole=1,deal=[0;1],ranks=3,turn=[a]", "turn is for a street that is not played, since the game has only 2 streets"),
        ("oop_turm=[a]", "did you mean 'oop_turn'"),
    ],
)
def test_plans_that_cannot_be(parameters: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        load(f"holdem({parameters})")


def test_a_spot_of_the_rest_has_the_sizes_of_both_players() -> None:
    game = public_of(f"holdem({SIZES})")
    state = game.first_state()
    for label in (6, 1, *FLOP):
        state = game.after(state, label)
    rest = game.rest(state, game.possible(state))
    assert rest is not None
    plan = rest.spot.bets
    assert [[own.to_json()["bets"] for own in street] for street in plan.streets[1:]] == [  # type: ignore[union-attr]
        ["100%", "50%,a"],
        ["75%", "25%,200%"],
        ["", "a"],
    ]
    tree = tree_from(game.rules.betting, state.table)
    assert len(tree.nodes) == len(rest.tree.nodes)
    for one, other in zip(tree.nodes, rest.tree.nodes, strict=True):
        assert type(one) is type(other)
        if isinstance(one, Decision) and isinstance(other, Decision):
            assert [each.amount for each in one.actions] == [each.amount for each in other.actions]


@pytest.mark.quick_cases("sizes=[a],oop=[100%;a]-0.0192")
@pytest.mark.parametrize(
    ("sizes", "value"),
    [
        ("sizes=[100%],ip_flop=[a],oop_turn=[none]", -0.0168),
        ("sizes=[100%],oop_flop=[a],ip_turn=[none]", 0.0606),
        ("sizes=[a],oop=[100%;a]", 0.0192),
    ],
)
def test_a_whole_spot_is_the_same_game(sizes: str, value: float) -> None:
    """Values of player 0 are those of a linear program over the compiled rules."""
    spot = whole_spot(public_of(f"holdem(ranks=5,suits=2,hole=1,deal=[0;1;1],stack=9,{sizes})"))
    assert tp.solve(spot, iterations=200, threads=1).ev[0] == pytest.approx(value, abs=0.004)


def test_blueprint_trees_and_streets_follow() -> None:
    """Trees of a blueprint and of a search have as many decisions as the compiled game has lines."""
    spec = SMALL.format("sizes=[100%],ip_flop=[a],oop_turn=[none]")
    game = load(spec)
    lines = set()
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        assert isinstance(state, HoldemHistory)
        if state.current_player() >= 0:
            lines.add(state.table.line)
        if not state.is_terminal():
            stack += [state.child(action) for action in state.legal_actions()]
    rules = game.rules
    assert len(betting_nodes(rules, [1, 1, 1]).first) == len(lines)
    public = public_of(spec)
    first = StreetBetting.of(public, rules.betting.root, ())
    assert len(first.decisions) == sum("/" not in line for line in lines)


def test_whole_training_draws_the_sizes_of_both_players() -> None:
    game = public_of("holdem(stack=20,sizes=[50%;a],oop_turn=[25%;100%;a])")
    assert sizes_of(game) == [0.5, 0, 0.5, 0, 0.25, 1, 0, 0.5, 0, 0.5, 0]
    other = changed_game(game, (30, 30), np.arange(11.0).tolist())
    assert sizes_of(other) == list(range(11))
    assert [len(other.rules.betting.plan.raise_lists(street)) for street in range(4)] == [1, 1, 2, 1]
    assert StreetPolicies(WholeEncoding(game), game).columns == 5


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("sizes=[0%]", "holdem: sizes: bet size '0%' must be greater than 0; write none to allow no bets"),
        ("sizes=[0c;a]", "bet size '0c' must be greater than 0; write none to"),
        ("preflop=[0bb]", "bet size '0bb' must be greater than 0; write none to"),
        ("turn=[e0%]", "bet size 'e0%' must be greater than 0; write none to"),
        (
            "sizes=[1e9%]",
            "bet size '1e9%': a geometric size over one street is all-in; write a, or a percentage of the pot such as 75%",
        ),
        ("preflop=[0.5bb]", r"holdem: preflop: bet size 0.5bb is below the minimum raise to 2bb; give at least that"),
        ("oop_preflop=[1.5bb]", "bet size 1.5bb is below the minimum raise to 2bb"),
        ("players=3,blinds=[1;2;4],preflop=[3bb]", "to 4bb"),
        ("players=3,blinds=[1;2;4],preflop=[2c]", "preflop: bet size 2c is below the minimum raise of 4 chips"),
        ("preflop=[" + "9" * 400 + "bb]", "is too large; write a for all-in"),
        ("sizes=[0.5bb]", "bet size 0.5bb is below the minimum raise to 1bb"),
        ("blinds=[50;100],stack=9000,flop=[99c]", "flop: bet size 99c is below the minimum raise of 100 chips"),
        (
            "sizes=[none;50%]",
            "holdem: sizes: 'none' means no bet and cannot be combined with other sizes; remove it or the other sizes",
        ),
    ],
)
def test_sizes_that_mean_nothing_are_refused(parameters: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        load(f"holdem({parameters})")


def test_a_size_above_the_stack_is_all_in() -> None:
    rules = public_of("holdem(stack=100,preflop=[2bb;99999c],flop=[1bb;2c])").rules
    assert list(rules.betting.actions(rules.betting.root)) == [0, 1, 4, 100]
