"""Voxel images from files: .npy, TIFF stacks, folders of TIFF slices, and .raw with its shape.

An image is read whole, or plane by plane, or refused: what a file lacks, or holds beside the image, would become pores
or be lost.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np

from repro.errors import InputError, is_whole, require, short
from repro.files import path_of, regular_file

from .planes import Planes
from .tiff import ENDINGS, NoCubesWarning, open_slices, open_tiff

#: values of a pixel in colour, without and with transparency, and the least side of what may be a picture
_COLOURS, _PICTURE = (3, 4), 8

KINDS = (".npy", *ENDINGS, ".raw")

#: labels of a segmented image: what has more values is grey, or has a label a grain
_LABELS = 16


def read_image(path, *, shape=None, dtype=None, pore: int = 0) -> np.ndarray:
    """The solid voxels of a segmented image, shape (nz, ny, nx); every value that is not `pore` is solid.

    A .raw file needs its `shape` (nz, ny, nx), and its `dtype` unless that is uint8; any other kind says them itself.
    Of a folder each file is a slice. Raises InputError for a file that is missing, of another kind or size, not read to
    its end, not three-dimensional, not of whole numbers, not segmented (more than 16 values), or without pores or
    solid.
    """
    planes = open_image(path, shape=shape, dtype=dtype, pore=pore)
    image = planes.read(0, planes.shape[0])
    require_segmented(np.unique(image).tolist(), planes.name, pore)
    return image != pore


def open_image(path, *, shape=None, dtype=None, pore: int = 0) -> Planes:
    """The image of a file, of which no voxel is read yet; arguments and errors as of `read_image`.

    What only the voxels show is refused when they are read; whether they are segmented by `require_segmented`.
    """
    require(is_whole(pore), f"pore = {short(pore)}: must be a whole number, the value of a pore")
    path = path_of(path)
    kind = path.suffix.lower()
    folder = os.path.isdir(path)
    if kind not in KINDS and not folder:
        raise InputError(f"{path.name}: unknown kind of image '{path.suffix}': give one of {', '.join(KINDS)}")
    if not folder:
        regular_file(path, "image")
    if kind == ".raw" and not folder:
        planes = _open_raw(path, shape, "uint8" if dtype is None else dtype)
    elif shape is None and dtype is None:
        planes = _open_self_described(path)
    else:
        raise InputError(f"{path.name}: shape and dtype are for a .raw image alone: any other kind says its own")
    if len(planes.shape) != 3 or not prod(planes.shape):
        raise InputError(f"{path.name}: an image of shape {planes.shape}: it must have three dimensions, none empty")
    whole_numbers = planes.dtype.kind in "bui"
    require(whole_numbers, f"{path.name}: values of type {planes.dtype}: a segmented image holds whole numbers")
    return planes


def _open_raw(path: Path, shape, dtype) -> Planes:
    require(_is_shape(shape), f"{path.name}: a .raw image needs its shape [nz, ny, nx], not {short(shape)}")
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        kind = np.dtype("V")
    if kind.kind not in "bui":
        raise InputError(f"{path.name}: unknown type {short(dtype)}: give a NumPy type of whole numbers, such as uint8")
    shape = tuple(map(int, shape))
    expected = prod(shape) * kind.itemsize

    def require_bytes(found: int) -> None:
        if found != expected:
            sides = " x ".join(map(str, shape))
            raise InputError(f"{path.name}: {found} bytes, but {sides} voxels of type {kind} are {expected} bytes")

    def read(first: int, end: int) -> np.ndarray:
        plane = expected // shape[0]
        with open(path, "rb") as file:
            file.seek(first * plane)
            voxels = file.read((end - first) * plane)
        # some files hold less than their size says, such as those of /sys
        if len(voxels) < (end - first) * plane:
            require_bytes(first * plane + len(voxels))
        return np.frombuffer(voxels, kind).reshape(end - first, *shape[1:])

    require_bytes(path.stat().st_size)
    return Planes(path.name, shape, kind, read)


def _is_shape(shape) -> bool:
    return isinstance(shape, list | tuple) and len(shape) == 3 and all(is_whole(n) and 0 < n < 2**63 for n in shape)


def _open_npy(path: Path) -> Planes:
    # the header first: it may claim more than there is in the file, or in the world
    shape, kind, start = _npy_header(path)
    found, expected = path.stat().st_size, start + prod(shape) * kind.itemsize
    if found != expected:
        raise ValueError(f"{found} bytes, but its header says {expected}")
    return Planes(
        path.name, shape, kind, lambda first, end: np.array(np.lib.format.open_memmap(path, mode="r")[first:end])
    )


def _npy_header(path: Path) -> tuple[tuple[int, ...], np.dtype, int]:
    """Shape and type of what a .npy file holds by its header, and where that begins; ValueError for a damaged one."""
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise ValueError(f"version {version[0]}.{version[1]} of the format: save it with numpy.save")
        try:
            shape, _, kind = read[version](file)
        except Exception:  # it is read as Python, of which a damaged one is any
            raise ValueError("its header is damaged") from None
        if not all(is_whole(side) and side >= 0 for side in shape) or kind.hasobject:
            raise ValueError(f"shape {short(shape)} and type {kind} by its header: must be whole numbers of voxels")
        return shape, kind, file.tell()


def _open_self_described(path: Path) -> Planes:
    open_it = open_slices if os.path.isdir(path) else _open_npy if path.suffix.lower() == ".npy" else open_tiff
    with _refused(path):
        planes = open_it(path)
    shape = planes.shape
    if len(shape) == 3 and shape[-1] in _COLOURS and min(shape[:2]) >= _PICTURE:
        raise InputError(
            f"{path.name}: shape {shape} is that of a picture in colour: give a segmented volume (nz, ny, nx), "
            f"as .raw with its shape if it is one that is {shape[-1]} voxels thick along x"
        )

    def read(first: int, end: int) -> np.ndarray:
        with _refused(path):
            return planes.voxels(first, end)

    return replace(planes, name=path.name, voxels=read)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """What is wrong with a file is an error that names it, and so is what a library only warns of."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("always", NoCubesWarning)
            yield
    except InputError:
        raise
    # what a damaged file makes of the libraries is any error
    except Exception as error:
        raise InputError(f"{path.name}: cannot be read as an image: {' '.join(str(error).split())}") from None


def require_segmented(values: list, name: str, pore: int) -> None:
    """Refuse an image by the values that its voxels have."""
    if len(values) > _LABELS:
        raise InputError(
            f"{name}: {len(values)} different values, from {values[0]} to {values[-1]}: grey levels? Segment it into "
            f"pores ({pore}) and at most {_LABELS - 1} kinds of solid first"
        )
    require(pore in values, f"{name}: no voxel has the pores' value {short(pore)}; the image holds {values}")
    if len(values) == 1:
        raise InputError(f"{name}: every voxel is a pore: there is no solid")
