"""Sentences of the speed notebook, as Markdown, with their numbers."""

import pandas as pd

from .tables import ALL_CORES, BASELINES, LAMMPS, PAPER_PROGRAM, TEA_PROGRAM


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


def cpu_rates(table: pd.DataFrame, paper: pd.DataFrame) -> str:
    """The updates a second of the CPU's ways on the largest system, beside the paper's core and LAMMPS."""
    largest = table["particles"].iloc[-1]
    of_way = {way: table[table["way"] == way].iloc[-1] for way in BASELINES}
    rates = "; ".join(f"{way}: **{run['updates'] / 1e6:.2f}**" for way, run in of_way.items())
    one, two = (rate / 1e6 for rate in LAMMPS.values())
    paper_core = paper["one core"].iloc[table["particles"].nunique() - 1] / 1e6
    return (
        f"Million updates a second on {largest} particles: {rates} ({of_way[ALL_CORES]['hardware']}). The paper's "
        f"core did {paper_core:.2f}. For scale: LAMMPS, a production code, does about {one:g} million on one core and "
        f"{two:g} million on two cores of a server's processor for this fluid. That is a remark and not a measurement "
        "of this run."
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
    sizes = ", ".join(str(count) for count in mapping["particles"])
    return (
        f"With {sizes} particles one thread per particle does {fast} million updates a second, and "
        f"*{PAPER_PROGRAM}* {slow}. A speedup grows when the first rises, and also when the second falls."
    )


def result(table: pd.DataFrame) -> str:
    """The speedups of the paper's better mapping on the largest system, and of the fastest way there, by baseline."""
    mapping = table[table["way"] == "thread per particle"].iloc[-1]
    at_size = table[table["particles"] == mapping["particles"]]
    best = at_size.loc[at_size["updates"].idxmax()]
    return (
        f"The paper's better mapping on {mapping['particles']} particles, on {mapping['hardware']}, is "
        f"{_factors(mapping)}. The fastest way at this size is {best['way']} ({best['device']}): "
        f"{best['updates'] / 1e6:.3g} million updates a second. That is {_factors(best)}."
    )


def _factors(row) -> str:
    """By how much a row of a table is faster than each baseline."""
    return "; ".join(f"**{row[f'over {name}']:.3g} times** {name}" for name in BASELINES)
