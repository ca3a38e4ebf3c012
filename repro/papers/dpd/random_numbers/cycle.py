"""Starts of threads on the cycle of the paper's linear congruential generator, and their overlap (section 4.3).

The generator x <- a x + c modulo 2^32 has full period, so every word has a position: the number of steps from 0 to
it. Modulo 2^b the period is 2^b, so the lowest b bits of a word give those of its position, found bit by bit.
"""

from itertools import product
from math import exp, pi

import numpy as np
import pandas as pd
from numpy import uint32

from repro.dpd.fluid import Fluid
from repro.dpd.noise import LCG_FACTOR, LCG_INCREMENT, thread_words
from repro.errors import require

BITS = 32
PERIOD = 1 << BITS


def position(words) -> np.ndarray:
    """Steps that lead from 0 to each word: a discrete logarithm, bit by bit from the lowest."""
    words = np.array(words, dtype=np.uint32)
    reached, steps = np.zeros_like(words), np.zeros_like(words)
    # of 2^bit steps at once
    factor, increment = int(LCG_FACTOR), int(LCG_INCREMENT)
    for bit in range(BITS):
        missing = (reached ^ words) >> uint32(bit) & uint32(1)
        reached = np.where(missing, reached * uint32(factor) + uint32(increment), reached)
        steps |= missing << uint32(bit)
        factor, increment = factor * factor % PERIOD, (factor * increment + increment) % PERIOD
    return steps


def numbers_a_step(fluid: Fluid) -> float:
    """Expected pairs per particle in a step, each counted once, for random positions: half of a sphere's neighbours."""
    return 2 * pi / 3 * fluid.density


def overlapping(words, length: int) -> int:
    """How many sub-sequences of `length` numbers, started at distinct words, overlap with another one."""
    places = np.sort(position(words)).astype(np.int64)
    close = np.diff(places, append=places[0] + PERIOD) < length
    return int((close | np.roll(close, 1)).sum())


def overlap_table(thread_counts, step_counts, length: int) -> pd.DataFrame:
    """Sub-sequences ("stretches") that threads use in so many steps, with a start on the cycle of either generator.

    "anew" counts the distinct starts, "overlap" those whose sub-sequences run into another one, and "at random" is
    the expected overlap of as many starts at random positions.
    """
    rows = []
    for threads, steps in product(thread_counts, step_counts):
        require(min(threads, steps) >= 1, f"{threads} threads and {steps} steps: at least one of each")
        # the second generator's words depend on thread + step alone, the first one's on the thread
        first, _ = thread_words(np.arange(threads, dtype=np.int64), (1, 0))
        _, second = thread_words(np.arange(threads + steps - 1, dtype=np.int64), (1, 1))
        chance = len(second) * (1 - exp(-2 * length * len(second) / PERIOD))
        rows.append((threads, steps, threads * steps, len(first), len(second), overlapping(second, length), chance))
    names = ["threads", "steps", "stretches", "anew, first", "anew, second", "overlap, second", "at random"]
    return pd.DataFrame(rows, columns=names)


def anew(table: pd.DataFrame) -> dict:
    """Sub-sequences of the last row of `overlap_table` and how many differ; holds if not a tenth of them does."""
    every, second, first = map(int, table.iloc[-1][["stretches", "anew, second", "anew, first"]])
    return {"all": every, "second": second, "first": first, "holds": 10 * second < every}


def driven_waves(shape, dt: float, numbers: int) -> pd.DataFrame:
    """The plane waves of the numbers with one thread per cell: one row for each number that a thread draws.

    The k-th number of thread n at a step has its second word a^(k+1) (n + step) + constant, and its angle is that word
    over 2^32. With f = a^(k+1) / 2^32 it turns by f a step, by f along x, by nx f along y and by nx ny f along z, all
    modulo one. "x", "y", "z" are waves in the box of `shape` cells, "per step" the turns a step, "speed" is the
    phase speed for cells one cutoff radius wide.
    """
    rows = []
    for k in range(1, numbers + 1):
        turns = pow(int(LCG_FACTOR), k + 1, PERIOD) / PERIOD * np.array([1, shape[0], shape[0] * shape[1]])
        # the same angles between minus and plus half a turn
        a_cell = turns - np.round(turns)
        rows.append((k, *a_cell * shape, a_cell[0], abs(a_cell[0]) / dt / float(np.linalg.norm(a_cell))))
    return pd.DataFrame(rows, columns=["number", "x", "y", "z", "per step", "speed"])


def driver(table: pd.DataFrame, wave) -> str:
    """Which of the numbers of `driven_waves` drives a density wave (an integer wave vector), in words.

    A wave and its reverse are the same density; "none" where no number's wave rounds to it.
    """
    rounded = table[["x", "y", "z"]].round().to_numpy(int)
    same = (rounded == np.array(wave)).all(1) | (rounded == -np.array(wave)).all(1)
    found = table.loc[same, ["number", "per step"]].itertuples(index=False)
    return "; ".join(f"number {number}, {abs(turns):.4f} turns a step" for number, turns in found) or "none"


def period(increment: int, start: int) -> int:
    """After how many steps x <- a x + increment modulo 2^32 comes back to `start`: a power of two, since a is odd."""
    factor, steps = int(LCG_FACTOR), 1
    while (factor * start + increment) % PERIOD != start % PERIOD:
        factor, increment, steps = factor * factor % PERIOD, (factor * increment + increment) % PERIOD, 2 * steps
    return steps


def combined_period() -> float:
    """The period of equation 8 over that of equation 6, both generators with the constants that the paper states.

    The sum of two words follows x <- a x + 2 c: the increment is even, so a sum stays even or odd.
    """
    c = int(LCG_INCREMENT)
    return max(period(2 * c, start) for start in (1, 2)) / period(c, 1)
