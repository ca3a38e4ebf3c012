"""Two fluids are those of the model's equations, in every strategy, and lose neither mass nor momentum."""

import warnings

import numpy as np
import pytest
from helpers import two_fluids_reference as reference
from helpers.plain import PlainDevice

from repro.errors import DivergenceError, InputError
from repro.lbm import plain
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9, D3Q19
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.cases import part, shares_at
from repro.lbm.two_fluids.exact import lattice_coexistence
from repro.lbm.two_fluids.forces import STENCILS, links_of
from repro.lbm.two_fluids.model import TwoFluids, doom
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.strategies import STRATEGIES
from repro.parallel import select

CHANCE = np.random.default_rng(7)
SHAPE = (4, 5, 6)
OPEN = PoreSpace(np.zeros(SHAPE, bool))
ROCK = PoreSpace(CHANCE.random(SHAPE) < 0.3)
DENSITIES = CHANCE.uniform(0.2, 1.0, (2, *SHAPE))

#: everything that two fluids can differ in
UNLIKE = {
    "interaction": 0.12,
    "wetting": (0.03, -0.02),
    "relaxation_times": (0.8, 1.3),
    "accelerations": ((1e-3, -2e-3, 5e-4), (0.0, 1e-3, -1e-3)),
    "solid_density": 1.4,
    "magic": 0.23,
}


def flow(problem, device, **options) -> TwoFluidFlow:
    made = TwoFluidFlow(problem, device, precision="double", **options)
    made.set_densities(*DENSITIES)
    return made


@pytest.mark.parametrize("space", [OPEN, ROCK], ids=["open", "rock"])
@pytest.mark.parametrize("collision", ["bgk", "mrt"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_solves_the_model(space, collision, strategy):
    problem = TwoFluids(space, collision=collision, **UNLIKE)
    made = flow(problem, PlainDevice(), strategy=strategy)
    made.advance(3)
    for found, expected in zip(made.fields(), reference.run(problem, *DENSITIES, 3), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("space", [OPEN, ROCK], ids=["open", "rock"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("lattice", [D3Q19, D2Q9], ids=lambda lattice: lattice.name)
def test_the_step_that_readers_are_shown_is_that_of_the_strategies(lattice, strategy, space):
    """With walls that each fluid wets in its own way, and a body force of its own on each."""
    layers = slice(None) if lattice is D3Q19 else slice(1)
    solid, densities = space.solid[layers], DENSITIES[:, layers]
    times, forces = (0.8, 1.3), (0.12, (0.03, -0.02), ((1e-3, -2e-3, 0.0), (0.0, 1e-3, 0.0)))
    g, wetting, pushes = forces
    options = {"relaxation_times": times, "wetting": wetting, "accelerations": pushes, "lattice": lattice}
    made = TwoFluidFlow(TwoFluids(PoreSpace(solid), g, **options), PlainDevice(), precision="double", strategy=strategy)
    made.set_densities(*densities)
    made.step(3)
    f = np.array([plain.equilibrium(lattice, rho, np.zeros((3, *solid.shape))) for rho in densities])
    for _ in range(3):
        f = plain.two_fluid_step(lattice, f, solid, times, forces)
    rho, _, u = plain.mixture(lattice, f, solid, forces, (1, 1))
    for found, expected in zip(made.fields(), (*rho, u), strict=True):
        np.testing.assert_allclose(found, np.where(solid, 0.0, expected), rtol=0, atol=1e-13)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fluids_start_at_a_velocity_of_each_node_or_of_all(strategy, precision):
    problem, off = TwoFluids(ROCK, **UNLIKE), {"single": 1e-6, "double": 1e-13}[precision]
    for velocity in (CHANCE.uniform(-0.1, 0.1, (3, *SHAPE)), (0.05, -0.02, 0.1)):
        made = TwoFluidFlow(problem, PlainDevice(), strategy=strategy, precision=precision)
        made.set_densities(*DENSITIES, velocity)
        for steps in (0, 1):
            made.advance(steps)
            for found, expected in zip(made.fields(), reference.run(problem, *DENSITIES, steps, velocity), strict=True):
                np.testing.assert_allclose(found, expected, rtol=0, atol=off)


@pytest.mark.parametrize("shape", [(), SHAPE[1:], SHAPE[2:], (1, *SHAPE[1:]), (1, *SHAPE), SHAPE[::-1]], ids=str)
@pytest.mark.parametrize("components", [0, 3])
def test_numbers_of_another_shape_than_the_nodes_are_not_stretched_over_them(components, shape):
    made = TwoFluidFlow(TwoFluids(OPEN, 0.1), PlainDevice())
    given = np.full((3, *shape) if components else shape, 0.1)
    arguments = (0.5, 0.5, given) if components else (given, 0.5)
    if shape == ():
        made.set_densities(*arguments)
        return
    with pytest.raises(InputError, match=r"(velocity|density of fluid a) of shape .*: it must be \(.*4, 5, 6\), or"):
        made.set_densities(*arguments)


@pytest.mark.parametrize(
    ("velocity", "message"),
    [
        ((0.4, 0.4, 0.2), "up to 0.6 in the pores: it must be below that of sound, 0.577"),
        ((0.0, float("nan"), 0.0), "up to nan"),
        ("fast", "velocity = 'fast': must be numbers"),
    ],
)
def test_velocities_that_no_equilibrium_has_are_refused(velocity, message):
    with pytest.raises(InputError, match=message):
        TwoFluidFlow(TwoFluids(OPEN, 0.1), PlainDevice()).set_densities(0.5, 0.5, velocity)


@pytest.mark.parametrize("stencil", STENCILS)
def test_every_stencil_on_every_extent(stencil):
    for shape in (SHAPE, (1, 3, 2), (2, 1, 5)):
        space = PoreSpace(np.zeros(shape, bool))
        problem, densities = (
            TwoFluids(space, stencil=stencil, **UNLIKE),
            DENSITIES[:, : shape[0], : shape[1], : shape[2]],
        )
        made = TwoFluidFlow(problem, PlainDevice(), precision="double")
        made.set_densities(*densities)
        made.advance(1)
        for found, expected in zip(made.fields(), reference.run(problem, *densities, 1), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("stencil", STENCILS)
def test_stencils_differentiate_and_are_isotropic_to_their_order(stencil):
    links = [(np.array(e), weight / 6) for e, weight in links_of(stencil)]

    def moment(*axes):
        return sum(2 * weight * np.prod(e[list(axes)]) for e, weight in links)

    assert moment(0, 0) == pytest.approx(1)
    fourth = moment(0, 0, 0, 0) - 3 * moment(0, 0, 1, 1)
    assert (fourth == pytest.approx(0, abs=1e-14)) == (stencil != "central")
    sixth = moment(*[0] * 6) - 5 * moment(0, 0, 0, 0, 1, 1), moment(0, 0, 0, 0, 1, 1) - 3 * moment(0, 0, 1, 1, 2, 2)
    assert (sixth == pytest.approx((0, 0), abs=1e-14)) == (stencil in ("isotropic-6", "isotropic-8"))
    eighth = (
        moment(*[0] * 8) - 7 * moment(*[0] * 6, 1, 1),
        moment(*[0] * 6, 1, 1) - 5 / 3 * moment(0, 0, 0, 0, 1, 1, 1, 1),
    )
    assert (eighth == pytest.approx((0, 0), abs=1e-14)) == (stencil == "isotropic-8")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("collision", ["bgk", "mrt"])
def test_masses_are_kept_and_the_momentum_of_a_box(strategy, collision):
    free = UNLIKE | {"accelerations": ((0.0, 0.0, 0.0),) * 2}
    made = flow(TwoFluids(OPEN, collision=collision, **free), PlainDevice(), strategy=strategy)
    before = made.masses()
    made.advance(6)
    assert made.masses() == pytest.approx(before, rel=1e-13)
    a, b, u = made.fields()
    assert np.abs(((a + b) * u).sum(axis=(1, 2, 3))).max() < 1e-12


@pytest.mark.parametrize("collision", ["bgk", "mrt"])
def test_rounding_to_single_precision_neither_makes_nor_loses_mass(collision):
    """Deviations of phases from density 1 are large, and an error of the weights would add up."""
    made = TwoFluidFlow(TwoFluids(ROCK, collision=collision, **UNLIKE), PlainDevice(), precision="single")
    made.set_densities(*DENSITIES)
    before = made.masses()
    made.step(40)
    assert made.masses() == pytest.approx(before, rel=1e-7)


def test_devices_agree(device):
    # few threads for the simulator
    extent = 3 if device.simulated else max(SHAPE)
    solid, *densities = (values[:extent, :extent, :extent] for values in (ROCK.solid, *DENSITIES))
    problem = TwoFluids(PoreSpace(solid), **UNLIKE)
    found = TwoFluidFlow(problem, device, precision="double")
    found.set_densities(*densities)
    found.advance(2)
    for ours, expected in zip(found.fields(), reference.run(problem, *densities, 2), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"relaxation_times": (0.5, 1.0)},
            r"relaxation_times = \(0.5, 1.0\): must be 2 values, each a number above 0.5",
        ),
        ({"relaxation_times": (1.0, float("nan"))}, r"relaxation_times = \(1.0, nan\)"),
        ({"interaction": -0.1}, "interaction = -0.1: must be a number from 0 to"),
        ({"interaction": 9.0}, "interaction = 9.0: must be a number from 0 to"),
        ({"wetting": (0.0, float("inf"))}, r"wetting = \(0.0, inf\): must be 2 values"),
        ({"wetting": (0.3, -0.36)}, "wetting -0.36 of fluid b: times the solid's density at most 0.5"),
        ({"accelerations": ((0.0, 0.0, 0.0), (0.0, 1.0))}, r"accelerations = .*: must be 2 values, each 3 values"),
        ({"stencil": "round"}, "stencil = 'round'"),
        ({"collision": "trt"}, "collision = 'trt'"),
        ({"solid_density": -1.0}, "solid_density = -1.0"),
        ({"magic": 0.0}, "magic = 0.0"),
        ({"space": PoreSpace(np.ones(SHAPE, bool))}, "all solid"),
    ],
)
def test_what_cannot_work_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        TwoFluids(**({"space": OPEN} | UNLIKE | change))


def test_a_solid_of_little_density_may_wet_more():
    assert TwoFluids(OPEN, 0.1, wetting=(0.0, 0.6), solid_density=0.8).wetting == (0.0, 0.6)


@pytest.mark.parametrize("density", [0.0, -1.0, float("nan"), float("inf")])
def test_densities_that_are_not_positive_are_refused(density):
    made = TwoFluidFlow(TwoFluids(OPEN, 0.1), PlainDevice())
    with pytest.raises(InputError, match="density of fluid b: it must be finite and positive"):
        made.set_densities(1.0, density)


def test_wide_stencils_are_refused_where_only_neighbours_are_known():
    with pytest.raises(InputError, match="'isotropic-8' reaches beyond the neighbours"):
        TwoFluidFlow(TwoFluids(OPEN, 0.1, stencil="isotropic-8"), PlainDevice(), strategy="sparse")


def phases(interaction: float, wetting: float) -> TwoFluidFlow:
    """Both fluids in equilibrium, side by side between walls that are as neutral to one as to the other."""
    solid = np.zeros((1, 8, 24), bool)
    solid[:, 0] = True
    made = TwoFluidFlow(
        TwoFluids(PoreSpace(solid), interaction, wetting=(wetting,) * 2), select("serial"), precision="double"
    )
    shares = shares_at(np.broadcast_to(np.abs(np.arange(24) - 11.5) - 6, solid.shape), interaction)
    return part(made, shares, lattice_coexistence(interaction, density=1.0))


def test_a_wall_that_is_a_vacuum_to_both_fluids_is_too_steep_where_half_way_between_them_is_not():
    interaction = 0.25
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        phases(interaction, interaction / 2).step(400)
    with pytest.warns(UserWarning, match="two fluids will probably diverge: a potential differs by 0.2"):
        doomed = phases(interaction, 0.0)
    with pytest.raises(DivergenceError, match=r"keep g rho below, the wetting of both fluids near g rho / 2"):
        doomed.step(400)


def test_a_mixture_that_no_interface_can_part_is_warned_of_and_a_thin_one_is_not():
    """Only g times the density counts."""
    made = TwoFluidFlow(TwoFluids(OPEN, 0.4), PlainDevice())
    with pytest.warns(UserWarning, match="g rho = 0.4 in a mixture that parts: beyond 0.28 no interface is at rest"):
        made.set_densities(0.5, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.set_densities(0.3, 0.3)


@pytest.mark.parametrize("of_b", [False, True])
@pytest.mark.parametrize("place", [(1, 0, 0), (0, 3, 0), (0, 0, 3)])
def test_a_start_is_as_steep_as_a_potential_over_two_nodes(place, of_b):
    """By hand: g = 0.2, and a single node with 1.21 of one fluid, 0.242, is steeper than 0.24 bears."""
    densities = np.zeros((2, 5, 6, 7))
    problem = TwoFluids(PoreSpace(np.zeros((5, 6, 7), bool)), 0.2)
    densities[(int(of_b), *place)] = 1.21
    assert doom(problem, *densities) == "a potential differs by 0.242 over two nodes"
    densities[(int(of_b), *place)] = 1.19
    assert doom(problem, *densities) == ""


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_stripes_two_nodes_apart_differ_by_nothing_over_two_nodes(axis):
    """1.21 and nothing by turns: over one or three nodes they differ by more than any start bears."""
    stripes = 1.21 * (np.indices((4, 6, 8))[axis] % 2)
    assert doom(TwoFluids(PoreSpace(np.zeros((4, 6, 8), bool)), 0.2), stripes, 0 * stripes) == ""


def test_a_wall_is_as_steep_as_its_wetting_times_its_density():
    """Beside 0.5 of both fluids, 0.1 in a potential: 0.4 x 0.9 - 0.1 is too much, and 0.37 x 0.9 - 0.1 is not."""
    solid = np.zeros((1, 6, 7), bool)
    solid[:, 0] = True
    density = np.where(solid, 0.0, 0.5)
    found = [
        doom(TwoFluids(PoreSpace(solid), 0.2, wetting=wetting, solid_density=0.9), density, 0.01 * density)
        for wetting in ((0.0, 0.4), (0.0, 0.37), (0.4, 0.0))
    ]
    # a is repelled by the wall, where nearly nothing of b is: 0.4 x 0.9 - 0.001
    assert found == [
        f"a potential differs by {value} over two nodes" if value else "" for value in ("0.260", "", "0.359")
    ]


@pytest.mark.parametrize(("a", "b", "parts"), [(0.96, 0.034, False), (0.96, 0.037, True), (0.5, 0.5, True)])
def test_a_mixture_parts_beyond_the_spinodal(a, b, parts):
    """Where 18 g sqrt(rho_a rho_b) > 1; here g rho is beyond what an interface bears in any case."""
    made = TwoFluidFlow(TwoFluids(OPEN, 0.3), PlainDevice())
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made.set_densities(a, b)
    assert ["in a mixture that parts" in str(line.message) for line in found] == [True] * parts


def test_fluids_that_diverge_are_stopped_with_the_reason():
    with pytest.warns(UserWarning, match="two fluids will probably diverge"):
        made = flow(TwoFluids(OPEN, 0.5), PlainDevice())
    with pytest.raises(DivergenceError, match="the fluids diverged by step .*interaction 0.5"):
        made.step(30)


@pytest.mark.parametrize("fluid", [0, 1])
def test_one_fluid_whose_density_falls_below_zero_at_one_node_stops_the_run(fluid):
    made = flow(TwoFluids(OPEN, 0.12), PlainDevice())
    made._look()
    rest = made.state[fluid][: OPEN.solid.size]
    rest[5] -= 1.2
    with pytest.raises(DivergenceError, match=r"diverged by step 0 \(a density of -0\.\d+\): interaction 0.12"):
        made._look()


def test_fluids_that_nothing_is_said_of_are_alike_neutral_and_at_rest():
    problem = TwoFluids(OPEN, 0.0)
    assert (problem.wetting, problem.solid_density, problem.interaction) == ((0.0, 0.0), 1.0, 0.0)
    assert (problem.relaxation_times, problem.accelerations) == ((1.0, 1.0), ((0.0, 0.0, 0.0),) * 2)
    assert (problem.collision, problem.stencil, problem.magic) == ("bgk", "isotropic-4", 3 / 16)
    made = TwoFluidFlow(TwoFluids(ROCK, 0.1), PlainDevice())
    assert (made.strategy, made.precision) == ("dense", "single")
    a, b, velocity = made.fields()
    np.testing.assert_allclose([a, b], np.where(ROCK.solid, 0, 0.5) * np.ones((2, 1, 1, 1)), atol=1e-6)
    assert made.masses() == pytest.approx((ROCK.pores / 2,) * 2)
    assert not velocity[:, ROCK.solid].any()


@pytest.mark.parametrize(("wetting", "density"), [((0.5, -0.5), 1.0), ((-0.25, 0.25), 2.0)])
def test_a_wall_repels_and_attracts_up_to_a_half(wetting, density):
    assert TwoFluids(OPEN, 0.5, wetting=wetting, solid_density=density).wetting == wetting
    for k in (0, 1):
        beyond = tuple(w * (1.01 if which == k else 1.0) for which, w in enumerate(wetting))
        with pytest.raises(InputError, match=f"of fluid {'ab'[k]}: times the solid's density at most 0.5$"):
            TwoFluids(OPEN, 0.5, wetting=beyond, solid_density=density)
    with pytest.raises(InputError, match=r"interaction = 0.51: must be a number from 0 to 0.5$"):
        TwoFluids(OPEN, 0.51)


@pytest.mark.parametrize("fluid", [0, 1])
def test_no_fluid_of_a_layer_is_pushed_or_flows_out_of_it(fluid):
    layer = PoreSpace(np.zeros((1, 4, 5), bool))
    pushes = [(0.0, 0.0, 1e-6) if k == fluid else (1e-6, 0.0, 0.0) for k in (0, 1)]
    with pytest.raises(InputError, match="D2Q9 has no z direction"):
        TwoFluids(layer, 0.1, accelerations=tuple(pushes), lattice=D2Q9)
    made = TwoFluidFlow(TwoFluids(layer, 0.1, lattice=D2Q9), PlainDevice())
    with pytest.raises(InputError, match="velocity: on D2Q9 there is none along z"):
        made.set_densities(0.5, 0.5, (0.0, 0.1, 0.1))
    made.set_densities(0.5, 0.5, (0.1, 0.1, 0.0))


def test_the_fastest_node_counts_and_only_in_pores():
    """One node as fast as sound is too fast; what is given in solid does not matter."""
    solid = np.zeros(SHAPE, bool)
    solid[1, 2, 3] = True
    velocity, made = np.zeros((3, *SHAPE)), TwoFluidFlow(TwoFluids(PoreSpace(solid), 0.1), PlainDevice())
    velocity[2, 0, 1, 2] = 1 / np.sqrt(3)
    with pytest.raises(InputError, match="velocity: up to 0.577 in the pores"):
        made.set_densities(0.5, 0.5, velocity)
    velocity[2, 0, 1, 2], velocity[:, 1, 2, 3] = 0.57, 9.0
    densities = np.where(solid, -1.0, 0.5)
    made.set_densities(densities, densities, velocity)
    np.testing.assert_allclose(made.fields()[0], np.where(solid, 0, 0.5), atol=1e-6)
    with pytest.raises(InputError, match="set densities before the first step and the first look; this is step 0"):
        made.set_densities(0.5, 0.5)


def test_a_density_of_zero_in_one_pore_is_refused():
    thin = np.full(SHAPE, 0.5)
    thin[3, 0, 5] = 0.0
    made = TwoFluidFlow(TwoFluids(OPEN, 0.1), PlainDevice())
    for densities, name in (((thin, 0.5), "a"), ((0.5, thin), "b")):
        with pytest.raises(InputError, match=f"density of fluid {name}: it must be finite and positive in all pores"):
            made.set_densities(*densities)


@pytest.mark.parametrize("fluid", [0, 1])
@pytest.mark.parametrize(("off", "reason"), [(np.nan, "a density is not finite"), (-1.7, r"a density of -0\.7")])
def test_a_run_that_diverges_says_what_it_was_asked_for_and_which_density_is_the_lowest(fluid, off, reason):
    push = ((1e-3, 0.0, 0.0), (0.0, 2e-3, 0.0))
    problem = TwoFluids(OPEN, 0.12, (0.01, 0.02), (0.9, 1.1), push)
    made = TwoFluidFlow(problem, PlainDevice(), precision="double")
    made.set_densities(1.0, 1.0)
    made.resume(7)
    made.state[fluid][4] += off
    asked = r"interaction 0.12, wetting \(0.01, 0.02\), relaxation times \(0.9, 1.1\), accelerations \(\(0.001, .*0.002"
    with pytest.raises(DivergenceError, match=rf"by step 7 \({reason}\): {asked}.*differs by more than 0.222 over"):
        made._look()


def test_a_start_is_doubted_where_it_is_made():
    with pytest.warns(UserWarning, match="g rho = 0.4 in a mixture") as found:
        TwoFluidFlow(TwoFluids(OPEN, 0.4), PlainDevice()).set_densities(0.5, 0.5)
    assert [line.filename for line in found] == [__file__]


def test_a_mixture_that_parts_will_be_as_steep_beside_a_wall_as_one_fluid():
    """A half of each is 0.125 from a wall that is a vacuum, and 0.25 where either fluid has the place of both."""
    solid = np.zeros((1, 6, 5), bool)
    solid[:, 0] = True
    half = np.where(solid, 0.0, 0.5)
    assert doom(TwoFluids(PoreSpace(solid), 0.25), half, half) == "a potential differs by 0.250 over two nodes"
    assert doom(TwoFluids(PoreSpace(solid), 0.25, wetting=(0.125,) * 2), half, half) == ""
    # fluids that mix stay as they are
    assert doom(TwoFluids(PoreSpace(solid), 0.1), 2.3 * half, 2.3 * half) == ""


def test_a_potential_is_not_steep_in_the_solid():
    """A wall of one layer, with one fluid below and the other above: only pores feel a force."""
    y = np.arange(8)[None, :, None] + np.zeros((2, 8, 3), int)
    solid, below = (y == 3) | (y == 7), y < 3
    a, b = (np.where(solid, 0.0, np.where(part, 1.0, 1e-3)) for part in (below, ~below))
    assert doom(TwoFluids(PoreSpace(solid), 0.25, wetting=(0.125,) * 2), a, b) == ""


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_closed_face_is_as_steep_as_the_layer_of_solid_that_it_is(axis):
    """One fluid next to the node at the upper face, of which the wall attracts the other one."""
    shape, faces = (3, 4, 5), ["periodic"] * 6
    for face in (4 - 2 * axis, 5 - 2 * axis):
        faces[face] = "half-way"
    a = np.full(shape, 0.01)
    np.moveaxis(a, axis, 0)[-2] = 1.0
    more = [(0, int(k == axis)) for k in range(3)]
    layer, settings = np.pad(np.zeros(shape, bool), more, constant_values=True), {"wetting": (0.0, -0.1)}
    closed = TwoFluids(PoreSpace(np.zeros(shape, bool)), 0.16, boundaries=Boundaries(tuple(faces)), **settings)
    expected = doom(TwoFluids(PoreSpace(layer), 0.16, **settings), np.pad(a, more), np.pad(1.01 - a, more))
    assert doom(closed, a, 1.01 - a) == expected == "a potential differs by 0.260 over two nodes"


def test_a_tile_knows_neither_more_than_its_rim_nor_half_a_warp():
    for stencil in ("isotropic-6", "isotropic-8"):
        with pytest.raises(InputError, match=f"stencil '{stencil}' reaches beyond the rim that 'tiled' keeps"):
            TwoFluidFlow(TwoFluids(OPEN, 0.1, stencil=stencil), PlainDevice(), strategy="tiled")
    with pytest.raises(InputError, match="block = 48: 'tiled' takes multiples of 32"):
        TwoFluidFlow(TwoFluids(OPEN, 0.1), PlainDevice(), strategy="tiled", block=48)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_asks_for_the_memory_that_it_takes(strategy):
    class Counting(PlainDevice):
        """Counts the bytes that it hands out."""

        bytes = 0

        def zeros(self, shape, dtype):
            self.bytes += np.zeros(shape, dtype).nbytes
            return np.zeros(shape, dtype)

        def to_device(self, array):
            self.bytes += np.asarray(array).nbytes
            return np.array(array)

    device, space = Counting(), PoreSpace(np.random.default_rng(2).random((12, 14, 16)) < 0.3)
    made = TwoFluidFlow(TwoFluids(space, 0.1), device, strategy=strategy, precision="double")
    # but for masks and numbers of nodes
    assert made.memory == pytest.approx(device.bytes, rel=0.03)
