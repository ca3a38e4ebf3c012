"""Restarts: the same trajectory, with any search; and what is no checkpoint of the case."""

from dataclasses import replace
from functools import partial

import h5py
import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken

from repro.checksummed_hdf5 import seal
from repro.errors import DivergenceError, InputError
from repro.parallel import select
from repro.sph.air import AirSampling
from repro.sph.checkpoint import KIND, restore, save
from repro.sph.kernels import KERNELS
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


#: twelve particles beside an obstacle, in walls of one layer
ALL = replace(
    shaken(3, tank=(3, 3, 5), water=(2, 2, 3)), obstacles=np.array([[0.051, 0.012, 0.01]]), walls=Walls(layers=1)
)
WITH_XSPH = replace(ALL, fluid=replace(ALL.fluid, xsph=0.05))


@pytest.mark.parametrize(
    ("system", "options"),
    [
        (ALL, {"density": "continuity"}),
        (ALL, {"density": "rate"}),
        (WITH_XSPH, {"density": "summation", "sampling": AirSampling(every=2)}),
        (WITH_XSPH, {"density": "summation", "boundary": "clamped", "precision": "double"}),
    ],
    ids=["continuity", "rate", "summation", "clamped"],
)
def test_a_restart_with_another_search_goes_on_as_the_run_did_also_from_its_very_beginning(tmp_path, system, options):
    make = partial(Simulation, system, PlainDevice(), **options)
    whole = make(strategy="sorted cells")
    for before, more in ((0, 2), (2, 1)):
        save(whole, tmp_path / "run.h5")
        saved = whole.particles()
        whole.step(more)
        again = make(strategy="linked list")
        restore(again, tmp_path / "run.h5")
        assert again.steps == before
        for name, values in again.particles().items():
            np.testing.assert_array_equal(values, saved[name], err_msg=name)
        again.step(more)
        for name, values in again.particles().items():
            np.testing.assert_array_equal(values, whole.particles()[name], err_msg=name)
        np.testing.assert_array_equal(again.air_samples, whole.air_samples)


def test_samples_that_are_carried_along_have_no_checkpoint(tmp_path):
    """They depend on those before; and those that do not act are in nobody's way."""
    carried = AirSampling(carried=True)
    simulation = Simulation(ALL, Unstarted(), density="summation", sampling=carried)
    with pytest.raises(InputError, match="step 0: ghosts in the air are sown anew each 1 steps.* not if they are carr"):
        save(simulation, tmp_path / "run.h5")
    for still in ({"density": "continuity"}, {"density": "summation", "boundary": "none"}):
        save(Simulation(ALL, Unstarted(), sampling=carried, **still), tmp_path / "run.h5")


def test_what_stops_a_run_after_a_restart_came_between_the_checkpoint_and_then(shaken_water, tmp_path):
    first, second = (Simulation(shaken_water, Unstarted(), boundary="none") for _ in range(2))
    first.step(30)
    save(first, tmp_path / "run.h5")
    restore(second, tmp_path / "run.h5")
    second.step(10)
    second.step(7)
    second._excursion[5] = 0.5
    with pytest.raises(DivergenceError, match="particle 5 was through a wall between steps 47 and 50"):
        second.step(3)
    again = Simulation(shaken_water, Unstarted(), boundary="none")
    restore(again, tmp_path / "run.h5")
    again._excursion[5] = 0.5
    with pytest.raises(DivergenceError, match="particle 5 was through a wall between steps 30 and 33"):
        again.step(3)


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
    ("changes", "words"),
    [
        ({"name": "pond"}, "its name is tank, not pond"),
        ({"position": shaken().position[1:], "velocity": shaken().velocity[1:]}, "its particles is 125, not 124"),
        ({"fluid": replace(shaken().fluid, density=881.0)}, "its mass is"),
        ({"tank": (0.12, 0.12, 0.14)}, "its tank y is 0.1, not 0.12"),
        ({"tank": (0.12, 0.1, 0.16)}, "its tank z is 0.14, not 0.16"),
        ({"fluid": replace(shaken().fluid, stiffness=1.31e6)}, "its stiffness is 1300000.0, not 1310000.0"),
    ],
)
def test_a_checkpoint_knows_all_of_its_case(shaken_water, saved, changes, words):
    other = Simulation(replace(shaken_water, **changes), Unstarted(), boundary="none")
    with pytest.raises(InputError, match=words):
        restore(other, saved)


def test_a_checkpoint_knows_its_kernel_though_another_one_s_particles_have_the_same_mass(
    shaken_water, saved, monkeypatch
):
    monkeypatch.setitem(KERNELS, "twin", KERNELS["wendland c2"])
    twin = replace(shaken_water, resolution=replace(shaken_water.resolution, kernel="twin"))
    with pytest.raises(InputError, match="its kernel is wendland c2, not twin"):
        restore(Simulation(twin, Unstarted(), boundary="none"), saved)


@pytest.mark.parametrize(
    ("name", "other"), [("radius", 0.9), ("attempts", 11), ("rounds", 6), ("every", 2), ("carried", True)]
)
def test_a_checkpoint_knows_how_the_air_was_sampled_where_it_acts(tmp_path, name, other):
    make = partial(Simulation, ALL, Unstarted(), density="summation")
    save(make(), tmp_path / "run.h5")
    with pytest.raises(InputError, match=f"its air's {name} is .*, not {other}"):
        restore(make(sampling=AirSampling(**{name: other})), tmp_path / "run.h5")


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


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("r", 7, -1, "particle 7 was through a wall at step 0, .* m outside the tank"),
        ("r", -1, 0, "particle 124 was through a wall at step 0, .* m outside the tank"),
        ("v", 3, -1e6, "the time step .* is beyond the .* limit, .* particles reach 1e.06 m/s"),
        ("a", 3, 1e20, "the time step .* is beyond the .* limit, .* particles reach"),
        ("s", 3, 1e20, "the time step .* is beyond the .* limit, .* of compression"),
        ("s", 3, -1.0, "s is damaged: 1 particles have no density above zero"),
    ],
)
def test_a_state_that_no_run_comes_to_is_refused_and_leaves_the_simulation_fresh(
    shaken_water, saved, name, place, value, words
):
    with h5py.File(saved, "a") as file:
        file[name][place] = value
    seal(saved, KIND)
    fresh = Simulation(shaken_water, Unstarted(), boundary="none")
    before = fresh.particles()
    with pytest.raises(InputError, match=f"run.h5: .*{words}"):
        restore(fresh, saved)
    fresh._require_untouched("a checkpoint")
    for what, values in fresh.particles().items():
        np.testing.assert_array_equal(values, before[what])


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
    with pytest.raises(InputError, match="no such checkpoint file"):
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


def test_a_number_of_a_case_that_is_several_is_another(shaken_water, saved):
    with h5py.File(saved, "a") as file:
        file.attrs["mass"] = [1.0, 2.0]
    seal(saved, KIND)
    with pytest.raises(InputError, match=r"a checkpoint of another case: its mass is \[1. 2.\], not "):
        restore(Simulation(shaken_water, Unstarted(), boundary="none"), saved)


def test_only_a_simulation_goes_on(tmp_path):
    with pytest.raises(InputError, match="^simulation = 'a.h5': must be of the kind Simulation$"):
        restore("a.h5", tmp_path / "a.h5")
    with pytest.raises(InputError, match="^simulation = None: must be of the kind Simulation$"):
        save(None, tmp_path / "a.h5")
