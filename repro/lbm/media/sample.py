"""A user's rock: a TOML file that names an image, its voxel size, and how the flow is driven."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np

from repro.declared import Number, OneOf, OrNone, Text, Whole, checked
from repro.errors import InputError, require, short
from repro.files import LONGEST_DESCRIPTION, path_of, read_toml, regular_file

from .image import open_image, read_image
from .planes import Planes
from .pore_space import AXES

ENDS = ("periodic", "mirror")
SIDES = ("periodic", "wall")


@dataclass(frozen=True)
@checked
class Sample:
    """What a sample file says; `image` is the path of the image, relative to the file."""

    #: .npy, .tif, .tiff, .raw with shape and dtype, or a folder of slices in TIFF files
    image: Annotated[str, Text(empty=False)]
    #: length of a voxel in metres
    voxel_size: Annotated[float, Number(1e-12, 1, "m")]
    #: direction of the flow
    axis: Annotated[str, OneOf(AXES)] = "x"
    #: how the ends fit together: as they are, or with a mirror image behind the sample
    ends: Annotated[str, OneOf(ENDS)] = "mirror"
    #: what is at the sides: the opposite side of the sample, or a wall
    sides: Annotated[str, OneOf(SIDES)] = "wall"
    #: value of the pores in the image; every other value is solid
    pore: Annotated[int, Whole(-(2**63), 2**63 - 1)] = 0
    #: (nz, ny, nx) and type, for a .raw file alone; the type is uint8 if none is given
    shape: tuple[int, int, int] | None = None
    dtype: Annotated[str | None, OrNone(Text())] = None


def read_sample(path) -> tuple[Sample, np.ndarray]:
    """The sample of a TOML file and its solid voxels, shape (nz, ny, nx); InputError says what is wrong where."""
    sample = _described(path)
    with _named(path):
        return sample, read_image(**_image_of(path, sample))


def open_sample(path) -> tuple[Sample, Planes]:
    """The sample of a TOML file and its image, of which no voxel is read yet, with what it wants at its ends."""
    sample = _described(path)
    with _named(path):
        planes = open_image(**_image_of(path, sample))
    return sample, planes.mirrored(2 - AXES.index(sample.axis)) if sample.ends == "mirror" else planes


def _image_of(path, sample: Sample) -> dict:
    image = path_of(path).parent / sample.image
    return {"path": image, "shape": sample.shape, "dtype": sample.dtype, "pore": sample.pore}


@contextmanager
def _named(path) -> Iterator[None]:
    """What is wrong with an image is said of the file that names it."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{path_of(path).name}: {error}") from None


def _described(path) -> Sample:
    path = regular_file(path_of(path), "sample")
    if path.stat().st_size > LONGEST_DESCRIPTION:
        raise InputError(
            f"{path.name}: not a sample file: more than {LONGEST_DESCRIPTION} bytes; the image has a file of its own"
        )
    content = read_toml(path)
    known = [field.name for field in fields(Sample)]
    if unknown := sorted(set(content) - set(known)):
        raise InputError(f"{path.name}: unknown key {short(', '.join(unknown))}: the keys are {', '.join(known)}")
    for name, what in (("image", "the file of the voxels"), ("voxel_size", "the length of a voxel in metres")):
        require(name in content, f"{path.name}: {name} is missing: {what}")
    with _named(path):
        return Sample(**content)
