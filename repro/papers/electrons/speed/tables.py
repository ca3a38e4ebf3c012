"""The tables of the speed notebook: speeds over the number of particles, speedups, parts of a step, other codes."""

import gc

import pandas as pd

from repro.errors import require_one_of, require_whole
from repro.papers.speed import speed_table
from repro.pic.benchmark import INCLUDES, measure_speed, part_times
from repro.pic.cases import Plasma, UniformSource
from repro.pic.simulation import Simulation

from .programs import ON_CORES, ON_GPU, ON_ONE_CORE, Program, programs

#: particles a cell of the paper's test, of which the paper says nothing
PER_CELL = 30

#: what stands where a program has no such number, or another code's is not known
UNKNOWN = "-"

#: what a part of a step is counted to, by words in its name
GROUPS = {
    "segments": ("particles", "launches"),
    "births": ("births", "clock"),
    "currents of blocks or cores": ("sum ",),
    "bus": ("to the device", "to the host"),
    "fields": ("field", "current"),
    "sorting": ("sorting",),
}


def _cube(particles: int) -> dict:
    """Cells and particles a cell of a cube with exactly so many particles, about PER_CELL of them a cell."""
    require_whole("particles", particles, PER_CELL, 2**31 - 1)
    cells = round((particles / PER_CELL) ** (1 / 3))
    return {"cells": cells, "per_cell": particles / cells**3}


def source_of(particles: int) -> UniformSource:
    """The paper's test with so many particles at the start."""
    return UniformSource(**_cube(particles))


def plasma_of(particles: int) -> Plasma:
    """The slow plasma with so many particles."""
    return Plasma(**_cube(particles))


def chosen(device, particles: int, names=None, *, one_core: int = 0) -> list[Program]:
    """The programs for so many particles that there are: a GPU's where one is, those of one core up to `one_core`.

    `names` chooses among them.
    """
    require_whole("particles of one core", one_core, 0, 2**31 - 1)
    for name in names or ():
        require_one_of("program", name, [*ON_GPU, *ON_CORES, *ON_ONE_CORE])
    return [
        program
        for name, program in programs(device).items()
        if (names is None or name in names) and (name not in ON_ONE_CORE or particles <= one_core)
    ]


def speeds(
    sizes, device, record=None, *, names=None, precision="single", one_core=0, seconds=0.1, runs=1, case=source_of
) -> pd.DataFrame:
    """Speeds of the programs with each number of particles, a row each; `ns` are those of a step of a particle.

    `case(particles)` makes the set-up. Every speed goes to the notebook's `record`.
    """
    rows, options = [], {"precision": precision, "seconds": seconds, "runs": runs}
    for particles in sizes:
        system = case(particles).system()
        for program in chosen(device, particles, names, one_core=one_core):
            title = f"{system.name}, {particles} particles, {program.name}, {precision}"
            run = title, system, program.device, program.options | options
            row = speed_table([run], record, measured=measure_speed, includes=INCLUDES)
            rows.append(row.assign(program=program.name, size_of=particles, system=system.name))
    if not rows:
        return pd.DataFrame()
    table = pd.concat(rows, ignore_index=True)
    return table.assign(ns=1e9 / table["updates"])


def slow_speeds(particles: int, device, record=None, *, one_core: int, names, precisions, **options) -> pd.DataFrame:
    """Speeds in the slow plasma, `options` as of `speeds`; programs of one core have at most `one_core` particles.

    With 0 of them they are left out.
    """
    sizes = {name: min(particles, one_core) if name in ON_ONE_CORE else particles for name in names}
    found = [
        speeds([size], device, record, names=[name], one_core=one_core, precision=precision, case=plasma_of, **options)
        for precision in precisions
        for name, size in sizes.items()
        if size
    ]
    return pd.concat(found, ignore_index=True)


def speedups(table: pd.DataFrame) -> pd.DataFrame:
    """How much faster each program of the GPU is than each of all cores, from `speeds` of one case and precision.

    Columns particles, program, over, speedup, and that of each independent run.
    """
    rows = []
    for particles, group in table.groupby("size_of", sort=False):
        found = group.set_index("program")
        for name in (name for name in ON_GPU if name in found.index):
            for over in (name for name in ON_CORES if name in found.index):
                ours, base = found.loc[name], found.loc[over]
                runs = [b / a for a, b in zip(ours["runs"], base["runs"], strict=True)]
                rows.append((particles, name, over, base["ns"] / ours["ns"], runs))
    return pd.DataFrame(rows, columns=["particles", "program", "over", "speedup", "runs"])


def parts(particles: int, device, names, *, precision="single", steps: int = 5) -> pd.DataFrame:
    """Nanoseconds a particle of the parts of a step of the named programs; columns program, part, group and ns."""
    system, rows = source_of(particles).system(), []
    for program in chosen(device, particles, names):
        simulation = Simulation(system, program.device, precision=precision, **program.options)
        times = part_times(simulation, steps=steps)
        rows += [(program.name, part, group_of(part), 1e9 * time / particles) for part, time in times.items()]
        # two at once might not fit, and its recorded steps name it
        del simulation
        gc.collect()
    return pd.DataFrame(rows, columns=["program", "part", "group", "ns"])


def group_of(part: str) -> str:
    """What of GROUPS a part of a step is counted to."""
    return next(group for group, words in GROUPS.items() if any(word in part for word in words))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of `speeds` that a reader compares; a dash where a program has no such number."""
    found = table.assign(**{"10^6 segments/s": table["segments"] / 1e6, "ms": 1e3 * table["seconds"]})
    columns = ["system", "program", "device", "precision", "particles", "cells", "per step", "ms", "ns", "spread"]
    columns += ["10^6 segments/s", "launches", "busy", "sort every"]
    return found[columns].rename(columns={"per step": "segments/step"}).fillna({"busy": UNKNOWN})


def beside(tables, others: pd.DataFrame) -> pd.DataFrame:
    """Our best program on a GPU and on one core beside other codes (data/reference/pic_speeds.csv), by ns.

    `tables` are of `speeds`; columns code, case, precision, particles, ns, where, hardware, who.
    """
    columns = ["code", "case", "precision", "particles", "ns", "where", "hardware", "who"]
    ours = pd.concat(tables, ignore_index=True)
    places = ours["program"].map(dict.fromkeys(ON_GPU, "GPU") | dict.fromkeys(ON_ONE_CORE, "one core"))
    ours = ours.assign(where=places, code="here: " + ours["program"], case=ours["system"], who="this run")
    best = ours.dropna(subset="where").sort_values("ns").drop_duplicates(["where", "case", "precision"])
    places = others["device"].map({"cuda": "GPU", "core": "one core"})
    others = others.assign(where=places, case=UNKNOWN, precision=UNKNOWN, particles=UNKNOWN)
    return pd.concat([best[columns], others[columns]], ignore_index=True).sort_values(
        ["where", "ns"], ignore_index=True
    )
