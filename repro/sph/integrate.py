"""The time step: symplectic leapfrog with two sums over neighbours (kick, drift, density, force, kick).

v += dt a / 2           drift
r += dt v
u  = v + dt a / 2       the velocity at the end of the step, foreseen for viscosity and ghosts
s  = s(r) or s + dt ds/dt at the middle of the step, with its v
a  = a(r, s, u)
s += dt times the density diffusion at r, if s is no sum
v += dt a / 2           kick
"""

from functools import cache
from math import inf

from repro.parallel import device_function, fma
from repro.particles.position import cell_bits, moved, periodic_difference


@cache
def make_drift(real, contain):
    """First half of a step; contain(r, v, u, j, k, walls) looks at the walls across axis k, of which j is the place.

    `excursion` keeps by id how far in m, with `lengths` of a unit, a particle has ever been beyond a wall; infinity
    stands for a velocity that is no finite number, with which it does not move.
    """
    half, zero, never, move, way_back = real(0.5), real(0), real(inf), moved(real), make_way_back(real)

    @device_function
    def drift(x, n, r, v, u, a, ids, excursion, dt, per_length, lengths, walls, count):
        for i in range(x, x + n):
            for k in range(3):
                j = i + k * count
                v[j] = fma(half * dt, a[j], v[j])
                u[j] = fma(half * dt, a[j], v[j])
                far = never
                if abs(v[j]) < never:
                    r[j] = move(r[j], per_length[k], dt * v[j])
                    contain(r, v, u, j, k, walls)
                    far = abs(way_back(r[j], walls[k], walls[3 + k], lengths[k]))
                if far > zero:
                    excursion[ids[i]] = max(excursion[ids[i]], far)

    return drift


@cache
def make_way_back(real):
    """How far in m a particle must go back along an axis to be between its walls: zero inside, negative from above.

    As way_back(coordinate, lower, upper, length), `length` of a unit of coordinates.
    """
    # from the box's edge: a difference alone would be the nearer way around the box, shorter than many tanks
    upper_of, difference, zero = cell_bits(real), periodic_difference(real), real(0)

    @device_function
    def way_back(coordinate, lower, upper, length):
        if upper_of(coordinate) < upper_of(lower):
            return difference(lower, coordinate) * length
        if upper_of(coordinate) > upper_of(upper):
            return -(difference(coordinate, upper) * length)
        return zero

    return way_back


@device_function
def free(r, v, u, j, k, walls):
    """Walls hold no particle back: ghosts do, or the run is stopped."""


@cache
def make_held(real):
    """Puts what crosses a wall back onto it, without velocity across it: contain(r, v, u, j, k, walls).

    walls = the three lower and the three upper ones' positions.
    """
    # from the box's edge, as in `make_way_back`
    upper, zero = cell_bits(real), real(0)

    @device_function
    def contain(r, v, u, j, k, walls):
        if upper(r[j]) < upper(walls[k]):
            r[j], v[j], u[j] = walls[k], max(v[j], zero), max(u[j], zero)
        elif upper(r[j]) > upper(walls[3 + k]):
            r[j], v[j], u[j] = walls[3 + k], min(v[j], zero), min(u[j], zero)

    return contain


@device_function
def kick(x, n, v, a, dt):
    """Second half of a step."""
    half = type(dt)(0.5)
    for j in range(x, x + n):
        v[j] = fma(half * dt, a[j], v[j])
