"""Palabos with its bulk on a device is Palabos' own time step; what is said of it without the library too."""

import ctypes
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.errors import InputError, MemoryLimitError
from repro.lbm.cases import CubicCavity
from repro.lbm.lattice import D3Q19
from repro.papers.swap import hybrid, palabos
from repro.parallel import select
from repro.study.notebooks import Project

PROBLEM = CubicCavity(reynolds=10, nodes=10).problem
LIBRARY = Project.default().root / palabos.LIBRARY
built = pytest.mark.skipif(not LIBRARY.is_file(), reason="tools/peers/build_palabos.sh has not been run")


#: the walls of the stand-in rest
RESTING = replace(PROBLEM, wall_velocity=(0.0, 0.0, 0.0))


class Stand:
    """In place of Palabos: our serial sweep between walls at rest, whose boundary nodes swap after the interior."""

    def __init__(self, path, problem):
        assert (path, problem) == ("where it is", PROBLEM)
        simulation = hybrid.moving(RESTING, select("serial"), "swap sweep", "double", "aos")
        self.state, self.size, self._parts = simulation.state, simulation.state.size, simulation.scheme.parts[0]

    def run(self, phase):
        whole = tuple(self._parts)
        for part in {"bulk": whole[:2], "boundary stream": whole[2:], "whole": whole}.get(phase, ()):
            self._parts[part]()

    @property
    def memory(self):
        return self.state

    def exchange(self, memory, populations, *, back=False):
        np.copyto(*((memory, populations) if back else (populations, memory)))

    def populations(self):
        return self.state.copy()


def test_the_bulk_goes_to_the_device_between_the_phases_that_stay(monkeypatch, threads):
    monkeypatch.setattr(palabos, "Cavity", Stand)
    period = palabos.palabos_collide_only_period(PROBLEM, threads, path="where it is")
    assert [part.name for part in period.parts] == [
        "boundary collision", "to the GPU", "unpack", "collide", "pack", "to the host",
        "bulk stream", "boundary stream", "rest",
    ]  # fmt: skip
    # cells and populations are both read or written: 19 numbers of eight bytes of a thousand nodes, twice
    assert [part.bytes for part in period.parts if part.name in ("unpack", "pack")] == [2 * 19 * 8 * 1000] * 2
    assert [part.bytes for part in period.parts if part.name.startswith("to the")] == [19 * 8 * 1000] * 2
    whole = palabos.palabos_period(PROBLEM, path="where it is")
    assert [part.name for part in whole.parts] == ["boundary collision", "bulk", "boundary stream", "rest"]


@pytest.mark.parametrize("way", ["on one core", "with the bulk on a device"])
def test_a_program_in_phases_is_the_same_step_whole(monkeypatch, threads, way):
    monkeypatch.setattr(palabos, "Cavity", Stand)
    builds = {
        "on one core": palabos.palabos_period,
        "with the bulk on a device": partial(palabos.palabos_hybrid_period, device=threads),
    }
    assert "of the whole time step" in hybrid.check_period(partial(builds[way], path="where it is"), PROBLEM)


def test_a_file_that_is_no_library_is_refused_in_a_line(tmp_path):
    (path := tmp_path / "libpalabos_cavity.so").write_text("no library")
    with pytest.raises(InputError, match=r"libpalabos_cavity.so cannot be loaded .*build it by tools/peers"):
        palabos.Cavity(path, PROBLEM)


@pytest.mark.parametrize(("free", "fits"), [(168_000, True), (167_999, False)])
def test_a_cavity_that_does_not_fit_is_refused_before_palabos_allocates_it(monkeypatch, free, fits):
    """1000 nodes of 19 populations, a flag and a pointer."""
    monkeypatch.setattr(type(select("serial")), "free_memory", lambda self: free)
    # it has none of the functions that allocate
    monkeypatch.setattr(palabos, "load", lambda path: None)
    with pytest.raises(AttributeError if fits else MemoryLimitError, match=None if fits else "the cells of Palabos"):
        palabos.Cavity(None, PROBLEM)


#: what the C++ side writes as it declares its functions
TYPES = {"void": None, "int": ctypes.c_int, "long": ctypes.c_long, "double": ctypes.c_double}
TYPES |= {f"{name}*": ctypes.POINTER(kind) for name, kind in TYPES.items() if kind} | {"void*": ctypes.c_void_p}


def test_the_functions_of_the_library_are_called_as_it_declares_them(monkeypatch):
    """What is left as it is takes and gives whole numbers, which is Python's own way."""
    source = (Project.default().root / "tools/peers/palabos_cavity.cpp").read_text()
    declared = re.findall(r"^(\S+) (palabos_\w+)\((.*?)\)", source, re.MULTILINE)
    own = {name: SimpleNamespace(restype=ctypes.c_int, argtypes=None) for _, name, _ in declared}
    monkeypatch.setattr(palabos.ctypes, "CDLL", {"/where/it/is.so": SimpleNamespace(**own)}.__getitem__)
    palabos.load.__wrapped__(Path("/where/it/is.so"))
    assert len(declared) == 5
    for result, name, arguments in declared:
        taken = [TYPES[argument.split()[0]] for argument in arguments.split(", ")]
        given = own[name].argtypes or [ctypes.c_int] * len(taken)
        assert (own[name].restype, given) == (TYPES[result] or ctypes.c_int, taken), name
    (phases,) = re.findall(r"enum Phase \{(.*?)\}", source, re.DOTALL)
    assert [name.strip().lower().replace("_", " ") for name in phases.split(",")] == list(palabos.PHASES)


class Library:
    """In place of Palabos' own: ten nodes a side in a block of 14 x 13 x 12 cells of 22 numbers, populations from 2 on.

    Its populations are ours backwards, along its axes, which are ours backwards too. Each number is its place.
    """

    EXTENTS, FIRST, NUMBERS, PLACE = (14, 13, 12), (2, 1, 0), 22, 2

    def __init__(self):
        self.cells = (ctypes.c_double * (int(np.prod(self.EXTENTS)) * self.NUMBERS))()
        np.ctypeslib.as_array(self.cells)[:] = np.arange(len(self.cells))
        self.heard = []

    def palabos_open(self, *given):
        self.heard.append(("open", *given))
        return 7

    def palabos_close(self, cavity):
        pass

    def palabos_run(self, *given):
        self.heard.append(("run", *given))

    def palabos_cells(self, cavity, shape):
        shape[:] = [*self.EXTENTS, *self.FIRST, self.NUMBERS, self.PLACE]
        return ctypes.cast(self.cells, ctypes.POINTER(ctypes.c_double))

    def palabos_velocity(self, population, axis):
        return D3Q19.velocities[18 - population][2 - axis]


@pytest.fixture
def cavity(monkeypatch):
    """Palabos' cavity over a library that computes nothing."""
    monkeypatch.setattr(palabos, "load", lambda path: Library())
    return palabos.Cavity(None, replace(PROBLEM, wall_velocity=(0.03, 0.0, 0.04), relaxation_time=0.8))


def test_a_cavity_is_opened_with_its_nodes_its_rate_and_the_speed_of_its_lid(cavity):
    assert cavity._library.heard == [("open", 10, pytest.approx(1.25), pytest.approx(0.05))]
    for phase in ("bulk", "whole"):
        cavity.run(phase)
    # in the order of the library's own list
    assert cavity._library.heard[1:] == [("run", 7, 1), ("run", 7, 5)]


def test_populations_are_found_in_palabos_cells_by_their_velocity(cavity):
    found = cavity.populations().reshape(10, 10, 10, 19)
    cells = np.arange(14 * 13 * 12 * 22.0).reshape(14, 13, 12, 22)[2:12, 1:11, :10, 2:21]
    np.testing.assert_array_equal(found, cells[..., ::-1])
    assert cavity.memory.size == 14 * 13 * 12 * 22


def test_populations_go_back_into_their_cells_and_nothing_else_does(cavity):
    before, values = cavity.memory.copy(), np.random.default_rng(3).uniform(-1, 0, cavity.size)
    cavity.exchange(cavity.memory, values, back=True)
    np.testing.assert_array_equal(cavity.populations(), values)
    assert (before != cavity.memory).sum() == cavity.size == 19_000


def test_what_was_measured_elsewhere_says_of_which_version_and_machine():
    table = pd.read_csv(Project.default().data / "reference" / "palabos_cavity.csv", comment="#")
    assert len(table)
    for _, rows in table.groupby("options"):
        step = rows[rows["part"].isin(palabos.STEP)]
        assert len(step) == len(palabos.STEP)
        assert step["share"].tolist() == pytest.approx((100 * step["ms"] / step["ms"].sum()).tolist(), abs=0.1)
    assert table[["code", "version", "options", "hardware", "who"]].notna().all(axis=None)


@built
@pytest.mark.parametrize("on_gpu", [False, True])
def test_palabos_phase_by_phase_is_its_own_time_step(threads, on_gpu):
    builds = [palabos.palabos_period]
    if on_gpu:
        ways = (palabos.palabos_hybrid_period, palabos.palabos_collide_only_period)
        builds = [partial(way, device=threads) for way in ways]
    for build in builds:
        assert "of the whole time step" in hybrid.check_period(partial(build, path=LIBRARY), PROBLEM)


@built
def test_populations_come_back_as_they_went_into_the_cells():
    cavity = palabos.Cavity(LIBRARY, PROBLEM)
    before, values = cavity.memory.copy(), np.random.default_rng(3).uniform(-1, 1, cavity.size)
    cavity.exchange(cavity.memory, values, back=True)
    np.testing.assert_array_equal(cavity.populations(), values)
    # nothing but the populations of these nodes: what else a cell holds stays, to the bit
    changed = (before.view(np.int64) != cavity.memory.view(np.int64)).sum()
    assert changed == cavity.size == 19 * PROBLEM.nodes
