"""Limits of a step hold together, from the start of a run to its end, by whatever entry they are passed."""

import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.pic_systems import crowd, net_charge, weight_of
from helpers.plain import PlainDevice

from repro.errors import CapacityError, DivergenceError, InputError
from repro.parallel import select
from repro.pic import stability_checks, system
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.tallies import ENERGIES
from repro.pic.constants import CHARGE, LIGHT, MASS
from repro.pic.deposition import units_of_weight
from repro.pic.maxwell.fields import courant_limit
from repro.pic.mesh import ABSORBED, Mesh
from repro.pic.simulation import Simulation
from repro.pic.stability import highest_density, largest_eigenvalue, slowness
from repro.pic.system import Electrons, Source, System

CUBE, FLAT = (1e-3,) * 3, (1e-3, 2e-2, 2e-2)


def filled(courant, turn, spacing=CUBE, *, cells=6, momentum=0.0) -> System:
    """Electrons nearly at rest that fill the cells evenly, 27 in each; omega_p dt = turn."""
    mesh = Mesh((cells,) * 3, spacing)
    dt, along = courant * courant_limit(mesh), (np.arange(3 * cells) + 0.5) / 3
    position = np.stack(np.meshgrid(along, along, along, indexing="ij"), -1).reshape(-1, 3) * spacing
    way = np.random.default_rng(1).normal(0, 1, position.shape)
    u = (momentum or 1e-6) * way / np.linalg.norm(way, axis=1)[:, None]
    weight = weight_of(turn / dt, len(position), float(np.prod(mesh.length)))
    with warnings.catch_warnings():
        # cold it is meant to be
        warnings.simplefilter("ignore")
        return System(mesh, dt, Electrons(position, u, np.full(len(position), weight)), name="filled")


UNSTABLE = [(0.99, 1.9, CUBE), (0.999, 0.5, CUBE), (0.95, 1.5, FLAT)]
STABLE = [(0.95, 1.8, CUBE), (0.99, 0.3, CUBE), (0.95, 1.0, FLAT)]


@pytest.mark.parametrize(("courant", "turn", "spacing"), UNSTABLE)
def test_a_courant_number_and_a_plasma_frequency_that_are_unstable_together_are_refused(courant, turn, spacing):
    with pytest.raises(
        InputError, match=f"a Courant number of {courant} and .* of {turn} are unstable together"
    ) as line:
        filled(courant, turn, spacing)
    assert "\n" not in str(line.value)
    # what the line names instead works: the step, or the density
    words = str(line.value)
    dt, most = float(words.split("dt at most ")[1].split()[0]), float(words.split(" s, or ")[1].split()[0])
    limit, found = courant_limit(Mesh((6,) * 3, spacing)), float(words.split("instead of ")[1])
    filled(dt / limit, turn * dt / (courant * limit), spacing)
    filled(courant, turn * np.sqrt(most / found), spacing)


@pytest.mark.parametrize(("courant", "turn", "spacing"), STABLE)
def test_what_is_stable_is_not_refused(courant, turn, spacing):
    found = filled(courant, turn, spacing)
    assert largest_eigenvalue(found.mesh, found.dt, found.density) <= 1
    assert found.density <= highest_density(found.mesh, found.dt) * (1 + 1e-9)


@pytest.mark.parametrize(("case", "grows"), [(UNSTABLE[0], True), (UNSTABLE[2], True), (STABLE[0], False)])
def test_fields_grow_beyond_the_limit_and_nowhere_else(case, grows, monkeypatch):
    # the limit that the refusal is by, taken away
    for module in (system, stability_checks):
        monkeypatch.setattr(module, "largest_eigenvalue", lambda *_: 0.0)
    simulation, sizes = Simulation(filled(*case), select("serial")), []
    for _ in range(3):
        # without a look
        simulation.advance(10)
        sizes.append(float(np.linalg.norm(simulation.fields.arrays.electric)))
    assert sizes[-1] > 1e3 * sizes[0] if grows else sizes[-1] < 3 * sizes[0]


def test_the_limit_is_the_largest_eigenvalue_over_all_waves():
    generator = np.random.default_rng(3)
    for _ in range(200):
        spacing, courant, turn = generator.uniform(0.3, 3, 3), generator.random(), 2 * generator.random()
        cells, kinds = generator.choice([1, 4], 3), generator.choice(["periodic", "conducting"], 3)
        mesh = Mesh(tuple(cells.tolist()), tuple(1e-3 * spacing), tuple(kinds.tolist()))
        dt = courant * courant_limit(mesh)
        density = weight_of(turn / dt, 1, 1.0)
        squares = (LIGHT * dt / np.array(mesh.spacing)) ** 2
        # sin^2(k h / 2): the corners of the zone, where the largest one is, and waves in between
        waves = [np.array(np.unravel_index(k, (2, 2, 2)), float) for k in range(8)] + list(generator.random((30, 3)))
        found = []
        # along a periodic axis of a single cell all is the same
        changes = (cells > 1) | (kinds != "periodic")
        for wave in waves * changes:
            way, inert = np.sqrt(squares * wave), 1 - 2 / 3 * wave
            plasma = turn**2 / 4 * np.diag(np.prod(inert) / inert)
            found.append(np.linalg.eigvalsh(way @ way * np.eye(3) - np.outer(way, way) + plasma)[-1])
        assert largest_eigenvalue(mesh, dt, density) == pytest.approx(max(found), rel=1e-9)
        assert largest_eigenvalue(mesh, dt, highest_density(mesh, dt)) == pytest.approx(1, rel=1e-9)
    assert highest_density(mesh, 3 * courant_limit(Mesh((4, 4, 4), mesh.spacing))) == 0


def test_an_electron_counts_for_one_over_gamma():
    # gamma^2 = 1 + u^2
    found = slowness(np.array([[0, 0, 0], [0, 0.75, 0], [0.0, 2.4, 0.0], [2.0, -1.0, 2.0]]))
    np.testing.assert_allclose(found, [1, 0.8, 1 / 2.6, 1 / np.sqrt(10)])


def test_electrons_that_are_fast_count_for_less():
    # gamma is 10: a tenth of the cold ones' limit
    simulation = Simulation(filled(0.99, 1.9, momentum=np.sqrt(99)), PlainDevice())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulation.start()


def test_a_source_that_makes_the_box_too_dense_ends_the_run():
    mesh = Mesh((2, 2, 2), CUBE)
    dt = 0.99 * courant_limit(mesh)
    each = weight_of(0.5 / dt, 8, 8e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = System(mesh, dt, source=Source(1.0, each, start=8, per_step=8), capacity=500, name="filling")
    simulation = Simulation(found, PlainDevice())
    simulation.step(1)
    with pytest.raises(
        DivergenceError, match="electrons in m3 in the box by step 6 of filling, and .*: dt at m"
    ) as line:
        simulation.step(5)
    require_right_numbers(str(line.value), found, 56 * each / 8e-9)


def require_right_numbers(line: str, found: System, density: float):
    """A line says how dense it is, and which density and which step would be stable, within three digits."""
    said, courant, most, dt = map(
        float, re.findall(r"[0-9][0-9.]*(?:e[+-]?[0-9]+)?(?= (?:electrons in m3 in|the fields|grow|s,))", line)
    )
    assert said == pytest.approx(density, rel=5e-3)
    assert courant == pytest.approx(found.dt / courant_limit(found.mesh), rel=5e-3)
    for of_dt, of_density in ((found.dt, most), (dt, density)):
        assert 0.98 < largest_eigenvalue(found.mesh, of_dt, of_density) <= 1


def test_electrons_too_dense_in_a_region_are_warned_of():
    mesh = Mesh((9, 9, 9), CUBE)
    dt, place = 0.9 * courant_limit(mesh), np.random.default_rng(1).uniform(3e-3, 6e-3, (100, 3))
    for turn, warned in ((2.5, True), (1.0, False)):
        crowded = Electrons(place, np.full((100, 3), 0.05), np.full(100, weight_of(turn / dt, 100, 27e-9)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = System(mesh, dt, crowded, name="blob")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Simulation(found, PlainDevice()).start()
        lines = [str(warning.message) for warning in caught]
        assert [("in a region by step 0 of blob" in line) for line in lines] == [True] * warned
        for line in lines:
            require_right_numbers(line, found, weight_of(turn / dt, 1, 1.0))


@pytest.mark.parametrize("at_rest", [True, False])
def test_ranks_have_the_electrons_of_the_box_together_and_the_densest_region_alone(at_rest):
    simulation = Simulation(filled(0.5, 0.1, cells=3, momentum=1.0), PlainDevice())
    simulation.start()
    box, region = stability_checks._densities(simulation, at_rest=at_rest)
    simulation.ranks = SimpleNamespace(gather=lambda here, what: np.stack([here / 2, here, here / 4]))
    assert stability_checks._densities(simulation, at_rest=at_rest) == pytest.approx((1.75 * box, region))
    assert region > 0


@pytest.mark.parametrize("at_rest", [True, False])
@pytest.mark.parametrize("portion", [1 << 20, 7])
def test_the_box_and_its_densest_region_have_the_electrons_that_fly_there(monkeypatch, at_rest, portion):
    """A region is three cells wide along each axis that has so many; in layers there is no room for electrons."""
    monkeypatch.setattr(stability_checks, "_PORTION", portion)
    simulation = Simulation(
        crowd(shape=(6, 2, 5), boundaries=("absorbing", "periodic", "conducting"), count=40), PlainDevice()
    )
    # it is denser than is stable, which is not looked at
    simulation.advance(3)
    particles, mesh = simulation.particles_on_device, simulation.system.mesh
    # those that were taken up are there no more
    assert (particles.cell == ABSORBED).any()
    flying = particles.cell >= 0
    weight = particles.weight[flying].astype(float)
    if not at_rest:
        weight /= np.sqrt(1 + (particles.u.reshape(3, -1)[:, flying].astype(float) ** 2).sum(0))
    box, region = stability_checks._densities(simulation, at_rest=at_rest)
    assert box == pytest.approx(weight.sum() / (4 * 2 * 5 * mesh.cell_volume))
    cell, found = mesh.cells(particles.cell[flying]), []
    for corner in np.ndindex(4, 1, 3):
        within = ((cell >= corner) & (cell - corner < (3, 2, 3))).all(1)
        found.append(weight[within].sum() / (3 * 2 * 3 * mesh.cell_volume))
    assert region == pytest.approx(max(found))


def test_a_field_that_is_set_may_turn_electrons_no_further_than_one_that_is_given():
    found = crowd()
    for share, refused in ((0.9, False), (1.1, True), (8.0, True)):
        simulation = Simulation(found, PlainDevice())
        field = share * MASS / (CHARGE * found.dt) * np.array([0.0, 0.6, 0.8])
        simulation.fields.set(magnetic=np.broadcast_to(field[:, None, None, None], (3, 2, 4, 3)))
        if refused:
            with pytest.raises(InputError, match=f"turns by {share:.3g} radians in a step, by step 0 .*: dt at most"):
                simulation.step(1)
        else:
            simulation.step(1)


def test_a_field_that_is_set_may_give_electrons_no_more_than_one_that_is_given():
    simulation = Simulation(crowd(), PlainDevice())
    simulation.fields.set(electric=np.full((3, 1, 1, 1), 1e26))
    with pytest.raises(InputError, match="V/m an electron gains .* m c in a step, by step 0 of crowd, and may 1e"):
        simulation.particles()


def test_a_field_of_their_own_that_turns_electrons_too_far_is_warned_of_and_ends_the_run():
    for turn, line in ((1.5, "warned"), (2.5, "ended")):
        simulation = Simulation(replace(crowd(born=(4, 0)), self_field=False), PlainDevice())
        simulation.step(1)
        simulation.fields.arrays.magnetic[:] = turn / np.sqrt(3)
        if line == "warned":
            with pytest.warns(UserWarning, match="turns by 1.5 radians in a step, by step 2 of crowd, and"):
                simulation.step(1)
        else:
            with pytest.raises(DivergenceError, match="turns by 2.5 radians in a step, by step 2 of crowd"):
                simulation.step(1)


@pytest.mark.parametrize(("steps", "most", "refusal"), [(0, 1, InputError), (1, 2, DivergenceError)])
def test_fields_may_turn_electrons_and_give_them_so_much_and_no_more(steps, most, refusal):
    simulation = Simulation(replace(crowd(born=(4, 0)), self_field=False), PlainDevice(), precision="double")
    simulation.start()
    simulation.advance(steps)
    dt, arrays = simulation.system.dt, simulation.fields.arrays
    for share, refused in ((0.99, False), (1.01, True)):
        # in a single node
        arrays.electric[:], arrays.magnetic[:] = 0, 0
        arrays.magnetic.reshape(3, -1)[:, 40] = most * share * np.array([2, -3, 6]) / 7
        if not refused:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                # once in a run
                simulation._require_valid()
                simulation._require_valid()
            assert len(caught) == (most == 2)
            continue
        turn = most * share
        with pytest.raises(refusal, match=f"turns by {turn:.3g} radians in a step, by step {steps} ") as line:
            simulation._require_valid()
        tesla, right = (float(str(line.value).split(word)[1].split()[0]) for word in ("in ", "dt at most "))
        assert tesla == pytest.approx(turn * MASS / (CHARGE * dt), rel=5e-3)
        assert 0.98 * dt < right * turn <= dt
    for share in (0.99, 1.01):
        arrays.electric[:], arrays.magnetic[:] = 0, 0
        arrays.electric.reshape(3, -1)[:, 40] = 1e15 * share * np.array([2, -3, 6]) / 7
        if share < 1:
            simulation._require_valid()
            continue
        with pytest.raises(refusal, match=r"an electron gains 1.01e\+15 m c in a step, by step .*, and may 1e") as line:
            simulation._require_valid()
        volt = float(str(line.value).split()[1])
        assert volt == pytest.approx(1e15 * share * MASS * LIGHT / (CHARGE * dt), rel=5e-3)


@pytest.mark.parametrize("left_out", ["electrons", "source", "electrons and source"])
def test_fields_are_limited_where_there_are_electrons_or_will_be(left_out):
    found = replace(crowd(), self_field=False)
    if "electrons" in left_out:
        found = replace(found, electrons=Electrons(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)))
    if "source" in left_out:
        found = replace(found, source=None)
    simulation = Simulation(found, PlainDevice())
    simulation.fields.set(magnetic=np.full((3, 1, 1, 1), 5 * MASS / (CHARGE * found.dt)))
    if left_out == "electrons and source":
        simulation.step(1)
    else:
        with pytest.raises(InputError, match="turns by 8.66 radians"):
            simulation.start()


def leaking(capacity: int, per_step: int) -> System:
    """A box whose walls take up what a source adds: ions stay, and are more and more."""
    mesh = Mesh((2, 1, 1), CUBE, ("conducting",) * 3)
    dt = 0.9 * courant_limit(mesh)
    return System(
        mesh, dt, source=Source(1e6, 1.0, per_step=per_step), self_field=False, capacity=capacity, name="leak"
    )


def test_sums_of_charges_at_rest_do_not_wrap():
    simulation = Simulation(leaking(100, 10), select("serial"), sort_every=5)
    for _ in range(5):
        simulation.step(100)
        # what was born stays, but for what the walls took up
        assert abs(net_charge(simulation).sum()) < 1e-3
    # within a single call, too
    with pytest.raises(CapacityError, match="rest on a node by step .* of leak, .*: take a capacity of 400"):
        simulation.step(5000)
    largest = np.abs(simulation.charges).max()
    assert 2**62 < largest < 2**62 + 2**61 + 2**60


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("most", [10**6, 500])
def test_sums_may_hold_2_to_the_62_of_either_sign_and_no_more(monkeypatch, sign, most):
    monkeypatch.setattr(stability_checks, "MOST_PARTICLES", most)
    air = Collisions(cut=2e4, stop=2e4)
    simulation = Simulation(replace(crowd(), air=air, electric=(1e5, 0.0, 0.0)), PlainDevice())
    simulation.start()
    wanted = f"take a capacity of {min(800, most)}$"
    # numbers of events are none of energies
    simulation._tallies[ENERGIES:] = 2**62 + 1
    energies = "electrons have lost more energy by step 0 of crowd than sums for 200 particles hold: "
    charges = f"charges of {2**62 / simulation.unit:.3g} electrons rest on a node by step 0 of crowd, and sums for 200 "
    for sums, places, line in (
        (simulation._tallies, range(ENERGIES), energies),
        (simulation.charges, (0, 40, len(simulation.charges) - 1), charges),
    ):
        for place in places:
            before = int(sums[place])
            sums[place] = sign * 2**62
            simulation._require_valid()
            sums[place] += sign
            with pytest.raises(CapacityError, match=f"^{re.escape(line)}.*{wanted}"):
                simulation._require_valid()
            sums[place] = before


def test_between_two_looks_no_sum_can_double():
    for capacity, per_step in ((100, 10), (99, 10), (10, 7), (10, 1)):
        found = leaking(capacity, per_step)
        steps = stability_checks.steps_between_looks(found, 10**6)
        room = 2 * found.total_weight
        assert steps * per_step <= room < (steps + 1) * per_step
        assert stability_checks.steps_between_looks(found, 2) == min(steps, 2)
    assert stability_checks.steps_between_looks(leaking(10, 50), 10**6) == 1
    assert stability_checks.steps_between_looks(leaking(10, 0), 77) == 77


def test_the_number_of_particles_does_not_wrap_where_all_is_full():
    simulation = Simulation(replace(crowd(boundaries=("periodic",) * 3), capacity=20, self_field=False), PlainDevice())
    # without a look: 13 at the start, and 3 in each step
    simulation.advance(30)
    assert int(simulation.used[0]) == 21
    with pytest.raises(CapacityError, match="21 particles by step 31 of crowd, and room for 20: take a capacity of 42"):
        simulation.step(1)


def test_electrons_beyond_the_energies_of_the_tables_end_the_run():
    mesh, dt = Mesh((4, 4, 4), CUBE), 1e-12
    slow, fast = (Electrons([[2e-3] * 3], [[u, 0.0, 0.0]], [1.0]) for u in (3.0, 39.0))
    # 1.7e9 V/m are a momentum of 1 m c a step
    options = {"electric": (-1.8e9, 0.0, 0.0), "self_field": False, "air": Collisions(), "capacity": 300}
    Simulation(System(mesh, dt, slow, **options), PlainDevice()).step(3)
    with pytest.raises(DivergenceError, match=r"1 electrons have more than 2e\+07 eV by step 3 of .*: take weaker f"):
        Simulation(System(mesh, dt, fast, **options), PlainDevice()).step(3)


def test_a_particle_so_light_that_it_carries_no_current_is_warned_of():
    mesh, dt = Mesh((4, 4, 4), CUBE), 1e-12
    for lightest, line in ((1e-12, "no current"), (3e-11, "only a part of its current"), (1e-8, None)):
        pair = Electrons(np.full((2, 3), 1e-3), np.ones((2, 3)), np.array([1e6, 1e6 * lightest]))
        options = {"capacity": 2**21, "name": "light"}
        if line is None:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                System(mesh, dt, pair, **options)
            continue
        with pytest.warns(UserWarning, match=f"a particle of weight .* carries {line}.*: weights of") as caught:
            found = System(mesh, dt, pair, **options)
        least = float(str(caught[0].message).split("at least ")[1].split(",")[0])
        assert least * units_of_weight(found.total_weight) == pytest.approx(1000, rel=0.05)
