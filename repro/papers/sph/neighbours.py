"""The paper's search for neighbours (section 2, figures 4 and 5), looked at with the solver's own kernels.

Its example, its equality with a comparison of every pair, how many candidates it looks at, and what empty cells cost.
"""

from functools import cache, partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy import uint32

from repro.errors import CheckError
from repro.parallel import Kernel, device_function, measure, part_seconds, time_launches
from repro.parallel.launch_sequence import in_turn
from repro.particles.block_sort import SORTS
from repro.particles.cells import ALL_CELLS, Cells, neighbour, place_of
from repro.particles.position import Units, vectors
from repro.particles.radix_sort import RadixSort
from repro.sph.cases import DamBreak, StillWater
from repro.sph.pair import separation, vector_of
from repro.sph.state import Species, make_state, numbers
from repro.sph.strategies import STRATEGIES, Lists
from repro.sph.strategies.search import make_locate, make_sum_around
from repro.sph.system import System

_REAL = np.float32

#: a comparison of every particle with every other one
BRUTE_FORCE = "every particle"

#: claims on the cells around one, and on several kinds of particles
CLAIMS = ["sph-031", "sph-039"]

#: how particles of a random set lie
KINDS = ("scattered", "in a corner", "in one cell", "on faces of cells")

#: figure 4's grid: rows and columns of cells, numbered from 1 along the rows
ROWS, COLUMNS = 2, 3

#: where the seven particles are drawn here, as (column, row) in cells; the paper's text fixes part of it only
EXAMPLE = ((1.25, 0.3), (0.3, 0.35), (1.5, 1.5), (1.7, 0.45), (0.65, 0.7), (2.5, 0.5), (1.35, 0.75))


class Example(NamedTuple):
    """Figure 5: the cell of each particle, the particles in the order of their cells, and where each cell begins."""

    cell: np.ndarray
    members: np.ndarray
    starts: np.ndarray


def example(device) -> Example:
    """Sort the paper's seven particles by the kernels of the solver, cells numbered from 1 as in the paper.

    The solver's grid has three cells at least along each axis; the figure's six are the first ones.
    """
    cells = Cells((3.0, 3.0, 3.0))
    position = np.column_stack([EXAMPLE, np.full(len(EXAMPLE), 0.5)])
    sort = RadixSort(device, cells, len(position), _REAL)
    in_turn(*sort.update(vectors(device, Units(_REAL).of(position, cells.box))).values())
    members, starts = device.to_host(sort.members), device.to_host(sort.starts)
    return Example(cells.of(position, _REAL) + 1, members, starts[: ROWS * COLUMNS + 1])


def example_tables(result: Example) -> dict[str, pd.DataFrame]:
    """Figure 5 (a), (b) and (c) as tables, places counted from 0 and cells from 1."""
    places, held = [f"place {k}" for k in range(len(result.cell))], np.diff(result.starts)
    number = np.arange(len(result.cell))
    names = [*(f"cell {c}" for c in range(1, len(held) + 1)), "end"]
    return {
        "before the sort": pd.DataFrame([number, result.cell], ["particle", "cell"], places),
        "after the sort": pd.DataFrame([result.members, result.cell[result.members]], ["particle", "cell"], places),
        "first index": pd.DataFrame([result.starts, [*held, ""]], ["begins at", "particles"], names),
    }


def neighbour_cells(shape=(5, 4, 6)) -> int:
    """Cells beside its own that a particle's search visits (definition 1, claim sph-031), the same for every cell.

    Raises CheckError if a cell is visited twice, or if it is not the same for all cells of a grid of that shape.
    """
    counts = set()
    for own in range(int(np.prod(shape))):
        visited = [neighbour(place_of(own, shape), k, shape) for k in range(ALL_CELLS)]
        if len(set(visited)) != len(visited):
            raise CheckError(f"the search around cell {own} visits a cell twice")
        counts.add(len(set(visited) - {own}))
    if len(counts) != 1:
        raise CheckError(f"cells have {sorted(counts)} neighbours")
    return counts.pop()


@cache
def _walk_all(real, pair_term):
    """All particles of a species, as `sph.strategies.search.Search` has it; the first row is all."""

    @device_function
    def along(sums, target, cell, row, species, p, cells):
        for j in range(species.count if row == 0 else 0):
            sums = pair_term(sums, target, uint32(j), species, p)
        return sums

    return along


#: brute force, which needs no lists, and the searches of the solver
_ALL = SimpleNamespace(walk=_walk_all, lists=lambda device, *_: Lists({}, *[device.zeros(1, np.int32)] * 2))
SEARCHES = {BRUTE_FORCE: _ALL} | STRATEGIES


class _Listed(NamedTuple):
    """The particle whose neighbours are written down: up to `width` of them, from `place` on in `table`."""

    position: tuple
    place: int
    table: np.ndarray
    width: int


@cache
def _make_listing_pair(real):
    """Writes down the particles within the support; sums = (candidates, neighbours)."""
    apart = separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        _, square = apart(target.position, j, species, p)
        near = sums[1]
        if square < p.reach:
            if near < target.width:
                target.table[target.place + near] = j
            near += 1
        return sums[0] + 1, near

    return pair_term


@cache
def _make_listing(real, walk):
    total, locate = make_sum_around(real, _make_listing_pair(real), walk), make_locate(real)

    @device_function
    def listing(x, n, fluid, species, counts, table, width, p, cells):
        for i in range(x, x + n):
            position = vector_of(fluid.r, i, fluid.count)
            target, cell = _Listed(position, i * width, table, width), locate(position, i, fluid.count, cells)
            counts[i], counts[fluid.count + i] = total((0, 0), target, cell, species, p, cells)

    return listing


def _listing(device, system: System, walk, fluid, species, width: int):
    """The launch that lists up to `width` neighbours of each particle of the fluid in a species, and what it fills."""
    counts, table = device.zeros(2 * fluid.count, np.int32), device.zeros(max(1, fluid.count * width), np.int32)
    bind = device.compile(Kernel(_make_listing(_REAL, walk), dtype=_REAL, strict=True))
    arguments = fluid, species, counts, table, width, numbers(system, _REAL), system.cells.shape
    return bind((fluid.count,), *arguments), counts, table


class Neighbours(NamedTuple):
    """By id: how many candidates each particle's search looked at, how many are neighbours, and their ids, -1 beyond.

    A particle is its own neighbour.
    """

    candidates: np.ndarray
    count: np.ndarray
    ids: np.ndarray


def search(name: str, system: System, position: np.ndarray, device, width: int = 0) -> Neighbours:
    """Find the neighbours of particles at `position` (count, 3) in m in the tank of `system`, in single precision.

    `name` is a key of SEARCHES; up to `width` neighbours of each particle are written down.
    """
    module, count = SEARCHES[name], system.count
    state = make_state(device, _REAL, system, np.zeros(count))
    state.r[:] = vectors(device, Units(_REAL).of(position + system.margin, system.box))
    lists = module.lists(device, system.cells, state, _REAL)
    fluid = state.species(lists.starts, lists.members)
    run, counts, table = _listing(device, system, module.walk, fluid, fluid, width)
    in_turn(*lists.parts.values(), run)
    ids, (candidates, near) = device.to_host(state.ids), device.to_host(counts).reshape(2, -1)
    places = device.to_host(table)[: count * width].reshape(count, width)
    listed = np.where(np.arange(width) < near[:, None], ids[places], -1)
    by_id = np.argsort(ids)
    return Neighbours(candidates[by_id], near[by_id], listed[by_id])


def random_set(kind: str, system: System, generator) -> np.ndarray:
    """Positions of system.count particles, one of KINDS: in the tank, or in one cell that may reach beyond it.

    Some may be at one place.
    """
    position = generator.uniform(0, system.tank, (system.count, 3))
    width = np.array(system.box) / system.cells.shape
    if kind == "in a corner":
        return 0.3 * position
    if kind == "in one cell":
        return np.ceil(system.margin / width) * width - system.margin + 0.99 * width * position / system.tank
    if kind == "on faces of cells":
        faces = np.round((position + system.margin) / width) * width - system.margin
        return np.where((faces >= 0) & (faces <= system.tank), faces, position)
    return position


def agreement(device, sets: int, side: int, seed: int) -> pd.DataFrame:
    """Compare all searches on so many random sets of each of KINDS, each of side^3 particles.

    By search the share of particles (%) with the neighbours that brute force finds; "one order": the share with one
    order in all other searches.
    """
    system, generator, rows = StillWater(column=(side,) * 3).system(), np.random.default_rng(seed), []
    for kind in KINDS:
        same, counts = [], []
        for _ in range(sets):
            position = random_set(kind, system, generator)
            results = {name: search(name, system, position, device, system.count) for name in SEARCHES}
            same.append(_compared(results))
            counts.append(results[BRUTE_FORCE].count)
        shares = 100 * pd.DataFrame(same).mean()
        size = {"kind": kind, "particles": sets * system.count}
        rows.append(size | {"mean neighbours": np.mean(counts), "most": np.max(counts)} | dict(shares))
    return pd.DataFrame(rows)


def _compared(results: dict[str, Neighbours]) -> dict[str, float]:
    """Shares of particles with the sets of brute force, and with one order."""
    sets = {name: np.sort(each.ids, axis=1) for name, each in results.items()}
    shares = {name: float((sets[name] == sets[BRUTE_FORCE]).all(1).mean()) for name in STRATEGIES}
    first, *others = (results[name].ids for name in STRATEGIES)
    return shares | {"one order": float(np.all([(ids == first).all(1) for ids in others], axis=0).mean())}


def candidate_table(ratios, side: int, device, seed: int) -> pd.DataFrame:
    """Candidates and neighbours of particles deep in water, for ratios of smoothing length and spacing.

    The water is a cube of side^3 particles, each anywhere in its own cell of the lattice. "by volumes" is that of 27
    cells over that of the sphere; with cells as wide as the support it would be 27 / (4/3 pi) = 6.4.
    """
    generator, rows = np.random.default_rng(seed), []
    for ratio in ratios:
        system = StillWater(column=(side,) * 3, ratio=ratio).system()
        spacing, width = system.resolution.spacing, np.array(system.box) / system.cells.shape
        shift = generator.uniform(-0.5, 0.5, system.position.shape) * spacing
        deep = (np.minimum(system.position, side * spacing - system.position) > 2 * width).all(1)
        if not deep.any():
            raise CheckError(f"no particle of {side}^3 lies two cells deep at ratio {ratio}")
        result = search("cell table", system, system.position + shift, device)
        near, looked = result.count[deep].mean(), result.candidates[deep].mean()
        sphere = 4 / 3 * np.pi * system.resolution.support**3
        row = {"ratio": ratio, "neighbours": near, "sphere over spacing^3": sphere / spacing**3, "candidates": looked}
        rows.append(row | {"candidates a neighbour": looked / near, "by volumes": ALL_CELLS * width.prod() / sphere})
    return pd.DataFrame(rows)


def empty_cells(lengths, column, device, seconds: float) -> pd.DataFrame:
    """What the first-index array costs for one column of water in tanks of other lengths (in widths of the column)."""
    rows = []
    for length in lengths:
        system = DamBreak(column=tuple(column), length=length).system()
        species, build = _species(device, system, system.position)
        parts = part_seconds(build, device, seconds)
        empty = float((np.diff(device.to_host(species.starts)) == 0).mean())
        find = parts.pop("first of each cell")
        row = {"tank length": length, "particles": system.count, "cells": system.cells.count, "empty (%)": 100 * empty}
        row |= {"bytes a particle": species.starts.nbytes / system.count, "sort (us)": 1e6 * sum(parts.values())}
        rows.append(row | {"first index (us)": 1e6 * find})
    return pd.DataFrame(rows)


def sort_table(counts, device, seconds: float, seed: int) -> pd.DataFrame:
    """Microseconds of each of SORTS with so many particles, as many a cell as in water at a ratio of 1.3.

    Without the step that finds each particle's cell, and the one that finds where each cell begins.
    """
    generator, rows = np.random.default_rng(seed), []
    for count in counts:
        cells = Cells((max(3.0, (count / 2.6**3) ** (1 / 3)),) * 3)
        position = generator.uniform(0, cells.box, (count, 3))
        r = vectors(device, Units(_REAL).of(position, cells.box))
        row, expected = {"particles": count, "cells": cells.count}, np.argsort(cells.of(position, _REAL), kind="stable")
        for name, sort_of in SORTS.items():
            sort = sort_of(device, cells, count, _REAL)
            launches = sort.update(r)
            assign, *passes = [launch for part, launch in launches.items() if part != "first of each cell"]
            before, whole = (_best(each, device, seconds, sort.recorded) for each in ([assign], [assign, *passes]))
            row[f"{name} (us)"] = 1e6 * max(whole - before, 0.0)
            if not np.array_equal(device.to_host(sort.members), expected):
                raise CheckError(f"the sort {name} does not sort {count} particles")
        rows.append(row)
    return pd.DataFrame(rows)


def _best(launches, device, seconds: float, recorded: bool) -> float:
    """The shortest time of launches; of what a GPU cannot record, launched one by one."""
    if recorded or device.name != "cuda":
        return time_launches(launches, device, seconds).best
    return measure(partial(in_turn, *launches), device, repeats=20).best


#: the kinds of particles in `mixture`
FLUID, SECOND, GHOSTS, BODY = "fluid", "second fluid", "ghosts", "obstacle"


def mixture(side: int, seed: int = 1) -> tuple[System, dict[str, np.ndarray]]:
    """A tank of side^3 spacings, and in m where the particles of each kind are.

    Two fluids one above the other, a body in their midst, and a layer of ghosts in the walls.
    """
    system, generator = StillWater(column=(side,) * 3).system(), np.random.default_rng(seed)
    spacing, middle = system.resolution.spacing, system.position / system.resolution.spacing - side / 2
    body, above = (np.abs(middle) < side / 6).all(1), middle[:, 2] > 0
    index = np.stack(np.meshgrid(*[np.arange(-1, side + 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
    walls = ((index < 0) | (index >= side)).any(1)
    shaken = system.position + generator.uniform(-0.3, 0.3, system.position.shape) * spacing
    kinds = {FLUID: shaken[~body & ~above], SECOND: shaken[~body & above], GHOSTS: (index[walls] + 0.5) * spacing}
    return system, kinds | {BODY: system.position[body]}


def _species(device, system: System, position: np.ndarray):
    """Particles with a first-index array of their own on the system's grid, and the launches that build it."""
    count, nothing = len(position), device.zeros(1, _REAL)
    r = vectors(device, Units(_REAL).of(position + system.margin, system.box))
    sort = RadixSort(device, system.cells, count, _REAL)
    kind = device.zeros(count, np.int32)
    return Species(r, *[nothing] * 4, kind, count, sort.starts, sort.members, sort.starts), sort.update(r)


def kinds_table(side: int, device, seconds: float, width: int = 300) -> tuple[pd.DataFrame, float]:
    """Several kinds of particles in tables of their own on one grid: what the fluid finds there, and what it costs.

    In the last row all kinds are in one table. Also the share (%) of the fluid's particles whose neighbours in the
    tables together are those in the one.
    """
    system, kinds = mixture(side)
    tables = kinds | {"all in one table": np.concatenate(list(kinds.values()))}
    offsets = dict(zip(kinds, np.cumsum([0, *map(len, kinds.values())]), strict=False))
    fluid, build = _species(device, system, kinds[FLUID])
    in_turn(*build.values())
    found, rows = {}, []
    for name, position in tables.items():
        species, build = _species(device, system, position)
        listing, counts, table = _listing(device, system, STRATEGIES["cell table"].walk, fluid, species, width)
        in_turn(*build.values(), listing)
        near = device.to_host(counts)[fluid.count :]
        if near.max() > width:
            raise CheckError(f"{near.max()} neighbours: more than the {width} that are written down")
        places = device.to_host(table).reshape(-1, width) + offsets.get(name, 0)
        found[name] = [set(row[:n].tolist()) for row, n in zip(places, near, strict=True)]
        times = [1e6 * time_launches(each, device, seconds).best for each in (build.values(), [listing])]
        row = {"kind": name, "particles": len(position), "neighbours": near.mean()}
        rows.append(row | {"build (us)": times[0], "search (us)": times[1]})
    together = [set().union(*(found[name][i] for name in kinds)) for i in range(fluid.count)]
    same = [a == b for a, b in zip(together, found["all in one table"], strict=True)]
    return pd.DataFrame(rows), 100 * float(np.mean(same))
