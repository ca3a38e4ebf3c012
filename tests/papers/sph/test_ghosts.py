"""What the notebook on ghosts measures, without compiled code: sums, who sees air, deficits, and equal runs."""

from dataclasses import replace
from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import sph_by_hand
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken

from repro.papers.sph import machines
from repro.papers.sph.ghosts import figures, measures, runs
from repro.papers.sph.ghosts.measures import NAMES
from repro.sph.cases import DamBreak, StillWater
from repro.sph.observables import density_deficit, wall_unevenness
from repro.sph.simulation import Simulation
from repro.sph.surface import reconstruct, roughness

CASE = DamBreak(column=(4, 3, 8))


def looked(system=None, summed=0.0, seed=None) -> measures.Look:
    """Water as it begins, with what equation 3 is said to give."""
    system = system or (CASE.system() if seed is None else runs.displaced(CASE.system(), seed))
    zero = np.zeros_like(system.position)
    particles = {"position": system.position, "velocity": zero, "acceleration": zero}
    particles |= {"condensation": zero[:, 0]}
    return measures.Look(system, particles, np.full(system.count, summed), 0.0, np.zeros((0, 3)))


def wendland(q: float) -> float:
    """Wendland's C2 kernel without its norm."""
    return max(1 - q / 2, 0) ** 4 * (2 * q + 1)


def test_amid_the_lattice_equation_3_gives_the_density_of_rest():
    system = StillWater(column=(7, 7, 7), air=0).system()
    middle = int(np.linalg.norm(system.position - np.array(system.tank) / 2, axis=1).argmin())
    assert measures.fluid_alone(system.position, system)[middle] == pytest.approx(0, abs=1e-6)


def test_at_a_plane_wall_half_of_all_beyond_the_own_plane_is_missing():
    system = StillWater(column=(7, 7, 7), air=0).system()
    place = np.rint(system.position / system.resolution.spacing - 0.5)
    face = int(np.flatnonzero((place == (3, 3, 0)).all(1))[0])
    reach = range(-3, 4)
    plane = sum(wendland(sqrt(i * i + j * j) / system.resolution.ratio) for i in reach for j in reach)
    lacks = (1 - plane / system.resolution.lattice_sum) / 2
    assert measures.fluid_alone(system.position, system)[face] == pytest.approx(-lacks, abs=1e-6)


def test_the_sum_on_the_host_is_that_of_the_solver_without_ghosts():
    system = shaken(water=(3, 3, 3), tank=(4, 4, 4))
    solved = Simulation(system, PlainDevice(), boundary="none").summed_condensation()
    # single precision, and a table of the kernel
    np.testing.assert_allclose(measures.fluid_alone(system.position, system), solved, atol=2e-6)


def test_the_two_layers_under_the_surface_see_air_and_walls_are_none():
    # the site above the last layer is in reach of two layers: its support is 2.6 spacings
    system = StillWater(column=(5, 5, 6), air=4).system()
    layer = np.floor(system.position[:, 2] / system.resolution.spacing)
    np.testing.assert_array_equal(measures.sees_air(system.position, system), layer >= 4)


def test_holes_between_the_lattices_particles_are_no_air():
    system = StillWater(column=(5, 5, 5), air=0).system()
    half = system.position - 0.5 * system.resolution.spacing
    assert not measures.sees_air(half, system).any()


def test_deficits_are_told_with_ghosts_and_without_and_apart_from_excess():
    found = measures.deficits(looked(summed=-0.1))
    assert found["counted"]["near walls"] == pytest.approx(0.1)
    assert found["excess"]["near walls"] == 0
    # the fluid alone lacks more than a tenth at walls, whatever a run says
    assert found["not counted"]["near walls"] > 0.1
    assert measures.deficits(looked(summed=0.1))["excess"]["near the surface"] == pytest.approx(0.1)


def test_particles_on_a_wall_are_counted_and_lost_only_half_a_spacing_beyond():
    look = looked()
    spacing = look.system.resolution.spacing
    moved = look.position.copy()
    moved[:3, 0] = 0.9e-3 * spacing, -0.4 * spacing, -0.6 * spacing
    moved[3, 0], moved[4, 1] = 1.1e-3 * spacing, -0.55 * spacing
    found = measures.shape(replace(look, particles=look.particles | {"position": moved}))
    assert (found["on walls"], found["lost"]) == (pytest.approx(4 / 96), 2)
    assert found["beyond"] == pytest.approx(0.6)


def test_a_column_on_its_lattice_is_even_along_walls():
    assert measures.shape(looked())["walls"] == pytest.approx(0, abs=1e-9)


def test_seeds_move_particles_a_little_and_always_alike():
    system = CASE.system()
    one, again, other = (runs.displaced(system, seed).position for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    # by a fiftieth of a spacing at most
    assert 0.019 < np.abs(one - system.position).max() / system.resolution.spacing <= 0.02


def test_roughness_is_compared_where_the_front_is_as_far(monkeypatch):
    class Moving:
        """Water whose front runs 2 m/s, a hundredth of a width rough for each step."""

        def __init__(self, system, device):
            self.system, self.steps = system, 0

        def start(self):
            pass

        def step(self, count):
            self.steps += count

        def particles(self):
            return {"position": self.system.position + np.array([2 * self.steps * self.system.dt, 0, 0])}

    monkeypatch.setattr(runs, "Simulation", Moving)
    monkeypatch.setattr(runs, "reconstruct", lambda position, system: position)
    monkeypatch.setattr(runs, "roughness", lambda position, system: position[:, 0].max())
    other = looked()
    ahead = replace(other, time=0.05, particles={"position": other.position + np.array([0.06, 0, 0])})
    (row,) = runs.equal_fronts({NAMES["none"]: [ahead]}, None).to_dict("records")
    assert row["time"] == pytest.approx(0.03, abs=0.05 / runs.LOOKS + other.system.dt)
    assert row["front"] >= CASE.width + 0.06
    assert row["ours"] >= row["others"] == pytest.approx(ahead.position[:, 0].max())
    # a front that never comes so far ends with the time of the other
    far = replace(ahead, particles={"position": other.position + np.array([1.0, 0, 0])})
    assert runs.equal_fronts({NAMES["none"]: [far]}, None)["time"].item() == pytest.approx(0.05, rel=0.05)


def test_one_bit_makes_two_runs_differ():
    one = looked()
    moved = one.position.copy()
    moved[5, 2] = np.nextafter(moved[5, 2], 1)
    other = replace(one, particles=one.particles | {"position": moved})
    assert measures.same_bits(one, looked())
    assert not measures.same_bits(one, other)
    assert 0 < measures.distance(one, other) < 1e-12
    names = [NAMES[name] for name in runs.PAIR]
    found = runs.differences({"a": dict.fromkeys(names, one), "b": {names[0]: one, names[1]: other}})
    assert found["same bits"].tolist() == [True, False]


@pytest.mark.parametrize("name", ["threads", "serial"])
def test_the_devices_that_are_compared_have_names_of_their_own(name):
    assert len({machines.label(device) for device in machines.pair(name, 1)}) == 2


def test_far_particles_are_drawn_first():
    look = looked()
    figure, arrays = figures.states(CASE, look, {figures.WITH: [look], figures.WITHOUT: [look]})
    assert len(figure.axes) == 4
    place = figure.axes[1].collections[0].get_offsets()
    # nearest to the eye: low y, high x and z
    last = look.position[:, [0, 2]].max(0) + look.position[:, 1].min() * figures.OBLIQUE
    np.testing.assert_allclose(place[-1], 1000 * last, rtol=1e-6)
    assert arrays["start"].shape == (96, 3)


def test_density_at_a_place_is_the_sum_over_all_others_that_are_given():
    """Particles of 12 in places of 5 others, in water that weighs 880 kg/m3."""
    system, chance = shaken(), np.random.default_rng(3)
    here, there = (chance.uniform(0.02, 0.09, (count, 3)) for count in (5, 12))
    alone = sph_by_hand.pairs(here, there, system)[1].sum(1) * system.mass
    np.testing.assert_allclose(measures.weights(here, there, system), alone / 880, atol=2e-6)


def test_deficits_of_a_look_are_told_by_place_with_its_ghosts_without_them_and_what_is_too_much():
    system = replace(StillWater(column=(9, 8, 9), air=3).system(), name="pond")
    look = looked(system)
    look = replace(look, summed=np.random.default_rng(2).normal(0, 0.1, system.count))
    surface = measures.sees_air(system.position, system)
    for kind, s in {"counted": look.summed, "excess": -look.summed, "not counted": measures.fluid_alone(
        system.position, system)}.items():  # fmt: skip
        expected = density_deficit(s, look.particles, system, surface)
        assert list(measures.deficits(look)[kind].items()) == list(zip(measures.PLACES, expected, strict=True))
        assert len(set(expected)) == 3


def test_the_shape_of_water_has_its_front_in_metres_and_how_rough_and_uneven_it_is_in_spacings():
    look = looked(seed=4)
    found = measures.shape(look)
    assert found["front"] == pytest.approx(CASE.width, abs=0.02 * look.system.resolution.spacing)
    assert found["walls"] == wall_unevenness(look.particles, look.system)
    assert found["surface"] == roughness(reconstruct(look.position, look.system), look.system)
    assert len(set(found.values())) > 4


def test_two_runs_are_as_far_apart_as_their_worst_particle_in_spacings():
    one = looked()
    moved, spacing = one.position.copy(), one.system.resolution.spacing
    moved[5] += spacing * np.array([0.3, -0.4, 1.2])
    moved[6, 0] += spacing
    other = replace(one, particles=one.particles | {"position": moved})
    assert measures.distance(one, other) == pytest.approx(1.3)
    names = [NAMES[name] for name in runs.PAIR]
    found = runs.differences(
        {"here": dict.fromkeys(names, replace(one, time=0.25)), "there": {names[0]: other, names[1]: one}}
    )
    assert found.to_dict("records") == [
        {"boundary": name, "devices": "here and there", "time": 0.25, "distance": pytest.approx(d), "same bits": d == 0}
        for name, d in zip(names, (1.3, 0.0), strict=True)
    ]


def test_devices_are_called_by_their_kind_and_their_cores():
    kinds = [("cuda", 1, True), ("serial", 1, False), ("threads", 3, True), ("threads", 1, True), ("threads", 1, False)]
    names = [
        machines.label(SimpleNamespace(name=name, workers=workers, parallel=parallel))
        for name, workers, parallel in kinds
    ]
    assert names == ["GPU", "one core, particle by particle", "3 cores", "one thread", "one core"]
