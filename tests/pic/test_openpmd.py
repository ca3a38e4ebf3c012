"""Files for other programs: they have what openPMD 1.1.0 requires, and in SI units Maxwell's equations hold in them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import h5py
import numpy as np
import pytest
from helpers.pic_systems import crowd
from helpers.plain import PlainDevice

from repro import __version__
from repro.errors import InputError
from repro.pic.constants import CHARGE, LIGHT, MASS, PERMEABILITY, PERMITTIVITY
from repro.pic.disk import checkpoint
from repro.pic.disk.openpmd import write
from repro.pic.simulation import Simulation
from repro.pic.system import System

#: SI dimensions: length, mass, time, current
DIMENSIONS = {
    "E": (1, 1, -3, -1),
    "B": (0, 1, -2, -1),
    "J": (-2, 0, 0, 1),
    "rho": (-3, 0, 1, 1),
    "position": (1, 0, 0, 0),
    "positionOffset": (1, 0, 0, 0),
    "momentum": (1, 1, -1, 0),
    "charge": (0, 0, 1, 1),
    "mass": (0, 1, 0, 0),
    "weighting": (0, 0, 0, 0),
    "id": (0, 0, 0, 0),
}

#: weightingPower and macroWeighted of ED-PIC
WEIGHTS = {"position": (0, 0), "positionOffset": (0, 0), "id": (0, 0), "weighting": (1, 1)}

MESHES = ("E", "B", "J", "rho")


def system(boundaries=("periodic",) * 3) -> System:
    return crowd(shape=(4, 5, 3), boundaries=boundaries)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of three steps in double precision with births, and the iterations of all of them, as files of a series."""
    folder, simulation, files = (
        tmp_path_factory.mktemp("run"),
        Simulation(system(), PlainDevice(), precision="double"),
        [],
    )
    for _ in range(4):
        files.append(write(simulation, folder / "crowd_%T.h5"))
        simulation.step(1 if len(files) < 4 else 0)
    assert [file.name for file in files] == [f"crowd_{step}.h5" for step in range(4)]
    return simulation, files


def components(record) -> dict:
    """A record's components by name; a scalar record is its own."""
    is_scalar = isinstance(record, h5py.Dataset) or "value" in record.attrs
    return {"": record} if is_scalar else dict(record.items())


def require_text(item, **texts):
    """Attributes that are ASCII of a fixed length, as the standard wants texts."""
    for name, text in texts.items():
        assert isinstance(item.attrs[name], np.bytes_), name
        assert item.attrs[name] == text.encode(), name


def test_the_root_and_the_iteration_have_what_the_standard_requires(run):
    simulation, files = run
    with h5py.File(files[2]) as file:
        require_text(file, openPMD="1.1.0", basePath="/data/%T/", meshesPath="meshes/", particlesPath="particles/")
        require_text(file, iterationEncoding="fileBased", iterationFormat="crowd_%T.h5")
        assert file.attrs["openPMDextension"] == 1
        assert file.attrs["openPMDextension"].dtype == np.uint32
        require_text(file, software="gpu-papers-repro", softwareVersion=__version__)
        # as the standard writes dates
        date = datetime.strptime(file.attrs["date"].decode(), "%Y-%m-%d %H:%M:%S %z")
        assert timedelta() <= datetime.now(UTC) - date < timedelta(days=1)
        assert list(file["data"]) == ["2"]
        found = file["data/2"].attrs
        assert (found["time"], found["dt"]) == (2 * simulation.system.dt, simulation.system.dt)
        assert found["timeUnitSI"] == 1.0


def test_a_file_that_is_no_series_says_so(run, tmp_path):
    path = write(run[0], tmp_path / "last.h5")
    assert path == tmp_path / "last.h5"
    with h5py.File(path) as file:
        require_text(file, iterationEncoding="groupBased", iterationFormat="/data/%T/")
        assert list(file["data"]) == ["3"]
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="électrons_%T.h5: openPMD files name themselves, in ASCII"):
        write(run[0], tmp_path / "électrons_%T.h5")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("last.txt", "last.txt: openPMD files in HDF5 have names that end in .h5"),
        ("last%06T.h5", "last%06T.h5: % stands in the name of an openPMD file only in %T"),
        ("%T/b.h5", "%T/b.h5: %T stands for the number of steps in a file's name, not a folder's"),
        ("folder.h5", "folder.h5: cannot be written: it is a folder, and no file"),
        ("file/last.h5", "last.h5: cannot be written: "),
        (f"{300 * 'a'}.h5", "cannot be written: File name too long"),
        ("a\0.h5", "path = .*: must be the name of a file"),
    ],
)
def test_a_file_that_cannot_be_is_refused_and_leaves_nothing_behind(run, tmp_path, name, line):
    (tmp_path / "folder.h5").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=line) as refusal:
        write(run[0], f"{tmp_path}/{name}")
    assert "\n" not in str(refusal.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder.h5"]


@pytest.mark.parametrize("path", [None, 7, "", "/"])
def test_a_path_is_the_name_of_a_file(run, path):
    with pytest.raises(InputError, match=f"path = {path!r}: must be the name of a file"):
        write(run[0], path)


def test_only_a_simulation_is_written(run, tmp_path):
    with pytest.raises(InputError, match="simulation = System.*: must be of the kind Simulation"):
        write(run[0].system, tmp_path / "last.h5")


def test_every_record_has_its_dimension_and_its_units(run):
    with h5py.File(run[1][3]) as file:
        meshes, electrons = file["data/3/meshes"], file["data/3/particles/electrons"]
        assert {*meshes, *electrons} == set(DIMENSIONS)
        for name, dimension in DIMENSIONS.items():
            record = meshes[name] if name in MESHES else electrons[name]
            np.testing.assert_array_equal(record.attrs["unitDimension"], (*dimension, 0, 0, 0))
            assert record.attrs["unitDimension"].dtype == np.float64
            late = -0.5 if name in ("B", "J") else 0.0
            assert record.attrs["timeOffset"] == late * run[0].system.dt
            for component in components(record).values():
                assert isinstance(component.attrs["unitSI"], np.float64)


def test_meshes_say_where_their_numbers_stand(run):
    positions = {"E": 0.5 * np.eye(3), "J": 0.5 * np.eye(3), "B": 0.5 - 0.5 * np.eye(3), "rho": np.zeros((1, 3))}
    with h5py.File(run[1][3]) as file:
        for name, expected in positions.items():
            record = file["data/3/meshes"][name]
            require_text(record, geometry="cartesian", dataOrder="C", fieldSmoothing="none")
            assert list(record.attrs["axisLabels"]) == [b"z", b"y", b"x"]
            np.testing.assert_array_equal(record.attrs["gridSpacing"], run[0].system.mesh.spacing[::-1])
            np.testing.assert_array_equal(record.attrs["gridGlobalOffset"], 0.0)
            assert record.attrs["gridUnitSI"] == 1.0
            for component, place in zip(components(record).values(), expected, strict=True):
                # the axes as they are labelled
                np.testing.assert_array_equal(component.attrs["position"], place[::-1])
                assert component.shape == (3, 5, 4)


def test_the_extension_for_particles_in_cells_is_followed(run):
    with h5py.File(run[1][3]) as file:
        meshes, electrons = file["data/3/meshes"], file["data/3/particles/electrons"]
        require_text(meshes, fieldSolver="Yee", currentSmoothing="none", chargeCorrection="none")
        texts = {"currentDeposition": "VillaBune", "particlePush": "other", "particleSmoothing": "none"}
        require_text(electrons, particleInterpolation="energyConserving", **texts)
        assert electrons.attrs["particleShape"] == 1.0
        for name, record in electrons.items():
            power, of_all = WEIGHTS.get(name, (1, 0))
            assert (record.attrs["weightingPower"], record.attrs["macroWeighted"]) == (power, of_all)
            assert record.attrs["macroWeighted"].dtype == np.uint32


def test_boundaries_have_the_names_of_the_standard(tmp_path):
    simulation = Simulation(system(("periodic", "conducting", "absorbing")), PlainDevice())
    with h5py.File(write(simulation, tmp_path / "start.h5")) as file:
        meshes = file["data/0/meshes"]
        # two ends of z, then of y, then of x
        assert list(meshes.attrs["fieldBoundary"]) == [b"open"] * 2 + [b"reflecting"] * 2 + [b"periodic"] * 2
        assert list(meshes.attrs["particleBoundary"]) == [b"absorbing"] * 4 + [b"periodic"] * 2
        assert list(meshes.attrs["fieldBoundaryParameters"])[1:3] == [b"CPML of 1 cells", b"perfect conductor"]
        # nodes on walls are there, at both ends
        assert meshes["E/x"].shape == meshes["rho"].shape == (4, 6, 4)
        # no step has been taken; a reader takes the first file's meshes for those of the series
        assert not any(values[:].any() for values in meshes["J"].values())


def test_particles_are_where_the_simulation_has_them(run):
    simulation, files = run
    expected = simulation.particles()
    with h5py.File(files[3]) as file:
        electrons = file["data/3/particles/electrons"]
        for axis, name in enumerate("xyz"):
            place, cell, momentum = (electrons[record][name] for record in ("position", "positionOffset", "momentum"))
            # openPMD-viewer gives whole numbers no unit
            assert cell.dtype == np.float64
            assert ((place[:] >= 0) & (place[:] <= 1)).all()
            found = place[:] * place.attrs["unitSI"] + cell[:] * cell.attrs["unitSI"]
            np.testing.assert_allclose(found, expected["position"][:, axis], rtol=1e-14)
            found = momentum[:] * momentum.attrs["unitSI"]
            np.testing.assert_allclose(found, expected["momentum"][:, axis] * MASS * LIGHT, rtol=1e-14)
        np.testing.assert_array_equal(electrons["weighting"], expected["weight"])
        np.testing.assert_array_equal(electrons["id"], expected["ids"])
        assert electrons["id"].dtype == np.uint64
        for name, value in (("charge", -CHARGE), ("mass", MASS)):
            assert electrons[name].attrs["value"] * electrons[name].attrs["unitSI"] == value
            np.testing.assert_array_equal(electrons[name].attrs["shape"], [len(expected["ids"])])


def in_si(path, name: str) -> np.ndarray:
    """The components of a mesh in SI units, (component, x, y, z)."""
    with h5py.File(path) as file:
        (step,) = file["data"]
        parts = components(file[f"data/{step}/meshes/{name}"]).values()
        return np.array([part[:].T * part.attrs["unitSI"] for part in parts])


def beyond(values, axis: int, way: int) -> np.ndarray:
    """The difference to the next node of a periodic axis (way 1), or from the last one (-1), over the spacing."""
    return way * (np.roll(values, -way, axis) - values) / system().mesh.spacing[axis]


def curl(field, way: int) -> np.ndarray:
    return np.array([beyond(field[b], a, way) - beyond(field[a], b, way) for a, b in ((1, 2), (2, 0), (0, 1))])


def divergence(field) -> np.ndarray:
    return sum(beyond(values, axis, -1) for axis, values in enumerate(field))


def require_balance(left, right):
    """Two sides of an equation agree to the rounding of its terms."""
    np.testing.assert_allclose(left, right, rtol=0, atol=1e-11 * np.abs(left).max())
    assert np.abs(right).max() > 0


def test_maxwell_s_equations_and_the_conservation_of_charge_hold_in_si_units(run):
    (before, after), dt = run[1][2:], run[0].system.dt
    e, b, rho = ([in_si(path, name) for path in (before, after)] for name in ("E", "B", "rho"))
    current = in_si(after, "J")
    # B is half a step before E, and J in the midst of the step
    require_balance((b[1] - b[0]) / dt, -curl(e[0], 1))
    require_balance(PERMITTIVITY * (e[1] - e[0]) / dt + current, curl(b[1], -1) / PERMEABILITY)
    require_balance((rho[1] - rho[0])[0] / dt, -divergence(current))
    # ions and electrons began at the same places
    require_balance(PERMITTIVITY * divergence(e[1]), rho[1][0])


def test_a_box_without_anybody_can_be_written(tmp_path):
    empty = system()
    empty = replace(
        empty, electrons=replace(empty.electrons, position=np.zeros((0, 3)), momentum=np.zeros((0, 3)), weight=[])
    )
    simulation = Simulation(replace(empty, source=replace(empty.source, start=0)), PlainDevice())
    with h5py.File(write(simulation, tmp_path / "empty.h5")) as file:
        electrons = file["data/0/particles/electrons"]
        assert electrons["position/x"].shape == (0,)
        assert not in_si(tmp_path / "empty.h5", "rho").any()


def test_electrons_without_a_field_of_their_own_have_no_current_mesh(tmp_path):
    simulation = Simulation(replace(system(), self_field=False), PlainDevice())
    simulation.step(1)
    with h5py.File(write(simulation, tmp_path / "T.h5")) as file:
        assert set(file["data/1/meshes"]) == {"E", "B", "rho"}
        require_text(file, iterationEncoding="groupBased")


def test_the_current_before_a_checkpoint_is_not_known(run, tmp_path):
    checkpoint.save(run[0], tmp_path / "run.h5")
    again = checkpoint.load(tmp_path / "run.h5", PlainDevice())
    assert np.isnan(in_si(write(again, tmp_path / "taken_up.h5"), "J")).all()
    again.step(1)
    assert np.isfinite(in_si(write(again, tmp_path / "after.h5"), "J")).all()
