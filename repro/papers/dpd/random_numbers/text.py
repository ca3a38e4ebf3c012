"""Sentences of the notebook on random numbers, as Markdown, with their numbers."""

import numpy as np
import pandas as pd

from repro.dpd import exact
from repro.dpd.fluid import Fluid

from . import cycle, quality
from .density_waves import BY_CELL, BY_PARTICLE, TEA, over_chance

#: steps below which waves of the density cannot be told from chance
FEWEST_STEPS = 500


def tea_note(table: pd.DataFrame) -> str:
    """The three correlations of the last row of `quality.tea_table`, for the verdict."""
    found = ", ".join(f"{name} {table.iloc[-1][name]:.4f}" for name in quality.NEIGHBOURS)
    return f"the largest of three correlations, {found}"


def rounds(table: pd.DataFrame) -> str:
    """The correlations that 4, 8 and 32 rounds of TEA leave, from `quality.tea_table`."""
    four, eight = (quality.row_of(table, k) for k in (4, 8))
    of_eight, of_paper = (quality.worst_correlation(table, k) for k in (8, 32))
    return (
        f"Four rounds leave a correlation of {four['(i, j+1)']:.3f} and {four['(i+1, j)']:.3f} with the two "
        f"neighbouring pairs, and {four['next step']:.2f} with the next step. Eight rounds, which this project uses, "
        f"leave {of_eight:.4f} at most, where chance alone keeps all three below {eight['band']:.4f} in 17 of 20 "
        f"cases; the paper's 32 leave {of_paper:.4f}. The two orders of a pair gave different numbers in "
        f"{int(table['unequal'].sum())} of {int(table['pairs'].sum()):,} cases."
    )


def float_ids(count: int = 1000) -> str:
    """How many of `count` ids from 2^24 on stay distinct as 32-bit floats."""
    first = 2**24
    distinct = quality.distinct_as_floats(first, count)
    return (
        "A pitfall is an id that is stored as a 32-bit float beside the particle's position: ids above $2^{24}$ are "
        f"then merged. Of the {count} ids from {first} on only {distinct} stay distinct, and merged particles share "
        "their random numbers. The ids here are integers."
    )


def overlaps(table: pd.DataFrame, length: int) -> str:
    """How many sub-sequences start anew and how many overlap, from `cycle.overlap_table`."""
    last = table.iloc[-1]
    threads, steps, all_starts = (f"{int(last[name]):,}" for name in ("threads", "steps", "stretches"))
    first, second, overlapping = (f"{int(last[name]):,}" for name in ("anew, first", "anew, second", "overlap, second"))
    return (
        f"A thread that follows one particle draws about {length} numbers a step. With {threads} threads and {steps} "
        f"steps there are {all_starts} sub-sequences of each generator, but only {second} different starts of the "
        f"second and {first} of the first. Of the {second}, {overlapping} overlap with another one (with as many "
        f"starts at random, {last['at random']:.0f} would). What grows with the steps is repetition; partial "
        "overlap is the smaller part of the problem: thread $n$ at step $t$ starts where thread $n+1$ started a step "
        "before, and the first generator starts at the same positions in every step."
    )


def verdict_note(runs: dict, wave) -> str:
    """The wave with one thread per cell, and what the runs of `density_waves` give with one thread per particle."""
    others = " and ".join(f"{value:.2f}" for value in over_chance(runs, BY_PARTICLE))
    return f"wave {wave}, median of {len(runs[BY_CELL])} runs; with a thread a particle {others}"


def too_short(steps: int) -> str:
    """Why a run of so few steps cannot judge the claim."""
    return f"{steps} steps are too few to tell a wave from chance: take {FEWEST_STEPS} or more"


def free_turns(wave, box, fluid: Fluid) -> float:
    """Turns a step of free sound in a wave, given by its whole numbers of lengths along the sides of the box."""
    number = np.linalg.norm(np.asarray(wave, float) / np.asarray(box, float))
    return float(exact.sound_speed(fluid) * number * fluid.dt)


def by_cell(table: pd.DataFrame, predicted: pd.DataFrame, wave, steps: int, free: float) -> str:
    """Waves and maps of the fluid with one thread per cell.

    `predicted` comes from `cycle.driven_waves`, `free` from `free_turns`.
    """
    rows = table.set_index("way")
    tea, cell = rows.loc[TEA], rows.loc[BY_CELL]
    short = f" *In {steps} steps the two cannot be told apart, and a wave hardly from chance.*"
    return (
        f"**One thread per cell.** The strongest wave is {cell['strongest wave']} with {cell['its excess']:.1f} times "
        f"the power that TEA gives it, where TEA's own runs reach {tea['its excess']:.1f} by chance. Its phase "
        f"advances by {abs(cell['turns a step']):.4f} turns a step, to within {1 / steps:.4f}. The prediction from the "
        f"generator's constants for this wave: {cycle.driver(predicted, wave)} (driven waves are rounded to those that "
        f"fit into the box). Free sound of this length would advance by {free:.4f}."
        f"{'' if steps >= FEWEST_STEPS else short} The maps of kT of two runs have a correlation of "
        f"{cell['kT pattern']:.2f} and a standard deviation of {cell['kT in cells, scatter']:.3f} (TEA: "
        f"{tea['kT pattern']:.2f} and {tea['kT in cells, scatter']:.3f}); the mean kT is {cell['kT']:.3f} (TEA: "
        f"{tea['kT']:.3f})."
    )


def by_particle(table: pd.DataFrame) -> str:
    """The temperature of the fluid with one thread per particle."""
    rows = table.set_index("way")
    tea, particle = rows.loc[TEA], rows.loc[BY_PARTICLE]
    return (
        f"**One thread per particle.** The strongest wave has an excess of {particle['its excess']:.1f}. But kT is "
        f"{particle['kT']:.3f} in the mean of {int(particle['runs'])} runs instead of 1 (TEA: {tea['kT']:.3f} in "
        f"{int(tea['runs'])}). Equation 5 balances friction and noise only for noise that is white in time, and a "
        "pair's numbers oscillate as in the left panel above."
    )


def momentum(table: pd.DataFrame) -> str:
    """That momentum is conserved with every generator."""
    return (
        f"**Momentum is conserved.** Each pair is computed once in both mappings, so its two forces cancel: the mean "
        f"velocity never exceeds {table['drift'].max():.0e}. Where two threads compute the same pair (the full "
        "stencil, the fast strategy on a GPU), method one is impossible: each thread would draw another number."
    )
