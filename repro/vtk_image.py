"""Images on a grid of voxels as VTK files (.vti), whole or as one of the pieces that a .pvti file brings together."""

import numpy as np

from .vtk_array import TYPES, data_array

_HEAD = '<?xml version="1.0"?>\n<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
_GRID = 'WholeExtent="{extent}" Origin="0 0 0" Spacing="{side} {side} {side}"'


def piece_text(fields: dict[str, np.ndarray], low, shape, whole, side: float) -> str:
    """A piece of an image of `whole` voxels (nx, ny, nz): its `shape` voxels from the voxel `low` on.

    A field has a number, or a row of three, for each voxel of the piece, x fastest. Voxels are cells, so that pieces
    fit together without sharing points; `side` is the length of a voxel.
    """
    count = int(np.prod(shape))
    arrays = "\n".join(data_array(name, values, count) for name, values in fields.items())
    grid = _GRID.format(extent=_extent((0, 0, 0), whole), side=f"{side:.17g}")
    return (
        f'{_HEAD.format(kind="ImageData")}<ImageData {grid}>\n<Piece Extent="{_extent(low, shape)}">\n'
        f"<CellData>\n{arrays}\n</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n"
    )


def index_text(fields: dict[str, np.ndarray], pieces: list[tuple], whole, side: float) -> str:
    """The .pvti file of pieces (name of the file, low, shape); `fields` are those of any piece."""
    grid = _GRID.format(extent=_extent((0, 0, 0), whole), side=f"{side:.17g}")
    arrays = "\n".join(
        f'<PDataArray type="{TYPES[values.dtype.str[1:]]}" Name="{name}" '
        f'NumberOfComponents="{values.shape[1] if values.ndim == 2 else 1}"/>'
        for name, values in fields.items()
    )
    parts = "\n".join(f'<Piece Extent="{_extent(low, shape)}" Source="{name}"/>' for name, low, shape in pieces)
    return (
        f'{_HEAD.format(kind="PImageData")}<PImageData {grid} GhostLevel="0">\n<PCellData>\n{arrays}\n</PCellData>\n'
        f"{parts}\n</PImageData>\n</VTKFile>\n"
    )


def _extent(low, shape) -> str:
    return " ".join(f"{first} {first + count}" for first, count in zip(low, shape, strict=True))
