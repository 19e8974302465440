"""Servers that are asked over HTTP: Slumbot's, and GTO Wizard's for researchers. The person says where they are."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import sleep
from typing import Any, final
from urllib.parse import quote

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.protocols.asking import PAUSES, SECONDS, NoAnswerError, ask, check_address, patiently, shown
from treeplex.holdem.protocols.outside import Action, OutsideHand, parse_line
from treeplex.holdem.protocols.served import ServedHand
from treeplex.holdem.whole.hand import HandRules
from treeplex.search.agents.agent import Agent

STACK, BLINDS = 20_000, (50, 100)
"""Both servers play with these."""
MOST_CHIPS = 1e9
"""The most chips won in a hand; larger values, or NaN, are no result."""


@dataclass(frozen=True)
class Seen:
    """What a server shows of a hand.

    Attributes:
        seat: the agent's; 0 has the big blind.
        cards: the agent's.
        board: the board.
        line: the actions, as :func:`treeplex.holdem.protocols.outside.parse_line` reads them with ``b``.
        won: chips of the agent; None while the hand goes on.
        adjusted: the same without luck; None where the server does not say.
    """

    seat: int
    cards: tuple[int, ...]
    board: tuple[int, ...]
    line: str
    won: float | None
    adjusted: float | None


class Server(ABC):
    """A server that deals hands, one after the other.

    Args:
        url: where it is.
        timeout: seconds for each of its answers.

    Raises:
        SpecError: an address that is none.
    """

    def __init__(self, url: str, *, timeout: float = SECONDS) -> None:
        check_address(url)
        self.url, self.timeout = url.rstrip("/"), timeout

    @abstractmethod
    def begin(self) -> Any:
        """Ask for a hand; what is answered. It is asked for again while the server is not reached or has no room.

        Raises:
            NoAnswerError: no hand.
        """

    @abstractmethod
    def act(self, said: Any, word: str) -> Any:
        """Act in the hand of the last answer; the next one. No action is sent twice, unless it was seen not to count.

        Args:
            said: the last answer.
            word: ``f``, ``k``, ``c``, or ``b`` with chips of the street.

        Raises:
            NoAnswerError: no answer, so that the state of the hand is unknown.
        """

    @abstractmethod
    def read(self, said: Any) -> Seen:
        """What an answer shows.

        Raises:
            GameError, SpecError: something is missing in it, or is not what it should be.
        """


@final
class Slumbot(Server):
    """Slumbot, by ``/api/new_hand`` and ``/api/act``; it cannot be asked how a hand stands."""

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

    def read(self, said: Any) -> Seen:
        over = said.get("winnings") is not None
        won = chips_in(said, "winnings") if over else None
        said = {"board": [], "action": ""} | said if over else said
        seat = part(said, "client_pos")
        if seat not in (0, 1):
            raise GameError(f"'client_pos' is {shown(seat)}, neither 0 nor 1")
        cards, board = cards_in(part(said, "hole_cards")), cards_in(part(said, "board"))
        return Seen(int(seat), cards, board, text_in(said, "action"), won, None)

    def _ask(self, what: str, body: Mapping[str, Any]) -> Any:
        return ask(f"{self.url}/api/{what}", body, seconds=self.timeout)

    def _heard(self, said: Any) -> Any:
        if not isinstance(said, dict) or "error_msg" in said:
            raise NoAnswerError(f"{self.url} answers {shown(said)}; run again for a new session")
        token = said.get("token")
        self.token = token if isinstance(token, str) and token else self.token
        return said


@final
class GtoWizard(Server):
    """GTO Wizard's AI by its interface for researchers: ``POST /hands`` and ``/hands/ID/act``, ``GET /hands/in-progress``.

    Args:
        key: what the server has given out.
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

    def read(self, said: Any) -> Seen:
        state = part(said, "game_state")
        players = part(state, "players")
        own = [each for each in players if part(each, "name") != self.NAME] if isinstance(players, list) else []
        if len(own) != 1:
            raise GameError(f"of the players one has to be called {self.NAME!r}, and one not")
        over = part(state, "is_hand_over") is True
        luckless = over and state.get("aivat_score") is not None
        return Seen(
            int(part(own[0], "position") != "BB"),
            cards_in(part(own[0], "hole_cards")),
            cards_in(part(state, "board_cards")),
            text_in(state, "action_history"),
            chips_in(state, "winnings") if over else None,
            chips_in(state, "aivat_score") if luckless else None,
        )

    def _under_way(self, name: Any, failed: NoAnswerError) -> Any:
        """How a hand stands.

        Raises:
            NoAnswerError: it is not under way any more, or the server does not say.
        """
        hands = patiently(
            lambda: self._ask(f"hands/in-progress?game_name={quote(self.GAME)}", None), lambda error: error.passing
        )
        for each in hands if isinstance(hands, list) else ():
            if isinstance(each, Mapping) and each.get("hand_id") == name:
                return each
        raise NoAnswerError(f"{failed}; meanwhile hand {shown(name)} has ended there, and how is not said") from failed

    def _ask(self, what: str, body: Mapping[str, Any] | None) -> Any:
        return ask(f"{self.url}/{what}", body, self._headers, seconds=self.timeout)


def part(said: Any, name: str) -> Any:
    """A part of an answer.

    Raises:
        GameError: it is not there.
    """
    if not isinstance(said, Mapping) or name not in said:
        raise GameError(f"{name!r} is missing")
    return said[name]


def cards_in(found: Any) -> tuple[int, ...]:
    """Cards, as a text or a list of texts; none of null.

    Raises:
        GameError, SpecError: they are no cards.
    """
    text = text_in({"cards": found or ""}, "cards")
    return parse_cards(text) if text else ()


def text_in(said: Any, name: str) -> str:
    """A text in an answer, or a list of texts as one.

    Raises:
        GameError: it is neither.
    """
    found = part(said, name)
    pieces = [found] if isinstance(found, str) else found
    if not isinstance(pieces, list) or not all(isinstance(each, str) for each in pieces):
        raise GameError(f"{name!r} is {shown(found)}, and no text")
    return "".join(pieces)


def chips_in(said: Any, name: str) -> float:
    """A number of chips in an answer.

    Raises:
        GameError: it is none.
    """
    found = part(said, name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= MOST_CHIPS:
        raise GameError(f"{name!r} is {shown(found)}, and no number of chips")
    return float(found)


def hands_at(server: Server, rules: HandRules, agent: Agent, numbers: Iterable[int], *, seed: int = 0) -> Iterator[ServedHand]:
    """Play hands, one for each number.

    Args:
        server: where.
        rules, agent: see :func:`treeplex.holdem.protocols.outside.table_at`.
        numbers: of the hands; with the seed they decide the agent's draws.
        seed: of the agent's draws.

    Raises:
        GameError, SpecError: no answer, or one that cannot be followed; the hand under way is lost.
    """
    for number in numbers:
        yield play_hand(server, rules, agent, number, np.random.default_rng((seed, number)))


def play_hand(server: Server, rules: HandRules, agent: Agent, number: int, generator: np.random.Generator) -> ServedHand:
    """One hand; see :func:`hands_at`."""
    said, hand, told = server.begin(), None, -1
    while True:
        try:
            seen = server.read(said)
            if seen.won is not None:
                cards, board = cards_to_string(seen.cards), cards_to_string(seen.board)
                return ServedHand(number, seen.seat, cards, board, seen.line, seen.won, seen.adjusted)
            hand = hand or OutsideHand(rules, agent, seen.seat, seen.cards, generator)
            actions = parse_line(seen.line, rules.betting.root, rules, "b")
            if len(actions) <= told:
                raise GameError("the last action is not in its line")
            told = len(actions)
            hand.catch_up(actions, seen.board)
            if not hand.to_act:
                raise GameError("it waits for an action where none is due")
        except (GameError, SpecError) as error:
            remedy = "check that it is the server's address, or its interface has changed"
            raise GameError(f"{server.url} answers {shown(said)}: {error}; {remedy}") from error
        said = server.act(said, on_street(hand, hand.decide()))


def on_street(hand: OutsideHand, action: Action) -> str:
    """An action with bets as chips of the street, a check said as such."""
    kind, chips = action
    if kind == "r":
        return f"b{chips - hand.table.base}"
    checks = kind == "c" and hand.table.faced == hand.table.paid[hand.seat]
    return "k" if checks else kind
