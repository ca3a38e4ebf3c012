"""Numbers that a user gives, as arrays of the right shape, or a line that says what is wrong with them."""

import numpy as np

from repro.errors import InputError


def finite(what: str, value, shape: tuple[int | None, ...], unit: str = "") -> np.ndarray:
    """`value` as an array of finite numbers of a shape, None where any length is right; raises InputError."""
    wanted = "one finite number" if not shape else f"finite numbers of the shape {_shown(shape)}"
    wanted += f" in {unit}" if unit else ""
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "iuf":
        raise InputError(f"{what} = {_short(value)}: must be {wanted}")
    if len(found.shape) != len(shape) or any(w not in (None, n) for n, w in zip(found.shape, shape, strict=True)):
        raise InputError(f"{what} has the shape {found.shape}: must be {wanted}")
    bad = ~np.isfinite(found)
    if bad.any():
        raise InputError(f"{what}: {bad.sum()} of {found.size} numbers are not finite: must be {wanted}")
    return found.astype(float)


def _shown(shape) -> str:
    return f"({', '.join('count' if n is None else str(n) for n in shape)}{',' * (len(shape) == 1)})"


def _short(value) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else f"{text[:57]}..."
