"""Compile the force kernels with their constants in every place to PTX for sm_90; prints one JSON object a kernel."""

import json
import re

import numpy as np

from helpers.ptx_device import PtxDevice
from repro.dpd.cases import Bulk
from repro.dpd.state import make_state
from repro.dpd.strategies import Setup
from repro.dpd.whole import Whole
from repro.papers.dpd.memory_and_launch import constants
from repro.particles.random import ROUNDS


class ForcesAlone(PtxDevice):
    """Compiles force kernels only: the others are compiled elsewhere."""

    def compile(self, kernel):
        return super().compile(kernel) if kernel.body.__name__ == "forces" else lambda *_: lambda: None


def pair_loop(text):
    """The text of the innermost loop around the root that only near pairs need."""
    lines = text.splitlines()
    labels = {match[1]: k for k, line in enumerate(lines) if (match := re.match(r"(\$\w+):", line))}
    root = next(k for k, line in enumerate(lines) if re.search(r"\bsqrt\.", line) and inside(lines, labels, k))
    return "\n".join(lines[slice(*inside(lines, labels, root))])


def inside(lines, labels, place):
    """The shortest stretch from a label to a branch back to it around a place; None if there is none."""
    jumps = ((k, re.search(r"bra(?:\.uni)?\s+(\$\w+)", line)) for k, line in enumerate(lines))
    spans = [(labels[jump[1]], k) for k, jump in jumps if jump and labels[jump[1]] < place < k]
    return min(spans, key=lambda span: span[1] - span[0], default=None)


def main():
    device, system = ForcesAlone(), Bulk((3.0, 3.0, 3.0)).system()
    state = make_state(device, np.float32, system.position, system.velocity, system.moving, system.box)
    setup = Setup(device, np.float32, state, system.fluid, system.cells, 1, ROUNDS, 32, 128, None, Whole(system))
    for stencil in constants.STENCILS:
        for place in constants.PLACES:
            # no driver is there to give a handle
            loads = constants.PLACES[place]
            if getattr(loads, "func", None):
                loads.keywords["handle_of"] = lambda array: (0, array)
            constants.build(setup, place, stencil)
            text = list(device.kernels.values())[-1][1]
            found = {"stencil": stencil, "place": place}
            found["in the loop"] = len(re.findall(r"\bld\.global\.", pair_loop(text)))
            for kind in ("ld.param", "ld.const", "ld.global.nc", "tex.1d", "ld.global"):
                found[kind] = len(re.findall(rf"\b{re.escape(kind)}\.", text))
            # a = 18.75 as a number of the program
            print(json.dumps(found | {"literal": "0f41960000" in text}), flush=True)


if __name__ == "__main__":
    main()
