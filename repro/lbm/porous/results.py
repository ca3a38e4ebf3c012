"""What a flow through pores leaves on disk: checkpoints from which any number of ranks goes on, and VTK in pieces."""

import time
from pathlib import Path

import numpy as np

from repro.checksummed_hdf5 import entry, opened
from repro.errors import require
from repro.files import path_of, write_text
from repro.parallel.ranks.together import together
from repro.vtk_image import index_text, piece_text

from .. import pieces
from .driven import Begun
from .simulation import PorousFlow

KIND, _VERSION = "checkpoint of a flow through pores", 1

_WHOLE, _REAL = np.dtype(np.int64), np.dtype(np.float64)


class Checkpoints:
    """Checkpoints of a run at `path`, one after the other, at least `seconds` apart by the clock of rank 0.

    `description` are numbers of the run; one that goes on must have the same.
    """

    def __init__(self, path, ranks, description: dict[str, float], seconds: float):
        self._path, self._ranks, self._description, self._seconds = path_of(path), ranks, description, seconds
        self._written = time.monotonic()

    def __call__(self, flow: PorousFlow, attempt: int, force: float, history) -> None:
        """Write a checkpoint if it is time: all ranks do."""
        due = time.monotonic() - self._written >= self._seconds
        if not self._ranks.gather(np.array(due), "whether a checkpoint is due").ravel()[0]:
            return
        entries = {"attempt": attempt, "force": force, "history": np.array(history, float)} | self._numbers()
        pieces.save(flow, self._path, KIND, _VERSION, entries)
        self._written = time.monotonic()

    def begun(self) -> Begun | None:
        """Where the run goes on; None without a checkpoint. InputError for one of another run."""
        if not self._path.exists():
            return None
        with together(self._ranks), opened(self._path, KIND, _VERSION) as file:
            for name, value in self._numbers().items():
                found = float(entry(file, name, _REAL, ()))
                require(found == value, f"{self._path}: a checkpoint of a run with {name} {found:g}, not {value:g}")
            attempt, force = int(entry(file, "attempt", _WHOLE, ())), float(entry(file, "force", _REAL, ()))
            history = entry(file, "history", _REAL, (None, 2))
        history = tuple((int(steps), float(k)) for steps, k in history)
        return Begun(attempt, force, history, self._restore)

    def _restore(self, flow: PorousFlow) -> None:
        with together(self._ranks), opened(self._path, KIND, _VERSION) as file:
            pieces.restore(flow, self._path, file)

    def remove(self) -> None:
        """Remove the checkpoint of a run that is finished."""
        if self._ranks.rank == 0:
            pieces.remove(self._path)

    def _numbers(self) -> dict[str, np.float64]:
        return {name: np.float64(value) for name, value in self._description.items()}


def write_vtk(flow: PorousFlow, path, voxel_size: float = 1.0) -> None:
    """Write density less one, velocity in lattice units, and solid as a VTK image that ParaView opens: all ranks do.

    `path` ends with .pvti; each rank writes its piece beside it, a .vti file, and rank 0 what names them, last.
    `voxel_size` is the side of a voxel. InputError on all ranks where one cannot write.
    """
    path, share = path_of(path), flow.share
    require(path.suffix == ".pvti", f"{path.name}: a VTK image in pieces is a .pvti file")
    box = _box(flow)
    density, velocity = flow.fields()
    # what lies behind closed faces is no voxel of the image
    inside = (..., *(slice(high - low) for low, high in box[::-1]))
    fields = {
        "density - 1": (density[inside] - 1).ravel(),
        "velocity": velocity[inside].reshape(3, -1).T,
    }
    fields = {name: values.astype(flow.dtype) for name, values in fields.items()}
    solid = flow.part.stored.solid[share.own][inside]
    fields["solid"] = solid.ravel().astype(np.uint8)
    whole = flow.problem.shape
    low, shape = box[:, 0].tolist(), (box[:, 1] - box[:, 0]).tolist()
    with together(share.ranks):
        write_text(_beside(path, share.ranks.rank), piece_text(fields, low, shape, whole, voxel_size))
    boxes = share.ranks.gather(box, "boxes of the ranks")
    with together(share.ranks):
        if share.ranks.rank == 0:
            named = [
                (_beside(path, rank).name, each[:, 0].tolist(), (each[:, 1] - each[:, 0]).tolist())
                for rank, each in enumerate(boxes)
            ]
            write_text(path, index_text(fields, named, whole, voxel_size))


def _box(flow: PorousFlow) -> np.ndarray:
    """The voxels of the image that a rank has: the first along x, y and z, and the first behind them."""
    return np.minimum(pieces.own_box(flow.share), np.array(flow.problem.shape)[:, None])


def _beside(path: Path, rank: int) -> Path:
    return path.with_name(f"{path.stem}_{rank}.vti")
