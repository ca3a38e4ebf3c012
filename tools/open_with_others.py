"""Opens what the package writes with the programs of the field, and compares the values.

    pip install --target PLACE pyvista ase ovito openpmd-viewer openpmd-api
    PYTHONPATH=PLACE:. .venv/bin/python tools/open_with_others.py

None of them is a dependency: one that is not there is named. A line for each; a value that differs ends it.
"""

import importlib
import tempfile
from pathlib import Path

import numpy as np

from repro.dpd import Poiseuille
from repro.dpd import Simulation as Particles
from repro.dpd.checkpoint import write_xyz
from repro.lbm.media import PoreSpace, random_spheres
from repro.lbm.two_fluids.cases import Mixture
from repro.lbm.two_fluids.checkpoint import write_vtk
from repro.parallel import select
from repro.pic import Electrons, Mesh, Simulation, System
from repro.pic.disk import openpmd
from repro.sph import DamBreak
from repro.sph import Simulation as Water
from repro.sph.surface import reconstruct
from repro.sph.vtk import write_particles, write_surface

same, near = np.testing.assert_array_equal, np.testing.assert_allclose


def frames(path: Path) -> tuple[Particles, list[dict]]:
    """Two frames of a fluid between plates as extended XYZ, and what they must hold."""
    flow, expected = Particles(Poiseuille(height=4, length=4, width=5, drive=0.05).system(seed=1), select("serial")), []
    for append in (False, True):
        write_xyz(flow, path, append=append)
        expected.append(flow.particles())
        flow.step(1)
    return flow, expected


def ase(reader, folder: Path) -> None:
    """Extended XYZ."""
    flow, expected = frames(folder / "flow.xyz")
    found = reader.read(folder / "flow.xyz", index=":")
    assert len(found) == 2
    for frame, wanted in zip(found, expected, strict=True):
        same(frame.positions, wanted["position"])
        same(frame.arrays["velo"], wanted["velocity"])
        same(frame.cell.lengths(), flow.system.box)
    assert found[1].info["Time"] == float(flow.system.fluid.dt)


def ovito(reader, folder: Path) -> None:
    """Extended XYZ."""
    flow, expected = frames(folder / "flow.xyz")
    frame = reader.import_file(str(folder / "flow.xyz"))
    assert frame.source.num_frames == 2
    for number, wanted in enumerate(expected):
        found = frame.compute(number)
        # it rounds the last bit of what it reads in its own way
        near(found.particles.positions[:], wanted["position"], rtol=1e-15)
        near(found.particles["Velocity"][:], wanted["velocity"], rtol=1e-15)
        same(np.diag(found.cell[:3, :3]), flow.system.box)


def pyvista(reader, folder: Path) -> None:
    """VTK's images and points."""
    flow = Mixture(PoreSpace(random_spheres((10, 12, 14), porosity=0.6, diameter=4, seed=1))).start(select("serial"))
    flow.step(3)
    write_vtk(flow, folder / "flow.vti")
    found, (first, _, velocity) = reader.read(folder / "flow.vti"), flow.fields()
    assert found.dimensions == (14, 12, 10)
    same(found["density a"].reshape(10, 12, 14), first.astype(np.float32))
    same(found["velocity"].reshape(10, 12, 14, 3), np.moveaxis(velocity, 0, -1).astype(np.float32))
    same(found["solid"].reshape(10, 12, 14), flow.problem.space.solid)
    water = Water(DamBreak(column=(5, 4, 8)).system(), select("serial"))
    water.step(3)
    particles = water.particles()
    write_particles(folder / "water.vtp", particles, water.system)
    found = reader.read(folder / "water.vtp")
    same(found.points, particles["position"].astype(found.points.dtype))
    same(found["velocity"], particles["velocity"].astype(np.float32))
    surface = reconstruct(particles["position"], water.system)
    write_surface(folder / "surface.vtp", surface)
    found = reader.read(folder / "surface.vtp")
    same(found.points, surface.corners.astype(found.points.dtype))
    same(found.faces.reshape(-1, 4)[:, 1:], surface.triangles)


def openpmd_viewer(reader, folder: Path) -> None:
    """Series of fields and particles, by each of its two readers of HDF5."""
    draw = np.random.default_rng(3)
    place, momentum = draw.normal((3e-3, 8e-3, 8e-3), 3e-4, (40, 3)), draw.normal((0.5, 0, 0), 0.1, (40, 3))
    mesh = Mesh((6, 8, 10), (1e-3, 2e-3, 1.5e-3))
    system = System(mesh, 5e-13, Electrons(place, momentum, np.full(40, 1e4)), self_field=True)
    beam, expected = Simulation(system, select("serial"), precision="double"), []
    for _ in range(2):
        openpmd.write(beam, folder / "beam_%T.h5")
        expected.append(beam.particles())
        beam.step(5)
    for backend in ("h5py", "openpmd-api"):
        series = reader.OpenPMDTimeSeries(str(folder), backend=backend)
        assert sorted(series.avail_fields) == ["B", "E", "J", "rho"]
        for step, wanted in zip((0, 5), expected, strict=True):
            columns = series.get_particle(["x", "y", "z", "ux", "uy", "uz", "w"], species="electrons", iteration=step)
            # in m, and over m c
            near(np.transpose(columns[:3]), wanted["position"], rtol=1e-12)
            near(np.transpose(columns[3:6]), wanted["momentum"], rtol=1e-9, atol=1e-12)
            same(columns[6], wanted["weight"])
            current, grid = series.get_field("J", coord="x", iteration=step)
            assert current.shape == (10, 8, 6)
            near((grid.dx, grid.dy, grid.dz), mesh.spacing)
            assert np.isfinite(current).all()
            assert bool(current.any()) == bool(step)


def main() -> None:
    """Try each reader that is there."""
    for check, module in (
        (ase, "ase.io"),
        (ovito, "ovito.io"),
        (pyvista, "pyvista"),
        (openpmd_viewer, "openpmd_viewer"),
    ):
        try:
            reader = importlib.import_module(module)
        except ImportError as error:
            print(f"{module}: not here ({error})")
            continue
        with tempfile.TemporaryDirectory() as folder:
            check(reader, Path(folder))
        print(f"{module}: {check.__doc__} All values are right.")


if __name__ == "__main__":
    main()
