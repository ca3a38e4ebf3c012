"""What ncu prints is read launch by launch; without it one line says what is missing."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.plain import PlainDevice

from repro.sph.strategies import STRATEGIES

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
counters = importlib.import_module("counters")

HEAD = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'


def test_counters_are_those_of_each_launch_and_other_lines_are_passed_over():
    lines = ["ITEMS 751325.0", "==PROF== Profiling", HEAD]
    lines += ['"0","repro::sums::row(long, float)","gpu__time_duration.sum","ns","1,205,184"']
    lines += ['"0","repro::sums::row(long, float)","launch__registers_per_thread","register/thread","77"']
    lines += ['"1","other[abi:v1]","gpu__time_duration.sum","ns","96"']
    assert counters.kernels_of(lines) == [
        {"name": "row", "ns": 1205184.0, "registers": 77.0},
        {"name": "other", "ns": 96.0},
    ]
    assert counters.kernels_of(["nothing of a profiler"]) == []


#: a profiler that has counters for all sizes but those of 30
FAKE = """#!/bin/sh
echo "$@" >> "$0.log"
case "$*" in *"--size 30 "*) echo "==ERROR== no permission"; exit 3 ;; esac
echo "CARD made up, 1 GiB"
echo "ITEMS 50"
echo '"ID","Kernel Name","Metric Name","Metric Value"'
for id in 0 1 2; do
  for name in $(echo "$@" | sed 's/.*--metrics \\([^ ]*\\).*/\\1/; s/,/ /g'); do
    echo "\\"$id\\",\\"kernel\\",\\"$name\\",\\"${id}0\\""
  done
done
"""


def profiled(tmp_path, *words) -> subprocess.CompletedProcess:
    """The tool with such a profiler."""
    fake = tmp_path / "ncu"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    own = [sys.executable, ROOT / "tools/counters.py", *words]
    return subprocess.run(own, env={"PATH": path}, capture_output=True, text=True, check=False)


def test_several_sizes_are_counted_in_one_call_each_with_its_card_and_size(tmp_path):
    found = profiled(tmp_path, "SPH, linked list", "--size", "44", "44", "52", "--size", "200")
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        f"made up, 1 GiB: SPH, linked list, {size}, 50 pairs: 1.5 kernels and 0.0 us a step"
        for size in ("44 x 44 x 52", "200 x 200 x 200")
    ]
    # the first of three launches took no time; each of 50 items has a fifth or two of what was counted
    assert found.stdout.count("bytes an item: L1 0.20, L2 0.20, DRAM read 0.20, DRAM written 0.20;") == 2
    assert found.stdout.count("kernel 0.0 us, 20 registers, occupancy 20 %, issue 20 %, 20 of 32 lanes") == 2
    assert len(lines) == 6
    asked = (tmp_path / "ncu.log").read_text().splitlines()
    assert [line.partition("counters.py ")[2] for line in asked] == [
        "SPH, linked list --inside --size 44 44 52",
        "SPH, linked list --inside --size 200 200 200",
    ]


def test_a_size_without_counters_leaves_the_others(tmp_path):
    found = profiled(tmp_path, "DPD", "--size", "30", "--size", "2", "3", "4")
    assert found.returncode == 1
    assert found.stderr == "DPD, 30 x 30 x 30: ncu said: ==ERROR== no permission\n"
    assert "DPD, 2 x 3 x 4, 50 particles" in found.stdout


def test_every_program_is_counted_in_its_size_without_words(tmp_path):
    assert profiled(tmp_path).returncode == 0
    asked = (tmp_path / "ncu.log").read_text()
    assert asked.count("--inside") == len(counters.PROGRAMS)
    assert {name.removeprefix("SPH, ") for name in counters.PROGRAMS} >= set(STRATEGIES)


@pytest.mark.parametrize("name", counters.PROGRAMS)
def test_every_program_can_be_built_and_takes_steps(name):
    build, *_ = counters.PROGRAMS[name]
    simulation, items = build((12, 12, 12), PlainDevice())
    assert items > 0
    assert callable(simulation.advance)


@pytest.mark.parametrize(
    ("words", "why"),
    [(["DPD 2"], "no program 'DPD 2': choose from LBM, pull, "), (["DPD", "--size", "3", "4"], "one number, or three")],
)
def test_what_is_no_program_or_no_size_is_refused_in_one_line(tmp_path, words, why):
    found = profiled(tmp_path, *words)
    assert found.returncode == 2
    assert why in found.stderr.splitlines()[-1]


def test_without_the_profiler_one_line_says_so(tmp_path):
    words = [sys.executable, ROOT / "tools/counters.py"]
    found = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (1, "counters.py needs NVIDIA's profiler: ncu is not on the path\n")
