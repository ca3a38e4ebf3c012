"""How many functions lie between an equation and the kernel that is launched."""

from types import FunctionType

from helpers.plain import PlainDevice


class Recorder(PlainDevice):
    """Keeps the bodies of the kernels that are bound, and runs none."""

    def __init__(self):
        super().__init__()
        self.bodies = []

    def compile(self, kernel):
        self.bodies.append(kernel.body)
        return lambda *bound: lambda: None


def around(function) -> list:
    """The functions that a function may call: those of its closure, also in tuples, and of its module."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [value for value in (*cells, *names) if isinstance(value, FunctionType) and value is not function]


def steps(function, equations) -> int:
    """How many functions lie between an equation and this one, at most; 0 for the equation itself, -1 without one.

    `equations` are the names of functions with that of their module.
    """
    if (function.__module__, function.__name__) in equations:
        return 0
    known = [1 + found for each in around(function) if (found := steps(each, equations)) >= 0]
    return max(known, default=-1)
