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

#: whether the compiler may fuse
FUSE = True, False


def main(precision):
    # between them every kernel of all searches, both densities, both kinds of walls and both ways to share a sum
    choices = zip(STRATEGIES, cycle(simulation.DENSITIES), cycle(BOUNDARIES[:2]), cycle((True, False)), strict=False)
    device, shown = PtxDevice(*FUSE), 0
    for strategy, density, boundary, shared in choices:
        bindings.shared = lambda device, count, shared=shared: shared
        options = {"strategy": strategy, "density": density, "boundary": boundary, "precision": precision}
        simulation.Simulation(shaken(), device, **options)
        for name, *texts in list(device.kernels.values())[shown:]:
            for fuse, text in zip(FUSE, texts, strict=True):
                about = {"strategy": strategy, "density": density, "kernel": name, "fuse": fuse}
                print(json.dumps(about | look(text)), flush=True)
        shown = len(device.kernels)


if __name__ == "__main__":
    main(*sys.argv[1:])
