"""The permeability of a user's rock, on one rank or on several: `python -m repro solve`.

    python -m repro.parallel.ranks.rank_main repro.lbm.porous.solve REQUEST

is one of several ranks. Each reads its slab of the image, and none has all.
"""

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from repro.declared import Above, Number, Whole
from repro.errors import require, require_one_of
from repro.files import unwritable, write_json
from repro.parallel import PRECISIONS, select
from repro.parallel.ranks.together import together
from repro.parallel.ranks.world import world

from ..media.sample import open_sample
from ..media.slabs import read_slabs
from .capacity import capacity
from .driven import Driven, FlowThrough
from .permeability import in_units
from .results import Checkpoints, write_vtk

#: what has the same bits on any number of ranks
STRATEGY = "sparse"

#: seconds between two lines where no terminal shows one that changes
_LINE = 60.0

#: the variables that say so: how many GPUs this machine has, and whether a terminal shows what is printed
GPUS, TERMINAL = "REPRO_GPUS", "REPRO_TERMINAL"


@dataclass(frozen=True)
class Request:
    """What is to be solved: the sample's TOML file, and how."""

    sample: str
    device: str = "auto"
    precision: str = "single"
    tolerance: float = 1e-5
    interval: int = 1000
    #: folder of the result, the flow and checkpoints, and minutes between two of these; None: k is only printed
    output: str | None = None
    minutes: float = 30.0

    def __post_init__(self):
        require_one_of("precision", self.precision, PRECISIONS)
        Above(0).check("tolerance", self.tolerance)
        Whole(1).check("interval", self.interval)
        Number(0, unit="min").check("minutes", self.minutes)

    def json(self) -> str:
        """As a word of a command line."""
        return json.dumps(asdict(self))


def solved(request: Request, ranks) -> FlowThrough:
    """Read the image, run until the permeability is steady, and write what was asked for; all ranks do."""
    with together(ranks):
        sample, planes = open_sample(request.sample)
        if request.output:
            # after the run it would be too late
            why = unwritable(Path(request.output))
            require(not why, f"--output {request.output}: no folder that can be written to: {why}")
        device, sharing = _device(request.device)
    image = read_slabs(planes, sample.pore, ranks)
    options = {"strategy": STRATEGY, "precision": request.precision, "ranks": ranks}
    driven = Driven(image, device, sample.axis, sample.sides, **options)
    _print(ranks, capacity(driven, np.dtype(PRECISIONS[request.precision]).itemsize, ranks, sharing))
    progress, checkpoints = Progress(ranks, sample.voxel_size, request.tolerance), None
    if request.output:
        numbers = {"voxels": image.voxels, "pores": driven.space.pores, "axis": "xyz".index(sample.axis)}
        numbers |= {"tolerance": request.tolerance, "interval": request.interval}
        path = Path(request.output) / "checkpoint.h5"
        checkpoints = Checkpoints(path, ranks, numbers, 60 * request.minutes)

    def watch(*state) -> None:
        progress(*state)
        if checkpoints:
            checkpoints(*state)

    begun = checkpoints and checkpoints.begun()
    found, flow = driven.run(None, watch, begun, tolerance=request.tolerance, interval=request.interval)
    progress.close()
    k, result = in_units(found.k, sample.voxel_size), found.result
    _print(
        ranks,
        f"porosity {found.porosity:.4g}, k = {found.k:.6g} squared voxels = {k[0]:.6g} m^2 = {k[1]:.6g} mD "
        f"along {sample.axis}, after {result.steps} steps",
    )
    if found.doubts:
        _print(ranks, f"careful: {found.doubts}")
    if request.output:
        write_vtk(flow, Path(request.output) / "flow.pvti", sample.voxel_size)
        with together(ranks):
            if ranks.rank == 0:
                write_json(Path(request.output) / "result.json", _facts(found, k, sample, ranks))
        checkpoints.remove()
    return found


def _facts(found: FlowThrough, k: tuple[float, float], sample, ranks) -> dict:
    names = ("steps", "converged", "mach", "density_spread")
    facts = {"k": found.k, "square metres": k[0], "millidarcy": k[1], "axis": sample.axis, "porosity": found.porosity}
    facts |= {"force": found.force, "reynolds": found.reynolds, "doubts": found.doubts, "ranks": ranks.count}
    return facts | {name: getattr(found.result, name) for name in names}


def _device(name: str):
    """The device of this rank, and how many ranks share it: of the GPUs of a machine each rank has the next one."""
    own, here = _first("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", 0), _here()
    gpus = int(os.environ.get(GPUS, 0))
    if gpus and here > 1 and name in ("auto", "cuda"):
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        names = seen.split(",")[:gpus] if seen else [str(number) for number in range(gpus)]
        # of one that is chosen already, that one again
        os.environ["CUDA_VISIBLE_DEVICES"] = names[own % len(names)]
    device = select(name)
    return device, -(-here // gpus) if device.name == "cuda" and gpus else here


def _here() -> int:
    """How many ranks of this run are on this machine."""
    return _first("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", 1)


def _first(*names) -> int:
    *variables, otherwise = names
    return next((int(os.environ[name]) for name in variables if os.environ.get(name, "").isdigit()), otherwise)


class Progress:
    """Says on rank 0 how far a run is: in one line that changes on a terminal, elsewhere in a line a minute."""

    def __init__(self, ranks, voxel_size: float, tolerance: float):
        self._shown, self._voxel_size, self._tolerance = ranks.rank == 0, voxel_size, tolerance
        self._terminal = os.environ.get(TERMINAL) == "1" if ranks.count > 1 else sys.stdout.isatty()
        self._said, self._width = time.monotonic(), 0

    def __call__(self, flow, attempt: int, force: float, history) -> None:
        """After an interval."""
        steps, k = history[-1]
        line = f"step {steps}: k = {in_units(k, self._voxel_size)[1]:.5g} mD"
        if len(history) > 1 and k:
            line += f", changed by {abs(1 - history[-2][1] / k):.1e}, until that is {self._tolerance:.0e}"
        now = time.monotonic()
        if not self._shown or not (self._terminal or now - self._said >= _LINE):
            return
        self._said = now
        print(f"\r{line:<{self._width}}" if self._terminal else line, end="" if self._terminal else "\n", flush=True)
        self._width = len(line)

    def close(self) -> None:
        """The line that changed gives way."""
        if self._shown and self._terminal:
            print(f"\r{'':<{self._width}}\r", end="", flush=True)


def _print(ranks, line: str) -> None:
    if ranks.rank == 0:
        print(line, flush=True)


def main(request: str) -> None:
    """One of several ranks."""
    ranks, asked = world(), Request(**json.loads(request))
    gpus = int(os.environ.get(GPUS, 0))
    # NCCL wants a GPU for each rank; otherwise messages go from host to host
    apart = ranks.gather(np.array(0 < _here() <= gpus and asked.device in ("auto", "cuda")), "whose GPUs they are")
    if ranks.count > 1 and apart.all():
        _device(asked.device)
        ranks.connect_gpus()
    solved(asked, ranks)
    ranks.finish()


if __name__ == "__main__":
    require(len(sys.argv) == 2, "give one request")
    main(sys.argv[1])
