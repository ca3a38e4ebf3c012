"""Particles and surfaces as VTK's PolyData files (.vtp), which ParaView opens."""

from base64 import b64encode

import numpy as np

from repro.files import write_text

from .exact import pressure
from .surface import Surface
from .system import System

_TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64"}


def write_particles(path, particles: dict[str, np.ndarray], system: System) -> None:
    """Write the arrays of `Simulation.particles()`: points in m with velocity (m/s), pressure (Pa), density (kg/m3) and
    id.
    """
    s, count = particles["condensation"].astype(float), len(particles["position"])
    fields = {
        "velocity": particles["velocity"].astype("<f4"),
        "pressure": pressure(s, system.fluid).astype("<f4"),
        "density": (system.fluid.density * (1 + s)).astype("<f8"),
        "id": np.arange(count, dtype="<i4"),
    }
    _write(path, particles["position"], fields, "Verts", np.arange(count)[:, None])


def write_surface(path, surface: Surface) -> None:
    """Write a surface's triangles in m with the normals at their corners."""
    _write(path, surface.corners, {"normal": surface.normals.astype("<f4")}, "Polys", surface.triangles)


def _write(path, points: np.ndarray, fields: dict[str, np.ndarray], kind: str, cells: np.ndarray) -> None:
    """Points, what is known at each, and cells (count, n) of n points' numbers: `kind` is Verts or Polys."""
    count, corners = cells.shape
    places = {
        "connectivity": cells.ravel().astype("<i8"),
        "offsets": np.arange(corners, corners * count + 1, corners).astype("<i8"),
    }
    data, place = ("\n".join(_array(name, values) for name, values in arrays.items()) for arrays in (fields, places))
    write_text(
        path,
        f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" '
        f'header_type="UInt64">\n<PolyData>\n<Piece NumberOfPoints="{len(points)}" NumberOf{kind}="{count}">\n'
        f"<Points>\n{_array('points', points.astype('<f8'))}\n</Points>\n<PointData>\n{data}\n</PointData>\n"
        f"<{kind}>\n{place}\n</{kind}>\n</Piece>\n</PolyData>\n</VTKFile>\n",
    )


def _array(name: str, values: np.ndarray) -> str:
    content = np.ascontiguousarray(values).tobytes()
    text = b64encode(np.uint64(len(content)).astype("<u8").tobytes() + content).decode()
    components = values.shape[1] if values.ndim == 2 else 1
    return (
        f'<DataArray type="{_TYPES[values.dtype.str[1:]]}" Name="{name}" NumberOfComponents="{components}" '
        f'format="binary">{text}</DataArray>'
    )
