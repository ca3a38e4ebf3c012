"""Darcy's law in geometries whose permeability is known, and what a permeability must not depend on."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repro.errors import CheckError, DivergenceError, InputError, MemoryLimitError
from repro.lbm.exact import bcc_permeability, bcc_permeability_as_printed, rounded_force, sphere_drag
from repro.lbm.media import PoreSpace, random_spheres, sphere_crystal
from repro.lbm.porous import benchmark
from repro.lbm.porous.permeability import FlowThrough, flow_through, in_units, mirrored, refined
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import Permeability, PorousFlow
from repro.lbm.porous.strategies import STRATEGIES
from repro.papers.porous.media import speed
from repro.papers.porous.media.permeability import resolution_check, reversal
from repro.parallel import select

COEFFICIENTS = pd.read_csv(
    Path(__file__).resolve().parents[2] / "data" / "reference" / "sangani_acrivos_bcc.csv", comment="#"
)["alpha"]


def slit(height, shape=(1, 3)):
    """A plane channel along x of `height` pores between walls one voxel thick."""
    solid = np.zeros((shape[0], height + 1, shape[1]), bool)
    solid[:, 0] = True
    return PoreSpace(solid)


def poiseuille(height, slip=0.0):
    """Mean over the box of the exact velocity at the nodes: the midpoint rule adds 1/24 to H^2/12."""
    return height / (height + 1) * (height**2 / 12 + 1 / 24 + slip)


@pytest.mark.parametrize("tau", [0.6, 1.0, 1.7])
@pytest.mark.parametrize("height", [3, 8])
def test_a_plane_channel_has_the_permeability_of_poiseuille_flow_at_any_viscosity(threads, tau, height):
    """With the magic number 3/16 a half-way wall lies exactly half-way, on any grid."""
    run = flow_through(slit(height), threads, relaxation_time=tau, precision="double", interval=100)
    assert run.k == pytest.approx(poiseuille(height), rel=1e-4)


@pytest.mark.parametrize("tau", [0.6, 1.0, 1.7])
def test_pores_that_nothing_flows_through_add_nothing(threads, tau):
    """A voxel shut up in the solid never comes to rest, and would add half the viscosity to the sum of k."""
    plain = np.ones((6, 12, 6), bool)
    plain[:, 1:5] = False
    shut = plain.copy()
    # single voxels, a closed pair, and a closed loop across the periodic faces
    shut[1:5:2, 6:10:2, 1:5:2] = False
    shut[0, 10, 2] = shut[5, 10, 2] = False
    options = {"relaxation_time": tau, "precision": "double", "interval": 200}
    expected = flow_through(PoreSpace(plain), threads, **options)
    found = flow_through(PoreSpace(shut), threads, **options)
    assert found.k == pytest.approx(expected.k, rel=1e-10)
    assert found.porosity > expected.porosity


@pytest.mark.parametrize("tau", [0.6, 1.0, 1.7])
def test_the_force_that_is_chosen_is_so_small_that_k_does_not_depend_on_it(threads, tau):
    space = PoreSpace(random_spheres((20, 20, 20), 0.4, 8, 1))
    options = {"relaxation_time": tau, "precision": "double", "interval": 200, "tolerance": 1e-6}
    found = flow_through(space, threads, **options)
    assert not found.doubts
    tenth = flow_through(space, threads, force=found.force / 10, **options)
    assert found.k == pytest.approx(tenth.k, rel=1e-3)
    # and one that is too large is taken, and doubted
    large = flow_through(space, threads, force=3 * found.force, **options)
    assert large.force == 3 * found.force
    assert ("so that k depends on it" in large.doubts) == (
        large.result.mach > 0.03 or large.result.density_spread > 0.01
    )
    assert "so that k depends on it" in flow_through(space, threads, force=5e-3, **options).doubts


def test_a_run_that_is_cut_off_is_doubted():
    run = Permeability(1.0, False, 7, (), 1e-6, 0.001, 0.001)
    assert FlowThrough(run, 1e-6, 0.5, 0.01).doubts == "the flow is not steady after 7 steps"


@pytest.mark.parametrize("tau", [0.7, 1.5])
def test_bgk_moves_the_half_way_wall_with_the_viscosity(threads, tau):
    """The slip of a half-way wall is [16 (tau - 1/2)^2 - 3]/24 F/nu (He, Zou, Luo, Dembo 1997)."""
    run = flow_through(slit(8), threads, relaxation_time=tau, collision="bgk", precision="double", interval=100)
    assert run.k == pytest.approx(poiseuille(8, slip=(16 * (tau - 0.5) ** 2 - 3) / 24), rel=2e-4)


def test_modified_walls_lie_on_the_outermost_nodes(threads):
    """H pores between such walls are H - 1 spacings wide, with an error of second order."""
    errors = []
    for height in (9, 17):
        width = height - 1
        exact = (width**3 - width) / 12 / (height + 1)
        run = flow_through(slit(height), threads, walls="modified", collision="bgk", precision="double", interval=100)
        errors.append(abs(run.k / exact - 1))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_k_stays_where_modified_walls_gain_mass(threads):
    """In the throats of touching spheres such walls send back more than arrives: the density grows, k must not."""
    space = PoreSpace(sphere_crystal(12, 0.99))
    problem = PorousProblem(space, 1.0, (1e-3, 0.0, 0.0), "bgk", "luo", "modified")
    flow = PorousFlow(problem, threads, strategy="sparse", precision="double")
    found = []
    for _ in range(2):
        flow.step(600)
        found.append((flow.mean_density(), flow.permeability()))
    (lighter, before), (denser, after) = found
    assert abs(denser / lighter - 1) > 2e-4
    assert after == pytest.approx(before, rel=1e-7)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_back_and_forth_differ_by_the_compressibility_in_proportion_to_the_force(threads, axis):
    """Creeping flow is reversible: k differs with the density, of first order in the force, not by Re^2."""
    image = np.random.default_rng(1).uniform(0, 1, (6, 6, 6)) < 0.3
    table = reversal(image, threads, 5e-3, axis=axis, precision="double", interval=50, tolerance=1e-10)
    whole, quarter = table["k back/k - 1"].abs()
    assert whole > 1e-5
    assert whole / quarter == pytest.approx(4, rel=0.1)


def test_an_image_mirrored_across_the_flow_conducts_the_same(threads):
    image = np.random.default_rng(1).uniform(0, 1, (6, 6, 6)) < 0.3
    options = {"force": 5e-3, "precision": "double", "interval": 50}
    ks = [flow_through(PoreSpace(solid), threads, **options).k for solid in (image, np.flip(image, 1))]
    assert ks[0] == pytest.approx(ks[1], rel=1e-12)


def test_two_rate_permeability_does_not_depend_on_viscosity_in_a_crystal(threads):
    space = PoreSpace(sphere_crystal(16, 0.7))
    ks = [flow_through(space, threads, relaxation_time=tau, precision="double", interval=200).k for tau in (0.6, 1.2)]
    assert ks[0] == pytest.approx(ks[1], rel=1e-3)


def test_a_crystal_conducts_the_same_along_all_axes(threads):
    space = PoreSpace(sphere_crystal(16, 0.7))
    ks = [flow_through(space, threads, axis=axis, precision="double", interval=200).k for axis in "xyz"]
    np.testing.assert_allclose(ks, ks[0], rtol=1e-10)


@pytest.mark.parametrize(("nodes", "chi"), [(16, 0.7), (24, 0.85), (36, 0.7)])
def test_a_crystal_of_voxels_conducts_like_spheres_less_than_half_a_voxel_larger_or_smaller(threads, nodes, chi):
    k = flow_through(PoreSpace(sphere_crystal(nodes, chi)), threads, precision="double", interval=200).k
    # chi is in proportion to the radius, sqrt(3)/4 of the side at chi = 1
    half_voxel = 0.5 / (nodes * np.sqrt(3) / 4)
    smaller, larger = (bcc_permeability(chi + sign * half_voxel, nodes, COEFFICIENTS) for sign in (-1, 1))
    assert larger < k < smaller


def test_dilute_spheres_feel_hasimoto_s_drag():
    """d* = 1/(1 - 1.791860 c^(1/3) + c - 0.329 c^2), Hasimoto, J. Fluid Mech. 5 (1959) 317, for body-centred cubes."""
    chi = 0.2
    c = np.sqrt(3) * np.pi / 8 * chi**3
    expected = 1 / (1 - 1.791860 * c ** (1 / 3) + c - 0.329 * c**2)
    assert sphere_drag(chi, COEFFICIENTS) == pytest.approx(expected, rel=1e-4)


def test_the_printed_equation_has_a_porosity_too_many():
    chi, side = 0.6, 128.0
    porosity = 1 - np.sqrt(3) * np.pi / 8 * chi**3
    ratio = bcc_permeability_as_printed(chi, side, COEFFICIENTS) / bcc_permeability(chi, side, COEFFICIENTS)
    assert ratio == pytest.approx(porosity)
    # an independent evaluation of the series for the three candidate sides
    for side, value in ((128, 327.46), (127, 322.36), (126, 317.31)):
        assert bcc_permeability(chi, side, COEFFICIENTS) == pytest.approx(value, abs=0.005)


def test_a_refined_image_has_the_same_pores_and_four_times_the_permeability(threads):
    space = slit(4)
    fine = PoreSpace(refined(space.solid, 2))
    assert fine.porosity == space.porosity
    table = resolution_check(space.solid, threads, times=(1, 2), precision="double", interval=100)
    np.testing.assert_allclose(table["k"], [poiseuille(4), 4 / 5 * (64 / 12 + 1 / 24) / 4], rtol=1e-4)
    assert table["change"].iloc[1] == pytest.approx(table["k"].iloc[1] / table["k"].iloc[0] - 1)


def test_mirroring_makes_the_ends_fit():
    solid = np.random.default_rng(2).uniform(0, 1, (3, 4, 5)) > 0.5
    both = mirrored(solid, "y")
    assert both.shape == (3, 8, 5)
    np.testing.assert_array_equal(both[:, 0], both[:, -1])
    np.testing.assert_array_equal(both[:, 3], both[:, 4])


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_walls_at_sides_that_are_solid_already_change_nothing(threads, axis):
    """k, porosity and velocities are of the image's own section, to which a wall adds nothing."""
    solid = np.ones((7, 7, 7), bool)
    solid[tuple(slice(None) if name == axis else slice(2, 6) for name in "zyx")] = False
    options = {"axis": axis, "precision": "double", "interval": 100, "tolerance": 1e-10, "force": 1e-5}
    wall, periodic = (flow_through(PoreSpace(solid), threads, sides=sides, **options) for sides in ("wall", "periodic"))
    assert wall.k == pytest.approx(periodic.k, rel=1e-9)
    assert wall.porosity == periodic.porosity == pytest.approx(16 / 49)
    assert wall.result.darcy_velocity == pytest.approx(periodic.result.darcy_velocity, rel=1e-9)
    assert wall.reynolds == pytest.approx(periodic.reynolds, rel=1e-9)


def test_porosity_and_darcy_velocity_are_of_the_image_without_its_walls(threads):
    """Half-way walls lie on the faces of the image: a velocity over the Darcy velocity has the mean one."""
    solid = np.zeros((9, 8, 4), bool)
    solid[:, 3:5] = True
    run = flow_through(PoreSpace(solid), threads, sides="wall", precision="double", interval=100, keep_velocity=True)
    assert run.porosity == 0.75
    assert run.velocity.shape == (3, 9, 8, 4)
    assert run.velocity[0].mean() == pytest.approx(1, rel=1e-9)


def test_with_walls_nothing_flows_across_the_sides(threads):
    """A path that leaves through a side and comes in at the other is none."""
    solid = np.ones((3, 4, 4), bool)
    solid[1, [0, 3, 3, 0], [0, 0, 3, 3]] = False
    solid[1, 3, :] = solid[1, 0, :] = True
    solid[1, 0, :2] = solid[1, 3, 2:] = False
    flow_through(PoreSpace(solid), threads, interval=10, force=1e-6)
    with pytest.raises(InputError, match="do not connect along x"):
        flow_through(PoreSpace(solid), threads, sides="wall")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_strategy_keeps_the_bytes_that_it_states(threads, strategy, precision):
    space, cost = PoreSpace(sphere_crystal(24, 0.9)), STRATEGIES[strategy].COST
    flow = PorousFlow(PorousProblem(space, 0.8, (0.0, 0.0, 0.0)), threads, strategy=strategy, precision=precision)
    itemsize, kept = 4 if precision == "single" else 8, flow.kept_bytes / space.solid.size
    # rows of a sparse list are filled up to an odd number of cache lines
    slack = 0.0 if cost.dense else 64 / space.pores
    stated = flow.cost.bytes_per_node(itemsize, space.porosity)
    assert stated <= kept <= stated * (1 + slack)
    assert stated <= cost.bytes_per_node(itemsize, space.porosity)
    if not cost.map_at_most:
        assert flow.cost == cost


def test_storing_deviations_keeps_single_precision_accurate_and_plain_populations_round_the_force(threads):
    space, force = PoreSpace(sphere_crystal(16, 0.7)), 3.2e-7
    double, deviation, same, *plain = (
        flow_through(space, threads, force=force, interval=200, precision=precision, storage=storage, **options).k
        for precision, storage, options in (
            ("double", "deviation", {}),
            ("single", "deviation", {}),
            ("double", "plain", {}),
            *(("single", "plain", {"strategy": strategy}) for strategy in STRATEGIES),
        )
    )
    assert abs(deviation / double - 1) < 1e-5
    assert abs(same / double - 1) < 1e-5
    # 14.3 units of force act as 14
    expected = rounded_force(force) / force
    assert expected == pytest.approx(1 - 0.0221, abs=1e-4)
    assert plain == pytest.approx([expected * double] * len(STRATEGIES), rel=2e-3, abs=0)


def test_plain_populations_take_the_force_in_one_way(threads):
    with pytest.raises(InputError, match="storage 'plain' adds the force last: forcing 'guo'"):
        PorousProblem(PoreSpace(sphere_crystal(16, 0.7)), 0.8, (1e-6, 0.0, 0.0), forcing="guo", storage="plain")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"walls": "standard"}, "walls = 'standard': must be one of"),
        ({"storage": "half"}, "storage = 'half'"),
        ({"collision": "srt"}, "collision = 'srt'"),
        ({"relaxation_time": 0.5}, "relaxation_time = 0.5: must be a number above 0.5"),
        ({"relaxation_time": float("nan")}, "relaxation_time = nan"),
        *(({"interval": value}, "interval = .*: must be a whole number from 1") for value in (0, -5, 2.5)),
        ({"strategy": "dense"}, "strategy = 'dense'"),
        ({"precision": "half"}, "precision = 'half'"),
        ({"axis": "t"}, "axis = 't'"),
        ({"walls": "modified", "strategy": "sparse in place"}, "half-way walls"),
    ],
)
def test_wrong_options_are_refused_in_one_line(threads, options, message):
    with pytest.raises(InputError, match=message) as refused:
        flow_through(slit(3), threads, **options)
    assert "\n" not in str(refused.value)


def test_a_closed_medium_and_a_missing_force_are_refused(threads):
    with pytest.raises(InputError, match="do not connect along y"):
        flow_through(slit(3), threads, axis="y")
    flow = PorousFlow(PorousProblem(slit(3), 1.0, (0.0, 0.0, 0.0)), threads)
    with pytest.raises(InputError, match="needs a flow"):
        flow.permeability()
    with pytest.raises(InputError, match="all solid"):
        PorousProblem(PoreSpace(np.ones((2, 2, 2), bool)), 1.0, (1e-5, 0.0, 0.0))
    with pytest.raises(InputError, match="times = 0: must be a whole number from 1"):
        refined(np.zeros((2, 2, 2), bool), 0)


def test_a_force_far_too_large_is_reported_as_divergence(threads):
    flow = PorousFlow(PorousProblem(slit(8), 0.501, (10.0, 0.0, 0.0), "bgk"), threads)
    with pytest.raises(DivergenceError, match="smaller force"):
        flow.step(2000)


def test_an_image_that_does_not_fit_is_refused_before_it_is_allocated():
    class Small(type(select("threads"))):
        def free_memory(self):
            return 1000

    with pytest.raises(MemoryLimitError):
        PorousFlow(PorousProblem(slit(8), 1.0, (0.0, 0.0, 0.0)), Small("threads"))


def test_speeds_are_measured_only_after_the_physics_has_been_checked(threads, monkeypatch):
    table = speed.speed_table([("a", slit(6), threads, {"strategy": "sparse", "seconds": 0.001})])
    assert {"mlups", "mflups", "roof", "check", "spread"} <= set(table.columns)
    assert table["mlups"].iloc[0] * slit(6).porosity == pytest.approx(table["mflups"].iloc[0])
    monkeypatch.setattr("repro.lbm.benchmark.TOLERANCE", {"single": -1.0})
    with pytest.raises(CheckError, match="differs"):
        benchmark.measure_speed("a", slit(6), threads, strategy="sparse", seconds=0.001)
    with pytest.raises(InputError, match="seconds"):
        benchmark.measure_speed("a", slit(6), threads, strategy="sparse", seconds=-1)


@pytest.mark.parametrize("times", [(1, 1.5), (2, 1), (), (0, 1), (1, 1), "12", 2])
def test_refinements_that_refine_nothing_are_refused(threads, times):
    with pytest.raises(InputError, match=r"times = .*: must be whole numbers from 1 to 64, each larger"):
        resolution_check(slit(3).solid, threads, times=times)


def test_a_force_that_drives_more_than_the_speed_of_sound_is_refused_at_the_first_look(threads):
    solid = np.zeros((6, 6, 6), bool)
    solid[:, 0] = True
    with pytest.raises(DivergenceError, match="force = 0.1 drives Mach .* by step 1[0-9]: use a smaller force"):
        flow_through(PoreSpace(solid), threads, force=0.1, interval=13)
    with pytest.raises(DivergenceError, match="use a smaller force"):
        flow_through(PoreSpace(solid), threads, force=5)


@pytest.mark.parametrize("k", ["5", np.nan, np.inf, None])
def test_only_a_number_has_units(k):
    with pytest.raises(InputError, match="^k = .*: must be finite numbers$"):
        in_units(k, 1e-6)
