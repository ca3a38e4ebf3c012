"""Compile every kernel of the pic solver to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.pic_ptx PRECISION
"""

import json
import re
import sys
from dataclasses import replace

from helpers.pic_systems import crowd
from helpers.ptx_device import PtxDevice, look
from repro.pic.collision_tables import Collisions
from repro.pic.simulation import Simulation
from repro.pic.strategies import STRATEGIES


def main(precision):
    for strategy, about in STRATEGIES.items():
        if "cuda" not in about.on:
            continue
        system = replace(crowd(), air=Collisions()) if about.through_air else crowd()
        for fuse in (True, False):
            device = PtxDevice(fuse)
            # binds what a start and a step launch, births and the order of cells among it
            simulation = Simulation(system, device, strategy=strategy, precision=precision, sort_every=2)
            simulation.start()
            for name, text in device.kernels.values():
                about = {"strategy": strategy, "kernel": name, "fuse": fuse}
                print(json.dumps(about | look(text) | arithmetic_in_double(text)), flush=True)


def arithmetic_in_double(text: str) -> dict:
    """How many operations in double precision there are, arguments and conversions apart, and how many are fused."""
    operations = re.findall(r"\b(add|sub|mul|fma|div|sqrt)\.(?:rn\.)?f64\b", text)
    return {"in double": len(operations), "fused in double": operations.count("fma")}


if __name__ == "__main__":
    main(*sys.argv[1:])
