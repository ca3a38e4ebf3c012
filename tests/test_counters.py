"""What ncu prints is read launch by launch; without it one line says what is missing."""

import importlib
import subprocess
import sys
from pathlib import Path

from repro.sph.strategies import STRATEGIES

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
kernels_of = importlib.import_module("counters").kernels_of

HEAD = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'


def test_counters_are_those_of_each_launch_and_other_lines_are_passed_over():
    lines = ["PAIRS 751325.0", "==PROF== Profiling", HEAD]
    lines += ['"0","kernel(long, float)","gpu__time_duration.sum","ns","1,205,184"']
    lines += ['"0","kernel(long, float)","launch__registers_per_thread","register/thread","77"']
    lines += ['"1","other","gpu__time_duration.sum","ns","96"']
    assert kernels_of(lines) == [{"ns": 1205184.0, "registers": 77.0}, {"ns": 96.0}]
    assert kernels_of(["nothing of a profiler"]) == []


#: a profiler that has counters for all columns but those of 30 particles' width
FAKE = """#!/bin/sh
echo "$@" >> "$0.log"
case "$*" in *"--column 30 "*) echo "==ERROR== no permission"; exit 3 ;; esac
echo "CARD made up, 1 GiB"
echo "PAIRS 100"
echo '"ID","Metric Name","Metric Value"'
for id in 0 1 2; do
  for name in $(echo "$@" | sed 's/.*--metrics \\([^ ]*\\).*/\\1/; s/,/ /g'); do
    echo "\\"$id\\",\\"$name\\",\\"${id}0\\""
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
    found = profiled(tmp_path, "--column", "44", "44", "52", "linked list", "--column", "200", "200", "250")
    assert (found.returncode, found.stderr) == (0, "")
    heads = [line for line in found.stdout.splitlines() if not line.startswith(" ")]
    assert heads == [
        f"made up, 1 GiB: linked list, {size} particles: 3 kernels, 0 us"
        for size in ("44 x 44 x 52 = 100,672", "200 x 200 x 250 = 10,000,000")
    ]
    assert found.stdout.count("bytes a neighbour: L1 0.20, L2 0.20, DRAM 0.20") == 2
    asked = (tmp_path / "ncu.log").read_text().splitlines()
    assert [line.partition("counters.py ")[2] for line in asked] == [
        "linked list --inside --column 44 44 52",
        "linked list --inside --column 200 200 250",
    ]


def test_a_size_without_counters_leaves_the_others(tmp_path):
    found = profiled(tmp_path, "linked list", "--column", "30", "30", "30", "--column", "2", "2", "2")
    assert found.returncode == 1
    assert found.stderr == "linked list, 30 x 30 x 30: ncu said: ==ERROR== no permission\n"
    assert "2 x 2 x 2 = 8 particles" in found.stdout


def test_every_search_and_two_sizes_are_counted_without_words(tmp_path):
    assert profiled(tmp_path).returncode == 0
    asked = (tmp_path / "ncu.log").read_text()
    assert asked.count("--inside") == 2 * len(STRATEGIES)


def test_without_the_profiler_one_line_says_so(tmp_path):
    words = [sys.executable, ROOT / "tools/counters.py"]
    found = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (1, "counters.py needs NVIDIA's profiler: ncu is not on the path\n")
