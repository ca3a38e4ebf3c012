"""Maxwell's equations by Yee's scheme (1966), explicit: magnetic fields at half steps, electric ones at whole steps.

With E~ = e E dt / (m c), B~ = e B dt / m and the Courant numbers C_i = c dt / dx_i a step is

    B~_c -= C_p (E~_q beyond along p - E~_q) - C_q (E~_p beyond along q - E~_p),
    E~_c += C_p (B~_q - B~_q before along p) - C_q (B~_p - B~_p before along q) + k_c I_c,

with (c, p, q) cyclic, and I_c the flow of electrons across the face of the dual mesh, in electrons times cells.
"""

from typing import NamedTuple

import numpy as np

from repro.parallel import device_function, fma

from ..deposition import EDGES


class FieldArrays(NamedTuple):
    """The fields of a kernel: E~ and B~, component c of node k at k + c * nodes, and the sums of currents."""

    electric: np.ndarray
    magnetic: np.ndarray
    #: number 12 * cell + edge, see `deposition`
    currents: np.ndarray


@device_function
def _curl(field, p, q, p_step, q_step, courant_p, courant_q):
    """C_p (F_q at p_step - F_q) - C_q (F_p at q_step - F_p); p and q are the places of F_p and F_q at the node."""
    return fma(courant_p, field[q + p_step] - field[q], -(courant_q * (field[p + q_step] - field[p])))


@device_function
def magnetic_body(x, n, y, z, fields, courant, share, layout):
    """A kernel's body for a row of nodes: B~ goes on by `share` of a step, and the currents are cleared."""
    e, b, currents = fields
    nodes, row, plane = layout.nodes, layout.row, layout.plane
    first = (x + 1) + (y + 1) * row + (z + 1) * plane
    for i in range(first, first + n):
        j, k = i + nodes, i + 2 * nodes
        b[i] = fma(-share, _curl(e, j, k, row, plane, courant[1], courant[2]), b[i])
        b[j] = fma(-share, _curl(e, k, i, plane, 1, courant[2], courant[0]), b[j])
        b[k] = fma(-share, _curl(e, i, j, 1, row, courant[0], courant[1]), b[k])
    for i in range(EDGES * first, EDGES * (first + n)):
        currents[i] = 0


@device_function
def flow(currents, node, edge, p_step, q_step):
    """The sum of what the four cells around an edge have for it; `edge` is its number in the cell at the node."""
    return (
        currents[EDGES * node + edge]
        + currents[EDGES * (node - p_step) + edge + 1]
        + currents[EDGES * (node - q_step) + edge + 2]
        + currents[EDGES * (node - p_step - q_step) + edge + 3]
    )


@device_function
def _driven(field, factor, electrons):
    # in double precision, and fused, so that no device is free to do so or not
    return type(field)(fma(factor, np.float64(electrons), np.float64(field)))


@device_function
def electric_body(x, n, y, z, fields, courant, factors, walls, layout):
    """A kernel's body for a row of nodes: E~ goes on by a step.

    Along an axis of `walls` the first nodes are on a conductor, where E along the wall stays zero. The nodes on a
    conductor at the other end are guards, which no launch changes.
    """
    e, b, currents = fields
    nodes, row, plane = layout.nodes, layout.row, layout.plane
    first = (x + 1) + (y + 1) * row + (z + 1) * plane
    at_y, at_z = walls[1] and y == 0, walls[2] and z == 0
    for m in range(n):
        i = first + m
        j, k = i + nodes, i + 2 * nodes
        at_x = walls[0] and x + m == 0
        # one step back: the curl with its sign turned
        e_x = e[i] - _curl(b, j, k, -row, -plane, courant[1], courant[2])
        e_y = e[j] - _curl(b, k, i, -plane, -1, courant[2], courant[0])
        e_z = e[k] - _curl(b, i, j, -1, -row, courant[0], courant[1])
        zero = type(e_x)(0)
        e[i] = zero if at_y or at_z else _driven(e_x, factors[0], flow(currents, i, 0, row, plane))
        e[j] = zero if at_z or at_x else _driven(e_y, factors[1], flow(currents, i, 4, plane, 1))
        e[k] = zero if at_x or at_y else _driven(e_z, factors[2], flow(currents, i, 8, 1, row))


@device_function
def copy_guards(x, n, target, source, values, components, component_step, node_step):
    """A kernel's body: nodes take the values of other nodes."""
    for i in range(x, x + n):
        for c in range(components):
            values[c * component_step + target[i] * node_step] = values[c * component_step + source[i] * node_step]
