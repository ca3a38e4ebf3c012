"""The fields of a running simulation: their arrays, and the launches that advance them by a step, see `yee`."""

import numpy as np

from repro.declared import Numbers
from repro.errors import InputError, require
from repro.parallel import Kernel
from repro.parallel.launch_sequence import in_turn

from ..constants import CHARGE, LIGHT, MASS, PERMITTIVITY
from ..deposition import EDGES
from ..mesh import Mesh
from .absorbing import bind_layers, layered_nodes
from .yee import FieldArrays, copy_guards, electric_body, magnetic_body


def courant_numbers(mesh: Mesh, dt: float) -> tuple[float, float, float]:
    """The way of light in a step of dt seconds, in cells along each axis."""
    return tuple(LIGHT * dt / spacing for spacing in mesh.spacing)


def courant_limit(mesh: Mesh) -> float:
    """The longest step in s with which Yee's scheme is stable."""
    return 1 / (LIGHT * float(np.sqrt(sum(spacing**-2 for spacing in mesh.spacing))))


def field_units(dt: float) -> tuple[float, float]:
    """V/m in one unit of E~, and T in one unit of B~, for steps of dt seconds."""
    return MASS * LIGHT / (CHARGE * dt), MASS / (CHARGE * dt)


def current_factors(mesh: Mesh, dt: float) -> tuple[float, ...]:
    """k_c: what one electron that moves by one cell along an axis adds to E~ on an edge."""
    factor = CHARGE**2 * dt / (MASS * LIGHT * PERMITTIVITY * mesh.cell_volume)
    return tuple(factor * spacing for spacing in mesh.spacing)


class Fields:
    """E~, B~ and the sums of currents on a mesh, and the launches that advance them by steps of dt seconds.

    `unit` is how many units of the sums one electron has, see `deposition.units_of_weight`. Where the mesh is divided,
    `exchange(values, components, component_step, node_step, **ends)` returns what fills the guards there, a function
    without arguments: component c of node k is values[c * component_step + k * node_step]. It runs after the box has
    filled its own guards and takes whole planes, their guards included, axis by axis, so that edges come right. E needs
    those at the high ends (low=False), currents those at the low ends (high=False), B both. Raises InputError for a
    divided mesh without it.
    """

    def __init__(self, device, real, mesh: Mesh, dt: float, unit: float, exchange=None):
        if np.any(mesh.divided) and exchange is None:
            raise InputError("the mesh is divided: give `exchange`, which fills the guards that belong to neighbours")
        nodes = mesh.layout.nodes
        self.device, self.real, self.mesh, self.dt = device, real, mesh, dt
        self.arrays = FieldArrays(
            device.zeros(3 * nodes, real), device.zeros(3 * nodes, real), device.zeros(EDGES * nodes, np.int64)
        )
        self.courant = tuple(real(number) for number in courant_numbers(mesh, dt))
        self._factors = tuple(factor / unit for factor in current_factors(mesh, dt))
        self._exchange = exchange
        #: whether the first step is near, after which nothing can be set
        self.begun = False
        #: the convolutions in the absorbing layers by field: state, which belongs to a checkpoint
        self.psi = {}
        open_magnetic, open_electric = self._bind_layers()
        self._magnetic_guards = self._filled("magnetic field", self.arrays.magnetic, (3, nodes, 1))
        self._electric_guards = self._filled("electric field", self.arrays.electric, (3, nodes, 1), low=False)
        current_guards = self._filled("current", self.arrays.currents, (EDGES, 1, EDGES), high=False)
        #: what is launched before and after the particles move, by name
        self.before = open_magnetic | {"magnetic field": self._magnetic(1.0)} | self._magnetic_guards
        self.after = current_guards | open_electric | {"electric field": self._electric()} | self._electric_guards

    def begin(self, advance: bool = True):
        """Launch what takes B from the start to half a step before it, where a step expects it; once.

        The layers take no part: nothing that goes on in the box has reached them yet. Fields that do not `advance` stay
        as they are.
        """
        self.begun = True
        if not advance:
            return
        in_turn(self._magnetic(-0.5), *self._magnetic_guards.values())

    def fill_guards(self):
        """Launch what fills the guards of E~ and B~, after values have been set."""
        in_turn(*self._magnetic_guards.values(), *self._electric_guards.values())

    def _magnetic(self, share):
        body = self.device.compile(Kernel(magnetic_body, ndim=3, strict=True))
        return body(self.mesh.shape, self.arrays, self.courant, self.real(share), self.mesh.layout)

    def _electric(self):
        walls = tuple(low for low, _ in self.mesh.walls)
        body = self.device.compile(Kernel(electric_body, ndim=3, strict=True))
        return body(self.mesh.shape, self.arrays, self.courant, self._factors, walls, self.mesh.layout)

    def _bind_layers(self) -> tuple[dict, dict]:
        nodes = layered_nodes(self.mesh)
        if not len(nodes):
            return {}, {}
        nodes = self.device.to_device(nodes)
        electric, magnetic, _ = self.arrays
        launches = []
        for name, target, source, way in (("magnetic", magnetic, electric, 1), ("electric", electric, magnetic, -1)):
            mine = self.device, self.real, self.mesh, self.dt, nodes
            self.psi[name], bound = bind_layers(*mine, target, source, self.courant, way)
            launches.append({f"absorbed {name} field": bound})
        return tuple(launches)

    def _filled(self, name, values, steps, **ends) -> dict:
        launches = {}
        target, source = (self.device.to_device(nodes) for nodes in self.mesh.guards(**ends))
        if len(target):
            body = self.device.compile(Kernel(copy_guards))
            launches[f"guards of the {name}"] = body((len(target),), target, source, values, *steps)
        if np.any(self.mesh.divided):
            launches[f"neighbours' {name}"] = self._exchange(values, *steps, **ends)
        return launches

    def on_host(self) -> dict[str, np.ndarray]:
        """E in V/m and B in T (half a step before E), of shape (3, nz + 1, ny + 1, nx + 1): component and node.

        The last node of an axis is the first again where it is periodic. Where it is not, components that stand half a
        cell above the last node are beyond the wall and mean nothing.
        """
        grid = 3, *self.mesh.guarded_grid
        arrays = (self.device.to_host(array).reshape(grid).astype(float) for array in self.arrays[:2])
        return {
            name: values[:, 1:, 1:, 1:] * unit
            for name, values, unit in zip(("electric", "magnetic"), arrays, field_units(self.dt), strict=True)
        }

    def set(self, electric=None, magnetic=None) -> None:
        """Set E in V/m or B in T, both at the start, of shape (3, nz, ny, nx), or with 1 along an axis of no change.

        Before the first step and the first look at the particles only: a simulation's electrons begin in these fields.
        With one node more along an axis, as of `on_host`, the values on the wall at its high end are set too, otherwise
        B goes on there as it is before it. On a conductor E along it is zero. Raises InputError for another shape,
        and after the start.
        """
        require(not self.begun, "fields are set before the first step and the first look at the particles: begin anew")
        units = field_units(self.dt)
        if electric is not None:
            values = self._with_guards("electric", electric, mode="constant")
            for axis, walls in enumerate(self.mesh.walls):
                along = [component for component in range(3) if component != axis]
                for wall, node in zip(walls, (1, -1), strict=True):
                    if wall:
                        np.moveaxis(values, 3 - axis, 1)[along, node] = 0
            self.arrays.electric[:] = self._to_device(values / units[0])
        if magnetic is not None:
            values = self._with_guards("magnetic", magnetic, mode="edge")
            self.arrays.magnetic[:] = self._to_device(values / units[1])
        self.fill_guards()

    def _with_guards(self, name, values, mode) -> np.ndarray:
        values, inside = Numbers().array(f"{name} field", values), (3, *self.mesh.shape[::-1])
        sizes = list(zip(values.shape, inside, strict=False))
        if values.ndim != 4 or len(values) != 3 or any(n not in (1, cells, cells + 1) for n, cells in sizes[1:]):
            raise InputError(
                f"{name} field of shape {values.shape}: it must be {inside}, with one more node along an axis, or with "
                "1 along one on which nothing changes"
            )
        values = np.broadcast_to(values, [cells if n == 1 else n for n, cells in sizes])
        guards = [(1, 1 if n == cells else 0) for n, cells in zip(values.shape[1:], inside[1:], strict=True)]
        return np.pad(values, [(0, 0), *guards], mode=mode)

    def _to_device(self, values: np.ndarray):
        return self.device.to_device(values.ravel().astype(self.real))


class Bus:
    """Copies on `device` of the arrays of `fields`, which the CPU advances: what crosses the bus (paper, section 3)."""

    def __init__(self, device, fields: Fields):
        self._device, self._host = device, fields.arrays
        self.arrays = FieldArrays(*(device.zeros(len(array), array.dtype) for array in fields.arrays))
        #: what is launched before the particles move and when they have moved, by name
        self.before, self.after = {"fields to the device": self.bring_fields}, {"currents to the host": self._fetch}

    def bring_fields(self):
        """Upload E and B."""
        self._device.upload(self._host.electric, self.arrays.electric)
        self._device.upload(self._host.magnetic, self.arrays.magnetic)

    def _fetch(self):
        self._device.download(self.arrays.currents, self._host.currents)
