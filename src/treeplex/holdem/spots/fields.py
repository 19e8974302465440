"""Parsers and error messages for the fields of a spot, which are strings with positions.

Spot files and command-line options have the same fields; :mod:`treeplex.holdem.spots.files` combines them.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.located_text import LocatedText, listed
from treeplex.base.spec import nearest, shown
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.cards.cards import PICTURES, SUITS, hand_numbers, parse_card
from treeplex.holdem.cards.format import Format
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.spots.locks import TextLock

NUMBER = re.compile(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)(e[+-]?\d+)?")
PLAYERS = ("oop", "ip")
DEFAULT = "default"
TRUE, FALSE = "true", "false"
ALL_HANDS = ("all", "any", "random", "100%")
DEVICES = ("cpu", "cuda", "auto", "torch-cpu")
"""Devices that iterate on a spot; see :data:`treeplex.learn.common.device.DEVICES`."""
NO_BIG_BLIND = "the big blind in chips is unknown; write pot and stack in big blinds as well (6.5bb), or all amounts in chips"


def at(value: LocatedText, field: str, problem: str) -> SpecError:
    """The error for a field: position, field, problem and remedy."""
    name = "" if value.place.startswith("--") else f" {field}:"
    return SpecError(f"{value.place}:{name} {problem}")


def written(value: LocatedText, field: str, example: str) -> str:
    """An example of a field in its source's syntax: ``--pot 200`` for options, ``pot: 200`` in files and braces."""
    return f"{value.place} {quoted(example)}" if re.fullmatch(r"--[\w-]+", value.place) else f"{field}: {example}"


def quoted(text: str) -> str:
    """A value quoted as one shell word."""
    return text if re.fullmatch(r"[\w.:/+%,-]+", text) else f'"{text}"'


def text_of(value: LocatedText, field: str, example: str) -> str:
    """The text of a field; lists of strings are joined by commas.

    Raises:
        SpecError: the field is a table, a list of lists, or empty.
    """
    parts = [item.text for item in listed(value)]
    text = ", ".join(part for part in parts if part is not None).strip() if None not in parts else None
    if text is None or value.entries is not None:
        raise at(value, field, f"must be a string, not {value.kind}; write {written(value, field, example)}")
    if not text:
        rest = "leave it out" if value.place.startswith("--") else "remove the line"
        raise at(value, field, f"is empty; write {written(value, field, example)}, or {rest}")
    return text


def number(value: LocatedText, field: str, example: str, *, least: float = -math.inf) -> float:
    """The number in a field.

    Raises:
        SpecError: it is not a number, or below ``least``.
    """
    text = text_of(value, field, example)
    if not NUMBER.fullmatch(text.lower()) or not math.isfinite(float(text)):
        raise at(value, field, f"{shown(text)} is not a number; write {written(value, field, example)}")
    if float(text) < least:
        raise at(value, field, f"{text} is too small; write a number of at least {least:g}")
    return float(text)


def integer(value: LocatedText, field: str, example: str, *, least: int) -> int:
    """The integer in a field, at least ``least``."""
    text = text_of(value, field, example)
    if not re.fullmatch(r"\+?\d{1,12}", text) or int(text) < least:
        raise at(value, field, f"{shown(text)} is not an integer of at least {least}; write {written(value, field, example)}")
    return int(text)


def share(value: LocatedText, field: str, example: str) -> float:
    """The share in a field, ``5%`` or ``0.05``, from 0 to 1."""
    text = text_of(value, field, example)
    value_read = share_of(text)
    if value_read is None or not 0 <= value_read <= 1:
        raise at(value, field, f"{shown(text)} is not a share from 0% to 100%; write {written(value, field, example)}")
    return value_read


def flag(value: LocatedText, field: str) -> bool:
    """The truth value in a field, ``true`` or ``false``."""
    text = text_of(value, field, TRUE).lower()
    if text not in (TRUE, FALSE):
        raise at(value, field, f"{shown(text)} is neither true nor false; write {written(value, field, TRUE)}, or {FALSE}")
    return text == TRUE


def share_of(text: str) -> float | None:
    """A share from ``5%`` or ``0.05``; None for other text."""
    body, percent = (text[:-1].strip(), 100.0) if text.endswith("%") else (text.strip(), 1.0)
    return float(body) / percent if NUMBER.fullmatch(body.lower()) else None


def keys(value: LocatedText, field: str, known: Mapping[str, str]) -> Mapping[str, LocatedText]:
    """The entries of a table with known keys.

    Raises:
        SpecError: it is not a table, or has a key that is not in ``known``, which maps names to their purposes.
    """
    if value.entries is None:
        raise at(value, field, f"must be a table with the keys {', '.join(known)}, not {value.kind}")
    for key, entry in value.entries.items():
        if key not in known:
            raise at(entry, field, f"unknown key {shown(key)}{nearest(key, known)}")
    return value.entries


@dataclass(frozen=True)
class Target:
    """Target exploitability: a share of the pot (``of_pot``) or chips."""

    amount: float
    of_pot: bool

    def chips(self, pot: float) -> float:
        """The target exploitability in chips."""
        return self.amount * pot if self.of_pot else self.amount


def in_big_blinds(value: LocatedText | None) -> bool:
    """Whether an amount is written in big blinds: ``6.5bb``."""
    return value is not None and value.text is not None and value.text.strip().lower().endswith("bb")


def read_target(value: LocatedText, big_blind: float | None) -> Target:
    """A target: ``0.5%`` of the pot, ``1.5c`` or ``1.5`` chips, or ``0.1bb`` if the big blind is known."""
    text = text_of(value, "target", "0.5%").lower()
    if in_big_blinds(value):
        if big_blind is None:
            raise at(value, "target", NO_BIG_BLIND)
        return Target(big_blind * number(LocatedText(value.place, text=text[:-2].strip()), "target", "0.1bb", least=0), False)
    unit, body = (text[-1], text[:-1].strip()) if text[-1] in "%c" else ("c", text)
    if not NUMBER.fullmatch(body) or not 0 <= float(body) < math.inf:
        raise at(value, "target", f"{shown(text)} is not a target; write 0.5% (of the pot) or 1.5c (chips)")
    return Target(float(body) / 100, True) if unit == "%" else Target(float(body), False)


def read_range(value: LocatedText, field: str, format: Format) -> Floats:
    """The range in a field, [H] in the order of ``format.hands``, with weights between 0 and 1.

    Formats with one hole card accept cards and ranks (``K, Qs:0.5``); every format accepts ``all``.
    """
    text = text_of(value, field, "AA, KK, AKs:0.5")
    if text.lower() in ALL_HANDS:
        return np.ones(len(format.hands))
    try:
        weights = parse_range(text) if format.hole == 2 else single_cards(text)
    except SpecError as error:
        raise at(value, field, str(error)) from None
    hand_weights = weights[format.hands[:, 0]] if format.hole == 1 else weights[hand_numbers(format.hands)]
    if not hand_weights.any():
        raise at(value, field, f"no hand of {format.name} is in {shown(text)}; widen the range")
    return hand_weights


def single_cards(text: str) -> Floats:
    """The weights of a range of single cards, such as ``K, Qs:0.5``, [52]."""
    weights = np.zeros(52)
    for part in filter(None, (part.strip() for part in text.translate(PICTURES).split(","))):
        name, colon, tail = part.partition(":")
        weight = share_of(tail.strip()) if colon else 1.0
        if weight is None or not 0 <= weight <= 1:
            raise SpecError(f"cannot read the weight {shown(tail.strip())} in {shown(part)}; write Qs:0.5")
        names = [name.strip()] if len(name.strip()) == 2 else [name.strip() + suit for suit in SUITS]
        for card in names:
            weights[parse_card(card)] = weight
    return weights


def street_names(format: Format) -> tuple[str, ...]:
    """Names of a format's streets in files: hold'em's names, or numbers from 1."""
    return HOLDEM_STREETS if format.deal == (0, 3, 1, 1) else tuple(str(street + 1) for street in range(format.streets))


def sizes_for(layers: "tuple[LocatedText, ...]", field: str, street: int, player: int, format: Format) -> LocatedText | None:
    """The sizes for one street and player from the last layer that defines them; None if no layer does.

    Within a layer, an entry for street and player comes first, then the street's, the player's and ``default``.
    """
    for layer in reversed(layers):
        sizes = sizes_in(layer, field, street_names(format)[street], PLAYERS[player], street_names(format))
        if sizes is not None:
            return sizes
    return None


def sizes_in(layer: LocatedText, field: str, street: str, player: str, streets: tuple[str, ...]) -> LocatedText | None:
    """The sizes for a street and player in one layer; None if it does not define them."""
    if layer.entries is None:
        return layer
    check_size_keys(layer, field, streets)
    candidates = []
    for outer, inner in ((street, player), (player, street)):
        entry = layer.entries.get(outer)
        if entry is None:
            continue
        if entry.entries is None:
            candidates.append((1 if outer == street else 2, entry))
        elif inner in entry.entries:
            candidates.append((0, entry.entries[inner]))
        elif DEFAULT in entry.entries:
            candidates.append((1 if outer == street else 2, entry.entries[DEFAULT]))
    if DEFAULT in layer.entries:
        candidates.append((3, layer.entries[DEFAULT]))
    return min(candidates, key=lambda candidate: candidate[0])[1] if candidates else None


def check_size_keys(layer: LocatedText, field: str, streets: tuple[str, ...], known: tuple[str, ...] = ()) -> None:
    """Reject tables of sizes that are too deep or have keys other than streets and players."""
    outer = known or (*streets, *PLAYERS, DEFAULT)
    for key, entry in (layer.entries or {}).items():
        if key not in outer:
            raise at(entry, field, f"unknown key {shown(key)}{nearest(key, outer)}")
        if entry.entries is not None:
            if known or key == DEFAULT:
                raise at(
                    entry, field, f"{key} must be sizes such as 50%, a; tables of streets and players have at most two levels"
                )
            check_size_keys(entry, field, streets, (*(PLAYERS if key in streets else streets), DEFAULT))


def size_text(value: LocatedText | None, field: str) -> str:
    """The text of a list of sizes; empty for None."""
    if value is None:
        return ""
    parts = [item.text for item in listed(value)]
    if value.entries is not None or None in parts:
        raise at(value, field, f"must be sizes, not {value.kind}; write {written(value, field, '50%, a')}")
    return ",".join(part for part in parts if part is not None)


LOCK_KEYS = {"line": "x, b50%", "hands": "AA, KK", "strategy": "x 70%, b50% 30%"}
WORDS = {"check": "x", "call": "c", "fold": "f", "allin": "a", "all-in": "a"}


def read_lock(value: LocatedText) -> TextLock:
    """A lock from a table, or from a text ``LINE [HANDS]: STRATEGY`` such as ``x [AA,KK]: x 70%, b50% 30%``."""
    if value.text is not None:
        match = re.fullmatch(r"([^\[\]:]*+)(?:\[([^\[\]]*+)\])?\s*+:\s*+(.*)", value.text.strip(), re.DOTALL)
        if not match:
            raise at(value, "locks", f"cannot read {shown(value.text)}; write 'x, b50% [AA, KK]: c 80%, f 20%'")
        parts = {"line": match[1], "hands": match[2], "strategy": match[3]}
        entries = {name: LocatedText(value.place, text=text) for name, text in parts.items() if text is not None}
    else:
        entries = dict(keys(value, "locks", LOCK_KEYS))
    if "strategy" not in entries:
        raise at(value, "locks", "a lock needs a strategy; write strategy: x 70%, b50% 30%")
    line = plain_or_empty(entries.get("line"))
    hands = None
    if entries.get("hands") is not None and plain_or_empty(entries["hands"]).lower() not in ("", *ALL_HANDS):
        text = text_of(entries["hands"], "hands", "AA, KK")
        try:
            hands = parse_range(text)
        except SpecError as error:
            raise at(entries["hands"], "hands", str(error)) from None
    return TextLock("" if line.lower() == "root" else line, hands, read_strategy(entries["strategy"]), value.place)


def plain_or_empty(value: LocatedText | None) -> str:
    """The text of a value; empty if there is no value."""
    return "" if value is None or value.text == "" else text_of(value, "locks", "x, b50%")


def read_strategy(value: LocatedText) -> tuple[tuple[str, float], ...]:
    """Action frequencies from a table or a text ``x 70%, b50% 30%``."""
    example = ("x: " if value.place.startswith("--") else "") + "x 70%, b50% 30%"
    if value.entries is not None:
        pairs = [(key, text_of(entry, "strategy", "70%")) for key, entry in value.entries.items()]
    else:
        text = text_of(value, "strategy", example)
        pairs = []
        for part in filter(None, (part.strip() for part in text.split(","))):
            action, _, often = part.rpartition(" ")
            pairs.append((action, often))
    frequencies: dict[str, float] = {}
    for action, often in pairs:
        name, taken = "".join(action.lower().split()), share_of(often)
        if not name or taken is None or not 0 <= taken <= 1:
            raise at(value, "strategy", f"cannot read {shown(f'{action} {often}'.strip())}; write {example}")
        name = re.sub(r"^(b)et|^(r)aise", r"\1\2", WORDS.get(name, name))
        if name in frequencies:
            raise at(value, "strategy", f"{name} appears twice; name each action once")
        frequencies[name] = taken
    total = sum(frequencies.values())
    if abs(total - 1) > 1e-6:
        raise at(value, "strategy", f"the shares add up to {100 * total:g}%, not 100%; write {example}")
    return tuple(frequencies.items())


@dataclass(frozen=True)
class SolveFields:
    """Settings of a solve; None where not given.

    Attributes:
        target: target exploitability.
        iterations: most iterations; 0 evaluates the uniform strategy.
        threads: number of threads.
        algorithm: spec of the algorithm.
        storage: ``float32``, ``float64`` or ``int16``.
        device: ``cpu``, ``cuda``, ``auto`` or ``torch-cpu``.
        locks: locked strategies.
        until: name of the street at which the solve ends, with a network's values.
        net: the network; see :mod:`treeplex.learn.first_street.until`.
    """

    target: Target | None = None
    iterations: int | None = None
    threads: int | None = None
    algorithm: str | None = None
    storage: str | None = None
    device: str | None = None
    locks: tuple[TextLock, ...] = ()
    until: str | None = None
    net: str | None = None
