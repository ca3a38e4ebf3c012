"""Maxwell's equations by Yee's scheme (1966), explicit: magnetic fields at half steps, electric ones at whole steps.

With E~ = e E dt / (m c), B~ = e B dt / m and the Courant numbers C_i = c dt / dx_i a step is

    B~_c -= C_p (E~_q beyond along p - E~_q) - C_q (E~_p beyond along q - E~_p),
    E~_c += C_p (B~_q - B~_q before along p) - C_q (B~_p - B~_p before along q) + k_c I_c,

with (c, p, q) cyclic, and I_c the flow of electrons across the face of the dual mesh, in electrons times cells.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import Kernel, fma, inline

from .constants import CHARGE, LIGHT, MASS, PERMITTIVITY
from .deposition import EDGES
from .mesh import Mesh


class FieldArrays(NamedTuple):
    """The fields of a kernel: E~ and B~, component c of node k at k + c * nodes, and the sums of currents."""

    electric: np.ndarray
    magnetic: np.ndarray
    #: number 12 * cell + edge, see `deposition`
    currents: np.ndarray


def courant_numbers(mesh: Mesh, dt: float) -> tuple[float, float, float]:
    """The way of light in a step of dt seconds, in cells along each axis."""
    return tuple(LIGHT * dt / spacing for spacing in mesh.spacing)


def field_units(dt: float) -> tuple[float, float]:
    """V/m in one unit of E~, and T in one unit of B~, for steps of dt seconds."""
    return MASS * LIGHT / (CHARGE * dt), MASS / (CHARGE * dt)


def current_factors(mesh: Mesh, dt: float) -> tuple[float, ...]:
    """k_c: what one electron that moves by one cell along an axis adds to E~ on an edge."""
    factor = CHARGE**2 * dt / (MASS * LIGHT * PERMITTIVITY * mesh.cell_volume)
    return tuple(factor * spacing for spacing in mesh.spacing)


@inline
def _curl(field, p, q, p_step, q_step, courant_p, courant_q):
    """C_p (F_q at p_step - F_q) - C_q (F_p at q_step - F_p); p and q are the places of F_p and F_q at the node."""
    return fma(courant_p, field[q + p_step] - field[q], -(courant_q * (field[p + q_step] - field[p])))


@cache
def magnetic_body(real):
    """Returns a kernel's body for a row of nodes: B~ goes on by `share` of a step, and the currents are cleared."""

    @inline
    def update(x, n, y, z, fields, courant, share, layout):
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

    return update


@inline
def _flow(currents, node, edge, p_step, q_step):
    """The sum of what the four cells around an edge have for it; `edge` is its number in the cell at the node."""
    return (
        currents[EDGES * node + edge]
        + currents[EDGES * (node - p_step) + edge + 1]
        + currents[EDGES * (node - q_step) + edge + 2]
        + currents[EDGES * (node - p_step - q_step) + edge + 3]
    )


@cache
def electric_body(real, walls: tuple[bool, bool, bool]):
    """Returns a kernel's body for a row of nodes: E~ goes on by a step.

    Along an axis with `walls` the first nodes are on a conductor, where E along the wall stays zero.
    """
    zero = real(0)

    @inline
    def update(x, n, y, z, fields, courant, factors, layout):
        e, b, currents = fields
        nodes, row, plane = layout.nodes, layout.row, layout.plane
        first = (x + 1) + (y + 1) * row + (z + 1) * plane
        at_y, at_z = walls[1] and y == 0, walls[2] and z == 0
        for m in range(n):
            i = first + m
            j, k = i + nodes, i + 2 * nodes
            # one step back: the curl with its sign turned
            curl_x = -_curl(b, j, k, -row, -plane, courant[1], courant[2])
            curl_y = -_curl(b, k, i, -plane, -1, courant[2], courant[0])
            curl_z = -_curl(b, i, j, -1, -row, courant[0], courant[1])
            curl_x += real(factors[0] * _flow(currents, i, 0, row, plane))
            curl_y += real(factors[1] * _flow(currents, i, 4, plane, 1))
            curl_z += real(factors[2] * _flow(currents, i, 8, 1, row))
            at_x = walls[0] and x + m == 0
            e[i] = zero if at_y or at_z else e[i] + curl_x
            e[j] = zero if at_x or at_z else e[j] + curl_y
            e[k] = zero if at_x or at_y else e[k] + curl_z

    return update


@inline
def _copy_guards(x, n, target, source, values, components, component_step, node_step):
    for i in range(x, x + n):
        for c in range(components):
            values[c * component_step + target[i] * node_step] = values[c * component_step + source[i] * node_step]


class Fields:
    """E~, B~ and the sums of currents on a mesh, and the launches that advance them by steps of dt seconds.

    `unit` is how many units of the sums one electron has, see `deposition.units_of_weight`.
    """

    def __init__(self, device, real, mesh: Mesh, dt: float, unit: float):
        nodes = mesh.layout.nodes
        self.device, self.real, self.mesh, self.dt = device, real, mesh, dt
        self.arrays = FieldArrays(
            device.zeros(3 * nodes, real), device.zeros(3 * nodes, real), device.zeros(EDGES * nodes, np.int64)
        )
        self.courant = tuple(real(number) for number in courant_numbers(mesh, dt))
        self._factors = tuple(factor / unit for factor in current_factors(mesh, dt))
        self._guards = tuple(device.to_device(nodes) for nodes in mesh.guards())
        #: what is launched before and after the particles move, by name
        self.before = {"magnetic field": self._magnetic(1.0)} | self._filled("magnetic", self.arrays.magnetic, 3)
        self.after = (
            self._filled("current", self.arrays.currents, EDGES)
            | {"electric field": self._electric()}
            | self._filled("electric", self.arrays.electric, 3)
        )

    def begin(self):
        """Launch what takes B from the start to half a step before it, where a step expects it."""
        self._magnetic(-0.5)()
        for name, launch in self.before.items():
            if "guards" in name:
                launch()

    def fill_guards(self):
        """Launch the copies into the guards of E~ and B~, after values have been set."""
        for launches in (self._filled("magnetic", self.arrays.magnetic, 3), self.after):
            for name, launch in launches.items():
                if "guards" in name and "current" not in name:
                    launch()

    def _magnetic(self, share):
        body = self.device.compile(Kernel(magnetic_body(self.real), ndim=3, strict=True))
        return body(self.mesh.shape, self.arrays, self.courant, self.real(share), self.mesh.layout)

    def _electric(self):
        walls = tuple(boundary == "conducting" for boundary in self.mesh.boundaries)
        body = self.device.compile(Kernel(electric_body(self.real, walls), ndim=3, strict=True))
        return body(self.mesh.shape, self.arrays, self.courant, self._factors, self.mesh.layout)

    def _filled(self, name, values, components) -> dict:
        target, source = self._guards
        if not len(target):
            return {}
        nodes = self.mesh.layout.nodes
        steps = (nodes, 1) if components == 3 else (1, EDGES)
        launch = self.device.compile(Kernel(_copy_guards))((len(target),), target, source, values, components, *steps)
        return {f"guards of the {name}": launch}

    def on_host(self) -> dict[str, np.ndarray]:
        """E in V/m and B in T (half a step before E), of shape (3, nz + 1, ny + 1, nx + 1): component and node.

        The last node of an axis is the first again where it is periodic.
        """
        grid = (3, *(cells + 2 for cells in self.mesh.shape[::-1]))
        arrays = (self.device.to_host(array).reshape(grid).astype(float) for array in self.arrays[:2])
        return {
            name: values[:, 1:, 1:, 1:] * unit
            for name, values, unit in zip(("electric", "magnetic"), arrays, field_units(self.dt), strict=True)
        }

    def set(self, electric=None, magnetic=None) -> None:
        """Set E in V/m or B in T on the nodes inside, both at the start; anything that fits (3, nz, ny, nx).

        Beyond a wall B goes on as it is before it, and on a conductor E along it is zero.
        """
        grid = (3, *(cells + 2 for cells in self.mesh.shape[::-1]))
        inside = (3, *self.mesh.shape[::-1])
        guards = ((0, 0), (1, 1), (1, 1), (1, 1))
        units = field_units(self.dt)
        if electric is not None:
            values = np.pad(np.broadcast_to(np.asarray(electric) / units[0], inside), guards)
            for axis in self._walls:
                first = [slice(None)] * 4
                first[3 - axis] = 1
                for along in {0, 1, 2} - {axis}:
                    values[(along, *first[1:])] = 0
            self._put(values, self.arrays.electric, grid)
        if magnetic is not None:
            values = np.pad(np.broadcast_to(np.asarray(magnetic) / units[1], inside), guards, mode="edge")
            self._put(values, self.arrays.magnetic, grid)
        self.fill_guards()

    @property
    def _walls(self):
        return [axis for axis, boundary in enumerate(self.mesh.boundaries) if boundary == "conducting"]

    def _put(self, values, array, grid):
        array[:] = self.device.to_device(values.reshape(grid).ravel().astype(self.real))
