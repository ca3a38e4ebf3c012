"""A run goes on from its checkpoint as if it had never stopped, and a damaged file is refused."""

import base64
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.checkpoint import load, save, write_vtk
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
    with pytest.raises(InputError, match=f"not a whole checkpoint .*array '{name}' is not what was saved"):
        load(tmp_path / "run.h5", PlainDevice())


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "none.h5", PlainDevice())
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(InputError, match="not a whole checkpoint"):
        load(tmp_path / "text.h5", PlainDevice())
    save(started(), tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "a") as file:
        file.attrs["version"] = 7
    with pytest.raises(InputError, match="version 7"):
        load(tmp_path / "run.h5", PlainDevice())


def test_an_image_has_every_field_in_the_order_that_vtk_reads(tmp_path):
    flow = started()
    write_vtk(flow, tmp_path / "run.vti")
    tree = ElementTree.parse(tmp_path / "run.vti").getroot()
    assert tree.find("ImageData").get("WholeExtent") == "0 4 0 3 0 2"
    a, b, velocity = flow.fields()
    expected = {"density a": a, "density b": b, "velocity": np.moveaxis(velocity, 0, -1), "solid": ROCK.solid}
    arrays = tree.findall(".//DataArray")
    assert [array.get("Name") for array in arrays] == list(expected)
    for array in arrays:
        content = base64.b64decode(array.text)
        kind = {"UInt8": "<u1", "Float32": "<f4"}[array.get("type")]
        values = np.frombuffer(content[8:], kind)
        assert int.from_bytes(content[:8], "little") == values.nbytes
        # x varies fastest, the components of a vector stand together
        wanted = expected[array.get("Name")]
        np.testing.assert_array_equal(values, wanted.astype(kind).ravel())
        assert int(array.get("NumberOfComponents")) == (3 if wanted.ndim == 4 else 1)
