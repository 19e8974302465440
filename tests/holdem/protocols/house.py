"""A local server that plays hands as Slumbot and GTO Wizard do, and goes wrong on request."""

import json
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep

import numpy as np

from treeplex.games.base import CHANCE
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.protocols.outside import table_at


class House:
    """A server's side: hands against somebody who acts at random, in the server's chips."""

    def __init__(self, slumbot):
        self.rules, self.slumbot = table_at(20_000, (50, 100))[0].rules, slumbot
        self.random, self.number, self.results, self.asked = np.random.default_rng(3), 0, [], []
        self.acts = []

    def heard(self, path, body):
        """What is answered to a question."""
        if body is None:
            return [self.told()] if self.number and self.table.player >= 0 else []
        if path in ("/api/new_hand", "/hands"):
            return self.begin()
        self.acts.append(path)
        return self.act(body.get("incr") or f"{body.get('action')}{body.get('amount') or ''}")

    def begin(self):
        self.number += 1
        cards = self.random.permutation(52)[:9].tolist()
        self.hole, self.board = (cards[:2], cards[2:4]), cards[4:]
        self.table, self.words, self.seat = self.rules.betting.root, [], self.number % 2
        return self.go_on()

    def act(self, word):
        assert self.table.player == self.seat
        self.move(word)
        return self.go_on()

    def move(self, word):
        table = self.table
        assert (word == "k") == (word in "kc" and table.faced == table.paid[table.player])
        self.words.append(word)
        self.table = self.rules.betting.after(
            table, {"f": FOLD, "c": CALL, "k": CALL}.get(word) if word in "fck" else int(word[1:]) + table.base
        )

    def go_on(self):
        while self.table.player == CHANCE or self.table.player == 1 - self.seat:
            if self.table.player == CHANCE:
                self.words.append("/" if self.slumbot else "_")
                self.table = self.rules.dealt(self.table, self.rules.format.board_sizes[self.table.street + 1])
                continue
            legal = self.rules.betting.legal_raises(self.table)
            passive = "c" if self.table.faced > self.table.paid[self.table.player] else "k"
            chips = int(self.random.choice(legal[: 1 + len(legal) // 8])) if len(legal) else 0
            raises = chips and self.random.random() < 0.5
            self.move(f"b{chips - self.table.base}" if raises else passive)
        if self.table.player < 0:
            board = self.board[: self.rules.format.board_sizes[self.table.street]]
            self.results.append(self.rules.payoffs(self.table, board, self.hole)[self.seat])
        return self.told()

    def told(self):
        """The hand as it stands."""
        shown = [card_to_string(card) for card in self.board[: self.rules.format.board_sizes[self.table.street]]]
        hole = [card_to_string(card) for card in self.hole[self.seat]]
        won = self.results[-1] if self.table.player < 0 else None
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
def house(slumbot, fault=lambda number, path: None):
    """An address at which a :class:`House` answers.

    ``fault`` says for the number of a question, from 0, and its path how it goes wrong: a status and a body that are sent in
    place of an answer; ``before`` or ``after``, as the connection breaks before or after the question is heeded; or seconds
    after which the answer comes.
    """
    there = House(slumbot)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.respond(None)

        def do_POST(self):
            self.respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def respond(self, body):
            number, path = len(there.asked), self.path
            there.asked.append((path, self.headers.get("X-API-KEY")))
            wrong = fault(number, path)
            if isinstance(wrong, tuple):
                self.say(*wrong)
                return
            if isinstance(wrong, float):
                sleep(wrong)
            if wrong != "before":
                said = there.heard(path, body)
                if wrong != "after":
                    self.say(200, json.dumps(said).encode())
                    return
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

        def say(self, status, data, headers=None):
            with suppress(OSError):  # nobody waits any more
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *words):
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *words):
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", there
    finally:
        server.shutdown()
        server.server_close()
