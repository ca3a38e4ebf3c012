"""Palabos on the host: its cubic cavity phase by phase, and the same with its bulk on a GPU (swap paper, section 3).

An optional peer: tools/peers/build_palabos.sh makes the library from Palabos as Debian packages it. Everything else
runs without it.
"""

import ctypes
import weakref
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from repro.errors import InputError
from repro.lbm.lattice import D3Q19
from repro.lbm.model import Problem
from repro.parallel import require_memory, select

from .hybrid import Part, Period, moving, parts_of, there_and_back

#: below the checkout
LIBRARY = Path("build/peers/libpalabos_cavity.so")

#: what the library runs, by its numbers; "whole" is Palabos' own time step, of the others all but "bulk stream"
PHASES = ("boundary collision", "bulk", "bulk stream", "boundary stream", "rest", "whole")
STEP = ("boundary collision", "bulk", "boundary stream", "rest")


@cache
def load(path: Path) -> ctypes.CDLL:
    """The library; InputError where it cannot be loaded."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise InputError(f"{path.name} cannot be loaded ({error}): build it by tools/peers/build_palabos.sh") from None
    cavity = library.palabos_open.restype = ctypes.c_void_p
    library.palabos_open.argtypes = [ctypes.c_long, ctypes.c_double, ctypes.c_double]
    library.palabos_close.argtypes, library.palabos_run.argtypes = [cavity], [cavity, ctypes.c_int]
    library.palabos_cells.restype = ctypes.POINTER(ctypes.c_double)
    library.palabos_cells.argtypes = [cavity, ctypes.POINTER(ctypes.c_long)]
    return library


class Cavity:
    """A cubic cavity of Palabos: regularised boundary nodes that collide, the lid along the diagonal of its plane.

    `memory` is that of its cells, as numbers of eight bytes. Populations are numbered as ours, minus their weights as
    ours, and our x is Palabos' z.
    """

    def __init__(self, path: Path, problem: Problem):
        self._library, self.size = load(path), D3Q19.q * problem.nodes
        # populations, a flag and a pointer
        require_memory(select("serial"), 8 * (D3Q19.q + 2) * problem.nodes, "the cells of Palabos")
        speed, shape = float(np.linalg.norm(problem.wall_velocity)), (ctypes.c_long * 8)()
        self._cavity = self._library.palabos_open(problem.shape[0], 1 / problem.relaxation_time, speed)
        weakref.finalize(self, self._library.palabos_close, self._cavity)
        first = self._library.palabos_cells(self._cavity, shape)
        *extents, x, y, z, numbers, self._place = shape
        self._cells = (*extents, numbers)
        self._within = tuple(slice(start, start + n) for start, n in zip((x, y, z), problem.shape, strict=True))
        self.memory = np.ctypeslib.as_array(first, (int(np.prod(self._cells)),))
        velocities = [tuple(self._library.palabos_velocity(p, axis) for axis in (2, 1, 0)) for p in range(D3Q19.q)]
        self._order = [D3Q19.velocities.index(velocity) for velocity in velocities]

    def run(self, phase: str) -> None:
        """Run one of PHASES on all nodes that it is for."""
        self._library.palabos_run(self._cavity, PHASES.index(phase))

    def exchange(self, memory, populations, *, back: bool = False) -> None:
        """From a copy of `memory` to an array of populations, or `back`; both on one device, node by node."""
        cells = memory.reshape(self._cells)[self._within]
        nodes = populations.reshape(*cells.shape[:3], D3Q19.q)
        for p, i in enumerate(self._order):
            pair = cells[..., self._place + p], nodes[..., i]
            pair[not back][...] = pair[back]

    def populations(self) -> np.ndarray:
        """The populations of all nodes, node by node."""
        found = np.empty(self.size)
        self.exchange(self.memory, found)
        return found


def _phases(cavity: Cavity, *names: str) -> list[Part]:
    """Phases of Palabos as parts."""
    return [Part(name, lambda name=name: cavity.run(name), 0.0, "core") for name in names]


def _period(name: str, problem: Problem, path: Path, cavity: Cavity, parts, device) -> Period:
    """The parts as a period, which must be Palabos' own time step."""

    def expected(steps: int) -> np.ndarray:
        stock = Cavity(path, problem)
        for _ in range(steps):
            stock.run("whole")
        return stock.populations()

    return Period(name, 1, tuple(parts), device, cavity.populations, expected)


def palabos_period(problem: Problem, *, path: Path) -> Period:
    """Palabos, the program that the paper starts from, on one core."""
    cavity = Cavity(path, problem)
    return _period("Palabos", problem, path, cavity, _phases(cavity, *STEP), select("serial"))


def palabos_hybrid_period(problem: Problem, device, *, path: Path) -> Period:
    """Ours after the paper: the bulk collides and streams by types on the GPU, all else of Palabos on the core."""
    return shared_period(problem, device, path, "swap types", ("collide", "stream"), ())


def palabos_collide_only_period(problem: Problem, device, *, path: Path) -> Period:
    """Ours after the paper's reference 20: only the collision of the bulk on the GPU, Palabos streams."""
    return shared_period(problem, device, path, "swap links", ("collide",), ("bulk stream",))


def shared_period(problem: Problem, device, path: Path, strategy: str, on_gpu, on_core) -> Period:
    """Palabos with parts of a strategy instead of its bulk, for which the memory of its cells crosses the bus."""
    # the walls are Palabos': where they rest, boundary nodes keep their populations on the GPU
    away = moving(replace(problem, wall_velocity=(0.0, 0.0, 0.0)), device, strategy, "double", "aos")
    cavity, states = Cavity(path, problem), away.scheme.states
    require_memory(device, cavity.memory.nbytes, "the cells of Palabos")
    there = device.zeros(cavity.memory.size, np.float64)
    # streaming by types ends in the second array; a collision stays in its own
    start, end, moved = states[0], states[len(on_gpu) - 1], away.state.nbytes + cavity.memory.nbytes
    between = [
        Part("unpack", lambda: cavity.exchange(there, start), moved, "GPU memory"),
        *parts_of(away, 0, "GPU memory", only=on_gpu),
        Part("pack", lambda: cavity.exchange(there, end, back=True), moved, "GPU memory"),
    ]
    parts = [
        *_phases(cavity, "boundary collision"),
        *there_and_back(device, cavity.memory, there, there, between),
        *_phases(cavity, *on_core, "boundary stream", "rest"),
    ]
    return _period(f"Palabos with '{strategy}' on the GPU", problem, path, cavity, parts, device)
