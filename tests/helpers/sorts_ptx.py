"""Compile the sort in shared memory to PTX for sm_90, without a GPU; prints one JSON object a kernel."""

import json
import re

import numpy as np

from helpers.ptx_device import PtxDevice, look
from repro.particles.block_sort import BlockSort
from repro.particles.cells import Cells


def main():
    device = PtxDevice()
    for count in (10_000, 20_000):
        BlockSort(device, Cells((26.0, 14.0, 16.0)), count, np.float32).update(np.zeros(3 * count, np.int32))
    for name, text in device.kernels.values():
        if name in ("alone", "tile", "scatter"):
            shared = sum(int(size) for size in re.findall(r"\.shared\b.*\[(\d+)\]", text))
            print(json.dumps({"kernel": name, "shared bytes": shared} | look(text)), flush=True)


if __name__ == "__main__":
    main()
