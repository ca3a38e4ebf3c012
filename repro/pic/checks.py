"""What a user gives, looked at: numbers, counts, names and objects, or a line that says what is wrong with them."""

import numpy as np

from repro.declared import LARGEST
from repro.errors import InputError, require_one_of, short
from repro.parallel import PRECISIONS

#: size of a number whose products double precision holds
SMALLEST = 1e-30


def finite(what: str, value, shape: tuple[int | None, ...] | None, unit: str = "") -> np.ndarray:
    """`value` as an array of finite numbers of a shape, None where any length, or any shape, is right.

    They are at most LARGEST in size. Raises InputError.
    """
    wanted = _wanted(shape) + (f" in {unit}" if unit else "")
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "iuf":
        raise InputError(f"{what} = {short(value)}: must be {wanted}")
    if shape is not None and not fits(found.shape, shape):
        raise InputError(f"{what} has the shape {found.shape}: must be {wanted}")
    found = found.astype(float)
    bad = ~np.isfinite(found)
    if bad.any():
        wrong = f"{what}: {bad.sum()} of {found.size} numbers are not finite" if found.ndim else f"{what} = {value}"
        raise InputError(f"{wrong}: must be {wanted}")
    if found.size and (largest := np.abs(found).max()) > LARGEST:
        raise InputError(f"{what}: a number of the size {largest:g}: at most {LARGEST:g}{f' {unit}' if unit else ''}")
    return found


def fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    """Whether a shape is the wanted one, in which None is any length."""
    return len(shape) == len(wanted) and all(w in (None, n) for n, w in zip(shape, wanted, strict=True))


def require_shape(what: str, values, shape: tuple[int | None, ...]) -> None:
    """Refuse what is no array of a shape, in which None is any length; its numbers are not looked at."""
    if not isinstance(values, np.ndarray) or not fits(values.shape, shape):
        found = f" has the shape {values.shape}" if isinstance(values, np.ndarray) else f" = {short(values)}"
        raise InputError(f"{what}{found}: must be an array of the shape {shown(shape)}")


def positive(what: str, value, unit: str = "") -> float:
    """One finite number above 0, and at least SMALLEST; raises InputError."""
    number = float(finite(what, value, (), unit))
    if number < SMALLEST:
        least = "above 0" if number <= 0 else f"at least {SMALLEST:g}"
        raise InputError(f"{what} = {value}{f' {unit}' if unit else ''}: must be {least}")
    return number


def require_inside(what: str, position: np.ndarray, length, slack: float = 0.0) -> None:
    """Refuse positions (count, 3) in m outside a box from 0 to `length` m, by more than a share `slack` of it."""
    share = position / np.array(length)
    outside = ~((share >= -slack) & (share <= 1 + slack)).all(1)
    if outside.any():
        raise InputError(f"{what}: {outside.sum()} electrons are outside the box of {length} m that begins at 0")


def within(what: str, value, low: float, high: float, unit: str = "") -> float:
    """One number from `low` to `high`; raises InputError."""
    number = float(finite(what, value, (), unit))
    if not low <= number <= high:
        unit = f" {unit}" if unit else ""
        raise InputError(f"{what} = {value}{unit}: from {low:g} to {high:g}{unit}")
    return number


def real_of(precision: str):
    """The type of numbers of a precision."""
    require_one_of("precision", precision, tuple(PRECISIONS))
    return PRECISIONS[precision]


def shown(shape: tuple[int | None, ...]) -> str:
    """A shape as a line shows it."""
    return f"({', '.join('count' if n is None else str(n) for n in shape)}{',' * (len(shape) == 1)})"


def _wanted(shape) -> str:
    if shape is None:
        return "finite numbers"
    return f"finite numbers of the shape {shown(shape)}" if shape else "one finite number"
