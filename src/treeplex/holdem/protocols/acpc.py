"""The protocol of the Annual Computer Poker Competition (ACPC), version 2.0.0: a client, and a two-player dealer.

The dealer's lines are ``MATCHSTATE:position:hand:betting:cards``. The player to act answers with the line, a colon and
``f``, ``c`` or ``r`` with its total chips in the hand. Position 0 is the big blind; players swap positions after each hand.
"""

import contextlib
import math
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.holdem.betting.rules import CALL, FOLD, BettingState
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.protocols.lines import LateError, LeftError, Lines
from treeplex.holdem.protocols.outside import DIGITS, MOST_DIGITS, OutsideHand, parse_line
from treeplex.holdem.whole.hand import HandRules
from treeplex.search.agents.agent import Agent

VERSION = "VERSION:2.0.0"
VERSIONS = re.compile(r"VERSION:2\.0\.[0-9]+")
RAISE = re.compile(r"r *([+-]?[0-9]{1,18})")
"""A raise at the start of a text; digits after the 18th and the rest of the text are ignored."""
PATIENCE = 900.0
"""Default seconds to wait for a dealer's line; longer than the other player's time limit."""
STAKES = "compare --stack and --blinds with the dealer's game"


@dataclass(frozen=True)
class MatchState:
    """A MATCHSTATE line sent by the dealer.

    Attributes:
        position: the position that receives the line.
        number: number of the hand.
        betting: the actions.
        hole: hole cards of each position, empty where hidden.
        board: the board cards.
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
            GameError: the line is invalid; the message quotes it.
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
            raise GameError("expected MATCHSTATE:position:hand:betting:cards")
        if parts[1] not in ("0", "1"):
            raise GameError("the position must be 0 or 1")
        if not parts[2] or len(parts[2]) > MOST_DIGITS or set(parts[2]) - set(DIGITS):
            raise GameError("the hand number is missing")
        held, *shown = parts[4].split("/")
        hole, board = tuple(cards_of(text) for text in held.split("|")), [cards_of(text) for text in shown]
        if len(hole) != 2 or not {len(cards) for cards in hole} <= {0, 2}:
            raise GameError("expected two hole cards per player, or none if they are hidden, separated by |")
        if not hole[int(parts[1])]:
            raise GameError(f"MATCHSTATE hides position {parts[1]}'s own cards")
        if [len(cards) for cards in board] != [3, 1, 1][: len(board)]:
            raise GameError("a board consists of three flop cards, one turn card and one river card")
        if len(board) != parts[3].count("/"):
            raise GameError("the board does not match the streets of the betting")
        return cls(int(parts[1]), int(parts[2]), parts[3], hole, tuple(card for cards in board for card in cards))

    def __str__(self) -> str:
        held = "|".join(cards_to_string(cards) for cards in self.hole)
        ends = [size for size in (0, 3, 4, 5) if size <= len(self.board)]
        shown = "".join("/" + cards_to_string(self.board[a:b]) for a, b in pairwise(ends))
        return f"MATCHSTATE:{self.position}:{self.number}:{self.betting}:{held}{shown}"


def cards_of(text: str) -> tuple[int, ...]:
    """The cards in a text, which may be empty.

    Raises:
        SpecError: the text is not cards.
    """
    return parse_cards(text) if text else ()


def play_acpc(
    connection: socket.socket,
    rules: HandRules,
    agent: Agent,
    *,
    seed: int = 0,
    timeout: float = PATIENCE,
    watch: Callable[[int], None] = lambda hands: None,
) -> int:
    """Play until the dealer closes the connection.

    Args:
        connection: connection to a dealer.
        rules: the dealer's game.
        agent: see :func:`treeplex.holdem.protocols.outside.table_at`.
        seed: random seed for the agent's actions.
        timeout: seconds to wait for the dealer's next line, while the other player thinks.
        watch: called with the number of hands begun.

    Returns:
        Number of hands played.

    Raises:
        GameError: a line is invalid or late, or the dealer disconnects within a hand.
    """
    lines = Lines(connection, "the dealer")
    with contextlib.suppress(LeftError):  # the first line is then missing
        lines.send(VERSION, timeout)
    hand, number, played = None, -1, 0
    while (line := next_line(lines, hand, played, timeout)) is not None:
        state = MatchState.read(line)
        try:
            if hand is None or state.number != number:
                number, played = state.number, played + 1
                watch(played)
                hole = state.hole[state.position]
                hand = OutsideHand(rules, agent, state.position, hole, np.random.default_rng((seed, number)))
            if (state.position, set(state.hole[state.position])) != (hand.seat, set(hand.cards)):
                raise GameError("the position or the hole cards changed within the hand")
            hand.catch_up(parse_line(state.betting, rules.betting.root, rules, "r"), state.board)
        except GameError as error:
            raise GameError(f"the dealer's line {line[:120]!r} is invalid in this game: {error}; {STAKES}") from error
        if hand.to_act:
            kind, chips = hand.decide()
            with contextlib.suppress(LeftError):  # the next line is then missing
                lines.send(f"{line}:{kind}{chips or ''}", timeout)
    return played


def next_line(lines: Lines, hand: OutsideHand | None, played: int, timeout: float) -> str | None:
    """The dealer's next line; None if the dealer disconnected between hands.

    Raises:
        GameError: the dealer is late, or disconnects within a hand or before the first one.
    """
    try:
        return lines.read(timeout)
    except LateError as error:
        raise GameError(
            f"{error} (hand {played}); allow more time with --timeout, or check that it is still running"
        ) from error
    except LeftError as error:
        if hand is not None and hand.table.player == TERMINAL:
            return None
        when = f"within hand {played}" if played else "before the first hand"
        raise GameError(f"{error} {when}; check its output, and restart it") from error


@dataclass(frozen=True)
class Limits:
    """A player's time limits, in seconds; the defaults are those of the competition's dealer.

    Attributes:
        action: for one action.
        hand: for all actions of a hand.
        average: average per hand over the match; the limit for the match is this times the number of hands.
    """

    action: float = 600.0
    hand: float = 600.0
    average: float = 7.0


class Dealer:
    """A dealer for two connected players.

    It behaves like the competition's dealer: an answer to a different state is ignored, an unreadable or illegal answer
    becomes a call (a check where there is nothing to call), and a raise of too few or too many chips becomes the nearest legal
    raise.

    Attributes:
        rules: the game.
        connections: connections to the players.
        won: chips of each player so far.
        replaced: number of illegal answers by each player, each replaced by a legal one.
        dealt: number of finished hands.
    """

    def __init__(
        self,
        rules: HandRules,
        connections: tuple[socket.socket, socket.socket],
        *,
        limits: Limits = Limits(),
        tell: Callable[[str], None] = lambda note: None,
    ) -> None:
        """Set up a dealer.

        Args:
            rules, connections: see the attributes.
            limits: time limits; a player who exceeds one ends the match.
            tell: called with a note on each ignored or changed answer.
        """
        self.rules, self.connections, self.limits, self.tell = rules, connections, limits, tell
        self.won, self.replaced, self.dealt = [0.0, 0.0], [0, 0], 0
        self._lines = [Lines(connection, f"player {player}") for player, connection in enumerate(connections)]
        self._hand_seconds, self._match_seconds, self._most = [0.0, 0.0], [0.0, 0.0], math.inf

    def play(self, hands: int, *, seed: int = 0, watch: Callable[[str], None] = lambda line: None) -> list[float]:
        """Deal some hands; return each player's winnings in chips.

        Args:
            hands: number of hands.
            seed: random seed for the cards.
            watch: called with a line for each hand, as in the competition's logs.

        Raises:
            GameError: a player disconnects, is too slow, or uses another protocol.
        """
        self._most = hands * self.limits.average
        for player in (0, 1):
            try:
                line = self._lines[player].read(self.limits.action)
            except (LateError, LeftError) as error:
                raise GameError(f"{error}; expected {VERSION}; check that it uses the ACPC protocol") from error
            if not VERSIONS.match(line):
                raise GameError(
                    f"player {player} began with {line[:80]!r} instead of {VERSION}; check that it uses the ACPC protocol"
                )
        for number in range(hands):
            cards = np.random.default_rng((seed, number)).permutation(self.rules.format.deck)[:9].tolist()
            players, self._hand_seconds = (number % 2, 1 - number % 2), [0.0, 0.0]
            try:
                state, results = self._hand(number, players, cards)
            except (LateError, LeftError) as error:
                raise GameError(f"{error} in hand {number}; the match ends here") from error
            for position, player in enumerate(players):
                self.won[player] += results[position]
            self.dealt += 1
            cards_shown = str(state).split(":", 4)[4]
            watch(f"STATE:{number}:{state.betting}:{cards_shown}:{chips_of(results)}:{players[0]}|{players[1]}")
        return self.won

    def opening(self, name: str, game: str, hands: int, seed: int) -> list[str]:
        """The first lines of the competition's logs: the game, and the time limits in milliseconds."""
        times = {"response": self.limits.action, "hand": self.limits.hand, "per_hand": self.limits.average}
        limits = [f"#--t_{word} {round(1000 * seconds)}" for word, seconds in times.items()]
        return [f"# name/game/hands/seed {name} {game} {hands} {seed}", *limits]

    @property
    def score(self) -> str:
        """The last line of the competition's logs."""
        return f"SCORE:{chips_of(self.won)}:0|1"

    def _hand(self, number: int, players: tuple[int, int], cards: list[int]) -> tuple[MatchState, list[float]]:
        """Play one hand; return its last state with all cards shown, and the winnings of each position."""
        rules, table = self.rules, self.rules.betting.root
        hole, whole = (tuple(sorted(cards[:2])), tuple(sorted(cards[2:4]))), cards[4:]
        while True:
            while table.player == CHANCE:
                table = rules.dealt(table, rules.format.board_sizes[table.street + 1])
            board = tuple(whole[: rules.format.board_sizes[table.street]])
            over = table.player < 0
            shown = over and table.folded.count(False) > 1
            for position, player in enumerate(players):
                seen = tuple(hole_cards if shown or seat == position else () for seat, hole_cards in enumerate(hole))
                self._send(player, MatchState(position, number, table.line, seen, board))
            if over:
                return MatchState(0, number, table.line, hole, board), rules.payoffs(table, board, hole)
            player = players[table.player]
            word = self._answer(player, number, table)
            action, made = action_of(word, table, rules)
            if made != word:
                self.replaced[player] += 1
                self.tell(
                    f"hand {number}: player {player} sent the invalid action {word[:40]!r} after {table.line!r}; {made} is used"
                )
            table = rules.betting.after(table, action)

    def _send(self, player: int, state: MatchState) -> None:
        self._lines[player].send(str(state), self.limits.action)

    def _answer(self, player: int, number: int, table: BettingState) -> str:
        """A player's answer, without the match state that precedes it."""
        began = monotonic()
        state = MatchState(table.player, number, table.line, ((), ()), ())
        word = answer_to(
            lambda: self._line(player, monotonic() - began),
            state,
            lambda note: self.tell(f"hand {number}: player {player} {note}"),
        )
        self._hand_seconds[player] += monotonic() - began
        self._match_seconds[player] += monotonic() - began
        return word

    def _line(self, player: int, taken: float) -> str:
        """The next line from a player who has already used ``taken`` seconds for this action.

        Raises:
            LateError: a time limit is exceeded; the message names it.
        """
        limits = self.limits
        left, spent = min(
            (limits.action - taken, f"{limits.action:g} s for an action; --timeout allows more"),
            (limits.hand - self._hand_seconds[player] - taken, f"{limits.hand:g} s for a hand; --per-hand allows more"),
            (
                self._most - self._match_seconds[player] - taken,
                f"{limits.average:g} s per hand on average; --average allows more",
            ),
        )
        try:
            return self._lines[player].read(max(left, 0.0))
        except LateError as error:
            raise LateError(f"player {player} exceeds {spent},") from error


def answer_to(read: Callable[[], str], state: MatchState, tell: Callable[[str], None] = lambda note: None) -> str:
    """The action that a player sends for a state; answers for other states and unreadable lines are ignored.

    Args:
        read: returns the player's next line.
        state: the state; only position, hand and betting are compared.
        tell: called with a note on each ignored line.
    """
    while True:
        line = read()
        said, _, word = line.rpartition(":")
        try:
            answered = MatchState.read(said)
        except GameError:
            tell(f"sent {line[:120]!r}; it is ignored, since it is not a state with an action")
            continue
        if (answered.position, answered.number, answered.betting) == (state.position, state.number, state.betting):
            return word
        tell(f"answered hand {answered.number} at {answered.betting!r}; it is ignored")


def chips_of(results: Sequence[float]) -> str:
    """The players' winnings in the format of the competition's logs, with at most six decimals."""
    return "|".join(f"{result + 0.0:.6f}".rstrip("0").rstrip(".") for result in results)


def action_of(word: str, table: BettingState, rules: HandRules) -> tuple[int, str]:
    """The legal action that a player's answer stands for, and the answer's text."""
    raised, sizes = RAISE.match(word), rules.betting.legal_raises(table)
    if word[:1] == "f" and table.paid[table.player] < table.faced:
        return FOLD, "f"
    if raised and sizes:
        chips = min(max(int(raised[1]), sizes[0]), sizes[-1])
        return chips, f"r{chips}"
    return CALL, "c"
