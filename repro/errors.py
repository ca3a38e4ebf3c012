"""Errors that a user can cause, each with one line that says what is wrong and what would be right."""

from numbers import Integral


class InputError(ValueError):
    """A parameter, file or request that cannot work; the message is one line for the user."""


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


def require_whole(what: str, value, low: int, high: int) -> None:
    """Refuse what is no whole number from `low` to `high`."""
    if not (isinstance(value, Integral) and low <= value <= high):
        raise InputError(f"{what} = {value}: a whole number from {low} to {high}")


def require_one_of(what: str, value, allowed) -> None:
    """Refuse a name that is not among the allowed ones."""
    if value not in allowed:
        raise InputError(f"unknown {what} '{value}': choose one of {', '.join(allowed)}")
