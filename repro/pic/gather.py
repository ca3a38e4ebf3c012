"""The fields at a particle, from Yee's mesh: linear across an edge or a face's normal, constant along it.

With these weights the work that the current does is the energy that the field gives (energy-conserving, and of the
order that belongs to the deposition of Villasenor and Buneman).
"""

import numpy as np

from repro.parallel import device_function, fma


@device_function
def _between(field, node, step, share):
    """From the value at a node to the one at a `step` from it: exactly the first where both are the same."""
    # a signed index may count from the end, and Numba looks whether it does: three times as many instructions
    low, high = field[np.uintp(node)], field[np.uintp(node + step)]
    return fma(high - low, share, low)


@device_function
def _edges(field, node, p, q, share_p, share_q):
    """A component that stands on the four edges of a cell, at steps 0 and `p`, `q` from its node."""
    lower, upper = _between(field, node, p, share_p), _between(field, node + q, p, share_p)
    return fma(upper - lower, share_q, lower)


@device_function
def electric_at(field, cell, position, layout):
    """E~ at a `position` in [0, 1]^3 of a cell; component c at node k is field[k + c * nodes]."""
    x, y, z = position
    y_cell, z_cell = cell + layout.nodes, cell + 2 * layout.nodes
    return (
        _edges(field, cell, layout.row, layout.plane, y, z),
        _edges(field, y_cell, layout.plane, 1, z, x),
        _edges(field, z_cell, 1, layout.row, x, y),
    )


@device_function
def magnetic_at(field, cell, position, layout):
    """B~ at a `position` in [0, 1]^3 of a cell, laid out as E~."""
    x, y, z = position
    y_cell, z_cell = cell + layout.nodes, cell + 2 * layout.nodes
    return (
        _between(field, cell, 1, x),
        _between(field, y_cell, layout.row, y),
        _between(field, z_cell, layout.plane, z),
    )
