"""Compile every kernel of a dpd strategy to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.dpd_ptx PRECISION
"""

import json
import sys

from helpers.ptx_device import PtxDevice, look
from repro.dpd.cases import Poiseuille
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, runs_on


def main(precision):
    for strategy in STRATEGIES:
        if runs_on(strategy, PtxDevice()):
            show(strategy, precision, fuse=True)
    show("sorted cells", precision, fuse=False)


def show(strategy, precision, fuse):
    device = PtxDevice(fuse)
    Simulation(Poiseuille(3, 3, 4).system(), device, strategy=strategy, precision=precision)
    for name, text in device.kernels.values():
        print(json.dumps({"strategy": strategy, "kernel": name, "fuse": fuse} | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
