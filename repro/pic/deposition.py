"""Current and charge on the mesh, in whole numbers.

A segment inside one cell carries its charge from start to end, and the weights of Villasenor and Buneman (1992, Comput.
Phys. Commun. 69, 306) give each of the cell's edges its share, so that charge is conserved to rounding.

Sums are 64-bit integers, in units that no number of particles can overflow: whole numbers add up to the same total in
any order, so that a run has the same bits however it is divided among threads, blocks, GPUs and ranks.
"""

from functools import cache
from math import floor, log2

import numpy as np

from repro.parallel import device_function, fma, like

#: numbers that a cell has for currents: four edges along each axis
EDGES = 12

#: a particle crosses a cell at most this often in a step, so that no sum overflows
_CROSSINGS = 4


def units_of_weight(total_weight: float) -> float:
    """Units of the sums in one electron: a power of two, the largest that so many electrons together cannot overflow.

    `total_weight` is the largest number of electrons, all weights together, that there ever will be.
    """
    return 2.0 ** floor(62 - log2(_CROSSINGS * max(total_weight, 1e-300)))


@cache
def make_to_whole(real):
    """A number of units as a whole number: whole(value).

    In double precision it is the nearest one: what is cut off would add up with the number of particles, since a unit
    is larger than what rounding loses. In single precision it is far smaller than that.
    """
    half = real(0.5)

    @device_function
    def nearest(value):
        found = np.int64(value)
        middle = real(found)
        # compared only: a compiler would fuse a product with what is added to it
        return found + np.int64(value > middle + half) - np.int64(value < middle - half)

    @device_function
    def cut(value):
        return np.int64(value)

    return nearest if real is np.float64 else cut


@device_function
def _along(moved, p, q, twist):
    """`moved` along an axis, mean places p and q along the two others, `twist` the product of all three."""
    one = like(p, 1)
    p_low, q_low = one - p, one - q
    return (
        fma(moved * p_low, q_low, twist),
        fma(moved * p, q_low, -twist),
        fma(moved * p_low, q, -twist),
        fma(moved * p, q, twist),
    )


@device_function
def edge_weights(start, end, amount):
    """What each of its cell's twelve edges gets of a segment, not yet whole.

    `amount` is the particle's weight in units of the sums, start and end are places in [0, 1]^3. Four numbers an axis:
    number a + 2 b of axis c is of the edge along c at place a along the next axis and b along the one after it
    (cyclically); it is the displacement along c, in cells, times the weight of the edge.
    """
    half, twelfth = like(amount, 0.5), like(amount, 1 / 12)
    dx, dy, dz = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    x, y, z = half * (start[0] + end[0]), half * (start[1] + end[1]), half * (start[2] + end[2])
    twist = amount * (dx * dy) * (dz * twelfth)
    return _along(amount * dx, y, z, twist), _along(amount * dy, z, x, twist), _along(amount * dz, x, y, twist)


@cache
def make_deposit(real, add):
    """Adds a segment's current to its cell's twelve edges: deposit(currents, first, start, end, amount).

    `first` is the number of the cell's first edge, and first + 4 c + a + 2 b that of the edge that `edge_weights`
    describes.
    """
    whole = make_to_whole(real)

    @device_function
    def add_four(currents, first, values):
        add(currents, first, whole(values[0]))
        add(currents, first + 1, whole(values[1]))
        add(currents, first + 2, whole(values[2]))
        add(currents, first + 3, whole(values[3]))

    @device_function
    def deposit(currents, first, start, end, amount):
        along_x, along_y, along_z = edge_weights(start, end, amount)
        add_four(currents, first, along_x)
        add_four(currents, first + 4, along_y)
        add_four(currents, first + 8, along_z)

    return deposit


def charges_at(real, nodes: np.ndarray, place, amounts: np.ndarray, layout) -> np.ndarray:
    """Charges on the mesh, on the host, of `amounts` at a `place` (3, count) in [0, 1]^3 of cells numbered `nodes`."""
    found = np.zeros(layout.nodes, np.int64)
    charge = make_deposit_charge(real, lambda sums, index, value: np.add.at(sums, index, value))
    charge(found, nodes, tuple(place), amounts, layout)
    return found


@cache
def make_deposit_charge(real, add):
    """Adds a charge at rest to the eight corners of a cell: charge(charges, cell, position, amount, layout)."""
    one, whole = real(1), make_to_whole(real)

    @device_function
    def charge(charges, cell, position, amount, layout):
        for corner in range(8):
            a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
            x = position[0] if a else one - position[0]
            y = position[1] if b else one - position[1]
            z = position[2] if c else one - position[2]
            add(charges, cell + a + b * layout.row + c * layout.plane, whole(amount * x * y * z))

    return charge
