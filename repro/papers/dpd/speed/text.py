"""Sentences of the speed notebook, as Markdown, with their numbers."""

import pandas as pd

from .tables import ALL_CORES, BASELINES, PAPER_PROGRAM, TEA_PROGRAM


def trajectories(moved: pd.DataFrame, particles: int) -> str:
    """Which ways follow the linked list bit for bit to the last step, in single precision.

    `moved` comes from `tables.trajectory_table`, for a system of so many particles.
    """
    last = moved["step"].max()
    apart = moved[(moved["step"] == last) & (moved["precision"] == "single")].set_index("way")["particles apart"]
    same, other = apart.index[apart == 0], apart.index[apart > 0]
    return (
        f"After {last} steps of {particles} particles in single precision these are, bit for bit, where the program "
        f"*{TEA_PROGRAM}* has them: **{'; '.join(same) or 'none'}**. Not so: {'; '.join(other) or 'none'}."
    )


def printed_speedup(paper: pd.DataFrame) -> str:
    """That the last speedup of the paper's table does not follow from its rates, from `tables.published`."""
    last = paper.iloc[-1]
    return (
        f"The paper's last row does not follow from its own rates: {last['thread per particle']:.3g} over "
        f"{last['one core']:.3g} particles a second is **{last['from rates, particle']:.2f}**, where "
        f"{last['speedup, particle']:g} is printed. The claim is judged as printed."
    )


def cpu_rates(table: pd.DataFrame, paper: pd.DataFrame, others: pd.DataFrame) -> str:
    """The updates a second of the CPU's ways on the largest system, beside the paper's core and other codes.

    `others` are from `tables.other_codes`.
    """
    largest = table["particles"].iloc[-1]
    of_way = {way: table[table["way"] == way].iloc[-1] for way in BASELINES}
    rates = "; ".join(f"{way}: **{run['updates'] / 1e6:.2f}**" for way, run in of_way.items())
    paper_core = paper["one core"].iloc[table["particles"].nunique() - 1] / 1e6
    return (
        f"Million updates a second on {largest} particles: {rates} ({of_way[ALL_CORES]['hardware']}). The paper's "
        f"core did {paper_core:.2f}. {' '.join(_beside(code, some) for code, some in others.groupby('code'))}"
    )


def _beside(code: str, some: pd.DataFrame) -> str:
    rates = " and ".join(f"{row['updates'] / 1e6:.2f} on {row['cores']} of its cores" for _, row in some.iterrows())
    first = some.iloc[0]
    return (
        f"For scale: {code}, a production code ({first['version']}), made {rates} with this fluid on another machine, "
        f"{first['hardware']}, where {first['who']} timed it. That is a remark and not a measurement of this run."
    )


def force_shares(parts: pd.DataFrame) -> str:
    """The share of a step that the forces take, by way, from `tables.parts_table`."""
    seconds = parts.groupby("way", sort=False)["seconds"].sum()
    forces = parts[parts["group"] == "forces"].groupby("way", sort=False)["seconds"].sum()
    shares = ", ".join(f"{100 * share:.0f} % of a step with {way}" for way, share in (forces / seconds).items())
    return f"The forces take {shares}."


def growth(table: pd.DataFrame) -> str:
    """The rates behind the speedups: of one thread per particle, and of the paper's program, by the particles."""
    mapping, core = (table[table["way"] == way] for way in ("thread per particle", PAPER_PROGRAM))
    fast, slow = (", ".join(f"{rate / 1e6:.3g}" for rate in rows["updates"]) for rows in (mapping, core))
    *small, large = (f"{count:,}" for count in mapping["particles"])
    sizes = f"{', '.join(small)} and {large}" if small else large
    return (
        f"With {sizes} particles one thread per particle does {fast} million updates a second, and "
        f"*{PAPER_PROGRAM}* {slow}. A speedup grows when the first rises, and also when the second falls."
    )


def result(table: pd.DataFrame, paper: pd.DataFrame) -> str:
    """The speedups of the paper's better mapping on the largest system, and of the fastest way there, by baseline.

    `paper` comes from `tables.published`.
    """
    mapping = table[table["way"] == "thread per particle"].iloc[-1]
    at_size = table[table["particles"] == mapping["particles"]]
    best = at_size.loc[at_size["updates"].idxmax()]
    noise = f"{best['rounds']} rounds" if best["rounds"] else "the linear generator"
    core = paper.set_index("particles").loc[mapping["particles"], "one core"]
    return (
        f"The mapping that is the better one in the paper, on {mapping['particles']:,} particles with "
        f"{mapping['rounds']} rounds of TEA on {mapping['hardware']}, is {_factors(mapping, at_size, core)} The "
        f"fastest way of this table at this size is {best['way']} ({best['device']}, {noise}): "
        f"{best['updates'] / 1e6:.3g} million updates a second. That is {_factors(best, at_size, core)}"
    )


def _over(row, name: str) -> str:
    """By how much a row is faster than a program, or that it is that program."""
    return f"this is {name}" if row["way"] == name else f"**{times(row[f'over {name}'])} times** {name}"


def _factors(row, at_size: pd.DataFrame, paper_core: float) -> str:
    """By how much a row is faster than the best programs on one core and on all, and then than the others.

    `at_size` are the rows of that size, `paper_core` the updates a second of the paper's core.
    """
    rates = at_size.set_index("way")["updates"]
    one = max((name for name in BASELINES if name != ALL_CORES), key=rates.get)
    best = f"{_over(row, one)} (the best on one core); {_over(row, ALL_CORES)} (the best on all cores)"
    rest = "; ".join(
        f"{times(row[f'over {name}'])} times {name}, which does {rates[name] / 1e6:.2f} million updates a second"
        + (f", less than the paper's core ({paper_core / 1e6:.2f})" if rates[name] < paper_core else "")
        for name in BASELINES
        if name not in (one, ALL_CORES, row["way"])
    )
    return f"{best}. Over the slower programs: {rest}."


def times(factor: float) -> str:
    """A factor with three digits at most, never in powers of ten."""
    return f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"


def cost_of_tea(noise: pd.DataFrame) -> str:
    """How much longer a step takes with TEA, by its rounds, from `tables.noise_table`."""
    tea = noise[noise["rounds"] > 0]
    costs = ", ".join(
        f"{cost:.2f} with {rounds}" for rounds, cost in zip(tea["rounds"], tea["over method one"], strict=True)
    )
    return (
        f"A step with one thread per particle takes this many times as long with TEA as with the linear generators, by "
        f"the rounds for a pair: {costs}."
    )
