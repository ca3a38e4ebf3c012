"""Compile the kernel that follows electrons through air to PTX for sm_90, without a GPU; prints one JSON object each.

python -m helpers.collisions_ptx PRECISION
"""

import json
import sys

import numpy as np

from helpers.ptx_device import PtxDevice, look
from repro.parallel import PRECISIONS, Kernel
from repro.pic.air.collision_tables import Collisions, tables
from repro.pic.air.infinite_air import make_follow_kernel, make_tracks


def main(precision):
    real = PRECISIONS[precision]
    kernel = Kernel(make_follow_kernel(real), dtype=real, strict=True)
    device = PtxDevice(True, False)
    tracks = make_tracks(device, real, np.ones((4, 3)))
    device.compile(kernel)((4,), tracks, tables(Collisions(), device, real), np.uint32(1), real(1))
    for name, *texts in device.kernels.values():
        for fuse, text in zip(device.fuse, texts, strict=True):
            print(json.dumps({"kernel": name, "fuse": fuse} | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
