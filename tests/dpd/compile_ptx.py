"""Compile every kernel of a dpd strategy to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python compile_ptx.py PRECISION
"""

import json
import sys

from ptx_device import PtxDevice, look

from repro.dpd.cases import Poiseuille
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, runs_on


def main(precision):
    system = Poiseuille(3, 3, 4).system()
    for strategy in STRATEGIES:
        device = PtxDevice()
        if runs_on(strategy, device):
            Simulation(system, device, strategy=strategy, precision=precision)
            for name, text in device.kernels.values():
                print(json.dumps({"strategy": strategy, "kernel": name} | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
