"""Sentences of the speed notebook, as Markdown, with their numbers."""

import re

import pandas as pd

from .claims import SETUP
from .programs import BATCHES, LOOP, ON_DEVICE, PAPER, PRODUCTION
from .shared import CORES

#: what is said where no GPU is
NO_GPU = "Without a GPU there is no speedup to measure: the programs of the CPU stand in the table above."


def _ns(value: float) -> str:
    return f"{value:,.0f} ns" if value >= 100 else f"{value:.3g} ns"


def conditions(table: pd.DataFrame) -> str:
    """What the speeds hang on, from `tables.speeds`."""
    row = table.loc[table["particles"].idxmax()]
    density = row["particles"] / row["cells"]
    return (
        f"A particle has **{row['per step']:.2f} segments** in a step on average; there are {density:.0f} particles a "
        f"cell, and up to {row['particles']:,} particles in {row['cells']:,} cells. The bits of every program were "
        f"checked: {row['check']}."
    )


def programs(table: pd.DataFrame) -> str:
    """How long each program takes with the most particles it was given, from `tables.speeds`."""
    lines = []
    for name, rows in table.groupby("program", sort=False):
        row = rows.loc[rows["particles"].idxmax()]
        lines.append(
            f"* *{name}* ({row['hardware']}): **{_ns(row['ns'])}** a particle and step with {row['particles']:,} "
            f"particles, {row['segments'] / 1e6:,.0f} million segments a second{_launches(row)}"
        )
    return "\n".join(lines)


def _launches(row) -> str:
    if pd.isna(row["busy"]):
        return ""
    return (
        f"; **{row['launches']:,} launches** a step, in which {100 * row['busy']:.0f} % of the threads had a particle"
    )


def speedups(table: pd.DataFrame) -> str:
    """Speedups with the most and the fewest particles, with the scatter of the runs, from `tables.speedups`."""
    most, least = table["particles"].max(), table["particles"].min()
    at = table.set_index(["program", "over", "particles"])
    lines = []
    for name in dict.fromkeys(table["program"]):
        found = " and ".join(
            f"**{at.loc[(name, over, most), 'speedup']:.3g} times** as fast as *{over}* "
            f"({_scattered(at.loc[(name, over, least)])} with {least:,})"
            for over in (LOOP, BATCHES)
        )
        lines.append(f"* *{name}*: with {most:,} particles {found}")
    return "\n".join(lines)


def _scattered(row) -> str:
    """A speedup with those of its runs where they differ by more than a tenth."""
    low, high = min(row["runs"]), max(row["runs"])
    return f"{row['speedup']:.3g}" + (f", runs from {low:.3g} to {high:.3g}," if high > 1.1 * low else "")


def trend(table: pd.DataFrame, speeds: pd.DataFrame) -> str:
    """How times and speedups go from the most particles to fewer, number by number; both tables of `tables`."""
    most, *fewer = sorted(table["particles"].unique(), reverse=True)
    ns = speeds.set_index(["program", "size_of"])["ns"]
    at = table.set_index(["program", "over", "particles"])["speedup"]
    lines = []
    for size in fewer:
        grow = ", ".join(f"*{name}* {ns[name, size] / ns[name, most]:.2g}" for name in (PAPER, LOOP, BATCHES))
        over = ", ".join(f"*{base}* {at[PAPER, base, size] / at[PAPER, base, most]:.2g}" for base in (LOOP, BATCHES))
        lines.append(f"* with {size:,}: times a particle {grow}; speedups of *{PAPER}* over {over}")
    return f"Relative to {most:,} particles:\n\n" + "\n".join(lines) if lines else ""


def meaning(table: pd.DataFrame, speeds: pd.DataFrame, setup: pd.DataFrame) -> str:
    """What the speedup hangs on: the program it is over, and the cores and GPUs on both sides; `claims.setup`."""
    _, theirs, gpus = (int(value) for value in setup.set_index("id").loc[list(SETUP), "paper"])
    most = table["particles"].max()
    at = table[table["particles"] == most].set_index(["program", "over"])["speedup"]
    cores = speeds[speeds["program"] == LOOP]["hardware"].iloc[0]
    better = at[PAPER, LOOP] / at[PAPER, BATCHES]
    share = theirs / gpus
    alike = at[PAPER, LOOP] * int(re.search(r"(\d+) core", cores)[1]) / share
    return (
        f"One GPU is compared with {cores}. The paper compares {gpus} GPUs with {theirs} cores, which are {share:g} "
        f"cores a GPU. Over the loop that takes particle by particle, as the paper's program does, its way on a GPU is "
        f"{at[PAPER, LOOP]:.3g} times as fast, over the same cores with batches {at[PAPER, BATCHES]:.3g} times: **a "
        f"factor of {better:.2g} lies in the program of the CPU.** Over {share:g} cores, as many as the paper has "
        f"for a GPU, the first would be {alike:.3g} times if the loop is as fast as its cores are many. With the "
        f"fields on the GPU it is {at[ON_DEVICE, LOOP]:.3g} times as fast as the loop, and what is fast on a GPU "
        f"today, one launch for all segments, {at[PRODUCTION, LOOP]:.3g} times."
    )


def shared(table: pd.DataFrame) -> str:
    """What several processes cost, from `shared.shared`."""
    lines = []
    for (name, sharing), rows in table.groupby(["program", "sharing"], sort=False):
        at = rows.loc[rows["processes"].idxmax()]
        alone = table[(table["program"] == name) & (table["processes"] == 1)]["ns"]
        if at["processes"] == 1 or alone.empty:
            continue
        ratio, way = at["ns"] / alone.iloc[0], "" if sharing == CORES else f", {sharing}"
        lines.append(
            f"* *{name}*{way}: {at['processes']} processes take {_ns(at['ns'])} a particle and step, **{ratio:.2g} "
            f"times** the {_ns(alone.iloc[0])} of one. In a step {100 * at['crossing']:.2g} % of the particles "
            f"cross to another process. A process keeps {at['currents'] / 1e6:.3g} MB of currents"
        )
    same = "Electrons of a small source were the same, bit for bit, with every number of processes.\n\n"
    reading = (
        "\n\nThe paper chose its test so that electrons cross between processes many times, so its share may be "
        "larger. What a process more costs here is not the share that crosses alone: each step has barriers and counts "
        "between processes, launches of few particles, and copies to and from the host. This test does not tell them "
        "apart."
    )
    return same + "\n".join(lines) + reading if lines else "Only one process was asked for."


def parts(table: pd.DataFrame) -> str:
    """Where the time of a step goes, from `tables.parts`."""
    lines = []
    for name, rows in table.groupby("program", sort=False):
        sums = rows.groupby("group", sort=False)["ns"].sum().sort_values(ascending=False)
        shares = ", ".join(f"{group} {100 * value / sums.sum():.0f} %" for group, value in sums.head(3).items())
        lines.append(f"* *{name}*: {_ns(sums.sum())} a particle, of which {shares}")
    return "\n".join(lines)


def codes(table: pd.DataFrame) -> str:
    """Ours beside other codes, from `tables.beside`."""
    lines = []
    for where, rows in table.groupby("where", sort=False):
        ours = rows[rows["who"] == "this run"]
        others = "; ".join(
            f"{row.code} {row.ns:g} ns ({row.hardware}, by {row.who})"
            for row in rows.itertuples()
            if row.who != "this run"
        )
        here = "; ".join(
            f"{row.case}, {row.precision} precision **{_ns(row.ns)}** ({row.code})" for row in ours.itertuples()
        )
        lines.append(f"* {where}: {here or 'not measured in this run'}. Others: {others or 'none stated'}")
    return "\n".join(lines)
