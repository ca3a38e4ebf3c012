"""The command line as a user meets it: exit statuses and one-line errors."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from helpers.workshop import GOOD, forge

from repro import cli
from repro.errors import InputError
from repro.study.keep import provenance
from repro.study.run import doctor, runner
from repro.study.run.doctor import examine
from repro.study.run.runner import Outcome

PACKAGE = Path(__file__).resolve().parents[2]
CLAIMS = {"toy-001": {"measured": 0.5541}}


class Done(NamedTuple):
    """What a command has said."""

    returncode: int
    stdout: str
    stderr: str


def started(workshop, *words) -> subprocess.CompletedProcess:
    """A command in a process of its own."""
    environment = os.environ | {"REPRO_ROOT": str(workshop.project.root), "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-m", "repro", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def repro(good, monkeypatch, capsys):
    """repro(*words): a command in this process, which has imported all it needs."""

    def call(*words) -> Done:
        monkeypatch.setattr(sys, "argv", ["repro", *words])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture
def published(good, repro):
    """A clean checkout that has published a run of toy/good."""
    good.catalogue.write_text("")
    good.add("toy/good", GOOD, entry="profiles = { quick = {}, paper = {} }")
    good.commit()
    good.finish("toy/good", CLAIMS, profile="paper")
    assert repro("publish").stdout == "3 files published\n"
    return good


@pytest.mark.parametrize(
    "words",
    [
        ("run", "god"),
        ("run", "-p", "x=1"),
        ("run", "--output", ""),
        ("report",),
        ("publish",),
        ("status", "--profile", "no"),
        ("manifest",),
    ],
    ids=" ".join,
)
def test_wrong_input_is_one_line_and_status_2(repro, words):
    done = repro(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("repro: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("frob",), "No such command 'frob'; see python -m repro --help"),
        (("run", "--nope"), "No such option: --nope; see python -m repro run --help"),
        (("run", "--jobs"), "Option '--jobs' requires an argument; see python -m repro"),
        (("run", "--jobs", "x"), "Invalid value for '--jobs': Input should be a valid integer"),
        (("run", "--timeout", "soon"), ", not 'soon'; see python -m repro run --help"),
        (("report", "a", "b"), "Got unexpected extra argument"),
    ],
    ids=str,
)
def test_wrong_command_line_is_one_line_and_status_2(repro, words, said):
    done = repro(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("repro: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_without_a_command_there_is_help_and_status_2(repro):
    done = repro()
    assert done.returncode == 2
    assert "Usage: python -m repro" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("words", [("run", "--output"), ("report", "--output"), ("publish", "--from")], ids=" ".join)
def test_folder_that_cannot_be_used_is_one_line_and_status_2(good, repro, words):
    file = good.project.root / "file"
    file.touch()
    for place in (file, Path("/proc")):
        done = repro(*words, str(place))
        assert done.returncode == 2
        assert done.stderr.startswith("repro: ")
        assert str(place) in done.stderr
        assert done.stderr.count("\n") == 1


def test_run_prints_the_scoreboard_and_what_failed(good):
    good.add("toy/broken", "raise ValueError('two\\nlines')")
    done = started(good, "run", "good", "broken", "--device", "serial", "--jobs", "2")
    assert done.returncode == 1
    assert "FAILED toy/broken: ValueError: two lines (cell" in done.stdout
    assert "FAILED toy/broken: ValueError: two lines\n" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert re.search("toy-001 +reproduced", done.stdout)
    assert (good.project.build / "quick").is_dir()


def test_run_of_one_notebook_ends_with_its_headline_and_shows_no_other(good, repro):
    good.add("toy/rock", 'open_record("toy/rock", parameters=globals(), claims=["toy-003"])')
    good.finish("toy/good", CLAIMS)
    path = good.finish("toy/rock", {"toy-003": {"measured": 0.1}}, changed=("value=3.5",))
    forge(path, headlines=["k = 3.5 millidarcy"])
    done = repro("run", "rock", "--device", "serial", "-p", "value=3.5", "--output", str(good.folder()))
    assert done.returncode == 0, done.stderr
    assert "toy/rock: up to date" in done.stderr
    assert done.stdout.endswith("\ntoy/rock: k = 3.5 millidarcy\n")
    assert "toy-003  " in done.stdout
    assert "toy/good" not in done.stdout
    assert "toy-001" not in done.stdout


def test_summary_is_shown_where_the_pages_cannot_be_made(good, repro, monkeypatch):
    good.finish("toy/good", CLAIMS)
    monkeypatch.setitem(sys.modules, "nbconvert", None)
    done = repro("report", "--output", str(good.folder()))
    assert "toy-001" in done.stdout
    assert "nbconvert is not installed" in done.stderr
    assert "Traceback" not in done.stderr


def test_refusal_is_one_line_and_status_2(repro, monkeypatch):
    refusal = {"status": "refused", "error": "InputError", "message": "tau is 0.4", "seconds": 0.1}
    monkeypatch.setattr("repro.study.run.runner.run_job", lambda job: refusal)
    done = repro("run", "--device", "serial")
    assert done.returncode == 2
    assert "repro: toy/good: tau is 0.4\n" in done.stderr
    assert done.stdout == ""


def test_status_says_what_changed_since_each_result(good, repro):
    good.finish("toy/good", CLAIMS)
    request = ("status", "--device", "serial", "--output", str(good.folder()))
    assert repro(*request).stdout == "toy/good: up to date\n"
    good.write("toy/good", GOOD + "    more = 1")
    assert repro(*request).stdout == "toy/good: out of date: notebooks/toy/good.ipynb changed\n"
    (good.folder() / "toy/good.ipynb").unlink()
    assert repro(*request).stdout == "toy/good: not finished: toy/good.ipynb is missing\n"


def test_status_before_any_run(repro, tmp_path):
    assert repro("status", "--device", "serial").stdout == "toy/good: not run\n"


def test_report_is_silent_about_what_is_published_as_it_was_made(published, repro):
    done = repro("report", "--profile", "paper")
    assert re.search("toy-001 +reproduced", done.stdout)
    assert "PUBLISHED" not in done.stdout


def test_a_run_whose_scoreboard_cannot_be_written_fails(good, repro, monkeypatch):
    folder = good.finish("toy/good", CLAIMS).parent.parent
    monkeypatch.setattr(runner, "run_plan", lambda plan, **_: [Outcome("toy/good", "up to date")])
    (folder / "scoreboard.html").mkdir()
    done = repro("run", "toy/good", "--device", "serial", "--output", str(folder))
    assert done.returncode == 2
    assert re.search(r"repro: .*scoreboard.html: cannot be written: it is a folder", done.stderr)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("figures/toy-good-a.png", "figures/toy-good-a.png is not what the run made"),
        ("notebooks/rendered/toy/good.ipynb", "toy/good.ipynb is not what the run made"),
        ("data/measured/machine/toy/good.json", "good.json was edited after the run"),
    ],
)
def test_report_names_published_files_that_were_edited(published, repro, name, line):
    with open(published.project.root / name, "a") as file:
        file.write(" ")
    done = repro("report", "--profile", "paper")
    assert f"\nPUBLISHED toy/good: {line}\n" in done.stdout


def test_publish_renews_the_text_of_what_is_published_or_says_what_it_takes(published, repro):
    assert repro("publish", "--text").stdout == "the text of 0 published notebooks renewed\n"
    done = repro("publish", "--text", "--beside")
    assert done.stderr == "repro: --text renews what is published: it takes neither --from nor --beside\n"
    assert done.returncode == 2


def test_report_names_a_published_number_that_was_edited(published, repro):
    path = published.project.data / "measured/machine/toy/good.json"
    path.write_text(path.read_text().replace("0.5541", "0.5543"))
    assert "\nPUBLISHED toy/good: good.json was edited after the run\n" in repro("report").stdout


def test_report_names_what_was_edited_also_where_there_is_no_run(published, repro):
    shutil.rmtree(published.project.build)
    with open(published.project.root / "figures/toy-good-a.png", "a") as file:
        file.write(" ")
    done = repro("report")
    assert done.returncode == 2
    assert done.stdout == "PUBLISHED toy/good: figures/toy-good-a.png is not what the run made\n"


def test_status_of_what_is_published_counts_what_cannot_stand(published, repro):
    done = repro("status", "--published")
    assert done.stdout == "toy/good: up to date\n0 of 1 published results are not those of the sources at hand\n"
    published.write("toy/good", GOOD + "    more = 1")
    done = repro("status", "--published")
    assert done.stdout.startswith("toy/good: out of date: notebooks/toy/good.ipynb changed\n1 of 1 ")


@pytest.mark.parametrize("name", ["data/measured/machine/toy/good.json", "notebooks/rendered/toy/good.ipynb"])
@pytest.mark.parametrize("left", [0, 99], ids=["gone", "cut"])
def test_a_report_of_what_is_not_whole_replaces_nothing_and_fails(published, repro, name, left):
    published.add("toy/other", "pass", entry="profiles = { paper = {} }")
    published.commit()
    published.finish("toy/other", profile="paper", figures=())
    repro("publish")
    assert repro("report", "--published").returncode == 0
    report, harmed = published.project.root / "REPORT.md", published.project.root / name
    report.write_text("as it was")
    content = harmed.read_bytes()[:left]
    harmed.unlink()
    if content:
        harmed.write_bytes(content)
    done = repro("report", "--published")
    assert done.returncode == 1
    assert "PUBLISHED toy/good: " in done.stdout
    assert report.read_text() == "as it was"


def test_manifest_is_written_and_named(good, repro):
    commit = good.commit()
    assert repro("manifest").stdout == f"{provenance.manifest_file(good.project.root)}\n"
    (good.project.root / ".git").rename(good.project.root / "apart")
    assert provenance.commit(good.project.root) == {"commit": commit, "dirty": False}


def test_list_names_every_notebook_quickly(good):
    start = time.perf_counter()
    done = started(good, "list")
    assert time.perf_counter() - start < 5
    assert "toy/good  made up\n" in done.stdout
    assert "Profiles are quick where no others are named" in done.stdout


def test_list_names_what_a_parameter_is_in_each_profile_and_what_it_can_be(good, repro):
    entry = "limits = { nodes = { least = 8, most = 64, multiple = 4 }, lid = { one_of = ['on', 'half way'] } }\n"
    entry += "profiles = { smoke = { nodes = 8, grids = [8] }, quick = {} }"
    good.add("toy/more", "pass", 'nodes = 32\nlid = "on"\ngrids = [8, 16]\ndevice = "auto"', entry)
    said = repro("list", "more").stdout
    assert "toy/more: made up; profiles smoke, quick\n" in said
    assert "  nodes = 8 (smoke), 32 (quick); from 8 to 64; a multiple of 4\n  lid = on; one of on, 'half way'\n" in said
    assert said.endswith("  grids = [8] (smoke), [8, 16] (quick)\n")
    assert repro("list", "mre").returncode == 2


@pytest.mark.parametrize("words", [
    ("run", "good", "--profile", "quick", "--profile", "paper"), ("status", "--device=serial", "--device", "serial"),
])  # fmt: skip
def test_an_option_that_is_given_twice_is_refused_and_a_parameter_is_not(repro, words):
    done = repro(*words)
    option = words[-2]
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"repro: {option} is given 2 times: give it once; see python -m repro {words[0]} --help\n"
    assert "unknown parameter 'a'" in repro("run", "-p", "a=1", "-p", "b=2").stderr


def test_a_file_that_is_not_there_is_refused_before_a_kernel_starts(good, repro, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (good.project.data / "rock.toml").write_text("pore = 0")
    good.add("toy/rock", "1 / 0", 'sample = "data/rock.toml"\nname = "a.b"')
    missing = repro("run", "rock", "-p", "sample=mine.toml")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "repro: toy/rock: sample = 'mine.toml': there is no such file\n"
    (tmp_path / "mine.toml").write_text('image = "slices.tif"\ndtype = "uint8"\nvoxel_size = 1.5')
    image = repro("run", "rock", "-p", "sample=mine.toml", "-p", "name=c.d")
    assert image.stderr == "repro: mine.toml: image = 'slices.tif': no such file or folder beside mine.toml\n"
    (tmp_path / "mine.toml").write_text("image = ")
    assert "mine.toml: not a TOML file" in repro("run", "rock", "-p", "sample=mine.toml").stderr


def test_doctor_examines_and_says_what_to_do(repro):
    done = repro("doctor")
    assert done.returncode == 0, done.stdout
    assert "processor" in done.stdout


@pytest.mark.parametrize(("well", "status"), [(True, 0), (False, 1)])
def test_doctor_fails_if_one_look_is_not_well(repro, monkeypatch, well, status):
    looks = [doctor.Check("disk", well, "half full"), doctor.Check("memory", True, "9 GiB free")]
    monkeypatch.setattr(doctor, "examine", lambda: iter(looks))
    done = repro("doctor")
    first = "ok       disk: half full" if well else "WARNING  disk: half full"
    assert (done.returncode, done.stdout) == (status, f"{first}\nok       memory: 9 GiB free\n")


@pytest.mark.parametrize(("free", "ok", "said"), [
    (32.0, True, "32.0 GiB free"),
    (31.9, True, "31.9 GiB free; with less than 32 the paper profile leaves the largest grids out"),
    (4.0, True, "4.0 GiB free; with less than 32 the paper profile leaves the largest grids out"),
    (3.9, False, "3.9 GiB free: runs want 4, close other programs"),
])  # fmt: skip
def test_doctor_says_what_the_free_memory_is_enough_for(monkeypatch, free, ok, said):
    memory = SimpleNamespace(available=free * 2**30, total=2**40)
    monkeypatch.setattr(doctor.psutil, "virtual_memory", lambda: memory)
    (found,) = [check for check in examine() if check.name == "memory"]
    assert (found.ok, found.text) == (ok, said)


@pytest.mark.parametrize(("packages", "ok", "said", "toolkit"), [
    ({"cupy-cuda13x": "14.0", "numba-cuda": "0.23", "cuda-toolkit": "13.0"}, True, "cupy-cuda13x 14.0", "13.0"),
    ({"cupy-cuda12x": "13.6"}, False, "cupy-cuda12x 13.6", "from the system"),
    ({"numba-cuda": "0.23"}, False, "CuPy is missing: pip install", "from the system"),
])  # fmt: skip
def test_doctor_says_of_a_gpu_which_packages_it_has_and_lacks(monkeypatch, packages, ok, said, toolkit):
    card = {"name": "NVIDIA H100", "memory": "80 GiB", "driver": "570"}
    monkeypatch.setattr(doctor.provenance, "gpu", lambda: card)
    found = list(doctor._gpu(packages))
    assert [(check.name, check.ok) for check in found] == [("gpu", True), ("gpu packages", ok), ("cuda toolkit", True)]
    assert found[0].text == "NVIDIA H100, 80 GiB, driver 570"
    assert found[1].text.startswith(said)
    assert found[2].text.startswith(toolkit)


@pytest.mark.parametrize(("statuses", "shown", "code"), [
    (("done", "up to date"), True, 0),
    (("not in this profile",), True, 0),
    (("done", "failed"), True, 1),
    (("failed", "refused"), True, 2),
    (("done",), False, 2),
    (("failed",), False, 1),
])  # fmt: skip
def test_the_exit_status_of_a_run_is_that_of_what_went_wrong(repro, monkeypatch, statuses, shown, code):
    """2 if the request could not work or the page not be written, 1 if a notebook failed and is shown."""
    ended = [Outcome(f"toy/{k}", status, message="why") for k, status in enumerate(statuses)]
    monkeypatch.setattr(runner, "run_plan", lambda plan, **_: ended)

    def show(*given, **more):
        if not shown:
            raise InputError("no room")

    monkeypatch.setattr(cli, "_show", show)
    done = repro("run", "--device", "serial")
    assert done.returncode == code
    lines = {"refused": "repro: toy/{}: why\n", "not in this profile": "toy/{} has no such profile and was left out\n"}
    said = "" if shown else "repro: no room\n"
    assert done.stderr == said + "".join(lines.get(status, "").format(k) for k, status in enumerate(statuses))


def test_status_names_what_is_not_in_the_profile(good, repro):
    good.add("toy/large", "pass", entry="profiles = { paper = {} }")
    done = repro("status", "--device", "serial")
    assert done.stdout == "toy/good: not run\ntoy/large: not in this profile\n"


def test_what_is_published_has_neither_profile_nor_folder(repro):
    done = repro("report", "--published", "--profile", "paper")
    said = "repro: --published takes what is in data/measured: leave out --profile and --output\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_doctor_says_that_a_version_of_numba_keeps_no_kernels(monkeypatch):
    monkeypatch.setattr(doctor.provenance, "versions", lambda: {"python": "3.12", "numba": "0.69.0"})
    (found,) = [check for check in examine() if check.name == "numba"]
    assert not found.ok
    assert "every start compiles its kernels anew (pip install 'numba==0.68.*')" in found.text


def test_doctor_names_threads_that_numba_cannot_have(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")
    with pytest.raises(InputError, match="^NUMBA_NUM_THREADS = '0': must be a whole number from 1 to"):
        doctor._compiler()


def test_doctor_says_what_to_install_where_the_compiler_does_not_load(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    (found,) = [check for check in examine() if check.name == "compiler"]
    assert not found.ok
    assert found.text.endswith("pip install -e '.[cpu]'")
