"""Whole hold'em: rake, plans of sizes, all-ins for less than a raise, and what is refused."""

import pytest

from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.games.registry import load
from treeplex.holdem.betting.pots import side_pots, uncalled, won
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.named import holdem

ACES, KINGS, QUEENS = [51, 50], [47, 46], [43, 42]
BOARD = [0, 5, 10, 15, 20]


def after(spec: str, *actions: int, cards: list[int] | None = None) -> HoldemHistory:
    state = load(spec).new_initial_state()
    assert isinstance(state, HoldemHistory)
    for card in (*(cards or [*ACES, *KINGS, *QUEENS][: state.game.hole_cards]), *actions):
        state = state.child(card)
    return state


def test_rake_is_of_matched_chips_and_capped() -> None:
    state = after("holdem(rake=0.1)", 50, 0)  # the dealer raises to 50, the big blind folds: 4 chips were matched
    assert list(state.returns()) == pytest.approx([-2.0, 2 - 0.4])
    assert list(after("holdem(rake=0.1,no_flop_no_drop=true)", 50, 0).returns()) == [-2.0, 2.0]
    allin = after("holdem(rake=0.1,no_flop_no_drop=true)", 200, 1, *BOARD)
    assert list(allin.returns()) == pytest.approx([200 - 40, -200.0])
    assert list(after("holdem(rake=0.1,rake_cap=3)", 200, 1, *BOARD).returns()) == pytest.approx([197.0, -200.0])


def test_rake_is_taken_from_every_pot_alike() -> None:
    """The short stack wins the main pot of 150, the second the side pot of 100; 10% of each goes to the house."""
    spec = "holdem(players=3,stack=[50;100;100],rake=0.1)"
    state = after(spec, 100, 1, 1, *BOARD)
    assert list(state.returns()) == pytest.approx([135 - 50, 90 - 100, -100.0])


def test_side_pots() -> None:
    assert uncalled([3, 9, 5]) == (1, 4)
    assert uncalled([5, 5]) == (0, 0)
    pots = side_pots([10, 30, 30, 20], [False, False, False, True], dead=4)
    assert pots == [(44, [0, 1, 2]), (50, [1, 2])]
    assert won(pots, [9, 7, 7, 0], order=[2, 0, 1]) == [44, 25, 25, 0]
    assert won([(7, [0, 1, 2])], [5, 5, 5], order=[2, 0, 1]) == [2, 2, 3]
    assert won([(7, [0, 1, 2])], [5, 5, 1], order=None) == [3.5, 3.5, 0]


def test_an_all_in_for_less_does_not_reopen_the_betting() -> None:
    """Rule 47 of the Poker TDA: blinds of 2000 and 4000, one calls 4000, the next is all-in for 7500."""
    spec = "holdem(players=4,stack=[50000;50000;50000;7500],blinds=[2000;4000]"
    cards = [*ACES, *KINGS, *QUEENS, 1, 2]
    behind = after(f"{spec})", 1, 7500, 0, 1, cards=cards)
    assert behind.current_player() == 2
    assert list(behind.legal_actions()) == [0, 1]
    big_blind = after(f"{spec})", 1, 7500, 0, cards=cards)
    assert big_blind.legal_actions()[2] == 11_500  # it has not acted; a full raise goes 4000 above the all-in
    assert after(f"{spec},rules=acpc)", 1, 7500, 0, 1, cards=cards).legal_actions()[2] == 11_000


@pytest.mark.parametrize(
    ("plan", "actions", "offered"),
    [
        ("sizes=[50%;100%;a]", (), [0, 1, 4, 6, 100]),
        ("preflop=[2.5bb;3x;a]", (), [0, 1, 5, 6, 100]),
        ("preflop=[2.5bb;3x;a]", (6,), [0, 1, 18, 100]),
        ("preflop=[3x],limps=false", (), [0, 6]),
        ("sizes=[200%],force_allin=1.0", (34,), [0, 1, 100]),
        ("sizes=[100%],add_allin=5", (), [0, 1, 6]),
        ("sizes=[100%],add_allin=5", (6, 1, 0, 4, 8), [1, 18]),
        ("sizes=[100%],add_allin=5", (6, 1, 0, 4, 8, 18), [0, 1, 54, 100]),  # 82 more into a pot of 36
        ("sizes=[45%;50%;100%],merge=0.2", (6, 1, 0, 4, 8), [1, 12, 18]),
        ("sizes=[50%;10c;a],preflop=[3x]", (6, 1, 0, 4, 8), [1, 12, 16, 100]),
        ("sizes=[e],preflop=[3x]", (6, 1, 0, 4, 8), [1, 15]),
        ("bets=[2;2;4;4]", (4,), [0, 1, 6]),
        ("bets=[2;2;4;4]", (4, 6, 8), [0, 1]),
        ("raises=1", (10,), [0, 1]),
    ],
)
def test_raises_on_offer(plan: str, actions: tuple[int, ...], offered: list[int]) -> None:
    assert list(after(f"holdem(stack=100,{plan})", *actions).legal_actions()) == offered


def test_straddles_and_antes() -> None:
    state = after("holdem(players=3,blinds=[1;2;4],ante=1)")
    assert state.current_player() == 0  # the straddle is the last blind, so the small blind begins
    assert list(state.legal_actions())[:3] == [0, 1, 8]
    assert state.knowledge(0) == "AsAh, pot 10, 3 to call, stacks 198 197 195"
    big_blind_ante = after("holdem(players=3,ante=[0;2])", 0, 0)
    assert list(big_blind_ante.returns()) == [-1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("holdem(players=1)", "from 2 to 10"),
        ("holdem(stack=[100])", "one for each player"),
        ("holdem(blinds=[2;1])", "ascending"),
        ("holdem(blinds=[1;2;4])", "3 entries for 2 players"),
        ("holdem(bets=[2;4])", "each of the 4 streets"),
        ("holdem(bets=[2;2;4;4],sizes=[a])", "'bets' is for fixed limit and sizes for no limit; give only one of them"),
        ("holdem(sizes=[0.5])", r"2.5bb \(big blinds\)"),
        ("holdem(sizes=[50%;0%])", "'0%' must be greater than 0; write none to"),
        ("holdem(sizes=[none;50%])", "'none' means no bet"),
        ("holdem(preflop=[1bb])", "bet size 1bb is below the minimum raise to 2bb"),
        ("holdem(rake=5)", "share of the pot from 0 to 1"),
        ("holdem(rules=tdaa)", "did you mean 'tda'"),
        ("holdem(players=6,ranks=3,suits=4)", "need 17 cards"),
        ("holdem(deal=[3;1;1])", "write 0 there"),
        ("repeated_poker(game=leduc_poker)", "give a holdem game"),
        ("repeated_poker(blind_schedule=50-1/2)", "hands:small/big"),
    ],
)
def test_what_is_refused(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(spec)


def test_an_action_that_the_rules_do_not_allow() -> None:
    with pytest.raises(GameError, match="cannot raise to 3"):
        holdem_after_deal().child(3)
    with pytest.raises(GameError, match="cannot fold"):
        holdem_after_deal().child(1).child(0)


def holdem_after_deal() -> HoldemHistory:
    state = holdem().new_initial_state()
    for card in (51, 50, 47, 46):
        state = state.child(card)
    return state


def test_the_whole_blind_is_due_where_it_is_all_in_for_less() -> None:
    """Card rooms ask callers for the whole big blind and raise from there; the computer poker competition does not."""
    spec = "holdem(players=3,stack=[100;3;80],blinds=[2;6],rules={})"
    table = load(spec.format("tda")).rules.betting.root
    assert (table.player, table.paid, table.faced, table.least) == (2, (2, 3, 0), 6, 12)
    assert load(spec.format("acpc")).rules.betting.root.faced == 3
    called = after(spec.format("tda"), 1, 1)
    assert called.table.paid == (6, 3, 6)
    assert called.game.rules.settlement(called.table, dealt=True).pots == ((9.0, (0, 1, 2)), (6.0, (0, 2)))
    # once the others have folded, who has as much in as the short blind owes nothing
    folded = after("holdem(players=3,stack=[100;2;80],blinds=[3;6])", 0)
    assert (folded.table.player, folded.table.paid) == (CHANCE, (3, 2, 0))
    # of two players, nobody can win more than the short stack: what is due is what it has
    assert load("holdem(stack=[3;100],blinds=[2;6])").rules.betting.root.faced == 3
    assert load("holdem(players=3,stack=[4;3;80],blinds=[2;6])").rules.betting.root.faced == 4


def test_repeated_poker_ends_when_no_player_has_the_big_blind() -> None:
    game = "repeated_poker(game=holdem(stack=60,rules=acpc),reset_stacks=false,blind_schedule=1:1/2;30:100/200)"
    state = load(game).new_initial_state()
    while not state.is_terminal():
        state = state.child(state.legal_actions()[0] if state.current_player() == CHANCE else 0)
    assert sorted(state.returns()) == [-1.0, 1.0]
