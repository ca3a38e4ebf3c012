"""A run goes on from its checkpoint as if it had never stopped, and a damaged file is refused."""

import base64
from dataclasses import fields
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.checksummed_hdf5 import seal
from repro.errors import InputError
from repro.lbm.boundaries import Boundaries
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.checkpoint import KIND, load, save, write_vtk
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.strategies import STRATEGIES

CHANCE = np.random.default_rng(3)
SHAPE = (3, 4, 5)
ROCK = PoreSpace(CHANCE.random(SHAPE) < 0.3)
DENSITIES = CHANCE.uniform(0.2, 1.0, (2, *SHAPE))
PROBLEM = TwoFluids(ROCK, 0.12, (0.02, -0.01), (0.8, 1.2), ((1e-4, 0.0, 0.0), (0.0, 2e-4, 0.0)), "mrt", "central")


def started(strategy="dense", precision="single", steps=3) -> TwoFluidFlow:
    flow = TwoFluidFlow(PROBLEM, PlainDevice(), strategy=strategy, precision=precision)
    flow.set_densities(*DENSITIES)
    flow.step(steps)
    return flow


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("steps", [0, 3, 4])
def test_a_run_goes_on_bit_for_bit(tmp_path, strategy, precision, steps):
    flow = started(strategy, precision, steps)
    save(flow, tmp_path / "run.h5")
    again = load(tmp_path / "run.h5", PlainDevice())
    assert (again.steps, again.strategy, again.precision) == (steps, strategy, precision)
    for run in (flow, again):
        run.step(3)
    for found, expected in zip(again.state, flow.state, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["solid", "a", "b"])
def test_a_changed_array_is_refused(tmp_path, name):
    save(started(), tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "a") as file:
        values = file[name][:]
        values.flat[7] = not values.flat[7]
        file[name][:] = values
    with pytest.raises(InputError, match=r"run.h5: it is damaged: its SHA-256"):
        load(tmp_path / "run.h5", PlainDevice())


def _nan(file):
    file["a"][3] = np.nan


def _in_solid(file):
    populations = file["a"][:].reshape(19, -1)
    populations[4, file["solid"][:].ravel().argmax()] = 0.1
    file["a"][:] = populations.ravel()


def _fast(file):
    """All of both fluids at one node goes one way, and there is more of them."""
    populations, node = file["a"][:].reshape(19, -1), file["solid"][:].ravel().argmin()
    populations[1, node] = 20.0
    file["a"][:] = populations.ravel()


def _nothing(file):
    del file["b"]
    file["b"] = h5py.Empty("f4")


def _empty(file):
    file["b"][:] = -1.0


def _of_bytes(file):
    solid = file.pop("solid")[:]
    file["solid"] = solid.astype(np.uint8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_nan, "a is damaged: 1 numbers are not finite"),
        (_in_solid, "a is damaged: it has populations where there is no fluid"),
        (_fast, "velocity: up to .* in the pores: it must be below that of sound, 0.577"),
        (lambda file: file.attrs.update(lattice="zz"), "lattice = .*'zz'.*: must be one of .*D3Q19"),
        (lambda file: file.attrs.update(version=[3, 3]), r"a checkpoint of version \[3 3\], and this program reads 3"),
        (_nothing, "b has the shape None, not "),
        (_empty, "no run goes on from such a state: the fluids diverged by step 3 .a density of -"),
        (lambda file: file.attrs.update(steps="x"), "steps = 'x': must be a whole number"),
        (lambda file: file.attrs.update(precision="double"), "a is float32, not float64"),
        (lambda file: file.attrs.update(interaction=np.inf), "interaction = inf: must be a number from 0"),
        (lambda file: file.attrs.update(strategy="warp"), "strategy = 'warp': must be one of"),
        (lambda file: file.pop("b"), "not a whole checkpoint: b is missing"),
        (_of_bytes, "solid is uint8, not bool"),
    ],
)
def test_what_no_run_comes_to_is_refused_even_where_it_is_sealed(tmp_path, change, words):
    path = tmp_path / "run.h5"
    save(started(), path)
    with h5py.File(path, "a") as file:
        change(file)
    seal(path, KIND)
    with pytest.raises(InputError, match=f"run.h5: {words}") as refused:
        load(path, PlainDevice())
    assert "\n" not in str(refused.value)


def test_nothing_that_a_file_lacks_is_made_up(tmp_path):
    save(started(), tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    with h5py.File(tmp_path / "run.h5") as file:
        names = list(file.attrs)
    assert {"lattice", "faces", "solid_density", "magic", "strategy"} <= set(names)
    for name in names:
        (tmp_path / "part.h5").write_bytes(whole)
        with h5py.File(tmp_path / "part.h5", "a") as file:
            del file.attrs[name]
        seal(tmp_path / "part.h5", KIND)
        with pytest.raises(
            InputError, match="part.h5: (not a whole checkpoint|a checkpoint of version None)"
        ) as refused:
            load(tmp_path / "part.h5", PlainDevice())
        assert "\n" not in str(refused.value)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such checkpoint file"):
        load(tmp_path / "none.h5", PlainDevice())
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(InputError, match="not a checkpoint of two fluids"):
        load(tmp_path / "text.h5", PlainDevice())
    save(started(), tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "a") as file:
        file.attrs["version"] = 7
    seal(tmp_path / "run.h5", KIND)
    with pytest.raises(InputError, match="version 7"):
        load(tmp_path / "run.h5", PlainDevice())


@pytest.mark.parametrize("precision", ["single", "double"])
def test_an_image_has_every_field_in_its_precision_in_the_order_that_vtk_reads(tmp_path, precision):
    flow = started(precision=precision)
    real = "<f8" if precision == "double" else "<f4"
    write_vtk(flow, tmp_path / "run.vti")
    tree = ElementTree.parse(tmp_path / "run.vti").getroot()
    assert tree.find("ImageData").get("WholeExtent") == "0 4 0 3 0 2"
    a, b, velocity = flow.fields()
    expected = {"density a": a, "density b": b, "velocity": np.moveaxis(velocity, 0, -1), "solid": ROCK.solid}
    arrays = tree.findall(".//DataArray")
    assert [array.get("Name") for array in arrays] == list(expected)
    for array in arrays:
        content = base64.b64decode(array.text)
        kind = {"UInt8": "<u1", "Float32": "<f4", "Float64": "<f8"}[array.get("type")]
        assert kind == ("<u1" if array.get("Name") == "solid" else real)
        values = np.frombuffer(content[8:], kind)
        assert int.from_bytes(content[:8], "little") == values.nbytes
        # x varies fastest, the components of a vector stand together
        wanted = expected[array.get("Name")]
        np.testing.assert_array_equal(values, wanted.astype(kind).ravel())
        assert int(array.get("NumberOfComponents")) == (3 if wanted.ndim == 4 else 1)


def test_no_image_of_what_is_not_finite_is_written(tmp_path):
    flow = started()
    flow.state[0][:] = np.nan
    with pytest.raises(InputError, match="density a = .* not finite: must be 60 rows of finite numbers"):
        write_vtk(flow, tmp_path / "run.vti")
    assert not list(tmp_path.iterdir())


def test_everything_that_a_run_was_asked_for_goes_on_bit_for_bit(tmp_path):
    """No number is the usual one, and none is that of another."""
    pushes = ((1e-4, -2e-4, 3e-4), (4e-4, 5e-4, -6e-4))
    faces = Boundaries(("half-way", "half-way", "periodic", "periodic", "half-way", "half-way"))
    settings = {"solid_density": 1.3, "magic": 0.21, "boundaries": faces}
    problem = TwoFluids(ROCK, 0.11, (0.03, -0.04), (0.7, 1.4), pushes, "mrt", "isotropic-6", **settings)
    flow = TwoFluidFlow(problem, PlainDevice(), strategy="dense", precision="double", block=32)
    flow.set_densities(*DENSITIES)
    flow.step(5)
    save(flow, tmp_path / "run.h5")
    again = load(tmp_path / "run.h5", PlainDevice())
    names = [field.name for field in fields(problem) if field.name != "space"]
    assert len(names) == 10
    assert {name: getattr(again.problem, name) for name in names} == {name: getattr(problem, name) for name in names}
    np.testing.assert_array_equal(again.problem.solid, ROCK.solid)
    assert (again.steps, again.block, again.precision, again.strategy) == (5, 32, "double", "dense")
    for run in (flow, again):
        run.step(3)
    for found, expected in zip((*again.state, *again.fields()), (*flow.state, *flow.fields()), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("write", [save, write_vtk])
def test_only_a_flow_is_written(tmp_path, write):
    with pytest.raises(InputError, match="^flow = None: must be of the kind TwoFluidFlow$"):
        write(None, tmp_path / "a.h5")
    assert not list(tmp_path.iterdir())


def test_a_run_goes_on_on_a_device(tmp_path):
    with pytest.raises(InputError, match="^device = 'serial': must be a device of repro.parallel"):
        load(tmp_path / "none.h5", "serial")
