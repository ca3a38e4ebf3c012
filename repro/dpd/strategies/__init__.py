"""Ways to find the forces: one short file each, all with the same forces to rounding.

A strategy has build(setup) -> Forces and TRAITS, see `setup`. Where it sorts, it hands the particles back in the order
of cells.
"""

from ..ranks import several
from . import cell, cell_by_load, linked, particle, particle_full, planes, sorted_cells
from .setup import Forces, Setup, Traits

STRATEGIES = {
    "cell": cell,
    "cell by load": cell_by_load,
    "particle": particle,
    "particle, full stencil": particle_full,
    "linked": linked,
    "planes": planes,
    "sorted cells": sorted_cells,
}


def build(name: str, setup: Setup) -> Forces:
    """Bind a strategy to the setup's arrays; raises InputError where it cannot run."""
    STRATEGIES[name].TRAITS.require(setup, name)
    return STRATEGIES[name].build(setup)


def fastest(device, ranks=None) -> str:
    """The strategy for production on a device, of each of several ranks if there are."""
    return "sorted cells" if device.name == "cuda" or several(ranks) else "planes"


def runs_on(name: str, device, ranks=None) -> bool:
    """Whether the strategy can run on the device, and on each of several ranks if there are."""
    traits = STRATEGIES[name].TRAITS
    return device.name in traits.devices and (traits.ranks or not several(ranks))


__all__ = ["STRATEGIES", "Forces", "Setup", "Traits", "build", "fastest", "runs_on"]
