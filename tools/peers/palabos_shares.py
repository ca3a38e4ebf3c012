"""How long each phase of Palabos' cubic cavity takes on one core; data/reference/palabos_cavity.csv keeps it.

.venv/bin/python tools/peers/palabos_shares.py [NODES [RUNS]]   # 128 nodes a side, 15 steps, by the phases' timers

Seconds are those that the thread has computed, so that other programs on the core do not count. The same by samples,
where the phases are told apart by the functions that they call:

perf record -e cpu-clock -o build/perf.data .venv/bin/python tools/peers/palabos_shares.py 128 15 whole
perf report -i build/perf.data --stdio --sort symbol
"""

import sys
import time
from pathlib import Path

import numpy as np

from repro.lbm.cases import CubicCavity
from repro.papers.swap.palabos import LIBRARY, STEP, Cavity

ROOT = Path(__file__).resolve().parents[2]


def main(nodes: int = 128, runs: int = 15, phases=(*STEP, "whole")) -> None:
    """Print phase, median and least milliseconds, and the share of the four phases' medians in per cent."""
    cavity = Cavity(ROOT / LIBRARY, CubicCavity(reynolds=float(nodes), nodes=nodes).problem)
    seconds = {phase: [] for phase in phases}
    # the first step touches the memory and does not count
    for run in range(runs + 1):
        for phase in phases:
            start = time.thread_time()
            cavity.run(phase)
            if run:
                seconds[phase].append(time.thread_time() - start)
    step = sum(float(np.median(seconds[phase])) for phase in phases if phase in STEP)
    print("part,median_ms,least_ms,share")
    for phase, each in seconds.items():
        share = f"{100 * np.median(each) / step:.1f}" if phase in STEP else ""
        print(f"{phase},{1e3 * np.median(each):.2f},{1e3 * min(each):.2f},{share}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), **({"phases": sys.argv[3:]} if sys.argv[3:] else {}))
