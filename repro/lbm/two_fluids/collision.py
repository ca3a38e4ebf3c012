"""The collision of one of two fluids, with the force between them (Porter et al. 2012; porous paper, 2.13 to 2.18).

The populations kept are fbar = f - f^F/2. Both fluids relax towards equilibria at one common velocity u_eq, and

    fbar' = f_eq + (1 - S)(fbar - f_eq + f^F/2) + f^F/2,   f^F_i = 3 F . (c_i - u_eq) f_eq,i/rho,

where S are the relaxation rates: equation 2.16 for one rate. u_eq weighs the fluids by the rates of their momenta, so
that what one loses the other gains.
"""

from functools import cache

from repro.parallel import inline

from ..equilibrium import equilibrium_of, pair_constants
from ..lattice import D3Q19
from ..mrt import relaxation_of
from .unroll import in_turn

Q = D3Q19.q

#: rows of a run's scratch: populations, density minus one, velocity, what the populations hold beyond that density
DENSITY, VELOCITY, EXCESS = Q, Q + 1, Q + 4

_PAIRS = Q // 2


@cache
def sums_of(dtype):
    """Returns sums(s, n, row): density minus one and momentum of the populations, rows row .. row + 3."""
    _, cx, cy, cz = pair_constants(D3Q19, dtype)
    zero = dtype(0)

    @inline
    def sums(s, n, row):
        for lane in range(n):
            density, jx, jy, jz = s[0, lane], zero, zero, zero
            for pair in range(_PAIRS):
                first, second = s[2 * pair + 1, lane], s[2 * pair + 2, lane]
                density += first + second
                jx += cx[pair] * (first - second)
                jy += cy[pair] * (first - second)
                jz += cz[pair] * (first - second)
            s[row, lane], s[row + 1, lane], s[row + 2, lane], s[row + 3, lane] = density, jx, jy, jz

    return sums


@cache
def _pairs_of(dtype, enter: bool, leave: bool):
    """Returns pairs(s, lane, force, speed, power, kept, sign, share): a stage for all pairs of opposite populations."""
    weights, cx, cy, cz = pair_constants(D3Q19, dtype)
    one, half, two, three = map(dtype, (1, 0.5, 2, 3))
    even, odd = equilibrium_of(dtype)

    def of_pair(pair):
        i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]

        @inline
        def move(s, lane, force, speed, power, kept, sign, share):
            first, second = s[i, lane], s[i + 1, lane]
            if enter:
                s[EXCESS, lane] += first + second - two * weight * s[DENSITY, lane]
                first, second = half * (first + second), half * (first - second)
            along = three * (kx * s[VELOCITY, lane] + ky * s[VELOCITY + 1, lane] + kz * s[VELOCITY + 2, lane])
            push = three * (kx * s[force, lane] + ky * s[force + 1, lane] + kz * s[force + 2, lane])
            shape, deviation, part = one + half * along * along - speed, s[DENSITY, lane], share * weight
            first = kept * first + sign * even(weight, deviation, along, speed) + part * (push * along - power * shape)
            second = kept * second + sign * odd(weight, deviation, along) + part * (push * shape - power * along)
            if leave:
                first, second = first + second, first - second
                s[EXCESS, lane] -= first + second - two * weight * s[DENSITY, lane]
            s[i, lane], s[i + 1, lane] = first, second

        return move

    return in_turn([of_pair(pair) for pair in range(_PAIRS)])


@cache
def _stage_of(dtype, *, enter: bool, leave: bool):
    """Returns stage(s, n, force, kept, sign, share): populations become kept f + sign f_eq + share f^F.

    `force` is the first of the three rows that hold F. `enter` starts from populations and `leave` ends with them;
    without, it is the even and odd parts of opposite ones. The population at rest takes what the moving ones lose: the
    weights as rounded add up to 1 + 1.5e-8, and sums of all populations are rounded alike in every step of a flow that
    stands, so masses would drift. Sums of what populations differ by from their weights lose no digits.
    """
    rest, pairs, even = dtype(D3Q19.weights[0]), _pairs_of(dtype, enter, leave), equilibrium_of(dtype)[0]
    zero, one, three, three_halves = map(dtype, (0, 1, 3, 1.5))

    @inline
    def stage(s, n, force, kept, sign, share):
        for lane in range(n):
            ux, uy, uz = s[VELOCITY, lane], s[VELOCITY + 1, lane], s[VELOCITY + 2, lane]
            speed = three_halves * (ux * ux + uy * uy + uz * uz)
            power = three * (ux * s[force, lane] + uy * s[force + 1, lane] + uz * s[force + 2, lane])
            if enter:
                s[EXCESS, lane] = s[0, lane] - rest * s[DENSITY, lane]
            if not leave:
                at_rest = sign * even(rest, s[DENSITY, lane], zero, speed) - share * rest * power * (one - speed)
                s[0, lane] = kept * s[0, lane] + at_rest
            pairs(s, lane, force, speed, power, kept, sign, share)
            if leave:
                s[0, lane] = rest * s[DENSITY, lane] + s[EXCESS, lane]

    return stage


@cache
def _relax_moments(dtype):
    """Returns relax(s, n, fluid): the even and odd parts in `s` move towards zero by the rates of "mrt"."""
    _, cx, cy, cz = pair_constants(D3Q19, dtype)
    # |c_x|^2 over the lattice is ten, and a part stands for two populations
    fifth, zero = dtype(2 / 10), dtype(0)
    relax_even, relax_odd = (relaxation_of(D3Q19, dtype, "mrt", odd=odd) for odd in (False, True))

    @inline
    def relax(s, n, fluid):
        relax_even(s, n, fluid.even)
        relax_odd(s, n, fluid.odd)
        for axis in range(3):
            component = cx if axis == 0 else (cy if axis == 1 else cz)
            for lane in range(n):
                momentum = zero
                for pair in range(_PAIRS):
                    momentum += component[pair] * s[2 * pair + 2, lane]
                lost = fluid.momentum * fifth * momentum
                for pair in range(_PAIRS):
                    s[2 * pair + 2, lane] -= component[pair] * lost

    return relax


@cache
def collision_of(collision: str, dtype):
    """Returns collide(s, n, force, fluid), in place in the scratch of a run whose density and velocity rows are set.

    `force` is the first of the three rows that hold F.
    """
    half, one, minus = map(dtype, (0.5, 1, -1))
    at_once = _stage_of(dtype, enter=True, leave=True)

    @inline
    def relax_all(s, n, force, fluid):
        at_once(s, n, force, one - fluid.even, fluid.even, one - half * fluid.even)

    if collision == "bgk":
        return relax_all
    before, after = _stage_of(dtype, enter=True, leave=False), _stage_of(dtype, enter=False, leave=True)
    relax = _relax_moments(dtype)

    @inline
    def relax_moments(s, n, force, fluid):
        before(s, n, force, one, minus, half)
        relax(s, n, fluid)
        after(s, n, force, one, one, half)

    return relax_moments
