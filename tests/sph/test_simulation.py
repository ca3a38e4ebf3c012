"""Trajectories: devices and searches against each other, conservation, water at rest, and what stops a run."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import sph_by_hand
from helpers.plain import PlainCore, PlainDevice
from helpers.sph_systems import shaken

from repro.errors import DeviceError, DivergenceError, InputError, MemoryLimitError
from repro.parallel import select
from repro.particles.position import Units
from repro.sph.air import AirSampling, sample
from repro.sph.cases import DamBreak, StillWater
from repro.sph.exact import pressure, rest_pressure, ritter_front
from repro.sph.fluid import Fluid, Resolution, time_steps
from repro.sph.ghosts import wall_sites
from repro.sph.observables import energy, front, pressure_profile
from repro.sph.simulation import DENSITIES, Simulation
from repro.sph.stability_checks import require_inside, require_limits
from repro.sph.strategies import STRATEGIES
from repro.sph.system import System, Walls


def after(system, device, steps, **options):
    simulation = Simulation(system, device, **options)
    simulation.step(steps)
    return simulation.particles()


@pytest.fixture(scope="module")
def one_core():
    return select("serial")


@pytest.fixture(scope="module")
def trajectory(shaken_water, one_core):
    """The reference: 60 steps of the fast search on one core."""
    return after(shaken_water, one_core, 60)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("flow", [1, 0])
@pytest.mark.parametrize(("precision", "enough"), [("single", 1e-7), ("double", 1e-16)])
def test_steps_that_rounding_takes_away_are_warned_of_with_those_that_it_does_not(precision, enough, flow):
    """Also where only sound moves the fluid."""
    still = shaken(tank=(3, 3, 6), water=(2, 2, 3))
    system = replace(still, fluid=replace(still.fluid, gravity=flow * 9.81), velocity=flow * still.velocity)

    def make(dt):
        return Simulation(replace(system, time_step=dt), PlainDevice(), precision=precision)

    make(enough)
    for dt in (1e-30, enough / 1e5):
        with pytest.warns(UserWarning, match="^tank: in dt = .* s a particle .* rounding takes away: steps of") as said:
            make(dt)
        right = re.search(r"steps of (\S+) s or more$", str(said[0].message)).group(1)
        make(float(right))
        assert enough / 1e5 < float(right) < enough


@pytest.mark.parametrize(
    ("name", "strategy"), [("serial", "cell table"), ("threads", "sorted cells"), ("threads", "linked list")]
)
def test_single_precision_is_the_same_on_every_device_and_with_every_search_bit_for_bit(
    shaken_water, trajectory, name, strategy
):
    found = after(shaken_water, select(name), 60, strategy=strategy)
    for what, values in trajectory.items():
        np.testing.assert_array_equal(found[what], values)


def test_every_search_has_the_same_bits_with_a_kernel_of_wider_support(own_kernel):
    system = replace(shaken(3, tank=(3, 3, 4), water=(2, 2, 3), kernel=own_kernel), walls=Walls(layers=1))
    first, *others = (after(system, PlainDevice(), 2, strategy=strategy) for strategy in STRATEGIES)
    for found in others:
        for what, values in first.items():
            np.testing.assert_array_equal(found[what], values)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_compiled_kernels_are_the_plain_formulas_bit_for_bit(one_core, strategy):
    # plain Python stands for a GPU, which rounds as it does
    system = shaken(3, tank=(3, 3, 4), water=(2, 2, 3))
    expected = after(system, one_core, 2, strategy=strategy)
    found = after(system, PlainDevice(), 2, strategy=strategy)
    for what, values in expected.items():
        np.testing.assert_array_equal(found[what], values)


@pytest.mark.parametrize("density", ["continuity", "rate"])
def test_pairs_of_fluid_keep_momentum(one_core, density):
    water = shaken(5, tank=(15, 15, 15), water=(5, 5, 5))
    # in the middle of the tank, no wall is near and no weight acts
    system = replace(water, position=water.position + 0.1, fluid=Fluid(gravity=0.0))
    simulation = Simulation(system, one_core, boundary="none", density=density, precision="double")
    before = simulation.particles()["velocity"].sum(0)
    simulation.step(20)
    found = simulation.particles()
    assert np.abs(found["velocity"] - system.velocity).max() > 1e-3
    np.testing.assert_allclose(found["velocity"].sum(0), before, atol=1e-10)


@pytest.mark.parametrize(
    ("ratio", "own", "density"),
    [(1.3, False, "continuity"), (2.0, False, "continuity"), (1.3, True, "continuity"), (1.3, False, "rate")],
)
def test_water_at_rest_has_the_pressure_of_its_depth_and_does_not_move(one_core, ratio, own, density, own_kernel):
    kernel = own_kernel if own else "wendland c2"
    system = StillWater(column=(6, 6, 12), air=2, ratio=ratio, kernel=kernel).system()
    simulation = Simulation(system, one_core, density=density)
    simulation.step(1000)
    found = simulation.particles()
    layers = pressure_profile(found, system)
    depth = system.depth - layers.height
    deep = depth > system.resolution.support
    np.testing.assert_allclose(layers.pressure[deep], rest_pressure(depth[deep], system.fluid), rtol=0.02)
    # in free fall it would sink by 4 mm, two fifths of a spacing
    assert np.abs(found["position"] - system.position).max() < 0.02 * system.resolution.spacing


@pytest.fixture(scope="module")
def dam():
    return DamBreak(column=(8, 4, 16), length=4.0, height=3.0)


def test_a_dam_break_loses_energy_only_and_runs_ahead_slower_than_ritters_front(dam, one_core):
    system = dam.system()
    simulation, energies = Simulation(system, one_core), []
    simulation.start()
    for _ in range(8):
        energies.append(energy(simulation.particles(), system).total)
        simulation.step(250)
        time = simulation.steps * system.dt
        run = front(simulation.particles(), system) - dam.width
        assert run < ritter_front(time, system.depth, system.fluid.gravity)
    assert (np.diff(energies) < 1e-5 * energies[0]).all()
    # by free fall the front would be nowhere; it has run more than half a width in 0.1 s
    assert run > 0.5 * dam.width


def test_a_dam_breaks_alike_with_both_equations_in_one_sum(dam, one_core):
    """To a hundredth of the energy that is lost and of the way of the front."""
    system, found = dam.system(), {}
    for density in ("continuity", "rate"):
        particles = after(system, one_core, 500, density=density)
        found[density] = energy(particles, system).total, front(particles, system) - dam.width
    start = energy(Simulation(system, one_core).particles(), system).total
    (energy_of_two, way_of_two), (energy_of_one, way_of_one) = found.values()
    assert start - energy_of_one == pytest.approx(start - energy_of_two, rel=0.01)
    assert way_of_one == pytest.approx(way_of_two, rel=0.01)


def test_with_both_equations_in_one_sum_the_error_falls_with_the_square_of_the_time_step(one_core):
    """Of waves without friction, which has a kink where particles cease to approach."""
    water = shaken(4, tank=(9, 9, 9), water=(3, 3, 3), speed=3.0)
    fluid = Fluid(stiffness=1.3e6, viscosity=0.0, gravity=8.2)
    system = replace(water, position=water.position + 0.06, fluid=fluid)
    runs = {}
    for halvings in range(4):
        shorter = replace(system, time_step=system.dt / 2**halvings)
        run = after(shorter, one_core, 8 * 2**halvings, density="rate", boundary="none", precision="double")
        runs[halvings] = np.append(run["position"] / 0.02, run["condensation"] / abs(run["condensation"]).max())
    errors = [np.linalg.norm(runs[k] - runs[k + 1]) for k in range(3)]
    np.testing.assert_allclose(np.log2(errors[:-1]) - np.log2(errors[1:]), 2, atol=0.2)


def test_both_equations_in_one_sum_take_no_time_step_beyond_what_a_wall_leaves_stable(shaken_water):
    """At 0.99 of the longest a dam break of 288 particles flies apart at a wall, at 0.8 it comes to rest."""
    longest = min(time_steps(shaken_water.fluid, shaken_water.resolution, shaken_water.speed).values())
    Simulation(replace(shaken_water, time_step=0.8 * longest), PlainDevice(), density="rate")
    with pytest.raises(InputError, match="density = 'rate' takes at most"):
        Simulation(replace(shaken_water, time_step=0.81 * longest), PlainDevice(), density="rate")


@pytest.mark.parametrize("boundary", ["none", "clamped"])
def test_without_ghosts_the_walls_hold_the_fluid_and_densities_are_clamped_where_asked(dam, one_core, boundary):
    system = dam.system()
    simulation = Simulation(system, one_core, boundary=boundary)
    simulation.step(1000)
    found = simulation.particles()
    assert (found["position"] > -1e-6).all()
    assert (found["position"] < np.array(system.tank) + 1e-6).all()
    assert (found["condensation"].min() >= 0) == (boundary == "clamped")


def test_a_mirrored_tank_has_the_mirrored_flow_and_a_turned_one_the_turned_flow(shaken_water, trajectory, one_core):
    length = np.array([shaken_water.tank[0], 0, 0])
    swap, mirror = [1, 0, 2], np.array([-1, 1, 1])
    mirrored = replace(
        shaken_water, position=length + mirror * shaken_water.position, velocity=mirror * shaken_water.velocity
    )
    turned = replace(
        shaken_water,
        tank=tuple(shaken_water.tank[k] for k in swap),
        position=shaken_water.position[:, swap],
        velocity=shaken_water.velocity[:, swap],
    )
    found = after(mirrored, one_core, 60)["position"], after(turned, one_core, 60)["position"]
    for position in (length + mirror * found[0], found[1][:, swap]):
        # sums are added up in another order
        assert np.abs(position - trajectory["position"]).max() < 1e-4 * shaken_water.resolution.spacing


def test_water_that_hits_a_wall_has_the_pressure_of_the_water_hammer(one_core):
    """Joukowsky's rho c v, while sound goes up through the water and back: the mean where it has settled."""
    still, speed = StillWater(column=(4, 4, 12), spacing=0.02, air=6, fluid=Fluid(gravity=0.0)), 1.0
    system = replace(still.system(), velocity=np.tile([0, 0, -speed], (still.system().count, 1)))
    simulation, found = Simulation(system, one_core), []
    there_and_back = 2 * system.depth / system.fluid.sound_speed
    for time in np.linspace(0.3, 0.7, 9) * there_and_back:
        simulation.step(round(time / system.dt) - simulation.steps)
        particles = simulation.particles()
        lowest = particles["position"][:, 2].argsort()[:16]
        found.append(pressure(particles["condensation"][lowest].astype(float), system.fluid).mean())
    hammer = system.fluid.density * system.fluid.sound_speed * speed
    assert np.mean(found) == pytest.approx(hammer, rel=0.1)


@pytest.mark.parametrize("density", DENSITIES)
def test_a_sum_that_threads_share_has_the_same_bits(monkeypatch, density):
    system, found = shaken(3, tank=(3, 3, 4), water=(2, 2, 3)), []
    for share in (False, True):
        monkeypatch.setattr("repro.sph.bindings.shared", lambda device, count, share=share: share)
        simulation = Simulation(system, PlainDevice(), density=density)
        simulation.step(2)
        found.append(simulation.particles())
    for what, values in found[0].items():
        np.testing.assert_array_equal(found[1][what], values, err_msg=what)
    assert found[0]["acceleration"].any()


def test_what_crosses_a_wall_is_put_onto_it_and_keeps_neither_velocity_across_it():
    system = shaken(3, tank=(3, 3, 4), water=(2, 2, 3))
    simulation = Simulation(system, PlainDevice(), boundary="none", precision="double")
    state, chance = simulation.state, np.random.default_rng(2)
    middle, end = chance.normal(0, 2 * system.resolution.spacing / system.dt, (2, len(state.v)))
    state.v[:], state.a[:] = 2 * middle - end, 2 * (end - middle) / system.dt

    def places():
        return Units(np.float64).coordinates(state.r.reshape(3, -1).T, system.box) - system.margin

    gone = places() + system.dt * middle.reshape(3, -1).T
    simulation._drift()
    np.testing.assert_allclose(places(), np.clip(gone, 0, system.tank), atol=1e-12)
    below, above = ((gone < 0).T.ravel(), (gone > system.tank).T.ravel())
    # at the end of the step some would go on, and some come back
    assert all(0 < np.mean(end[beyond] > 0) < 1 for beyond in (below, above))
    for found, free in ((state.v, middle), (state.u, end)):
        held = np.where(below, np.maximum(free, 0), np.where(above, np.minimum(free, 0), free))
        np.testing.assert_allclose(found, held, rtol=1e-10)


def test_what_equation_4_keeps_is_not_clamped_with_the_pressure():
    system = shaken(3, tank=(3, 3, 4), water=(2, 2, 3))
    simulation = Simulation(system, PlainDevice(), boundary="clamped", precision="double")
    simulation.start()
    state = simulation.state
    places = Units(np.float64).coordinates(state.r.reshape(3, -1).T.copy(), system.box)
    before, velocity = state.s.copy(), 10 * (places - system.margin).T.ravel()
    # fluid that is drawn apart and pressed together again, on the spot
    changes = []
    for sign in (1, -1):
        state.v[:] = sign * velocity
        simulation.parts["density"]()
        changes.append(state.s - before)
        assert state.term.min() >= 0
    assert changes[0].max() < 0
    # the two are taken half a step before and after
    assert np.abs(changes[1]).max() < 0.01 * np.abs(changes[0]).max()


def test_densities_by_equation_3_are_clamped_with_their_pressures():
    system, found = shaken(3, tank=(3, 3, 4), water=(2, 2, 3)), {}
    for boundary in ("none", "clamped"):
        simulation = Simulation(system, PlainDevice(), density="summation", boundary=boundary, precision="double")
        simulation.start()
        found[boundary] = simulation.state.s, simulation.state.term
    free, held = found["none"], found["clamped"]
    assert free[0].min() < -0.1
    for values, others in zip(held, free, strict=True):
        np.testing.assert_array_equal(values, np.maximum(others, 0))


@pytest.mark.parametrize("density", DENSITIES)
def test_what_equation_3_gives_is_measured_with_all_ghosts_and_changes_no_bit_of_the_run(density):
    system = replace(
        shaken(3, tank=(3, 3, 5), water=(2, 2, 3)), walls=Walls(layers=1), obstacles=np.array([[0.05, 0.05, 0.09]])
    )
    runs = [Simulation(system, PlainDevice(), density=density, precision="double") for _ in range(2)]
    # before the first step, too
    for steps in (0, 2):
        for run in runs:
            run.start()
            run.step(steps)
        summed, position = runs[0].summed_condensation(), runs[0].particles()["position"]
        # of the air around the fluid as it is now
        air = runs[0].air_samples
        np.testing.assert_array_equal(air, sample(position, system, AirSampling(), runs[0].steps))
        ghosts = np.concatenate([wall_sites(system).position, air, system.obstacles])
        assert len(air) > 0
        expected = sph_by_hand.density(position, ghosts, system) / system.fluid.density - 1
        np.testing.assert_allclose(summed, expected, atol=1e-7)
        for name in ("r", "v", "u", "s", "term", "a"):
            np.testing.assert_array_equal(*(getattr(run.state, name) for run in runs), err_msg=name)


def test_ghosts_at_least_halve_the_density_deficit(dam, one_core):
    system, missing = dam.system(), {}
    for boundary in ("ghosts", "none"):
        simulation = Simulation(system, one_core, boundary=boundary)
        missing[boundary] = np.maximum(-simulation.summed_condensation(), 0).mean()
    # half of it is missing at a face; of samples of the air there are a few too few or too many
    assert missing["none"] > 0.1
    assert missing["ghosts"] < 0.03


def drift_with(simulation, index, *velocities):
    """Let one component of one particle have these velocities, one after the other, and then its own again."""
    own = simulation.state.v[index]
    for velocity in velocities:
        simulation.state.v[index] = velocity
        simulation._drift()
    simulation.state.v[index] = own


def test_a_particle_that_was_through_a_wall_stops_the_run_and_is_named_though_it_came_back(shaken_water):
    simulation = Simulation(shaken_water, PlainDevice())
    out = (0.011 + shaken_water.position[7, 0]) / shaken_water.dt
    # back to a hundredth of that beyond the wall, and then inside
    drift_with(simulation, 7, -out, 0.01 * out, 0.99 * out)
    simulation.steps = 40
    assert simulation.excursions()[7] == pytest.approx(0.011, rel=1e-3)
    assert np.delete(simulation.excursions(), 7).max() == 0
    with pytest.raises(DivergenceError, match="particle 7 was through a wall between steps 0 and 40, 0.011 m outside"):
        simulation._look()


def test_how_far_a_particle_was_outside_is_kept_by_its_id_wherever_it_is_stored(shaken_water):
    simulation = Simulation(shaken_water, PlainDevice())
    # the next sort may leave any particle anywhere
    simulation.state.ids[:] = np.roll(simulation.state.ids, 30)
    assert (number := simulation.state.ids[7]) != 7
    drift_with(simulation, 7, -(0.011 + shaken_water.position[7, 0]) / shaken_water.dt)
    assert simulation.excursions()[number] == pytest.approx(0.011, rel=1e-3)
    assert np.delete(simulation.excursions(), number).max() == 0


def test_the_farthest_particle_is_named_with_how_many_were_through_a_wall_and_within_half_a_spacing_none_was():
    system = shaken()
    excursion, still = np.zeros(system.count), np.zeros((system.count, 3))
    # of 0.02 m
    excursion[[3, 9]] = 0.00999
    require_inside(excursion, still, system, "now")
    excursion[[3, 9, 40]] = 0.01001, 0.0134, 0.0101
    words = "tank: particle 9 was through a wall now, 0.0134 m outside the tank, and 3 in all: use a smaller time step"
    with pytest.raises(DivergenceError, match=f"^{words}$"):
        require_inside(excursion, still, system, "now")


def test_the_first_particle_without_a_finite_velocity_is_named_whether_it_has_none_now_or_had_none():
    system = shaken()
    excursion, velocity = np.zeros(system.count), np.zeros((system.count, 3))
    velocity[6, 2] = np.nan
    with pytest.raises(
        DivergenceError, match="^tank: particle 6 has no finite velocity now: use a time step below 3e-05 s$"
    ):
        require_inside(excursion, velocity, system, "now")
    excursion[2] = np.inf
    with pytest.raises(DivergenceError, match="particle 2 has no finite velocity"):
        require_inside(excursion, velocity, system, "now")


def moving(system, speed=0.0, acceleration=0.0, condensation=-0.1, elsewhere=-0.2):
    """Particles of which one is as fast, one as much accelerated and one as dense; all others rest, and are thin."""
    found = {name: np.zeros((system.count, 3)) for name in ("velocity", "acceleration")}
    found["velocity"][4] = speed * np.array([0.6, 0, -0.8])
    found["acceleration"][90] = acceleration * np.array([0, -0.28, 0.96])
    return found | {"condensation": np.where(np.arange(system.count) == 17, condensation, elsewhere)}


def test_a_time_step_is_refused_just_beyond_each_limit_of_the_moment_and_not_before():
    fluid, resolution = shaken().fluid, shaken().resolution
    h, c = 1.3 * 0.02, np.sqrt(7 * 1.3e6 / 880)
    bounds = {
        # at rest fluid that is thin has no slower sound than at rest
        "Courant": (
            (0.25 * h / (c + 3), {"speed": 3.0}),
            (0.25 * h / (c * 1.04**3 + 3), {"speed": 3, "condensation": 0.04}),
        ),
        "force": ((0.25 * np.sqrt(h / 5e6), {"acceleration": 5e6}),),
        "viscous": ((0.125 * h / (3 * 9 * c / 20), {}),),
        "diffusive": ((0.125 * h / (1.7 * c), {}),),
    }
    changes = {"viscous": {"viscosity": 9.0}, "diffusive": {"diffusion": 1.7}}
    for name, cases in bounds.items():
        for limit, state in cases:
            system = SimpleNamespace(name="pond", fluid=replace(fluid, **changes.get(name, {})), resolution=resolution)
            particles = moving(shaken(), **state)
            system.dt = limit * (1 - 1e-9)
            require_limits(particles, system, "now")
            system.dt = limit * (1 + 1e-9)
            with pytest.raises(DivergenceError, match=f"beyond the {name} limit, {limit:.3g} s, now: particles reach"):
                require_limits(particles, system, "now")


def test_what_a_time_step_is_too_long_for_is_told_in_numbers():
    found = moving(shaken(), speed=412.0, acceleration=2346.0, condensation=0.0123)
    words = r"particles reach 412 m/s, 2.35e\+03 m/s2 and 1.23% of compression"
    with pytest.raises(DivergenceError, match=f"^tank: the time step 3e-05 s is beyond .* at step 7: {words}$"):
        require_limits(found, shaken(), "at step 7")


def test_the_steps_between_which_something_happened_are_those_of_the_last_two_looks(shaken_water):
    simulation = Simulation(shaken_water, PlainDevice())
    for steps in (20, 50):
        simulation.steps = steps
        simulation._look()
    simulation._excursion[8] = 0.02
    simulation.steps = 90
    with pytest.raises(DivergenceError, match="particle 8 was through a wall between steps 50 and 90, 0.02 m"):
        simulation._look()
    simulation._excursion[8] = 0
    simulation.state.v[8] = 300
    with pytest.raises(DivergenceError, match="limit, .* s, at step 90: particles reach 300 m/s"):
        simulation._look()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_velocity_that_was_no_finite_number_stops_the_run_and_is_named(shaken_water, value):
    simulation = Simulation(shaken_water, PlainDevice())
    drift_with(simulation, 11, value)
    with pytest.raises(DivergenceError, match="particle 11 has no finite velocity between steps 0 and 0"):
        simulation._look()


@pytest.mark.parametrize(
    ("array", "value", "words"),
    [
        ("v", 200.0, "beyond the Courant limit"),
        ("s", 0.4, "beyond the Courant limit"),
        ("a", 1e8, "beyond the force"),
        # what is no number is not within a limit either
        ("s", float("nan"), "beyond the Courant limit, nan s"),
    ],
)
def test_a_time_step_beyond_the_limits_of_the_moment_stops_the_run(shaken_water, array, value, words):
    simulation = Simulation(shaken_water, PlainDevice())
    simulation._look()
    getattr(simulation.state, array)[3] = value
    with pytest.raises(DivergenceError, match=f"the time step 3e-05 s is {words}"):
        simulation._look()


def test_ghosts_in_the_air_are_not_there_before_they_are_looked_at_where_they_do_nothing(shaken_water):
    simulation = Simulation(shaken_water, PlainDevice())
    assert "air" not in vars(simulation)
    assert "ghosts in air" not in simulation.parts
    assert "ghosts in air" in Simulation(shaken_water, PlainDevice(), density="summation").parts


def test_what_cannot_work_is_refused_in_one_line(shaken_water):
    for options in ({"strategy": "x"}, {"density": "x"}, {"boundary": "x"}, {"precision": "half"}):
        with pytest.raises(InputError, match="must be one of"):
            Simulation(shaken_water, PlainDevice(), **options)
    assert repr(Simulation(shaken_water, PlainDevice())) == "Simulation(tank, 125 particles, sorted cells, plain)"
    with pytest.raises(InputError, match="device = 'serial': must be a device of repro.parallel"):
        Simulation(shaken_water, "serial")


def test_what_does_not_fit_is_refused_before_it_is_allocated(shaken_water):
    class Small(PlainDevice):
        @staticmethod
        def free_memory():
            return 1000

        @staticmethod
        def zeros(shape, dtype):
            raise DeviceError("allocated")

    with pytest.raises(MemoryLimitError, match="125 particles"):
        Simulation(shaken_water, Small())


def counting(kind):
    """A device that counts the bytes that it is asked for."""

    class Counting(kind):
        taken = 0

        def counted(self, array):
            self.taken += array.nbytes
            return array

        def zeros(self, shape, dtype):
            return self.counted(np.zeros(shape, dtype))

        def to_device(self, array):
            return self.counted(np.array(array))

    return Counting()


MANY = StillWater(column=(10, 10, 12), air=2, spacing=0.02).system()
ONE = shaken(3, tank=(20, 10, 11), water=(1, 1, 1))


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(
    ("system", "kind", "options", "times"),
    [
        (MANY, PlainDevice, {"strategy": "linked list"}, 2.4),
        (MANY, PlainDevice, {"few": 0}, 1.2),
        (MANY, PlainDevice, {"few": 2000}, 1.45),
        (MANY, PlainCore, {}, 1.2),
        (MANY, PlainCore, {"strategy": "linked list, pairs once"}, 1.9),
        (replace(ONE, walls=Walls(layers=6)), PlainDevice, {"boundary": "ghosts"}, 2.1),
        (replace(ONE, walls=Walls(layers=6)), PlainDevice, {"strategy": "cell table", "density": "summation"}, 1.5),
        (ONE, PlainDevice, {"boundary": "ghosts", "density": "summation"}, 1.8),
        (
            replace(ONE, obstacles=MANY.position[MANY.position[:, 2] < 0.2] + np.array([0.1, 0, 0])),
            PlainDevice,
            {},
            1.4,
        ),
    ],
    ids=["fluid", "list", "shared rows", "words", "pairs once", "walls", "walls without ghosts", "air", "obstacles"],
)
def test_a_simulation_takes_no_more_memory_than_it_asks_for_and_not_much_less(system, kind, options, times, precision):
    """Each of its parts makes up most of one of these."""
    device = counting(kind)
    simulation = Simulation(system, device, precision=precision, **{"boundary": "none"} | options)
    # what is made when it is asked for
    assert simulation.walls.count >= 0
    if simulation.air_acts:
        assert simulation.air.count > 0
    assert device.taken <= simulation.memory <= times * device.taken


@pytest.mark.parametrize("density", ["continuity", "rate"])
@pytest.mark.parametrize(("air", "least", "most"), [(0, 0.0, 0.1), (2, 0.98, 1.0)])
@pytest.mark.filterwarnings("ignore:.*hangs from it")
def test_fluid_hangs_from_a_lid_that_it_touches_and_falls_freely_below(one_core, air, least, most, density):
    """As `System` warns; the share of free fall in 0.02 s, of a block so many spacings below the lid."""
    block = StillWater(column=(4, 4, 4), air=3 + air, fluid=Fluid(stiffness=2e4)).system()
    system = replace(block, position=block.position + np.array([0, 0, 3 * block.resolution.spacing]))
    fallen = system.position - after(system, one_core, 100, density=density)["position"]
    assert least < fallen[:, 2].mean() / (9.81 * (100 * system.dt) ** 2 / 2) < most


def test_particles_in_disorder_come_to_rest_at_the_viscous_limit_of_the_time_step(one_core):
    """At 1.2 of it, where the lattice's viscosity would still let them, they fly apart."""
    resolution, fluid = Resolution(0.01), Fluid(stiffness=6e4, viscosity=20.0, gravity=0.0, diffusion=0.0)
    chance, index = np.random.default_rng(1), np.indices((6, 6, 6)).reshape(3, -1).T
    position = (index + 0.5 + chance.uniform(-0.15, 0.15, index.shape)) * resolution.spacing
    speed = chance.normal(0, 0.1, index.shape)
    step = 0.98 * min(time_steps(fluid, resolution, np.linalg.norm(speed, axis=1).max()).values())
    found = after(System(fluid, resolution, (0.06,) * 3, position, speed, step), one_core, 80)["velocity"]
    assert np.sqrt((found**2).mean()) < 0.05 * np.sqrt((speed**2).mean())


def test_the_velocity_that_is_foreseen_is_that_at_the_end_of_the_step():
    system = shaken(3, tank=(3, 3, 4), water=(2, 2, 3))
    simulation = Simulation(system, PlainDevice(), precision="double")
    state, chance = simulation.state, np.random.default_rng(2)
    state.a[:] = chance.normal(0, 100, len(state.a))
    v, a, r = state.v.copy(), state.a.copy(), state.r.copy()
    simulation._drift()
    np.testing.assert_allclose(state.v, v + system.dt / 2 * a, rtol=1e-13)
    np.testing.assert_allclose(state.u, v + system.dt * a, rtol=1e-13)
    # places go on with the velocity at the middle of the step
    units = np.repeat(Units(np.float64).lengths(system.box), system.count)
    np.testing.assert_allclose((state.r - r) * units, system.dt * state.v, atol=1e-13)
    simulation._kick()
    np.testing.assert_allclose(state.v, v + system.dt * a, rtol=1e-13)
