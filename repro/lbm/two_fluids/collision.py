"""The collision of two fluids with the force between them (Porter et al. 2012; porous paper, 2.13 to 2.18).

The populations kept are fbar = f - f^F/2. Both fluids relax towards equilibria at one common velocity u_eq, and

    fbar' = f_eq + (1 - S)(fbar - f_eq + f^F/2) + f^F/2,   f^F_i = 3 F . (c_i - u_eq) f_eq,i/rho,

where S are the relaxation rates: equation 2.16 for one rate. u_eq weighs the fluids by the rates of their momenta, so
that what one loses the other gains.

Scratch of a run: the populations of the current fluid, STASHED those of fluid b while that is a, SUMS density minus one
and momentum of each, FORCES six times the gradient of the potential that acts on each and then the force. Loops over
the run are outermost, where the compiler still vectorises them: few are quick to compile.
"""

from functools import cache

from repro.parallel import device_function
from repro.parallel.unroll import each, unrolled

from ..equilibrium import even, odd, pair_constants
from ..lattice import D3Q19, Lattice
from ..layout import unsigned
from ..mrt import make_relaxation
from ..porous.node import make_store

#: rows of a run's scratch, for the largest lattice: populations, then density minus one and velocity of the collision,
#: what the populations hold beyond that density, ...
DENSITY, VELOCITY, EXCESS = D3Q19.q, D3Q19.q + 1, D3Q19.q + 4
STASHED = EXCESS + 1
SUMS = (STASHED + D3Q19.q, STASHED + D3Q19.q + 4)
FORCES = (SUMS[1] + 4, SUMS[1] + 7)
ROWS = FORCES[1] + 3

#: what is observed of a node: densities minus one, velocity
FIELDS = 5


@cache
def make_sums(lattice: Lattice, dtype):
    """Density minus one and momentum of the populations, rows row .. row + 3, sums(s, n, row)."""
    _, cx, cy, cz = pair_constants(lattice, dtype)
    zero, pairs = dtype(0), lattice.q // 2

    @device_function
    def sums(s, n, row):
        for k in range(n):
            density, jx, jy, jz = s[0, k], zero, zero, zero
            for pair in range(pairs):
                first, second = s[2 * pair + 1, k], s[2 * pair + 2, k]
                density += first + second
                jx += cx[pair] * (first - second)
                jy += cy[pair] * (first - second)
                jz += cz[pair] * (first - second)
            s[row, k], s[row + 1, k], s[row + 2, k], s[row + 3, k] = density, jx, jy, jz

    return sums


@cache
def make_load_both(lattice: Lattice, dtype, read):
    """Populations and sums of both fluids, a the current one, load_both(s, n, place, marks, f_a, f_b).

    read(s, n, place, marks, f) finds the populations of a run, see `porous.node`.
    """
    q, sums = lattice.q, make_sums(lattice, dtype)

    @device_function
    def load_both(s, n, place, marks, f_a, f_b):
        read(s, n, place, marks, f_b)
        sums(s, n, SUMS[1])
        for k in range(n):
            for i in range(q):
                s[STASHED + i, k] = s[i, k]
        read(s, n, place, marks, f_a)
        sums(s, n, SUMS[0])

    return load_both


@device_function
def _force(s, n, density, row, fluid):
    for k in range(n):
        rho = type(fluid.ax)(1) + s[density, k]
        s[row, k] = rho * (fluid.ax - s[row, k])
        s[row + 1, k] = rho * (fluid.ay - s[row + 1, k])
        s[row + 2, k] = rho * (fluid.az - s[row + 2, k])


@device_function
def mixture(s, n, a, b, first, second):
    """Forces and common velocity; SUMS and FORCES (gradients) are set.

    The forces are per volume, body force included. The velocity is sum_k w_k (j_k + F_k/2) / sum_k w_k rho_k with
    weights first, second: with the rates of the momenta u_eq (equation 2.15), with ones that of the mixture (2.18).
    """
    one, half = type(first)(1), type(first)(0.5)
    _force(s, n, SUMS[0], FORCES[0], a)
    _force(s, n, SUMS[1], FORCES[1], b)
    for k in range(n):
        mass = first * (one + s[SUMS[0], k]) + second * (one + s[SUMS[1], k])
        volume = one / mass
        for axis in range(3):
            momentum = first * (s[SUMS[0] + 1 + axis, k] + half * s[FORCES[0] + axis, k])
            momentum += second * (s[SUMS[1] + 1 + axis, k] + half * s[FORCES[1] + axis, k])
            s[VELOCITY + axis, k] = volume * momentum


@cache
def _make_stage(lattice: Lattice, dtype, *, enter: bool, leave: bool):
    """Populations become kept f + sign f_eq + share f^F, stage(s, n, density, force, kept, sign, share).

    `density` is the row of the density, `force` the first of the three that hold F. `enter` starts from populations and
    `leave` ends with them; without, it is the even and odd parts of opposite ones. The population at rest takes what
    the moving ones lose: the weights as rounded add up to 1 + 1.5e-8, and sums of all populations are rounded alike in
    every step of a flow that stands, so masses would drift. Sums of what populations differ by from their weights lose
    no digits.
    """
    rest, zero, half, one = map(dtype, (lattice.weights[0], 0, 0.5, 1))
    three_halves, two, three = map(dtype, (1.5, 2, 3))
    pairs = tuple(zip(range(1, lattice.q, 2), *pair_constants(lattice, dtype), strict=True))

    @unrolled
    def stage(s, n, density, force, kept, sign, share):
        if enter:
            for k in range(n):
                s[DENSITY, k] = s[density, k]
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
            for i, weight, kx, ky, kz in each(pairs):
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
            if leave:
                s[0, k] = rest * s[DENSITY, k] + s[EXCESS, k]

    return stage


@cache
def _make_relax_moments(lattice: Lattice, dtype):
    """The even and odd parts in `s` move towards zero by the rates of "mrt", relax(s, n, fluid)."""
    _, cx, cy, cz = pair_constants(lattice, dtype)
    # |c_x|^2 over the lattice is ten, and a part stands for two populations
    fifth, zero, pairs = dtype(2 / 10), dtype(0), lattice.q // 2
    relax_even, relax_odd = (make_relaxation(lattice, dtype, "mrt", odd=odd) for odd in (False, True))

    @device_function
    def relax(s, n, fluid):
        relax_even(s, n, fluid.even)
        relax_odd(s, n, fluid.odd)
        for axis in range(3):
            component = cx if axis == 0 else (cy if axis == 1 else cz)
            for k in range(n):
                momentum = zero
                for pair in range(pairs):
                    momentum += component[pair] * s[2 * pair + 2, k]
                lost = fluid.momentum * fifth * momentum
                for pair in range(pairs):
                    s[2 * pair + 2, k] -= component[pair] * lost

    return relax


@cache
def make_collide_both(lattice: Lattice, dtype, collision: str, in_solid):
    """Both fluids collide and are stored, collide_both(s, n, node, size, marks, g_a, g_b, a, b).

    `load_both` has been called, and FORCES hold the gradients. "bgk" is one stage; "mrt" takes the equilibrium off,
    relaxes moments of what is left, and puts it back.
    """
    q, moments, half, one, minus = lattice.q, collision == "mrt", *map(dtype, (0.5, 1, -1))
    store = make_store(lattice, in_solid, reverse=False)
    before = _make_stage(lattice, dtype, enter=True, leave=not moments)
    after = _make_stage(lattice, dtype, enter=False, leave=True) if moments else None
    relax = _make_relax_moments(lattice, dtype) if moments else None
    fluids = tuple(zip((0, 1), SUMS, FORCES, strict=True))

    @unrolled
    def collide_both(s, n, node, size, marks, g_a, g_b, a, b):
        mixture(s, n, a, b, a.momentum, b.momentum)
        for second, density, force in each(fluids):
            fluid, g = (b, g_b) if second else (a, g_a)
            if second:
                for k in range(n):
                    for i in range(q):
                        s[i, k] = s[STASHED + i, k]
            if moments:
                before(s, n, density, force, one, minus, half)
                relax(s, n, fluid)
                after(s, n, density, force, one, one, half)
            else:
                before(s, n, density, force, one - fluid.even, fluid.even, one - half * fluid.even)
            store(s, n, node, size, marks, g)

    return collide_both


@cache
def make_potentials(lattice: Lattice, dtype, read, in_solid):
    """Stores g rho of both fluids in the pores, potentials(s, n, node, place, marks, f_a, f_b, phi_a, phi_b, g).

    Together at the end: what a store might have changed would be read again.
    """
    sums, one = make_sums(lattice, dtype), dtype(1)

    @device_function
    def potentials(s, n, node, place, marks, f_a, f_b, phi_a, phi_b, g):
        read(s, n, place, marks, f_a)
        sums(s, n, SUMS[0])
        read(s, n, place, marks, f_b)
        sums(s, n, SUMS[1])
        for k in range(n):
            if not in_solid(marks, node + k):
                phi_a[unsigned(node + k)] = g * (one + s[SUMS[0], k])
                phi_b[unsigned(node + k)] = g * (one + s[SUMS[1], k])

    return potentials


@cache
def make_finish(lattice: Lattice, dtype, collision: str | None, in_solid):
    """What a kernel does in the end with both fluids: they collide, or without a `collision` are observed."""
    return make_collide_both(lattice, dtype, collision, in_solid) if collision else make_observe(dtype, in_solid)


@cache
def make_observe(dtype, in_solid):
    """Densities minus one and velocity, zero in solid, observe(s, n, node, size, marks, fields, _, a, b)."""
    one, zero = dtype(1), dtype(0)

    @device_function
    def observe(s, n, node, size, marks, fields, _, a, b):
        mixture(s, n, a, b, one, one)
        for k in range(n):
            solid = in_solid(marks, node + k)
            fields[unsigned(node + k)] = zero if solid else s[SUMS[0], k]
            fields[unsigned(size + node + k)] = zero if solid else s[SUMS[1], k]
            for axis in range(3):
                fields[unsigned((2 + axis) * size + node + k)] = zero if solid else s[VELOCITY + axis, k]

    return observe
