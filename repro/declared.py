"""What parameters may be, declared where they stand: a refusal names the parameter, its value and what would be right.

    @dataclass(frozen=True)
    @checked
    class Fluid:
        density: Annotated[float, Above(0, "kg/m3")] = 1000.0

`checked` looks at the parameters of a dataclass when one is made (before its own `__post_init__`), and at those of a
function when it is called. Defaults of functions are taken to be right.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from math import inf
from numbers import Real
from typing import Annotated, get_args, get_origin

import numpy as np

from .errors import InputError, is_whole, short

#: size of a number that single precision still holds with room for a product
LARGEST = 1e36


class Rule:
    """What a value may be: `wanted` in words, and `holds(value)`."""

    wanted: str
    holds: Callable[[object], bool]

    def __init__(self, wanted: str = "", holds: Callable[[object], bool] | None = None):
        # a rule of more than a line is a class of its own
        if holds:
            self.wanted, self.holds = wanted, holds

    def check(self, what: str, value) -> None:
        """Raise InputError for a value of which the rule does not hold."""
        if not self.holds(value):
            raise InputError(f"{what} = {short(value)}: must be {self.wanted}")


def _text(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def Number(
    low: float = -inf,
    high: float = inf,
    unit: str = "",
    *,
    open_low: bool = False,
    open_high: bool = False,
    infinite: bool = False,
) -> Rule:
    """A number from `low` to `high`; `open_low` and `open_high` leave the ends out, and `infinite` lets it be that."""
    least = f"{'above' if open_low else 'of at least' if high == inf else 'from'} {_text(low)}" if low > -inf else ""
    most = f"{'below' if open_high else 'to' if least else 'of at most'} {_text(high)}" if high < inf else ""
    between = " and " if least and most and open_high else " "
    wanted = f"a number {between.join(filter(None, (least, most)))}".rstrip() + (f", in {unit}" if unit else "")

    def holds(value) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            return False
        # no whole number is too large to be compared
        known = abs(value) <= LARGEST or (infinite and abs(value) == inf)
        above = value > low if open_low else value >= low
        return known and above and (value < high if open_high else value <= high)

    return Rule(wanted, holds)


def Above(low: float, unit: str = "", *, below: float = inf) -> Rule:
    """A finite number above `low`, and below another one if that is given."""
    return Number(low, below, unit, open_low=True, open_high=below < inf)


def Whole(low: int = 0, high: int = 2**31 - 1) -> Rule:
    """A whole number from `low` to `high`."""
    return Rule(f"a whole number from {low} to {high}", lambda value: is_whole(value) and low <= value <= high)


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


def Flag() -> Rule:
    """True or False: a text such as "no" would count as true."""
    return Kind(bool, np.bool_, wanted="True or False")


def Text(*, empty: bool = True) -> Rule:
    """A line of text, for messages and files; with something in it unless it may be `empty`."""
    wanted = "a line of text" + ("" if empty else " with something in it")
    return Rule(wanted, lambda value: isinstance(value, str) and value.isprintable() and (empty or bool(value.strip())))


def Each(rule: Rule, length: int) -> Rule:
    """A sequence of `length` values, of each of which `rule` holds."""

    def holds(value) -> bool:
        row = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        return row and len(value) == length and all(map(rule.holds, value))

    return Rule(f"{length} values, each {rule.wanted}", holds)


class Numbers(Rule):
    """Finite numbers in arrays, lists or tuples, of a shape in which None is any length; no shape at all is any."""

    kinds, what = object, "finite numbers"

    def __init__(self, *shape: int | None, unit: str = ""):
        self.shape = shape
        sides = ", ".join("count" if side is None else str(side) for side in shape)
        of_shape = f" of the shape ({sides}{',' * (len(shape) == 1)})" if shape else ""
        self.wanted = f"{self.what}{of_shape}{f', in {unit}' if unit else ''}"

    def holds(self, value) -> bool:
        """Whether they are."""
        # of a masked array the values behind the mask would count
        if not isinstance(value, self.kinds) or isinstance(value, np.ma.MaskedArray):
            return False
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


class Array(Numbers):
    """Finite numbers in a NumPy array, of a shape in which None is any length."""

    kinds, what = np.ndarray, "an array of finite numbers"


def Kind(*kinds: type, wanted: str = "") -> Rule:
    """An object of some classes; what would be right, in words, if the names of the classes do not say it."""
    names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
    return Rule(wanted or f"of the kind {names}", lambda value: isinstance(value, kinds))


def Device() -> Rule:
    """Where code runs, of `repro.parallel`."""
    wanted = "a device of repro.parallel, such as select('auto')"
    return Rule(wanted, lambda value: not isinstance(value, type) and hasattr(value, "free_memory"))


def OrNone(rule: Rule) -> Rule:
    """None, or what another rule says."""
    return Rule(f"{rule.wanted}, or None", lambda value: value is None or rule.holds(value))


def rules_of(target: Callable) -> dict[str, Rule]:
    """The rules that stand in the annotations of a class or function, by parameter."""
    found, owners = {}, reversed(target.__mro__) if isinstance(target, type) else [target]
    for name, hint in (pair for owner in owners for pair in getattr(owner, "__annotations__", {}).items()):
        rules = [part for part in get_args(hint)[1:] if isinstance(part, Rule)] if get_origin(hint) is Annotated else []
        found |= {name: rules[0]} if rules else {}
    return found


def checked(target):
    """Have the parameters of a dataclass (below `@dataclass`) or of a function looked at by their rules."""
    rules, own = rules_of(target), getattr(target, "__post_init__", None)

    def __post_init__(self):
        for name, rule in rules.items():
            rule.check(name, getattr(self, name))
        if own:
            own(self)

    if isinstance(target, type):
        target.__post_init__ = __post_init__
        return target
    signature = inspect.signature(target)

    @wraps(target)
    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        for name, rule in rules.items():
            if name in given:
                rule.check(name, given[name])
        return target(*args, **kwargs)

    return call
