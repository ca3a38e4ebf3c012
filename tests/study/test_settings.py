"""A user's settings, and a machine's file systems, reach no result in silence."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.workshop import run

from repro import files
from repro.environment import NUMBA_FILE, OWN, Fate, counted, fate, own_environment
from repro.errors import InputError
from repro.exclusive_timing import VARIABLE, exclusive_timing, no_measuring, wake
from repro.files import Lock, lock
from repro.study.keep import provenance
from repro.study.notebooks import Project
from repro.study.run import doctor, execute, runner
from repro.study.run.doctor import examine
from repro.study.run.plan import job_for
from repro.study.run.runner import running
from repro.study.show.html import convert, is_whole

ROOT = Path(__file__).resolve().parents[2]

#: what a notebook finds where a user has set everything that could change it
UNTOUCHED = """
import locale, os, sys
import matplotlib
assert sys.executable == {python!r}
assert "started" not in globals()
assert get_ipython().ast_node_interactivity == "last_expr"
assert not matplotlib.rcParams["text.usetex"] and matplotlib.rcParams["font.size"] == 10
assert os.environ["MPLBACKEND"].endswith("inline")
assert not any(name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR" for name in os.environ)
assert sys.flags.optimize == 0 and sys.flags.hash_randomization == 0 and not sys.warnoptions
assert "" not in sys.path and os.getcwd() not in sys.path
assert locale.localeconv()["decimal_point"] == "."
try:
    assert False
except AssertionError:
    pass
else:
    raise RuntimeError("assertions are skipped")
"""


@pytest.fixture
def settings(tmp_path_factory, monkeypatch):
    """A user who has set what can be set; the folder of the files."""
    home = tmp_path_factory.mktemp("home")
    kernel, profile = home / "jupyter/kernels/python3", home / "ipython/profile_default"
    for folder in (kernel, profile / "startup"):
        folder.mkdir(parents=True)
    wrong = {"argv": ["/nowhere/python", "-f", "{connection_file}"], "display_name": "x", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(wrong))
    (profile / "ipython_config.py").write_text('c.InteractiveShell.ast_node_interactivity = "all"')
    (profile / "ipython_kernel_config.py").write_text('c.IPKernelApp.matplotlib = "qt"')
    (profile / "startup/00.py").write_text("started = True")
    (home / "startup.py").write_text("started = True")
    (home / "matplotlibrc").write_text("text.usetex: True\nfont.size: 30\n")
    values = {
        "JUPYTER_PATH": home / "jupyter",
        "IPYTHONDIR": home / "ipython",
        "PYTHONSTARTUP": home / "startup.py",
        "MATPLOTLIBRC": home / "matplotlibrc",
        "MPLBACKEND": "template",
        "NUMBA_THREADING_LAYER": "tbb",
        "NUMBA_DISABLE_JIT": 1,
        "NUMBA_OPT": 0,
        "PYTHONOPTIMIZE": 1,
        "PYTHONHASHSEED": "random",
        "PYTHONWARNINGS": "error",
        "LC_ALL": "de_DE.UTF-8",
        "TZ": "Asia/Tokyo",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, str(value))
    return home


def test_settings_of_a_user_reach_no_notebook(workshop, settings):
    workshop.add("toy/a", UNTOUCHED.format(python=sys.executable))
    outcomes = run(project=workshop.project, output=workshop.project.build / "run", device="serial")
    assert [(o.status, o.message) for o in outcomes] == [("done", "")]


def test_the_doctor_names_the_settings_that_it_leaves_aside_and_those_that_count(settings, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    lines = [check.text for check in examine() if check.name == "environment"]
    for name in ("NUMBA_OPT", "MATPLOTLIBRC", "kernels/python3/kernel.json", "ipython_config.py", "startup/00.py"):
        assert name in lines[0]
    assert "OMP_NUM_THREADS" in lines[1]


@pytest.mark.parametrize(
    ("name", "kind"),
    {
        "NUMBA_ENABLE_CUDASIM": Fate.DROPPED,
        "NUMBA_BOUNDSCHECK": Fate.DROPPED,
        "NUMBA_NUM_THREADS": Fate.FREE,
        "NUMBA_CACHE_DIR": Fate.FREE,
        "PYTHONOPTIMIZE": Fate.DROPPED,
        "PYTHONPATH": Fate.COUNTED,
        "LC_NUMERIC": Fate.DROPPED,
        "CUPY_TF32": Fate.DROPPED,
        "OPENBLAS_CORETYPE": Fate.COUNTED,
        "HDF5_USE_FILE_LOCKING": Fate.FREE,
        "HOME": Fate.FREE,
    }.items(),
)
def test_every_kind_of_variable_has_its_fate(name, kind):
    given = {name: "something"}
    there = own_environment(given, Path("/settings"), Path("/caches"))
    assert fate(name) is kind
    assert (there.get(name) == "something") == (kind is not Fate.DROPPED and name != "PYTHONPATH")
    assert (name in counted(given)) == (kind is Fate.COUNTED)
    assert there.items() >= OWN.items()


def test_the_path_of_this_package_is_no_setting_and_a_path_is_no_part_of_a_result():
    assert counted({"PYTHONPATH": f"{ROOT}:{ROOT}/"}) == {}
    assert "/" not in counted({"PYTHONPATH": f"{ROOT}:/somewhere"})["PYTHONPATH"]


def test_settings_of_the_compiler_beside_a_notebook_are_refused(good):
    (good.project.notebooks / "toy" / NUMBA_FILE).write_text("opt: 0")
    with pytest.raises(InputError, match="would change how kernels are compiled: move it away"):
        run(project=good.project, device="serial")


def test_a_worker_with_other_packages_makes_no_result(good, tmp_path, monkeypatch):
    job = job_for(good.plan("toy/good"), *good.plan("toy/good").books)
    job["depends"]["versions"]["numpy"] = "1.0"
    with runner._folder(good.folder()):
        result = execute.run_job(job)
    assert result["status"] == "failed"
    assert "numpy was 1.0 and is" in result["message"]


@pytest.fixture(params=[errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL])
def no_locks(request, monkeypatch):
    """A file system that answers every wish for a lock with an error."""

    def flock(file, kind):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", flock)


def test_only_a_lock_of_another_is_taken(tmp_path):
    with open(tmp_path / "a", "a+") as first, open(tmp_path / "a", "a+") as second:
        assert lock(first) is Lock.HELD
        assert lock(second, wait=False) is lock(second, shared=True, wait=False) is Lock.TAKEN


def test_a_run_goes_on_without_locks_and_says_so(workshop, no_locks, capsys, monkeypatch):
    monkeypatch.setattr("repro.study.run.runner.run_job", lambda job: {"status": "done", "seconds": 1.0})
    for name in ("toy/a", "toy/b"):
        workshop.add(name, "pass")
    folder = workshop.project.build / "run"
    outcomes = run(project=workshop.project, output=folder, device="serial", jobs=2)
    assert [outcome.status for outcome in outcomes] == ["done", "done"]
    assert f"the file system of {folder} has no locks: one notebook runs at a time" in capsys.readouterr().err
    assert running(folder) == {}
    assert [check.ok for check in examine(workshop.project) if check.name == "results"] == [False]


def test_speed_is_measured_without_locks(no_locks, tmp_path, monkeypatch):
    quiet = str(tmp_path / "quiet")
    monkeypatch.setenv(VARIABLE, quiet)
    done = []
    with exclusive_timing():
        done.append("measured")
    with no_measuring(quiet):
        done.append("began")
    wake(quiet)
    assert done == ["measured", "began"]


@pytest.fixture
def unwritable(tmp_path, monkeypatch):
    """A place for compiled kernels that is none, and an empty folder for temporary files."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file/cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for kept in (files._usable, files._private):
        kept.cache_clear()
    yield tmp_path / "temporary" / f"gpu-papers-repro-{os.getuid()}"
    for kept in (files._usable, files._private):
        kept.cache_clear()


def test_what_stands_in_for_the_cache_lets_nobody_else_in(unwritable):
    assert files.cache_folder() == unwritable
    assert stat.S_IMODE(unwritable.stat().st_mode) == 0o700
    assert [check.ok for check in examine() if check.name == "compiled kernels"] == [False]


@pytest.mark.parametrize("taken", ["open", "link", "file", "another's"])
def test_no_code_is_taken_from_a_folder_that_another_may_have_made(unwritable, tmp_path, taken, monkeypatch):
    if taken == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        unwritable.symlink_to(tmp_path / "elsewhere")
    elif taken == "file":
        unwritable.touch(mode=0o600)
    else:
        unwritable.mkdir(mode=0o700)
        unwritable.chmod(0o777 if taken == "open" else 0o700)
    if taken == "another's":
        mine = os.getuid()
        # the name is known before, the owner is asked after
        monkeypatch.setattr(files.os, "getuid", iter([mine, mine + 1]).__next__)
    found = files.cache_folder()
    assert found != unwritable
    assert found.parent == unwritable.parent
    assert stat.S_IMODE(found.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["", "kernels-1"], ids=["folder", "kernels"])
@pytest.mark.parametrize("taken", ["open", "another's"])
def test_no_kernel_is_kept_where_another_may_write_and_the_doctor_says_so(
    unwritable, tmp_path, taken, name, monkeypatch
):
    wanted = tmp_path / "wanted"
    (wanted / name).mkdir(parents=True)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(wanted))
    assert files.cache_folder("kernels-2") == wanted / "kernels-2"
    assert doctor._caches() == f"{wanted} is writable"
    (wanted / name).chmod(0o777 if taken == "open" else 0o755)
    if taken == "another's":
        facts = files.Path.stat
        other = SimpleNamespace(st_uid=os.getuid() + 1, st_mode=stat.S_IFDIR | 0o755)
        monkeypatch.setattr(files.Path, "stat", lambda path, **k: other if path == wanted / name else facts(path, **k))
    files._usable.cache_clear()
    assert files.cache_folder("kernels-1") == unwritable / "kernels-1"
    why = "everybody may write to it" if taken == "open" else "it belongs to another user"
    with pytest.raises(InputError, match=f"^{wanted / name} is not used, {why}: remove it"):
        doctor._caches()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_toml_is_read_with_and_without_the_mark_of_an_editor(tmp_path, mark):
    (tmp_path / "a.toml").write_bytes(mark + b"x = 1\r\n")
    assert files.read_toml(tmp_path / "a.toml") == {"x": 1}


def test_outside_of_a_checkout_the_doctor_says_how_to_name_one_and_leaves_nothing(tmp_path):
    (found,) = [check for check in examine(Project(tmp_path)) if check.name == "catalogue"]
    assert not found.ok
    assert "REPRO_ROOT=PATH" in found.text
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_leaves_no_folder_in_a_checkout(good):
    before = {path.name for path in good.project.root.iterdir()}
    assert all(check.ok for check in examine(good.project) if check.name in ("results", "line ends"))
    assert {path.name for path in good.project.root.iterdir()} == before
    good.catalogue.write_bytes(good.catalogue.read_bytes().replace(b"\n", b"\r\n"))
    assert [check.ok for check in examine(good.project) if check.name == "line ends"] == [False]


def test_a_clone_has_every_byte_whatever_git_does_with_line_ends(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path / "a"), *words], check=True, capture_output=True)

    (tmp_path / "a").mkdir()
    content = b"one\nand\r\ntwo\n"
    (tmp_path / "a/file.json").write_bytes(content)
    (tmp_path / "a/.gitattributes").write_bytes((ROOT / ".gitattributes").read_bytes())
    git("init")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a", "commit", "-m", "a")
    git("clone", "-c", "core.autocrlf=true", ".", str(tmp_path / "b"))
    assert (tmp_path / "b/file.json").read_bytes() == content


def test_a_damaged_page_is_noticed_and_made_anew(good):
    good.finish("toy/good", {"toy-001": {"measured": 0.55}})
    page = convert(good.folder() / "toy/good.ipynb")
    whole = page.read_bytes()
    assert is_whole(page)
    for damage in (b"", whole[: len(whole) // 2], whole.replace(b"toy-001", b"toy-009", 1), whole + b"<b>"):
        page.write_bytes(damage)
        assert not is_whole(page)
        assert convert(good.folder() / "toy/good.ipynb").read_bytes() == whole


def test_templates_of_a_user_change_no_page(good, tmp_path_factory, monkeypatch):
    here = tmp_path_factory.mktemp("here")
    (here / "lab").mkdir()
    (here / "lab/index.html.j2").write_text("another page")
    monkeypatch.chdir(here)
    good.finish("toy/good", {"toy-001": {"measured": 0.55}})
    assert "another page" not in convert(good.folder() / "toy/good.ipynb").read_text()


@pytest.mark.parametrize(
    ("visible", "card"), {"": "0", "3": "3", "2,0": "2", "GPU-1a-2b": "GPU-1a-2b", "MIG-7": "0", "-1": "0"}.items()
)
def test_a_result_names_the_gpu_that_the_user_has_chosen(tmp_path, monkeypatch, visible, card):
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\nfor last; do :; done\necho "card $last, 1 MiB, 580"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert provenance.gpu.__wrapped__() == {"name": f"card --id={card}", "memory": "1 MiB", "driver": "580"}


@pytest.mark.parametrize(
    "says", ["exit 9", "echo 'a card, 1 MiB, 580'; exit 9", "echo", "echo 'No devices were found'"]
)
def test_where_the_drivers_program_names_no_card_there_is_no_gpu(tmp_path, monkeypatch, says):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert provenance.gpu.__wrapped__() == {}
    program.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.gpu.__wrapped__() == {}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Intel(R) Xeon(R) Platinum 8468 CPU @ 2.10GHz", "intel-xeon-platinum-8468-7-cores"),
        ("AMD EPYC 9654 96-Core Processor", "amd-epyc-9654-7-cores"),
    ],
)
def test_a_machine_is_called_after_its_processor_and_cores_or_its_gpu(monkeypatch, model, name):
    monkeypatch.setattr(provenance, "cpu_model", lambda: model)
    monkeypatch.setattr(provenance, "cores", lambda: 7)
    assert provenance.machine_name("threads") == provenance.machine_name("serial") == name
    for gpu, called in (({"name": "NVIDIA H100 80GB HBM3"}, "nvidia-h100-80gb-hbm3"), ({}, "cuda-gpu")):
        monkeypatch.setattr(provenance, "gpu", lambda gpu=gpu: gpu)
        assert provenance.machine_name("cuda") == called


def test_what_is_kept_of_the_machine_is_its_processor_its_memory_and_its_gpu(monkeypatch, good):
    commit = good.commit()
    monkeypatch.setattr(provenance, "cpu_model", lambda: "a processor")
    monkeypatch.setattr(provenance, "cores", lambda: 7)
    monkeypatch.setattr(provenance, "gpu", lambda: {"name": "a card"})
    monkeypatch.setattr(provenance, "versions", lambda: {"python": "3.12"})
    monkeypatch.setattr(provenance.psutil, "virtual_memory", lambda: SimpleNamespace(total=31.26 * 2**30, available=1))
    found = provenance.collect(good.project.root)
    assert found.pop("os").startswith(os.uname().sysname)
    about = {"cpu": "a processor", "cores": 7, "memory_gib": 31.3, "gpu": {"name": "a card"}}
    assert found == {"commit": commit, "dirty": False, "versions": {"python": "3.12"}} | about
