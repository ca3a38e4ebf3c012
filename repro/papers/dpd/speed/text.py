"""Sentences of the speed notebook, as Markdown, with their numbers."""

import pandas as pd

from .tables import BASELINES, LAMMPS

#: columns of the speedups, one per baseline
_SPEEDUPS = tuple(f"over {name}" for name in BASELINES)


def trajectories(moved: pd.DataFrame, particles: int) -> str:
    """Which ways follow the linked list bit for bit to the last step, in single precision.

    `moved` comes from `tables.trajectory_table`, for a system of so many particles.
    """
    last = moved["step"].max()
    apart = moved[(moved["step"] == last) & (moved["precision"] == "single")].set_index("way")["particles apart"]
    same, other = apart.index[apart == 0], apart.index[apart > 0]
    return (
        f"After {last} steps of {particles} particles in single precision these are, bit for bit, where the linked "
        f"list on one core has them: **{'; '.join(same) or 'none'}**. Not so: {'; '.join(other) or 'none'}."
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
    slow, quick, many = (of_way[way]["updates"] / 1e6 for way in BASELINES)
    one, two = (rate / 1e6 for rate in LAMMPS.values())
    paper_core = paper["one core"].iloc[table["particles"].nunique() - 1] / 1e6
    return (
        f"On {largest} particles the linked list does {slow:.2f} million updates a second on one core, the planes "
        f"{quick:.2f} on one core and {many:.2f} on all cores ({of_way[BASELINES[2]]['hardware']}). The paper's core "
        f"did {paper_core:.2f}. For scale: LAMMPS, a production code, does about {one:g} million on one core and "
        f"{two:g} million on two cores of a server's processor for this fluid. That is a remark and not a measurement "
        "of this run."
    )


def force_shares(parts: pd.DataFrame) -> str:
    """The share of a step that the forces take, by way, from `tables.parts_table`."""
    seconds = parts.groupby("way", sort=False)["seconds"].sum()
    forces = parts[parts["group"] == "forces"].groupby("way", sort=False)["seconds"].sum()
    shares = ", ".join(f"{100 * share:.0f} % of a step with {way}" for way, share in (forces / seconds).items())
    return f"The forces take {shares}."


def result(table: pd.DataFrame) -> str:
    """The speedups of the paper's better mapping on the largest system, and of the fastest way at this size."""
    mapping = table[table["way"] == "thread per particle"].iloc[-1]
    at_size = table[table["particles"] == mapping["particles"]]
    best = at_size.loc[at_size["updates"].idxmax()]
    factors = ", ".join(f"{mapping[name]:.3g} times {name.removeprefix('over ')}" for name in _SPEEDUPS)
    return (
        f"The paper's better mapping on {mapping['particles']} particles, on {mapping['hardware']}, is **{factors}**. "
        f"The fastest way at this size is {best['way']} ({best['device']}): {best['updates'] / 1e6:.3g} million "
        f"updates a second, {best[_SPEEDUPS[0]]:.3g} times the linked list and {best[_SPEEDUPS[2]]:.3g} times the "
        "planes on all cores."
    )
