"""Systems that the tests of the solver share, so that each kernel is compiled once."""

import pytest
from helpers.sph_systems import shaken


@pytest.fixture(scope="session")
def shaken_water():
    """125 particles in a corner of a tank, with some air around."""
    return shaken()
