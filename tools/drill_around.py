"""Disturbs what is around a run: disk, files, clock, cluster, another run, settings, a flood; looks at what is left.

.venv/bin/python tools/drill_around.py swap_rules gyration

Each disturbance comes during or after a run of the smoke profile. The same command must then finish with the verdicts
of an undisturbed run; where it fails before, it says so without a traceback. tools/drill_faults.py kills processes. A
small disk of its own needs root and Linux, and is left out elsewhere.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from drill_faults import alive, command, finish, start, verdicts

DAY = 86400.0
SETTINGS = {
    "kernels/python3/kernel.json": '{"argv": ["/nowhere/python"], "display_name": "x", "language": "python"}',
    "ipython/profile_default/ipython_kernel_config.py": 'c.InteractiveShell.ast_node_interactivity = "all"',
    "ipython/profile_default/startup/00.py": "import numpy; numpy.sqrt = abs",
    "matplotlibrc": "text.usetex: True\nlines.linewidth: 9\n",
    "start.py": "raise SystemExit",
}
VARIABLES = {"NUMBA_THREADING_LAYER": "tbb", "NUMBA_DISABLE_JIT": "1", "PYTHONOPTIMIZE": "1", "MPLBACKEND": "template"}
FLOOD = """[[notebook]]
id = "toy/flood"
paper = "toy"
title = "prints 100 MB"
profiles = { smoke = {} }
"""


class Drill:
    """Folders of runs of the same notebooks, one a disturbance."""

    def __init__(self, ids: list[str], place: Path):
        self.ids, self.place = ids, place

    def finish(self, folder: Path, log: str) -> str:
        """Run to the end; what was wrong with that."""
        return finish(folder, self.ids, self.place / f"{folder.name}-{log}.log")

    def fails(self, folder: Path) -> str:
        """Run where that cannot end well; what was wrong with how it ended."""
        why = self.finish(folder, "disturbed")
        lines = (self.place / f"{folder.name}-disturbed.log").read_text()
        if "exit status" not in why:
            return f"it should have failed: {why or 'exit status 0'}"
        return "a traceback" if "Traceback" in lines else ""

    def disk(self, folder: Path) -> Iterator[str]:
        """A disk that is full after a few files."""
        folder.mkdir()
        size = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)]
        if os.geteuid() or subprocess.run(size, stderr=subprocess.DEVNULL).returncode:
            yield "left out: a disk of one's own needs root"
            return
        try:
            yield self.fails(folder)
            subprocess.run(["mount", "-o", "remount,size=1g", str(folder)], check=True)
            yield self.finish(folder, "again")
            yield self.other(folder)
        finally:
            subprocess.run(["umount", str(folder)], check=True)

    def figures(self, folder: Path) -> Iterator[str]:
        """A folder for figures that is none."""
        folder.mkdir()
        (folder / "figures").touch()
        yield self.fails(folder)
        (folder / "figures").unlink()
        yield self.finish(folder, "again")
        yield self.other(folder)

    def corrupted(self, folder: Path) -> Iterator[str]:
        """A bit of a result that has flipped."""
        yield from self.damaged(folder, lambda content: content[:99] + bytes([content[99] ^ 1]) + content[100:])

    def truncated(self, folder: Path) -> Iterator[str]:
        """A result of which the end is missing."""
        yield from self.damaged(folder, lambda content: content[: len(content) // 2])

    def damaged(self, folder: Path, change: Callable[[bytes], bytes]) -> Iterator[str]:
        """A finished run, one of whose results is changed."""
        yield self.finish(folder, "whole")
        sidecar = next(file for file in sorted(folder.glob("*/*.json")) if file.parent.name != "failed")
        sidecar.write_bytes(change(sidecar.read_bytes()))
        yield self.finish(folder, "again")
        log = (self.place / f"{folder.name}-again.log").read_text()
        yield "" if "runs again, it is not finished" in log else "nobody says that it was damaged"
        yield self.other(folder)

    def clock(self, folder: Path) -> Iterator[str]:
        """Files of tomorrow and of yesterday."""
        yield self.finish(folder, "whole")
        for days in (1, -1):
            for file in folder.rglob("*"):
                os.utime(file, (time.time() + days * DAY, time.time() + days * DAY))
            yield self.finish(folder, f"again{days}")
            log = (self.place / f"{folder.name}-again{days}.log").read_text()
            yield "" if log.count("up to date") >= len(self.ids) else "something ran again"
            yield self.other(folder)

    def two(self, folder: Path) -> Iterator[str]:
        """Two runs in the same folder."""
        first, mark = start(folder, self.ids, self.place / f"{folder.name}-first.log")
        while not (folder / ".jobs").is_dir():
            time.sleep(0.01)
        second = subprocess.run(command(folder, self.ids), capture_output=True, text=True)
        said = second.stderr.strip()
        yield "" if second.returncode == 2 and "another run is writing to" in said else f"the second one: {said}"
        yield f"the first one: exit status {first.returncode}" if first.wait(600) else ""
        yield "somebody is left" if alive(mark) else ""
        yield self.other(folder)

    def settings(self, folder: Path) -> Iterator[str]:
        """A user with another kernel, look, start file and compiler."""
        home = self.place / "home"
        for name, text in SETTINGS.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        places = {
            "JUPYTER_PATH": "",
            "IPYTHONDIR": "ipython",
            "MATPLOTLIBRC": "matplotlibrc",
            "PYTHONSTARTUP": "start.py",
        }
        before = dict(os.environ)
        os.environ |= {name: str(home / place) for name, place in places.items()} | VARIABLES
        try:
            yield self.finish(folder, "set")
        finally:
            os.environ.clear()
            os.environ |= before
        yield self.other(folder)
        drawn, wanted = (
            {f.name: f.read_bytes() for f in (p / "figures").rglob("*.png")} for p in (folder, self.place / "whole")
        )
        yield "" if drawn == wanted else "other figures"

    def deleted(self, folder: Path) -> Iterator[str]:
        """A run whose folder is deleted."""
        log = self.place / f"{folder.name}-disturbed.log"
        run, mark = start(folder, [*self.ids, "--fresh"], log)
        while not list(folder.glob(".jobs/*/job.json")):
            time.sleep(0.01)
        shutil.rmtree(folder, ignore_errors=True)
        status, said = run.wait(600), log.read_text()
        yield "" if status == 2 and "was deleted while it ran" in said else f"exit status {status}: {said}"
        yield "somebody is left" if alive(mark) else ""
        yield self.finish(folder, "again")
        yield self.other(folder)

    def scheduler(self, folder: Path) -> Iterator[str]:
        """A Dask scheduler that is killed during a run."""
        file, dask = self.place / "scheduler.json", [sys.executable, "-m", "dask"]
        own = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
        head = subprocess.Popen([*dask, "scheduler", *own, "--port", "0"], stderr=subprocess.DEVNULL)
        worker = subprocess.Popen([*dask, "worker", *own, "--no-nanny", "--nthreads", "1"], stderr=subprocess.DEVNULL)
        try:
            while not file.exists():
                time.sleep(0.1)
            time.sleep(5)
            log = self.place / f"{folder.name}-disturbed.log"
            run, mark = start(folder, [*self.ids, "--scheduler", json.loads(file.read_text())["address"]], log)
            while run.poll() is None and not list(folder.glob(".jobs/*/job.json")):
                time.sleep(0.01)
            head.kill()
            status, said = run.wait(600), log.read_text()
            yield "" if status == 2 and "scheduler at" in said and "Traceback" not in said else f"{status}: {said}"
            yield "somebody is left" if alive(mark) else ""
        finally:
            for process in (head, worker):
                process.kill()
                process.wait()
        yield self.finish(folder, "again")
        yield self.other(folder)

    def flood(self, folder: Path) -> Iterator[str]:
        """A notebook that writes 100 MB, in a checkout of its own."""
        project = self.place / "flood-project"
        for name in ("notebooks/toy", "data/published", "repro"):
            (project / name).mkdir(parents=True)
        (project / "notebooks/catalogue.toml").write_text(FLOOD)
        header = "id,where,quantity,case,value,unit,hardware,kind,rule,tolerance,why,note"
        (project / "data/published/toy.csv").write_text(f"{header}\ntoy-001,,speed,,1,x,,speed,at least,,any,\n")
        cell = nbformat.v4.new_code_cell("for i in range(1000): print('x' * 100_000)")
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), project / "notebooks/toy/flood.ipynb")
        words, environment = command(folder, ["flood"]), os.environ | {"REPRO_ROOT": str(project)}
        yield (
            f"exit status {done.returncode}"
            if (done := subprocess.run(words, env=environment, capture_output=True)).returncode
            else ""
        )
        written = (folder / "toy/flood.ipynb").stat().st_size
        yield f"a notebook of {written:,} bytes" if written > 20_000_000 else ""

    def other(self, folder: Path) -> str:
        """Whether the verdicts are others than those of a run that nothing disturbed."""
        return "" if verdicts(folder) == verdicts(self.place / "whole") else "other verdicts"


def main() -> None:
    """Read the command line and drill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", default=["swap_rules", "gyration"], help="notebooks to run")
    drill = Drill(parser.parse_args().ids, Path(tempfile.mkdtemp(prefix="drill")))
    if fault := drill.finish(drill.place / "whole", "first"):
        sys.exit(f"a run that nothing disturbs: {fault}, see {drill.place}")
    harm = 0
    files = (drill.disk, drill.figures, drill.corrupted, drill.truncated, drill.clock, drill.deleted)
    for disturb in (*files, drill.two, drill.settings, drill.scheduler, drill.flood):
        faults = [line for line in disturb(drill.place / disturb.__name__) if line]
        print(f"{disturb.__name__}: {'; '.join(faults) or 'ok'}", flush=True)
        harm += any("left out" not in line for line in faults)
    if harm:
        sys.exit(f"{harm} disturbances did harm, see {drill.place}")
    shutil.rmtree(drill.place)
    print("no disturbance did harm")


if __name__ == "__main__":
    main()
