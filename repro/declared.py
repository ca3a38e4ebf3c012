"""What parameters may be, declared where they stand: a refusal names the parameter, its value and what would be right.

    @dataclass(frozen=True)
    @checked
    class Fluid:
        density: Annotated[float, Above(0, "kg/m3")] = 1000.0

`checked` looks at the parameters of a dataclass when one is made (before its own `__post_init__`), and at those of a
function when it is called. Defaults of functions are taken to be right.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from math import inf, isfinite
from numbers import Real
from typing import Annotated, get_args, get_origin

import numpy as np

from .errors import InputError, is_whole, short

#: size of a number that single precision still holds with room for a product
LARGEST = 1e36


class Rule(ABC):
    """What a value may be: `wanted` in words, and `holds` of a value."""

    wanted: str

    @abstractmethod
    def holds(self, value) -> bool:
        """Whether the rule holds of a value."""

    def check(self, what: str, value) -> None:
        """Raise InputError for a value of which the rule does not hold."""
        if not self.holds(value):
            raise InputError(f"{what} = {short(value)}: must be {self.wanted}")


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_finite(value) -> bool:
    try:
        return isfinite(value) and abs(value) <= LARGEST
    except OverflowError:
        return False


def _text(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


@dataclass(frozen=True)
class Number(Rule):
    """A number from `low` to `high`; `open_low` and `open_high` leave the ends out, and `infinite` lets it be that."""

    low: float = -inf
    high: float = inf
    unit: str = ""
    open_low: bool = False
    open_high: bool = False
    infinite: bool = False

    @property
    def wanted(self) -> str:
        """In words."""
        low, high = _text(self.low), _text(self.high)
        words = {
            (False, False): "",
            (True, False): f" above {low}" if self.open_low else f" of at least {low}",
            (False, True): f" below {high}" if self.open_high else f" of at most {high}",
            (
                True,
                True,
            ): f" {'above' if self.open_low else 'from'} {low} {'and below' if self.open_high else 'to'} {high}",
        }[self.low > -inf, self.high < inf]
        return f"a number{words}{f', in {self.unit}' if self.unit else ''}"

    def holds(self, value) -> bool:
        """Whether it is one."""
        if not _is_number(value) or not (_is_finite(value) or (self.infinite and abs(value) == inf)):
            return False
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)


def Above(low: float, unit: str = "", *, below: float = inf) -> Number:
    """A finite number above `low`, and below another one if that is given."""
    return Number(low, below, unit, open_low=True, open_high=below < inf)


@dataclass(frozen=True)
class Whole(Rule):
    """A whole number from `low` to `high`."""

    low: int = 0
    high: int = 2**31 - 1

    @property
    def wanted(self) -> str:
        """In words."""
        return f"a whole number from {self.low} to {self.high}"

    def holds(self, value) -> bool:
        """Whether it is one."""
        return is_whole(value) and self.low <= value <= self.high


class OneOf(Rule):
    """One of some names: those in a collection, which may grow, and `more`."""

    def __init__(self, names, *more: str):
        self.names, self.more = names, more

    @property
    def wanted(self) -> str:
        """In words."""
        return f"one of {', '.join([*self.more, *self.names])}"

    def holds(self, value) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and (value in self.more or value in self.names)


class Flag(Rule):
    """True or False: a text such as "no" would count as true."""

    wanted = "True or False"

    def holds(self, value) -> bool:
        """Whether it is one."""
        return isinstance(value, bool | np.bool_)


class Text(Rule):
    """A line of text, for messages and files."""

    wanted = "a line of text"

    def holds(self, value) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and (value.isprintable() or not value)


@dataclass(frozen=True)
class Each(Rule):
    """A sequence of `length` values, of each of which `rule` holds."""

    rule: Rule
    length: int

    @property
    def wanted(self) -> str:
        """In words."""
        return f"{self.length} values, each {self.rule.wanted}"

    def holds(self, value) -> bool:
        """Whether it is one."""
        row = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        return row and len(value) == self.length and all(map(self.rule.holds, value))


class Array(Rule):
    """A NumPy array of finite numbers, of a shape in which None is any length."""

    def __init__(self, *shape: int | None):
        self.shape = shape
        sides = ", ".join("count" if side is None else str(side) for side in shape)
        self.wanted = f"an array of finite numbers of the shape ({sides})"

    def holds(self, value) -> bool:
        """Whether it is one."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or value.ndim != len(self.shape):
            return False
        fits = all(side in (None, length) for side, length in zip(self.shape, value.shape, strict=True))
        return fits and bool(np.isfinite(value).all())


class Numbers(Rule):
    """Finite numbers in arrays, lists or tuples, of a shape in which None is any length; no shape at all is any."""

    def __init__(self, *shape: int | None, unit: str = ""):
        self.shape = shape
        sides = ", ".join("count" if side is None else str(side) for side in shape)
        of_shape = f" of the shape ({sides}{',' * (len(shape) == 1)})" if shape else ""
        self.wanted = f"finite numbers{of_shape}{f', in {unit}' if unit else ''}"

    def holds(self, value) -> bool:
        """Whether they are."""
        try:
            found = np.asarray(value)
        except ValueError:
            return False
        if found.dtype.kind not in "iuf" or (self.shape and found.ndim != len(self.shape)):
            return False
        fits = all(side in (None, length) for side, length in zip(self.shape, found.shape, strict=False))
        return fits and bool((np.abs(found) <= LARGEST).all())

    def array(self, what: str, value) -> np.ndarray:
        """The numbers as an array of floats; raises InputError for a value of which the rule does not hold."""
        self.check(what, value)
        return np.asarray(value, float)


class Kind(Rule):
    """An object of some classes; what would be right, in words, if the names of the classes do not say it."""

    def __init__(self, *kinds: type, wanted: str = ""):
        self.kinds = kinds
        self.wanted = (
            wanted or f"of the kind {' or '.join('None' if kind is type(None) else kind.__name__ for kind in kinds)}"
        )

    def holds(self, value) -> bool:
        """Whether it is one."""
        return isinstance(value, self.kinds)


class Device(Rule):
    """Where code runs, of `repro.parallel`."""

    wanted = "a device of repro.parallel, such as select('auto')"

    def holds(self, value) -> bool:
        """Whether it is one."""
        return not isinstance(value, type) and hasattr(value, "free_memory")


class OrNone(Rule):
    """None, or what another rule says."""

    def __init__(self, rule: Rule):
        self.rule, self.wanted = rule, f"{rule.wanted}, or None"

    def holds(self, value) -> bool:
        """Whether it is one."""
        return value is None or self.rule.holds(value)


def rules_of(target: Callable) -> dict[str, Rule]:
    """The rules that stand in the annotations of a class or function, by parameter."""
    found, owners = {}, reversed(target.__mro__) if isinstance(target, type) else [target]
    for name, hint in (pair for owner in owners for pair in getattr(owner, "__annotations__", {}).items()):
        rules = [part for part in get_args(hint)[1:] if isinstance(part, Rule)] if get_origin(hint) is Annotated else []
        found |= {name: rules[0]} if rules else {}
    return found


def checked(target):
    """Have the parameters of a dataclass (below `@dataclass`) or of a function looked at by their rules."""
    return _checked_class(target) if isinstance(target, type) else _checked_function(target)


def _checked_class(target: type) -> type:
    rules, own = rules_of(target), getattr(target, "__post_init__", None)

    def __post_init__(self):
        for name, rule in rules.items():
            rule.check(name, getattr(self, name))
        if own:
            own(self)

    target.__post_init__ = __post_init__
    return target


def _checked_function(target: Callable) -> Callable:
    rules, signature = rules_of(target), inspect.signature(target)

    @wraps(target)
    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        for name, rule in rules.items():
            if name in given:
                rule.check(name, given[name])
        return target(*args, **kwargs)

    return call
