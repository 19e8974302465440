"""Formatting of numbers for display and JSON."""

from math import isfinite


def three_digits(value: float) -> str:
    """Format to three significant digits, but keep every digit before the decimal point: 0.123, 12.3, 1,234."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def short(value: float) -> str:
    """Format as :func:`three_digits` does, but use an exponent for tiny numbers: 1.2e-05."""
    if value != value or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-4 else f"{value:.1e}"


def visible(value: float, form: str) -> str:
    """Format a number; with two significant digits where ``form`` would show only zeros but the number is not 0."""
    text = format(value, form)
    return text if abs(value) < 1e-15 or any(digit in text for digit in "123456789") else f"{value:{form[:1].strip('.')}.2g}"


def signed(value: float) -> str:
    """Format a payoff with sign and eight decimals."""
    return visible(value, "+.8f")


def finite(value: float | None) -> float | None:
    """Return a number for JSON: None for NaN and infinities."""
    return value if value is not None and isfinite(value) else None
