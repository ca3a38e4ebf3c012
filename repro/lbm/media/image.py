"""Voxel images from files: .npy, TIFF stacks, and .raw with its shape."""

from pathlib import Path

import numpy as np
import tifffile

from repro.errors import InputError
from repro.files import path_of

#: values of a pixel in colour, without and with transparency, and the least side of what may be a picture
_COLOURS, _PICTURE = (3, 4), 8

KINDS = (".npy", ".tif", ".tiff", ".raw")


def read_image(path, *, shape=None, dtype="uint8", pore: int = 0) -> np.ndarray:
    """The solid voxels of a segmented image, shape (nz, ny, nx); every value that is not `pore` is solid.

    A .raw file needs its `shape` (nz, ny, nx) and `dtype`. Raises InputError for a file that is missing, of another
    kind or size, not three-dimensional, not of whole numbers, not segmented, or without pores or solid.
    """
    path = path_of(path)
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path.name}: unknown kind of image '{path.suffix}': give one of {', '.join(KINDS)}")
    if not path.is_file():
        raise InputError(f"{path}: no such image file")
    image = _read_raw(path, shape, dtype) if path.suffix.lower() == ".raw" else _read_self_described(path)
    return _segmented(image, path.name, pore)


def _read_raw(path: Path, shape, dtype) -> np.ndarray:
    if not _is_shape(shape):
        raise InputError(f"{path.name}: a .raw image needs its shape [nz, ny, nx], not {shape}")
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise InputError(f"{path.name}: unknown type '{dtype}': give a NumPy type such as uint8") from None
    expected, found = int(np.prod(shape)) * kind.itemsize, path.stat().st_size
    if found != expected:
        sides = " x ".join(map(str, shape))
        raise InputError(f"{path.name}: {found} bytes, but {sides} voxels of type {kind} are {expected} bytes")
    return np.fromfile(path, kind).reshape(shape)


def _is_shape(shape) -> bool:
    return isinstance(shape, list | tuple) and len(shape) == 3 and all(type(n) is int and n > 0 for n in shape)


def _read_self_described(path: Path) -> np.ndarray:
    try:
        # mapped first: a header may claim more than there is in the file, or in the world
        image = np.array(np.load(path, "r")) if path.suffix.lower() == ".npy" else _read_tiff(path)
    # what a damaged file makes of the libraries is any error
    except Exception as error:
        raise InputError(f"{path.name}: cannot be read as an image: {' '.join(str(error).split())}") from None
    if image.ndim == 3 and image.shape[-1] in _COLOURS and min(image.shape[:2]) >= _PICTURE:
        raise InputError(
            f"{path.name}: shape {image.shape} is that of a picture in colour: give a segmented volume (nz, ny, nx), "
            f"as .raw with its shape if it is one that is {image.shape[-1]} voxels thick along x"
        )
    return image


def _read_tiff(path: Path) -> np.ndarray:
    with tifffile.TiffFile(path) as file:
        if any(page.samplesperpixel > 1 for page in file.pages[:1]):
            raise ValueError(f"a picture in colour, of {file.pages[0].samplesperpixel} values a pixel")
        return file.asarray()


def _segmented(image: np.ndarray, name: str, pore: int) -> np.ndarray:
    if image.ndim != 3 or not image.size:
        raise InputError(f"{name}: an image of shape {image.shape}: it must have three dimensions, none empty")
    if image.dtype.kind not in "bui":
        raise InputError(f"{name}: values of type {image.dtype}: a segmented image holds whole numbers")
    values = np.unique(image)
    if len(values) > 2:
        raise InputError(f"{name}: {len(values)} different values: segment it into pores ({pore}) and solid first")
    if pore not in values:
        raise InputError(f"{name}: no voxel has the pores' value {pore}; the image holds {values.tolist()}")
    if len(values) == 1:
        raise InputError(f"{name}: every voxel is a pore: there is no solid")
    return image != pore
