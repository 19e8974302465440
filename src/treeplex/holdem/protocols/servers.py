"""HTTP servers to play against: Slumbot, and GTO Wizard's for researchers. The user supplies their addresses."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import sleep
from typing import Any, final
from urllib.parse import quote

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.protocols.asking import PAUSES, SECONDS, NoAnswerError, answer_text, ask, check_address, patiently
from treeplex.holdem.protocols.outside import Action, OutsideHand, parse_line
from treeplex.holdem.protocols.served import ServedHand
from treeplex.holdem.whole.hand import HandRules
from treeplex.search.agents.agent import Agent

STACK, BLINDS = 20_000, (50, 100)
"""Stacks and blinds of both servers."""
MOST_CHIPS = 1e9
"""Maximum chips won in a hand; larger values and NaN are invalid."""


@dataclass(frozen=True)
class HandView:
    """A server's view of a hand.

    Attributes:
        seat: the agent's seat; 0 has the big blind.
        cards: the agent's cards.
        board: the board.
        line: the actions, for :func:`treeplex.holdem.protocols.outside.parse_line` with ``b``.
        won: chips won by the agent; None until the hand ends.
        adjusted: luck-adjusted winnings; None if the server does not send them.
    """

    seat: int
    cards: tuple[int, ...]
    board: tuple[int, ...]
    line: str
    won: float | None
    adjusted: float | None


class Server(ABC):
    """A server that deals hands one after the other.

    Args:
        url: address of the server.
        timeout: seconds to wait for an answer.

    Raises:
        SpecError: the address is invalid.
    """

    def __init__(self, url: str, *, timeout: float = SECONDS) -> None:
        check_address(url)
        self.url, self.timeout = url.rstrip("/"), timeout

    @abstractmethod
    def begin(self) -> Any:
        """Request a hand and return the response. The request is repeated while the server is unreachable or busy.

        Raises:
            NoAnswerError: no hand was received.
        """

    @abstractmethod
    def act(self, said: Any, word: str) -> Any:
        """Send an action in the current hand and return the next response. An action is sent again only if the server did not
        record it.

        Args:
            said: the last response.
            word: ``f``, ``k``, ``c``, or ``b`` with the chips on the street.

        Raises:
            NoAnswerError: no response, so the state of the hand is unknown.
        """

    @abstractmethod
    def read(self, said: Any) -> HandView:
        """The view of the hand in a response.

        Raises:
            GameError, SpecError: a part of the answer is missing or invalid.
        """


@final
class Slumbot(Server):
    """Slumbot, through ``/api/new_hand`` and ``/api/act``; this server cannot report the state of a hand."""

    def __init__(self, url: str, *, timeout: float = SECONDS) -> None:
        super().__init__(url, timeout=timeout)
        self.token = ""

    def begin(self) -> Any:
        body = {"token": self.token} if self.token else {}
        return self._heard(patiently(lambda: self._ask("new_hand", body), lambda error: error.harmless))

    def act(self, said: Any, word: str) -> Any:
        body = {"token": self.token, "incr": word}
        heard = self._heard(patiently(lambda: self._ask("act", body), lambda error: not error.sent))
        return {name: said[name] for name in ("client_pos", "hole_cards")} | heard

    def read(self, said: Any) -> HandView:
        over = said.get("winnings") is not None
        won = chips_in(said, "winnings") if over else None
        said = {"board": [], "action": ""} | said if over else said
        seat = part(said, "client_pos")
        if seat not in (0, 1):
            raise GameError(f"'client_pos' is {answer_text(seat)}, neither 0 nor 1")
        cards, board = cards_in(part(said, "hole_cards")), cards_in(part(said, "board"))
        return HandView(int(seat), cards, board, text_in(said, "action"), won, None)

    def _ask(self, what: str, body: Mapping[str, Any]) -> Any:
        return ask(f"{self.url}/api/{what}", body, seconds=self.timeout)

    def _heard(self, said: Any) -> Any:
        if not isinstance(said, dict) or "error_msg" in said:
            raise NoAnswerError(f"{self.url} answers {answer_text(said)}; run the command again for a new session")
        token = said.get("token")
        self.token = token if isinstance(token, str) and token else self.token
        return said


@final
class GtoWizard(Server):
    """GTO Wizard's AI through its research interface: ``POST /hands`` and ``/hands/ID/act``, ``GET /hands/in-progress``.

    Args:
        key: the API key.
    """

    GAME, NAME = "HUNL 200BB", "GTO Wizard"

    def __init__(self, url: str, key: str, *, timeout: float = SECONDS) -> None:
        super().__init__(url, timeout=timeout)
        self._headers = {"X-API-KEY": key}

    def begin(self) -> Any:
        return patiently(lambda: self._ask("hands", {"game_name": self.GAME}), lambda error: error.harmless)

    def act(self, said: Any, word: str) -> Any:
        name, before = part(said, "hand_id"), self.read(said).line
        body = {"action": word[0], "amount": int(word[1:]) if word[1:] else None}
        for pause in (*PAUSES, None):
            try:
                return self._ask(f"hands/{name}/act", body)
            except NoAnswerError as error:
                if pause is None or not error.passing:
                    raise
                failed = error
            sleep(pause)
            if failed.sent:
                now = self._under_way(name, failed)
                if self.read(now).line != before:
                    return now
        raise failed

    def read(self, said: Any) -> HandView:
        state = part(said, "game_state")
        players = part(state, "players")
        own_players = [player for player in players if part(player, "name") != self.NAME] if isinstance(players, list) else []
        if len(own_players) != 1:
            raise GameError(f"exactly one of the players must be called {self.NAME!r}")
        over = part(state, "is_hand_over") is True
        luckless = over and state.get("aivat_score") is not None
        return HandView(
            int(part(own_players[0], "position") != "BB"),
            cards_in(part(own_players[0], "hole_cards")),
            cards_in(part(state, "board_cards")),
            text_in(state, "action_history"),
            chips_in(state, "winnings") if over else None,
            chips_in(state, "aivat_score") if luckless else None,
        )

    def _under_way(self, name: Any, failed: NoAnswerError) -> Any:
        """The current state of an unfinished hand.

        Raises:
            NoAnswerError: the hand has ended, or the server does not answer.
        """
        hands = patiently(
            lambda: self._ask(f"hands/in-progress?game_name={quote(self.GAME)}", None), lambda error: error.passing
        )
        for hand in hands if isinstance(hands, list) else ():
            if isinstance(hand, Mapping) and hand.get("hand_id") == name:
                return hand
        raise NoAnswerError(
            f"{failed}; hand {answer_text(name)} has ended on the server in the meantime, and its result is unknown"
        ) from failed

    def _ask(self, what: str, body: Mapping[str, Any] | None) -> Any:
        return ask(f"{self.url}/{what}", body, self._headers, seconds=self.timeout)


def part(said: Any, name: str) -> Any:
    """Return a field of a response.

    Raises:
        GameError: the part is missing.
    """
    if not isinstance(said, Mapping) or name not in said:
        raise GameError(f"{name!r} is missing")
    return said[name]


def cards_in(cards: Any) -> tuple[int, ...]:
    """Cards given as a string or a list of strings; none for null.

    Raises:
        GameError, SpecError: the data are not cards.
    """
    text = text_in({"cards": cards or ""}, "cards")
    return parse_cards(text) if text else ()


def text_in(said: Any, name: str) -> str:
    """A string field of a response; a list of strings is joined.

    Raises:
        GameError: it is neither.
    """
    value = part(said, name)
    pieces = [value] if isinstance(value, str) else value
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise GameError(f"{name!r} is {answer_text(value)}, not a string")
    return "".join(pieces)


def chips_in(said: Any, name: str) -> float:
    """A field of a response that holds a number of chips.

    Raises:
        GameError: it is not a number.
    """
    value = part(said, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_CHIPS:
        raise GameError(f"{name!r} is {answer_text(value)}, not a number of chips")
    return float(value)


def hands_at(server: Server, rules: HandRules, agent: Agent, numbers: Iterable[int], *, seed: int = 0) -> Iterator[ServedHand]:
    """Play hands, one for each of the given numbers.

    Args:
        server: the server.
        rules, agent: see :func:`treeplex.holdem.protocols.outside.table_at`.
        numbers: numbers of the hands, which together with the seed determine the agent's draws.
        seed: random seed for the agent's actions.

    Raises:
        GameError, SpecError: no answer, or an invalid one; the unfinished hand is lost.
    """
    for number in numbers:
        yield play_hand(server, rules, agent, number, np.random.default_rng((seed, number)))


def play_hand(server: Server, rules: HandRules, agent: Agent, number: int, generator: np.random.Generator) -> ServedHand:
    """Play one hand; see :func:`hands_at`."""
    said, hand, reported = server.begin(), None, -1
    while True:
        try:
            seen = server.read(said)
            if seen.won is not None:
                cards, board = cards_to_string(seen.cards), cards_to_string(seen.board)
                return ServedHand(number, seen.seat, cards, board, seen.line, seen.won, seen.adjusted)
            hand = hand or OutsideHand(rules, agent, seen.seat, seen.cards, generator)
            actions = parse_line(seen.line, rules.betting.root, rules, "b")
            if len(actions) <= reported:
                raise GameError("the last action does not appear in the hand's action sequence")
            reported = len(actions)
            hand.catch_up(actions, seen.board)
            if not hand.to_act:
                raise GameError("the server waits for an action, but it is not the agent's turn")
        except (GameError, SpecError) as error:
            remedy = "check the server's address; its interface may have changed"
            raise GameError(f"{server.url} answers {answer_text(said)}: {error}; {remedy}") from error
        said = server.act(said, on_street(hand, hand.decide()))


def on_street(hand: OutsideHand, action: Action) -> str:
    """An action as text: bets in chips on this street, and ``k`` for a check."""
    kind, chips = action
    if kind == "r":
        return f"b{chips - hand.table.base}"
    checks = kind == "c" and hand.table.faced == hand.table.paid[hand.seat]
    return "k" if checks else kind
