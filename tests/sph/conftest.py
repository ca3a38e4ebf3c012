"""Systems that the tests of the solver share, so that each kernel is compiled once."""

import pytest
from helpers.sph_systems import quintic_spline, shaken

from repro.sph.kernels import KERNELS


@pytest.fixture(scope="session")
def own_kernel():
    """The name of a kernel of support 3 h that a user's file has registered."""
    KERNELS["a user's own"] = quintic_spline()
    yield "a user's own"
    del KERNELS["a user's own"]


@pytest.fixture(scope="session")
def shaken_water():
    """125 particles in a corner of a tank, with some air around."""
    return shaken()
