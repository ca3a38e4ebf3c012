"""Compile every kernel of the sph solver to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.sph_ptx PRECISION
"""

import json
import sys

from helpers.ptx_device import PtxDevice, look
from helpers.sph_systems import shaken
from repro.sph.simulation import Simulation
from repro.sph.strategies import STRATEGIES

#: whether the compiler may fuse
FUSE = True, False


def main(precision):
    # between them every kernel of all searches, all densities, both kinds of walls, ways to share a sum and a list
    # of neighbours; both sorts of the cell table have the same sums, which are compiled once
    device, shown = PtxDevice(*FUSE), 0
    for strategy in STRATEGIES:
        density = "continuity" if strategy.startswith("cell table") else "summation"
        boundary = "none" if strategy == "linked list" else "ghosts"
        options = {"strategy": strategy, "boundary": boundary, "precision": precision}
        runs = [{"density": density}]
        if strategy == "sorted cells":
            runs += [{"density": density, "few": 0}, {"density": "rate"}, {"density": "rate", "few": 0}]
        for more in runs:
            Simulation(shaken(), device, **options, **more)
            for name, *texts in list(device.kernels.values())[shown:]:
                for fuse, text in zip(FUSE, texts, strict=True):
                    about = {"strategy": strategy, "density": more["density"], "kernel": name, "fuse": fuse}
                    print(json.dumps(about | look(text)), flush=True)
            shown = len(device.kernels)


if __name__ == "__main__":
    main(*sys.argv[1:])
