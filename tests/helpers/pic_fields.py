"""Fields without particles, for tests: made, filled, advanced, and looked at."""

import numpy as np

from helpers.plain import PlainDevice
from repro.pic.maxwell.fields import Fields, courant_limit

#: units of the sums in one electron
UNIT = 2.0**40


def made(mesh, *, share=0.9, real=np.float64, device=None, electric=None, magnetic=None) -> Fields:
    """Fields in steps of a share of the Courant limit, at the start."""
    fields = Fields(device or PlainDevice(), real, mesh, share * courant_limit(mesh), UNIT)
    fields.set(electric, magnetic)
    fields.begin()
    return fields


def advance(fields, steps, currents=None) -> None:
    """So many steps, with the same sums of currents in each."""
    for _ in range(steps):
        for launch in fields.before.values():
            launch()
        if currents is not None:
            fields.arrays.currents[:] = fields.device.to_device(currents)
        for launch in fields.after.values():
            launch()


def random_fields(mesh, seed=1) -> dict:
    """Random E in V/m, and B in T of about as much energy."""
    inside = (3, *mesh.shape[::-1])
    numbers = np.random.default_rng(seed)
    return {"electric": numbers.normal(size=inside), "magnetic": numbers.normal(size=inside) / 3e8}


def random_currents(mesh, seed=2) -> np.ndarray:
    """Sums of currents of random cells, none in the guards."""
    grid = tuple(cells + 2 for cells in mesh.shape)[::-1]
    sums, inside = np.zeros((*grid, 12), np.int64), (slice(1, -1),) * 3
    sums[inside] = np.random.default_rng(seed).integers(-(2**40), 2**40, sums[inside].shape)
    return sums.ravel()
