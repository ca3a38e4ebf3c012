"""Numbers for people: with significant digits, so that what is small does not read as nothing."""

MOST_DIGITS = 12
LARGEST_WHOLE = 1e15
"""Up to here all digits before the point are written."""


def number(value: float, digits: int = 5) -> str:
    """`value` with so many significant digits, and with all that stand before the point: 54,879 and 0.0043196."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if 10 ** (digits - 1) <= abs(value) < LARGEST_WHOLE:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}" if value else "0"


def apart(value: float, limit: float, digits: int = 5) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart, `digits` at least, the second with three."""
    for more in range(digits, MOST_DIGITS):
        texts = number(value, more), number(limit, max(more, 3))
        if texts[0] != texts[1]:
            return texts
    # equal but for rounding
    return number(value, digits), number(limit, max(digits, 3))
