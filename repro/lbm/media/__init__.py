"""Porous media as voxel images: boolean arrays of shape (nz, ny, nx), true where there is solid, periodic."""

from .image import read_image
from .packing import random_blocks, random_spheres
from .pore_space import PoreSpace
from .sample import Sample, read_sample
from .spheres import PACKINGS, sphere_crystal

__all__ = [
    "PACKINGS",
    "PoreSpace",
    "Sample",
    "random_blocks",
    "random_spheres",
    "read_image",
    "read_sample",
    "sphere_crystal",
]
