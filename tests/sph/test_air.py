"""Ghosts in the air: where Poisson-disc samples lie, that they are the same everywhere, and runs with them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken
from scipy.spatial import cKDTree

from repro.errors import InputError
from repro.parallel import select
from repro.particles.position import Units
from repro.sph.air import AirSampling, carried, most, sample
from repro.sph.checkpoint import restore, save
from repro.sph.pair import AIR, UNUSED
from repro.sph.simulation import Simulation
from repro.sph.strategies import STRATEGIES
from repro.sph.system import Walls

SYSTEM = shaken(4, tank=(9, 6, 9), water=(5, 4, 6))
#: twelve particles, for plain Python
FEW = shaken(3, tank=(3, 3, 4), water=(2, 2, 3))
SPACING, TANK = SYSTEM.resolution.spacing, np.array(SYSTEM.tank)


def sown(number=7, before=None, **options):
    return sample(SYSTEM.position, SYSTEM, AirSampling(**options), number, before)


def least_distance(samples):
    return cKDTree(samples).query(samples, 2)[0][:, 1].min()


@pytest.mark.parametrize("radius", [0.7, 0.82, 1.1])
@pytest.mark.parametrize("rounds", [0, 40])
def test_samples_keep_their_radius_from_each_other_and_from_the_fluid_and_lie_within_the_support(radius, rounds):
    found = sown(radius=radius, rounds=rounds)
    away = cKDTree(SYSTEM.position).query(found)[0]
    assert min(least_distance(found), away.min()) >= radius * SPACING * (1 - 1e-12)
    assert away.max() < SYSTEM.resolution.support
    assert (found >= 0.5 * SPACING).all()
    assert (found <= TANK - 0.5 * SPACING).all()


def test_nowhere_in_the_band_is_room_left_for_many_more():
    found, radius = sown(rounds=0), AirSampling().radius * SPACING
    chance = np.random.default_rng(1)
    darts = chance.uniform(0.5 * SPACING, TANK - 0.5 * SPACING, (4000, 3))
    off, apart = (cKDTree(places).query(darts)[0] for places in (SYSTEM.position, found))
    band = (off >= radius) & (off < SYSTEM.resolution.support)
    assert band.sum() > 1000
    assert (apart[band] >= radius).mean() < 0.1


def test_relaxation_moves_samples_and_brings_no_two_nearer():
    before, after = sown(rounds=0), sown(rounds=60)
    assert before.shape == after.shape
    assert (before != after).any()
    fluid = cKDTree(SYSTEM.position)
    nearest = [np.minimum(cKDTree(p).query(p, 2)[0][:, 1], fluid.query(p)[0]) for p in (before, after)]
    assert nearest[1].mean() > nearest[0].mean()
    assert nearest[1].min() >= nearest[0].min()


def test_the_number_alone_chooses_the_samples():
    np.testing.assert_array_equal(sown(3), sown(3))
    assert not np.array_equal(sown(3)[:5], sown(4)[:5])


def test_samples_that_fit_are_kept_first():
    before = np.vstack([sown(1, rounds=0), SYSTEM.position[:3], TANK + 1.0])
    found = sown(2, before, rounds=0)
    np.testing.assert_array_equal(found[: len(before) - 4], before[:-4])


def test_samples_are_carried_by_the_nearest_particle():
    velocity = np.random.default_rng(2).normal(0, 1, SYSTEM.position.shape)
    found = carried(SYSTEM.position[[5, 2]] + 1e-4, SYSTEM.position, velocity, 0.25)
    np.testing.assert_allclose(found, SYSTEM.position[[5, 2]] + 1e-4 + 0.25 * velocity[[5, 2]])


def test_there_is_room_for_all_samples():
    assert len(sown(attempts=200)) < most(SYSTEM, AirSampling())


def moist(**options) -> dict:
    return {"density": "summation", "sampling": AirSampling(**{"every": 2} | options)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_ghosts_lie_where_they_were_sown_whatever_the_search(strategy):
    simulation = Simulation(FEW, PlainDevice(), strategy=strategy, precision="double", **moist())
    simulation.step(3)
    assert (np.array(simulation.air.kind) == AIR).sum() == len(simulation.air_samples)
    # all others rest farther away than the fluid can see
    others = simulation.air.r.reshape(3, -1)[:, np.array(simulation.air.kind) == UNUSED].T.copy()
    away = -Units(np.float64).coordinates(others, FEW.box) + FEW.margin
    assert len(others) == simulation.air.count - len(simulation.air_samples) > 0
    assert away.min() > FEW.resolution.support
    expected = sample(after_two_steps(), FEW, simulation.sampling, 2)
    np.testing.assert_allclose(simulation.air_samples, expected, atol=1e-9)


def test_air_has_no_pressure_beside_water_that_is_compressed():
    simulation = Simulation(FEW, PlainDevice(), precision="double", **moist())
    simulation.start()
    simulation.state.s[:] = 0.01
    simulation.step(3)
    air, near = np.array(simulation.air.kind) == AIR, np.array(simulation.air.u).reshape(3, -1).any(0)
    # some has taken over the velocity of water around it
    assert (air & near).any()
    assert not np.array(simulation.air.s)[air].any()


@cache
def after_two_steps() -> np.ndarray:
    simulation = Simulation(FEW, PlainDevice(), precision="double", **moist())
    simulation.step(2)
    return simulation.particles()["position"]


def test_a_run_with_ghosts_in_the_air_has_the_same_bits_on_every_device_and_with_every_search():
    # few ghosts in walls, which take plain Python nearly all of the time
    system = replace(FEW, fluid=replace(FEW.fluid, xsph=0.05), walls=Walls(layers=1))
    runs = [(select("serial"), "sorted cells"), *((PlainDevice(), name) for name in STRATEGIES)]
    found = []
    for device, strategy in runs:
        simulation = Simulation(system, device, strategy=strategy, **moist())
        simulation.step(5)
        found.append(simulation.particles())
    for other in found[1:]:
        for what, values in found[0].items():
            np.testing.assert_array_equal(other[what], values, err_msg=what)


def test_a_restart_sows_the_same_ghosts(tmp_path):
    device = select("serial")
    whole, first, second = (Simulation(FEW, device, **moist()) for _ in range(3))
    whole.step(5)
    first.step(3)
    with pytest.raises(InputError, match="step 3: ghosts in the air are sown anew each 2 steps"):
        save(first, tmp_path / "run.h5")
    first.step(1)
    save(first, tmp_path / "run.h5")
    restore(second, tmp_path / "run.h5")
    second.step(1)
    for what, values in whole.particles().items():
        np.testing.assert_array_equal(second.particles()[what], values, err_msg=what)
    other = Simulation(FEW, device, **moist(radius=0.9))
    with pytest.raises(InputError, match="its air's radius is 0.82, not 0.9"):
        restore(other, tmp_path / "run.h5")


@pytest.mark.parametrize("portions", [(7,), (3, 3, 1), (1,) * 7, (2, 5)])
def test_ghosts_are_sown_each_second_step_however_many_are_asked_for_at_once(monkeypatch, portions):
    device = PlainDevice()
    # nothing moves
    monkeypatch.setattr(device, "compile", lambda kernel: lambda shape, *arguments: lambda: None)
    simulation, sown_at = Simulation(shaken(3, tank=(3, 3, 4), water=(2, 2, 3)), device, **moist()), []
    sow = simulation._sow_air
    simulation._sow_air = lambda: (sown_at.append(simulation.steps), sow())
    for portion in portions:
        simulation.advance(portion)
    assert sown_at == [0, 2, 4, 6]


def test_samples_that_are_carried_go_with_the_fluid_from_sowing_to_sowing_and_are_filled_up():
    system, sampling = replace(FEW, walls=Walls(layers=1)), AirSampling(every=2, carried=True)
    simulation = Simulation(system, PlainDevice(), density="summation", precision="double", sampling=sampling)
    simulation.start()
    first = simulation.air_samples
    np.testing.assert_array_equal(first, sample(simulation.particles()["position"], system, sampling, 0))
    simulation.step(2)
    found = simulation.particles()
    moved = carried(first, found["position"], found["velocity"], 2 * system.dt)
    simulation.step(1)
    np.testing.assert_allclose(
        simulation.air_samples, sample(found["position"], system, sampling, 2, moved), atol=1e-12
    )


def test_nobody_observes_steps_between_which_ghosts_are_sown():
    simulation = Simulation(FEW, PlainDevice(), **moist())
    with pytest.raises(InputError, match="^tank: no observers where ghosts in the air act$"):
        simulation.advance(2, observers=[object()])


def samples_by_hand(position, system, sampling, number, before=()):
    """The same darts, one after the other, each held against all particles and samples that there are."""
    spacing, radius, reach = system.resolution.spacing, sampling.radius, 2 * system.resolution.ratio
    fluid, tank, chance = position / spacing, np.array(system.tank) / spacing, np.random.default_rng(number)

    def nearest(point, places):
        return min((np.linalg.norm(place - point) for place in places), default=np.inf)

    def fits(point):
        inside = (point >= 0.5).all() and (point <= tank - 0.5).all()
        return inside and radius <= nearest(point, fluid) < reach

    def apart(points, least, others=()):
        kept = []
        for k, point in enumerate(points):
            if nearest(point, [points[i] for i in kept]) >= least and nearest(point, others) >= least:
                kept.append(k)
        return kept

    def shot(centres, away):
        ways = chance.normal(size=(len(centres), 3))
        return centres + away[:, None] * ways / np.linalg.norm(ways, axis=1, keepdims=True)

    old = [place / spacing for place in before if fits(place / spacing)]
    found = [old[k] for k in apart(old, radius)]
    # of 33 particles around one on the lattice more than 15 % are missing
    open_ = [place for place in fluid if (np.linalg.norm(fluid - place, axis=1) <= 2).sum() < 0.85 * 33]
    sowing = open_ + found
    while sowing:
        centres = np.repeat(sowing, sampling.attempts, axis=0)
        # evenly in a shell from one radius to two: cubes of distances are even
        darts = [dart for dart in shot(centres, radius * np.cbrt(chance.uniform(1, 8, len(centres)))) if fits(dart)]
        sowing = [darts[k] for k in apart(darts, radius, found)]
        found = found + sowing
    for _ in range(sampling.rounds):
        order = chance.permutation(len(found))
        moving = [order[k] for k in apart([found[k] for k in order], 3 * radius)]
        away = 0.5 * radius * np.cbrt(chance.uniform(0, 1, len(moving)))
        tried, after = shot(np.array(found)[moving], away), list(found)
        for k, place in zip(moving, tried, strict=True):
            others = [*fluid, *found[:k], *found[k + 1 :]]
            if fits(place) and nearest(place, others) > nearest(found[k], others):
                after[k] = place
        found = after
    return spacing * np.array(found)


def test_samples_are_those_of_bridson_s_darts_and_of_moves_to_where_there_is_more_room():
    system = shaken(4, tank=(9, 7, 8), water=(5, 2, 3))
    for sampling, number in ((AirSampling(), 3), (AirSampling(radius=0.95, attempts=5, rounds=3), 8)):
        found = sample(system.position, system, sampling, number)
        expected = samples_by_hand(system.position, system, sampling, number)
        assert len(found) > 25
        np.testing.assert_allclose(found, expected, atol=1e-12)
    before = np.concatenate([found[::2] + 0.004, found[:3]])
    # of a block some particles see no air, and some have about as many around as those that do not
    block = shaken(4, tank=(8, 7, 8), water=(6, 5, 6))
    few = AirSampling(attempts=3, rounds=0)
    np.testing.assert_allclose(
        sample(block.position, block, few, 5), samples_by_hand(block.position, block, few, 5), atol=1e-12
    )
    again = sample(system.position, system, sampling, 11, before)
    np.testing.assert_allclose(again, samples_by_hand(system.position, system, sampling, 11, before), atol=1e-12)


def test_xsph_without_equation_3_is_refused():
    system = replace(SYSTEM, fluid=replace(SYSTEM.fluid, xsph=0.05))
    with pytest.raises(InputError, match="xsph = 0.05 acts with density = 'summation' only"):
        Simulation(system, PlainDevice())
