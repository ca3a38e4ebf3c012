"""What is measured of a run, on the host: energies, charge, and how well continuity and Gauss' law hold.

Fields are arrays (3, nz + 1, ny + 1, nx + 1) in SI units as `Fields.on_host` gives them, with the magnetic one half a
step before the electric one; charges and currents are the whole numbers of the device with guards, `unit` of them an
electron. All of them belong to a mesh that is not divided. Arrays of another shape raise InputError.
"""

import numpy as np

from repro.declared import Array, Kind, Number, Numbers
from repro.errors import require

from .constants import CHARGE, LIGHT, MASS, PERMEABILITY, PERMITTIVITY, SMALLEST
from .deposition import EDGES, charges_at
from .mesh import Mesh

#: share of the box by which rounding may put an electron beyond it
_ROUNDING = 1e-9


def _require_field(mesh: Mesh, what: str, values) -> None:
    Kind(Mesh).check("mesh", mesh)
    Array(3, *mesh.grid).check(f"{what} field", values)


def _require_sums(mesh: Mesh, what: str, values, each: int = 1) -> None:
    Kind(Mesh).check("mesh", mesh)
    Array(each * mesh.layout.nodes).check(what, values)


def _share(mesh: Mesh, axis: int, *, half: bool) -> np.ndarray:
    """Which part of a cell belongs to each of the n + 1 nodes along an axis, or to what is `half` a cell above it.

    The two ends are half a cell each, on walls as well as where they are the same place.
    """
    share = np.ones(mesh.shape[axis] + 1)
    share[[0, -1]] = (1, 0) if half else (0.5, 0.5)
    return share


def _total(mesh: Mesh, density: np.ndarray, component: int, *, along: bool) -> float:
    """The integral of a component's density; it stands half a cell up `along` its own axis, or across it."""
    z, y, x = (_share(mesh, axis, half=(axis == component) is along) for axis in (2, 1, 0))
    return mesh.cell_volume * float(np.einsum("zyx,z,y,x", density, z, y, x))


def magnetic_after(mesh: Mesh, dt: float, electric: np.ndarray, magnetic: np.ndarray) -> np.ndarray:
    """B in T half a step after E, from B half a step before it, without the layers' part."""
    Number(SMALLEST, unit="s").check("dt", dt)
    _require_field(mesh, "electric", electric)
    _require_field(mesh, "magnetic", magnetic)

    def change(component, axis):
        """Of a component of E from node to node along an axis, over the spacing; none from the last one."""
        far = -1 - axis
        last = np.take(electric[component], [-1], far)
        return np.diff(electric[component], axis=far, append=last) / mesh.spacing[axis]

    curl = [change((c + 2) % 3, (c + 1) % 3) - change((c + 1) % 3, (c + 2) % 3) for c in range(3)]
    return magnetic - dt * np.array(curl)


def field_energy(mesh: Mesh, dt: float, electric: np.ndarray, magnetic: np.ndarray) -> float:
    """Energy of the field in J as the product E^n . E^n + B^(n-1/2) . B^(n+1/2), which Yee's scheme keeps in vacuum.

    Absorbing layers are a part of the box.
    """
    after = magnetic_after(mesh, dt, electric, magnetic)
    of_electric = sum(_total(mesh, electric[c] ** 2, c, along=True) for c in range(3))
    of_magnetic = sum(_total(mesh, magnetic[c] * after[c], c, along=False) for c in range(3))
    return PERMITTIVITY / 2 * of_electric + of_magnetic / (2 * PERMEABILITY)


def kinetic_energy(momentum: np.ndarray, weight: np.ndarray) -> float:
    """Kinetic energy in J of electrons of `momentum` over m c (count, 3), each for `weight` (count) of them.

    gamma - 1 is taken as u^2 / (gamma + 1), so that slow electrons have one.
    """
    momentum = Numbers(None, 3, unit="m c").array("momentum", momentum)
    squared = np.sum(momentum**2, axis=1)
    weight = Numbers(len(squared), unit="electrons").array("weight", weight)
    return MASS * LIGHT**2 * float(np.sum(weight * squared / (1 + np.sqrt(1 + squared))))


def charge_sums(mesh: Mesh, position: np.ndarray, weight: np.ndarray, unit: float, at_rest) -> np.ndarray:
    """Charge of each node in whole numbers: electrons at `position` (m), taken from what is `at_rest` on the mesh."""
    position = Numbers(None, 3, unit="m").array("position", position)
    mesh.require_inside("position", position, _ROUNDING)
    scaled = position / mesh.spacing
    cell = np.clip(scaled.astype(int), 0, np.array(mesh.shape) - 1)
    return charges_in_cells(mesh, mesh.nodes(cell), (scaled - cell).T, weight, unit, at_rest)


def charges_in_cells(mesh: Mesh, nodes: np.ndarray, place, weight: np.ndarray, unit: float, at_rest=0) -> np.ndarray:
    """`charge_sums` of electrons in cells of the numbers `nodes`, at a `place` (3, count) in [0, 1]^3 of them.

    Shares are linear as in `deposition.make_deposit_charge`. A node at an end of a periodic axis has all that
    comes to either end.
    """
    Number(SMALLEST).check("unit", unit)
    weight = Numbers(len(nodes), unit="electrons").array("weight", weight)
    found = charges_at(np.float64, nodes, np.asarray(place, float), weight * unit, mesh.layout)
    return _joined(mesh, at_rest - found)


def _joined(mesh: Mesh, sums: np.ndarray) -> np.ndarray:
    """Sums of nodes where the two ends of each periodic axis, which are the same place, have both ends' sums."""
    grid = sums.reshape(mesh.guarded_grid).copy()
    for axis, boundary in enumerate(mesh.boundaries):
        if boundary == "periodic":
            ends = np.moveaxis(grid, 2 - axis, 0)[[1, -1]]
            np.moveaxis(grid, 2 - axis, 0)[[1, -1]] = ends.sum(axis=0)
    return grid.ravel()


def charge_density(mesh: Mesh, sums: np.ndarray, unit: float) -> np.ndarray:
    """Density in C/m^3 of `charge_sums`, of shape (nz + 1, ny + 1, nx + 1)."""
    _require_sums(mesh, "charges", sums)
    Number(SMALLEST).check("unit", unit)
    grid = sums.reshape(mesh.guarded_grid)[1:, 1:, 1:]
    periodic = [boundary == "periodic" for boundary in mesh.boundaries]
    z, y, x = (np.ones(mesh.shape[k] + 1) if periodic[k] else _share(mesh, k, half=False) for k in (2, 1, 0))
    volume = mesh.cell_volume * np.einsum("z,y,x->zyx", z, y, x)
    return CHARGE / unit * grid / volume


def electron_flow(mesh: Mesh, currents: np.ndarray) -> np.ndarray:
    """Electrons times cells that a step has moved along each edge, (3, nz + 2, ny + 2, nx + 2), in whole numbers.

    `currents` are the sums of all cells. Edges in the guards at the low ends have what belongs to the last ones.
    """
    _require_sums(mesh, "currents", currents, EDGES)
    cells = currents.reshape(-1, EDGES).copy()
    target, source = mesh.guards()
    cells[target] = cells[source]
    return np.reshape(list(edge_flows(mesh, cells)), (3, *mesh.guarded_grid))


def edge_flows(mesh: Mesh, cells: np.ndarray):
    """For each axis what the sums (nodes, EDGES) of the four cells around each edge come to, by its node."""
    steps = 1, mesh.layout.row, mesh.layout.plane
    for axis in range(3):
        p, q = steps[(axis + 1) % 3], steps[(axis + 2) % 3]
        # no cell is before the first one, which is a guard
        yield sum(map(np.roll, cells[:, 4 * axis : 4 * axis + 4].T, (0, p, q, p + q)))


def continuity_errors(mesh: Mesh, before: np.ndarray, after: np.ndarray, currents: np.ndarray) -> np.ndarray:
    """rho^(n+1) - rho^n + dt div J of the nodes, (nz + 1, ny + 1, nx + 1), as charges in whole numbers.

    `before` and `after` are `charge_sums` at both ends of a step and `currents` its sums.
    """
    _require_sums(mesh, "charges before", before)
    _require_sums(mesh, "charges after", after)
    found = (after - before).reshape(mesh.guarded_grid)
    for axis, flow in enumerate(electron_flow(mesh, currents)):
        # electrons that leave a node take their charge with them
        found = found - (flow - np.roll(flow, 1, 2 - axis))
    return found[1:, 1:, 1:]


def continuity_residual(mesh: Mesh, before: np.ndarray, after: np.ndarray, currents: np.ndarray) -> float:
    """Largest |(rho^(n+1) - rho^n) / dt + div J| over the largest |rho| / dt, on all nodes; see `continuity_errors`."""
    largest = max(np.abs(before).max(), np.abs(after).max(), 1)
    return float(np.abs(continuity_errors(mesh, before, after, currents)).max() / largest)


def divergence(mesh: Mesh, electric: np.ndarray) -> np.ndarray:
    """div E in V/m^2 on the nodes, (nz + 1, ny + 1, nx + 1); it means nothing on walls."""
    _require_field(mesh, "electric", electric)
    found = 0
    for axis in range(3):
        far = -1 - axis
        # the first node is the last again
        before = electric[axis].take([-2, *range(mesh.shape[axis])], far)
        found = found + (electric[axis] - before) / mesh.spacing[axis]
    return found


def inner_nodes(mesh: Mesh) -> tuple[slice, ...]:
    """The nodes, z first, that are neither on a wall nor in an absorbing layer, each once."""
    found = []
    for cells, boundary, (low, high) in zip(mesh.shape, mesh.boundaries, mesh.absorbing, strict=True):
        wall = boundary != "periodic"
        found.append(slice(max(low, 1), cells - max(high, 1) + 1) if wall else slice(0, cells))
    return tuple(found[::-1])


def gauss_residual(mesh: Mesh, electric: np.ndarray, density: np.ndarray) -> float:
    """Largest |div E - rho / eps0| over the largest |rho| / eps0 on `inner_nodes`; `density` as of `charge_density`."""
    Array(*mesh.grid).check("density", density)
    inner = inner_nodes(mesh)
    require(density[inner].any(), "density: no charge on any inner node, over which the residual could be taken")
    residual = PERMITTIVITY * divergence(mesh, electric) - density
    return float(np.abs(residual[inner]).max() / np.abs(density[inner]).max())
