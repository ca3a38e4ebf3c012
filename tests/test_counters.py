"""What ncu prints is read launch by launch; without it one line says what is missing."""

import importlib
import subprocess
import sys
from pathlib import Path

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


def test_without_the_profiler_one_line_says_so(tmp_path):
    words = [sys.executable, ROOT / "tools/counters.py"]
    found = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (1, "counters.py needs NVIDIA's profiler: ncu is not on the path\n")
