"""Set-ups, what they refuse, and time steps."""

import re
import warnings
from dataclasses import asdict, replace
from functools import partial
from inspect import signature

import numpy as np
import pytest
from scipy.spatial import cKDTree

import repro.sph
from repro.errors import InputError
from repro.sph.air import AirSampling, most
from repro.sph.cases import DamBreak, StillWater
from repro.sph.exact import rest_condensation
from repro.sph.fluid import Fluid, Resolution, time_steps
from repro.sph.ghosts import wall_sites
from repro.sph.kernels import KERNELS
from repro.sph.simulation import Simulation
from repro.sph.system import Walls


def test_the_papers_dam_break_has_its_ten_thousand_fluid_particles_in_koshizuka_and_okas_tank():
    system = DamBreak().system()
    assert system.count == 10_000
    assert system.depth == pytest.approx(2 * 0.146)
    # 25 spacings wide, and 8 deep
    assert system.tank == pytest.approx((4 * 0.146, 8 / 25 * 0.146, 4 * 0.146))
    assert system.position.min() == pytest.approx(system.resolution.spacing / 2)


def test_each_column_of_water_begins_with_the_pressure_under_its_own_surface():
    high, low = (np.stack(np.meshgrid([x], [0, 1], np.arange(n)), -1).reshape(-1, 3) for x, n in ((0, 6), (1, 3)))
    drop = np.array([[1, 1, 12]])
    position = (np.concatenate([high, low, drop]) + 0.5) * 0.01
    system = replace(water.system(), position=position, velocity=np.zeros_like(position), tank=(0.02, 0.02, 0.2))
    surface = np.repeat([0.06, 0.03, 0.13], [len(high), len(low), 1])
    np.testing.assert_allclose(system.depths, surface - position[:, 2])


def test_a_column_of_water_goes_on_over_a_gap_within_the_support_and_ends_below_a_wider_one():
    """Of 2.6 spacings; columns of one width along x and another number of them along y."""
    z = np.array([0.5, 1.5, 4.05, 6.6, 9.3])
    position = np.concatenate([np.stack([0 * z + x + 0.5, 0 * z + y + 0.5, z], 1) for x, y in ((0, 0), (1, 2), (0, 2))])
    position[10:, 2] += 3
    system = replace(water.system(), position=0.01 * position, velocity=np.zeros_like(position), tank=(0.02, 0.03, 0.2))
    expected = np.array([6.6, 5.6, 3.05, 0.5, 0.5])
    np.testing.assert_allclose(system.depths, 0.01 * np.tile(expected, 3), rtol=1e-9)


def test_compressible_flows_are_refused_with_a_stiffness_that_will_do():
    with pytest.raises(InputError, match="has the Mach number 0.85; at least") as error:
        DamBreak(fluid=Fluid(stiffness=2272.0)).system()
    enough = float(str(error.value).split("at least ")[1].split(" Pa")[0])
    system = DamBreak(fluid=Fluid(stiffness=enough)).system()
    assert 0.29 < system.speed / system.fluid.sound_speed <= 0.3
    # the column's weight does not compress it by more than a few percent either
    assert rest_condensation(system.depth, system.fluid) < 0.025


@pytest.mark.parametrize(("ratio", "air", "hangs"), [(1.3, 0, True), (1.3, 1, True), (1.3, 2, False), (2.0, 2, True)])
def test_fluid_that_would_hang_from_the_lid_is_warned_of(ratio, air, hangs):
    """Within a smoothing length of it, unless it fills the tank or weighs nothing, or the tank is open."""
    case = StillWater(column=(3, 3, 4), air=air, ratio=ratio)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        full = StillWater(column=(3, 3, 4), air=0, ratio=ratio).system()
        for free in ({"fluid": Fluid(gravity=0.0)}, {"walls": Walls(lid=False)}):
            replace(full, position=full.position[9:], velocity=full.velocity[9:], **free)
        if not hangs:
            case.system()
            return
    make = case.system if air else partial(replace, full, position=full.position[9:], velocity=full.velocity[9:])
    with pytest.warns(UserWarning, match="hangs from it: leave at least a smoothing length of air"):
        make()


def test_a_smoothing_length_of_air_is_enough_and_a_tank_with_one_hole_is_not_full():
    # lengths that have no rounding
    pond = StillWater(column=(2, 2, 2), spacing=0.25, ratio=1.0, air=1)
    full = StillWater(column=(6, 6, 6), air=0).system()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = pond.system()
        replace(full, position=full.position)
    assert system.tank[2] - system.depth == system.resolution.smoothing_length
    words = "tank: fluid 0 m below the lid hangs from it: leave at least a smoothing length of air, 0.013 m, in a tank"
    with pytest.warns(UserWarning, match=f"^{words} 0.073 m high or more$"):
        replace(full, name="tank", position=full.position[1:], velocity=full.velocity[1:])


def sites(*ranges) -> np.ndarray:
    """Places in m on the lattice of StillWater."""
    return (np.stack(np.meshgrid(*ranges, indexing="ij"), -1).reshape(-1, 3) + 0.5) * 0.01


POND = StillWater(column=(4, 4, 4), air=8)


@pytest.mark.parametrize(
    ("ratio", "shift", "gap", "hangs"), [(1.3, 0, 0, 1), (1.3, 0.5, 1, 1), (1.3, 0, 2, 0), (2, 0, 1, 1)]
)
def test_fluid_that_would_hang_from_an_obstacle_is_warned_of(ratio, shift, gap, hangs):
    """As from a lid; wherever the plate's lattice lies over that of the fluid, once however many particles hang."""
    plate = sites([1 + shift, 2 + shift], [1 + shift, 2 + shift], [4 + gap, 5 + gap])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        replace(replace(POND, ratio=ratio).system(), obstacles=plate)
    expected = (
        r"fluid below the obstacle at \(0.0[12]5?, 0.0[12]5?, 0.0.5\) m hangs from it: leave at least a smoothing "
    )
    assert len(found) == hangs
    assert all(re.search(f"{expected}length of air, {ratio / 100:.2g} m$", str(line.message)) for line in found)


def without(system, taken: np.ndarray):
    """A system in which obstacles stand where fluid was."""
    left = system.position[cKDTree(taken).query(system.position)[0] > 1e-6]
    return replace(system, position=left, velocity=np.zeros_like(left), obstacles=taken)


@pytest.mark.parametrize(
    ("system", "taken"),
    [
        # water that touches a post slips along it
        (POND.system(), sites([1, 2], [1, 2], range(8))),
        # on water that is below others the others press
        (POND.system(), sites([1, 2], [1, 2], [1])),
        # a tank that is full, of water and of what stands in it
        (StillWater(column=(4, 4, 4), air=0).system(), sites([1, 2], [1, 2], [1, 2, 3])),
    ],
    ids=["post", "deep", "full"],
)
def test_fluid_beside_an_obstacle_below_other_fluid_or_in_a_full_tank_hangs_from_nothing(system, taken):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without(system, taken)
        replace(POND.system(), fluid=Fluid(gravity=0.0), obstacles=sites([1], [1], [4]))


def test_a_given_time_step_is_taken_and_one_is_chosen_below_all_limits():
    system = StillWater().system()
    limits = time_steps(system.fluid, system.resolution, system.speed)
    assert system.dt == pytest.approx(0.8 * min(limits.values()))
    assert StillWater(time_step=1e-6).system().dt == 1e-6


water = StillWater(column=(4, 4, 4))
thin = StillWater(column=(2, 1, 2)).system()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StillWater(time_step=1e-3).system(), "time step 0.001 s: above 0 and within the Courant limit"),
        (lambda: StillWater(time_step=-1e-6).system(), "time_step = -1e-06: must be a number above 0, in s"),
        (lambda: StillWater(ratio=0.0).system(), "ratio = 0.0: must be a number from 1 to 4"),
        (lambda: StillWater(spacing=0.0).system(), "spacing = 0.0: must be a number above 0, in m"),
        (lambda: StillWater(kernel="gauss").system(), "kernel = 'gauss': must be one of"),
        (lambda: StillWater(column=(4, 0, 4)), "column = (4, 0, 4): must be 3 values, each a whole number from 1"),
        (lambda: StillWater(column=(4, 4)), "column = (4, 4): must be 3 values"),
        (lambda: StillWater(column="444"), "column = '444': must be 3 values"),
        (lambda: DamBreak(column=(8.5, 4, 16)), "column = (8.5, 4, 16): must be 3 values, each a whole number"),
        (lambda: StillWater(air=-1), "air = -1: must be a whole number from 0"),
        (lambda: DamBreak(length=float("nan")), "length = nan: must be a number above 0"),
        (lambda: DamBreak(height=float("inf")), "height = inf: must be a number above 0, in widths"),
        (lambda: DamBreak(length="4"), "length = '4': must be a number"),
        (lambda: DamBreak(length=3.3).system(), "82.5 spacings; the tank must be a whole number of them, as with 3.28"),
        (lambda: DamBreak(length=0.48).system(), "a column 25 particles long lies outside a tank 12 spacings long"),
        (lambda: DamBreak(height=1.0).system(), "a column 50 particles high lies outside a tank 25 spacings high"),
        (lambda: DamBreak(width=0.0), "width = 0.0"),
        (lambda: Fluid(density=0.0), "density = 0.0: must be a number above 0, in kg/m3"),
        (lambda: Fluid(viscosity=-1.0), "viscosity = -1.0: must be a number of at least 0"),
        (lambda: Fluid(diffusion=-0.1), "diffusion = -0.1: must be a number of at least 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_overlapping_particles_are_refused():
    system = water.system()
    position = system.position.copy()
    position[3] = position[4] + 0.001
    with pytest.raises(InputError, match="2 particles overlap"):
        replace(system, position=position)


def test_obstacles_outside_the_tank_or_in_the_fluid_are_refused():
    system = water.system()
    with pytest.raises(InputError, match="1 obstacles lie outside the tank"):
        replace(system, obstacles=np.array([[0.0, 0.0, 1.0]]))
    with pytest.raises(InputError, match="2 particles overlap"):
        replace(system, obstacles=system.position[:1] + 0.001)


def test_particles_outside_the_tank_or_without_a_finite_place_are_refused():
    system = water.system()
    position = system.position.copy()
    position[3, 2] = -0.001
    with pytest.raises(InputError, match="1 particles lie outside the tank"):
        replace(system, position=position)
    position[3, 2] = np.nan
    with pytest.raises(
        InputError, match=r"position = an array of float64 of the shape \(\d+, 3\), 1 not finite: must be"
    ):
        replace(system, position=position)


@pytest.mark.parametrize("own", [False, True])
def test_walls_have_a_support_of_ghosts_on_the_fluids_lattice(own, own_kernel):
    system = replace(water, kernel=own_kernel if own else "wendland c2").system()
    walls = wall_sites(system)
    spacing, support = system.resolution.spacing, system.resolution.support
    # three layers are the first to be as thick as 2.6 spacings, and four as 3.9
    side = 4 + 2 * (4 if own else 3)
    assert len(walls.position) == side * side * (side + 8) - 4 * 4 * 12
    on_lattice = walls.position / spacing - 0.5
    np.testing.assert_allclose(on_lattice, np.round(on_lattice), atol=1e-9)
    assert walls.position.min() <= -support + spacing / 2
    # a corner lies beyond three walls
    assert walls.kind[np.argmin(walls.position.sum(1))] == 7


def test_a_tank_that_the_lattice_does_not_fit_is_refused():
    system = replace(water.system(), tank=(0.043, 0.04, 0.12))
    with pytest.raises(InputError, match="tank side x = 0.043 m is no whole number of spacings"):
        wall_sites(system)


def test_the_package_offers_its_public_names_and_no_others():
    for name in repro.sph.__all__:
        assert name == "KERNELS" or getattr(repro.sph, name).__module__.startswith("repro.sph.")
    assert repro.sph.KERNELS is KERNELS
    with pytest.raises(ImportError, match="cannot import name 'Water'"):
        exec("from repro.sph import Water")


def test_particles_overlap_below_a_quarter_of_the_spacing():
    system = water.system()
    position, spacing = system.position.copy(), system.resolution.spacing
    position[3] = position[4] + (0.26 * spacing, 0, 0)
    replace(system, position=position)
    position[3] = position[4] + (0.24 * spacing, 0, 0)
    with pytest.raises(InputError, match="2 particles overlap"):
        replace(system, position=position)


def test_a_tank_has_all_its_sites_where_its_side_is_rounded_below_a_whole_number_of_spacings():
    # 0.3 / 0.1 is below 3
    system = StillWater(column=(3, 4, 3), spacing=0.1, air=0).system()
    walls = wall_sites(replace(system, tank=(0.3, 0.4, 0.3)))
    assert len(walls.position) == 9 * 10 * 9 - 36


@pytest.mark.parametrize(("velocity", "speed"), [((0.3, 0.0, -0.4), 2 * np.sqrt(9.81 * 0.04)), ((2.0, -3.0, 6.0), 7.0)])
def test_the_fastest_flow_to_expect_is_ritters_front_or_what_is_there_at_the_start(velocity, speed):
    system = water.system()
    moving = np.zeros_like(system.velocity)
    moving[7] = velocity
    assert replace(system, velocity=moving).speed == pytest.approx(speed)


def test_what_is_not_given_is_what_the_documentation_says():
    assert asdict(Fluid()) == {
        "density": 1000.0, "stiffness": 1119e3, "viscosity": 0.1, "gravity": 9.81, "diffusion": 0.1, "xsph": 0.0
    }  # fmt: skip
    assert asdict(Resolution(0.02)) == {"spacing": 0.02, "ratio": 1.3, "kernel": "wendland c2"}
    assert asdict(Walls()) == {"layers": 0, "lid": True, "still": False}
    assert asdict(AirSampling()) == {"radius": 0.82, "attempts": 12, "rounds": 5, "every": 1, "carried": False}
    case = StillWater()
    assert (case.column, case.spacing, case.air, case.ratio, case.kernel) == ((12, 12, 16), 0.01, 8, 1.3, "wendland c2")
    paper = DamBreak.of_paper()
    assert (paper.column, paper.walls) == ((20, 20, 25), Walls(1, lid=False, still=True))
    other = DamBreak.of_paper((8, 4, 12), still=False, width=0.2)
    assert (other.walls, other.system().tank) == (Walls(1, lid=False, still=False), pytest.approx((0.5, 0.1, 0.3)))
    given = {name: value.default for name, value in signature(Simulation).parameters.items()}
    assert given | {"system": 0, "device": 0} == {
        "system": 0, "device": 0, "strategy": "sorted cells", "density": "continuity", "boundary": "ghosts",
        "precision": "single", "sampling": AirSampling(), "few": 60_000, "ranks": None,
    }  # fmt: skip


def test_a_case_hands_on_all_that_is_given():
    fluid = Fluid(density=900.0, stiffness=2e6, viscosity=0.2)
    more = {"fluid": fluid, "ratio": 1.7, "kernel": "cubic spline", "time_step": 2e-6}
    pond = StillWater(column=(3, 4, 5), spacing=0.03, air=6, **more).system()
    dam = DamBreak(column=(4, 3, 5), width=0.2, length=3.0, height=2.5, walls=Walls(2, lid=False), **more).system()
    for system in (pond, dam):
        assert (system.fluid, system.resolution.ratio, system.resolution.kernel) == (fluid, 1.7, "cubic spline")
        assert (system.dt, system.resolution.smoothing_length) == (2e-6, pytest.approx(1.7 * system.resolution.spacing))
        assert not system.velocity.any()
    assert (pond.name, pond.tank, pond.walls) == ("still water", pytest.approx((0.09, 0.12, 0.33)), Walls())
    assert (dam.name, dam.tank, dam.walls) == ("dam break", pytest.approx((0.6, 0.15, 0.5)), Walls(2, lid=False))
    for system, (nx, ny, nz) in ((pond, (3, 4, 5)), (dam, (4, 3, 5))):
        places = [((x + 0.5), (y + 0.5), (z + 0.5)) for x in range(nx) for y in range(ny) for z in range(nz)]
        np.testing.assert_allclose(system.position, np.array(places) * system.resolution.spacing)


def test_a_system_without_particles_or_with_other_velocities_than_those_of_its_particles_is_refused(monkeypatch):
    system, nothing = water.system(), np.zeros((0, 3))
    with pytest.raises(InputError, match="^still water: no particle$"):
        replace(system, position=nothing, velocity=nothing)
    words = re.escape("still water: positions (64, 3) and velocities (63, 3): both (count, 3)")
    with pytest.raises(InputError, match=f"^{words}$"):
        replace(system, velocity=system.velocity[1:])
    with pytest.raises(InputError, match="tank side y = 0.0099: at least one spacing, 0.01 m"):
        replace(thin, tank=(0.02, 0.0099, 0.1))
    asked = []
    monkeypatch.setattr("repro.sph.system.require_ids", asked.append)
    replace(system, name="pond")
    assert asked == [64]


@pytest.mark.parametrize(
    ("make", "allowed", "refused"),
    [
        (lambda value: Fluid(xsph=value), (0, 1), (-1e-9, 1.001)),
        (lambda value: Fluid(gravity=value), (0,), (-1e-9,)),
        (lambda value: Fluid(viscosity=value), (0,), (-1e-9,)),
        (lambda value: Fluid(diffusion=value), (0,), (-1e-9,)),
        (lambda value: Fluid(stiffness=value), (1e-9,), (0,)),
        (lambda value: Resolution(0.01, value), (1, 4), (0.999, 4.001)),
        (lambda value: Resolution(value), (1e-9,), (0,)),
        (lambda value: Walls(layers=value), (0, 64), (-1, 65)),
        (lambda value: AirSampling(radius=value), (0.5, 2), (0.499, 2.001)),
        (lambda value: AirSampling(attempts=value), (1, 1000), (0, 1001)),
        (lambda value: AirSampling(rounds=value), (0, 1000), (-1, 1001)),
        (lambda value: AirSampling(every=value), (1, 2**30), (0, 2**30 + 1)),
        (lambda value: StillWater(column=(1, value, 1)), (1, 2**15), (0, 2**15 + 1)),
        (lambda value: DamBreak(column=(value, 1, 1)), (1, 2**15), (0, 2**15 + 1)),
        (lambda value: StillWater(air=value), (0, 2**15), (-1, 2**15 + 1)),
        (lambda value: replace(water.system(), time_step=value), (1e-9,), (0,)),
        # a tank of a spacing, and one whose side is a whole number of spacings but for a millionth
        (lambda value: replace(thin, tank=(0.02, value, 0.1)), (0.01,), (0.0099,)),
        (
            lambda value: wall_sites(replace(water.system(), tank=(0.04, 0.04 * value, 0.12))),
            (1 + 9e-7,),
            (1 + 1.1e-6,),
        ),
        (lambda value: DamBreak(column=(4, 1, 1), length=value).system(), (2 + 2e-7,), (2 + 3e-7,)),
    ],
)
def test_limits_are_where_they_are_said_to_be(make, allowed, refused):
    for value in allowed:
        make(value)
    for value in refused:
        with pytest.raises(InputError):
            make(value)


def test_a_flow_that_is_too_fast_and_a_step_that_is_too_long_are_refused_in_numbers():
    system = water.system()
    c, fast = system.fluid.sound_speed, np.zeros_like(system.velocity)
    fast[5] = (0, 0.3001 * c, 0)
    words = (
        f"still water: stiffness = 1.119e+06 Pa: in it a flow of {0.3001 * c:.3g} m/s has the Mach number 0.3; at "
        f"least {1.005 * 1119e3 * (0.3001 / 0.3) ** 2:.3g} Pa keeps it below 0.3"
    )
    with pytest.raises(InputError, match=f"^{re.escape(words)}$"):
        replace(system, velocity=fast)
    fast[5] = (0, 0.2999 * c, 0)
    moving = replace(system, velocity=fast)
    limit = min(time_steps(system.fluid, system.resolution, 0.2999 * c).values())
    replace(moving, time_step=limit * (1 - 1e-9))
    words = f"still water: time step {limit:g} s: above 0 and within the Courant limit, {limit:.3g} s"
    with pytest.raises(InputError, match=f"^{re.escape(words)}$"):
        replace(moving, time_step=limit * (1 + 1e-9))


def test_nothing_is_in_the_outermost_cells_of_the_box_and_what_rests_in_its_corner_is_out_of_reach(own_kernel):
    """Ghosts of up to so many layers, a lid or none, and supports of 2 to 3 smoothing lengths."""
    for layers, ratio, kernel, lid in (
        (0, 1.1, "wendland c2", True),
        (7, 1.3, "cubic spline", False),
        (1, 2, own_kernel, False),
    ):
        system = replace(
            StillWater(column=(3, 4, 5), air=4, ratio=ratio, kernel=kernel).system(), walls=Walls(layers, lid=lid)
        )
        support, spacing = system.resolution.support, system.resolution.spacing
        deep = max(layers, int(np.ceil(support / spacing)))
        assert system.margin == pytest.approx((deep + 1) * spacing + 2 * support)
        assert system.box == pytest.approx([side + 2 * system.margin for side in system.tank])
        assert system.ceiling == pytest.approx(system.tank[2] + (0 if lid else support))
        places = np.concatenate([wall_sites(system).position, np.eye(3) * system.tank, [[0, 0, system.ceiling]]])
        inside, width = places + system.margin, np.array(system.box) / system.cells.shape
        assert (width >= support).all()
        assert (inside > width).all()
        assert (inside < np.array(system.box) - width).all()


def test_air_has_room_for_spheres_that_are_packed_as_densely_as_can_be():
    """Of a radius of half their distance; their centres lie in the tank, they reach beyond it by a radius."""
    system = StillWater(column=(5, 6, 7), air=3).system()
    for radius in (0.82, 1.5):
        spheres = np.pi / 6 * radius**3
        space = (5 + radius) * (6 + radius) * (10 + radius)
        found = most(system, AirSampling(radius=radius)) * spheres / space
        assert np.pi / np.sqrt(18) <= found < np.pi / np.sqrt(18) + 1.01 * spheres / space
