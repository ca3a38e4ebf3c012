"""Compile every kernel of a dpd strategy to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.dpd_ptx PRECISION
"""

import json
import sys
from types import SimpleNamespace

from helpers.ptx_device import PtxDevice, look
from repro.dpd.cases import Poiseuille
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, runs_on


def main(precision):
    for strategy in STRATEGIES:
        if runs_on(strategy, PtxDevice()):
            show(strategy, precision, fuse=True)
    show("sorted cells", precision, fuse=False)
    show("sorted cells", precision, fuse=True, ranks=SimpleNamespace(rank=1, count=8, gpus=None))


def show(strategy, precision, fuse, ranks=None):
    device = PtxDevice(fuse)
    Simulation(Poiseuille(4, 4, 4).system(), device, strategy=strategy, precision=precision, ranks=ranks)
    for name, text in device.kernels.values():
        kernel = {"strategy": strategy, "ranks": bool(ranks), "kernel": name, "fuse": fuse}
        print(json.dumps(kernel | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
