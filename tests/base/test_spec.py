"""Specs: reading, writing, and both ways round."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeplex.base.spec import Spec, Value, format_value, nearest, parse_spec
from treeplex.errors import SpecError

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
NUMBERS = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.from_regex(r"[A-Za-z][A-Za-z0-9_./:-]{0,12}", fullmatch=True).filter(
    lambda word: isinstance(parse_spec(f"x(a={word})").parameters["a"], str)
)
TEXTS = st.text(st.sampled_from("ab ,;=()[]\"'\\\n0"), max_size=8)
VALUES = st.recursive(NUMBERS | WORDS, lambda inner: st.lists(inner, max_size=4), max_leaves=10)


def same(one: Value, other: Value) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=4))
def test_round_trip(name: str, parameters: dict[str, Value]) -> None:
    spec = Spec(name, parameters)
    again = parse_spec(str(spec))
    assert again.name == name
    assert list(again.parameters) == list(parameters)
    assert all(same(again.parameters[key], value) for key, value in parameters.items()), str(spec)


@given(TEXTS)
def test_any_text_survives(text: str) -> None:
    found = parse_spec(f"x(a={format_value(text)},b=1)").parameters
    assert (found["a"], found["b"]) == (text, 1)


@given(st.lists(TEXTS, max_size=3))
def test_lists_of_texts_survive(texts: list[str]) -> None:
    assert parse_spec(f"x(a={format_value(list(texts))})").parameters["a"] == texts


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("kuhn_poker", "kuhn_poker", {}),
        ("  kuhn_poker ( players = 3 ) ", "kuhn_poker", {"players": 3}),
        ("x()", "x", {}),
        ("x(a=1,)", "x", {"a": 1}),
        ("x(a=true,b=False,c=-1,d=1e-3,e=word)", "x", {"a": True, "b": False, "c": -1, "d": 0.001, "e": "word"}),
        ("x(a=[2;3])", "x", {"a": [2, 3]}),
        ("x(a=[2,3],b=[])", "x", {"a": [2, 3], "b": []}),
        ("x(a=[[1,-2.5],[3,4]])", "x", {"a": [[1, -2.5], [3, 4]]}),
        ("x(a=[[1;2];[3;4]])", "x", {"a": [[1, 2], [3, 4]]}),
        ("x(a='p,q (r)',b=\"it's\")", "x", {"a": "p,q (r)", "b": "it's"}),
        (
            "turn_based(game=goofspiel(num_cards=3,imp_info=true))",
            "turn_based",
            {"game": "goofspiel(num_cards=3,imp_info=true)"},
        ),
        ("a/b.py:Game(n=1)", "a/b.py:Game", {"n": 1}),
    ],
)
def test_reading(text: str, name: str, parameters: dict[str, Value]) -> None:
    spec = parse_spec(text)
    assert spec.name == name
    assert list(spec.parameters) == list(parameters)
    assert all(same(spec.parameters[key], value) for key, value in parameters.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty name in ''"),
        ("(a=1)", "empty name"),
        ("x(a=1", r"'x\(a=1' has no closing bracket; write x\(key=value"),
        ("x(a=1) y", "has no closing bracket"),
        ("x(a)", r"cannot read 'a' in 'x\(a\)'"),
        ("x(1=2)", "cannot read '1=2'"),
        ("x(a=1,a=2)", "parameter 'a' is given twice"),
        ("x(a=[1,2)", "unbalanced brackets"),
        ("x(a=1))", "unbalanced brackets"),
        ("x(a='open)", "unbalanced brackets or quotes"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_spec(text)


def test_nearest() -> None:
    assert nearest("leduc", ["kuhn_poker", "leduc_poker"]) == "; did you mean 'leduc_poker'?"
    assert nearest("LEDUC_POKER", ["kuhn_poker", "leduc_poker"]) == "; did you mean 'leduc_poker'?"
    assert nearest("xyz", ["b", "a"]) == "; known: a, b"


def nested(name: str, times: int) -> str:
    return f"{name}(game=" * times + "kuhn_poker" + ")" * times


@pytest.mark.parametrize(
    "text",
    [
        nested("turn_based", 21),
        nested("turn_based", 400),
        nested("turn_based", 3000),
        "x(a=" + "[" * 1200 + "]" * 1200 + ")",
        "x(a=[" + "(" * 100_000 + ")" * 100_000 + "])",
    ],
)
def test_brackets_nest_so_deep_and_no_deeper(text: str) -> None:
    began = process_time()
    with pytest.raises(SpecError, match="brackets nested more than 20 deep"):
        parse_spec(text)
    assert process_time() - began < 5.0


def test_brackets_as_deep_as_they_may_be() -> None:
    assert parse_spec(nested("turn_based", 20)).parameters["game"] == nested("turn_based", 19)


@pytest.mark.parametrize("value", ["-" * 5000 + "1", "-" * 200_000 + "1", "1-" * 50_000 + "1", "'a'-" * 50_000 + "'a'"])
def test_what_looks_like_a_number_is_a_word(value: str) -> None:
    assert parse_spec(f"x(a={value})").parameters["a"] == value


@pytest.mark.parametrize(
    ("text", "value"), [("+3", 3), ("0x10", 16), ("1_000", 1000), (".5", 0.5), ("1.", 1.0), ("1e+3", 1000.0), ("2E-1", 0.2)]
)
def test_numbers_as_python_writes_them(text: str, value: Value) -> None:
    assert same(parse_spec(f"x(a={text})").parameters["a"], value)
