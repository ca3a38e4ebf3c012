"""The time step: symplectic leapfrog with two sums over neighbours (kick, drift, density, force, kick).

v += dt a / 2           drift
r += dt v
u  = v + dt a / 2       the velocity at the end of the step, foreseen for viscosity and ghosts
s  = s(r) or s + dt ds/dt at the middle of the step, with its v
a  = a(r, s, u)
s += dt times the density diffusion at r, if s is no sum
v += dt a / 2           kick

With density "rate" there is one sum over neighbours: ds/dt is found with a, at r and u, and s goes as v does.

s += dt ds/dt / 2       drift
p  = p(s + dt ds/dt - dt (ds/dt a step before) / 2)     pressure at the end of the step, foreseen
s += dt ds/dt / 2       kick

So the condensation is foreseen by the two steps of Adams and Bashforth and corrected by the trapezoidal rule. Of sound
of the angular frequency w that takes the share (w dt)^4 / 8 a step; foreseen by ds/dt alone it would grow as fast.
"""

from functools import cache
from math import inf

from repro.parallel import device_function, fma
from repro.particles.position import cell_bits, moved, periodic_difference

from .equations import pressure_term


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


@cache
def make_foresee(real, least):
    """Half a step of the condensation, and the pressure at the end of the step.

    rate[3 * count + i] is what a step adds, s[count + i] what the step before has added. Pressure is that of a
    condensation of at least `least`, or any for None.
    """
    half, floor = real(0.5), real(-1 if least is None else least)

    @device_function
    def foresee(x, n, s, rate, term, stiffness, count):
        for i in range(x, x + n):
            added = rate[3 * count + i]
            s[i] = fma(half, added, s[i])
            foreseen = s[i] + fma(-half, s[count + i], added)
            s[count + i], term[i] = added, pressure_term(max(foreseen, floor), stiffness)

    return foresee


@device_function
def kick_with_rate(x, n, v, a, dt, s, count):
    """Second half of a step, of the condensation too."""
    kick(x, n, v, a, dt)
    half = type(dt)(0.5)
    for i in range(x, min(x + n, count)):
        s[i] = fma(half, a[3 * count + i], s[i])


@device_function
def kick(x, n, v, a, dt):
    """Second half of a step."""
    half = type(dt)(0.5)
    for j in range(x, x + n):
        v[j] = fma(half * dt, a[j], v[j])
