"""Particles and surfaces as VTK's PolyData files (.vtp), which ParaView opens."""

from typing import Annotated

import numpy as np

from repro.declared import Array, Kind, checked
from repro.errors import require, short
from repro.files import write_text
from repro.vtk_array import data_array

from .exact import pressure
from .surface import Surface
from .system import System


@checked
def write_particles(path, particles: Annotated[dict, Kind(dict)], system: Annotated[System, Kind(System)]) -> None:
    """Write the arrays of `Simulation.particles()`: points in m with velocity (m/s), pressure (Pa), density (kg/m3) and
    id.
    """
    shapes = {"position": (None, 3), "velocity": (None, 3), "condensation": (None,)}
    position, velocity, s = (_numbers(particles.get(name), name, *shape) for name, shape in shapes.items())
    s = s.astype(float)
    fields = {
        "velocity": velocity,
        "pressure": pressure(s, system.fluid),
        "density": system.fluid.density * (1 + s),
        "id": np.arange(len(position), dtype="i4"),
    }
    _write(path, position, fields, "Verts", np.arange(len(position))[:, None])


@checked
def write_surface(path, surface: Annotated[Surface, Kind(Surface)]) -> None:
    """Write a surface's triangles in m with the normals at their corners."""
    corners, triangles, normals = (_numbers(getattr(surface, name), name, None, 3) for name in Surface._fields)
    known = triangles.dtype.kind in "iu" and ((triangles >= 0) & (triangles < len(corners))).all()
    require(known, f"triangles = {short(triangles)}: must be numbers of the {len(corners)} corners")
    _write(path, corners, {"normal": normals.astype("f4")}, "Polys", triangles)


def _numbers(values, name: str, *shape: int | None) -> np.ndarray:
    Array(*shape).check(name, values)
    return values


def _write(path, points: np.ndarray, fields: dict[str, np.ndarray], kind: str, cells: np.ndarray) -> None:
    """Points, what is known at each, and cells (count, n) of n points' numbers: `kind` is Verts or Polys."""
    count, corners = cells.shape
    place = data_array("points", points.astype("f8"), len(points))
    data = "\n".join(data_array(name, values, len(points)) for name, values in fields.items())
    ends = data_array("offsets", corners * np.arange(1, count + 1, dtype="i8"), count)
    numbers = data_array("connectivity", cells.ravel().astype("i8"), cells.size)
    write_text(
        path,
        f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" '
        f'header_type="UInt64">\n<PolyData>\n<Piece NumberOfPoints="{len(points)}" NumberOf{kind}="{count}">\n'
        f"<Points>\n{place}\n</Points>\n<PointData>\n{data}\n</PointData>\n"
        f"<{kind}>\n{numbers}\n{ends}\n</{kind}>\n</Piece>\n</PolyData>\n</VTKFile>\n",
    )
