"""Errors that a user can cause, each with one line that says what is wrong and what would be right."""

from numbers import Integral

import numpy as np

_LONGEST = 60


class InputError(ValueError):
    """A parameter, file or request that cannot work; the message is one line for the user."""

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
    """A cell held more particles than the table has rows for."""


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
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


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
