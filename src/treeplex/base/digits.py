"""Numbers for people."""


def three_digits(value: float) -> str:
    """A number of at least three digits, without an exponent where it is large: 0.123, 12.3, 1,234."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def short(value: float) -> str:
    """A number of at least three digits, without an exponent unless it is tiny."""
    if value != value or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-4 else f"{value:.1e}"
