"""The collision of one of two fluids, with the force between them (Porter et al. 2012; porous paper, 2.13 to 2.18).

The populations kept are fbar = f - f^F/2. Both fluids relax towards equilibria at one common velocity u_eq, and

    fbar' = f_eq + (1 - S)(fbar - f_eq + f^F/2) + f^F/2,   f^F_i = 3 F . (c_i - u_eq) f_eq,i/rho,

where S are the relaxation rates: equation 2.16 for one rate. u_eq weighs the fluids by the rates of their momenta, so
that what one loses the other gains.
"""

from functools import cache

from repro.parallel import device_function

from ..equilibrium import make_equilibrium, pair_constants
from ..lattice import D3Q19
from ..mrt import make_relaxation
from .unroll import in_turn

Q = D3Q19.q

#: rows of a run's scratch: populations, density minus one, velocity, what the populations hold beyond that density
DENSITY, VELOCITY, EXCESS = Q, Q + 1, Q + 4

_PAIRS = Q // 2


@cache
def make_sums(dtype):
    """Density minus one and momentum of the populations, rows row .. row + 3, sums(s, n, row)."""
    _, cx, cy, cz = pair_constants(D3Q19, dtype)
    zero = dtype(0)

    @device_function
    def sums(s, n, row):
        for k in range(n):
            density, jx, jy, jz = s[0, k], zero, zero, zero
            for pair in range(_PAIRS):
                first, second = s[2 * pair + 1, k], s[2 * pair + 2, k]
                density += first + second
                jx += cx[pair] * (first - second)
                jy += cy[pair] * (first - second)
                jz += cz[pair] * (first - second)
            s[row, k], s[row + 1, k], s[row + 2, k], s[row + 3, k] = density, jx, jy, jz

    return sums


@cache
def _make_pairs(dtype, enter: bool, leave: bool):
    """A stage for all pairs of opposite populations, pairs(s, k, force, three_halves_u2, power, kept, sign, share)."""
    weights, cx, cy, cz = pair_constants(D3Q19, dtype)
    one, half, two, three = map(dtype, (1, 0.5, 2, 3))
    even, odd = make_equilibrium(dtype)

    def make_term(pair):
        i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]

        @device_function
        def move(s, k, force, three_halves_u2, power, kept, sign, share):
            first, second = s[i, k], s[i + 1, k]
            if enter:
                s[EXCESS, k] += first + second - two * weight * s[DENSITY, k]
                first, second = half * (first + second), half * (first - second)
            three_cu = three * (kx * s[VELOCITY, k] + ky * s[VELOCITY + 1, k] + kz * s[VELOCITY + 2, k])
            push = three * (kx * s[force, k] + ky * s[force + 1, k] + kz * s[force + 2, k])
            shape, part = one + half * three_cu * three_cu - three_halves_u2, share * weight
            forced = part * (push * three_cu - power * shape)
            first = kept * first + sign * even(weight, s[DENSITY, k], three_cu, three_halves_u2) + forced
            forced = part * (push * shape - power * three_cu)
            second = kept * second + sign * odd(weight, s[DENSITY, k], three_cu) + forced
            if leave:
                first, second = first + second, first - second
                s[EXCESS, k] -= first + second - two * weight * s[DENSITY, k]
            s[i, k], s[i + 1, k] = first, second

        return move

    return in_turn([make_term(pair) for pair in range(_PAIRS)])


@cache
def _make_stage(dtype, *, enter: bool, leave: bool):
    """Populations become kept f + sign f_eq + share f^F, stage(s, n, force, kept, sign, share).

    `force` is the first of the three rows that hold F. `enter` starts from populations and `leave` ends with them;
    without, it is the even and odd parts of opposite ones. The population at rest takes what the moving ones lose: the
    weights as rounded add up to 1 + 1.5e-8, and sums of all populations are rounded alike in every step of a flow that
    stands, so masses would drift. Sums of what populations differ by from their weights lose no digits.
    """
    rest, pairs, even = dtype(D3Q19.weights[0]), _make_pairs(dtype, enter, leave), make_equilibrium(dtype)[0]
    zero, one, three, three_halves = map(dtype, (0, 1, 3, 1.5))

    @device_function
    def stage(s, n, force, kept, sign, share):
        for k in range(n):
            ux, uy, uz = s[VELOCITY, k], s[VELOCITY + 1, k], s[VELOCITY + 2, k]
            three_halves_u2 = three_halves * (ux * ux + uy * uy + uz * uz)
            power = three * (ux * s[force, k] + uy * s[force + 1, k] + uz * s[force + 2, k])
            if enter:
                s[EXCESS, k] = s[0, k] - rest * s[DENSITY, k]
            if not leave:
                at_rest = sign * even(rest, s[DENSITY, k], zero, three_halves_u2)
                at_rest -= share * rest * power * (one - three_halves_u2)
                s[0, k] = kept * s[0, k] + at_rest
            pairs(s, k, force, three_halves_u2, power, kept, sign, share)
            if leave:
                s[0, k] = rest * s[DENSITY, k] + s[EXCESS, k]

    return stage


@cache
def _make_relax_moments(dtype):
    """The even and odd parts in `s` move towards zero by the rates of "mrt", relax(s, n, fluid)."""
    _, cx, cy, cz = pair_constants(D3Q19, dtype)
    # |c_x|^2 over the lattice is ten, and a part stands for two populations
    fifth, zero = dtype(2 / 10), dtype(0)
    relax_even, relax_odd = (make_relaxation(D3Q19, dtype, "mrt", odd=odd) for odd in (False, True))

    @device_function
    def relax(s, n, fluid):
        relax_even(s, n, fluid.even)
        relax_odd(s, n, fluid.odd)
        for axis in range(3):
            component = cx if axis == 0 else (cy if axis == 1 else cz)
            for k in range(n):
                momentum = zero
                for pair in range(_PAIRS):
                    momentum += component[pair] * s[2 * pair + 2, k]
                lost = fluid.momentum * fifth * momentum
                for pair in range(_PAIRS):
                    s[2 * pair + 2, k] -= component[pair] * lost

    return relax


@cache
def make_collision(collision: str, dtype):
    """The collision of one fluid, collide(s, n, force, fluid), in place in the scratch of a run.

    The rows of density and velocity are set; `force` is the first of the three rows that hold F.
    """
    half, one, minus = map(dtype, (0.5, 1, -1))
    at_once = _make_stage(dtype, enter=True, leave=True)

    @device_function
    def relax_all(s, n, force, fluid):
        at_once(s, n, force, one - fluid.even, fluid.even, one - half * fluid.even)

    if collision == "bgk":
        return relax_all
    before, after = _make_stage(dtype, enter=True, leave=False), _make_stage(dtype, enter=False, leave=True)
    relax = _make_relax_moments(dtype)

    @device_function
    def relax_moments(s, n, force, fluid):
        before(s, n, force, one, minus, half)
        relax(s, n, fluid)
        after(s, n, force, one, one, half)

    return relax_moments
