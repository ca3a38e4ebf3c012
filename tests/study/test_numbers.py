"""Numbers for people keep their significant digits."""

import pytest

from repro.study.judge.claims import number, numbers_apart


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (54879.16, "54,879"),
        (0.0043196, "0.0043196"),
        (3.5e-6, "3.5e-06"),
        (0.0, "0"),
        (-0.0, "0"),
        (1081344, "1,081,344"),
        (-24000.0, "-24,000"),
        (-1081344.5, "-1,081,344"),
        (0.55482123, "0.55482"),
        (12.0, "12"),
        (float("inf"), "inf"),
        (1e300, "1e+300"),
    ],
)
def test_numbers_are_written_with_five_significant_digits(value, text):
    assert number(value) == text


def test_no_number_but_zero_reads_as_zero():
    assert all(float(number(10.0**-power)) > 0 for power in range(300))


@pytest.mark.parametrize("digits", [2, 5, 7])
def test_digits_before_the_point_are_written_without_an_exponent(digits):
    """Not even just below a power of ten, to which it is rounded."""
    for power in range(digits - 1, 15):
        for value in (10.0**power, 10.0**power * (1 + 1e-15), 9.9999999999 * 10**power, -3.2 * 10**power):
            text = number(value, digits)
            assert text == f"{round(value):,}"


def test_numbers_that_differ_look_different():
    assert numbers_apart(1999.9, 2000.0, 2) == ("1,999.9", "2,000")
    assert numbers_apart(0.00150004, 0.0015, 2) == ("0.00150004", "0.0015")
    assert numbers_apart(0.0015, 0.0015) == ("0.0015", "0.0015")
