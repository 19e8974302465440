"""Servers that are asked over HTTP: Slumbot's, and GTO Wizard's for researchers. The person says where they are."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.evaluate.match.agents import Agent
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.games.poker.whole.hand import HandRules
from treeplex.play.protocols.outside import Action, OutsideHand, parse_line

STACK, BLINDS = 20_000, (50, 100)
"""Both servers play with these."""
SECONDS = 180.0
"""How long an answer may take."""
KEYED = {401: " and the key", 403: " and the key"}
"""What else to check, by the code of an error."""


class ServedHand(NamedTuple):
    """A hand that was played.

    Attributes:
        won: chips.
        adjusted: the same without luck, where the server says it.
    """

    won: float
    adjusted: float | None = None


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The JSON that a server answers.

    Raises:
        GameError: no answer, or one that says what is wrong.
        SpecError: an address that is none.
    """
    if not url.startswith(("http://", "https://")):
        raise SpecError(f"{url!r} is no address of a server; write https://...")
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            found = json.loads(answer.read())
    except urllib.error.HTTPError as error:
        said = error.read(300).decode("utf-8", "replace")
        raise GameError(f"{url} answers {error.code}: {said}; check the address{KEYED.get(error.code, '')}") from error
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise GameError(f"no answer from {url}: {error}; check the address, or try again later") from error
    if not isinstance(found, dict) or "error_msg" in found:
        raise GameError(f"{url} answers {str(found)[:300]}; check the address, or try again later")
    return found


def play_slumbot(url: str, rules: HandRules, agent: Agent, hands: int, *, seed: int = 0) -> Iterator[ServedHand]:
    """Play Slumbot, hand by hand: ``/api/new_hand`` and ``/api/act``, bets as chips of the street.

    Args:
        url: of the server, such as ``https://slumbot.com/slumbot``.
        rules, agent: see :func:`treeplex.play.protocols.outside.table_at`.
        hands: how many.
        seed: of the agent's draws.

    Raises:
        GameError, SpecError: as :func:`post`, and an answer that cannot be followed; hands before it are done.
    """
    token = ""
    for number in range(hands):
        said, hand = post(f"{url}/api/new_hand", {"token": token} if token else {}), None
        with understood(url, said):
            while said.get("winnings") is None:
                token = said.get("token") or token
                seat, cards = int(said["client_pos"]), parse_cards("".join(said["hole_cards"]))
                board, line = parse_cards("".join(said["board"])) if said["board"] else (), str(said["action"])
                hand = hand or OutsideHand(rules, agent, seat, cards, np.random.default_rng((seed, number)))
                hand.catch_up(parse_line(line, rules.first_table, rules, "b"), board)
                if not hand.to_act:
                    raise GameError(f"{url} waits for an action at {line!r}, where none is due")
                said = post(f"{url}/api/act", {"token": token, "incr": on_street(hand, hand.decide())})
            token, won = said.get("token") or token, float(said["winnings"])
        yield ServedHand(won)


@contextmanager
def understood(url: str, said: object) -> Iterator[None]:
    """Turn what goes wrong while an answer is read into one line.

    Raises:
        GameError: it lacks something, or has something else in its place.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
        wrong = f"{error} is missing" if isinstance(error, KeyError) else str(error) or "a player is missing"
        raise GameError(
            f"{url} cannot be followed: {wrong}, in a hand that began with {str(said)[:200]}; is this its address, and its "
            "interface still the one that treeplex knows?"
        ) from error


def on_street(hand: OutsideHand, action: Action) -> str:
    """An action with bets as chips of the street, a check said as such."""
    kind, chips = action
    if kind == "r":
        return f"b{chips - hand.table.base}"
    checks = kind == "c" and hand.table.faced == hand.table.paid[hand.seat]
    return "k" if checks else kind


def play_gto_wizard(url: str, key: str, rules: HandRules, agent: Agent, hands: int, *, seed: int = 0) -> Iterator[ServedHand]:
    """Play GTO Wizard's AI, hand by hand, by its interface for researchers: ``POST /hands`` and ``/hands/ID/act``.

    Args:
        url: of the server, such as ``https://researcher.gtowizard.com``.
        key: what the server has given out.
        rules, agent, hands, seed: as for :func:`play_slumbot`.

    Raises:
        GameError, SpecError: as for :func:`play_slumbot`.
    """
    headers = {"X-API-KEY": key}
    for number in range(hands):
        said, hand = post(f"{url}/hands", {"game_name": "HUNL 200BB"}, headers), None
        with understood(url, said):
            while not said["game_state"]["is_hand_over"]:
                state = said["game_state"]
                own = next(each for each in state["players"] if each["hole_cards"] and each["name"] != "GTO Wizard")
                seat, cards = int(own["position"] != "BB"), parse_cards(own["hole_cards"])
                hand = hand or OutsideHand(rules, agent, seat, cards, np.random.default_rng((seed, number)))
                line, shown = "".join(state["action_history"]), state["board_cards"]
                hand.catch_up(parse_line(line, rules.first_table, rules, "b"), parse_cards(shown) if shown else ())
                if not hand.to_act:
                    raise GameError(f"{url} waits for an action at {line!r}, where none is due")
                word = on_street(hand, hand.decide())
                body = {"action": word[0], "amount": int(word[1:]) if word[1:] else None}
                said = post(f"{url}/hands/{int(said['hand_id'])}/act", body, headers)
            state = said["game_state"]
            found = ServedHand(float(state["winnings"]), float(state["aivat_score"] or 0.0))
        yield found
