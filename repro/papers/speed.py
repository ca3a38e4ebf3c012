"""Tables of speeds, ladders of baselines, speedups over each rung and beside the published ones, and their charts."""

import re
from collections.abc import Iterable
from statistics import median
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.errors import InputError, require
from repro.papers.style import BLUE, ORANGE, PAPER, use_style
from repro.parallel import CpuDevice, copy_bandwidth, select

#: characters of a line of a label of `speedup_chart`
_WIDTH = 56

#: independent runs from which a scatter is told
RUNS = 3


def speed_table(runs, record=None, *, measured, includes: str) -> pd.DataFrame:
    """Measure a list of (case, problem, device, options) with `measured`, which returns a Speed; one row a speed.

    Where a speed has a bandwidth, adds `roof`, its share of the device's copy bandwidth. Hands every speed to the
    notebook's `record`, with what its timer `includes`.
    """
    rows = []
    for case, problem, device, options in runs:
        row = measured(case, problem, device, **options).row
        if "bandwidth" in row:
            row["roof"] = row["bandwidth"] / copy_bandwidth(device)
        rows.append(row)
        if record is not None:
            record.timing(**row, includes=includes)
    return pd.DataFrame(rows)


def cpu_rungs() -> dict:
    """The devices of the baselines on a CPU by name, from the papers' kind of loop to all cores.

    "rows" is the source of "node by node" as rows of nodes, which the compiler turns into vector instructions.
    """
    cores = {"rows": CpuDevice("threads", workers=1), "rows, all cores": select("threads")}
    return {"node by node": select("serial")} | cores


def ladder(rungs: dict[str, tuple], record=None, *, prefix: str = "", **more) -> pd.DataFrame:
    """`speed_table` of baselines, indexed by name; `rungs` are (problem, device, options) by name."""
    table = speed_table([(f"{prefix}{name}", *rung) for name, rung in rungs.items()], record, **more)
    table.index = pd.Index(list(rungs), name="baseline")
    return table


def cpu_ladder(problem, options: dict, record=None, *, prefix: str = "", **more) -> pd.DataFrame:
    """The `ladder` of one program, `problem` with its `options`, over the `cpu_rungs`."""
    rungs = {name: (problem, device, options) for name, device in cpu_rungs().items()}
    return ladder(rungs, record, prefix=prefix, **more)


def over_rungs(speed: float, baselines: pd.DataFrame, rate: str) -> pd.DataFrame:
    """The speedup of a `speed` over each rung of a `ladder`: columns baseline, hardware, the rate, speedup."""
    table = baselines.reset_index()[["baseline", "hardware", rate]]
    return table.assign(speedup=speed / table[rate])


def rungs_note(cpu: pd.Series, unit: str) -> str:
    """Which rung a claim is judged with, and the rates of the others; `cpu` is the rate by `cpu_rungs`."""
    node, cores = cpu["node by node"], cpu["rows, all cores"]
    return f"rows on one core; node by node {node:.3g}, all cores {cores:.3g} {unit}"


def speedup_evidence(speed: float, cpu: pd.Series, program: str, unit: str) -> dict:
    """Keywords of `Record.measure` for a speedup over rows on one core; `program` is what runs there."""
    node, cores = speed / cpu["node by node"], speed / cpu["rows, all cores"]
    note = f"against rows on one core; node by node {node:.0f}, all cores {cores:.3g}"
    return {"measured": speed / cpu["rows"], "baseline": f"{program}, one core: {cpu['rows']:.3g} {unit}", "note": note}


def headline(program: str, rate: float, unit: str, core: float, device, paper: tuple[str, str]) -> str:
    """The best rate of a program in a line: on which device, over one core, and both as the paper has them."""
    speed, times = float(f"{rate:.3g}"), float(f"{rate / core:.2g}")
    there, gain = (value.replace(">", "more than ") for value in paper)
    ours = f"{program} runs at {speed:,g} {unit} ({device.description}), {times:,g} times one core"
    return f"{ours}; the paper has {there}, {gain} times"


def speedups(table: pd.DataFrame, rungs, size: str, rate: str, slow: pd.DataFrame | None = None) -> pd.DataFrame:
    """`table` with a column "over RUNG" for each way in `rungs`: how many times its `rate` the program reaches.

    Programs stand in the column "way", and rows of the same `size` are compared. With `slow`, the rungs are its rows,
    of one size.
    """
    for rung in rungs:
        rows = table if slow is None else slow
        rows = rows[rows["way"] == rung].set_index(size)[rate]
        base = table[size].map(rows) if slow is None else float(rows.iloc[0])
        table = table.assign(**{f"over {rung}": table[rate] / base})
    return table


def order(table: pd.DataFrame, name: str, rate: str) -> dict[str, list[float]]:
    """{value of the column `name`: the rate in each independent run}: what a claim on an order is judged by.

    InputError if a name stands in several rows: the table must be of one case.
    """
    names = table[name].astype(str)
    if not names.is_unique:
        raise InputError(f"several rows have the same {name}: {', '.join(sorted(names[names.duplicated()].unique()))}")
    return {n: rate_of_runs(row, rate) for n, (_, row) in zip(names, table.iterrows(), strict=True)}


def orders(table: pd.DataFrame, case: str, name: str, rate: str) -> dict[str, dict[str, list[float]]]:
    """The `order` of each value of the column `case`."""
    return {f"{case} {value}": order(rows, name, rate) for value, rows in table.groupby(case, sort=False)}


def rate_of_runs(row: pd.Series, rate: str) -> list[float]:
    """A rate in each independent run of a row of `speed_table`."""
    return [float(row[rate] * row["seconds"] / seconds) for seconds in row["runs"]]


def of_runs(values: Iterable[float], **more) -> dict:
    """Keywords of `Record.measure` for a number of several runs or seeds: their median, how far they lie apart, `more`.

    Raises InputError for fewer than `RUNS`.
    """
    values = [float(value) for value in values]
    require(len(values) >= RUNS, f"{len(values)} runs: how far runs lie apart takes {RUNS} at least")
    return {"measured": median(values), "scatter": max(values) - min(values)} | more


def quotients(runs: Iterable[float], others: Iterable[float]) -> list[float]:
    """One number over the other, run by run."""
    return [run / other for run, other in zip(runs, others, strict=True)]


def run_errors(table: pd.DataFrame, rate: str) -> dict:
    """From the slowest to the fastest independent run of each row, as `barh` takes errors of the median."""
    runs = [rate_of_runs(row, rate) for _, row in table.iterrows()]
    slowest, fastest = ([ends(each) for each in runs] for ends in (min, max))
    return {"xerr": [table[rate] - slowest, fastest - table[rate]], "error_kw": {"elinewidth": 1, "capsize": 2}}


def strategy_bars(table: pd.DataFrame):
    """Speed of each strategy as a bar, with the share of the copy bandwidth that its bytes take.

    Returns (figure, arrays), the arrays being the numbers that it shows.
    """
    figure, axes = plt.subplots(figsize=(6.8, 0.45 * len(table) + 1.3))
    names = [f"{row.strategy}, {row.layout.upper()}, {row.precision}" for row in table.itertuples()]
    colours = table["precision"].map({"single": BLUE, "double": ORANGE})
    bars = axes.barh(names, table["mlups"], color=colours, **run_errors(table, "mlups"))
    labels = [f" {_short(row.mlups)} ({_short(100 * row.roof)} %)" for row in table.itertuples()]
    axes.bar_label(bars, labels, fontsize=9)
    axes.invert_yaxis()
    axes.set(xlabel="speed (MLUPS; in brackets the share of the copy bandwidth)")
    axes.set_xlim(0, 1.3 * axes.dataLim.xmax)
    axes.set_title(f"{table['hardware'].iloc[0]}, {table['size'].iloc[0]} nodes")
    axes.grid(axis="y", visible=False)
    return figure, {"mlups": table["mlups"], "roof": table["roof"]}


def _short(value: float) -> str:
    """A number as a label: whole from 10 on, with two digits below, which tell a slow one from 0."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def paper_and_ours(table: pd.DataFrame, rate: str, size: tuple[float, float], **options):
    """Axes for a paper's speeds on a Tesla C1060 and, on the right, for those of a `table` in MLUPS or MFLUPS.

    Returns figure, left, right, and what to divide ours by; `options` as of `plt.subplots`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=size, **options)
    scale, thousand = (1e3, "thousand ") if table[rate].max() > 3000 else (1.0, "")
    left.set(title="paper: Tesla C1060", ylabel=f"speed ({rate.upper()})")
    right.set(title=f"this run: {table['hardware'].iloc[0]}", ylabel=f"speed ({thousand}{rate.upper()})")
    return figure, left, right, scale


def from_zero(left, right, xlabel: str, room: float = 1.08) -> None:
    """Let both axes of `paper_and_ours` begin at no speed, with some room above, and name what it is over."""
    for axes in (left, right):
        axes.set(xlabel=xlabel, ylim=(0, room * axes.get_ylim()[1]))


def part_points(parts: list[tuple], colours: dict, xlabel: str, *, published=None):
    """Points of (program, part, time), a block a program and a colour a part; `published` are a paper's times of them.

    On a logarithmic axis, on which a bar has no length.
    """
    gaps = [1.0 + 1.2 * (k == 0 or parts[k - 1][0] != program) for k, (program, *_) in enumerate(parts)]
    heights, times = np.cumsum(gaps) - 2.2, [time for *_, time in parts]
    figure, axes = plt.subplots(figsize=(7.6, 0.28 * heights[-1] + 1.9))
    axes.hlines(heights, 0, 1, "0.9", linewidth=0.8, transform=axes.get_yaxis_transform(), zorder=1)
    axes.scatter(times, heights, 50, [colours[part] for _, part, _ in parts], zorder=2)
    for height, gap, (program, _, time), other in zip(heights, gaps, parts, published or times, strict=True):
        # a paper's point that would lie on the label stands before it
        place = max(time, other) if other < 2.5 * time else time
        axes.annotate(_short(time), (place, height), (8, 0), textcoords="offset points", va="center", fontsize=8)
        if gap > 1:
            axes.annotate(program, (0, height - 1), (4, 0), ("axes fraction", "data"), "offset points", va="center")
    looks = {part: {"marker": "o", "linestyle": "none", "color": colour} for part, colour in colours.items()}
    if published is not None:
        axes.plot(published, heights, **PAPER)
        looks["paper"] = PAPER
    shown = [*times, *(published or [])]
    axes.set(xscale="log", xlim=(min(shown) / 3, 4 * max(shown)), ylim=(heights[-1] + 0.8, -1.7))
    axes.set(yticks=[], xlabel=xlabel)
    figure.legend([plt.Line2D([], [], **look) for look in looks.values()], looks, loc="outside lower center", ncols=4)
    return figure


def record_launches(record, case: str, device, timing, *, size, precision: str = "single", **more) -> None:
    """Give a notebook's `record` the time of launches that are no whole steps; `more` as of `Record.timing`."""
    if record is not None:
        about = {"device": device.name, "hardware": device.description, "precision": precision, "size": size}
        record.timing(case, seconds=timing.seconds, spread=timing.spread, **about, **more)


def published_speedups(claims: pd.DataFrame) -> pd.DataFrame:
    """The speedups among judged `claims` (the columns of a scoreboard), with `published` and `here`, by paper."""
    rows = claims[(claims["kind"] == "speed") & (claims["unit"] == "x") & claims["ratio"].notna()]
    return rows.assign(here=rows["published"].astype(float) * rows["ratio"].astype(float))


def speedup_chart(rows: pd.DataFrame):
    """A line a speedup from the published number, or the nearer end of a range, to ours; returns (figure, arrays)."""
    use_style()
    published, here = (rows[name].to_numpy(float) for name in ("published", "here"))
    place = np.arange(len(rows))[::-1]
    figure, axes = plt.subplots(figsize=(8.2, 1.2 + 0.3 * len(rows)))
    axes.hlines(place, published, here, color="0.75", linewidth=1.2, zorder=1)
    axes.plot(here, place, "o", color=BLUE, zorder=2, label="here, over the same kind of program")
    axes.plot(published, place, **PAPER, label="published")
    axes.axvline(1, color="0.5", linewidth=0.8)
    axes.set(xscale="log", xlabel="speedup", ylim=(-0.7, len(rows) - 0.3))
    axes.set_yticks(place, [_label_of(row) for row in rows.to_dict("records")], fontsize=8)
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {"published": published, "here": here}


def _label_of(row: dict) -> str:
    """Id, and what the speedup is of, with powers as they are written."""
    what = row["quantity"].replace("speedup", "").strip(" ,")
    label = f"{row['id']}  " + ", ".join(text for text in (what, row["case"]) if text)
    return re.sub(r"(\d+)\^(\d+)", r"$\1^\2$", "\n".join(wrap(label, _WIDTH)))
