"""Compile every kernel of the sph solver to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.sph_ptx PRECISION
"""

import json
import sys

from helpers.ptx_device import PtxDevice, look
from helpers.sph_systems import shaken
from repro.sph.ghosts import BOUNDARIES
from repro.sph.simulation import DENSITIES, Simulation
from repro.sph.strategies import STRATEGIES


def main(precision):
    for strategy in STRATEGIES:
        for density in DENSITIES:
            show(strategy, density, precision, fuse=True)
    show("runs", "continuity", precision, fuse=False)
    show("runs", "continuity", precision, fuse=True, boundary=BOUNDARIES[-1])


def show(strategy, density, precision, fuse, boundary=BOUNDARIES[0]):
    device = PtxDevice(fuse)
    Simulation(shaken(), device, strategy=strategy, density=density, boundary=boundary, precision=precision)
    for name, text in device.kernels.values():
        about = {"strategy": strategy, "density": density, "boundary": boundary, "kernel": name, "fuse": fuse}
        print(json.dumps(about | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
