"""What the strategy allocates for processes that share a GPU, counted from its arrays, and what the paper claims."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.errors import require, require_whole
from repro.papers.style import looks
from repro.pic.maxwell.fields import courant_numbers
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation
from repro.pic.state import bytes_each
from repro.pic.strategies import baskets
from repro.pic.strategies.domains import bytes_of_currents
from repro.pic.strategies.transfer_buffers import PAPER_THREADS
from repro.pic.system import Source, System

#: the smaller of the two V100 that were sold, in bytes; the paper does not say which it had
V100 = 16 * 2**30

#: multiprocessors of a V100, and the paper's particles
CHIPS, PARTICLES = 80, 30_000_000

#: the three powers, by the columns of `sweep`
POWERS = {"processes": -2, "cells": 1, "chips": 1}

#: claims on them, and those on threads a block, blocks, particles a launch and domains, which are not judged
JUDGED = dict(zip(POWERS, ("electrons-006", "electrons-013", "electrons-014"), strict=True))
SETUP = ("electrons-003", "electrons-004", "electrons-005", "electrons-007")


def subdomain(side: int, processes: int) -> tuple[int, int, int]:
    """Cells of a process's part of side^3 cells: the longest axis is halved until there is one for each process.

    Raises InputError for what is not a power of two, or does not divide the side.
    """
    require(processes >= 1 and not processes & (processes - 1), f"{processes} processes a GPU: a power of 2")
    cells = [side] * 3
    for _ in range(processes.bit_length() - 1):
        axis = cells.index(max(cells))
        odd = f"{side}^3 cells for {processes} processes: take a side with more factors of 2"
        require(cells[axis] % 2 == 0, odd)
        cells[axis] //= 2
    return tuple(cells)


def process(device, side: int, chips: int, processes: int) -> Simulation:
    """One of the processes that share a GPU of so many multiprocessors, and the mesh, as it begins."""
    require_whole("side", side, 1, 65535)
    require_whole("chips", chips, 1, 2**16)
    require_whole("processes", processes, 1, chips)
    require(chips % processes == 0, f"{chips} multiprocessors for {processes} processes: each gets as many")
    mesh = Mesh(subdomain(side, processes), (1e-3,) * 3)
    # half of what light may go
    dt = 0.5 / float(np.linalg.norm(courant_numbers(mesh, 1.0)))
    system = System(mesh, dt, source=Source(energy=1e5, weight=1.0, start=1), self_field=False)
    return Simulation(system, device, strategy=baskets(blocks=chips // processes, threads=PAPER_THREADS))


def setup(stated, simulation: Simulation) -> pd.DataFrame:
    """The paper's set-up beside that of a process, one row a claim of `stated` (by id)."""
    host_loop = simulation.parts["particles"]
    counts, kept = host_loop.counts, (simulation.particles_on_device, host_loop.incoming, host_loop.outgoing)
    ours = dict(zip(SETUP, (counts.block, host_loop.blocks, counts.threads, len(kept)), strict=True))
    rows = [(c.id, c.quantity, c.case, c.value, ours[c.id]) for c in stated.values()]
    return pd.DataFrame(rows, columns=["id", "quantity", "case", "paper", "here"])


def sweep(device, sides, chips, processes) -> pd.DataFrame:
    """Bytes for currents of a process and of the whole GPU, as allocated and by 96 N m / n^2, one row a combination.

    InputError where one of them has a single value: from that no power can be told.
    """
    rows, asked = [], {"sides": sides, "chips": chips, "processes": processes}
    for name, values in asked.items():
        single = f"{name} = {list(values)}: must be two values at least, or there is no power of it"
        require(len(set(values)) > 1, single)
    for side, m, n in product(*asked.values()):
        host_loop = process(device, side, m, n).parts["particles"]
        measured, cells = int(host_loop.sums.currents.nbytes), side**3
        formula = bytes_of_currents(cells, 1) * m / n**2
        rows.append((side, cells, m, n, host_loop.blocks, measured, formula, n * measured, n * formula))
    names = ["side", "cells", "chips", "processes", "blocks", "process", "formula", "GPU", "formula of the GPU"]
    return pd.DataFrame(rows, columns=names)


def powers(table: pd.DataFrame, column: str = "process") -> dict[str, float]:
    """Powers of n, N and m in a column of `sweep`, by least squares of the logarithms."""
    logs = np.log(table[list(POWERS)].to_numpy(float))
    fitted = np.linalg.lstsq(np.column_stack([logs, np.ones(len(table))]), np.log(table[column]), rcond=None)[0]
    return dict(zip(POWERS, fitted[:-1].tolist(), strict=True))


def meshes_that_fit(real, processes: int) -> pd.DataFrame:
    """Cells along each axis of the largest mesh whose currents fit, by what has the sets and by the memory.

    The last row is what fits into the memory that the paper's particles take.
    """
    particles = PARTICLES * bytes_each(real)
    rows = [
        ("a V100, one process", V100, CHIPS),
        (f"a V100, {processes} processes", V100, CHIPS / processes),
        ("a V100, one set to which all threads add", V100, 1),
        ("what the paper's particles take, one process", particles, CHIPS),
    ]
    table = pd.DataFrame(rows, columns=["memory of", "GiB", "sets of currents"])
    side = (table["GiB"] / (bytes_of_currents(1, 1) * table["sets of currents"])) ** (1 / 3)
    return table.assign(GiB=table["GiB"] / 2**30, **{"cells along each axis": side.astype(int)})


def figure(table: pd.DataFrame):
    """Memory for currents of a process and of a GPU over the processes: as allocated, and by the formula."""
    drawn, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True)
    arrays = {}
    shown = {
        "one process: $96\\,N m/n^2$ bytes": ("process", "formula"),
        "all of the GPU: $96\\,N m/n$ bytes": ("GPU", "formula of the GPU"),
    }
    for axes, (title, (column, formula)) in zip(panels, shown.items(), strict=True):
        for ((side, chips), rows), look in looks(table.groupby(["side", "chips"]), ls="none"):
            name = f"{side}$^3$ cells, m = {chips}"
            axes.loglog(rows["processes"], rows[column] / 2**30, **look, label=name)
            axes.loglog(rows["processes"], rows[formula] / 2**30, color=look["color"], marker="none", lw=1)
            arrays[f"{title}, {side}, {chips}"] = rows[["processes", column, formula]].to_numpy()
        ticks = sorted(table["processes"].unique())
        axes.set_xticks(ticks, ticks)
        axes.minorticks_off()
        axes.set(xlabel="processes on the GPU, n", title=title)
    panels[0].set_ylabel("currents (GiB)")
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn, arrays
