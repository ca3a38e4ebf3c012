"""Errors that a user can cause, each with one line that says what is wrong and what would be right."""


class InputError(ValueError):
    """A parameter, file or request that cannot work; the message is one line for the user."""


class DeviceError(InputError):
    """The device that was asked for is not there."""


class MemoryLimitError(InputError):
    """The problem needs more memory than the device has free; raised before anything is allocated."""


class DivergenceError(ArithmeticError):
    """A simulation produced values that are not finite; the message names step and parameters."""
