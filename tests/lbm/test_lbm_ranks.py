"""Flows on several ranks are those of one rank, bit for bit, however the box is cut."""

import json
from dataclasses import replace
from pathlib import Path
from threading import Lock
from unittest.mock import patch

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.rank_flows import E, H, P, S, box, digests, flow_after, random_populations, state_of
from helpers.rank_threads import on_ranks
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from repro.errors import DivergenceError, InputError
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.porous.permeability import flow_through
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import ALL
from repro.lbm.two_fluids.checkpoint import save, write_vtk
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.observables import bubble_state
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.parallel import select
from repro.parallel.ranks.launch import launch
from repro.parallel.ranks.world import Alone

PROGRAM = Path(__file__).parents[1] / "helpers" / "rank_flows.py"

#: faces and the one that moves; what is extrapolated is thick enough for a cut
BOXES = [
    (D2Q9, (P,) * 6, None),
    (D2Q9, (H, H, H, H, P, P), 3),
    (D2Q9, ("modified",) * 4 + (P, P), 2),
    (D2Q9, (S, S, S, S, P, P), 3),
    (D2Q9, (P, P, H, E, P, P), 3),
    (D3Q15, (P, P, E, E, H, H), None),
    (D3Q19, (P,) * 6, None),
    (D3Q19, (H, H, P, P, H, H), 4),
]


#: planes of a slab at least: so many hardly any of these boxes has, or so few that each is cut into slabs that is deep
SLABS = st.sampled_from([1, 2, 16])


def slabs_of(planes: int):
    """Let boxes be cut into slabs of so many planes."""
    return patch("repro.lbm.ranks.PLANES", planes)


@st.composite
def problems(draw):
    """Small boxes of any kind and size, some with obstacles."""
    lattice, faces, moving = draw(st.sampled_from(BOXES))
    deep = lattice is not D2Q9
    least = [4 if E in faces[2 * axis : 2 * axis + 2] else 2 for axis in range(3)]
    shape = tuple(draw(st.integers(n, 5 if deep else 9)) for n in least)
    solid = 0.0 if E in faces else draw(st.sampled_from([0.0, 0.2]))
    return box(lattice, faces, shape if deep else (*shape[:2], 1), moving=moving, solid=solid)


@settings(max_examples=12)
@example(box(D3Q19, (P,) * 6, (3, 2, 9)), 2, "single", "soa", 2)
@example(box(D3Q19, (H, H, P, P, H, H), (2, 3, 10), moving=4, solid=0.2), 3, "half", "soa", 3)
@given(
    problems(),
    st.sampled_from([2, 3, 4, 8]),
    st.sampled_from(["half", "single", "double"]),
    st.sampled_from(["soa", "aos"]),
    SLABS,
)
def test_a_flow_has_the_bits_of_one_rank_however_it_is_cut(problem, ranks, precision, layout, planes):
    device, options = PlainDevice(), {"precision": precision, "layout": layout}
    walls = problem.model.boundaries
    # what leaks mass is refused in half precision
    assume(precision != "half" or walls.moving is None or walls.faces[walls.moving] != E)

    def run(rank):
        return state_of(flow_after(problem, device, rank, 3, **options))

    try:
        with slabs_of(planes):
            found, *others = on_ranks(ranks, run)
    except InputError as error:
        assert "of its own, so use" in str(error)  # noqa: PT017  too small for so many
        assume(False)
    expected = run(None)
    assert others == [(None, None)] * (ranks - 1)
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_array_equal(here, there, strict=True)
        assert np.isfinite(here).all()


def test_ranks_over_mpi_have_the_bits_of_one_rank():
    """And all know the mean density, up to the order of its sum."""
    expected, found = digests(Alone(), 30), json.loads(launch(4, str(PROGRAM), [30], timeout=200))
    assert list(found) == list(expected)
    for name, (digest, density) in expected.items():
        assert found[name][0] == digest, name
        assert found[name][1] == pytest.approx(density, rel=1e-12)


@st.composite
def porous_problems(draw):
    """Flow through small images of any porosity, between faces periodic or closed."""
    lattice, walls = draw(st.sampled_from([(D2Q9, "half-way"), (D2Q9, "modified"), (D3Q19, "half-way")]))
    shape = draw(st.tuples(*[st.integers(3, 6)] * 2, st.just(1) if lattice is D2Q9 else st.integers(2, 4)))
    solid = np.random.default_rng(draw(st.integers(0, 9))).random(shape[::-1]) < draw(st.sampled_from([0.2, 0.5]))
    solid[0, 0, 0] = False
    closed = draw(st.sampled_from([(P,) * 6, (walls, walls, P, P, P, P), (P, P, walls, walls, P, P)]))
    options = {"lattice": lattice, "walls": walls, "boundaries": Boundaries(closed)}
    options["storage"] = draw(st.sampled_from(["deviation", "plain"]))
    return PorousProblem(PoreSpace(solid), 0.8, (1e-3, 2e-3, 0.0), "trt", **options)


def empty_planes() -> PorousProblem:
    """A deep image with planes without a pore, some of them where slabs meet."""
    solid = np.random.default_rng(3).random((11, 3, 2)) < 0.3
    solid[[1, 5, 6, 9]] = True
    return PorousProblem(PoreSpace(solid), 0.8, (1e-3, 2e-3, 1e-3), "trt")


def open_square(shape) -> PorousProblem:
    """An image with hardly any solid, whose ranks meet at edges too."""
    solid = np.zeros(shape[::-1], bool)
    solid.flat[::7] = True
    return PorousProblem(PoreSpace(solid), 0.8, (1e-3, 2e-3, 0.0), "trt", lattice=D2Q9)


@settings(max_examples=12)
@example(open_square((7, 7, 1)), 4, "sparse", 16)
@example(open_square((7, 7, 1)), 4, "flag word", 16)
@example(empty_planes(), 2, "sparse", 2)
@example(empty_planes(), 3, "branches", 2)
@given(porous_problems(), st.sampled_from([2, 3, 4]), st.sampled_from(PorousFlow.ON_RANKS), SLABS)
def test_a_flow_through_pores_has_the_bits_of_one_rank_however_the_image_is_cut(problem, ranks, strategy, planes):
    def run(rank):
        flow = PorousFlow(problem, PlainDevice(), ranks=rank, strategy=strategy)
        flow.set_populations(random_populations(problem))
        flow.step(3)
        return [flow.gathered(values) for values in flow.fields()], flow.permeability()

    try:
        with slabs_of(planes):
            found = on_ranks(ranks, run)
    except InputError as error:
        assert str(error).endswith(("fewer ranks", "so use 1", "so use 2", "so use 3"))  # noqa: PT017
        assume(False)
    expected, k = run(None)
    for here, there in zip(found[0][0], expected, strict=True):
        np.testing.assert_array_equal(here, there, strict=True)
    assert len({here for _, here in found}) == 1
    assert found[0][1] == pytest.approx(k, rel=1e-9)


def test_ranks_share_pores_and_not_voxels():
    solid = np.ones((12, 2, 2), bool)
    solid[2:4] = solid[8, 0] = solid[10, 0, 0] = False

    def run(rank):
        problem = PorousProblem(PoreSpace(solid), 0.8, (0.0, 0.0, 1e-3), "bgk")
        flow = PorousFlow(problem, PlainDevice(), ranks=rank)
        return flow.strategy, flow.gathered(np.full(flow.fields()[0].shape, rank.rank))

    (strategy, owners), _ = on_ranks(2, run)
    assert strategy == "sparse"
    # the second of the two full planes has the middle of all eleven pores
    assert owners[:, 0, 0].tolist() == [0] * 3 + [1] * 9


def test_a_permeability_is_that_of_one_rank():
    space = PoreSpace(sphere_crystal(5, 0.85))
    options = {"interval": 5, "tolerance": 0.1, "keep_velocity": True, "collision": "bgk"}

    def run(rank):
        return flow_through(space, PlainDevice(), ranks=rank, strategy="sparse", **options)

    alone, (found, other) = run(None), on_ranks(2, run)
    assert (found.result.steps, found.result.converged, found.doubts) == (alone.result.steps, True, alone.doubts)
    for name in ("value", "mach", "density_spread", "mean_density"):
        assert getattr(found.result, name) == pytest.approx(getattr(alone.result, name), rel=1e-9)
    np.testing.assert_allclose(found.velocity, alone.velocity, rtol=1e-9)
    assert (other.k, other.velocity) == (found.k, None)


@st.composite
def two_fluids(draw):
    """Two fluids in small images, whose forces look one or two nodes far, with a strategy that knows them."""
    stencil = draw(st.sampled_from(["central", "isotropic-4", "isotropic-8"]))
    strategy = "dense" if stencil == "isotropic-8" else draw(st.sampled_from(TwoFluidFlow.ON_RANKS))
    lattice = draw(st.sampled_from([D2Q9, D2Q9, D3Q19]))
    shape = draw(st.tuples(*[st.integers(4, 6)] * 2, st.just(1) if lattice is D2Q9 else st.integers(2, 3)))
    solid = np.zeros(shape[::-1], bool)
    if draw(st.booleans()):
        solid |= np.random.default_rng(draw(st.integers(0, 9))).random(solid.shape) < 0.2
        # in each part, so that the threads find all kernels ready: Python 3.11 parses in one thread only
        solid[:, 1::2, 1::2], solid[0, 0, 0] = True, False
    faces = draw(st.sampled_from([(P,) * 6, (P, P, H, H, P, P)]))
    options = {"stencil": stencil, "lattice": lattice, "boundaries": Boundaries(faces)}
    return TwoFluids(PoreSpace(solid), interaction=0.15, wetting=(0.1, 0.05), **options), strategy


def deep_mixture(faces=(P,) * 6, stencil="isotropic-4") -> TwoFluids:
    """Two fluids in a few nodes across, and nine deep."""
    solid = np.random.default_rng(5).random((9, 2, 3)) < 0.2
    more = {"stencil": stencil, "boundaries": Boundaries(faces)}
    return TwoFluids(PoreSpace(solid), interaction=0.15, wetting=(0.1, 0.05), **more)


@settings(max_examples=5)
@example((deep_mixture(), "sparse"), 2, 2)
@example((deep_mixture((P, P, P, P, H, H), "isotropic-8"), "dense"), 2, 2)
@given(two_fluids(), st.sampled_from([2, 4]), SLABS)
def test_two_fluids_have_the_bits_of_one_rank_however_the_image_is_cut(case, ranks, planes):
    problem, strategy = case
    chance = np.random.default_rng(2)
    densities = [chance.uniform(0.4, 0.6, problem.solid.shape) for _ in "ab"]
    velocity = chance.uniform(-0.02, 0.02, (3, *problem.solid.shape)) * [[[[1]]], [[[1]]], [[[0]]]]

    def run(rank):
        flow = TwoFluidFlow(problem, PlainDevice(), ranks=rank, strategy=strategy)
        flow.set_densities(*densities, velocity)
        flow.step(2)
        return [flow.gathered(values) for values in flow.fields()], flow.masses()

    expected, masses = run(None)
    try:
        with slabs_of(planes):
            found = on_ranks(ranks, run)
    except InputError as error:
        assert str(error).endswith(("fewer ranks", "so use 1", "so use 2", "so use 3"))  # noqa: PT017
        assume(False)
    for here, there in zip(found[0][0], expected, strict=True):
        np.testing.assert_array_equal(here, there, strict=True)
    assert len({here for _, here in found}) == 1
    assert found[0][1] == pytest.approx(masses, rel=1e-12)


@pytest.mark.parametrize("strategy", sorted(set(ALL) - {"pull"}))
def test_a_strategy_for_one_rank_is_refused_with_those_that_run_on_several(strategy):
    problem = box(D2Q9, (S, S, S, S, P, P), (9, 9, 1))
    words = f"^strategy '{strategy}' is for one rank: 'pull' runs on 2$"
    for error in on_ranks(2, lambda rank: refusal(problem, rank, strategy=strategy)):
        with pytest.raises(InputError, match=words):
            raise error
    assert refusal(problem, Alone(), strategy="push") is None


def test_ranks_that_would_be_thinner_than_their_halo_are_refused_in_one_line():
    half, extrapolated = box(D2Q9, (H, H, H, H, P, P), (3, 2, 1)), box(D2Q9, (P, P, E, E, P, P), (1, 5, 1))
    for problem, ranks, least, use in ((half, 7, "1 x 1 x 1", 6), (extrapolated, 3, "1 x 2 x 1", 2)):
        size = " x ".join(map(str, problem.shape))
        words = f"^{ranks} ranks for {size} nodes: each needs {least} of its own, so use {use}$"
        for error in on_ranks(ranks, lambda rank, problem=problem: refusal(problem, rank)):
            with pytest.raises(InputError, match=words):
                raise error
        assert on_ranks(use, lambda rank, problem=problem: refusal(problem, rank)) == [None] * use


def refusal(problem, ranks, **options):
    """What is said against a flow."""
    try:
        Simulation(problem, PlainDevice(), ranks=ranks, **options)
    except InputError as error:
        return error
    return None


def test_the_kernels_of_a_rank_are_those_of_one_rank():
    in_turn = Lock()

    def run(rank):
        # CPython 3.11 cannot parse the sources of kernels in two threads
        with in_turn:
            return Simulation(box(D3Q19, (H, H, P, P, H, H), (5, 5, 5)), select("serial"), ranks=rank).source()

    assert set(on_ranks(3, run)) == {run(None)}


def test_what_are_no_ranks_is_refused():
    with pytest.raises(InputError, match=r"^ranks = 2: must be the ranks of a run, see .*, or None$"):
        Simulation(box(D2Q9, (P,) * 6, (4, 4, 1)), PlainDevice(), ranks=2)


def test_all_ranks_see_that_one_of_them_has_diverged():
    def run(rank):
        problem = box(D2Q9, (P,) * 6, (6, 5, 1))
        populations = random_populations(problem)
        # on one rank alone, a fluid of hardly any density and much momentum
        populations[1:3, 0, 0, 0] = 1e30, -1e30
        flow = Simulation(problem, PlainDevice(), ranks=rank)
        flow.set_populations(populations)
        with pytest.raises(DivergenceError, match="diverged by step 9") as raised:
            flow.step(9)
        return str(raised.value)

    said = on_ranks(3, run)
    assert len(set(said)) == 1
    assert "6 x 5 x 1 nodes" in said[0]


def test_a_run_to_the_steady_state_ends_for_all_ranks_when_it_does_for_one():
    problem = replace(box(D2Q9, (H, H, H, E, P, P), (7, 6, 1), moving=3), force=(0.0, 0.0, 0.0))

    def run(rank):
        flow = Simulation(problem, PlainDevice(), ranks=rank, precision="double")
        return flow.run_to_steady_state(tolerance=0.05, interval=5), flow.gathered(flow.fields()[1])

    (alone, velocity), found = run(None), on_ranks(3, run)
    assert alone.steps > 5
    for convergence, _ in found:
        assert (convergence.converged, convergence.steps) == (True, alone.steps)
        np.testing.assert_allclose(convergence.history[1:], alone.history[1:], rtol=1e-12)
    # the mass that the lid leaks is restored by a sum, whose order the ranks change
    np.testing.assert_allclose(found[0][1], velocity, rtol=0, atol=1e-15)


def test_what_is_made_of_a_whole_flow_is_refused_on_several_ranks(tmp_path):
    problem = TwoFluids(PoreSpace(np.zeros((4, 4, 4), bool)), interaction=0.1)

    def run(rank):
        flow = TwoFluidFlow(problem, PlainDevice(), ranks=rank)
        for write, what in ((save, "a checkpoint"), (write_vtk, "a VTK image")):
            with pytest.raises(InputError, match=f"^{what} is made of a flow on one rank: gather the fields"):
                write(flow, tmp_path / "none")
        with pytest.raises(InputError, match="^the state of a bubble is made of a flow on one rank"):
            bubble_state(flow)

    TwoFluidFlow(problem, PlainDevice())
    on_ranks(2, run)
    assert not list(tmp_path.iterdir())
