"""Ranks over MPI, started as a user starts them: guard cells, particles that cross, and ranks that die."""

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import rank_program
from helpers.walkers import BORN

from repro.errors import InputError
from repro.hardware import cores
from repro.parallel.ranks import launch as launching
from repro.parallel.ranks.domain import Domain
from repro.parallel.ranks.halo import Halo
from repro.parallel.ranks.launch import RanksError, launch
from repro.parallel.ranks.world import Alone, Ranks, world

TESTS = Path(__file__).resolve().parent.parent
PROGRAM = TESTS / "helpers/rank_program.py"
ENVIRONMENT = {"PYTHONPATH": f"{TESTS.parent}:{TESTS}"}

STEPS = 300

RANKS = (2, 3, 4, 7)

WAITED = "rank [02] of 3: waited for the end of a step, but nothing has moved for 3"

BEFORE, CREATED, ABSORBED, SENT, RECEIVED, AFTER = range(6)


@pytest.fixture(scope="module")
def alone():
    """The walk of one rank, without MPI."""
    return rank_program.walk(Alone(), STEPS)


@pytest.fixture(scope="module", params=RANKS)
def found(request, tmp_path_factory):
    """What every rank has found, for a number of ranks."""
    folder = tmp_path_factory.mktemp("ranks")
    launch(request.param, str(PROGRAM), [folder, STEPS], timeout=120, environment=ENVIRONMENT)
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(request.param)]


@pytest.fixture(scope="module")
def failures():
    """What is said when rank 1 of 3 fails, and after how many seconds. They mostly wait, so all at once."""

    def fail(how):
        start = time.perf_counter()
        with pytest.raises(RanksError) as raised:
            launch(3, str(PROGRAM), [how], timeout=60, environment=ENVIRONMENT)
        return raised.value, time.perf_counter() - start

    ways = ("killed", "exits", "raises", "fails", "leaves", "stopped", "hangs", "circle")
    with ThreadPoolExecutor() as pool:
        return dict(zip(ways, pool.map(fail, ways), strict=True))


def walks(found) -> list[dict]:
    return [rank["walk"] for rank in found]


def test_guard_cells_hold_what_they_stand_for_and_walls_are_left_alone(found):
    for rank in found:
        assert not {case: wrong for case, wrong in rank["halos"].items() if wrong}


def test_guard_cells_of_one_rank():
    assert not {case: wrong for case, wrong in rank_program.halos(Alone()).items() if wrong}


def test_the_walk_tests_what_it_should(found, alone):
    counts = np.array(alone["counts"])
    assert counts[:, CREATED].sum() == BORN * STEPS
    assert counts[:, ABSORBED].sum() > STEPS
    # walkers cross several boxes within a step, and steps are not ended by the first barrier
    assert sum(walk["messages"] for walk in walks(found)) > 2 * STEPS
    assert max(walk["rounds"] for walk in walks(found)) > 1


def test_no_walker_is_lost_or_doubled_in_any_step(found):
    counts = np.array([walk["counts"] for walk in walks(found)])
    total = counts.sum(axis=0)
    assert np.array_equal(total[:, SENT], total[:, RECEIVED])
    assert np.array_equal(total[:, AFTER], total[:, BEFORE] + total[:, CREATED] - total[:, ABSORBED])
    assert np.array_equal(total[1:, BEFORE], total[:-1, AFTER])


def test_every_walker_ends_where_it_ends_on_one_rank(found, alone):
    for what in ("ends", "absorbed"):
        mine = sorted(json.dumps(walker) for walk in walks(found) for walker in walk[what])
        assert mine == sorted(json.dumps(walker) for walker in alone[what])
    assert len(alone["ends"]) + len(alone["absorbed"]) == BORN * STEPS


def test_losing_or_doubling_a_walker_is_refused_on_all_ranks(found):
    for word in ("lost", "doubled"):
        (said,) = {rank[word] for rank in found}
        assert said.startswith(f"particles lost or doubled within a step: rank 0: 1 {word}, before "), said
        assert "rank 1" not in said


def test_a_rank_that_dies_ends_all_within_a_minute(failures):
    assert max(seconds for _, seconds in failures.values()) < 60


def test_ranks_that_are_stopped_together_longer_than_they_have_patience_go_on(tmp_path):
    """As while the speed of another notebook is measured."""
    assert "went on" in launch(2, str(PROGRAM), ["paused", tmp_path], timeout=60, environment=ENVIRONMENT)


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("killed", r"rank 1 of 3: process \d+ was killed by SIGKILL"),
        ("exits", r"rank 1 of 3: process \d+ left without a word"),
        ("raises", r"rank 1 of 3: ValueError: the step went wrong \(end_badly, rank_program.py line \d+\)"),
        ("fails", r"rank 1 of 3: sys.exit\(3\)"),
        ("leaves", r"rank [02] of 3: waited for the end of a step, but rank 1 \(process \d+\) has left the program"),
        ("stopped", rf"{WAITED} s: rank 1 \(process \d+\) has been busy or stopped"),
        ("hangs", rf"{WAITED} s: rank 1 \(process \d+\) has been busy or stopped"),
        (
            "circle",
            "rank [012] of 3: waited for a message, but nothing has moved for 3 s: all ranks wait for one another",
        ),
    ],
)
def test_a_line_names_the_rank_and_what_became_of_it(failures, how, line):
    error = failures[how][0]
    assert error.said, str(error)
    assert re.fullmatch(line, error.said[0])


def test_a_failure_is_one_line_with_its_first_reason(failures):
    for error, _ in failures.values():
        assert error.said, str(error)
        assert "\n" not in str(error)
        assert error.said[0] in str(error)


def test_what_a_rank_said_is_known_where_mpiexec_has_not_read_it(tmp_path):
    # as if it had ended first: Abort follows at once
    program = tmp_path / "program.py"
    program.write_text("import os, sys\nsys.stderr = open(os.devnull, 'w')\nraise ValueError('the step went wrong')\n")
    with pytest.raises(RanksError) as raised:
        launch(2, str(program), timeout=60, environment=ENVIRONMENT)
    assert {line.split(": ", 1)[1] for line in raised.value.said} == {
        "ValueError: the step went wrong (<module>, program.py line 3)"
    }


def test_a_program_on_one_rank_needs_no_mpi():
    assert "import this" not in launch(1, "this", timeout=60)
    looks = "import sys; sys.modules['mpi4py'] = None\n"
    looks += "from repro.parallel.ranks import domain, halo, launch, migration, world\nassert world.world().count == 1"
    done = subprocess.run([sys.executable, "-c", looks], capture_output=True, text=True, cwd=TESTS.parent, timeout=60)
    assert done.returncode == 0, done.stderr


def test_mpi_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(launching.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(launching.shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="there is no mpiexec: pip install mpi4py mpich, or use one rank"):
        launch(2, "this")
    monkeypatch.setenv("REPRO_RANKS", "2")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(InputError, match=r"2 ranks need MPI, which does not load \(.*\): pip install"):
        world.__wrapped__()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"ranks": 0}, "ranks = 0: must be a whole number from 1"),
        ({"ranks": 1 << 20}, f"ranks = 1048576: must be a whole number from 1 to {64 * cores()}$"),
        ({"target": None}, r"target = None: must be a module .* or a script"),
        ({"target": ""}, "target = '': no such script"),
        ({"target": "nowhere/program.py"}, "target = 'nowhere/program.py': no such script"),
        ({"arguments": "abc"}, "arguments = 'abc': must be a list"),
        ({"arguments": 5}, "arguments = 5: must be a list"),
        ({"arguments": ["a\0b"]}, r"arguments: each = 'a\\x00b': must be a line of text"),
        ({"environment": {"THREADS": "5\0"}}, r"environment: each = '5\\x00': must be a line of text"),
        ({"timeout": "5"}, "timeout = '5': must be a number above 0, in s, or None"),
        ({"timeout": float("nan")}, "timeout = nan: must be a number above 0, in s"),
        ({"timeout": 0}, "timeout = 0: must be a number above 0, in s"),
        ({"environment": ["a"]}, r"environment = \['a'\]: must be a dict of texts"),
        ({"environment": {"THREADS": 5}}, "environment: each = 5: must be a line of text"),
    ],
)
def test_what_cannot_be_started_is_refused_before_any_process_is(monkeypatch, options, line):
    monkeypatch.setattr(launching.subprocess, "Popen", None)
    with pytest.raises(InputError, match=line):
        launch(**{"ranks": 2, "target": "this"} | options)


def test_one_rank_that_is_killed_says_by_what(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(RanksError, match="on 1 ranks ended: killed by SIGKILL"):
        launch(1, program, timeout=60)


@pytest.mark.parametrize("patience", ["3", -1, 0, float("nan")])
def test_patience_is_a_number_of_seconds(patience):
    with pytest.raises(InputError, match=f"patience = {patience!r}: must be a number above 0, in s"):
        Ranks.patience.fset(None, patience)


def test_processes_that_do_not_know_of_each_other_are_refused():
    with pytest.raises(RanksError, match=r"mpiexec started 9 processes, but MPI sees 2: use the mpiexec that belongs"):
        launch(2, "this", timeout=60, environment={"REPRO_RANKS": "9"})


def test_a_program_that_takes_too_long_is_ended():
    with pytest.raises(RanksError, match=r"did not end within 1 s"):
        launch(2, str(PROGRAM), ["nothing", 10**9], timeout=1, environment=ENVIRONMENT)


def test_arrays_that_do_not_fit_are_refused():
    domain = Domain((4, 5, 6), (True,) * 3, (1, 1, 1))
    with pytest.raises(InputError, match=r"an array of shape \(8, 7, 5\): \(8, 7, 6\) cells are due, components first"):
        Halo(domain, Alone(), np.zeros((8, 7, 5)))
    Halo(domain, Alone(), np.zeros((2, 8, 7, 6)))
    Halo(domain, Alone(), np.zeros((8, 7, 6, 2)), components="last")
    for shape, components in (((7, 6), "first"), ((2, 8, 7, 6), "last"), ((8, 7, 6, 2), "first"), ((8, 7, 5), "last")):
        words = (
            rf"an array of shape \({', '.join(map(str, shape))}\): \(8, 7, 6\) cells are due, components {components}"
        )
        with pytest.raises(InputError, match=words):
            Halo(domain, Alone(), np.zeros(shape), components=components)
    with pytest.raises(InputError, match=r"1 ranks for a grid cut for 2: cut it with domain_for"):
        Halo(Domain((4, 4, 4), (True,) * 3, (2, 1, 1)), Alone(), None)
    with pytest.raises(InputError, match=r"3 ranks for a grid cut for 1"):
        Halo(domain, SimpleNamespace(rank=0, count=3), np.zeros((8, 7, 6)))
