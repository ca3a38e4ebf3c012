"""Laws: the force of a pair along its line of centres, that of equations 1 to 5 or one of your own.

Lengths are in cutoff radii, masses in particle masses. A law takes the distance r < 1, `approach`, which is e . v, the
relative velocity along the line of centres, positive when the particles part, a deviate of variance one, the numbers
`p` of the fluid and `one`, which has the type of the distance. It gives the force on the first particle of a pair along
e, the unit vector from the second to the first.
"""

import inspect
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numba
from numba.core.errors import NumbaError

from repro.errors import require, short
from repro.parallel import device_function, fma

#: what `p` holds for laws: a of equation 1, gamma of equation 2 and sigma / sqrt(dt) of equation 3; the lengths of a
#: coordinate's unit come in between, and from MORE on what a law of your own takes beside a
REPULSION, FRICTION, NOISE, UNIT_X, UNIT_Y, UNIT_Z, MORE = range(7)


class Law(NamedTuple):
    """The force of a pair, for every strategy and device."""

    name: str
    #: along(distance, approach, deviate, p, one)
    along: Callable
    #: how many numbers of the fluid its conservative force takes
    numbers: int


@device_function
def weight(distance, one):
    """The weight of the noise, w_R = 1 - r, of Groot and Warren (1997); the paper states none."""
    return max(one - distance, one - one)


@device_function
def groot_warren(distance, approach, deviate, p, one):
    """Equations 1 to 5: a soft repulsion a w_R, friction -gamma w_R^2 e . v, and noise sigma w_R xi / sqrt(dt).

    w_D = w_R^2 and sigma^2 = 2 gamma kT (equations 4 and 5).
    """
    w = weight(distance, one)
    return w * fma(p[NOISE], deviate, fma(-p[FRICTION] * w, approach, p[REPULSION]))


GROOT_WARREN = Law("Groot and Warren", groot_warren, 1)


@cache
def make_numbers(count: int):
    """What a conservative force takes of the fluid's numbers, as a tuple of so many: take(p)."""
    if count == 0:
        return device_function(lambda p: ())
    others, place = make_numbers(count - 1), REPULSION if count == 1 else MORE + count - 2
    return device_function(lambda p: others(p) + (p[place],))  # noqa: RUF005, numba takes no starred tuple apart here


def _require_number(force: Callable) -> int:
    """How many numbers a force takes beside the distance; refuses what is no function from numbers to a number."""
    wanted = "a function of the distance and of numbers, with arithmetic, comparisons and `math` only"
    taken = inspect.signature(force).parameters.values() if inspect.isfunction(force) else ()
    require(taken, f"the law {short(force)} must be {wanted}")
    named = "a number by its name alone, whose value stands in Fluid.repulsion or Fluid.parameters"
    for parameter in taken:
        plain = parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
        require(plain, f"the law {force.__name__} takes '{parameter}': {named}")
    compiled = numba.njit(force)
    try:
        compiled.compile((numba.float64,) * len(taken))
        result = compiled.nopython_signatures[0].return_type
        reason = "" if isinstance(result, numba.types.Float | numba.types.Integer) else f"it returns {result}"
    except NumbaError as error:
        reason = " ".join(str(error).splitlines()[:2]).removeprefix("Failed in nopython mode pipeline ")
    require(not reason, f"the law {force.__name__} must be {wanted}: {reason}")
    return len(taken) - 1


def conservative(force: Callable) -> Law:
    """A law of your own from its conservative force, with the friction and the noise of equations 2 to 5; a decorator.

    force(distance, a, b, ...) is a plain function of numbers, positive where the particles repel: of the distance
    (0 < r < 1), of `Fluid.repulsion` and of each of `Fluid.parameters`. It may use arithmetic, comparisons and `math`;
    in single precision a number that is typed in it, such as 0.5, lets it compute in double precision. Raises
    InputError for what numba does not compile to a number.
    """
    count = _require_number(force)
    take, force = make_numbers(count), device_function(force)

    @device_function
    def along(distance, approach, deviate, p, one):
        w = weight(distance, one)
        thermostat = fma(p[NOISE], deviate, -p[FRICTION] * w * approach)
        return fma(w, thermostat, type(one)(force(distance, *take(p))))

    # numba keys what it keeps on disk by this function, and would not see a change in what `force` calls
    source = Path(force.__code__.co_filename)
    along.source = sha256(source.read_bytes()).hexdigest() if source.is_file() else ""
    return Law(force.__name__, along, count)
