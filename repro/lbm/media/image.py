"""Voxel images from files: .npy, TIFF stacks, folders of TIFF slices, and .raw with its shape.

An image is read whole or refused: what a file lacks, or holds beside the image, would become pores or be lost.
"""

import os
import warnings
from math import prod
from pathlib import Path

import numpy as np

from repro.errors import InputError, is_whole, require, short
from repro.files import path_of, regular_file
from repro.parallel import select
from repro.parallel.memory import require_memory

from .tiff import ENDINGS, NoCubesWarning, read_slices, read_tiff

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
    require(is_whole(pore), f"pore = {short(pore)}: must be a whole number, the value of a pore")
    path = path_of(path)
    kind = path.suffix.lower()
    folder = os.path.isdir(path)
    if kind not in KINDS and not folder:
        raise InputError(f"{path.name}: unknown kind of image '{path.suffix}': give one of {', '.join(KINDS)}")
    if not folder:
        regular_file(path, "image")
    if kind == ".raw" and not folder:
        image = _read_raw(path, shape, "uint8" if dtype is None else dtype)
    elif shape is None and dtype is None:
        image = _read_self_described(path)
    else:
        raise InputError(f"{path.name}: shape and dtype are for a .raw image alone: any other kind says its own")
    return _segmented(image, path.name, pore)


def _read_raw(path: Path, shape, dtype) -> np.ndarray:
    require(_is_shape(shape), f"{path.name}: a .raw image needs its shape [nz, ny, nx], not {short(shape)}")
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        kind = np.dtype("V")
    if kind.kind not in "bui":
        raise InputError(f"{path.name}: unknown type {short(dtype)}: give a NumPy type of whole numbers, such as uint8")
    shape = tuple(map(int, shape))
    expected, found = prod(shape) * kind.itemsize, path.stat().st_size
    if found == expected:
        _require_room(path, found)
        # some files hold less than their size says, such as those of /sys
        voxels = path.read_bytes()
        found = len(voxels)
    if found != expected:
        sides = " x ".join(map(str, shape))
        raise InputError(f"{path.name}: {found} bytes, but {sides} voxels of type {kind} are {expected} bytes")
    return np.frombuffer(voxels, kind).reshape(shape)


def _is_shape(shape) -> bool:
    return isinstance(shape, list | tuple) and len(shape) == 3 and all(is_whole(n) and 0 < n < 2**63 for n in shape)


def _require_room(path: Path, count: int) -> None:
    # the image, and what it takes to look at its values
    require_memory(select("serial"), 3 * count, path.name, "take a smaller piece")


def _read_npy(path: Path) -> np.ndarray:
    # the header first: it may claim more than there is in the file, or in the world
    shape, kind, start = _npy_header(path)
    found, expected = path.stat().st_size, start + prod(shape) * kind.itemsize
    if found != expected:
        raise ValueError(f"{found} bytes, but its header says {expected}")
    image = np.lib.format.open_memmap(path, mode="r")
    _require_room(path, image.nbytes)
    return np.array(image)


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


def _read_self_described(path: Path) -> np.ndarray:
    try:
        read = read_slices if os.path.isdir(path) else _read_npy if path.suffix.lower() == ".npy" else read_tiff
        with warnings.catch_warnings():
            # what a library only warns of makes another image of a file
            warnings.simplefilter("error", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("always", NoCubesWarning)
            image = read(path)
    except InputError:
        raise
    # what a damaged file makes of the libraries is any error
    except Exception as error:
        raise InputError(f"{path.name}: cannot be read as an image: {' '.join(str(error).split())}") from None
    if image.ndim == 3 and image.shape[-1] in _COLOURS and min(image.shape[:2]) >= _PICTURE:
        raise InputError(
            f"{path.name}: shape {image.shape} is that of a picture in colour: give a segmented volume (nz, ny, nx), "
            f"as .raw with its shape if it is one that is {image.shape[-1]} voxels thick along x"
        )
    return image


def _segmented(image: np.ndarray, name: str, pore: int) -> np.ndarray:
    if image.ndim != 3 or not image.size:
        raise InputError(f"{name}: an image of shape {image.shape}: it must have three dimensions, none empty")
    require(image.dtype.kind in "bui", f"{name}: values of type {image.dtype}: a segmented image holds whole numbers")
    values = np.unique(image).tolist()
    if len(values) > _LABELS:
        raise InputError(
            f"{name}: {len(values)} different values, from {values[0]} to {values[-1]}: grey levels? Segment it into "
            f"pores ({pore}) and at most {_LABELS - 1} kinds of solid first"
        )
    require(pore in values, f"{name}: no voxel has the pores' value {short(pore)}; the image holds {values}")
    if len(values) == 1:
        raise InputError(f"{name}: every voxel is a pore: there is no solid")
    return image != pore
