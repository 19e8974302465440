"""A hundreds malformed ranges, bet sizes, cards, options and spot files: each gives one clear message and nothing else.

Well-formed texts are damaged: characters and words are dropped, doubled or replaced by junk. What still reads is passed over,
so every test sees a hundreds texts that do not.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.holdem.cards.test_ranges import ENTRIES
from tests.holdem.spots.test_files import FULL, JUNK, TOML
from treeplex.base.located_text import marked_toml, marked_yaml
from treeplex.errors import TreeplexError
from treeplex.games.betting.size_grammar import parse_sizes
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.cli.shared.options import SIZES
from treeplex.holdem.spots.files import FIELDS, request_from, spot_request

MALFORMED = 400
LONGEST = 400
"""Characters of a message; longer texts are quoted in part."""
OF_PYTHON = re.compile(r"Traceback|object at 0x|<class|NoneType|Error\b|unhashable|list index|codec|invalid literal|convert")
REMEDY = re.compile(r"; \S| such as | as in |, say |: write |must be |is not (a|from)\b|cannot be combined")
"""What a message says besides what is wrong: what to do, or what is allowed."""

hundreds = settings(
    max_examples=MALFORMED,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
)
CHARACTERS = st.sampled_from([*"AKQJT92shdcox+-:,;.()[]{}%#'\"&*!|>@~ 019e", "\t", "\n", "\x00", "é", "１", "½", "\u2028", "🂡"])
WORDS = st.sampled_from(JUNK)
SIZE_TEXTS = ("50%,100%,a", "33%, 2.5x, 20c3r", "e, 2e60%, a", "120c", "75%", "1.5x,a", "e200%")


@st.composite
def damaged(draw: st.DrawFn, texts: st.SearchStrategy[str], edits: int = 3) -> str:
    """A text with a few edits, each at one place."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, edits))):
        place, length = draw(st.integers(0, len(text))), draw(st.integers(0, 3))
        kind = draw(st.sampled_from(["drop", "put", "double", "cut"]))
        middle = {
            "drop": "",
            "put": draw(CHARACTERS | WORDS) if kind == "put" else "",
            "double": 2 * text[place : place + length],
            "cut": "",
        }[kind]
        end = len(text) if kind == "cut" and place > 0 else place + length
        text = text[:place] + middle + text[end:]
    return text


@st.composite
def damaged_lines(draw: st.DrawFn, text: str, equals: str) -> str:
    """A file with a few lines whose value or key is another, that are missing, doubled, or damaged like any text."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        key, _, value = lines[place].partition(equals)
        lines[place : place + 1] = draw(
            st.sampled_from(
                [
                    [f"{key}{equals} {draw(WORDS)}"],
                    [f"{draw(st.sampled_from(list(FIELDS)))}{equals}{value}"],
                    [f"{draw(WORDS)}{equals}{value}"],
                    [draw(damaged(st.just(lines[place])))],
                    [lines[place]] * 2,
                    [],
                ]
            )
        ) or [""]
    return "\n".join(lines)


def refusal(read: Callable[..., object], *arguments: Any) -> str:
    """The message about a malformed text; what is well-formed after all does not count. Other exceptions fail the test."""
    try:
        read(*arguments)
    except TreeplexError as error:
        return str(error)
    assume(False)
    raise AssertionError


def check_clear(message: str, place: str) -> None:
    """One line for people that begins with the place and says what is wrong or what to write."""
    assert message.isprintable(), message
    assert len(message) <= LONGEST, message
    assert re.match(place, message), message
    assert not OF_PYTHON.search(message), message
    assert REMEDY.search(message), message
    assert message.count("spot.yaml:") <= 1 or "appears twice (first at" in message, message


@pytest.mark.slow
@hundreds
@given(damaged(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4).map(", ".join)))
def test_ranges(text: str) -> None:
    check_clear(refusal(parse_range, text), "range: ")


@pytest.mark.slow
@hundreds
@given(damaged(st.sampled_from(SIZE_TEXTS)), st.booleans())
def test_bet_sizes(text: str, raises: bool) -> None:
    check_clear(refusal(parse_sizes, text, raises), r"(cannot read the )?(bet|raise) size ")


@pytest.mark.slow
@hundreds
@given(damaged(st.sampled_from(["Td 9d 6h", "Td9d6hQc", "As Kd, 2c 7h Jh"])))
def test_cards(text: str) -> None:
    check_clear(refusal(parse_cards, text), "cards ")


def read_file(text: str, read: Callable[[str, str], Any], name: str) -> None:
    """A spot file as ``solve`` reads it: the spot, and how it is solved."""
    request = request_from(read(text, name).entries or {}, name, from_file=True)
    request.spot()
    request.settings()


@pytest.mark.slow
@hundreds
@given(damaged_lines(FULL, ":"))
def test_yaml(text: str) -> None:
    check_clear(refusal(read_file, text, marked_yaml, "spot.yaml"), r"spot\.yaml(:\d+)?: ")


@pytest.mark.slow
@hundreds
@given(damaged_lines(TOML, " ="))
def test_toml(text: str) -> None:
    check_clear(refusal(read_file, text, marked_toml, "spot.toml"), r"spot\.toml(:\d+)?: ")


GIVEN = {
    "board": "Td 9d 6h Qc",
    "oop": "66+, A8s+",
    "ip": "QQ-22, A2s+",
    "pot": "200",
    "stack": "900",
    "bets": "50%,a",
    "raises": "2.5x",
    "target": "0.5%",
    "iterations": "100",
    "lock": "x: x 100%",
    "rake": "5%",
    "rake-cap": "3",
    "donk": "50%",
    "threads": "1",
    "storage": "int16",
}


@st.composite
def options(draw: st.DrawFn) -> tuple[str, str]:
    """An option and a damaged value."""
    name = draw(st.sampled_from([*GIVEN, *SIZES]))
    return name, draw(damaged(st.just(GIVEN.get(name, "50%,a"))))


@pytest.mark.slow
@hundreds
@given(options())
def test_options(option: tuple[str, str]) -> None:
    name, text = option

    def read() -> None:
        values: dict[str, Any] = GIVEN | {name: text}
        request = spot_request(None, values | {"lock": [values["lock"]]})
        request.spot()
        request.settings()

    check_clear(refusal(read), r"--[a-z-]+: |the spot: |no hand |every hand ")


@pytest.mark.parametrize("text", ["spot.yaml:3: pot: 'lots' is not a number; write pot: 200", "range: 'AAs'; write AA"])
def test_clear_messages_pass(text: str) -> None:
    check_clear(text, "spot|range")


@pytest.mark.parametrize(
    "text", ["range: a\nb; write AA", "write AA", "range: KeyError: 3; write AA", "range: no", "range: write " + "A" * 400]
)
def test_the_check_can_fail(text: str) -> None:
    with pytest.raises(AssertionError):
        check_clear(text, "range: ")
