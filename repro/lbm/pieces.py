"""The populations of a flow on disk, in pieces: each rank writes its own nodes, and any number of ranks goes on.

A checkpoint is an index, an HDF5 file, and one file a rank beside it. New pieces have new names, and the index is
replaced when all are on disk: until then the old checkpoint is whole, whatever happens to a rank or its disk.
"""

import re
from itertools import product
from math import prod
from pathlib import Path
from secrets import randbits

import numpy as np

from repro.checksummed_hdf5 import entry, opened, written
from repro.errors import InputError, require
from repro.files import path_of
from repro.parallel.ranks.together import together

from .ranks import numbers_of
from .strategies.scheme import arrays_of

_PIECE, _VERSION = "piece of a flow", 1

_WHOLE, _BYTE = np.dtype(np.int64), np.dtype(np.uint8)


def save(flow, path, kind: str, version: int, entries: dict) -> None:
    """Write a checkpoint of this `kind`; all ranks do, and `entries` are what else it holds, numbers by name.

    Raises InputError on all ranks where one cannot write, as on a full disk; the old checkpoint stays.
    """
    flow.start()
    share, path = flow.share, path_of(path)
    ranks, token = share.ranks, int(share.ranks.gather(np.array(randbits(31)), "a name of pieces").ravel()[0])
    own = _piece(path, token, ranks.rank)
    boxes = ranks.gather(own_box(share), "boxes of the ranks")
    try:
        with together(ranks), written(own, _PIECE, _VERSION) as file:
            _write_piece(flow, file)
        with together(ranks):
            if ranks.rank == 0:
                with written(path, kind, version) as file:
                    for name, value in (entries | {"steps": flow.steps, "token": token, "boxes": boxes}).items():
                        file[name] = np.asarray(value)
    except InputError:
        # then the index is the old one, on all ranks
        own.unlink(missing_ok=True)
        raise
    if ranks.rank == 0:
        _remove_others(path, token)


def restore(flow, path, file) -> None:
    """Take up a flow, which has not begun, where the checkpoint with the open index `file` was written.

    Any number of ranks, with a strategy that keeps the same nodes. Raises InputError for pieces that are missing,
    damaged, or of another image.
    """
    path, share = path_of(path), flow.share
    token, steps = (int(entry(file, name, _WHOLE, ())) for name in ("token", "steps"))
    flow.resume(steps)
    rows = [flow.rows(array) for array in arrays_of(flow.state)]
    number = _numbers(flow)
    left = int(np.count_nonzero(number >= 0))
    for rank, box in enumerate(entry(file, "boxes", _WHOLE, (None, 3, 2))):
        inside = [np.flatnonzero((at >= low) & (at < high)) for at, (low, high) in zip(share.nodes, box, strict=True)]
        if not all(map(len, inside)):
            continue
        with opened(_piece(path, token, rank), _PIECE, _VERSION) as piece:
            kept = _kept(piece, box)
            there = [at[nodes] - low for at, nodes, (low, _) in zip(share.nodes, inside, box, strict=True)]
            here, found = number[np.ix_(*inside[::-1])].ravel(), kept[np.ix_(*there[::-1])].ravel()
            require(np.array_equal(here >= 0, found >= 0), f"{path}: a checkpoint of another image or strategy")
            here, found = here[here >= 0], found[found >= 0]
            left -= len(here)
            places, length = flow.device.to_device(here), int(kept.max()) + 1
            # a row at a time, so that the host need not hold all
            for (which, array), i in product(enumerate(rows), range(flow.lattice.q)):
                values = entry(piece, f"{which}/{i}", np.dtype(flow.kept), (length,))
                array[i][places] = flow.device.to_device(values[found])
    require(not left, f"{path}: {left} nodes are in no piece")


def own_box(share) -> np.ndarray:
    """First node of a rank's own along x, y and z, and the first behind them."""
    return np.array([(nodes[own][0], nodes[own][-1] + 1) for nodes, own in zip(share.nodes, share.sides, strict=True)])


def _numbers(flow) -> np.ndarray:
    """For each node here, halo included, its number among the stored ones, -1 where it is not: (nz, ny, nx)."""
    shape = [len(nodes) for nodes in flow.share.nodes[::-1]]
    return numbers_of(prod(shape), flow.scheme.cells).reshape(shape)


def _write_piece(flow, file) -> None:
    number = _numbers(flow)[tuple(flow.share.sides[::-1])].ravel()
    kept = number >= 0
    file["kept"] = np.packbits(kept)
    places = flow.device.to_device(number[kept])
    for which, array in enumerate(arrays_of(flow.state)):
        rows = flow.rows(array)
        # a row at a time, so that the host need not hold all
        for i in range(flow.lattice.q):
            file[f"{which}/{i}"] = flow.device.to_host(rows[i][places])


def _kept(piece, box) -> np.ndarray:
    """For each node of a piece its number in the piece's rows, -1 where it has none: (nz, ny, nx)."""
    shape = [int(high - low) for low, high in box[::-1]]
    bits = entry(piece, "kept", _BYTE, (-(-prod(shape) // 8),))
    kept = np.unpackbits(bits, count=prod(shape)).astype(bool)
    return np.where(kept, np.cumsum(kept) - 1, -1).reshape(shape)


def _piece(path: Path, token: int, rank: int) -> Path:
    return path.with_name(f"{path.name}.{token:08x}.{rank}")


def _remove_others(path: Path, token: int) -> None:
    """Remove pieces that the index does not name: those of the checkpoint before, and of one that was not finished."""
    for file in path.parent.iterdir():
        # and what a rank that was killed had written of its piece, see `files.whole`
        match = re.fullmatch(rf"\.?{re.escape(path.name)}\.([0-9a-f]{{8}})\.\d+(\.[0-9a-f]{{8}})?", file.name)
        if match and int(match[1], 16) != token:
            file.unlink(missing_ok=True)


def remove(path) -> None:
    """Remove a checkpoint, and what is left of others under its name."""
    path = path_of(path)
    path.unlink(missing_ok=True)
    _remove_others(path, -1)
