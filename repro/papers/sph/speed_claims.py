"""What a run of the sph paper's speed notebook says of its claims, from the tables of `speed`."""

from itertools import chain

import pandas as pd

from . import speed

#: claims of table 1 by program: time of a step in ms with 15, 30 and 70 thousand particles
_TABLE_1 = {
    speed.PAPER: ("sph-001", "sph-005", "sph-009"),
    speed.GPU_LIST: ("sph-002", "sph-006", "sph-010"),
    speed.FOUR_THREADS: ("sph-003", "sph-007", "sph-011"),
    speed.ONE_CORE: ("sph-004", "sph-008", "sph-012"),
}

#: claims of table 2 by program: time in ms of each of GROUPS with 15 thousand particles
_TABLE_2 = {
    speed.PAPER: ("sph-013", "sph-014", "sph-015"),
    speed.GPU_LIST: ("sph-016", "sph-017", "sph-018"),
    speed.ONE_CORE: ("sph-019", "sph-020", "sph-021"),
}

#: claims of the paper's method over four threads and over one core, on the order of the programs by the time of a step,
#: and on that of both GPU programs by the time of the neighbour list and of the force
OVER_THREADS, OVER_CORE, ORDER, LIST_ORDER, FORCE_ORDER = (f"sph-{n:03d}" for n in (22, 23, 34, 35, 36))

#: claims on how a step grows with the particles, on the paper's method and on one core; on four threads over one; and
#: on the share of the neighbour list in a step, by program
GROWTH, CORE_GROWTH, SCALING = "sph-040", "sph-041", "sph-042"

#: claims on both GPU programs with as many particles a thread as on the paper's GPU: their order by the time of a
#: step, of the neighbour list and of the force, and the share of the linked list in a step
LOADED_ORDER, LOADED_LIST, LOADED_FORCE, LOADED_SHARE = (f"sph-{n:03d}" for n in range(46, 50))

#: claim on the same load, that the paper's sort in shared memory makes a step faster than one in global memory
SORT_ORDER = "sph-052"

SHARES = {speed.PAPER: "sph-043", speed.GPU_LIST: "sph-044", speed.ONE_CORE: "sph-045"}

CLAIMS = [OVER_THREADS, OVER_CORE, ORDER, LIST_ORDER, FORCE_ORDER, GROWTH, CORE_GROWTH, SCALING]
CLAIMS += [LOADED_ORDER, LOADED_LIST, LOADED_FORCE, LOADED_SHARE, SORT_ORDER]
CLAIMS = sorted([*CLAIMS, *SHARES.values(), *chain(*_TABLE_1.values(), *_TABLE_2.values())])


#: a case at equal load, and where the density is in orders of parts
_LOADED_CASE, _NEITHER = "{} thousand of fluid", "density in neither list nor force"


def published(verdicts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The paper's tables 1 and 2 in ms, a row a program, from the claims of `Record.verdicts`."""
    values = dict(zip(verdicts["id"], verdicts["paper"], strict=True))
    return tuple(
        pd.DataFrame({way: [float(values[name]) for name in names] for way, names in table.items()}, rows).T
        for table, rows in ((_TABLE_1, list(speed.COLUMNS)), (_TABLE_2, speed.GROUPS))
    )


def claim_values(
    table: pd.DataFrame,
    parts: pd.DataFrame,
    readings: pd.DataFrame,
    loaded: pd.DataFrame | None = None,
    loaded_parts: pd.DataFrame | None = None,
) -> dict[str, dict]:
    """Keywords of `Record.measure` for the claims that a run can test, by id.

    From `time_table` of the paper's sizes, `parts_table`, `readings_table`, `time_table` with more particles, and the
    `parts_table` of those at equal load. What the paper ran on a GPU counts only on a GPU; speedups, growth and the
    order need all its sizes.
    """
    values = _step_values(table) | _part_values(table, parts, readings)
    if loaded is not None and loaded_parts is not None and loaded_parts["thousands"].nunique() > 1:
        equal = loaded[loaded["thousands"].isin(loaded_parts["thousands"])]
        named = equal.assign(case=equal["thousands"].map(_LOADED_CASE.format))
        values[GROWTH] = {"measured": speed.growth(equal, speed.PAPER)}
        values |= {name: {"measured": _times(named)} for name in (LOADED_ORDER, SORT_ORDER)}
        values |= _loaded_part_values(loaded_parts)
    # four threads on fewer cores are not the paper's program
    lacking = () if speed.on_threads(4).workers == 4 else (*_TABLE_1[speed.FOUR_THREADS], OVER_THREADS, ORDER, SCALING)
    return {name: value for name, value in values.items() if name not in lacking}


def _step_values(table: pd.DataFrame) -> dict[str, dict]:
    counted = table[(table["device"] == "cuda") | table["way"].isin([speed.FOUR_THREADS, speed.ONE_CORE])]
    counted = counted[counted["way"].isin(_TABLE_1)]
    sizes, values = list(speed.COLUMNS), {}
    for row in counted.to_dict("records"):
        note = f"{row['particles']} of fluid with {row['neighbours']:.0f} neighbours on average, {row['ghosts']} ghosts"
        values[_TABLE_1[row["way"]][sizes.index(row["thousands"])]] = {"measured": row["ms"], "note": note}
    if set(counted["thousands"]) != set(sizes):
        return values
    ms = counted.set_index(["way", "thousands"])["ms"]
    values[CORE_GROWTH] = {"measured": speed.growth(table, speed.ONE_CORE)}
    values[SCALING] = {"measured": min(ms[speed.ONE_CORE, n] / ms[speed.FOUR_THREADS, n] for n in sizes)}
    paper = counted[counted["way"] == speed.PAPER]
    if len(paper):
        for name, way in ((OVER_THREADS, speed.FOUR_THREADS), (OVER_CORE, speed.ONE_CORE)):
            least = paper.loc[paper[f"over {way}"].idxmin()]
            values[name] = {"measured": least[f"over {way}"], "baseline": _baseline(least, table, way)}
        named = counted.assign(case=counted["thousands"].map("{}000 particles".format))
        values[ORDER] = {"measured": _times(named)}
    return values


def _part_values(table: pd.DataFrame, parts: pd.DataFrame, readings: pd.DataFrame) -> dict[str, dict]:
    groups, values = speed.group_times(parts), {}
    merged, shares = speed.with_density(groups), 100 * groups[speed.NEIGHBOUR_LIST] / groups.sum(axis=1)
    for way, times in merged.iterrows():
        values |= {name: {"measured": times[group]} for name, group in zip(_TABLE_2[way], speed.GROUPS, strict=True)}
        values[SHARES[way]] = {"measured": float(shares[way]), "note": "density not in the list"}
    spread = f"by reading of the text {readings['ms'].min():.3g} to {readings['ms'].max():.3g} ms a step"
    values[_TABLE_2[speed.ONE_CORE][1]]["note"] = spread
    if speed.GPU_LIST in set(parts["way"]):
        for name, group in ((LIST_ORDER, speed.NEIGHBOUR_LIST), (FORCE_ORDER, speed.FORCE)):
            values[name] = {"measured": _part_order(parts, group), "note": _NEITHER}
    return values


def _loaded_part_values(parts: pd.DataFrame) -> dict[str, dict]:
    sizes, values = dict(iter(parts.groupby("thousands"))), {}
    for name, group in ((LOADED_LIST, speed.NEIGHBOUR_LIST), (LOADED_FORCE, speed.FORCE)):
        found = {_LOADED_CASE.format(n): _part_order(rows, group) for n, rows in sizes.items()}
        values[name] = {"measured": found, "note": _NEITHER}
    shares = {n: _list_shares(rows, speed.GPU_LIST) for n, rows in sizes.items()}
    most = max(shares, key=lambda n: shares[n].median())
    scatter = float(shares[most].max() - shares[most].min())
    note = f"largest with {_LOADED_CASE.format(most)}; density not in the list"
    return values | {LOADED_SHARE: {"measured": float(shares[most].median()), "scatter": scatter, "note": note}}


def _runs(parts: pd.DataFrame) -> pd.DataFrame:
    """Milliseconds of each group in each run of a program, medians of the samples."""
    return speed.groups_of(parts).groupby(["way", "run"]).median()


def _part_order(parts: pd.DataFrame, group: str) -> dict[str, list[float]]:
    """Milliseconds of a group in each run by program."""
    runs = _runs(parts)
    return {way: runs.loc[way, group].tolist() for way in speed.PAIR}


def _list_shares(parts: pd.DataFrame, way: str) -> pd.Series:
    """Share of the neighbour list in a step (%) in each run of a program, the density not in the list."""
    runs = _runs(parts).loc[way]
    return 100 * runs[speed.NEIGHBOUR_LIST] / runs.sum(axis=1)


def _times(table: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of a step in each run, by case and way."""
    found = {}
    for case, way, runs in zip(table["case"], table["way"], table["runs"], strict=True):
        found.setdefault(case, {})[way] = [1e3 * seconds for seconds in runs]
    return found


def _baseline(row, table: pd.DataFrame, way: str) -> str:
    base = table[(table["way"] == way) & (table["thousands"] == row["thousands"])].iloc[0]
    return f"linked list, {base['hardware']}: {base['ms']:.3g} ms a step with {row['thousands']} thousand particles"
