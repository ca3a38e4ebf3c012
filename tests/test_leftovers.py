"""What killed processes leave outside the folder of a run goes at the next start; what lives is not touched."""

import json
import mmap
import os
import stat
import tempfile
import time

import pytest
from helpers.workshop import GOOD, Workshop, run

from repro import leftovers
from repro.leftovers import FRESH, private_folder, sweep_shared_memory

OPENED = """
import json, pathlib, psutil
from ipykernel.connect import get_connection_file
file = pathlib.Path(get_connection_file())
heard = [c.laddr.ip for p in (psutil.Process(), *psutil.Process().parents()[:2])
         for c in p.net_connections() if c.status == "LISTEN"]
pathlib.Path("opened").write_text(json.dumps([str(file), file.stat().st_mode, heard]))
"""


def age(path, seconds: float = 2 * FRESH):
    os.utime(path, (time.time() - seconds, time.time() - seconds))
    return path


def made(folder):
    folder.mkdir()
    return age(folder)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_private_folder_is_gone_at_the_end_and_takes_along_only_what_nobody_holds(place):
    left = made(place / f"{leftovers.PREFIX}left")
    other = made(place / "other")
    with private_folder() as lives:
        (lives / "kernel.json").touch()
        age(lives)
        with private_folder() as second:
            assert not left.exists()
            assert lives.exists()
            assert other.exists()
            assert second.exists()
    assert list(place.iterdir()) == [other]


def test_private_folders_of_other_users_stay(place, monkeypatch):
    left = made(place / f"{leftovers.PREFIX}left")
    monkeypatch.setattr(os, "geteuid", lambda: left.lstat().st_uid + 1)
    with private_folder():
        assert left.exists()


@pytest.mark.skipif(not leftovers.SHARED.is_dir(), reason="shared memory lies elsewhere")
def test_shared_memory_of_ranks_goes_unless_a_living_process_has_mapped_it(monkeypatch):
    names = [f"mpich_shm_test{os.getpid()}_{name}" for name in ("left", "lives")]
    left, lives = (leftovers.SHARED / name for name in names)
    # only its own: those of other programs are none of a test's business
    monkeypatch.setattr(leftovers, "RANKS", (f"mpich_shm_test{os.getpid()}_*",))
    for file in (left, lives):
        file.write_bytes(bytes(mmap.PAGESIZE))
        age(file)
    with open(lives, "r+b") as file, mmap.mmap(file.fileno(), 0):
        sweep_shared_memory()
        assert (left.exists(), lives.exists()) == (False, True)
    sweep_shared_memory()
    assert not lives.exists()


def test_a_kernel_listens_to_this_machine_only_and_nobody_else_reads_its_key(tmp_path):
    workshop = Workshop(tmp_path)
    workshop.add("toy/good", GOOD)
    workshop.add("toy/opened", OPENED)
    assert {outcome.status for outcome in run(["toy/opened"], project=workshop.project)} == {"done"}
    file, mode, heard = json.loads((workshop.project.notebooks / "toy/opened").read_text())
    assert stat.S_IMODE(mode) == 0o600
    assert set(heard) == {"127.0.0.1"}
    assert leftovers.PREFIX in file
    assert not os.path.exists(os.path.dirname(file))
