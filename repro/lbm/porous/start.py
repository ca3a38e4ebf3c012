"""Starts `solve` on one rank, on several, or as one of those that mpiexec has started."""

import os
import re
import sys

from repro.declared import Whole
from repro.errors import InputError, require
from repro.parallel.gpu_detection import gpu_present
from repro.parallel.ranks.launch import RanksError, launch
from repro.parallel.ranks.rank_errors import started_processes
from repro.parallel.ranks.world import Alone

from ..media.sample import open_sample
from .solve import GPUS, TERMINAL, Request, solved

_PROGRAM, _RANK = "repro.lbm.porous.solve", "repro.parallel.ranks.rank_main"

#: what a rank says of a request that cannot work
_REFUSAL = re.compile(r"rank \d+ of \d+: (?:Input|MemoryLimit|Device)Error: (.*)")


def start(request: Request, ranks: int | None) -> None:
    """Solve on so many ranks; None: on one, or on those that mpiexec has started.

    Raises InputError for what cannot work, RanksError where a rank failed, with a line that names it.
    """
    if ranks is not None:
        Whole(1).check("--ranks", ranks)
    started = started_processes()
    if started > 1:
        require(ranks in (None, started), f"--ranks {ranks}, but mpiexec has started {started}: leave out --ranks")
        os.environ[GPUS] = str(_gpus(request.device))
        # as one that never dies in silence
        os.execv(sys.executable, [sys.executable, "-m", _RANK, _PROGRAM, request.json()])
    name, depth = request.sample, open_sample(request.sample)[1].shape[0]
    ranks = ranks or 1
    require(ranks <= depth, f"--ranks {ranks}: {name} has {depth} planes along z, of which each needs one: use fewer")
    if ranks == 1:
        solved(request, Alone())
        return
    told = {GPUS: str(_gpus(request.device)), TERMINAL: str(int(sys.stdout.isatty()))}
    try:
        launch(ranks, _PROGRAM, [request.json()], environment=told, shown=True)
    except RanksError as error:
        for line in error.said:
            if refusal := _REFUSAL.fullmatch(line):
                raise InputError(refusal[1]) from None
        raise


def _gpus(device: str) -> int:
    """GPUs of this machine, if one may be used."""
    if device not in ("auto", "cuda") or not gpu_present():
        return 0
    import cupy

    return cupy.cuda.runtime.getDeviceCount()
