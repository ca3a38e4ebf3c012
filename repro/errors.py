"""Errors that a user can cause, each with one line that says what is wrong and what would be right."""

from numbers import Integral

import numpy as np

#: characters of a value, of a word such as a path, and of a whole line that are shown
_LONGEST, _LONGEST_WORD, _LONGEST_LINE = 60, 240, 2000


def cut(text: str, most: int) -> str:
    """A text of at most `most` characters, of which the start and the end stay."""
    end = (most - 3) // 3
    return text if len(text) <= most else f"{text[: most - 3 - end]}...{text[-end:]}"


def one_line(text) -> str:
    """A message as it is shown: on one line, nothing in it that moves a terminal's cursor, and no name in full length.

    Names and values in a message are the user's, and may be of any length and of any characters.
    """
    line = " ".join(cut(word, _LONGEST_WORD) for word in text.split())
    return cut("".join(c if c.isprintable() else repr(c)[1:-1] for c in line), _LONGEST_LINE)


class InputError(ValueError):
    """A parameter, file or request that cannot work; the message is one line for the user, see `one_line`."""

    def __init__(self, message: str):
        super().__init__(one_line(str(message)))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in a notebook: that line, in red, and none of the code that found it."""
        return [f"\x1b[31m{type(self).__name__}: {self}\x1b[0m"]


class DeviceError(InputError):
    """The device that was asked for is not there."""


class MemoryLimitError(InputError):
    """The problem needs more memory than the device has free; raised before anything is allocated."""


class DivergenceError(ArithmeticError):
    """A simulation produced values that are not finite; the message names step and parameters."""


class CapacityError(InputError):
    """A cell of a table, or a rank, had more particles than it has room for."""


class CheckError(AssertionError):
    """A result is not what it must be: another than the reference, or no number."""


def short(value) -> str:
    """A value as a line shows it."""
    if isinstance(value, np.ndarray):
        infinite = np.count_nonzero(~np.isfinite(value)) if value.dtype.kind in "fc" else 0
        masked = "masked " if isinstance(value, np.ma.MaskedArray) else ""
        return f"{'a' if masked else 'an'} {masked}array of {value.dtype} of the shape {value.shape}" + (
            f", {infinite} not finite" if infinite else ""
        )
    return cut(" ".join(repr(value).split()), _LONGEST)


def is_whole(value) -> bool:
    """Whether something is a whole number, which True is not meant to be."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def require(condition, message: str) -> None:
    """Raise InputError with the message unless the condition holds."""
    if not condition:
        raise InputError(message)


def require_whole(what: str, value, low: int, high: int) -> None:
    """Refuse what is no whole number from `low` to `high`."""
    if not (is_whole(value) and low <= value <= high):
        raise InputError(f"{what} = {short(value)}: must be a whole number from {low} to {high}")


def require_one_of(what: str, value, allowed) -> None:
    """Refuse a name that is not among the allowed ones."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"unknown {what} {short(value)}: choose one of {', '.join(allowed)}")
