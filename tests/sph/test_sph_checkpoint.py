"""Restarts: the same trajectory, with any search; and what is no checkpoint of the case."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken

from repro.checksummed_hdf5 import seal
from repro.errors import InputError
from repro.parallel import select
from repro.sph.checkpoint import KIND, restore, save
from repro.sph.simulation import Simulation
from repro.sph.system import Walls


@pytest.mark.parametrize("strategy", ["sorted cells", "cell table"])
def test_a_restart_continues_bit_for_bit_with_any_search(shaken_water, tmp_path, strategy):
    device = select("serial")
    whole, first = (Simulation(shaken_water, device) for _ in range(2))
    whole.step(80)
    first.step(40)
    save(first, tmp_path / "run.h5")
    second = Simulation(shaken_water, device, strategy=strategy)
    restore(second, tmp_path / "run.h5")
    assert second.steps == 40
    with pytest.raises(InputError, match="step 40 has no lists of neighbours: take a step first"):
        second.summed_condensation()
    second.step(40)
    for name, values in whole.particles().items():
        np.testing.assert_array_equal(second.particles()[name], values)
    np.testing.assert_array_equal(second.summed_condensation(), whole.summed_condensation())


class Unstarted(PlainDevice):
    """Launches nothing: a checkpoint of the beginning needs no forces."""

    def compile(self, kernel):
        return lambda shape, *arguments: lambda: None


@pytest.fixture
def saved(shaken_water, tmp_path):
    save(Simulation(shaken_water, Unstarted(), boundary="none"), tmp_path / "run.h5")
    return tmp_path / "run.h5"


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"fluid": replace(shaken().fluid, viscosity=0.2)}, {}, "its viscosity is 0.07, not 0.2"),
        ({"tank": (0.14, 0.1, 0.14)}, {}, "its tank x is 0.12, not 0.14"),
        ({"time_step": 1e-6}, {}, "its time step is"),
        ({"walls": Walls(layers=2)}, {}, "its layers is 0, not 2"),
        ({"walls": Walls(lid=False)}, {}, "its lid is True, not False"),
        ({"walls": Walls(still=True)}, {}, "its still is False, not True"),
        ({"obstacles": np.array([[0.11, 0.09, 0.01]])}, {}, "its obstacles is"),
        ({}, {"density": "summation"}, "its density is continuity, not summation"),
        ({}, {"boundary": "clamped"}, "its boundary is none, not clamped"),
        ({}, {"precision": "double"}, "its precision is single, not double"),
    ],
)
def test_a_checkpoint_of_another_case_is_refused(shaken_water, saved, changes, options, words):
    other = Simulation(replace(shaken_water, **changes), Unstarted(), **{"boundary": "none"} | options)
    with pytest.raises(InputError, match=words):
        restore(other, saved)


@pytest.mark.parametrize(
    "damage", [lambda v: v[:-1], lambda v: v[None], lambda v: np.append(v[:-1], np.float32(np.nan))]
)
def test_a_damaged_array_is_named(shaken_water, saved, damage):
    with h5py.File(saved, "a") as file:
        values = file["v"][:]
        del file["v"]
        file["v"] = damage(values)
    seal(saved, KIND)
    with pytest.raises(InputError, match="v (has the shape|is damaged)"):
        restore(Simulation(shaken_water, Unstarted(), boundary="none"), saved)


@pytest.mark.parametrize("steps", ["x", -1, 1.5, np.nan])
def test_a_number_of_steps_that_is_none_is_refused(shaken_water, saved, steps):
    with h5py.File(saved, "a") as file:
        file.attrs["steps"] = steps
    seal(saved, KIND)
    with pytest.raises(InputError, match="run.h5: steps = .*: must be a whole number from 0"):
        restore(Simulation(shaken_water, Unstarted(), boundary="none"), saved)


def test_a_simulation_that_has_run_takes_no_checkpoint(shaken_water, saved):
    started = Simulation(shaken_water, Unstarted(), boundary="none")
    started.start()
    with pytest.raises(InputError, match="set a checkpoint before the first step"):
        restore(started, saved)


def test_what_is_no_whole_checkpoint_is_refused(shaken_water, saved, tmp_path):
    fresh = Simulation(shaken_water, Unstarted(), boundary="none")
    with pytest.raises(InputError, match="no such file"):
        restore(fresh, tmp_path / "nothing.h5")
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(InputError, match="not a checkpoint of SPH particles"):
        restore(fresh, tmp_path / "text.h5")
    with h5py.File(saved, "a") as file:
        del file["a"]
    with pytest.raises(InputError, match="it is damaged: its SHA-256"):
        restore(fresh, saved)
    seal(saved, KIND)
    with pytest.raises(InputError, match="not a whole checkpoint"):
        restore(fresh, saved)
    with h5py.File(saved, "a") as file:
        del file.attrs["mass"]
    seal(saved, KIND)
    with pytest.raises(InputError, match="without mass"):
        restore(fresh, saved)
