"""The collision of one of two fluids, with the force between them (Porter et al. 2012; porous paper, 2.13 to 2.18).

The populations kept are fbar = f - f^F/2. Both fluids relax towards equilibria at one common velocity u_eq, and

    fbar' = f_eq + (1 - S)(fbar - f_eq + f^F/2) + f^F/2,   f^F_i = 3 F . (c_i - u_eq) f_eq,i/rho,

where S are the relaxation rates: equation 2.16 for one rate. u_eq weighs the momenta by their rates, so that what one
fluid loses the other gains.
"""

from functools import cache

from repro.parallel import inline

from ..equilibrium import equilibrium_of, pair_constants
from ..lattice import D3Q19
from ..mrt import relaxation_of

Q = D3Q19.q

#: rows of a run's scratch: populations, density minus one, velocity
DENSITY, VELOCITY = Q, Q + 1

_PAIRS = Q // 2


@cache
def sums_of(dtype):
    """Returns sums(s, n, row): density minus one and momentum of the populations, rows row .. row + 3."""
    _, cx, cy, cz = pair_constants(D3Q19, dtype)
    zero = dtype(0)

    @inline
    def sums(s, n, row):
        for lane in range(n):
            s[row, lane] = s[0, lane]
            s[row + 1, lane] = zero
            s[row + 2, lane] = zero
            s[row + 3, lane] = zero
        for pair in range(_PAIRS):
            i, kx, ky, kz = 2 * pair + 1, cx[pair], cy[pair], cz[pair]
            for lane in range(n):
                difference = s[i, lane] - s[i + 1, lane]
                s[row, lane] += s[i, lane] + s[i + 1, lane]
                s[row + 1, lane] += kx * difference
                s[row + 2, lane] += ky * difference
                s[row + 3, lane] += kz * difference

    return sums


@cache
def _target(dtype):
    """Returns add(s, n, force, sign, share): adds sign f_eq + share f^F to the even and odd parts in `s`.

    `force` is the first of the three rows that hold F.
    """
    rest, (weights, cx, cy, cz) = dtype(D3Q19.weights[0]), pair_constants(D3Q19, dtype)
    zero, one, half, three, three_halves = map(dtype, (0, 1, 0.5, 3, 1.5))
    even, odd = equilibrium_of(dtype)

    @inline
    def add(s, n, force, sign, share):
        for lane in range(n):
            ux, uy, uz = s[VELOCITY, lane], s[VELOCITY + 1, lane], s[VELOCITY + 2, lane]
            fx, fy, fz = s[force, lane], s[force + 1, lane], s[force + 2, lane]
            speed, power = three_halves * (ux * ux + uy * uy + uz * uz), three * (ux * fx + uy * fy + uz * fz)
            s[0, lane] += sign * even(rest, s[DENSITY, lane], zero, speed) - share * rest * power * (one - speed)
        for pair in range(_PAIRS):
            i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]
            for lane in range(n):
                ux, uy, uz = s[VELOCITY, lane], s[VELOCITY + 1, lane], s[VELOCITY + 2, lane]
                fx, fy, fz = s[force, lane], s[force + 1, lane], s[force + 2, lane]
                speed, power = three_halves * (ux * ux + uy * uy + uz * uz), three * (ux * fx + uy * fy + uz * fz)
                along, push = three * (kx * ux + ky * uy + kz * uz), three * (kx * fx + ky * fy + kz * fz)
                shape, deviation = one + half * along * along - speed, s[DENSITY, lane]
                s[i, lane] += sign * even(weight, deviation, along, speed) + share * weight * (
                    push * along - power * shape
                )
                s[i + 1, lane] += sign * odd(weight, deviation, along) + share * weight * (push * shape - power * along)

    return add


@cache
def _relax(collision: str, dtype):
    """Returns relax(s, n, fluid): the even and odd parts in `s` move towards zero by the fluid's rates."""
    bgk = collision == "bgk"
    _, cx, cy, cz = pair_constants(D3Q19, dtype)
    # |c_x|^2 over the lattice is ten, and a part stands for two populations
    fifth = dtype(2 / 10)
    if not bgk:
        relax_even, relax_odd = (relaxation_of(D3Q19, dtype, collision, odd=odd) for odd in (False, True))

    @inline
    def relax_all(s, n, fluid):
        kept = dtype(1) - fluid.even
        for i in range(Q):
            for lane in range(n):
                s[i, lane] *= kept

    @inline
    def relax_moments(s, n, fluid):
        relax_even(s, n, fluid.even)
        relax_odd(s, n, fluid.odd)
        for axis in range(3):
            component = cx if axis == 0 else (cy if axis == 1 else cz)
            for lane in range(n):
                momentum = dtype(0)
                for pair in range(_PAIRS):
                    momentum += component[pair] * s[2 * pair + 2, lane]
                lost = fluid.momentum * fifth * momentum
                for pair in range(_PAIRS):
                    s[2 * pair + 2, lane] -= component[pair] * lost

    return relax_all if bgk else relax_moments


@cache
def collision_of(collision: str, dtype):
    """Returns collide(s, n, force, fluid), in place in the scratch of a run whose density and velocity rows are set.

    `force` is the first of the three rows that hold F.
    """
    add, relax = _target(dtype), _relax(collision, dtype)
    half, one, minus = map(dtype, (0.5, 1, -1))

    @inline
    def to_parts(s, n, scale):
        for pair in range(_PAIRS):
            i = 2 * pair + 1
            for lane in range(n):
                first, second = s[i, lane], s[i + 1, lane]
                s[i, lane], s[i + 1, lane] = scale * (first + second), scale * (first - second)

    @inline
    def collide(s, n, force, fluid):
        to_parts(s, n, half)
        add(s, n, force, minus, half)
        relax(s, n, fluid)
        add(s, n, force, one, half)
        to_parts(s, n, one)

    return collide
