"""Streaming by swaps against plain streaming, bit for bit (swap paper): nothing but places may change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.model import Model, Problem
from repro.lbm.node import Specialisation, stream_kernel
from repro.lbm.parameters import Grid, Vector
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import SWAPS
from repro.lbm.strategies.swap.rule import (
    Source,
    link_kernel,
    make_source,
    pairs_of,
    ray_kernel,
    sweep_kernel,
    type_kernel,
)
from repro.parallel import select

P, S, H = "periodic", "standard", "half-way"
CLOSED = Model(D3Q19, Boundaries((S,) * 6))
SPEC = Specialisation(CLOSED, block=4)
PARALLEL = [name for name in SWAPS if name != "swap sweep"]


def random_populations(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, (D3Q19.q, *shape[::-1]))


def boundary_nodes(shape):
    nodes = np.ones(shape[::-1], bool)
    nodes[1:-1, 1:-1, 1:-1] = False
    return nodes


def reversed_at(f, nodes):
    """The populations with those of some nodes in the reverse order."""
    return np.where(nodes, f[list(D3Q19.opposite)], f)


def swept(f, shape):
    """Algorithm 1 in plain Python: interior nodes in ascending order, the rule of figure 3 for nine directions."""
    f = f.copy()
    nx, ny, nz = shape
    for z in range(1, nz - 1):
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                for i, j in pairs_of(D3Q19):
                    cx, cy, cz = D3Q19.velocities[i]
                    a, b, c = f[i, z, y, x], f[j, z, y, x], f[i, z + cz, y + cy, x + cx]
                    f[i, z, y, x], f[j, z, y, x], f[i, z + cz, y + cy, x + cx] = b, c, a
    return f


def run(device, kernel, shape, *arrays):
    """Run a kernel over arrays (q, nz, ny, nx) of the host; returns what the last one holds then."""
    flat = [device.to_device(array.ravel()) for array in arrays]
    device.compile(kernel)(shape, *flat, Grid.packed(shape))()
    return device.to_host(flat[-1]).reshape(arrays[-1].shape)


def streamed(f, shape, device):
    """Plain streaming into a second array, as `split` does it."""
    flat = device.to_device(f.ravel()), device.zeros(f.size, f.dtype)
    kernel = stream_kernel(SPEC)
    device.compile(kernel)(shape, *flat, Grid.packed(shape), Vector(*(np.float64(0),) * 3))()
    return device.to_host(flat[1]).reshape(f.shape)


def test_the_first_of_each_pair_points_to_a_node_that_comes_earlier_in_memory():
    for lattice in (D2Q9, D3Q15, D3Q19):
        for i, j in pairs_of(lattice):
            assert lattice.opposite[i] == j
            assert np.dot(lattice.velocities[i], (1, 100, 10000)) < 0


def test_the_serial_sweep_is_the_papers_algorithm():
    shape = (5, 4, 6)
    f = random_populations(shape)
    np.testing.assert_array_equal(run(select("serial"), sweep_kernel(SPEC), shape, f), swept(f, shape))


def assert_all_ways_equal(shape, seed, device):
    """Sweep, types and rays leave the same; with the boundary nodes that is plain streaming; so do links alone."""
    serial, f = select("serial"), random_populations(shape, seed)
    before = reversed_at(f, boundary_nodes(shape))
    interior = run(serial, sweep_kernel(SPEC), shape, before)
    np.testing.assert_array_equal(run(device, type_kernel(SPEC), shape, before, 0 * f), interior)
    np.testing.assert_array_equal(run(device, ray_kernel(SPEC), shape, before), interior)
    done = run(device, link_kernel(SPEC, boundary_only=True), shape, interior)
    np.testing.assert_array_equal(done, streamed(f, shape, serial))
    everywhere = reversed_at(f, np.ones(shape[::-1], bool))
    links = run(device, link_kernel(SPEC, boundary_only=False), shape, everywhere)
    np.testing.assert_array_equal(links, done)


def test_on_every_grid_up_to_nine_interior_nodes_a_side_all_ways_equal_plain_streaming(threads):
    for nx in range(3, 12):
        for ny in range(3, 12):
            for nz in range(3, 12):
                assert_all_ways_equal((nx, ny, nz), nx + 10 * ny + 100 * nz, threads)


@settings(max_examples=6, deadline=None)
@given(shape=st.tuples(*[st.integers(3, 6)] * 3), seed=st.integers(0, 999))
def test_on_every_device_all_ways_equal_plain_streaming(device, shape, seed):
    assert_all_ways_equal(shape, seed, device)


@pytest.mark.parametrize("shape", [(3, 3, 3), (3, 4, 5), (11, 3, 3), (3, 3, 11), (5, 11, 4)])
def test_thin_boxes_have_rays_of_one_and_two_nodes(wide_device, shape):
    assert_all_ways_equal(shape, 7, wide_device)


@settings(max_examples=20, deadline=None)
@given(shape=st.tuples(*[st.integers(3, 9)] * 3))
def test_the_type_follows_from_the_place_on_the_ray(shape):
    source, grid = make_source(CLOSED), Grid.packed(shape)
    inside = ~boundary_nodes(shape)

    def interior(x, y, z):
        return all(0 <= p < n for p, n in zip((x, y, z), shape, strict=True)) and inside[z, y, x]

    for i, _ in pairs_of(D3Q19):
        cx, cy, cz = D3Q19.velocities[i]
        for z, y, x in np.ndindex(inside.shape):
            ahead, behind = interior(x + cx, y + cy, z + cz), interior(x - cx, y - cy, z - cz)
            if interior(x, y, z):
                expected = {(0, 0): Source.E, (0, 1): Source.B, (1, 1): Source.C, (1, 0): Source.D}[ahead, behind]
            else:
                expected = Source.A if behind else Source.NONE
            assert source(i, x, y, z, grid) == expected


def cavity(shape=(6, 5, 4), lattice=D3Q19, faces=(S,) * 6, **options):
    return Problem(
        Model(lattice, Boundaries(faces, moving=3), "bgk"), shape, 0.7, wall_velocity=(0.05, 0.0, 0.0), **options
    )


def flow_after(problem, device, strategy, steps=6, **options):
    weights = np.array(problem.model.lattice.weights)[:, None, None, None]
    noise = np.random.default_rng(3).uniform(-0.02, 0.02, (weights.size, *problem.shape[::-1]))
    simulation = Simulation(problem, device, strategy=strategy, precision="double", **options)
    simulation.set_populations(weights * (1 + noise))
    simulation.step(steps)
    return simulation


def assert_flows_as_split(problem, device, strategy, reference=None, **options):
    expected = flow_after(problem, reference or device, "split", **options).populations()
    np.testing.assert_array_equal(flow_after(problem, device, strategy, **options).populations(), expected)


@pytest.mark.parametrize("strategy", SWAPS)
def test_the_lid_drives_the_same_flow_bit_for_bit(device, wide_device, strategy):
    if strategy == "swap sweep" and device.name != "serial":
        pytest.skip("refused, see below")
    # few threads for the simulator, which computes as plain Python does
    box, steps, reference = ((4, 4, 3), 1, wide_device) if device.simulated else ((6, 5, 4), 6, device)
    assert_flows_as_split(cavity(box), device, strategy, reference, steps=steps)


@pytest.mark.parametrize("strategy", PARALLEL)
def test_the_lid_drives_the_same_flow_over_six_steps(wide_device, strategy):
    assert_flows_as_split(cavity(), wide_device, strategy)


@pytest.mark.parametrize("strategy", PARALLEL)
def test_arrays_of_structures_hold_the_same_flow(wide_device, strategy):
    assert_flows_as_split(cavity((4, 4, 5)), wide_device, strategy, steps=3, layout="aos")


@pytest.mark.parametrize("strategy", PARALLEL)
def test_other_lattices_stream_by_swaps_as_well(wide_device, strategy):
    for lattice, shape, faces in ((D3Q15, (4, 4, 4), (S,) * 6), (D2Q9, (5, 6, 1), (S, S, S, S, P, P))):
        assert_flows_as_split(cavity(shape, lattice, faces), wide_device, strategy, steps=3)


def test_links_need_no_walls(wide_device):
    for faces in ((P, P, S, S, P, P), (P, P, S, S, S, S)):
        assert_flows_as_split(cavity((4, 4, 3), D3Q19, faces), wide_device, "swap links")


@pytest.mark.parametrize("faces", [(S,) * 6, (P, P, S, S, P, P)])
def test_esoteric_pull_is_the_same_flow_in_one_array_whatever_the_walls(wide_device, faces):
    assert_esoteric_pull_flows_as_split(wide_device, wide_device, faces)


def test_esoteric_pull_is_the_same_flow_in_one_array(device, wide_device):
    assert_esoteric_pull_flows_as_split(device, wide_device, (P, P, S, S, P, P))


def assert_esoteric_pull_flows_as_split(device, reference, faces):
    few = device.simulated and device is not reference
    problem = cavity((3, 4, 4) if few else (4, 6, 5), D3Q19, faces)
    fluid = np.zeros(problem.shape[::-1], bool)
    fluid[tuple(slice(1, -1) if faces[2 * axis] == S else slice(None) for axis in (2, 1, 0))] = True
    for steps in (0, 1, 2) if few else (0, 3, 4):
        rho, u = flow_after(problem, device, "esoteric pull", steps=steps).fields()
        expected_rho, expected_u = flow_after(problem, reference, "split", steps=steps).fields()
        np.testing.assert_allclose(rho[fluid], expected_rho[fluid], rtol=0, atol=1e-14)
        np.testing.assert_allclose(u[:, fluid], expected_u[:, fluid], rtol=0, atol=1e-14)


def test_populations_that_are_not_at_their_nodes_are_not_shown(threads):
    with pytest.raises(InputError, match="look at fields"):
        flow_after(cavity(), threads, "esoteric pull", steps=1).populations()


@pytest.mark.parametrize("strategy", SWAPS)
def test_mass_in_the_closed_cavity_is_conserved_to_rounding_over_ten_thousand_steps(threads, strategy):
    device = select("serial") if strategy == "swap sweep" else threads
    problem = cavity((6, 6, 6))
    simulation = flow_after(problem, device, strategy, steps=0)
    before = simulation.mean_density()
    simulation.step(10000)
    # the lid adds and takes the same amount, and each step rounds nineteen numbers a node at random
    assert simulation.mean_density() == pytest.approx(before, rel=1e-13 * np.sqrt(10000) / 10)


def test_the_sweep_runs_on_one_core_only(threads, cuda_device):
    for device in (threads, cuda_device):
        with pytest.raises(InputError, match="runs on 'serial' only"):
            Simulation(cavity(), device, strategy="swap sweep")


@pytest.mark.parametrize(
    ("shape", "faces", "strategy", "message"),
    [
        ((6, 6, 6), (H,) * 6, "swap links", "faces 'half-way' along x"),
        ((6, 6, 6), (P, P, S, S, S, S), "swap types", "faces 'periodic' along x"),
        ((6, 6, 6), (S, S, S, S, P, P), "swap rays", "faces 'periodic' along z"),
        ((6, 6, 2), (S,) * 6, "swap links", "2 nodes along z"),
    ],
)
def test_boxes_that_cannot_stream_by_swaps_are_refused(cuda_device, shape, faces, strategy, message):
    with pytest.raises(InputError, match=message):
        Simulation(cavity(shape, D3Q19, faces), cuda_device, strategy=strategy)
