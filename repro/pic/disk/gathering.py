"""From the parts of several ranks to arrays of the whole box, on the first of them.

Nodes are numbered from the first to the last of each axis, without guards: nx + 1 along x.
"""

import numpy as np

from repro.parallel.ranks.world import HALO_TAG

from ..deposition import EDGES
from ..mesh import Layout, Mesh
from ..observables import edge_flows

#: guard cells have two tags
_TAG = HALO_TAG + 2


def node_layout(mesh: Mesh) -> Layout:
    """Where the nodes from the first to the last of each axis are, without guards, for what takes a layout."""
    row, column, pile = (cells + 1 for cells in mesh.shape)
    return Layout(*mesh.shape, row, row * column, row * column * pile)


def is_first(ranks) -> bool:
    """Whether this process is the first rank, or the only one."""
    return not (ranks and ranks.rank)


def merged(ranks, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays of all ranks one after the other along the first axis, on the first rank; none on the others."""
    return arrays if not ranks else {name: _joined(ranks, name, values) for name, values in arrays.items()}


def _joined(ranks, name: str, values: np.ndarray) -> np.ndarray:
    counts = ranks.gather(np.array([len(values)]), name)[:, 0]
    values = np.ascontiguousarray(values)
    if ranks.rank:
        ranks.wait([ranks.send(values, 0, _TAG)], name)
        return values[:0]
    found = np.empty((counts.sum(), *values.shape[1:]), values.dtype)
    ends = np.cumsum(counts)
    found[: ends[0]] = values
    for rank in range(1, ranks.count):
        ranks.wait([ranks.receive(found[ends[rank - 1] : ends[rank]], rank, _TAG)], name)
    return found


def nodes_here(simulation, *, shared: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a part's nodes in its own arrays, with guards, and among those of the whole box.

    Where another part goes on, the last nodes of an axis are its own; with `shared` they are here, too.
    """
    subdomain, mesh = simulation.subdomain, simulation.system.mesh
    layout, own = node_layout(mesh), subdomain.mesh.layout
    steps, local_steps = (1, layout.row, layout.plane), (1, own.row, own.plane)
    whole = here = np.zeros(1, np.int64)
    for axis in (2, 1, 0):
        first, cells = subdomain.first[axis], subdomain.mesh.shape[axis]
        along = np.arange(cells + (shared or first + cells == mesh.shape[axis]))
        whole = (whole[:, None] + steps[axis] * (first + along)).ravel()
        here = (here[:, None] + local_steps[axis] * (1 + along)).ravel()
    return here, whole


def summed(simulation, values: np.ndarray) -> np.ndarray | None:
    """Whole numbers on a part's nodes, with guards, as sums over the ranks that have added to them.

    Of shape (nz + 1, ny + 1, nx + 1) on the first rank, None on the others.
    """
    here, whole = nodes_here(simulation, shared=True)
    pieces = merged(simulation.ranks, {"node": whole, "values": values[here]})
    if not is_first(simulation.ranks):
        return None
    found = np.zeros(simulation.system.mesh.grid, np.int64)
    np.add.at(found.reshape(-1), pieces["node"], pieces["values"])
    return found


def flows(simulation) -> np.ndarray | None:
    """Electrons times cells that went along each edge in the last step, in units of the sums.

    Of shape (3, nz + 1, ny + 1, nx + 1) on the first rank: axis, and node at the edge's low end; None on the others.
    Along a periodic axis the first and the last node, which are one, each have a part.
    """
    fields, mesh = simulation.fields, simulation.subdomain.mesh
    sums = fields.device.to_host(fields.arrays.currents).reshape(-1, EDGES)
    # guards have copies of what other cells have
    sums[mesh.neighbour_cell != np.arange(mesh.layout.nodes)] = 0
    found = [summed(simulation, flow) for flow in edge_flows(mesh, sums)]
    return None if found[0] is None else np.stack(found)
