"""The time step: symplectic leapfrog with two sums over neighbours (kick, drift, density, force, kick).

v += dt a / 2           drift
r += dt v
u  = v + dt a / 2       the velocity at the end of the step, foreseen for viscosity and ghosts
s  = s(r) or s + dt ds/dt at the middle of the step, with its v
a  = a(r, s, u)
v += dt a / 2           kick
"""

from functools import cache

from repro.parallel import fma, inline
from repro.particles.position import moved, upper_bits


@cache
def drift_body(real, contain):
    """First half of a step; contain(r, v, u, i, walls) looks at the walls along one component's array place i."""
    half, move = real(0.5), moved(real)

    @inline
    def drift(x, n, r, v, u, a, dt, per_length, walls, count):
        for i in range(x, x + n):
            for k in range(3):
                j = i + k * count
                v[j] = fma(half * dt, a[j], v[j])
                u[j] = fma(half * dt, a[j], v[j])
                r[j] = move(r[j], per_length[k], dt * v[j])
                contain(r, v, u, j, k, walls)

    return drift


@inline
def free(r, v, u, j, k, walls):
    """Walls hold nobody back: ghosts do, or the run is stopped."""


@cache
def held(real):
    """Returns contain(r, v, u, j, k, walls): puts what crosses a wall back onto it, without velocity across it.

    walls = the three lower and the three upper ones' positions.
    """
    # from the box's edge: a difference would be the nearer way around the box, which is shorter than many tanks
    upper, zero = upper_bits(real), real(0)

    @inline
    def contain(r, v, u, j, k, walls):
        if upper(r[j]) < upper(walls[k]):
            r[j], v[j], u[j] = walls[k], max(v[j], zero), max(u[j], zero)
        elif upper(r[j]) > upper(walls[3 + k]):
            r[j], v[j], u[j] = walls[3 + k], min(v[j], zero), min(u[j], zero)

    return contain


@cache
def kick_body(real):
    """Second half of a step."""
    half = real(0.5)

    @inline
    def kick(x, n, v, a, dt):
        for j in range(x, x + n):
            v[j] = fma(half * dt, a[j], v[j])

    return kick
