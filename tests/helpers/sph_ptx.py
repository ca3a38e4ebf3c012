"""Compile every kernel of the sph solver to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.sph_ptx PRECISION
"""

import json
import sys
from itertools import cycle

from helpers.ptx_device import PtxDevice, look
from helpers.sph_systems import shaken
from repro.sph import bindings, simulation
from repro.sph.ghosts import BOUNDARIES
from repro.sph.strategies import STRATEGIES


def main(precision):
    # between them every kernel of all searches, both densities, both kinds of walls and both ways to share a sum
    choices = zip(STRATEGIES, cycle(simulation.DENSITIES), cycle(BOUNDARIES[:2]), cycle((True, False)), strict=False)
    for strategy, density, boundary, shared in choices:
        bindings.shared = lambda device, count, shared=shared: shared
        for fuse in (True, False):
            show(PtxDevice(fuse), fuse, strategy, density, boundary, precision)


def show(device, fuse, strategy, density, boundary, precision):
    simulation.Simulation(shaken(), device, strategy=strategy, density=density, boundary=boundary, precision=precision)
    for name, text in device.kernels.values():
        about = {"strategy": strategy, "density": density, "kernel": name, "fuse": fuse}
        print(json.dumps(about | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
