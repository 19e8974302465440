"""``treeplex play`` at spots, and the table at which it is played."""

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from treeplex.base.digits import three_digits
from treeplex.errors import GameError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.search.agent import holdem_agent
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.tables.spot import HoldemTable
from treeplex.run.cli.main import app
from treeplex.search import Belief, ExactLeaf
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.cli.play import asked

SPOT = """\
board: 3s 7h Td Ks
oop: QQ, AKs, JTs
ip: 99, KQs, T9s
pot: 20
stack: 40
bets: 100%
raises: a
"""
FAST = ("--iterations", 3, "--seed", 0)
EXACT = ("--against", "search(leaf=exact,river=4,threads=1)", *FAST)
DRAWN = ("--against", "search(leaf=exact,river=4,threads=1,drawn=true)", *FAST)
ONE = holdem("3s7hTdKs", "QdQh", "JhTh", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))


def play(*arguments: object, typed: str = "", code: int = 0) -> str:
    """Run ``treeplex play`` with what a person types."""
    result = CliRunner().invoke(app, ["play", *map(str, arguments)], input=typed)
    assert result.exit_code == code, (arguments, result.output, result.exception)
    assert "Traceback" not in result.output
    return result.output


def table(seed: int = 0) -> HoldemTable:
    """At which both hands are known."""
    generator = np.random.default_rng(seed)
    agent = holdem_agent(ONE, ExactLeaf(iterations=4), generator, iterations=3, endgame=4)
    found = HoldemTable(agent, generator)
    found.begin()
    return found


@pytest.fixture
def spot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A spot file in a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spot.yaml").write_text(SPOT)
    return "spot.yaml"


def test_a_person_plays_both_seats_in_turn(spot: str) -> None:
    out = play(spot, *EXACT, "--games", 2, typed="nonsense\n\nb 15\n" + "1\n" * 12)
    assert "3s 7h Td Ks, pot 20, stacks 40, against river values solved exactly, 3 iterations of lcfr per search" in out
    assert "game 1: you are OOP" in out
    assert "game 2: you are IP" in out
    assert "player" not in out
    assert "OOP is out of position and acts first, IP is in position; the smallest bet is 0.1\n" in out
    assert out.count("your decisions, as the agent values them: EV lost ") == 2
    assert "1 check   2 bet 20 (100%)" in out
    assert "'nonsense' is not one of the actions" in out
    assert out.count("(you)") == 2
    assert "after 2 games: " in out


def test_bets_are_typed_as_people_write_them() -> None:
    for text, name in (
        ("15", "bet 15 (75%)"),
        ("b15", "bet 15 (75%)"),
        ("bet 75%", "bet 15 (75%)"),
        ("bet 20", "bet 20 (100%)"),
        ("40", "all-in 40"),
        ("raise to 12.0", "bet 12 (60%)"),
        ("bet 2", "bet 2 (10%)"),
    ):
        seat = table()
        action = seat.named(text)
        assert action is not None
        assert seat.options()[action] == name
    seat = table()
    assert seat.named("call it") is None
    for text in ("b", "1,5", "b" + 400 * "9", "\u00b2", "5%%"):
        assert seat.named(text) is None
    with pytest.raises(GameError, match="at most 40, all-in"):
        seat.named("41")
    with pytest.raises(GameError, match="this spot has no blinds"):
        seat.named("bet 3bb")
    with pytest.raises(GameError, match="multiples of the chip, 1"):
        seat.named("1.5")
    seat.play(1)
    assert seat.options() == {0: "fold", 1: "call 20", 2: "all-in 40"}
    with pytest.raises(GameError, match="a bet to a total of 50 chips is not allowed"):
        seat.named("raise 50%")  # of the pot of 60 after calling
    seat = table()
    small = seat.named("5")
    assert small is not None
    seat.play(small)
    raised = seat.named("raise 50%")
    assert raised is not None
    assert seat.options()[raised] == "raise to 20 (50%)"


def test_a_table_deals_and_pays() -> None:
    seat = table()
    assert seat.actor == 0
    assert seat.shown() == ["Qh Qd (pair of queens)", "Jh Th (pair of tens)"]
    assert "pot 20   behind OOP 40, IP 40" in str(seat.picture())
    seat.play(1)
    seat.play(0)
    assert seat.actor is None
    assert seat.returns() == [10.0, -10.0]  # half of the first pot
    assert seat.outcome(0) == "you win the pot of 20, net +10"
    assert seat.outcome(1) == "OOP wins the pot of 20, net -10"
    seat = table()
    seat.play(1)
    seat.play(2)
    seat.play(1)  # all-in on the turn: the river is dealt
    board = parse_cards(str(seat.picture()).split("   ")[0].removeprefix("board "))
    assert len(board) == 5
    assert not {*board} & {*parse_cards("QdQhJhTh")}
    better = "T" in cards_to_string(board[4:]) or "J" in cards_to_string(board[4:])  # trips or two pair against queens
    straight = cards_to_string(board[4:])[0] in "9"
    assert seat.returns() == ([-50.0, 50.0] if better or straight else [50.0, -50.0])
    called = table()
    for action in (1, 1, 0, 0):
        called.play(action)
    assert called.actor is None
    assert {abs(chips) for chips in called.returns()} in ({30.0}, {0.0})
    assert sum(called.returns()) == 0.0


def test_other_boards_are_dealt(spot: str) -> None:
    """With every hand of the ranges that they leave, those with cards of the spot's own board among them."""
    narrow = ("--oop", "AhAs,KsKh", "--ip", "QhQs,7h7d")
    out = play(spot, *EXACT, *narrow, "--boards", "--games", 8, "--seat", "oop", typed="1\n" * 80)
    boards = {line.strip().split("   ")[0][:17] for line in out.splitlines() if line.strip().startswith("board ")}
    assert len(boards) == 8
    for hand in ("As Ah", "Ks Kh"):
        assert f"OOP knew   {hand} (" in out
    for hand in ("Qs Qh", "7h 7d"):
        assert f"IP knew   {hand} (" in out
    assert "you are IP" not in out
    assert "and other boards, against" in out


def test_decisions_are_reviewed_and_hands_logged() -> None:
    """What the agent played itself is not."""
    seat = table()
    seat.reply()
    seat.play(1)
    seat.play(0)
    assert seat.review(0) == []
    head, line = seat.review(1)
    call = seat_values(1)
    lost = max(call) - call[0]
    assert head == f"your decisions, as the agent values them: EV lost {three_digits(lost)} chips in total"
    assert line.startswith("turn   fold   ")
    assert line.endswith("the best action" if lost == 0 else f"best: {('fold', 'call 20', 'all-in 40')[int(np.argmax(call))]}")
    assert seat.log(7, 1) == (
        "Hand 7: 3s 7h Td Ks, pot 20, stacks 40, you are IP\n"
        "OOP holds Qh Qd (pair of queens)\nIP holds Jh Th (pair of tens)\n"
        f"turn   OOP   bet 20 (100%)\nturn   IP   fold\nOOP wins the pot of 20, net -10\n{head}\n{line}\n\n"
    )


def seat_values(*path: int) -> list[float]:
    """What the agent says the actions after some others are worth to the player who acts."""
    generator = np.random.default_rng(0)
    agent = holdem_agent(ONE, ExactLeaf(iterations=4), generator, iterations=3, endgame=4)
    for action in path:
        agent.see(action)
    player = agent.game.options(agent.state).player
    return [float(value) for value in agent.action_values(int(np.flatnonzero(ONE.ranges[player])[0]))]


def test_a_log_of_hands(spot: str, tmp_path: Path) -> None:
    for typed in ("1\n" * 12, "q\n"):
        play(spot, *EXACT, "--games", 1, "--seat", "oop", "--log", "hands.txt", typed=typed)
    text = (tmp_path / "hands.txt").read_text()
    assert text.startswith("Hand 1: 3s 7h Td Ks, pot 20, stacks 40, you are OOP\n")
    assert text.count("Hand ") == 1
    assert "\nturn   OOP   check\n" in text
    assert play(spot, *EXACT, "--log", "nowhere/hands.txt", code=2) == (
        "error: cannot write nowhere/hands.txt: no such file or directory; create the folder nowhere first\n"
    )


def test_the_average_is_played_unless_an_iteration_is_asked_for(spot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    whole = SearchAgent.begin

    def begin(agent: SearchAgent, *given: object, at: Belief | None = None) -> None:
        seen.append(agent.drawn)
        whole(agent, at=at)

    monkeypatch.setattr(SearchAgent, "begin", begin)
    play(spot, *EXACT, typed="q\n")
    assert set(seen) == {False}
    seen.clear()
    play(spot, *DRAWN, typed="q\n")
    assert set(seen) == {True}


def test_amounts_are_not_taken_for_the_beginning_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    seat = table()
    options = {0: "check", 1: "bet 20 (100%)"}
    assert seat.options() == options
    for typed, name in (("bet 2\n", "bet 2 (10%)"), ("bet\n", "bet 20 (100%)"), ("\u00b2\n1\n", "check")):
        monkeypatch.setattr("sys.stdin", StringIO(typed))
        seat = table()
        action = asked(seat, options)
        assert seat.options()[action] == name


def test_all_in_has_many_names(monkeypatch: pytest.MonkeyPatch) -> None:
    seat = table()
    seat.play(1)
    for typed in ("all in", "Allin", "all-in", "shove", "jam"):
        monkeypatch.setattr("sys.stdin", StringIO(f"{typed}\n"))
        assert seat.options()[asked(seat, seat.options())] == "all-in 40"


def test_call_means_check_where_nobody_has_bet(monkeypatch: pytest.MonkeyPatch) -> None:
    seat = table()
    monkeypatch.setattr("sys.stdin", StringIO("Call\n"))
    assert seat.options()[asked(seat, seat.options())] == "check"
    seat.play(1)
    monkeypatch.setattr("sys.stdin", StringIO("call\n"))
    assert seat.options()[asked(seat, seat.options())] == "call 20"


def test_leaving(spot: str) -> None:
    assert "no game was finished" in play(spot, *EXACT, "--seat", "oop", typed="q\n")
    assert "no game was finished" in play(spot, *EXACT, "--seat", "ip", typed="")


def test_ctrl_c_ends_with_the_score(spot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("treeplex.search.cli.play.asked", pressed)
    assert play(spot, *EXACT, code=130).endswith("no game was finished; thank you for playing\n")


def test_policies_that_have_no_room_are_refused(spot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, or where a turn comes that needs more; then what was won so far is told."""
    free = [10**6]
    monkeypatch.setattr("treeplex.learn.first_street.agent.available_memory", lambda: free[0])
    words = r"the policies of 3 iterations need at least 0\.00\d MB of memory, but only 0\.0001 MB are free"
    forgotten: list[int] = []
    monkeypatch.setattr(SearchAgent, "forget", lambda agent: forgotten.append(agent.searches))
    whole, dealt = SearchAgent.begin, []

    def begin(agent: SearchAgent, *given: object, at: Belief | None = None) -> None:
        dealt.append(at)
        free[0] = 10**6 if len(dealt) < 3 else 100
        whole(agent, at=at)

    monkeypatch.setattr(SearchAgent, "begin", begin)
    drawn = DRAWN
    out = play(spot, *drawn, "--boards", "--seat", "oop", typed="1\n" * 20, code=2)
    assert re.search(words, out)
    assert "after 1 game: " in out.splitlines()[-2]
    assert forgotten == [1]
    free[0] = 10**9
    huge = ("--against", "search(leaf=exact,drawn=true)", "--iterations", 10**13)
    assert "iterations need" in play(spot, *huge, code=2)  # before anything of that size is made
    free[0] = 100
    assert play(spot, *drawn, code=2).startswith("error: the policies of 3 iterations need")
    free[0] = 10
    assert play(spot, *EXACT, code=2).startswith("error: the policy of a search needs")


@pytest.mark.slow_cases("arguments4-not 2; give a turn board")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seat", "button"), "--seat is 'button'; write oop or ip"),
        (("--iterations", 0), "iterations"),
        (("--against", "search(method=lcfx)"), "method must be one of"),
        (("--against", "search(leaf=exact)", "--donk", "50%"), "they do not see who bet last"),
        (("--against", "search(leaf=exact)", "--board", "3s 7h Td Ks 2c"), "not 2; give a turn board"),
        (("--against", "nowhere"), "nowhere"),
        (("--review", "river"), "--review applies to full-game hold'em"),
    ],
)
def test_mistakes_are_one_line(spot: str, arguments: tuple[object, ...], words: str) -> None:
    out = play(spot, *arguments, code=2)
    assert words in out
    assert out.startswith("error: ")
    assert out.count("\n") == 1


def test_the_network_that_comes_with_the_library_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    sizes = ("--bets", "100%,a", "--raises", "a")
    words = ("--against", "rebel(river=2)", "--iterations", 2, "--seat", "ip", "-n", 1, "--seed", 3)
    out = play("turn_endgame", *sizes, *words, typed="1\n" * 10)
    assert "3s 7h Td Ks, pot 2000, stacks 19000, against rebel: " in out
    assert "beware" not in out
    assert "after 1 game: " in out
    own = play("turn_endgame", *sizes, "--iterations", 1, "--seat", "oop", typed="q\n")
    assert "1 check   2 bet 2,000 (100%)   3 all-in 19,000" in own
    without = play("turn_endgame", "--bets", "", "--raises", "", "--iterations", 1, "--seat", "oop", typed="q\n")
    assert "  1 check\n" in without
    unlike = play("turn_endgame", "--bets", "50%", "--raises", "none", "--iterations", 1, "--seat", "oop", typed="q\n")
    assert "beware: the network was not trained for this spot, which has other bet sizes" in unlike
