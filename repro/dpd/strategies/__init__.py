"""Ways to find the forces: one short file each, all with the same forces to rounding.

A strategy has build(setup) -> Forces, see `setup`. Where it sorts, it hands the particles back in the order of cells.
"""

from . import cell, cell_by_load, linked, particle, particle_full, planes, runs
from .setup import Forces, Setup

STRATEGIES = {
    "cell": cell,
    "cell by load": cell_by_load,
    "particle": particle,
    "particle, full stencil": particle_full,
    "linked": linked,
    "planes": planes,
    "runs": runs,
}

#: those that keep a table of all cells, with room for the same number of particles in each
TABLED = ("cell", "cell by load", "particle", "particle, full stencil")


def fastest(device) -> str:
    """The strategy for production on a device."""
    return "runs" if device.name == "cuda" else "planes"


def runs_on(strategy: str, device) -> bool:
    """Whether the strategy can run on the device."""
    return {"linked": device.name == "serial", "planes": device.name != "cuda"}.get(strategy, True)


__all__ = ["STRATEGIES", "TABLED", "Forces", "Setup", "fastest", "runs_on"]
