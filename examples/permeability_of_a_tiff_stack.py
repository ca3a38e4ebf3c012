"""The permeability of a segmented image, read from a TIFF file that holds all its slices.

    python examples/permeability_of_a_tiff_stack.py [rock.tif] [VOXEL_SIZE in metres]

Without a file the program writes one of its own: a bundle of square channels, whose permeability is known.
An image that one process cannot hold is read in slabs by several: python -m repro solve rock.toml --ranks 2
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import tifffile

from repro.lbm import PoreSpace, flow_through, in_units, read_image
from repro.parallel import select

#: solid between the channels, and width of a channel, in voxels
WALL, WIDTH = 4, 12


def write_channels(path: Path) -> None:
    """A TIFF stack of straight channels along x: 0 is a pore, 255 is solid; slices are planes of constant z."""
    solid = np.ones((WALL + WIDTH, WALL + WIDTH, 8), np.uint8)
    solid[:WIDTH, :WIDTH] = 0
    tifffile.imwrite(path, 255 * solid, photometric="minisblack")


def permeability(path: Path, voxel_size: float, device) -> float:
    """Permeability along x in millidarcy; `voxel_size` is the side of a voxel in metres."""
    # every value that is not 0 counts as solid, and the image repeats in all directions
    space = PoreSpace(read_image(path))
    # a small body force drives the fluid until the permeability no longer changes
    run = flow_through(space, device, axis="x", tolerance=1e-5, interval=200)
    if run.doubts:
        print("careful:", run.doubts)
    square_metres, millidarcy = in_units(run.k, voxel_size)
    print(f"porosity {space.porosity:.3f}, k = {run.k:.4g} squared voxels = {square_metres:.3g} m^2")
    return millidarcy


def expected(voxel_size: float) -> float:
    """Of the channels above in millidarcy: 0.0351443 width^2 in a square channel, times the share of the area."""
    share = WIDTH**2 / (WALL + WIDTH) ** 2
    return in_units(0.0351443 * WIDTH**2 * share, voxel_size)[1]


def main(path=None, voxel_size=1e-6) -> float:
    """Read the image, or make one, and print its permeability."""
    # "auto" takes a GPU if there is one; one core is enough here
    device = select("serial")
    if path:
        found = permeability(Path(path), voxel_size, device)
    else:
        with TemporaryDirectory() as folder:
            stack = Path(folder) / "channels.tif"
            write_channels(stack)
            found = permeability(stack, voxel_size, device)
        print(f"exact for these channels: {expected(voxel_size):.4g} mD")
    print(f"permeability {found:.4g} mD")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(float, sys.argv[2:3]))
