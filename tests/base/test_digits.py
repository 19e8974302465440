"""Numbers for people."""

import math

import pytest

from treeplex.base.digits import finite, signed, three_digits, visible


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.1234, "0.123"), (99.94, "99.9"), (99.96, "100"), (1714.2, "1,714")],
)
def test_three_digits_and_no_exponent(value: float, text: str) -> None:
    assert three_digits(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1 / 18, "-0.05555556"), (1e-12, "+1e-12"), (-5.6e-9, "-0.00000001"), (0.0, "+0.00000000"), (4e-17, "+0.00000000")],
)
def test_small_payoffs_are_not_printed_as_zero(value: float, text: str) -> None:
    assert signed(value) == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.0123, "+z.3f", "+0.012"),
        (0.00012, "+z.3f", "+0.00012"),
        (-4.4e-7, "+.5f", "-4.4e-07"),
        (3e-4, ".3f", "0.0003"),
        (0.3, "+z,.0f", "+0.3"),
        (-1e-17, "+z.4f", "+0.0000"),
    ],
)
def test_numbers_that_are_not_zero_are_visible(value: float, form: str, text: str) -> None:
    assert visible(value, form) == text


def test_json_has_no_number_for_nan_and_infinities() -> None:
    assert [*map(finite, (1.5, None, math.nan, math.inf, -math.inf))] == [1.5, None, None, None, None]
