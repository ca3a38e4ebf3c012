"""Choosing a device, its memory, its clock."""

from types import SimpleNamespace

import numba
import numpy as np
import pytest

from repro.errors import DeviceError, InputError, MemoryLimitError
from repro.parallel import CpuDevice, Kernel, cpu, gpu_present, measure, readable, require_memory, select
from repro.parallel.operations import zero


def one_line(error) -> str:
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


def test_a_device_answers_to_its_name(device):
    assert select(device.name).name == device.name
    assert device.description
    assert device.free_memory() > 0


def test_auto_is_the_gpu_where_there_is_one_and_threads_elsewhere():
    assert select("auto").name == select().name == ("cuda" if gpu_present() else "threads")


@pytest.mark.parametrize("name", ["gpu", "CUDA", ""])
def test_an_unknown_device_is_refused_with_the_names_of_the_known(name):
    with pytest.raises(DeviceError) as error:
        select(name)
    assert "auto, serial, threads, cuda" in one_line(error)


@pytest.mark.skipif(gpu_present(), reason="this machine has a GPU")
def test_cuda_without_a_gpu_is_refused_and_never_replaced(monkeypatch):
    from repro.parallel import gpu

    monkeypatch.setattr(gpu, "SIMULATED", False)
    with pytest.raises(DeviceError) as error:
        select("cuda")
    text = one_line(error)
    assert "cuda" in text
    assert "--device threads" in text
    assert isinstance(error.value, InputError)


@pytest.mark.parametrize(
    ("shape", "cores"),
    [((127, 32), 1), ((128, 32), 1), ((256, 32), 2), ((16, 16, 64), 4), ((10**3,) * 3, 8), ((10,), 8)],
)
def test_a_core_takes_some_thousands_of_nodes_or_its_share_of_the_particles(shape, cores, monkeypatch):
    monkeypatch.setattr(cpu, "NODES_A_CORE", 4096)
    asked = []
    monkeypatch.setattr(cpu, "cpu_launch", lambda loop, packing, workers, *rest: lambda: asked.append(workers))
    CpuDevice("threads", workers=8).compile(Kernel(zero, ndim=len(shape)))(shape, np.zeros(1))()
    assert asked == [cores]


def test_what_does_not_fit_is_refused_before_it_is_allocated_naming_both_amounts():
    device = SimpleNamespace(name="threads", free_memory=lambda: 3 * 2**30)
    require_memory(device, 3 * 2**30, "a grid")
    with pytest.raises(MemoryLimitError) as error:
        require_memory(device, 5 * 2**30, "a grid")
    text = one_line(error)
    assert "a grid needs 5 GiB" in text
    assert "3 GiB free" in text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**30, "1 GiB"), (3 * 2**50, "3072 TiB")],
)
def test_bytes_are_written_in_the_largest_unit_they_fill(count, text):
    assert readable(count) == text


def test_measure_gives_the_median_and_the_spread_and_leaves_the_warm_up_out():
    calls = []
    seconds = iter([3.0, 1.0, 2.0, 2.5, 4.0])
    device = SimpleNamespace(synchronise=lambda: calls.append("wait"), clock=lambda run: run() or next(seconds))
    timing = measure(lambda: calls.append("run"), device, repeats=5, warm_up=2)
    assert timing.seconds == 2.5
    assert timing.spread == pytest.approx((4.0 - 1.0) / 2.5)
    assert timing.repeats == 5
    assert calls == ["run", "run", "wait"] + ["run"] * 5


def test_the_clock_measures_what_runs(device):
    if device.simulated:
        with pytest.raises(DeviceError, match="simulator"):
            device.clock(lambda: None)
        return
    short, long = device.zeros(1 << 12, np.float32), device.zeros(1 << 24, np.float32)
    assert min(device.clock(lambda: device.xp.square(short, out=short)) for _ in range(5)) > 0
    assert device.clock(lambda: device.xp.square(long, out=long)) > 0


@pytest.mark.skipif(gpu_present(), reason="this machine has a GPU")
def test_more_rows_than_a_launch_can_have_are_refused(cuda_device):
    from repro.parallel import Kernel, device_function

    @device_function
    def nothing(x, n, y, out):
        out[0] = 0

    out = cuda_device.zeros(1, np.float32)
    with pytest.raises(DeviceError) as error:
        cuda_device.compile(Kernel(nothing, ndim=2, block=4, along_rows=True))((4, 70000), out)
    assert "65535" in one_line(error)
    with pytest.raises(DeviceError) as error:
        cuda_device.compile(Kernel(nothing, ndim=2, block=4))((3, 2**31), out)
    assert "3 x 2147483648 x 1 items: a kernel numbers fewer than 2^32" in one_line(error)


def test_what_a_kernel_takes_is_that_of_the_types_of_its_launch(cuda_device):
    """Constants in a tuple and in an array are two kernels of one source, and each launch has one of them."""
    arrays = np.zeros(3, np.float32), np.zeros(3)
    kernels = {(numba.int64, numba.typeof(array)): f"kernel of {array.dtype}" for array in arrays}
    compiled = SimpleNamespace(overloads=kernels, typeof_pyval=numba.typeof)
    launches = [SimpleNamespace(compiled=compiled, values=(5, array)) for array in arrays]
    assert list(map(cuda_device.kernel_of, launches)) == ["kernel of float32", "kernel of float64"]
