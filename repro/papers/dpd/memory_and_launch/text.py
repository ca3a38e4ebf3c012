"""Sentences of the notebook on memory access and launch parameters, as Markdown, with their numbers."""

from statistics import median

import pandas as pd

from . import access, memory, occupancy


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
    """The fastest place of the constants for each stencil, and the judged one, from `memory.constants_table`."""
    gain = memory.gains(table)
    best = {stencil: gain[stencil].idxmax() for stencil in ("half", "full")}
    scatter, of_what = _scatter(table)
    limit = _significant(table)
    gains = " and ".join(
        f"**{gain[stencil, place]:.3f}** times the speed with the {stencil} stencil ({place}"
        f"{', which is not significant' if gain[stencil, place] - 1 <= limit else ''})"
        for stencil, place in best.items()
    )
    return (
        f"Against global memory the best place gains {gains}. {of_what} lie apart by up to {scatter:.1%}, and a gain "
        f"is a ratio of two, so one of less than {limit:.1%} is not significant.{_read_only(table, gain)}"
    )


def _significant(table: pd.DataFrame) -> float:
    """The difference of a gain from one that scatter alone may make: a gain is a ratio of two times."""
    return 2 * _scatter(table)[0]


def _scatter(table: pd.DataFrame) -> tuple[float, str]:
    """By how much the times of a case lie apart at most, and what these times are of."""
    several = table["runs"].map(len) > 1
    if several.any():
        return table.loc[several, "spread"].max(), "Independent runs of one case"
    return table["spread"].max(), "The repetitions of one measurement"


def _read_only(table: pd.DataFrame, gain: pd.Series) -> str:
    """The gain of the read-only path, and the registers that it takes; empty where there is no such path."""
    if ("half", memory.READ_ONLY) not in gain:
        return ""
    judged = memory.read_only_gain(table)
    change, scatter = judged["measured"] - 1, judged["scatter"]
    kind = "no difference beyond that" if abs(change) <= scatter else "faster" if change > 0 else "**slower**"
    return (
        f" The *read-only path*, by which the claim is judged, has **{1 + change:.3f}** times the speed of global "
        f"memory with the half stencil, where runs differ by {scatter:.3f} ({kind}), and "
        f"{gain['full', memory.READ_ONLY]:.3f} times with the full one.{_registers(table, kind == '**slower**')}"
    )


def _registers(table: pd.DataFrame, slower: bool) -> str:
    """How many registers the read-only path takes, and whether that can explain a loss."""
    if "registers" not in table:
        return ""
    at = table.set_index(["stencil", "constants"])
    rows = {stencil: [at.loc[(stencil, place)] for place in memory.COMPARED] for stencil in ("half", "full")}
    taken = " and ".join(
        f"{cached['registers']} registers with the {stencil} stencil (global memory: {plain['registers']}), an "
        f"occupancy of {cached['occupancy']:.0%} ({plain['occupancy']:.0%})"
        for stencil, (plain, cached) in rows.items()
    )
    fewer = {stencil: cached["occupancy"] < plain["occupancy"] for stencil, (plain, cached) in rows.items()}
    why = ""
    if slower and fewer["half"]:
        why = " Fewer resident warps are a likely cause of the loss"
        spared = fewer["full"] and at.loc[("full", memory.READ_ONLY), "against global memory"] > 1 - _significant(table)
        why += ", though the full stencil keeps its speed with fewer." if spared else "."
    elif slower:
        why = " The occupancy is no lower, so the cause of the loss is not known."
    return f" It takes {taken}.{why}"


def constants_note(table: pd.DataFrame) -> str:
    """The gain of the read-only path beside the one that is judged, and the spread."""
    full = memory.gains(table)["full", memory.READ_ONLY]
    return f"half stencil; full stencil {full:.3f}; runs lie apart by up to {_scatter(table)[0]:.1%}"


def as_few_warps(table: pd.DataFrame, launched: pd.DataFrame, block: int) -> str:
    """What the kernel loses without the read-only path where it has as few warps; empty where no launch has.

    `table` is from `memory.constants_table`, `launched` from `occupancy.launch_tables`.
    """
    cached = table.set_index(["stencil", "constants"]).loc[("half", memory.READ_ONLY)]
    rows = launched[(launched["strategy"] == "particle") & (launched["limit"] == 0)].set_index("block")
    if block not in rows.index or cached["occupancy"] >= rows.loc[block, "occupancy"]:
        return ""
    alike = (rows["occupancy"] == cached["occupancy"]) & (rows["registers"] == rows.loc[block, "registers"])
    same = rows[alike]
    if same.empty:
        return ""
    ratio = rows.loc[block, "seconds"] / same["seconds"].iloc[0]
    return (
        f"The occupancy of the read-only path above, {cached['occupancy']:.0%}, is that of `particle` with blocks of "
        f"{same.index[0]}, whose code is the same as with blocks of {block}: it has **{ratio:.3f}** times the speed of "
        f"these, where the read-only path has {cached['against global memory']:.3f} times that of global memory.\n\n"
    )


def launches(table: pd.DataFrame, limited: pd.DataFrame, block: int) -> str:
    """The fastest launch of each kernel beside that with the largest occupancy, from `occupancy.launch_table`.

    `limited` are the gains by limits of registers at blocks of `block` threads, from `occupancy.gains_by_limits`.
    """
    return "\n\n".join(
        f"{_one_kernel(name, rows)} {_limits(limited[limited['strategy'] == name], block)}"
        for name, rows in table.groupby("strategy")
    )


def _one_kernel(name: str, rows: pd.DataFrame) -> str:
    fastest = rows.loc[rows["seconds"].idxmin()]
    fullest = rows.sort_values(["occupancy", "seconds"], ascending=[True, False]).iloc[-1]
    rank = rows[["occupancy", "seconds"]].corr("spearman").loc["occupancy", "seconds"]
    stops = ", ".join(f"{what} ({times})" for what, times in rows["stopped by"].value_counts().items())
    near = int((rows["seconds"] <= 1.01 * fastest["seconds"]).sum()) - 1
    return (
        f"`{name}` is fastest with blocks of {fastest['block']}, {fastest['registers']} registers and an occupancy of "
        f"{fastest['occupancy']:.0%}; {near or 'no'} other launch{'' if near == 1 else 'es'} "
        f"lie{'s' * (near == 1)} within 1 % of its time. "
        f"With the largest occupancy, {fullest['occupancy']:.0%}, it takes "
        f"{fullest['seconds'] / fastest['seconds']:.2f} times as long. The rank correlation of occupancy and speed is "
        f"{-rank:.2f}. What stops the occupancy of its {len(rows)} launches: {stops}."
    )


def _limits(limited: pd.DataFrame, block: int) -> str:
    """How many of the limits of one kernel gain, and what the best one does."""
    if limited.empty:
        return ""
    raising = occupancy.with_more_warps(limited)
    faster = sum(median(runs) for runs in raising["faster"])
    best = limited.loc[limited["gains"].map(median).idxmax()]
    spills = "spills nothing" if best["local"] == 0 else f"spills {best['local']} bytes a thread"
    gain = median(best["gains"])
    what = f"gains {gain:.3f} times" if gain > 1 else f"gains nothing ({gain:.3f} times the speed)"
    return (
        f"Of {len(limited)} limits of registers at blocks of {block}, {len(raising)} raise the occupancy, and "
        f"{faster:g} of these gain{'s' * (faster == 1)} more than the runs scatter. The best limit, {best['limit']}, "
        f"{what}: the kernel has {best['registers']} registers instead of "
        f"{best['registers before']}, {spills}, and its occupancy is {best['occupancy']:.0%} instead of "
        f"{best['occupancy before']:.0%}.{_why(best)}"
    )


def _why(best: pd.Series) -> str:
    """What can be said of the cause of a gain; empty where the best limit does not gain."""
    if not median(best["faster"]):
        return ""
    if best["occupancy"] > best["occupancy before"]:
        price = "without additional loads" if best["local"] == 0 else "worth more than the additional loads"
        return f" More warps, {price}, are a likely cause of the gain; a changed order of instructions may be another."
    return " The gain does not come from more warps, but from a changed code."


def left_out(kernels, blocks) -> str:
    """The block sizes that are not run, since they need too much shared memory; empty where there are none."""
    sizes = {name: occupancy.left_out(name, blocks) for name in kernels}
    most = occupancy.MOST_STATIC_SHARED // 1024
    return "".join(
        f"\n\nLeft out for `{name}`: blocks of {_with_and(left)}, which need "
        f"{_with_and(occupancy.shared_bytes(name, size) // 1024 for size in left)} KiB of static shared memory; a "
        f"block can have {most}."
        for name, left in sizes.items()
        if left
    )


def _with_and(numbers) -> str:
    return " and ".join(map(str, numbers))


def limits_note(limited: pd.DataFrame) -> str:
    """How many limits raise the occupancy, and the largest gain of each kernel, from `occupancy.gains_by_limits`."""
    raising = occupancy.with_more_warps(limited)
    best = limited.assign(gain=limited["gains"].map(median)).groupby("strategy")["gain"].max()
    gains = ", ".join(f"{name} {gain:.3f}" for name, gain in best.items())
    return f"{len(raising)} of {len(limited)} limits raise the occupancy; largest gains: {gains}"
