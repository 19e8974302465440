"""The protocol of the Annual Computer Poker Competition, version 2.0.0: a client, and a dealer for two.

A line of the dealer's is ``MATCHSTATE:position:hand:betting:cards``; a player who is to act answers with the line, a colon and
``f``, ``c`` or ``r`` with chips of the whole hand. Position 0 has the big blind; players change positions after each hand.
"""

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.evaluate.match.agents import Agent
from treeplex.games.base import CHANCE
from treeplex.games.poker.cards.cards import cards_to_string, parse_cards
from treeplex.games.poker.whole.betting import CALL, FOLD
from treeplex.games.poker.whole.hand import HandRules
from treeplex.play.protocols.outside import DIGITS, MOST_DIGITS, OutsideHand, parse_line

VERSION = "VERSION:2.0.0"
LONGEST = 65_536
"""Bytes of a line."""
STAKES = "compare --stack and --blinds with the dealer's game"


@dataclass(frozen=True)
class MatchState:
    """A line of the dealer's.

    Attributes:
        position: of whom it is told.
        number: of the hand.
        betting: the actions.
        hole: the cards of each position, empty where they are hidden.
        board: the board.
    """

    position: int
    number: int
    betting: str
    hole: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]

    @classmethod
    def read(cls, line: str) -> "MatchState":
        """Read a line.

        Raises:
            GameError: it is none; the message names it.
        """
        said = line.strip()
        try:
            return cls._parsed(said)
        except (GameError, SpecError) as error:
            raise GameError(f"the line {said[:120]!r} cannot be read: {error}") from error

    @classmethod
    def _parsed(cls, line: str) -> "MatchState":
        parts = line.split(":")
        if len(parts) != 5 or parts[0] != "MATCHSTATE":
            raise GameError("a line is MATCHSTATE:position:hand:betting:cards")
        if parts[1] not in ("0", "1"):
            raise GameError("the position of two players is 0 or 1")
        if not parts[2] or len(parts[2]) > MOST_DIGITS or set(parts[2]) - set(DIGITS):
            raise GameError("the hand has no number")
        held, *shown = parts[4].split("/")
        hole, board = tuple(cards_of(text) for text in held.split("|")), [cards_of(text) for text in shown]
        if len(hole) != 2 or not {len(cards) for cards in hole} <= {0, 2}:
            raise GameError("the cards of two players are two each, or none where they are hidden, with | between them")
        if not hole[int(parts[1])]:
            raise GameError(f"the cards of position {parts[1]} are hidden, to whom it is told")
        if [len(cards) for cards in board] != [3, 1, 1][: len(board)]:
            raise GameError("a board is a flop of three cards, a turn of one and a river of one")
        if len(board) != parts[3].count("/"):
            raise GameError("each / of the betting brings the board's next cards")
        return cls(int(parts[1]), int(parts[2]), parts[3], hole, tuple(card for cards in board for card in cards))

    def __str__(self) -> str:
        held = "|".join(cards_to_string(cards) for cards in self.hole)
        ends = [place for place in (0, 3, 4, 5) if place <= len(self.board)]
        shown = "".join("/" + cards_to_string(self.board[a:b]) for a, b in pairwise(ends))
        return f"MATCHSTATE:{self.position}:{self.number}:{self.betting}:{held}{shown}"


def cards_of(text: str) -> tuple[int, ...]:
    """The cards of a text, which may be empty.

    Raises:
        SpecError: it has something else.
    """
    return parse_cards(text) if text else ()


def lines_of(connection: socket.socket) -> Iterator[str]:
    """The lines that come, comments left out.

    Raises:
        GameError: a line that does not end.
    """
    buffer = b""
    while True:
        while b"\n" in buffer:
            line, buffer = buffer.split(b"\n", 1)
            text = line.decode("ascii", "replace").rstrip("\r")
            if text and text[0] not in "#;":
                yield text
        if len(buffer) > LONGEST:
            raise GameError("the other side sends a line without an end")
        piece = connection.recv(4096)
        if not piece:
            return
        buffer += piece


def play_acpc(
    connection: socket.socket,
    rules: HandRules,
    agent: Agent,
    *,
    seed: int = 0,
    watch: Callable[[int], None] = lambda hands: None,
) -> int:
    """Play until the dealer closes the connection.

    Args:
        connection: to a dealer.
        rules: the dealer's game.
        agent: see :func:`treeplex.play.protocols.outside.table_at`.
        seed: of the agent's draws.
        watch: told how many hands have begun.

    Returns:
        How many hands were played.

    Raises:
        GameError: a line that cannot be followed.
    """
    connection.sendall(f"{VERSION}\r\n".encode())
    hand, number, played = None, -1, 0
    for line in lines_of(connection):
        state = MatchState.read(line)
        try:
            if hand is None or state.number != number:
                number, played = state.number, played + 1
                watch(played)
                own = state.hole[state.position]
                hand = OutsideHand(rules, agent, state.position, own, np.random.default_rng((seed, number)))
            if (state.position, set(state.hole[state.position])) != (hand.seat, set(hand.cards)):
                raise GameError("position and cards do not change within a hand")
            hand.catch_up(parse_line(state.betting, rules.first_table, rules, "r"), state.board)
        except GameError as error:
            raise GameError(f"the dealer's line {line[:120]!r} cannot be followed: {error}; {STAKES}") from error
        if hand.to_act:
            kind, chips = hand.decide()
            connection.sendall(f"{line}:{kind}{chips or ''}\r\n".encode())
    return played


class Dealer:
    """Deals to two players who have connected.

    Attributes:
        rules: the game.
        connections: of the players.
        won: chips of each player so far.
    """

    def __init__(self, rules: HandRules, connections: tuple[socket.socket, socket.socket]) -> None:
        self.rules, self.connections, self.won = rules, connections, [0.0, 0.0]
        self._lines = [lines_of(connection) for connection in connections]

    def play(self, hands: int, *, seed: int = 0, watch: Callable[[str], None] = lambda line: None) -> list[float]:
        """Deal some hands; chips of each player.

        Args:
            hands: how many.
            seed: of the cards.
            watch: told a line for each hand, as the competition's logs have it.

        Raises:
            GameError: a player who leaves, or sends what cannot be read.
        """
        for player in (0, 1):
            if next(self._lines[player], "") != VERSION:
                raise GameError(f"player {player} does not speak {VERSION}")
        for number in range(hands):
            cards = np.random.default_rng((seed, number)).permutation(self.rules.format.deck)[:9].tolist()
            players = (number % 2, 1 - number % 2)
            state, results = self._hand(number, players, cards)
            for position, player in enumerate(players):
                self.won[player] += results[position]
            shown = "|".join(f"{result:g}" for result in results)
            watch(f"STATE:{number}:{state.betting}:{str(state).split(':', 4)[4]}:{shown}:{players[0]}|{players[1]}")
        return self.won

    def _hand(self, number: int, players: tuple[int, int], cards: list[int]) -> tuple[MatchState, list[float]]:
        """One hand; its last state with all cards, and what each position won."""
        rules, table = self.rules, self.rules.first_table
        hole, whole = (tuple(sorted(cards[:2])), tuple(sorted(cards[2:4]))), cards[4:]
        while True:
            while table.player == CHANCE:
                table = rules.dealt(table, rules.format.board_sizes[table.street + 1])
            board = tuple(whole[: rules.format.board_sizes[table.street]])
            over = table.player < 0
            shown = over and table.folded.count(False) > 1
            for position, player in enumerate(players):
                seen = tuple(own if shown or seat == position else () for seat, own in enumerate(hole))
                self._send(player, MatchState(position, number, table.line, seen, board))
            if over:
                return MatchState(0, number, table.line, hole, board), rules.payoffs(table, board, hole)
            table = rules.after(table, self._answer(players[table.player], number, table.line))

    def _send(self, player: int, state: MatchState) -> None:
        self.connections[player].sendall(f"{state}\r\n".encode())

    def _answer(self, player: int, number: int, betting: str) -> int:
        """The action that a player answers with."""
        for line in self._lines[player]:
            parts = line.split(":")
            if len(parts) != 6 or parts[2] != str(number) or parts[3] != betting:
                continue  # an answer to an earlier state
            word = parts[5]
            if word in ("f", "c"):
                return FOLD if word == "f" else CALL
            if word[:1] == "r" and word[1:].isdigit():
                return int(word[1:])
            raise GameError(f"player {player} answered {word[:40]!r}; an answer is f, c or r with chips")
        raise GameError(f"player {player} has left in hand {number}")
