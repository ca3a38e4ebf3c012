"""Compile every kernel of the pic solver to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.pic_ptx PRECISION [STRATEGY ...]
"""

import json
import re
import sys
from dataclasses import replace

from helpers.pic_systems import crowd
from helpers.ptx_device import PtxDevice, look
from repro.pic.air.collision_tables import Collisions
from repro.pic.simulation import Simulation
from repro.pic.strategies import STRATEGIES


def main(precision, *names):
    # what strategies share is compiled once, and told of the first of them; those in air come last
    device = PtxDevice(True, False)
    for way, in_air in chosen(names):
        known = set(device.kernels)
        system = replace(crowd(), air=Collisions()) if in_air else crowd()
        # binds what a start and a step launch, births and the order of cells among it
        simulation = Simulation(system, device, strategy=way.name, precision=precision, sort_every=2)
        simulation.start()
        for key in device.kernels.keys() - known:
            name, *texts = device.kernels[key]
            for fuse, text in zip(device.fuse, texts, strict=True):
                about = {"strategy": way.name, "air": in_air, "kernel": name, "fuse": fuse}
                print(json.dumps(about | look(text) | arithmetic(text)), flush=True)


def chosen(names):
    """Strategies of a GPU, and whether each goes through air: all, in all that they go through, or those named."""
    ways = [way for way in STRATEGIES.values() if way.name in names or (not names and "cuda" in way.on)]
    yield from ((way, False) for way in ways if "vacuum" in way.media)
    yield from ((way, True) for way in ways if "air" in way.media)


#: a constant that is a power of two: a product with it is exact, fused or not
POWER_OF_TWO = r"0f[0-9A-F]{2}[08]0{5}|0d[0-9A-F]{3}0{13}"


def arithmetic(text: str) -> dict:
    """Operations in double precision, arguments and conversions apart, and products that may yet be fused with sums.

    What has no rounding of its own (mul, and not mul.rn) the last of the compilers may still fuse.
    """
    products = set(re.findall(rf"\bmul\.f\d\d\s+(%\w+), %\w+, (?!{POWER_OF_TWO})", text))
    sums = re.findall(r"\b(?:add|sub)\.f\d\d\s+%\w+, (%\w+), (%\w+);", text)
    return {
        "in double": len(re.findall(r"\b(?:add|sub|mul|fma|div|sqrt)\.(?:rn\.)?f64\b", text)),
        "fused in double": len(re.findall(r"\bfma\.rn\.f64\b", text)),
        # a number that is added to itself is doubled
        "fusible": sum(a != b and bool(products & {a, b}) for a, b in sums),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
