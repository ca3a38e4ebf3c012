"""Faces, solid and lattice are arguments of every flow: a closed face is a layer of solid, whatever the strategy."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.lbm.boundaries import PERIODIC_BOX, Boundaries
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.media import PoreSpace
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES as POROUS
from repro.lbm.simulation import Simulation
from repro.lbm.two_fluids import checkpoint
from repro.lbm.two_fluids.exact import layered_velocity
from repro.lbm.two_fluids.forces import STENCILS
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.strategies import STRATEGIES as TWO_FLUIDS
from repro.parallel import select

CHANCE = np.random.default_rng(11)
SHAPE = (4, 5, 6)
ROCK, DENSITIES = CHANCE.random(SHAPE) < 0.2, CHANCE.uniform(0.2, 1.0, (2, *SHAPE))
FORCE = (2e-4, -1e-4, 3e-4)
LATTICES = {"D2Q9": D2Q9, "D3Q19": D3Q19}

#: every choice of closed axes, x first
CLOSED = [axes for count in (1, 2, 3) for axes in combinations(range(3), count)]

UNLIKE = {"wetting": (0.03, -0.02), "relaxation_times": (0.8, 1.3)}


def closed(axes, scheme="half-way") -> Boundaries:
    return Boundaries(tuple(scheme if face // 2 in axes else "periodic" for face in range(6)))


def with_layers(solid, axes, count=1):
    """The same geometry in a periodic box: solid behind the last node of each closed axis."""
    return np.pad(solid, [(0, count * (axis in axes)) for axis in (2, 1, 0)], constant_values=True)


def inside(fields, shape=SHAPE):
    return [field[..., : shape[0], : shape[1], : shape[2]] for field in fields]


def flat(lattice, *arrays):
    """One layer of nodes in two dimensions."""
    return [array[..., :1, :, :] if lattice.dimensions == 2 else array for array in arrays]


def along(lattice, vector):
    return vector if lattice.dimensions == 3 else (*vector[:2], 0.0)


def populations(lattice, shape, seed=2):
    chance = np.random.default_rng(seed).uniform(-1, 1, (lattice.q, *shape))
    return np.array(lattice.weights)[:, None, None, None] * (1 + 0.05 * chance)


def two_fluids(solid, lattice=D3Q19, boundaries=PERIODIC_BOX, **options) -> TwoFluids:
    push = tuple(along(lattice, vector) for vector in ((1e-3, -2e-3, 5e-4), (0.0, 1e-3, -1e-3)))
    settings = {"accelerations": push, **UNLIKE, **options}
    return TwoFluids(PoreSpace(solid), 0.12, lattice=lattice, boundaries=boundaries, **settings)


def mixed(problem, device, densities, steps=2, **options) -> TwoFluidFlow:
    flow = TwoFluidFlow(problem, device, precision="double", **options)
    flow.set_densities(*densities)
    return flow.advance(steps) or flow


@pytest.mark.parametrize("axes", CLOSED, ids=str)
@pytest.mark.parametrize("strategy", POROUS)
def test_closed_faces_around_pores_are_a_layer_of_solid_bit_for_bit(strategy, axes):
    fields, start = [], populations(D3Q19, SHAPE)
    for solid, faces in ((ROCK, closed(axes)), (with_layers(ROCK, axes), PERIODIC_BOX)):
        flow = PorousFlow(
            PorousProblem(PoreSpace(solid), 0.8, FORCE, boundaries=faces), PlainDevice(), strategy=strategy
        )
        more = [(0, grown - side) for grown, side in zip(solid.shape, SHAPE, strict=True)]
        flow.set_populations(np.pad(start, [(0, 0), *more], mode="edge"))
        flow.advance(2)
        fields.append(inside(flow.fields()))
    np.testing.assert_array_equal(fields[0][0], fields[1][0])
    np.testing.assert_array_equal(fields[0][1], fields[1][1])


def assert_flows_as_in_a_box(device, strategy, lattice, walls, start):
    """The box knows its faces without any solid: the two share neither lists nor flags."""
    shape, force, faces = (1 if lattice is D2Q9 else 3, 4, 5), along(lattice, FORCE), closed((1,), walls)
    space, geometry = PoreSpace(np.zeros(shape, bool)), {"lattice": lattice, "boundaries": faces}
    problem = PorousProblem(space, 0.8, force, "bgk", walls=walls, **geometry)
    box = Problem(Model(lattice, faces, "bgk", "luo"), shape[::-1], 0.8, force=force)
    flow = PorousFlow(problem, device, strategy=strategy, precision="double", block=4)
    expected = Simulation(box, PlainDevice(), precision="double")
    for each in (flow, expected):
        each.set_populations(start(lattice, shape))
        each.advance(2)
    for found, wanted in zip(flow.fields(), expected.fields(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("strategy", "lattice"), [*zip(POROUS, [D2Q9, D3Q19] * 2, strict=True)])
def test_closed_faces_around_pores_are_those_of_a_box(device, strategy, lattice):
    assert_flows_as_in_a_box(device, strategy, lattice, "half-way", populations)


@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("strategy", sorted(set(POROUS) - {"sparse in place"}))
def test_modified_faces_around_pores_are_those_of_a_box(wide_device, strategy, lattice):
    # the box has them turn round what it starts from, which changes nothing at rest
    at_rest = lambda lattice, shape: np.multiply.outer(lattice.weights, np.ones(shape))  # noqa: E731
    assert_flows_as_in_a_box(wide_device, strategy, lattice, "modified", at_rest)


@pytest.mark.parametrize("axes", CLOSED, ids=str)
@pytest.mark.parametrize("strategy", TWO_FLUIDS)
def test_closed_faces_of_two_fluids_are_a_layer_of_solid_bit_for_bit(strategy, axes):
    walled = mixed(two_fluids(ROCK, boundaries=closed(axes)), PlainDevice(), DENSITIES, strategy=strategy)
    solid = with_layers(ROCK, axes)
    more = [(0, 0), *((0, grown - side) for grown, side in zip(solid.shape, SHAPE, strict=True))]
    masked = mixed(two_fluids(solid), PlainDevice(), np.pad(DENSITIES, more, mode="edge"), strategy=strategy)
    for found, expected in zip(walled.fields(), inside(masked.fields()), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("stencil", STENCILS)
def test_a_stencil_sees_nothing_through_a_closed_face(stencil):
    """Two layers keep the widest stencil from the nodes at the other side."""
    axes, layers = (0, 1, 2), 1 if stencil in ("central", "isotropic-4") else 2
    walled = mixed(two_fluids(ROCK, boundaries=closed(axes), stencil=stencil), PlainDevice(), DENSITIES, 2)
    densities = np.pad(DENSITIES, [(0, 0), *[(0, 2)] * 3], mode="edge")
    masked = mixed(two_fluids(with_layers(ROCK, axes, 2), stencil=stencil), PlainDevice(), densities, 2)
    assert walled.problem.layers == layers
    for found, expected in zip(walled.fields(), inside(masked.fields()), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("strategy", TWO_FLUIDS)
@pytest.mark.parametrize("boundaries", [PERIODIC_BOX, closed((1,)), closed((0, 1))], ids=["periodic", "plates", "box"])
def test_two_fluids_on_d2q9_are_those_of_one_layer_of_d3q19(strategy, boundaries):
    found, expected = (
        mixed(
            two_fluids(ROCK[:1], D2Q9, boundaries)
            if flat_one
            else replace(two_fluids(ROCK[:1], D2Q9, boundaries), lattice=D3Q19),
            PlainDevice(),
            DENSITIES[:, :1],
            strategy=strategy,
        ).fields()
        for flat_one in (True, False)
    )
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("strategy", "lattice"), [*zip(TWO_FLUIDS, [D2Q9, D3Q19, D2Q9], strict=True)])
def test_masses_are_kept_between_closed_faces(device, strategy, lattice):
    solid, densities = flat(lattice, ROCK[:, :4, :4], DENSITIES[..., :4, :4])
    options = {"strategy": strategy, "block": 32 if strategy == "tiled" else 4}
    flow = mixed(two_fluids(solid, lattice, closed((0, 1))), device, densities, 0, **options)
    before = flow.masses()
    flow.advance(2)
    assert flow.masses() == pytest.approx(before, rel=1e-13)
    a, b, velocity = flow.fields()
    assert (a[solid] == 0).all()
    assert (a.sum(), b.sum()) == pytest.approx(before, rel=1e-13)
    assert a.shape == solid.shape
    assert velocity.shape == (3, *solid.shape)


@pytest.fixture(scope="module")
def steady_layers():
    """Fluid a between layers of fluid b and closed faces along y: the problem and the populations of the steady flow.

    To each fluid the wall looks like the fluid that lies beside it.
    """
    nodes, push = 32, (1e-5, 0.0, 0.0)
    space, geometry = PoreSpace(np.zeros((1, nodes, 1), bool)), {"lattice": D2Q9, "boundaries": closed((1,))}
    problem = TwoFluids(space, 0.2, wetting=(0.2, 0.0), accelerations=(push, push), **geometry)
    middle = (np.abs(np.arange(nodes) - (nodes - 1) / 2) < nodes / 4)[None, :, None]
    flow = TwoFluidFlow(problem, select("serial"), precision="double")
    flow.set_densities(np.where(middle, 1.0, 0.03), np.where(middle, 0.03, 1.0))
    flow.step(6000)
    return problem, [array.copy() for array in flow.state]


def test_layers_between_closed_faces_have_the_profile_of_poiseuille(device, steady_layers):
    """Both fluids are as viscous and are pushed alike: the stress on a layer is the weight of what is inside it."""
    problem, steady = steady_layers
    flow = TwoFluidFlow(problem, device, precision="double", block=32)
    flow.resume(0)
    for array, values in zip(flow.state, steady, strict=True):
        array[:] = device.to_device(values)
    # few threads for the simulator
    flow.advance(1 if device.simulated else 2)
    a, b, velocity = (field.squeeze() for field in flow.fields())
    assert a[16] > 0.9 > 0.1 > b[16]
    assert b[2] > 0.9 > 0.1 > a[2]
    density, push, viscosity = a + b, problem.accelerations[0][0], problem.viscosities[0]
    stress = push * (density.sum() / 2 - np.cumsum(density))[:-1]
    steps = stress / (viscosity * (density[1:] + density[:-1]) / 2)
    at_wall = push * density.sum() / 2 / (viscosity * density[0]) / 2
    expected = at_wall + np.concatenate([[0], np.cumsum(steps)])
    np.testing.assert_allclose(velocity[0], expected, rtol=0, atol=0.02 * expected.max())
    # the parabola of one fluid, but for the interfaces, which are thin: less weight, more slip
    ideal = layered_velocity(np.arange(32) - 15.5, 8, 16, (push,) * 2, (viscosity,) * 2)
    np.testing.assert_allclose(velocity[0], ideal, rtol=0, atol=0.06 * ideal.max())


def test_faces_that_pores_cannot_take_are_refused():
    space = PoreSpace(np.zeros(SHAPE, bool))
    for scheme in ("standard", "extrapolation", "modified"):
        with pytest.raises(InputError, match=f"faces '{scheme}': around pores they are 'periodic' or 'half-way'"):
            PorousProblem(space, 0.8, FORCE, boundaries=closed((1,), scheme))
        with pytest.raises(InputError, match=f"faces '{scheme}': around pores"):
            TwoFluids(space, 0.1, boundaries=closed((0,), scheme))
    moving = Boundaries(closed((1,)).faces, moving=3)
    with pytest.raises(InputError, match="faces around pores are at rest: let the face of a Problem"):
        TwoFluids(space, 0.1, boundaries=moving)


def test_lattices_that_two_fluids_cannot_take_are_refused():
    layer, cube = PoreSpace(np.zeros((1, 4, 4), bool)), PoreSpace(np.zeros(SHAPE, bool))
    with pytest.raises(InputError, match="collision 'mrt' is for D3Q19, not D2Q9: choose bgk"):
        TwoFluids(layer, 0.1, collision="mrt", lattice=D2Q9)
    with pytest.raises(InputError, match="with nz = 1 for D2Q9"):
        TwoFluids(cube, 0.1, lattice=D2Q9)
    with pytest.raises(InputError, match="D2Q9 has no z direction"):
        TwoFluids(layer, 0.1, accelerations=((0.0, 0.0, 1e-6), (0.0, 0.0, 0.0)), lattice=D2Q9)
    with pytest.raises(InputError, match="'isotropic-4' reaches .* 'sparse' knows: choose 'central', or the strategy"):
        TwoFluidFlow(TwoFluids(cube, 0.1, lattice=D3Q15), PlainDevice(), strategy="sparse")


def test_a_checkpoint_keeps_lattice_and_faces(tmp_path):
    flow = mixed(two_fluids(ROCK[:1], D2Q9, closed((0,))), PlainDevice(), DENSITIES[:, :1])
    checkpoint.save(flow, tmp_path / "state.h5")
    again = checkpoint.load(tmp_path / "state.h5", PlainDevice())
    assert (again.lattice, again.problem.boundaries) == (D2Q9, closed((0,)))
    for each in (flow, again):
        each.advance(2)
    for found, expected in zip(again.fields(), flow.fields(), strict=True):
        np.testing.assert_array_equal(found, expected)
