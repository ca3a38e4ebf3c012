"""The permeability of a rock from the command line: on one rank or several, and after one of them has died."""

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.rank_threads import on_ranks
from typer.testing import CliRunner

from repro import cli
from repro.errors import InputError, MemoryLimitError
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.porous import solve, start
from repro.lbm.porous.capacity import bytes_a_rank, capacity
from repro.lbm.porous.driven import Driven
from repro.lbm.porous.permeability import flow_through, mirrored
from repro.lbm.porous.simulation import PorousFlow, bytes_needed
from repro.lbm.porous.solve import Progress, Request, solved
from repro.lbm.porous.strategies import STRATEGIES
from repro.parallel import select
from repro.parallel.ranks.launch import RanksError, launch
from repro.parallel.ranks.world import Alone

PROGRAM = Path(__file__).parents[1] / "helpers" / "rank_solve.py"

SOLID = np.random.default_rng(2).random((5, 6, 4)) < 0.2


@pytest.fixture
def rock(tmp_path):
    """The file of a small rock, which is mirrored along x between walls."""
    np.save(tmp_path / "rock.npy", SOLID.astype(np.uint8))
    (tmp_path / "rock.toml").write_text('image = "rock.npy"\nvoxel_size = 1e-6\n')
    return tmp_path / "rock.toml"


def asked(rock, **options) -> Request:
    return Request(str(rock), **{"device": "serial", "tolerance": 1e-3, "interval": 20} | options)


def test_on_any_number_of_ranks_k_is_that_of_the_whole_image(rock, monkeypatch, capsys):
    monkeypatch.setattr(solve, "select", lambda name: PlainDevice())
    monkeypatch.setattr(solve, "_here", lambda: 2)
    small = SOLID[:3, :3, :3]
    np.save(rock.with_name("rock.npy"), small.astype(np.uint8))
    request = asked(rock, interval=2, tolerance=0.9)
    whole = PoreSpace(mirrored(small, "x"))
    options = {"strategy": "sparse", "interval": 2, "tolerance": 0.9}
    expected = flow_through(whole, PlainDevice(), axis="x", sides="wall", **options)
    for ranks in (1, 2, 3):
        found = on_ranks(ranks, lambda rank: solved(request, rank))
        assert {(each.k, each.force, each.porosity) for each in found} == {
            (expected.k, expected.force, expected.porosity)
        }
        room, answer = capsys.readouterr().out.splitlines()[:2]
        each = f"on each of {ranks} ranks" if ranks > 1 else "on one rank"
        assert room.startswith("6 x 3 x 3 voxels, porosity ")
        assert room.endswith(each)
        assert f"k = {expected.k:.6g} squared voxels" in answer


@pytest.mark.parametrize("what", ["killed", "full"])
def test_a_run_of_which_a_rank_died_goes_on_on_another_number_of_ranks_with_the_same_result(rock, tmp_path, what):
    request, begun = asked(rock, output=str(tmp_path / "out"), minutes=0.0), time.monotonic()
    with pytest.raises(RanksError) as ended:
        launch(
            2, str(PROGRAM), [request.json(), what], timeout=120, environment={"PYTHONPATH": str(PROGRAM.parents[1])}
        )
    assert time.monotonic() - begun < 60
    if what == "killed":
        assert "rank 1 of 2: process" in str(ended.value)
        assert "was killed by SIGKILL" in str(ended.value)
    else:
        assert all("cannot be written: File too large" in line for line in ended.value.said)
    # the checkpoint that was there before
    assert (tmp_path / "out" / "checkpoint.h5").exists()
    found = solved(request, Alone())
    again = solved(asked(rock), Alone())
    assert found == again
    assert found.result.history[0][0] == 20
    names = {"result.json", "flow.pvti", "flow_0.vti"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == names
    facts = json.loads((tmp_path / "out" / "result.json").read_text())
    assert (facts["k"], facts["converged"], facts["ranks"]) == (found.k, True, 1)


def test_a_run_on_ranks_prints_what_one_rank_prints(rock, capfd):
    start.start(asked(rock), 2)
    room, answer = capfd.readouterr().out.splitlines()
    assert room.endswith("on each of 2 ranks")
    start.start(asked(rock), 1)
    assert capfd.readouterr().out.splitlines()[1] == answer


def test_what_cannot_work_is_one_line_and_status_2(rock, monkeypatch, capsys):
    def said(*words) -> str:
        monkeypatch.setattr(sys, "argv", ["repro", "solve", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    assert said(str(rock), "--ranks", "0") == "repro: --ranks = 0: must be a whole number from 1 to 2147483647"
    assert said(str(rock), "--ranks", "6").endswith("has 5 planes along z, of which each needs one: use fewer")
    assert "must be a whole number from 1" in said(str(rock), "--interval", "0")
    assert "no such sample file" in said(str(rock.with_name("none.toml")))
    monkeypatch.setattr("repro.parallel.ranks.launch.shutil.which", lambda name: None)
    monkeypatch.setattr("repro.parallel.ranks.launch.sys.executable", "/nowhere/python")
    assert said(str(rock), "--ranks", "2").startswith("repro: several ranks need MPI, and there is no mpiexec")


def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_flows(rock, monkeypatch):
    monkeypatch.setattr(solve, "read_slabs", None)
    request = asked(rock, output=str(rock / "out"))
    for ranks in (1, 2):
        said = "no folder that can be written to: Not a directory"
        with pytest.raises(InputError, match=f"^--output .*rock.toml/out: {said}$"):
            on_ranks(ranks, lambda rank: solved(request, rank))


def test_what_ranks_refuse_is_refused_in_their_words(rock, monkeypatch):
    def refused(*_, **__):
        raise RanksError("ended", ["rank 1 of 2: InputError: the pores do not connect along x"])

    monkeypatch.setattr(start, "launch", refused)
    with pytest.raises(InputError, match="^the pores do not connect along x$"):
        start.start(asked(rock), 2)


def test_under_mpiexec_a_rank_becomes_one_that_never_dies_in_silence(rock, monkeypatch):
    words = []
    monkeypatch.setattr(start, "started_processes", lambda: 2)
    monkeypatch.setattr(os, "execv", lambda program, command: words.append(command))
    monkeypatch.setattr(start, "solved", lambda *_: None)
    monkeypatch.setattr(start, "launch", lambda *_, **__: None)
    monkeypatch.setitem(os.environ, solve.GPUS, "")
    start.start(asked(rock), 2)
    assert words[0][1:4] == ["-m", "repro.parallel.ranks.rank_main", "repro.lbm.porous.solve"]
    assert Request(**json.loads(words[0][4])) == asked(rock)
    with pytest.raises(InputError, match="--ranks 3, but mpiexec has started 2: leave out --ranks"):
        start.start(asked(rock), 3)


def room_of(ranks: int, free: int, sharing: int = 1):
    """What is said of a rock on ranks with so much free memory."""
    device = PlainDevice()
    device.free_memory = lambda: free
    driven = Driven(PoreSpace(sphere_crystal(12, 0.8)), device, strategy="sparse")
    alone = Alone()
    several = SimpleNamespace(count=ranks, rank=0, gather=alone.gather)
    return capacity(driven, 4, several, sharing)


def test_what_each_rank_needs_is_said_and_how_many_would_do():
    needed = bytes_a_rank((12, 12, 12), PoreSpace(sphere_crystal(12, 0.8)).pores_across(), 1, "sparse", 4)
    assert room_of(1, needed).startswith("12 x 12 x 12 voxels, porosity")
    assert room_of(1, needed).endswith("KiB on one rank")
    with pytest.raises(MemoryLimitError, match=r"KiB on one rank, of which .* are free: use 2 ranks, 1 on a GPU$"):
        room_of(1, needed - 1)
    # two on a machine have half of its memory each
    with pytest.raises(MemoryLimitError, match=r"on each of 2 ranks, .* use \d ranks, 2 on a GPU$") as refused:
        room_of(2, needed, sharing=2)
    enough = int(str(refused.value).split("use ")[1].split()[0])
    assert f"on each of {enough} ranks" in room_of(enough, needed, sharing=2)
    with pytest.raises(MemoryLimitError, match="take a smaller piece"):
        room_of(1, 100)


def test_what_is_said_of_a_rank_is_what_its_flow_asks_for():
    space = PoreSpace(sphere_crystal(12, 0.8))
    driven = Driven(space, PlainDevice(), strategy="sparse")
    work = driven.stored.pores_across()

    def run(rank):
        driven = Driven(space, PlainDevice(), strategy="sparse", ranks=rank)
        return PorousFlow(driven._problem(driven.space, 1e-4), PlainDevice(), strategy="sparse", ranks=rank).memory

    for ranks in (1, 2, 4):
        expected = bytes_a_rank(space.shape, work, ranks, "sparse", 4)
        assert max(on_ranks(ranks, run)) == pytest.approx(expected, rel=0.1)


def test_what_is_said_of_ranks_that_have_slabs_is_of_slabs():
    """Sixteen planes of their own and two of others', where cubes would have a tenth less."""
    nodes, work = 18 * 1024**2, [np.full(1024, 1024**2)] * 3
    expected = bytes_needed(STRATEGIES["sparse"].COST, 4, nodes, nodes, 19)
    assert bytes_a_rank((1024,) * 3, work, 64, "sparse", 4) == expected


def test_progress_is_a_line_that_changes_on_a_terminal_and_else_one_a_minute(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(solve.time, "monotonic", lambda: now[0])
    monkeypatch.setenv(solve.TERMINAL, "1")
    ranks = SimpleNamespace(rank=0, count=2)
    on_terminal = Progress(ranks, 1e-6, 1e-5)
    on_terminal(None, 1, 1.0, [(10, 2.0)])
    on_terminal(None, 1, 1.0, [(10, 2.0), (20, 2.5)])
    on_terminal.close()
    first, second, _, last = capsys.readouterr().out.split("\r")[1:]
    assert (first, last) == ("step 10: k = 2026.5 mD", "")
    assert second == "step 20: k = 2533.1 mD, changed by 2.0e-01, until that is 1e-05"
    monkeypatch.setenv(solve.TERMINAL, "0")
    in_a_file = Progress(ranks, 1e-6, 1e-5)
    for now[0], lines in ((59, 0), (60, 1), (61, 0)):
        in_a_file(None, 1, 1.0, [(10, 2.0)])
        assert len(capsys.readouterr().out.splitlines()) == lines
    now[0] = 300
    Progress(SimpleNamespace(rank=1, count=2), 1e-6, 1e-5)(None, 1, 1.0, [(10, 2.0)])
    assert capsys.readouterr().out == ""


def test_ranks_of_a_machine_take_its_gpus_in_turn(monkeypatch):
    monkeypatch.setattr(solve, "select", lambda name: SimpleNamespace(name="cuda"))
    monkeypatch.setenv(solve.GPUS, "2")
    monkeypatch.setenv("MPI_LOCALNRANKS", "3")
    for rank, gpu in enumerate(("4", "7", "4")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
        monkeypatch.setenv("MPI_LOCALRANKID", str(rank))
        # asked again, as after the GPUs are connected, each keeps its own
        for _ in range(2):
            assert solve._device("auto")[1] == 2
            assert os.environ["CUDA_VISIBLE_DEVICES"] == gpu
    monkeypatch.setattr(solve, "select", select)
    assert solve._device("serial")[1] == 3


def test_help_names_the_options():
    assert "--ranks" in CliRunner().invoke(cli.app, ["solve", "--help"]).output
