"""One rank's part of tests/parallel/test_ranks.py.

rank_program.py FOLDER STEPS does all checks, rank_program.py HOW ends badly.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from helpers.halos import StagedDevice, wrong_after_fill
from helpers.walkers import Walkers
from repro.errors import CheckError
from repro.parallel.ranks.domain import domain_for
from repro.parallel.ranks.world import world

#: cells that 1, 2, 3, 4 and 7 ranks divide
SHAPE = (12, 7, 4)

#: which axes are periodic
BOXES = ((True, True, True), (False, True, True), (True, False, False), (False, False, False))

WHO_DIES = 1


class Careless(Walkers):
    """Loses or doubles the first walker that arrives on rank 0."""

    def __init__(self, *arguments, times: int):
        super().__init__(*arguments)
        self.times = times

    def work(self, arrived):
        if len(arrived) and self.ranks.rank == 0 and self.times != 1:
            arrived, self.times = np.concatenate([np.repeat(arrived[:1], self.times), arrived[1:]]), 1
        return super().work(arrived)


def walk(ranks, steps: int) -> dict:
    """What `steps` steps have counted, and where all walkers are."""
    walkers = Walkers(domain_for(SHAPE, BOXES[0], ranks.count), ranks)
    counts = [walkers.step() for _ in range(steps)]
    table = np.array([[c.before, c.created, c.absorbed, c.sent, c.received, c.after] for c in counts])
    return {
        "counts": table.tolist(),
        "rounds": max(c.rounds for c in counts),
        "messages": sum(c.messages for c in counts),
        "ends": walkers.arrived_at_end,
        "absorbed": walkers.absorbed,
    }


def halos(ranks) -> dict:
    """What is wrong with guard cells: nothing."""
    fills = {
        f"{periodic} {components}": wrong_after_fill(SHAPE, periodic, ranks, components)
        for periodic in BOXES
        for components in ("first", "last")
    }
    for name, device in (("staged", StagedDevice()), ("core", SimpleNamespace(xp=np))):
        fills[name] = wrong_after_fill(SHAPE, BOXES[0], ranks, "first", device)
        fills[f"{name}, low"] = wrong_after_fill(SHAPE, BOXES[0], ranks, "first", device, high=False)
        fills[f"{name}, high"] = wrong_after_fill(SHAPE, BOXES[1], ranks, "last", device, low=False)
    return fills


def careless(ranks, times: int) -> str:
    """What is said when a walker is lost (0 times) or doubled (2 times) within 20 steps."""
    walkers = Careless(domain_for(SHAPE, BOXES[0], ranks.count), ranks, times=times)
    try:
        for _ in range(20):
            walkers.step()
    except CheckError as error:
        return str(error)
    return ""


def quiet_step(ranks) -> float:
    """Seconds of a step in which nobody crosses: the least of many."""
    walkers, seconds = Walkers(domain_for(SHAPE, BOXES[0], ranks.count), ranks), []
    walkers.time = 1 << 20
    walkers._born = list
    for _ in range(50):
        start = time.perf_counter()
        walkers.step()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def end_badly(how: str, ranks) -> None:
    """One rank leaves the others within a step."""
    if how in ("stopped", "hangs", "circle", "paused"):
        ranks.patience = 3.0
    if how == "circle":
        ranks.wait([ranks.receive(np.zeros(1), (ranks.rank + 1) % ranks.count, 5)], "a message")
    walkers = Walkers(domain_for(SHAPE, BOXES[0], ranks.count), ranks)
    for step in range(1000):
        if step == 20 and ranks.rank == WHO_DIES:
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            if how == "exits":
                os._exit(0)
            if how == "hangs":
                time.sleep(1000)
            if how == "raises":
                raise ValueError("the step went wrong")
            if how == "fails":
                sys.exit(3)
            sys.exit()
        walkers.step()


def paused(ranks, folder: Path) -> None:
    """All ranks are stopped for a while; rank 0 works for a little longer than the others, which wait."""
    ranks.patience = 3.0
    (folder / str(ranks.rank)).write_text(str(os.getpid()))
    ranks.sum(np.zeros(1))
    if ranks.rank == 0:
        processes = " ".join((folder / str(rank)).read_text() for rank in range(ranks.count))
        time.sleep(0.7)
        subprocess.Popen(["sh", "-c", f"kill -STOP {processes}; sleep 4.5; kill -CONT {processes}"])
        # most of them after the pause
        for _ in range(10):
            time.sleep(0.1)
    ranks.sum(np.zeros(1))
    print("went on")


def main() -> None:
    """Do all checks, and write what came of them into a file of this rank."""
    ranks = world()
    if len(sys.argv) == 2:
        end_badly(sys.argv[1], ranks)
        return
    if sys.argv[1] == "paused":
        paused(ranks, Path(sys.argv[2]))
        return
    folder, steps = Path(sys.argv[1]), int(sys.argv[2])
    found = {
        "walk": walk(ranks, steps),
        "halos": halos(ranks),
        "lost": careless(ranks, 0),
        "doubled": careless(ranks, 2),
        "quiet": quiet_step(ranks),
    }
    (folder / f"{ranks.rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
