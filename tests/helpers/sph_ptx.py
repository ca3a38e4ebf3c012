"""Compile every kernel of the sph solver to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.sph_ptx PRECISION
"""

import json
import sys
from itertools import cycle

from helpers.ptx_device import PtxDevice, look
from helpers.sph_systems import shaken
from repro.sph.ghosts import BOUNDARIES
from repro.sph.simulation import DENSITIES, Simulation
from repro.sph.strategies import STRATEGIES


def main(precision):
    # between them every kernel of all searches, both densities and both kinds of walls
    for strategy, density, boundary in zip(STRATEGIES, cycle(DENSITIES), cycle(BOUNDARIES[:2]), strict=False):
        for fuse in (True, False):
            show(PtxDevice(fuse), fuse, strategy, density, boundary, precision)


def show(device, fuse, strategy, density, boundary, precision):
    Simulation(shaken(), device, strategy=strategy, density=density, boundary=boundary, precision=precision)
    for name, text in device.kernels.values():
        about = {"strategy": strategy, "density": density, "kernel": name, "fuse": fuse}
        print(json.dumps(about | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
