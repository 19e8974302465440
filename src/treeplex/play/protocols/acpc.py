"""The protocol of the Annual Computer Poker Competition, version 2.0.0: a client, and a dealer for two.

A line of the dealer's is ``MATCHSTATE:position:hand:betting:cards``; a player who is to act answers with the line, a colon and
``f``, ``c`` or ``r`` with chips of the whole hand. Position 0 has the big blind; players change positions after each hand.
Who waits longer for the other side than a connection's timeout gives up.
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
from treeplex.games.poker.whole.betting import CALL, FOLD, WholeBetting
from treeplex.games.poker.whole.hand import HandRules
from treeplex.play.protocols.outside import OutsideHand, parse_line

VERSION = "VERSION:2.0.0"
LONGEST = 65_536
"""Bytes of a line."""


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
            GameError: it is none.
        """
        parts = line.strip().split(":")
        if len(parts) != 5 or parts[0] != "MATCHSTATE" or not (parts[1].isdigit() and parts[2].isdigit()):
            raise GameError(f"the dealer said {line.strip()[:80]!r}; a line is MATCHSTATE:position:hand:betting:cards")
        held, *shown = parts[4].split("/")
        try:
            hole = tuple(tuple(parse_cards(cards)) if cards else () for cards in held.split("|"))
            board = tuple(parse_cards("".join(shown))) if shown else ()
        except SpecError as error:
            raise GameError(f"the dealer said {line.strip()[:80]!r}: {error}") from error
        position = int(parts[1])
        if len(hole) != 2 or position > 1 or not hole[position]:
            raise GameError(
                f"the dealer said {line.strip()[:80]!r}; the cards are those of two positions, 0|1, and one's own are shown"
            )
        return cls(position, int(parts[2]), parts[3], hole, board)

    def __str__(self) -> str:
        held = "|".join(cards_to_string(cards) for cards in self.hole)
        ends = [place for place in (0, 3, 4, 5) if place <= len(self.board)]
        shown = "".join("/" + cards_to_string(self.board[a:b]) for a, b in pairwise(ends))
        return f"MATCHSTATE:{self.position}:{self.number}:{self.betting}:{held}{shown}"


def lines_of(connection: socket.socket) -> Iterator[str]:
    """The lines that come, comments left out, until the other side has left.

    Raises:
        GameError: a line that does not end, or no line for as long as the connection's timeout.
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
        try:
            piece = connection.recv(4096)
        except TimeoutError:
            waited = connection.gettimeout()
            raise GameError(f"the other side has said nothing for {waited:g} s; give it longer with --timeout") from None
        except ConnectionError:
            return
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
        if hand is None or state.number != number:
            number, played = state.number, played + 1
            watch(played)
            own = state.hole[state.position]
            hand = OutsideHand(rules, agent, state.position, own, np.random.default_rng((seed, number)))
        hand.catch_up(parse_line(state.betting, rules.first_table, rules, "r"), state.board)
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
        mended: answers of each player that the rules do not allow.
    """

    def __init__(self, rules: HandRules, connections: tuple[socket.socket, socket.socket]) -> None:
        self.rules, self.connections, self.won, self.mended = rules, connections, [0.0, 0.0], [0, 0]
        self._lines = [lines_of(connection) for connection in connections]

    def play(self, hands: int, *, seed: int = 0, watch: Callable[[str], None] = lambda line: None) -> list[float]:
        """Deal some hands; chips of each player.

        Args:
            hands: how many.
            seed: of the cards.
            watch: told a line for each hand, as the competition's logs have it.

        What the rules do not allow becomes the nearest action that they do, see :func:`nearest_action`.

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
            player = players[table.player]
            wanted = self._answer(player, number, table.line)
            action = nearest_action(rules, table, wanted)
            self.mended[player] += action != wanted
            table = rules.after(table, action)

    def _send(self, player: int, state: MatchState) -> None:
        try:
            self.connections[player].sendall(f"{state}\r\n".encode())
        except OSError:
            raise GameError(f"player {player} has left in hand {state.number}") from None

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


def nearest_action(rules: HandRules, table: WholeBetting, action: int) -> int:
    """The action itself if the rules allow it; else the nearest raise, or a call (a check where there is nothing to call)."""
    raises = rules.betting.raise_sizes(table, rules.stacks)
    if action > CALL and raises:
        return min(max(action, raises[0]), raises[-1])
    return FOLD if action == FOLD and table.faced > table.paid[table.player] else CALL
