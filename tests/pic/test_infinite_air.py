"""Electrons followed through air lose ESTAR's energy, collide at the mean free path and stop after ESTAR's range."""

import numpy as np
import pytest
from helpers.estar import table
from helpers.plain import PlainDevice

from repro.errors import InputError, MemoryLimitError
from repro.parallel import select
from repro.pic.air import elastic, infinite_air
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.infinite_air import fly
from repro.pic.air.processes import PROCESSES
from repro.pic.constants import REST_ENERGY


class Small(PlainDevice):
    """With hardly any memory."""

    @staticmethod
    def free_memory():
        return 1 << 10


AIR, ESTAR = Collisions(), table()


def listed(column, energy):
    """A column of ESTAR's table at an energy in eV that it lists, in eV and m."""
    (row,) = np.flatnonzero(np.isclose(ESTAR["kinetic_energy_MeV"], energy / 1e6, atol=0))
    unit = 10 / AIR.air.density if column == "csda_range_g_cm2" else 1e5 * AIR.air.density
    return ESTAR[column][row] * unit


@pytest.mark.parametrize(("energy", "count"), [(1e4, 8000), (1e5, 20000), (1e6, 30000), (1e7, 30000)])
def test_tracks_lose_the_stopping_power_of_the_table(threads, energy, count):
    length = 0.02 * energy / listed("total_MeV_cm2_g", energy)
    found = fly(AIR, np.full(count, energy), threads, length=length)
    assert found["path"] == pytest.approx(length, rel=1e-6) or energy > 1e5
    lost = (energy - found["energy"]).sum() / found["path"].sum()
    assert lost == pytest.approx(listed("total_MeV_cm2_g", energy), rel=0.03)


@pytest.mark.parametrize(("energy", "count"), [(1e5, 1000), (1e6, 1000)])
def test_range_is_that_of_the_table(threads, energy, count):
    found = fly(AIR, np.full(count, energy), threads)
    assert found["path"].mean() == pytest.approx(listed("csda_range_g_cm2", energy), rel=0.05)
    assert (found["energy"] < AIR.stop).all()
    # paths are crooked, and fluctuate
    assert (np.linalg.norm(found["place"], axis=1) < found["path"]).all()
    # forwards in the mean, and to either side alike, along y whatever it is along z
    x, y, z = found["place"].T
    assert x.mean() > 10 * x.std() / np.sqrt(count)
    for across in (y, z):
        assert abs(across.mean()) < 5 * across.std() / np.sqrt(count)
    assert y.std() == pytest.approx(z.std(), rel=5 / np.sqrt(count))
    assert abs(np.corrcoef(y, z)[0, 1]) < 5 / np.sqrt(count)


@pytest.mark.parametrize("energy", [1e4, 1e6])
def test_mean_free_path_is_that_of_the_cross_section(threads, energy):
    tau, count = energy / REST_ENERGY, 20000
    path = 1 / elastic.cross_section(tau, AIR.air)
    found = fly(AIR, np.full(count, energy), threads, length=2 * path)
    # collisions in a given length are a Poisson process; the energy falls by up to 2 % on it
    number = found["collisions"][:, 0]
    assert abs(number.mean() - 2) < 5 * np.sqrt(2 / count) + 0.02
    assert abs(np.mean(number == 0) - np.exp(-2)) < 5 * np.sqrt(np.exp(-2) / count) + 0.01


def test_an_electron_has_no_more_candidates_than_have_numbers(monkeypatch):
    def most(number) -> str:
        monkeypatch.setattr(infinite_air, "MOST_EVENTS", number)
        try:
            fly(AIR, np.full(3, 2e3), PlainDevice())
        except InputError as refusal:
            return str(refusal)
        return ""

    line = most(1)
    count = int(line.split()[3])
    assert line == f"an electron had {count} candidates, at most 1: raise the cut"
    assert count > 2
    assert not most(count)
    assert f"{count} candidates, at most {count - 1}" in most(count - 1)


def test_histories_are_the_same_on_one_core_and_on_all():
    energies = np.geomspace(2e3, 3e4, 20)
    serial, threads = (fly(AIR, energies, select(name)) for name in ("serial", "threads"))
    for name, values in serial.items():
        assert (values == threads[name]).all(), name
    # the first seed, the last one, and one between them
    for seed in (0, 2, 2**31 - 1):
        other = fly(AIR, energies, select("threads"), seed=seed)
        assert (other["path"] != serial["path"]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"energies": [1e3, 1e8]}, r"electrons of 1000 to 1e\+08 eV: collisions are known from 1000 to 2e\+07 eV"),
        ({"energies": []}, "energies: none given"),
        ({"energies": 1e4}, r"energies = 10000\.0: must be finite numbers of the shape \(count,\), in eV"),
        ({"energies": ["10 keV"]}, "energies = .*: must be finite numbers"),
        ({"length": 0}, "length = 0: must be a number of at least 1e-30, in m"),
        ({"length": "1 m"}, "length = '1 m': must be a number of at least 1e-30, in m"),
        ({"device": "auto"}, r"device = 'auto': must be a device of repro.parallel, such as select\('auto'\)"),
        ({"collisions": None}, "collisions = None: must be of the kind Collisions"),
        ({"seed": -1}, "seed = -1: must be a whole number from 0 to 2147483647$"),
        ({"precision": "half"}, "precision = 'half': must be one of single, double"),
    ],
)
def test_wrong_input_is_refused(threads, options, message):
    with pytest.raises(InputError, match=message):
        fly(**{"collisions": AIR, "energies": [1e4], "device": threads} | options)


def test_electrons_that_do_not_fit_into_memory_are_refused():
    # ten numbers and, of whole ones, the events of each process and two more
    needed = 50 * 4 * (10 + len(PROCESSES) + 2) / 1024
    with pytest.raises(MemoryLimitError, match=f"50 electrons needs {needed:.4g} KiB, but cuda has 1 KiB free"):
        fly(AIR, np.full(50, 1e4), Small())
