"""A body written once runs on every device, for any index space."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.parallel import Kernel, device_function, fma, ones
from repro.parallel.operations import zero

#: threads a block in these tests; divides few rows, so that the last block is almost always a partial one
BLOCK = 4


@device_function
def _mark(index, n, s, seen, run):
    for lane in range(n):
        s[0, lane] = index + lane
        s[1, lane] = 1
    for lane in range(n):
        seen[index + lane] += s[1, lane] * (1 + s[0, lane])
        run[index + lane] = n


@device_function
def visit_1d(x, n, s, seen, run, nx, ny):
    _mark(x, n, s, seen, run)


@device_function
def visit_2d(x, n, y, s, seen, run, nx, ny):
    _mark(x + nx * y, n, s, seen, run)


@device_function
def visit_3d(x, n, y, z, s, seen, run, nx, ny):
    _mark(x + nx * (y + ny * z), n, s, seen, run)


VISITS = {1: visit_1d, 2: visit_2d, 3: visit_3d}


def visited(device, compiled, shape, parts=None):
    """How often each item was visited, and the length of the run it was visited in; both of shape (z, y, x).

    In one launch, or in several of `parts`, (first, count) along the slowest axis.
    """
    count = int(np.prod(shape))
    seen, run = device.zeros(count, np.float64), device.zeros(count, np.int64)
    nx, ny = (*shape, 1)[:2]
    launch = compiled(shape, seen, run, nx, ny)
    for each in [launch] if parts is None else [launch.within(*part) for part in parts]:
        each()
    device.synchronise()
    # an item adds its own number plus one, so a visit with another's scratch shows as well as a second visit
    times = device.to_host(seen) / (1 + np.arange(count))
    return times.reshape(shape[::-1]), device.to_host(run).reshape(shape[::-1])


def extents(device, ndim):
    """Index spaces: rows up to some runs of the CPU, or few threads for the simulator."""
    x, others = (9, 3) if device.simulated else (300, 5)
    return st.tuples(st.integers(1, x), *[st.integers(1, others)] * (ndim - 1))


@pytest.mark.parametrize("within", ["edges", "along_rows", None])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_each_item_is_visited_exactly_once_with_scratch_of_its_own(device, ndim, within):
    edges, along_rows = within == "edges" and ndim > 1, within == "along_rows"
    kernel = Kernel(VISITS[ndim], ndim=ndim, rows=2, dtype=np.float64, edges=edges, along_rows=along_rows, block=BLOCK)
    compiled = device.compile(kernel)

    @settings(max_examples=8 if device.simulated else 40, deadline=None)
    @given(extents(device, ndim))
    def check(shape):
        times, run = visited(device, compiled, shape)
        np.testing.assert_array_equal(times, 1)
        assert run.min() >= 1
        assert run.max() <= getattr(device, "lanes", 1)
        if edges:
            np.testing.assert_array_equal(run[..., [0, -1]], 1, "the ends of a row share a run with its inside")

    check()
    for extent in (1, 127, 128, 129, 130, 131) if not device.simulated else (1, BLOCK, BLOCK + 1):
        shape = (extent, *(1,) * (ndim - 1))
        np.testing.assert_array_equal(visited(device, compiled, shape)[0], 1)


@pytest.mark.parametrize("ndim", [1, 3])
def test_parts_along_the_slowest_axis_visit_their_items_and_no_others(device, ndim):
    options = {"rows": 2, "dtype": np.float64, "edges": ndim > 1, "block": BLOCK, "parts": True}
    compiled = device.compile(Kernel(VISITS[ndim], ndim=ndim, **options))
    for shape in ((9,), (13,)) if ndim == 1 else ((5, 2, 9), (8, 1, 7)):
        times, _ = visited(device, compiled, shape, [(0, 2), (5, shape[-1] - 5)])
        expected = np.ones(shape[::-1])
        expected[2:5] = 0
        np.testing.assert_array_equal(times, expected)


def test_launches_of_one_kernel_over_more_and_fewer_items_leave_each_other_alone(device):
    arrays = [device.zeros(count, np.float64) for count in (40, 3)]
    for array in arrays:
        array[:] = 1
    launches = [device.compile(Kernel(zero))((len(array),), array) for array in arrays]
    for launch, array in zip(launches, arrays, strict=True):
        launch()
        assert not device.to_host(array).any()


def test_an_index_space_of_the_wrong_dimension_is_refused(device):
    compiled = device.compile(Kernel(visit_2d, ndim=2, rows=2, dtype=np.float64))
    array = device.zeros(4, np.float64)
    with pytest.raises(ValueError, match="2-dimensional"):
        compiled((2, 2, 1), array, array, 2, 2)


def test_a_kernel_meets_a_new_type_after_more_launches_than_python_has_frames(threads):
    compiled, first = threads.compile(Kernel(zero)), threads.zeros(1, np.float32)
    for _ in range(sys.getrecursionlimit()):
        compiled((1,), first)()
    other = threads.to_device(np.ones(1, np.int16))
    compiled((1,), other)()
    assert not other.any()


@device_function
def triangle(x, n, s, out):
    """Fill the scratch first, read it later: what another run left or leaves there would change the sum."""
    for row in range(6):
        for lane in range(n):
            s[row, lane] = 0
    for row in range(6):
        for lane in range(n):
            s[row, lane] += (x + lane) * (row + 1)
            s[5 - row, lane] -= 1
    for lane in range(n):
        out[x + lane] = 0
        for row in range(6):
            out[x + lane] += s[row, lane]


@device_function
def reversed_list(x, n, s, places, source, out):
    """Keep places before what they point to is overwritten."""
    for lane in range(n):
        places[0, lane] = source[x + lane]
        places[1, lane] = x + lane
    for lane in range(n):
        s[0, lane] = 10 * places[0, lane]
        source[x + lane] = -1
    for lane in range(n):
        out[places[0, lane]] = s[0, lane] + places[1, lane]


def test_scratch_of_integers_is_private_to_a_run_too(device):
    count = 10 if device.simulated else 5000
    source = np.arange(count)[::-1].astype(np.int32)
    out = device.zeros(count, np.float64)
    kernel = Kernel(reversed_list, rows=1, index_rows=2, dtype=np.float64, block=BLOCK)
    device.compile(kernel)((count,), device.to_device(source), out)()
    np.testing.assert_array_equal(device.to_host(out), 10 * np.arange(count) + np.arange(count)[::-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scratch_is_private_to_a_run_and_has_the_type_that_was_asked_for(device, dtype):
    count = 10 if device.simulated else 5000
    out = device.zeros(count, np.float64)
    device.compile(Kernel(triangle, ndim=1, rows=6, dtype=dtype, block=BLOCK))((count,), out)()
    # sums of small whole numbers are exact in either precision
    np.testing.assert_array_equal(device.to_host(out), 21 * np.arange(count) - 6)


def test_scratch_in_single_precision_rounds_to_single_precision(device):
    @device_function
    def third(x, n, s, out):
        for lane in range(n):
            s[0, lane] = (x + lane + 1) / 3
            out[x + lane] = s[0, lane]

    out = device.zeros(5, np.float64)
    device.compile(Kernel(third, ndim=1, rows=1, dtype=np.float32, block=BLOCK))((5,), out)()
    expected = np.arange(1, 6) / 3
    difference = np.abs(device.to_host(out) - expected).max()
    assert 1e-9 < difference < 1e-6


@pytest.mark.parametrize("block", [2, 6])
def test_threads_of_a_block_shift_items_through_shared_memory(device, block):
    barrier = device.barrier

    @device_function
    def shift(x, n, y, s, t, source, target, nx):
        place = x % block
        for lane in range(n):
            s[0, lane] = source[x + nx * y + lane]
            t[0, (place + lane + 1) % block] = s[0, lane]
            t[1, (place + lane + block - 1) % block] = s[0, lane]
        barrier()
        for lane in range(n):
            target[x + nx * y + lane] = t[0, place + lane] + 100 * t[1, place + lane]

    nx, ny = 12, 3
    source = np.arange(nx * ny, dtype=np.float64)
    target = device.zeros(nx * ny, np.float64)
    kernel = Kernel(shift, ndim=2, rows=1, shared_rows=2, dtype=np.float64, block=block)
    device.compile(kernel)((nx, ny), device.to_device(source), target, nx)()
    blocks = source.reshape(-1, block)
    expected = np.roll(blocks, 1, axis=1) + 100 * np.roll(blocks, -1, axis=1)
    np.testing.assert_array_equal(device.to_host(target), expected.ravel())


@device_function
def count_up(x, n, out):
    for lane in range(n):
        out[x + lane] += 1


def test_capture_replays_what_was_recorded_and_does_not_run_it(device):
    out = device.zeros(7, np.float64)
    run = device.compile(Kernel(count_up, ndim=1, block=BLOCK))((7,), out)
    run()

    def twice():
        run()
        run()

    replay = device.capture(twice)
    device.synchronise()
    np.testing.assert_array_equal(device.to_host(out), 1)
    for _ in range(3):
        replay()
    device.synchronise()
    np.testing.assert_array_equal(device.to_host(out), 1 + 3 * 2)


def test_arrays_come_back_from_the_device_as_they_were(device):
    values = np.random.default_rng(0).normal(size=(3, 5))
    there = device.to_device(values)
    back = device.to_host(there)
    np.testing.assert_array_equal(back, values)
    back[:] = 0
    np.testing.assert_array_equal(device.to_host(there), values)
    zeros = device.to_host(device.zeros((2, 3), np.float32))
    assert zeros.dtype == np.float32
    assert not zeros.any()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_fused_multiply_add_rounds_once_and_strict_sums_keep_their_order_on_every_device(device, real):
    @device_function
    def fill(x, n, out, a, b, big):
        for i in range(x, x + n):
            out[i] = fma(a, a, -b) if i == 0 else (a + big) - big

    if device.simulated and real is np.float64:
        pytest.skip("plain Python has no fused operation in double precision")
    # a = 1 + 2^-k has a square that ends beyond the last digit
    k = 12 if real is np.float32 else 27
    out, a, big = device.zeros(2, real), 1 + 2.0**-k, real(2.0 ** (2 * k))
    rounded = real(a) * real(a)
    device.compile(Kernel(fill, strict=True))((2,), out, real(a), rounded, big)()
    device.synchronise()
    exact = Fraction(a) * Fraction(a) - Fraction(float(rounded))
    assert device.to_host(out).tolist() == [float(exact), (real(a) + big) - big]


def test_the_bits_that_are_set_are_counted_on_every_device(device):
    @device_function
    def count(x, n, words, out):
        for i in range(x, x + n):
            out[i] = ones(words[i])

    words = np.array([0, 1, 2**31, 2**32 - 1, 0xF0F0, 0x12345678], np.uint32)
    out = device.zeros(len(words), np.int32)
    device.compile(Kernel(count))((len(words),), device.to_device(words), out)()
    device.synchronise()
    assert device.to_host(out).tolist() == [bin(word).count("1") for word in words]


def test_a_core_takes_whole_blocks_where_runs_share_memory(device):
    # three blocks on two cores: half of a block would find its first item elsewhere
    @device_function
    def firsts(x, n, t, found):
        for i in range(x, x + n):
            found[i] = x % 4 if n > 1 else 0

    found = device.to_device(np.full(12, 77, np.int32))
    device.compile(Kernel(firsts, dtype=np.int32, shared_rows=1, block=4))((12,), found)()
    np.testing.assert_array_equal(device.to_host(found), 0)
