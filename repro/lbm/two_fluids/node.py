"""What both kernels of a step do with a run of nodes, once a strategy has found its populations (porous paper, 6.1).

Scratch of a run: the rows of `collision` are the fluid in hand, PARKED the populations of fluid b while a is in hand,
SUMS density minus one and momentum of each, FORCES six times the gradient of the potential that acts on each and then
the force. Loops over the run are outermost, where the compiler still vectorises them: few are quick to compile.
"""

from functools import cache

from repro.parallel import inline

from ..layout import unsigned
from .collision import DENSITY, EXCESS, VELOCITY, Q, collision_of

PARKED = EXCESS + 1
SUMS = (PARKED + Q, PARKED + Q + 4)
FORCES = (SUMS[1] + 4, SUMS[1] + 7)
ROWS = FORCES[1] + 3

#: what is observed of a node: densities minus one, velocity
FIELDS = 5


@cache
def potentials_of(dtype, in_solid):
    """Returns potentials(s, n, g, node, marks, phi_a, phi_b): stores g rho of both fluids, whose SUMS are set, and
    leaves solid alone. Together at the end: what a store might have changed would be read again."""
    one = dtype(1)

    @inline
    def potentials(s, n, g, node, marks, phi_a, phi_b):
        for lane in range(n):
            if not in_solid(marks, node + lane):
                phi_a[unsigned(node + lane)] = g * (one + s[SUMS[0], lane])
                phi_b[unsigned(node + lane)] = g * (one + s[SUMS[1], lane])

    return potentials


@inline
def park(s, n):
    """Put the fluid in hand aside."""
    for lane in range(n):
        for i in range(Q):
            s[PARKED + i, lane] = s[i, lane]


@inline
def _take_back(s, n):
    for lane in range(n):
        for i in range(Q):
            s[i, lane] = s[PARKED + i, lane]


@cache
def forces_of(dtype):
    """Returns forces(s, n, a, b): the rows of FORCES from gradients to forces per volume, body force included."""
    one = dtype(1)

    @inline
    def force(s, n, density, row, fluid):
        for lane in range(n):
            rho = one + s[density, lane]
            s[row, lane] = rho * (fluid.ax - s[row, lane])
            s[row + 1, lane] = rho * (fluid.ay - s[row + 1, lane])
            s[row + 2, lane] = rho * (fluid.az - s[row + 2, lane])

    @inline
    def forces(s, n, a, b):
        force(s, n, SUMS[0], FORCES[0], a)
        force(s, n, SUMS[1], FORCES[1], b)

    return forces


@cache
def velocity_of(dtype):
    """Returns velocity(s, n, first, second): sum_k w_k (j_k + F_k/2) / sum_k w_k rho_k with weights first, second.

    With the rates of the momenta it is u_eq (equation 2.15), with ones the velocity of the mixture (2.18).
    """
    one, half = dtype(1), dtype(0.5)

    @inline
    def velocity(s, n, first, second):
        for lane in range(n):
            mass = first * (one + s[SUMS[0], lane]) + second * (one + s[SUMS[1], lane])
            volume = one / mass
            for axis in range(3):
                momentum = first * (s[SUMS[0] + 1 + axis, lane] + half * s[FORCES[0] + axis, lane])
                momentum += second * (s[SUMS[1] + 1 + axis, lane] + half * s[FORCES[1] + axis, lane])
                s[VELOCITY + axis, lane] = volume * momentum

    return velocity


@cache
def collide_of(collision: str, dtype):
    """Returns (collide a, collide b): forces, common velocity and collision of a, then the collision of b.

    Before the first, SUMS and FORCES (gradients) are set, a is in hand and b parked.
    """
    collide, forces, velocity = collision_of(collision, dtype), forces_of(dtype), velocity_of(dtype)

    @inline
    def collide_a(s, n, a, b):
        forces(s, n, a, b)
        velocity(s, n, a.momentum, b.momentum)
        for lane in range(n):
            s[DENSITY, lane] = s[SUMS[0], lane]
        collide(s, n, FORCES[0], a)

    @inline
    def collide_b(s, n, b):
        _take_back(s, n)
        for lane in range(n):
            s[DENSITY, lane] = s[SUMS[1], lane]
        collide(s, n, FORCES[1], b)

    return collide_a, collide_b


@cache
def observe_of(dtype, in_solid):
    """Returns observe(s, n, a, b, node, size, marks, fields): densities minus one and velocity, zero in solid."""
    forces, velocity, one, zero = forces_of(dtype), velocity_of(dtype), dtype(1), dtype(0)

    @inline
    def observe(s, n, a, b, node, size, marks, fields):
        forces(s, n, a, b)
        velocity(s, n, one, one)
        for lane in range(n):
            solid = in_solid(marks, node + lane)
            fields[unsigned(node + lane)] = zero if solid else s[SUMS[0], lane]
            fields[unsigned(size + node + lane)] = zero if solid else s[SUMS[1], lane]
            for axis in range(3):
                fields[unsigned((2 + axis) * size + node + lane)] = zero if solid else s[VELOCITY + axis, lane]

    return observe
