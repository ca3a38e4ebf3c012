"""Two fluids on disk: HDF5 checkpoints that continue bit for bit on a device of the same kind, and VTK images."""

from typing import Annotated

import numpy as np

from repro.checksummed_hdf5 import entry, opened, written
from repro.declared import Kind, OneOf, checked
from repro.errors import require
from repro.files import write_text
from repro.parallel.options import OnDevice
from repro.vtk_array import data_array

from ..boundaries import Boundaries
from ..lattice import LATTICES
from ..media import PoreSpace
from .model import TwoFluids
from .simulation import TwoFluidFlow, require_slow

KIND = "checkpoint of two fluids"

_VERSION = 3
_SETTINGS = ("interaction", "wetting", "relaxation_times", "accelerations", "solid_density", "magic")
_SETTINGS += ("collision", "stencil")
_OPTIONS = ("strategy", "precision", "block")


@checked
def save(flow: Annotated[TwoFluidFlow, Kind(TwoFluidFlow)], path) -> None:
    """Write a checkpoint, whole or not at all. InputError for a flow on several ranks."""
    flow.require_alone("a checkpoint")
    problem = flow.problem
    arrays = dict(zip("ab", map(flow.device.to_host, flow.state), strict=True)) | {"solid": problem.space.solid}
    with written(path, KIND, _VERSION) as file:
        file.attrs.update(steps=flow.steps)
        file.attrs.update({name: getattr(flow, name) for name in _OPTIONS})
        file.attrs.update({name: getattr(problem, name) for name in _SETTINGS})
        file.attrs.update(lattice=problem.lattice.name, faces=problem.boundaries.faces)
        for name, values in arrays.items():
            file[name] = values


@checked
def load(path, device: OnDevice) -> TwoFluidFlow:
    """Continue from a checkpoint. InputError for a file that is not a whole one."""
    with opened(path, KIND, _VERSION) as file:
        return _restore(file, device)


def _restore(file, device) -> TwoFluidFlow:
    settings, options = ({name: _plain(file.attrs[name]) for name in names} for names in (_SETTINGS, _OPTIONS))
    OneOf(LATTICES).check("lattice", file.attrs["lattice"])
    lattice, boundaries = LATTICES[file.attrs["lattice"]], Boundaries(_plain(file.attrs["faces"]))
    solid = entry(file, "solid", np.dtype(bool), (None, None, None))
    problem = TwoFluids(PoreSpace(solid), **settings, lattice=lattice, boundaries=boundaries)
    flow = TwoFluidFlow(problem, device, **options)
    flow.resume(file.attrs["steps"])
    for array, name in zip(flow.state, "ab", strict=True):
        array[:] = device.to_device(entry(file, name, array.dtype, array.shape))
    _require_possible(flow)
    return flow


def _require_possible(flow: TwoFluidFlow) -> None:
    """Refuse a state that no run comes to: one that stops a run, faster than sound, or with populations in solid."""
    flow.look()
    require_slow(flow.fields()[2], flow.lattice)
    pores = flow._pores()
    for name, array in zip("ab", map(flow.device.to_host, flow.state), strict=True):
        inside = np.count_nonzero(flow.rows(array)[:, pores])
        require(np.count_nonzero(array) == inside, f"{name} is damaged: it has populations where there is no fluid")


def _plain(value):
    """What HDF5 made of a number, a text or a tuple."""
    if isinstance(value, np.ndarray):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


@checked
def write_vtk(flow: Annotated[TwoFluidFlow, Kind(TwoFluidFlow)], path) -> None:
    """Write densities, velocity and solid as a VTK image (.vti), which ParaView opens.

    InputError for a flow on several ranks.
    """
    flow.require_alone("a VTK image")
    a, b, velocity = flow.fields()
    fields = {"density a": a.ravel(), "density b": b.ravel(), "velocity": velocity.reshape(3, -1).T}
    fields = {name: values.astype(flow.state[0].dtype) for name, values in fields.items()}
    fields["solid"] = flow.problem.space.solid.ravel().astype(np.uint8)
    nx, ny, nz = flow.problem.space.shape
    extent = f"0 {nx - 1} 0 {ny - 1} 0 {nz - 1}"
    arrays = "\n".join(data_array(name, values, nx * ny * nz) for name, values in fields.items())
    write_text(
        path,
        f'<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" '
        f'header_type="UInt64">\n<ImageData WholeExtent="{extent}" Origin="0 0 0" Spacing="1 1 1">\n'
        f'<Piece Extent="{extent}">\n<PointData>\n{arrays}\n</PointData>\n</Piece>\n</ImageData>\n</VTKFile>\n',
    )
