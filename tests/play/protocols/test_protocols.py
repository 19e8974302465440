"""The competition's protocol and servers over HTTP, each against a local server made for the test."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.games.poker.cards.cards import card_to_string, parse_cards
from treeplex.games.poker.whole.betting import CALL, FOLD
from treeplex.play.protocols.acpc import Dealer, MatchState, play_acpc
from treeplex.play.protocols.outside import OutsideHand, parse_line, table_at
from treeplex.play.protocols.servers import play_gto_wizard, play_slumbot, post
from treeplex.runs.agents.registry import agent

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
        state, actions = spiel.new_initial_state(), iter(parse_line(betting, real.rules.first_table, real.rules, "r"))
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
    assert parse_line("b200c/kb300c/", rules.first_table, rules, "b") == [("r", 200), ("c", 0), ("c", 0), ("r", 500), ("c", 0)]
    for line in ("x", "b", "b200f/k", "c9"):
        with pytest.raises(GameError):
            parse_line(line, rules.first_table, rules, "b")


def test_bets_between_the_agents_chips_are_taken_for_the_nearest():
    real, ours = table_at(20_000, (50, 100))
    hand = OutsideHand(real.rules, wild(ours, 0), 1, parse_cards("AsKd"), np.random.default_rng(0))
    assert hand.unit == 50
    hand.catch_up([("r", 237), ("r", 730)], ())
    assert hand.agent.state.table.line == "r5r15"
    assert hand.to_act
    kind, chips = hand.decide()
    assert kind in "fcr"
    assert chips == 0 or chips in real.rules.betting.raise_sizes(hand.table, real.rules.stacks)
    with pytest.raises(
        GameError, match=r"the agent plays stack=50 and blinds of 1/5, and the server stack=20000 and blinds of"
    ):
        OutsideHand(table_at(20_000, (100, 200))[0].rules, wild(table_at(1000, (20, 100))[1], 0), 0, parse_cards("AsKd"), None)


class House:
    """A server's side: hands against somebody who acts at random, in the server's chips."""

    def __init__(self, slumbot):
        self.rules, self.slumbot = table_at(20_000, (50, 100))[0].rules, slumbot
        self.random, self.number, self.results, self.asked = np.random.default_rng(3), 0, [], []

    def begin(self):
        self.number += 1
        cards = self.random.permutation(52)[:9].tolist()
        self.hole, self.board = (cards[:2], cards[2:4]), cards[4:]
        self.table, self.words, self.seat = self.rules.first_table, [], self.number % 2
        return self.go_on()

    def act(self, word):
        assert self.table.player == self.seat
        self.move(word)
        return self.go_on()

    def move(self, word):
        table = self.table
        assert (word == "k") == (word in "kc" and table.faced == table.paid[table.player])
        self.words.append(word)
        self.table = self.rules.after(
            table, {"f": FOLD, "c": CALL, "k": CALL}.get(word) if word in "fck" else int(word[1:]) + table.base
        )

    def go_on(self):
        while self.table.player == CHANCE or self.table.player == 1 - self.seat:
            if self.table.player == CHANCE:
                self.words.append("/" if self.slumbot else "_")
                self.table = self.rules.dealt(self.table, self.rules.format.board_sizes[self.table.street + 1])
                continue
            legal = self.rules.betting.raise_sizes(self.table, self.rules.stacks)
            passive = "c" if self.table.faced > self.table.paid[self.table.player] else "k"
            chips = int(self.random.choice(legal[: 1 + len(legal) // 8])) if len(legal) else 0
            raises = chips and self.random.random() < 0.5
            self.move(f"b{chips - self.table.base}" if raises else passive)
        shown = [card_to_string(card) for card in self.board[: self.rules.format.board_sizes[self.table.street]]]
        hole = [card_to_string(card) for card in self.hole[self.seat]]
        won = None
        if self.table.player < 0:
            complete = self.board[: self.rules.format.board_sizes[self.table.street]]
            won = self.rules.payoffs(self.table, complete, self.hole)[self.seat]
            self.results.append(won)
        if self.slumbot:
            said = {"token": f"t{self.number}", "client_pos": self.seat, "hole_cards": hole, "board": shown}
            return said | {"action": "".join(self.words)} | ({} if won is None else {"winnings": won})
        names = ("BB", "SB")
        players = [
            {"name": "GTO Wizard", "position": names[1 - self.seat], "hole_cards": None},
            {"name": "somebody", "position": names[self.seat], "hole_cards": "".join(hole)},
        ]
        state = {"is_hand_over": won is not None, "players": players, "board_cards": "".join(shown), "winnings": won}
        return {"hand_id": self.number, "game_state": state | {"action_history": self.words, "aivat_score": 1.5}}


@contextmanager
def house(slumbot):
    """An address at which a :class:`House` answers."""
    there = House(slumbot)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            there.asked.append((self.path, self.headers.get("X-API-KEY")))
            new = self.path in ("/api/new_hand", "/hands")
            word = body.get("incr") or f"{body.get('action')}{body.get('amount') or ''}"
            data = json.dumps(there.begin() if new else there.act(word)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", there
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("slumbot", [True, False])
def test_servers_over_http(slumbot):
    real, ours = table_at(20_000, (50, 100))
    player = agent("rules(style=caller)", ours)
    with house(slumbot) as (url, there):
        if slumbot:
            found = play_slumbot(url, real.rules, player, HANDS)
        else:
            found = play_gto_wizard(url, "secret", real.rules, player, HANDS)
            assert found.adjusted == (1.5,) * HANDS
            assert {key for _, key in there.asked} == {"secret"}
    assert list(found.won) == there.results
    assert len(set(found.won)) > 5


@pytest.mark.parametrize("stack", [50, 60])
def test_stacks_below_the_blinds_are_said_in_the_chips_of_the_server(stack):
    with pytest.raises(SpecError, match=f"with stack={stack} nobody .* the blinds of 50/100; .* such as stack=2000"):
        table_at(stack, (50, 100))


def test_what_is_no_server_is_one_line():
    with pytest.raises(SpecError, match="address"):
        post("slumbot.com", {})
    with pytest.raises(GameError, match="no answer"):
        post("http://127.0.0.1:9/api", {})
