"""The command line as a user meets it: exit statuses and one-line errors."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2]


def repro(workshop, *words) -> subprocess.CompletedProcess:
    environment = os.environ | {"REPRO_ROOT": str(workshop.project.root), "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-m", "repro", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "words",
    [("run", "god"), ("run", "-p", "x=1"), ("report",), ("publish",), ("status", "--profile", "no")],
    ids=" ".join,
)
def test_wrong_input_is_one_line_and_status_2(good, words):
    done = repro(good, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("repro: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("run", "--output"), ("report", "--output"), ("publish", "--from")], ids=" ".join)
def test_folder_that_cannot_be_used_is_one_line_and_status_2(good, words):
    file = good.project.root / "file"
    file.touch()
    for place in (file, Path("/proc")):
        done = repro(good, *words, str(place))
        assert done.returncode == 2
        assert done.stderr.startswith("repro: ")
        assert str(place) in done.stderr
        assert done.stderr.count("\n") == 1


def test_run_prints_the_scoreboard_and_tells_refusal_from_failure(good):
    good.add("toy/refused", "from repro.errors import InputError\nraise InputError('tau is 0.4')")
    good.add("toy/broken", "raise ValueError('two\\nlines')")
    good.add("toy/key", "{}['Re 400']")
    done = repro(good, "run", "good", "broken", "key", "--device", "serial", "--jobs", "2")
    assert done.returncode == 1
    for line in ("FAILED toy/broken: ValueError: two lines", "FAILED toy/key: KeyError: 'Re 400'"):
        assert f"{line} (cell" in done.stdout
        assert f"{line}\n" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "toy-001  reproduced" in done.stdout
    assert (good.project.build / "quick").is_dir()
    refused = repro(good, "run", "refused", "--device", "serial")
    assert refused.returncode == 2
    assert "repro: toy/refused: tau is 0.4\n" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_changed_parameters_leave_the_results_of_the_profile_alone(good):
    done = repro(good, "run", "--device", "serial", "-p", "value=0.5")
    assert ", toy/good with value=0.5\n" in done.stdout
    assert (good.project.build / "quick,value=0.5").is_dir()
    assert not (good.project.build / "quick").exists()


def test_list_names_every_notebook_quickly(good):
    start = time.perf_counter()
    done = repro(good, "list")
    assert time.perf_counter() - start < 5
    assert "toy/good  made up  [quick]" in done.stdout


def test_doctor_examines_and_says_what_to_do(good):
    done = repro(good, "doctor")
    assert done.returncode == 0, done.stdout
    assert "processor" in done.stdout
