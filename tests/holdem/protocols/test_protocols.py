"""The competition's protocol, between programs on this machine."""

import socket
import threading
from contextlib import contextmanager, suppress
from itertools import count

import numpy as np
import pytest

from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.cards.cards import card_to_string, parse_cards
from treeplex.holdem.protocols import acpc
from treeplex.holdem.protocols.acpc import Dealer, Limits, MatchState, play_acpc
from treeplex.holdem.protocols.lines import LeftError, Lines
from treeplex.holdem.protocols.outside import OutsideHand, parse_line, table_at
from treeplex.search.named_agents.registry import agent

HANDS = 30


def wild(game, seed):
    """Somebody who raises by any amount."""
    return agent("uniform", game, seed=seed)


@contextmanager
def dealt(rules, players):
    """Two players at a dealer's, each by a socket of its own."""
    pairs = [socket.socketpair() for _ in range(2)]
    counts, threads = [0, 0], []

    def play(number):
        with pairs[number][1] as connection:
            counts[number] = play_acpc(connection, rules, players[number], seed=number)

    for number in range(2):
        threads.append(threading.Thread(target=play, args=(number,)))
        threads[-1].start()
    try:
        yield Dealer(rules, (pairs[0][0], pairs[1][0])), counts
    finally:
        for mine, _ in pairs:
            mine.close()
        for thread in threads:
            thread.join(10)


def test_a_match_at_the_dealers_is_what_openspiel_pays():
    pyspiel = pytest.importorskip("pyspiel")
    real, ours = table_at(1000, (50, 100))
    lines = []
    with dealt(real.rules, [wild(ours, 1), wild(ours, 2)]) as (dealer, counts):
        won = dealer.play(HANDS, seed=5, watch=lines.append)
    assert counts == [HANDS, HANDS]
    assert sum(won) == pytest.approx(0.0)
    spiel = pyspiel.load_game(
        "universal_poker(betting=nolimit,bettingAbstraction=fullgame,blind=100 50,firstPlayer=2 1 1 1,numBoardCards=0 3 1 1,"
        "numHoleCards=2,numPlayers=2,numRanks=13,numRounds=4,numSuits=4,stack=1000 1000)"
    )
    totals = [0.0, 0.0]
    for line in lines:
        _, _, betting, cards, results, order = line.split(":")
        hole, _, board = cards.partition("/")
        deck = [*parse_cards(hole.replace("|", "")), *(parse_cards(board.replace("/", "")) if board else ())]
        state, actions = spiel.new_initial_state(), iter(parse_line(betting, real.rules.betting.root, real.rules, "r"))
        while not state.is_terminal():
            if state.is_chance_node():
                named = {state.action_to_string(each).rpartition(" ")[2]: each for each in state.legal_actions()}
                card = next((card for card in deck if card_to_string(card) in named), None)
                state.apply_action(next(iter(named.values())) if card is None else named[card_to_string(card)])
                deck = [each for each in deck if each != card]
                continue
            kind, chips = next(actions)
            state.apply_action({"f": FOLD, "c": CALL}.get(kind, chips))
        assert state.returns() == pytest.approx([float(each) for each in results.split("|")])
        for player, result in zip(map(int, order.split("|")), state.returns(), strict=True):
            totals[player] += result
    assert totals == pytest.approx(won)
    assert any("/" in line.split(":")[2] for line in lines)


def test_lines_are_read_back():
    for line in (
        "MATCHSTATE:0:7:r300c/cr900:AsKd|/2c3d4h",
        "MATCHSTATE:1:0::|2c2d",
        "MATCHSTATE:0:3:cc/cc/cc/:AsKd|QhQs/2c3d4h/5c/9d",
    ):
        state = MatchState.read(line)
        again = MatchState.read(str(state))
        assert (again.position, again.number, again.betting) == (state.position, state.number, state.betting)
        assert [set(each) for each in again.hole] == [set(each) for each in state.hole]
        assert again.board == state.board
    for line in ("STATE:0:7", "MATCHSTATE:x:7::AsKd|", "MATCHSTATE:0:7::AsXd|"):
        with pytest.raises(GameError):
            MatchState.read(line)
    rules = table_at(20_000, (50, 100))[0].rules
    assert parse_line("b200c/kb300c/", rules.betting.root, rules, "b") == [("r", 200), ("c", 0), ("c", 0), ("r", 500), ("c", 0)]
    for line in ("x", "b", "b200f/k", "c9"):
        with pytest.raises(GameError):
            parse_line(line, rules.betting.root, rules, "b")


def test_bets_between_the_agents_chips_are_taken_for_the_nearest():
    real, ours = table_at(20_000, (50, 100))
    hand = OutsideHand(real.rules, wild(ours, 0), 1, parse_cards("AsKd"), np.random.default_rng(0))
    assert hand.unit == 50
    hand.catch_up([("r", 237), ("r", 730)], ())
    assert hand.agent.state.table.line == "r5r15"
    assert hand.to_act
    kind, chips = hand.decide()
    assert kind in "fcr"
    assert chips == 0 or chips in real.rules.betting.legal_raises(hand.table)
    with pytest.raises(GameError, match="blinds"):
        OutsideHand(table_at(20_000, (100, 200))[0].rules, wild(table_at(1000, (20, 100))[1], 0), 0, parse_cards("AsKd"), None)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("MATCHSTATE:5", "expected MATCHSTATE"),
        ("MATCHSTATE:5:0::AsKd|", "position"),
        ("MATCHSTATE:0:0::|", "hides position 0's own cards"),
        ("MATCHSTATE:1:0::AsKd|", "hides position 1's own cards"),
        ("MATCHSTATE:0:0::AsKd", "two hole cards per player"),
        ("MATCHSTATE:0:0::AsKdQh|", "two hole cards per player"),
        ("MATCHSTATE:0:0::AsKd||", "two hole cards per player"),
        (f"MATCHSTATE:0:{'1' * 5000}::AsKd|", "number is missing"),
        ("MATCHSTATE:0:0:cc/:AsKd|/2c3c", "flop"),
        ("MATCHSTATE:0:0:cc/:AsKd|/2c3c4x", "4x"),
        ("MATCHSTATE:0:0:cc/:AsKd|/As2c3c", "twice"),
        ("MATCHSTATE:0:0:cc/r200:AsKd|", "board"),
        ("MATCHSTATE:0:0:cc/:AsKd|", "the board does not match the streets"),
        ("MATCHSTATE:0:0:ccr200:AsKd|", "board"),
        ("MATCHSTATE:0:0:r1:AsKd|", "r1"),
        ("MATCHSTATE:0:0:r0:AsKd|", "r0"),
        ("MATCHSTATE:0:0:r20001:AsKd|", "20001"),
        (f"MATCHSTATE:0:0:r{'9' * 5000}:AsKd|", "digits"),
    ],
)
def test_a_line_that_cannot_be_followed_is_one_error_that_names_it(line, why):
    real, ours = table_at(20_000, (50, 100))
    dealer, connection = socket.socketpair()
    with dealer, connection:
        dealer.sendall(f"{line}\r\n".encode())
        dealer.shutdown(socket.SHUT_WR)
        with pytest.raises(GameError, match=why) as found:
            play_acpc(connection, real.rules, wild(ours, 0))
    assert line[:80] in str(found.value)
    assert "\n" not in str(found.value)


def test_lines_of_a_hand_belong_together():
    real, ours = table_at(20_000, (50, 100))
    for second in ("MATCHSTATE:1:0:r200:|AsKd", "MATCHSTATE:0:0:r200:2c2d|", "MATCHSTATE:0:0::AsKd|"):
        dealer, connection = socket.socketpair()
        with dealer, connection:
            dealer.sendall(f"MATCHSTATE:0:0:r200:AsKd|\r\n{second}\r\n".encode())
            dealer.shutdown(socket.SHUT_WR)
            with pytest.raises(GameError, match="is invalid in this game"):
                play_acpc(connection, real.rules, wild(ours, 0))


def answering(connection, answer):
    """A player who answers each state that asks for an action with what ``answer`` makes of it, or says nothing."""

    lines = Lines(connection, "the dealer")
    lines.send("VERSION:2.0.0", 10)  # before there is a dealer, who may wait for a moment only

    def play():
        rules = table_at(1000, (50, 100))[0].rules
        while True:
            try:
                line = lines.read(10)
            except LeftError:
                return
            state = MatchState.read(line)
            hand = rules.betting.root
            for kind, chips in parse_line(state.betting, hand, rules, "r"):
                hand = rules.betting.after(dealt_on(hand, rules), {"f": FOLD, "c": CALL}.get(kind, chips))
            said = answer(line) if dealt_on(hand, rules).player == state.position else None
            if said:
                with suppress(LeftError):
                    lines.send(said, 10)

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    return thread


def dealt_on(table, rules):
    while table.player == CHANCE:
        table = rules.dealt(table, rules.format.board_sizes[table.street + 1])
    return table


@contextmanager
def against(rules, answer, *, seat=0, **options):
    """A dealer to somebody who always calls and to a player with answers of its own, by default player 0."""
    pairs = [socket.socketpair() for _ in range(2)]
    threads = [answering(pairs[seat][1], answer), answering(pairs[1 - seat][1], lambda line: f"{line}:c")]
    try:
        yield Dealer(rules, (pairs[0][0], pairs[1][0]), **options)
    finally:
        for mine, _ in pairs:
            mine.close()
        for thread in threads:
            thread.join(10)
        for _, theirs in pairs:
            theirs.close()


@pytest.mark.parametrize(
    ("word", "first", "taken"),
    [
        ("r0", "r200", "r200"),
        ("r1", "r200", "r200"),
        ("r150", "r200", "r200"),
        ("r99999", "r1000", "r1000"),
        ("r", "c", "c"),
        ("x", "c", "c"),
        ("r-5", "r200", "r200"),
        ("r300!", "r300", "r300"),
        ("fold", "f", "f"),
        ("", "c", "c"),
    ],
)
def test_the_dealer_takes_what_is_not_allowed_for_the_nearest_that_is(word, first, taken):
    rules, notes, lines = table_at(1000, (50, 100))[0].rules, [], []
    with against(rules, lambda line: f"{line}:{word}", tell=notes.append) as dealer:
        dealer.play(2, watch=lines.append)
    assert lines[1].split(":")[2].startswith(first)  # player 0 acts first in hand 1
    assert dealer.replaced[0] >= 2
    assert dealer.replaced[1] == 0
    assert any(repr(word) in note and note.endswith(f"; {taken} is used") for note in notes)


def test_a_fold_of_nothing_is_a_check():
    rules, notes, lines = table_at(1000, (50, 100))[0].rules, [], []
    with against(rules, lambda line: f"{line}:f", tell=notes.append) as dealer:
        dealer.play(2, watch=lines.append)
    assert lines[0].split(":")[2] == "cc/cc/cc/cc"
    assert lines[1].split(":")[2] == "f"
    assert dealer.replaced == [4, 0]


def test_answers_to_other_states_are_ignored():
    rules, notes = table_at(1000, (50, 100))[0].rules, []

    def answer(line):
        return f"# a comment\r\nnonsense\r\nMATCHSTATE:5:f\r\nMATCHSTATE:0:7::AsKd|:f\r\n{line}:c"

    with against(rules, answer, tell=notes.append) as dealer:
        assert dealer.play(4) == dealer.won
    assert dealer.replaced == [0, 0]
    assert sum("nonsense" in note for note in notes) == sum("hand 7" in note for note in notes) == 16


def test_a_player_of_another_protocol_is_one_line():
    rules = table_at(1000, (50, 100))[0].rules
    pairs = [socket.socketpair() for _ in range(2)]
    for _, theirs in pairs:
        theirs.sendall(b"VERSION:1.0.0\r\n")
    with pytest.raises(
        GameError, match=r"player 0 began with 'VERSION:1.0.0' instead of .*; check that it uses the ACPC protocol"
    ):
        Dealer(rules, (pairs[0][0], pairs[1][0])).play(1)
    for pair in pairs:
        for each in pair:
            each.close()


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(action=0.05), "player 1 exceeds 0.05 s for an action; --timeout allows more, in hand 0"),
        (Limits(hand=0.05), "player 1 exceeds 0.05 s for a hand; --per-hand allows more, in hand 0"),
        (Limits(average=0.01), "player 1 exceeds 0.01 s per hand on average; --average allows more, in hand 0"),
    ],
)
def test_a_player_who_says_nothing_ends_the_match(limits, why):
    rules = table_at(1000, (50, 100))[0].rules
    silent = against(rules, lambda line: None, seat=1, limits=limits)  # player 1 acts first in hand 0
    with silent as dealer, pytest.raises(GameError, match=why):
        dealer.play(5)


def test_time_adds_up_over_actions_and_hands_and_comments_do_not_stop_it(monkeypatch):
    """Each look at the clock takes a second: three or four for each action of the slow player's."""
    rules, lines = table_at(1000, (50, 100))[0].rules, []
    monkeypatch.setattr(acpc, "monotonic", count().__next__)

    def slowly(line):
        return f"# thinking\r\nnonsense\r\n{line}:c"

    limits = Limits(hand=8)
    with against(rules, slowly, limits=limits) as dealer, pytest.raises(GameError, match=r"player 0 .*for a hand.* in hand 0"):
        dealer.play(5)
    limits = Limits(average=5)
    with against(rules, slowly, limits=limits) as dealer, pytest.raises(GameError, match=r"on average.* in hand [1-3]"):
        dealer.play(5, watch=lines.append)
    assert lines
    with against(rules, slowly, limits=Limits(average=100)) as dealer:
        dealer.play(3)


def test_a_dealer_who_says_nothing_is_one_line():
    real, ours = table_at(1000, (50, 100))
    dealer, connection = socket.socketpair()
    with dealer, connection, pytest.raises(GameError, match=r"sent nothing for 0.05 s .*--timeout"):
        play_acpc(connection, real.rules, wild(ours, 0), timeout=0.05)


def test_a_side_that_leaves_within_a_hand_is_one_line():
    real, ours = table_at(1000, (50, 100))
    dealer, connection = socket.socketpair()
    with connection:
        dealer.sendall(b"MATCHSTATE:1:0::|AsKd\r\n")
        dealer.close()
        with pytest.raises(GameError, match=r"the dealer has disconnected.* within hand 1; check its output"):
            play_acpc(connection, real.rules, wild(ours, 0))
    dealer, connection = socket.socketpair()
    dealer.close()
    with connection, pytest.raises(GameError, match="before the first hand"):
        play_acpc(connection, real.rules, wild(ours, 0))
    pairs = [socket.socketpair() for _ in range(2)]
    for _, theirs in pairs:
        theirs.sendall(b"VERSION:2.0.0\r\n")
        theirs.close()
    with pytest.raises(GameError, match=r"player 0 has disconnected.* in hand 0; the match ends here"):
        Dealer(real.rules, (pairs[0][0], pairs[1][0])).play(1)
    for mine, _ in pairs:
        mine.close()


def test_stacks_that_blinds_eat_are_no_table():
    message = r"with stack=40 no player has a decision after the blinds of 50/100; .* such as stack=2000"
    with pytest.raises(SpecError, match=message):
        table_at(40, (50, 100))
