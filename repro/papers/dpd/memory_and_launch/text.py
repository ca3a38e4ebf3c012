"""Sentences of the notebook on memory access and launch parameters, as Markdown, with their numbers."""

from statistics import median

import pandas as pd

from . import access, memory


def strides(walks: pd.DataFrame, device) -> str:
    """The slowest stride and random access on the largest array, from `access.strides_table`."""
    large = access.largest_array(walks)
    worst, one = access.worst_stride(large), large.loc[1]
    size = f"2^{walks['bits'].iloc[-1]}"
    unit = access.sector(device)
    lines = access.LONG_LINE // access.ITEM
    at_roof = one["of copy"] >= access.AT_THE_ROOF
    limit = "the memory limits it" if at_roof else "something else limits it, so that the ratios are too small"
    return (
        f"On `{device}`, arrays of {size} numbers: coalesced access reaches {one['GB/s']:.4g} GB/s, "
        f"**{100 * one['of copy']:.0f} %** of a plain copy: {limit}. The slowest stride is {worst} with "
        f"**{large.loc[worst, 'ratio']:.1f}** times the time of stride 1; access at random takes "
        f"**{_at_random(large):.1f}** times. Transactions of {unit} bytes for every number of {access.ITEM} explain a "
        f"factor of {large['model'].max():g}; lines of {access.LONG_LINE} bytes would explain {lines}."
    )


def strides_note(walks: pd.DataFrame) -> str:
    """The ratios beside the one that is judged, and what bytes explain."""
    large = access.largest_array(walks)
    worst = access.worst_stride(large)
    share = 100 * large.loc[1, "of copy"]
    return (
        f"stride 1 at {share:.0f} % of a copy; stride {worst}: {large.loc[worst, 'ratio']:.1f}, "
        f"at random: {_at_random(large):.1f}; bytes of sectors explain {large['model'].max():g}"
    )


def _at_random(large: pd.DataFrame) -> float:
    """The ratio of access at random, stride 0; nan if it was not timed."""
    return large["ratio"].get(0, float("nan"))


def constants(table: pd.DataFrame) -> str:
    """The fastest place of the constants for each stencil, from `memory.constants_table`."""
    gain = memory.gains(table)
    best = {stencil: gain[stencil].idxmax() for stencil in ("half", "full")}
    gains = " and ".join(
        f"**{gain[stencil, place]:.3f}** times the speed with the {stencil} stencil ({place})"
        for stencil, place in best.items()
    )
    return (
        f"Against global memory the best place gains {gains}. The repetitions of one measurement spread by up to "
        f"{table['spread'].max():.1%}, so a smaller difference is not significant."
    )


def constants_note(table: pd.DataFrame) -> str:
    """The gain of the read-only path beside the one that is judged, and the spread."""
    full = memory.gains(table)["full", "read-only path"]
    return f"half stencil; full stencil {full:.3f}; spread of the repetitions up to {table['spread'].max():.1%}"


def launches(table: pd.DataFrame, limited: dict[str, list[float]], block: int) -> str:
    """The fastest launch of each kernel beside that with the largest occupancy, from `occupancy.launch_table`.

    `limited` are the gains by limits of registers at blocks of `block` threads, from `occupancy.gain_by_limits`.
    """
    return " ".join(_one_kernel(name, rows, median(limited[name]), block) for name, rows in table.groupby("strategy"))


def _one_kernel(name: str, rows: pd.DataFrame, gain: float, block: int) -> str:
    fastest = rows.loc[rows["seconds"].idxmin()]
    fullest = rows.sort_values(["occupancy", "seconds"], ascending=[True, False]).iloc[-1]
    rank = rows[["occupancy", "seconds"]].corr("spearman").loc["occupancy", "seconds"]
    return (
        f"`{name}` is fastest with blocks of {fastest['block']}, {fastest['registers']} registers and an occupancy of "
        f"{fastest['occupancy']:.0%}; with the largest occupancy, {fullest['occupancy']:.0%}, it takes "
        f"{fullest['seconds'] / fastest['seconds']:.2f} times as long. The rank correlation of occupancy and speed is "
        f"{-rank:.2f}. The best limit of registers at blocks of {block} gains {gain:.3f} times."
    )


def limits_note(limited: dict[str, list[float]]) -> str:
    """The gains by a limit of registers, by kernel, from `occupancy.gain_by_limits`."""
    return ", ".join(f"{name} {median(values):.3f}" for name, values in limited.items())
