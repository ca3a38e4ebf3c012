"""Sentences of the notebook on memory, as Markdown, with their numbers."""

import pandas as pd

from repro.parallel import readable
from repro.pic.state import bytes_each
from repro.pic.strategies.domains import bytes_of_currents

from .measures import largest_side

#: the smaller of the two V100 that were sold, in bytes; the paper does not say which it had
V100 = 16 * 2**30

#: multiprocessors of a V100, and the paper's particles
CHIPS, PARTICLES = 80, 30_000_000


def measured_text(table: pd.DataFrame, found: dict[str, float], of_gpu: dict[str, float]) -> str:
    """What the table says."""
    ratio = table["process"] / table["formula"]
    return (
        f"A process takes {ratio.min():.2f} to {ratio.max():.2f} times $96\\,Nm/n^2$ bytes; what is above it is the "
        f"layer of guard nodes. Its memory goes as $N^{{{found['cells']:.2f}}}\\,m^{{{found['chips']:.2f}}}\\,"
        f"n^{{{found['processes']:.2f}}}$, that of the whole GPU as $N^{{{of_gpu['cells']:.2f}}}\\,"
        f"m^{{{of_gpu['chips']:.2f}}}\\,n^{{{of_gpu['processes']:.2f}}}$."
    )


def meaning_text(real, processes) -> str:
    """What the formula allows on the paper's GPU."""
    most = max(processes)
    alone, shared = (largest_side(V100, CHIPS, n) for n in (1, most))
    once = largest_side(V100, 1, 1)
    particles = PARTICLES * bytes_each(real)
    return (
        f"On a V100 with {readable(V100)} and {CHIPS} multiprocessors, currents alone would fill the memory at {alone}"
        f"$^3$ cells with one process and at {shared}$^3$ with {most}. With one set of currents for all, to which all "
        f"threads add, it is {once}$^3$. The paper's {PARTICLES:,} particles take {readable(particles)}, as much as "
        f"{CHIPS} sets of currents of {largest_side(particles, CHIPS, 1)}$^3$ cells: with finer meshes it is the "
        f"currents that fill the GPU. A cell costs {bytes_of_currents(1, 1)} bytes a block; the sums are whole numbers "
        "of 64 bits, and in single precision they would be half of it."
    )
