"""The state of a run as arrays on the host that do not know how the box is divided: what is written to disk.

Several ranks gather it on one, and any number of them can scatter it. Between two steps the next one needs no more:

    steps               steps taken
    cell, place         (count, 3): the cell (i, j, k) of each particle, by id, and the place in it from 0 to 1
    u, weight, ids      momentum over m c half a kick before the time, (count, 3); (count); (count)
    electric, magnetic  E~ at the time, and B~ half a step before it, (3, nz + 1, ny + 1, nx + 1): component and node
    charges             at rest on the nodes, in units of the sums, (nz + 1, ny + 1, nx + 1); along a periodic axis
                        the first and the last node, which are one, each have a part of its charge
    psi electric, psi magnetic
                        in absorbing layers: two convolutions for each axis that has any, (nodes in layers, number)
    tallies             in air: what electrons have done so far, see `transport`

Nodes are numbered from the first to the last of each axis, without guards: nx + 1 along x. The currents of the last
step are not part of the state.
"""

import numpy as np

from repro.parallel.ranks.world import HALO_TAG

from ..air.tallies import TALLIES
from ..deposition import EDGES
from ..maxwell.absorbing import layered_nodes
from ..mesh import Layout, Mesh
from ..observables import edge_flows
from ..packing import entries_here, put_particles, records_here
from ..subdomain import WholeDomain

#: guard cells have two tags
_TAG = HALO_TAG + 2

COUNT, CELL = np.dtype(np.int64), np.dtype(np.int32)


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


def types_and_shapes(system, real, count: int) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """What the arrays of the state of `count` particles are."""
    real, grid = np.dtype(real), system.mesh.grid
    found = {"steps": (COUNT, ()), "cell": (CELL, (count, 3)), "place": (real, (count, 3)), "u": (real, (count, 3))}
    found |= {"weight": (real, (count,)), "ids": (COUNT, (count,)), "charges": (COUNT, grid)}
    found |= dict.fromkeys(("electric", "magnetic"), (real, (3, *grid)))
    if axes := _layered_axes(system.mesh):
        layers = len(layered_nodes(system.mesh)), 2 * len(axes)
        found |= dict.fromkeys(("psi electric", "psi magnetic"), (real, layers))
    return found | ({"tallies": (COUNT, (TALLIES,))} if system.air is not None else {})


def gathered(simulation) -> dict[str, np.ndarray] | None:
    """The state of a run, on the first of its ranks; None on the others, which must ask for it, too.

    Raises what stops a run, as its steps do.
    """
    simulation.start()
    simulation._require_valid()
    tallies = {} if simulation._tallies is None else {"tallies": simulation.device.to_host(simulation._tallies)[None]}
    mine = _particles(simulation), _fields(simulation), _layers(simulation), tallies
    particles, fields, layers, tallies = (merged(simulation.ranks, arrays) for arrays in mine)
    charges = summed(simulation, simulation.device.to_host(simulation.charges))
    if charges is None:
        return None
    state = {"steps": np.array(simulation.steps, COUNT), "charges": charges} | _in_order(particles, "ids")
    by_node, grid = _in_order(fields, "node"), simulation.system.mesh.grid
    for name in ("electric", "magnetic"):
        state[name] = np.ascontiguousarray(by_node[name].T).reshape(3, *grid)
    state |= _in_order(layers, "node")
    state.pop("node", None)
    return state | {name: values.sum(0) for name, values in tallies.items()}


def scattered(state: dict[str, np.ndarray], simulation) -> None:
    """Let a fresh simulation go on from a state that fits it; each of several ranks takes its part.

    Raises CapacityError where a rank has no room for the particles in its subdomain.
    """
    subdomain, device, fields = simulation.subdomain, simulation.device, simulation.fields
    mesh = simulation.system.mesh
    entries, nodes = entries_here(simulation, state["cell"])
    put_particles(simulation, cell=nodes, **{name: state[name][entries].T for name in ("place", "u", "weight", "ids")})
    here, whole = nodes_here(simulation)
    for name in ("electric", "magnetic"):
        array = getattr(fields.arrays, name)
        # what is beyond a wall stays as it is in a fresh simulation: no launch changes it
        values = fields.device.to_host(array).reshape(3, -1)
        values[:, here] = state[name].reshape(3, -1)[:, whole]
        array[:] = fields.device.to_device(values.ravel())
    fields.fill_guards()
    charges = np.zeros(subdomain.mesh.layout.nodes, np.int64)
    charges[here] = state["charges"].ravel()[whole]
    simulation.charges[:] = device.to_device(charges)
    for name, psi in fields.psi.items():
        rows = np.searchsorted(_layered(WholeDomain(simulation.system), mesh), _layered(subdomain, mesh))
        values = state[f"psi {name}"][rows][:, _columns(subdomain, mesh)]
        psi[:] = fields.device.to_device(np.ascontiguousarray(values.T).ravel())
    if simulation._tallies is not None and is_first(simulation.ranks):
        simulation._tallies[:] = device.to_device(state["tallies"])
    simulation.resume(int(state["steps"]))


def _particles(simulation) -> dict:
    """The particles in this subdomain."""
    subdomain, records = simulation.subdomain, records_here(simulation)
    cells = subdomain.mesh.cells(records["cell"]) + np.array(subdomain.first)
    return {"cell": cells.astype(CELL)} | {name: records[name] for name in ("place", "u", "weight", "ids")}


def _fields(simulation) -> dict:
    """E~ and B~ on the nodes of this part, of shape (nodes, 3)."""
    fields, (here, whole) = simulation.fields, nodes_here(simulation)
    arrays = {name: getattr(fields.arrays, name) for name in ("electric", "magnetic")}
    values = {name: fields.device.to_host(array).reshape(3, -1)[:, here].T for name, array in arrays.items()}
    return {"node": whole} | values


def _layered_axes(mesh) -> list[int]:
    return [axis for axis, ends in enumerate(mesh.absorbing) if any(ends)]


def _layered(subdomain, mesh) -> np.ndarray:
    """Numbers in the whole box, a `mesh`, of a part's nodes in absorbing layers, in their order."""
    layout = node_layout(mesh)
    cells = subdomain.mesh.cells(layered_nodes(subdomain.mesh)) + np.array(subdomain.first)
    return cells @ np.array([1, layout.row, layout.plane])


def _columns(subdomain, mesh) -> np.ndarray:
    """Which of the convolutions in the whole box a part has."""
    axes = _layered_axes(mesh)
    return np.array([2 * axes.index(axis) + k for axis in _layered_axes(subdomain.mesh) for k in (0, 1)], int)


def _layers(simulation) -> dict:
    """The convolutions of the nodes here that are in layers."""
    subdomain, mesh, fields = simulation.subdomain, simulation.system.mesh, simulation.fields
    axes = _layered_axes(mesh)
    if not axes:
        return {}
    node, found = _layered(subdomain, mesh), {}
    for name in ("electric", "magnetic"):
        # along an axis whose layers are on other ranks there is nothing to convolve
        found[f"psi {name}"] = np.zeros((len(node), 2 * len(axes)), simulation.real)
        if len(node):
            psi = fields.device.to_host(fields.psi[name]).reshape(-1, len(node))
            found[f"psi {name}"][:, _columns(subdomain, mesh)] = psi.T
    return {"node": node} | found


def _in_order(arrays: dict, by: str) -> dict:
    """Arrays in the ascending order of one of them; nothing of nothing."""
    order = np.argsort(arrays[by]) if arrays else None
    return {name: values[order] for name, values in arrays.items()}
