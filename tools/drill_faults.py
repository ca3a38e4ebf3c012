"""Kills a part of a run at a random moment, again and again, and looks at what is left.

.venv/bin/python tools/drill_faults.py --kills 50 --seed 1 swap_rules gyration memory

Each time a run of the smoke profile is started, and one of its processes (the runner, a guard, a worker, a kernel or
what a kernel started) is killed as by kill -9, or the runner is asked to end (Ctrl-C, SIGTERM, SIGHUP). No process of
the run may be left after ten seconds; whatever the run has finished must be whole; and the same command must then
finish with the verdicts of a run that nobody killed. A run after all of them leaves no private folder and no shared
memory. What did otherwise is printed, its folder with all logs stays, and the exit status is 1.
"""

import argparse
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

from repro import leftovers
from repro.study.keep import results

MARK = "REPRO_DRILL"
LONGEST_LIFE, LONGEST_RUN = 10, 600
"""Seconds for the processes of a killed run to end, and for a run."""

ENDING = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_last_mark = 0


def command(folder: Path, ids: list[str]) -> list[str]:
    return [sys.executable, "-m", "repro", "run", *ids, "--profile", "smoke", "--jobs", "2", "--output", str(folder)]


def start(folder: Path, ids: list[str], log: Path) -> tuple[subprocess.Popen, str]:
    """A run, and the mark in the environment of all its processes, wherever they hang in the tree."""
    global _last_mark
    _last_mark += 1
    mark = f"{os.getpid()}-{_last_mark}"
    temporary = log.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = os.environ | {MARK: mark, "TMPDIR": str(temporary)}
    with open(log, "w") as file:
        return subprocess.Popen(command(folder, ids), stdout=file, stderr=file, env=environment), mark


def alive(mark: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _mark(process) == mark]


def _mark(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None


def verdicts(folder: Path) -> list[tuple[str, str]]:
    with open(folder / "scoreboard.csv", newline="", encoding="utf-8") as file:
        return [(row["id"], row["verdict"]) for row in csv.DictReader(file)]


def finish(folder: Path, ids: list[str], log: Path) -> str:
    """Run to the end; what was wrong with that, empty if nothing was."""
    process, _ = start(folder, ids, log)
    try:
        status = process.wait(LONGEST_RUN)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"it did not end within {LONGEST_RUN} s"
    return f"exit status {status}" if status else ""


def kill_one(folder: Path, ids: list[str], chance: random.Random, seconds: float, log: Path) -> tuple[str, list[str]]:
    """Start a run and kill one of its processes; which one and when, and what of it is left too long or half done."""
    runner, mark = start(folder, ids, log)
    moment = chance.uniform(0, seconds)
    with suppress(subprocess.TimeoutExpired):
        runner.wait(moment)
    victims = alive(mark)
    if not victims:
        return f"nobody after {moment:.1f} s", []
    victim = chance.choice(victims)
    number = chance.choice(ENDING) if victim.pid == runner.pid else signal.SIGKILL
    name = f"{signal.Signals(number).name} to {_name(victim, runner)}"
    with suppress(psutil.Error):
        victim.send_signal(number)
    faults = []
    try:
        # who is not the runner is missed, and the run goes on with the other notebooks
        runner.wait(LONGEST_RUN)
    except subprocess.TimeoutExpired:
        faults = [f"the run goes on {LONGEST_RUN} s after it"]
        runner.kill()
    faults += _left(mark)
    return f"{name} after {moment:.1f} s", faults + _half_done(folder, ids)


def _name(process: psutil.Process, runner: subprocess.Popen) -> str:
    with suppress(psutil.Error):
        words = " ".join(process.cmdline())
        known = {"repro.study.run.guard": "guard", "repro.study.run.execute": "worker", "ipykernel": "kernel"}
        return next(
            (name for text, name in known.items() if text in words), "runner" if process.pid == runner.pid else words
        )
    return "somebody"


def _left(mark: str) -> list[str]:
    end = time.monotonic() + LONGEST_LIFE
    while (left := alive(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    return [f"{len(left)} processes are left after {LONGEST_LIFE} s: {left}"] if left else []


def _half_done(folder: Path, ids: list[str]) -> list[str]:
    """Results that count and are not whole."""
    apart = {".jobs", "failed"}
    sidecars = [file for file in folder.rglob("*.json") if not apart & set(file.relative_to(folder).parts)]
    found = {file: results.look(folder, file.relative_to(folder).with_suffix("").as_posix()) for file in sidecars}
    return [f"{file.name}: {look.trouble}" for file, look in found.items() if look.sidecar is None or look.trouble]


def drill(ids: list[str], kills: int, seed: int) -> int:
    """How many of the kills did harm."""
    chance, place, harm = random.Random(seed), Path(tempfile.mkdtemp(prefix="drill")), 0
    whole = place / "whole"
    for attempt in ("first", "again"):
        # the second time kernels are compiled already, as in the runs that are killed
        shutil.rmtree(whole, ignore_errors=True)
        begin = time.monotonic()
        if fault := finish(whole, ids, place / f"whole-{attempt}.log"):
            sys.exit(f"a run that nobody kills: {fault}, see {place}")
        seconds = time.monotonic() - begin
    wanted = verdicts(whole)
    print(f"a run takes {seconds:.1f} s and gives {len(wanted)} verdicts", flush=True)
    for number in range(1, kills + 1):
        folder = place / f"{number}"
        what, faults = kill_one(folder, ids, chance, seconds, place / f"{number}-killed.log")
        if fault := finish(folder, ids, place / f"{number}-again.log"):
            faults.append(f"the same command again: {fault}")
        elif verdicts(folder) != wanted:
            faults.append("other verdicts")
        print(f"{number:3} {what}: {'; '.join(faults) or 'ok'}", flush=True)
        harm += bool(faults)
        if not faults:
            shutil.rmtree(folder)
    # those of the last kill are old enough by then
    time.sleep(leftovers.FRESH)
    fault = finish(whole, ids, place / "last.log")
    left = [*(place / "tmp").glob(f"{leftovers.PREFIX}*"), *leftovers.SHARED.glob("mpich_shm_*")]
    if fault or left:
        print(f"after all: {fault} {left}")
        harm += 1
    if harm:
        print(f"{harm} of {kills} kills did harm, see {place}")
    else:
        shutil.rmtree(place)
        print(f"{kills} kills did no harm")
    return harm


def main() -> None:
    """Read the command line and drill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", default=["swap_rules", "gyration", "memory"], help="notebooks to run")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(bool(drill(given.ids, given.kills, given.seed)))


if __name__ == "__main__":
    main()
