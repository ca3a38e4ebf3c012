"""Devices for the tests: where there is no GPU, "cuda" means numba's CUDA simulator."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from repro.parallel.select import gpu_present, select

# threads that wait leave their core to the other process of tests, instead of turning round on it
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

GPU = gpu_present()
if not GPU:
    # before anything imports numba.cuda; kernels for the CPU still compile in the same process
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    import numba

    numba.config.reload_config()

from helpers.plain import PlainDevice  # noqa: E402

from repro.parallel import cpu  # noqa: E402
from repro.study.run.execute import import_without_grammar  # noqa: E402

# the grids of tests are small, and all cores shall meet in them
cpu.NODES_A_CORE = 1

# before a test imports it with the grammar, which takes every process of tests some seconds
import_without_grammar("nbformat")

# by itself `approx` lets anything within 1e-12 pass, and so zero for a velocity of 1e-13, whatever `rel` says; a test
# that means such a tolerance names it with `abs`
type(pytest.approx(1.0)).DEFAULT_ABSOLUTE_TOLERANCE = 0.0

# an example may take as long as it does on a machine that others use too
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

TESTS = Path(__file__).resolve().parent
STUDY = TESTS / "study"
FIRST = (TESTS / "test_adding.py", TESTS / "test_folder_names.py", STUDY)


def pytest_collection_modifyitems(items):
    """Begin with what waits for processes of its own, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: not any(item.path.resolve().is_relative_to(place) for place in FIRST))


@pytest.fixture(autouse=True)
def _simulator_is_for_kernels_only(request, monkeypatch):
    """What a user meets without a GPU is a refusal, so tests of the user's side must not find the simulator."""
    if GPU or not request.path.resolve().is_relative_to(STUDY):
        return
    import repro.parallel.gpu

    monkeypatch.setattr(repro.parallel.gpu, "SIMULATED", False)
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM")


@pytest.fixture(scope="session", params=["serial", "threads", "cuda"])
def device(request):
    """Each way to run a kernel."""
    return select(request.param)


@pytest.fixture(scope="session")
def threads():
    """All cores of the CPU."""
    return select("threads")


@pytest.fixture(scope="session")
def wide_device():
    """The GPU, or plain Python: for wide matrices of tiny grids."""
    return select("cuda") if GPU else PlainDevice()


@pytest.fixture(scope="session")
def cuda_device():
    """The GPU or its simulator, which compiles nothing and so allows wide matrices of tiny grids."""
    return select("cuda")
