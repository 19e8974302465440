"""Reads and writes hold'em hands in PHH, the poker hand history format (Kim 2024, "Recording and describing poker hands").

PHH numbers players from the first after the dealer (heads-up: from the big blind) and gives bets as amounts on the street.
Hands with unknown cards (``????``) cannot be read, since a history needs all of them. The format has no rake, and always four
raises per street in fixed limit; the rake and the limits on raises are stored in custom fields (:data:`RAKE`, :data:`RAISES`),
whose names begin with an underscore as the format allows.
"""

import json
import math
import os
import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from treeplex.base.spec import shown as quoted
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.named import holdem

NO_LIMIT, FIXED_LIMIT = "NT", "FT"
FIXED_RAISES = 4
"""Maximum number of bets and raises per street in fixed limit, as in PokerKit."""

AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")
"""Pattern of a chip amount; the number of digits is limited."""
RAKE = ("_rake", "_rake_cap", "_no_flop_no_drop")
"""Rake as a share of the pot, its cap in chips (0: no cap), and whether only hands with a flop are raked."""
RAISES = "_raises"
"""Maximum number of bets and raises on each street in fixed limit."""


def write_phh(state: HoldemHistory, path: str | os.PathLike[str]) -> None:
    """Write a finished hand with all hole cards to a file, for PokerKit and other readers.

    Args:
        state: the end of a hand.
        path: the file, usually with the suffix ``.phh``.

    Raises:
        GameError: the hand is not over, or the format does not support it: the deck is not hold'em's, or the fixed limits are
            not a small bet on two streets and a big bet on two.
        FileError: the file cannot be written.
    """
    write_atomically(path, phh_of(state))


def check_written(rules: HandRules) -> None:
    """Reject rules that the format does not support.

    Raises:
        GameError: the deck is not hold'em's, or the fixed limits are not one bet for two streets and one for the last two.
    """
    if rules.format is not HOLDEM:
        raise GameError("hand histories need hold'em with 52 cards; use the full deck")
    limits = rules.betting.limits
    if limits and limits != (limits[0], limits[0], limits[-1], limits[-1]):
        raise GameError(f"hand histories need one bet size for the first two streets and one for the last two, not {limits}")


def phh_of(state: HoldemHistory, names: Sequence[str] = ()) -> str:
    """The text of :func:`write_phh`, with the players' ``names`` by number if given."""
    rules = state.game.rules
    betting = rules.betting
    check_written(rules)
    if not state.is_terminal():
        raise GameError("the hand is not over; play it to its end first")
    order = list(rules.order)
    numbers: dict[str, Any] = {
        "variant": FIXED_LIMIT if betting.limits else NO_LIMIT,
        "ante_trimming_status": not betting.big_blind_ante,
        "antes": padded(betting.antes, betting.players),
        "blinds_or_straddles": padded(betting.blinds, betting.players),
    }
    if betting.limits:
        numbers |= {"small_bet": betting.limits[0], "big_bet": betting.limits[-1], RAISES: list(betting.most)}
    else:
        numbers["min_bet"] = betting.big_blind
    if rules.rake.rate:
        cap = 0.0 if math.isinf(rules.rake.cap) else rules.rake.cap
        numbers |= dict(zip(RAKE, (rules.rake.rate, cap, rules.rake.no_flop_no_drop), strict=True))
    numbers["starting_stacks"] = [betting.stacks[player] for player in order]
    if names:
        numbers["players"] = [names[player] for player in order]
    numbers["actions"] = actions_of(state)
    if all(float(gain).is_integer() for gain in state.returns()):
        numbers["finishing_stacks"] = [int(betting.stacks[player] + state.returns()[player]) for player in order]
    return "".join(f"{key} = {toml(value)}\n" for key, value in numbers.items())


def actions_of(state: HoldemHistory) -> list[str]:
    """A hand as PHH actions, replayed from its start.

    Hands are shown as soon as no player can act, before the rest of the board is dealt. The last player to raise on the
    last street with actions shows first, else the first to act.
    """
    rules = state.game.rules
    order = rules.order
    labels = {player: f"p{number}" for number, player in enumerate(order, start=1)}
    words = [f"d dh {labels[player]} {cards_to_string(state.hands[player])}" for player in order]
    table, shown, last = rules.betting.root, 0, len(words)
    highest = max(range(len(order)), key=lambda number: (table.paid[order[number]], number))
    opener = order[(highest + 1) % len(order)]
    for street, letters in enumerate(state.table.line.split("/")):
        if street:
            shown = deal_street(words, state, shown)
            table = rules.betting.next_street(table)
            opener = order[0] if letters else opener
        for action in split_line(letters):
            who, raised = labels[table.player], action > CALL
            opener = table.player if raised else opener
            words.append(f"{who} cbr {action - table.base}" if raised else f"{who} {'cc' if action == CALL else 'f'}")
            table, last = rules.betting.after(table, action), len(words)
    if state.table.folded.count(False) > 1:
        first = order.index(opener)
        shows = [player for player in (*order[first:], *order[:first]) if not state.table.folded[player]]
        words[last:last] = [f"{labels[player]} sm {cards_to_string(state.hands[player])}" for player in shows]
    return words


def deal_street(words: list[str], state: HoldemHistory, shown: int) -> int:
    """Append the next street's cards to the words; returns the new number of board cards."""
    end = next(size for size in state.game.rules.format.board_sizes if size > shown)
    words.append(f"d db {cards_to_string(state.board[shown:end])}")
    return end


def split_line(letters: str) -> list[int]:
    """The actions of a street, ``cr6c``, as numbers."""
    actions: list[int] = []
    while letters:
        kind, letters = letters[0], letters[1:]
        digits = letters[: len(letters) - len(letters.lstrip("0123456789"))]
        letters = letters[len(digits) :]
        actions.append({"f": FOLD, "c": CALL}[kind] if kind != "r" else int(digits))
    return actions


def read_phh(path: str | os.PathLike[str]) -> HoldemHistory:
    """The hand of a ``.phh`` file, in its own game (``.game``); the dealer is the last player.

    Raises:
        FileError: the file cannot be read.
        SpecError: the game is not hold'em, amounts are not whole chips, or cards are unknown.
        GameError: an illegal action.
    """
    file = Path(path)
    try:
        return hand_from(tomllib.loads(read_text(file)))
    except (tomllib.TOMLDecodeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise FileError(f"{file}: not a hand history ({error!r}); give a .phh file of hold'em") from None
    except (SpecError, GameError) as error:
        raise type(error)(f"{file}: {error}") from None


def hand_from(data: dict[str, Any]) -> HoldemHistory:
    """The hand described by the data of a PHH file."""
    if data["variant"] not in (NO_LIMIT, FIXED_LIMIT):
        raise SpecError(f"its game is {data['variant']!r}; only hold'em ({NO_LIMIT}, {FIXED_LIMIT}) is supported")
    antes, blinds = ([whole_chips(chips) for chips in data[name]] for name in ("antes", "blinds_or_straddles"))
    limit = data["variant"] == FIXED_LIMIT
    even = data.get("ante_trimming_status", False) or not any(antes)
    if even and len(set(antes)) > 1:
        raise SpecError(f"antes are {antes} with ante_trimming_status; only equal antes are supported")
    while len(blinds) > 2 and not blinds[-1]:
        blinds.pop()
    game = holdem(
        players=len(data["starting_stacks"]),
        stack=[whole_chips(chips) for chips in data["starting_stacks"]],
        blinds=blinds,
        ante=antes[0] if even else antes,
        bets=[whole_chips(data[name]) for name in ("small_bet", "small_bet", "big_bet", "big_bet")] if limit else (),
        raises=data.get(RAISES, FIXED_RAISES) if limit else 0,
        **{name[1:]: data[name] for name in RAKE if name in data},
    )
    hands: dict[int, tuple[int, ...]] = {}
    rest: list[list[str]] = []
    for text in data["actions"]:
        words = text.partition("#")[0].split()
        if words[:2] == ["d", "dh"]:
            player = int(words[2][1:]) - 1
            hands[player] = hands.get(player, ()) + known_cards(words[3])
        elif words:
            rest.append(words)
    state = game.new_initial_state()
    for player in range(game.num_players):
        for card in hands[player]:
            state = state.child(card)
    for words in rest:
        state = followed(state, words)
    return state


def followed(state: HoldemHistory, words: list[str]) -> HoldemHistory:
    """The state after a PHH action other than dealing hole cards."""
    if words[:2] == ["d", "db"]:
        for card in known_cards(words[2]):
            state = state.child(card)
        return state
    if words[1] == "sm":
        return state
    if words[1] not in ("f", "cc", "cbr") or state.current_player() != int(words[0][1:]) - 1:
        raise SpecError(f"{' '.join(words)!r} is illegal after {state.table.line!r}")
    action = FOLD if words[1] == "f" else CALL if words[1] == "cc" else state.table.base + whole_chips(words[2])
    if words[1] == "cbr" and action <= CALL:
        raise SpecError(f"{' '.join(words)!r} after {state.table.line!r} is not a raise; write cc to check or call")
    return state.child(action)


def whole_chips(amount: Any) -> int:
    """An amount of a file as chips; a :class:`SpecError` if it is not an integer."""
    text = str(amount)
    if not AMOUNT.fullmatch(text):
        raise SpecError(f"{quoted(text)} is not an amount of chips; write a number such as 250")
    chips = Fraction(text)
    if chips.denominator > 1:
        raise SpecError(f"{amount} is not a whole number of chips; multiply all amounts of the hand by {chips.denominator}")
    return int(chips)


def known_cards(text: str) -> tuple[int, ...]:
    """Cards from their names; a :class:`SpecError` for unknown cards."""
    if "?" in text:
        raise SpecError(f"cards {text} are not known; only hands whose hole cards are all known can be read")
    return parse_cards(text)


def padded(amounts: tuple[int, ...], count: int) -> list[int]:
    """Amounts, padded with zeros."""
    return [*amounts, *[0] * (count - len(amounts))]


def toml(value: Any) -> str:
    """A value in TOML syntax."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)
