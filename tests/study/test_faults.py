"""What goes wrong around a run costs no result and is said in a line; tools/drill_around.py does more of it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.workshop import GOOD

from repro.study.keep.results import look
from repro.study.show.html import convert

PACKAGE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("folder", ["figures", "toy"])
def test_folder_that_cannot_be_written_costs_nothing_that_was_there(workshop, folder):
    for name, figures in {"good": (), "toy/good": ("a",)}.items():
        workshop.add(name, GOOD)
        workshop.finish(name, figures=figures)
    out = workshop.folder()
    place, aside = out / folder, out / "aside"
    before = {file: file.read_bytes() for file in out.rglob("*.*") if file.is_file()}
    place.rename(aside)
    place.write_text("a file where the folder should be")
    refused = rf"'Unwritable', 'message': 'cannot write to {place}: File exists; name another folder with --output'"
    with pytest.raises(AssertionError, match=refused):
        workshop.finish("toy/good", {"toy-001": {"measured": 0.55}})
    assert look(out, "good").trouble == ""
    place.unlink()
    aside.rename(place)
    shutil.rmtree(out / ".jobs")
    assert before == {file: file.read_bytes() for file in out.rglob("*.*") if file.is_file()}
    assert look(out, "good").trouble == look(out, "toy/good").trouble == ""


@pytest.mark.parametrize("jump", [-1e6, 1e6], ids=["back", "forth"])
def test_time_limit_does_not_follow_a_clock_that_jumps(tmp_path, jump):
    clock = tmp_path / "cell"
    clock.touch()
    os.utime(clock, (time.time() + jump, time.time() + jump))

    def status(seconds: str) -> int:
        command = [sys.executable, "-m", "repro.study.run.guard", seconds, str(clock), "0", sys.executable, "-c"]
        child = subprocess.Popen(
            [*command, "import time; time.sleep(1.5)"],
            stdin=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(PACKAGE)},
        )
        try:
            return child.wait(20)
        finally:
            child.stdin.close()

    assert (status("10"), status("0.5")) == (0, 124)


def test_page_of_a_notebook_is_made_anew_though_the_clock_was_ahead_when_it_was_made(good):
    good.finish("toy/good", {"toy-001": {"measured": 0.55}})
    notebook = good.folder() / "toy/good.ipynb"
    future = time.time() + 1e6
    os.utime(notebook, (future, future))
    page = convert(notebook)
    assert "toy-999" not in page.read_text()
    notebook.write_text(notebook.read_text().replace("toy-001", "toy-999"))
    assert "toy-999" in convert(notebook).read_text()
    assert page == convert(notebook)
