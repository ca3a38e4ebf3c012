"""Sentences of the speed notebook, as Markdown, with their numbers."""

import pandas as pd

from .speed import FORCE, FOUR_THREADS, GPU_LIST, NEIGHBOUR_LIST, ONE_CORE, PAPER, PARTS_OF, RUNS, group_times

#: the column of `speed.over_both` over the paper's times
OVER_PAPER = "over the paper's"


def paper_speedups(published: pd.DataFrame) -> str:
    """The speedups that the paper's own table 1 gives, from `speed.published`."""
    over = {way: published.loc[way] / published.loc[PAPER] for way in (GPU_LIST, FOUR_THREADS, ONE_CORE)}
    ranges = {way: f"**{ratio.min():.3g} to {ratio.max():.3g}**" for way, ratio in over.items()}
    return (
        f"By its own table 1 the paper's method is {ranges[GPU_LIST]} times as fast as the linked list on the GPU, "
        f"{ranges[FOUR_THREADS]} times as fast as four threads and {ranges[ONE_CORE]} times as fast as one core. "
        f'The text says "close to 6" for four threads, which the table does not give.'
    )


def sizes(table: pd.DataFrame) -> str:
    """Fluid, ghosts, neighbours and passes of each size, from `speed.time_table`."""
    lines = []
    for number, rows in table.groupby("thousands", sort=False):
        row = rows.iloc[0]
        lines.append(
            f"* the paper's {number} thousand: {row['particles']:,} of fluid and {row['ghosts']:,} ghosts in walls; a "
            f"fluid particle has **{row['neighbours']:.0f} neighbours** on average at a smoothing length of "
            f"{row['ratio']:g} spacings, and a step makes **{row['passes']} passes** over them, and "
            f"{row['passes of ghosts']} from the ghosts"
        )
    return "\n".join(lines)


def programs(table: pd.DataFrame) -> str:
    """How fast the paper's method is beside the others, at the largest size, from `speed.time_table`."""
    rows = table[table["thousands"] == table["thousands"].max()].set_index("way")
    paper, fast = rows.loc[PAPER], rows.loc[RUNS]
    found = "; ".join(
        f"*{way}* ({row['hardware']}) **{row['ms'] / paper['ms']:.2g} times** as long"
        for way, row in rows.drop(PAPER).iterrows()
    )
    return (
        f"With {paper['thousands']} thousand particles a step of the paper's method takes {paper['ms']:.3g} ms on "
        f"{paper['hardware']}. Beside it: {found}. The fast search makes {fast['million/s']:.3g} million steps of a "
        "fluid particle a second."
    )


def parts(times: pd.DataFrame, published: pd.DataFrame) -> str:
    """The share of the neighbour list in a step, ours and the paper's, and what its order costs a linked list."""
    groups = group_times(times)

    def share(table, way):
        return 100 * table.loc[way, NEIGHBOUR_LIST] / table.loc[way].sum()

    found = "; ".join(f"*{way}* {share(groups, way):.2g} % ({share(published, way):.2g} %)" for way in groups.index)
    text = f"Share of the neighbour list in a step, in brackets the paper's: {found}."
    ordered = times[(times["part"] == "sort the links") & (times["way"] == GPU_LIST)]["ms"]
    if len(ordered):
        text += (
            f" Of the linked list's, {ordered.median():.2g} ms put the links in the order of the particles' numbers, "
            "which the paper does not mention and without which two runs differ."
        )
    return text + _without_density(times)


def _without_density(times: pd.DataFrame) -> str:
    """List and forces of both programs of the GPU with the density in neither; of `speed.parts_table`."""
    bare = times[(times["device"] == "cuda") & (times["part"] != "density")]
    if bare.empty:
        return ""
    sums = bare.groupby(["way", "run", "group"], sort=False)["ms"].sum().groupby(["way", "group"], sort=False).median()
    found = "; ".join(
        f"*{way}* {sums[way, NEIGHBOUR_LIST]:.2g} and {sums[way, FORCE]:.2g} ms" for way in sums.index.unique("way")
    )
    return f" With the density in neither, list and force take: {found}."


def core(times: pd.DataFrame, parts: pd.DataFrame, published: pd.DataFrame) -> str:
    """Why one core takes other times than the paper's: what a neighbour costs, and ghosts; of 15 thousand particles."""
    alike = times[(times["way"] == ONE_CORE) & (times["thousands"] == PARTS_OF)]
    if alike.empty:
        return ""
    row = alike.iloc[0]
    rows = parts[parts["way"] == ONE_CORE].groupby("part")["ms"].median()
    looked, ghosts = rows["density"] + rows["forces"], rows["ghosts in walls"]
    theirs = published.loc[ONE_CORE, FORCE]
    each = looked / (row["particles"] * row["neighbours"] * row["passes"])
    return (
        f"On one core, density and forces take {looked:.3g} ms here, which is {1e6 * each:.3g} ns a neighbour and "
        f"pass, and the pass from the ghosts {ghosts:.3g} ms; the paper has {theirs:g} ms for all of it. At our rate "
        f"that would be enough for {theirs / (each * row['particles'] * row['passes']):.0f} neighbours without ghosts "
        f"instead of {row['neighbours']:.0f} with. Our loop leaves out what a serial program can do: it does not "
        "compute each pair once for both of its particles, and it sums in double precision and in one order, which is "
        "what gives all programs the same bits. How many neighbours the paper has, and whether it takes each pair "
        "once, it does not say."
    )


def both(table: pd.DataFrame) -> str:
    """The speedups over our CPU programs beside those over the paper's times; of `speed.over_both`."""

    def span(name, way):
        values = table.loc[table["over"] == way, name]
        return f"{values.min():.3g}" + (f" to {values.max():.3g}" if len(values) > 1 else "")

    lines = [
        f"* over *{way}*: **{span('over ours', way)} times** as fast as ours, **{span(OVER_PAPER, way)} times** as the "
        f"paper's on its machine; in the paper {span('in the paper', way)} times"
        for way in (FOUR_THREADS, ONE_CORE)
    ]
    return "\n".join(lines)


def sorting(times: pd.DataFrame) -> str:
    """What the sort costs the paper's method beside a linked list on the GPU; of `speed.parts_table`."""
    gpu = times[times["device"] == "cuda"]
    if not {PAPER, GPU_LIST} <= set(gpu["way"]):
        return ""
    steps = gpu.groupby(["way", "run"])["ms"].sum().groupby("way").median()
    sort = gpu[(gpu["way"] == PAPER) & gpu["part"].str.startswith("sort by")].groupby("run")["ms"].sum().median()
    behind = steps[PAPER] - steps[GPU_LIST]
    told = "ahead of" if behind < 0 else "behind"
    return (
        f"On the GPU the sort takes {sort:.2g} ms of the paper's method's {steps[PAPER]:.2g} ms, which is "
        f"{abs(behind):.2g} ms {told} the linked list in all."
    )


def deviations(times: pd.DataFrame, parts: pd.DataFrame, compared: pd.DataFrame, published: pd.DataFrame) -> str:
    """All that is said of speedups and times that differ from the paper's; `compared` is of `speed.over_both`."""
    on_gpu = "cuda" in set(times.loc[times["way"] == PAPER, "device"])
    told = [both(compared) if on_gpu else "", core(times, parts, published), sorting(parts)]
    return "\n\n".join(text for text in told if text)


def production(table: pd.DataFrame) -> str:
    """The rates with many particles, from `speed.production_table`."""
    found = "; ".join(
        f"{row['particles']:,} particles with {row['neighbours']:.0f} neighbours: **{row['million/s']:.0f} million** "
        f"({row['ms']:.3g} ms a step)"
        for _, row in table.iterrows()
    )
    return f"Steps of a fluid particle a second on {table['hardware'].iloc[0]}: {found}."


def pysph(table: pd.DataFrame, others: pd.DataFrame) -> str:
    """Our steps beside those of other codes, from `speed.pysph_table` and `speed.other_codes`."""
    found = "; ".join(f"**{row['ms']:.3g} ms** on {row['hardware']}" for _, row in table.iterrows())
    row = table.iloc[0]
    return " ".join(
        [f"A step with {row['particles']:,} fluid particles and {row['ghosts']:,} ghosts takes {found}."]
        + [_beside(code, some) for code, some in others.groupby("code")]
    )


def _beside(code: str, some: pd.DataFrame) -> str:
    times = " and ".join(f"{row['ms']:.3g} ms on {row['cores']} of its cores" for _, row in some.iterrows())
    first = some.iloc[0]
    return (
        f"{code} ({first['version']}) took {times} for {first['fluid']:,} fluid particles and {first['others']:,} "
        f"others, with {first['evaluations']} evaluations of the forces in a step where ours has one, and in "
        f"{first['precision']} precision, on another machine, {first['hardware']}, where {first['who']} timed it. That "
        "is a remark and not a measurement of this run."
    )
