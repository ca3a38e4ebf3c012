"""What both kernels of a step do with a run of nodes, once a strategy has found its populations (porous paper, 6.1).

Scratch of a run: the rows of `collision` are the current fluid, STASHED the populations of fluid b while that is a,
SUMS density minus one and momentum of each, FORCES six times the gradient of the potential that acts on each and then
the force. Loops over the run are outermost, where the compiler still vectorises them: few are quick to compile.
"""

from functools import cache

from repro.parallel import device_function

from ..layout import unsigned
from .collision import DENSITY, EXCESS, VELOCITY, Q, make_collision

STASHED = EXCESS + 1
SUMS = (STASHED + Q, STASHED + Q + 4)
FORCES = (SUMS[1] + 4, SUMS[1] + 7)
ROWS = FORCES[1] + 3

#: what is observed of a node: densities minus one, velocity
FIELDS = 5


@cache
def make_potentials(dtype, in_solid):
    """Stores g rho of both fluids in the pores, potentials(s, n, g, node, marks, phi_a, phi_b); SUMS are set.

    Together at the end: what a store might have changed would be read again.
    """
    one = dtype(1)

    @device_function
    def potentials(s, n, g, node, marks, phi_a, phi_b):
        for k in range(n):
            if not in_solid(marks, node + k):
                phi_a[unsigned(node + k)] = g * (one + s[SUMS[0], k])
                phi_b[unsigned(node + k)] = g * (one + s[SUMS[1], k])

    return potentials


@device_function
def stash(s, n):
    """Put the current fluid aside."""
    for k in range(n):
        for i in range(Q):
            s[STASHED + i, k] = s[i, k]


@device_function
def _take_back(s, n):
    for k in range(n):
        for i in range(Q):
            s[i, k] = s[STASHED + i, k]


@cache
def make_forces(dtype):
    """The rows of FORCES from gradients to forces per volume, body force included, forces(s, n, a, b)."""
    one = dtype(1)

    @device_function
    def force(s, n, density, row, fluid):
        for k in range(n):
            rho = one + s[density, k]
            s[row, k] = rho * (fluid.ax - s[row, k])
            s[row + 1, k] = rho * (fluid.ay - s[row + 1, k])
            s[row + 2, k] = rho * (fluid.az - s[row + 2, k])

    @device_function
    def forces(s, n, a, b):
        force(s, n, SUMS[0], FORCES[0], a)
        force(s, n, SUMS[1], FORCES[1], b)

    return forces


@cache
def make_velocity(dtype):
    """Sum_k w_k (j_k + F_k/2) / sum_k w_k rho_k with weights first, second, velocity(s, n, first, second).

    With the rates of the momenta it is u_eq (equation 2.15), with ones the velocity of the mixture (2.18).
    """
    one, half = dtype(1), dtype(0.5)

    @device_function
    def velocity(s, n, first, second):
        for k in range(n):
            mass = first * (one + s[SUMS[0], k]) + second * (one + s[SUMS[1], k])
            volume = one / mass
            for axis in range(3):
                momentum = first * (s[SUMS[0] + 1 + axis, k] + half * s[FORCES[0] + axis, k])
                momentum += second * (s[SUMS[1] + 1 + axis, k] + half * s[FORCES[1] + axis, k])
                s[VELOCITY + axis, k] = volume * momentum

    return velocity


@cache
def make_collide(collision: str, dtype):
    """The collisions (of a, of b): forces, common velocity and collision of a, then the collision of b.

    Before the first, SUMS and FORCES (gradients) are set, a is the current fluid and b stashed.
    """
    collide, forces, velocity = make_collision(collision, dtype), make_forces(dtype), make_velocity(dtype)

    @device_function
    def collide_a(s, n, a, b):
        forces(s, n, a, b)
        velocity(s, n, a.momentum, b.momentum)
        for k in range(n):
            s[DENSITY, k] = s[SUMS[0], k]
        collide(s, n, FORCES[0], a)

    @device_function
    def collide_b(s, n, b):
        _take_back(s, n)
        for k in range(n):
            s[DENSITY, k] = s[SUMS[1], k]
        collide(s, n, FORCES[1], b)

    return collide_a, collide_b


@cache
def make_observe(dtype, in_solid):
    """Densities minus one and velocity, zero in solid, observe(s, n, a, b, node, size, marks, fields)."""
    forces, velocity, one, zero = make_forces(dtype), make_velocity(dtype), dtype(1), dtype(0)

    @device_function
    def observe(s, n, a, b, node, size, marks, fields):
        forces(s, n, a, b)
        velocity(s, n, one, one)
        for k in range(n):
            solid = in_solid(marks, node + k)
            fields[unsigned(node + k)] = zero if solid else s[SUMS[0], k]
            fields[unsigned(size + node + k)] = zero if solid else s[SUMS[1], k]
            for axis in range(3):
                fields[unsigned((2 + axis) * size + node + k)] = zero if solid else s[VELOCITY + axis, k]

    return observe
