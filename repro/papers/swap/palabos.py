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

#: bytes of a node in Palabos: populations, statistics flag and a pointer to its dynamics
CELL = 8 * (D3Q19.q + 2)


@cache
def load(path: Path) -> ctypes.CDLL:
    """The library; InputError where it cannot be loaded."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise InputError(f"{path.name} cannot be loaded ({error}): build it by tools/peers/build_palabos.sh") from None
    array, order = (np.ctypeslib.ndpointer(kind, flags="C") for kind in (np.float64, np.int32))
    cavity = library.palabos_open.restype = ctypes.c_void_p
    library.palabos_open.argtypes = [ctypes.c_long, ctypes.c_double, ctypes.c_double]
    library.palabos_close.argtypes, library.palabos_run.argtypes = [cavity], [cavity, ctypes.c_int]
    library.palabos_pack.argtypes = library.palabos_unpack.argtypes = [cavity, array, order, *[ctypes.c_long] * 2]
    return library


class Cavity:
    """A cubic cavity of Palabos: regularised boundary nodes that collide, the lid along the diagonal of its plane.

    Populations are copied as our strategies keep them: minus their weights, node by node ("aos", Palabos' own order) or
    direction by direction ("soa"), our x being Palabos' z.
    """

    def __init__(self, path: Path, problem: Problem, layout: str = "aos"):
        self._library, self.size = load(path), D3Q19.q * problem.nodes
        self._strides = (1, D3Q19.q) if layout == "aos" else (problem.nodes, 1)
        require_memory(select("serial"), (CELL + 8 * D3Q19.q) * problem.nodes, "the cells of Palabos and a copy")
        speed = float(np.linalg.norm(problem.wall_velocity))
        self._cavity = self._library.palabos_open(problem.shape[0], 1 / problem.relaxation_time, speed)
        weakref.finalize(self, self._library.palabos_close, self._cavity)
        velocities = [tuple(self._library.palabos_velocity(p, axis) for axis in (2, 1, 0)) for p in range(D3Q19.q)]
        self._order = np.array([D3Q19.velocities.index(velocity) for velocity in velocities], np.int32)

    def run(self, phase: str) -> None:
        """Run one of PHASES on all nodes that it is for."""
        self._library.palabos_run(self._cavity, PHASES.index(phase))

    def pack(self, populations: np.ndarray) -> np.ndarray:
        """Copy the populations of all cells into an array of `size` numbers, and return it."""
        self._library.palabos_pack(self._cavity, populations, self._order, *self._strides)
        return populations

    def unpack(self, populations: np.ndarray) -> None:
        """Copy an array of populations into the cells."""
        self._library.palabos_unpack(self._cavity, populations, self._order, *self._strides)


def _phases(cavity: Cavity, *names: str) -> list[Part]:
    """Phases of Palabos as parts."""
    return [Part(name, lambda name=name: cavity.run(name), 0.0, "core") for name in names]


def _period(name: str, problem: Problem, path: Path, cavity: Cavity, parts, device) -> Period:
    """The parts as a period, which must be Palabos' own time step."""

    def expected(steps: int) -> np.ndarray:
        stock = Cavity(path, problem)
        for _ in range(steps):
            stock.run("whole")
        return stock.pack(np.empty(stock.size))

    return Period(name, 1, tuple(parts), device, lambda: cavity.pack(np.empty(cavity.size)), expected)


def palabos_period(problem: Problem, *, path: Path) -> Period:
    """Palabos, the program that the paper starts from, on one core."""
    cavity = Cavity(path, problem)
    return _period("Palabos", problem, path, cavity, _phases(cavity, *STEP), select("serial"))


def palabos_hybrid_period(problem: Problem, device, *, path: Path) -> Period:
    """The paper's program: the bulk collides and streams by types on the GPU, the rest of Palabos stays on the host."""
    return shared_period(problem, device, path, "swap types", ("collide", "stream"), ())


def palabos_collide_only_period(problem: Problem, device, *, path: Path) -> Period:
    """What came before (the paper's reference 20): only the collision of the bulk on the GPU, Palabos streams."""
    return shared_period(problem, device, path, "swap links", ("collide",), ("bulk stream",))


def shared_period(problem: Problem, device, path: Path, strategy: str, on_gpu, on_core) -> Period:
    """Palabos with parts of a strategy instead of its bulk: in between, its cells are packed and cross the bus."""
    # the walls are Palabos': where they rest, boundary nodes keep their populations on the GPU
    away = moving(replace(problem, wall_velocity=(0.0, 0.0, 0.0)), device, strategy, "double", "aos")
    cavity, home, states = Cavity(path, problem), device.to_host(away.state), away.scheme.states
    between = parts_of(away, 0, "GPU memory", only=on_gpu)
    # streaming by types ends in the second array; a collision stays in its own
    crossing = there_and_back(device, home, states[0], states[len(on_gpu) - 1], between)
    parts = [
        *_phases(cavity, "boundary collision"),
        Part("pack", lambda: cavity.pack(home), home.nbytes, "core"),
        *crossing,
        Part("unpack", lambda: cavity.unpack(home), home.nbytes, "core"),
        *_phases(cavity, *on_core, "boundary stream", "rest"),
    ]
    return _period(f"Palabos with '{strategy}' on the GPU", problem, path, cavity, parts, device)
