"""The sentences with numbers of the swap notebooks, as Markdown."""

import numpy as np
import pandas as pd

from repro.lbm.lattice import D3Q19

from .claims import BUS, KERNELS, LARGEST, PAPER_NODES, Paper, one_by_one, with_the_rest
from .hybrid import Rates
from .iteration import COLLIDE_ONLY, PAPER_WAY, SERIAL, seconds_of

#: by how much the orders of two components may differ where the grids show one
SAME_ORDER = 0.5

#: what is said where no GPU is
NO_GPU = "Without a GPU only the serial sweep is timed, and there is no bus to cross."


def reference_text(table: pd.DataFrame) -> str:
    """How far the finest grid's profiles lie from the published ones; `table` is from `cavity3d.reference_table`."""
    finest = table.iloc[-1]
    return (
        f"Re = 1000: on {finest['nodes a side']:.0f} nodes a side our profiles differ from the published points by "
        f"{100 * finest['rms']:.2f} % of the lid's speed (root mean square), at most by "
        f"{100 * finest['largest']:.2f} %."
    )


def steadiness_text(table: pd.DataFrame) -> str:
    """Which of the runs of `cavity3d.runs_table` did not become steady."""
    unsteady = table[~table["converged"].astype(bool)]
    if unsteady.empty:
        return "All runs became steady."
    names = ", ".join(f"Re = {run['Re']:g} on {run['nodes a side']:.0f} nodes" for _, run in unsteady.iterrows())
    return (
        f"**Not steady** when they were stopped: {names}. Their profiles are those of the last step, and neither an "
        "order nor a distance that rests on them says how accurate the scheme is."
    )


def order_text(table: pd.DataFrame) -> str:
    """The orders that three grids in a row show; `table` is from `cavity3d.between_grids`."""
    known = table[table[["order u", "order v"]].notna().all(axis=1)]
    if known.empty:
        return "No three grids in a row show an order."
    found = ", ".join(
        f"{row['order u']:.2f} and {row['order v']:.2f} at Re = {row['reynolds']:g} (to {row['finer']:.0f} nodes)"
        for _, row in known.iterrows()
    )
    text = f"Orders of u and of v, seen on three grids in a row: {found}."
    if ((known["order u"] - known["order v"]).abs() > SAME_ORDER).any():
        text += " Where the two differ as much as that, the coarser grids are too coarse to show an order."
    return text


def grids_text(grids: int, populations: int, largest: int) -> str:
    """On how many small grids taking by types is the serial sweep, from `tables.grids_that_agree`."""
    return (
        f"Taking by types left bit for bit what the serial sweep leaves on **{grids} of {largest**3} grids** with 1 to "
        f"{largest} interior nodes a side, cubic or not: {populations:,} populations compared."
    )


def model_text(table: pd.DataFrame, parts: pd.DataFrame) -> str:
    """How well the model predicts the iterations; tables are from `iteration.iterations` and `iteration_parts`."""
    off = table.assign(error=(100 * (table["predicted/measured"] - 1)).abs())
    worst = off.loc[off["error"].idxmax()]
    own = parts[(parts["way"] == worst["way"]) & (parts["nodes"] == worst["nodes"])]
    part = own.loc[(own["predicted"] - own["seconds"]).abs().idxmax()]
    return (
        f"The model is within 25 % of {int((off['error'] <= 25).sum())} of {len(off)} iterations, and within "
        f"{worst['error']:.0f} % of all; the worst is {worst['way']} on {worst['nodes']}^3, where *{part['part']}* is "
        f"off most: {part['seconds']:.3g} s, predicted {part['predicted']:.3g} s."
    )


def serial_text(parts: pd.DataFrame, rates: Rates, paper: Paper, nodes: int) -> str:
    """Our serial sweep beside the paper's: the same parts, what is beside them, and the bytes."""
    cells = nodes**3
    moved, total = seconds_of(parts, SERIAL, nodes, KERNELS), seconds_of(parts, SERIAL, nodes)
    ours, theirs = cells / moved / 1e6, PAPER_NODES**3 / (paper.serial * paper.serial_share) / 1e6
    rest, of_paper = 1e9 * (total - moved) / cells, 1e9 * paper.serial_rest / PAPER_NODES**3
    core = rates.bytes_a_second["core"]
    # populations are read and written in double precision; the one at rest does not stream
    moves = {"collide": 2 * 8 * D3Q19.q, "stream": 2 * 8 * (D3Q19.q - 1)}
    used = {name: moved * cells / seconds_of(parts, SERIAL, nodes, (name,)) for name, moved in moves.items()}
    cached = max(used.values()) > core
    why = " What is more than a copy's comes from the caches, in which so small a grid lies." if cached else ""
    return (
        f"**Our serial sweep** makes {cells / total / 1e6:.3g} million node updates a second on {nodes}$^3$ nodes; the "
        f"paper's program makes {paper.mlups[SERIAL]:.3g} on {PAPER_NODES}$^3$. A node takes "
        f"{total / cells / (paper.serial / PAPER_NODES**3):.2g} times the paper's time. Collision and "
        f"streaming, the same work, run at {ours:.3g} million nodes a second here and at {theirs:.3g} in the paper: "
        f"the core and the program make a factor of {ours / theirs:.2g}. What is beside them takes {rest:.3g} ns a "
        f"node here, where it is the boundary nodes, and {of_paper:.3g} ns in the paper, whose list of parts (table 1) "
        "is lost from the text; Palabos also keeps statistics. So collision and streaming take "
        f"{100 * moved / total:.0f} % of our iteration and {100 * paper.serial_share:.0f} % of the paper's. "
        f"{_boundary_text(nodes)}\n\n"
        f"The collision reads and writes {moves['collide']} bytes a node and the streaming, without the population at "
        f"rest, {moves['stream']}: at {used['collide'] / 1e9:.3g} GB/s and at {used['stream'] / 1e9:.3g} GB/s, which "
        f"are {100 * used['collide'] / core:.0f} % and {100 * used['stream'] / core:.0f} % of the "
        f"{core / 1e9:.3g} GB/s at which one core copies.{why}"
    )


def _boundary_text(nodes: int) -> str:
    """What another grid than the paper's changes."""
    ours, theirs = (100 * (1 - (1 - 2 / n) ** 3) for n in (nodes, PAPER_NODES))
    if nodes == PAPER_NODES:
        return f"Of the nodes {ours:.1f} % lie on the boundary."
    return f"The grid differs, too: {ours:.1f} % of its nodes lie on the boundary, {theirs:.1f} % of the paper's."


def both_text(table: pd.DataFrame) -> str:
    """The paper's way over both serial programs, if it ran; `table` is from `claims.over_both`."""
    if PAPER_WAY not in set(table["way"]):
        return ""
    row = table.set_index("way").loc[PAPER_WAY]
    ours, theirs = row["over our serial sweep"], row["over the paper's serial program"]
    paper = table.set_index("way").loc[f"paper: {PAPER_WAY}", "over the paper's serial program"]
    return (
        f"The paper's way is **{ours:.3g} times** as fast here as our serial sweep, and **{theirs:.3g} times** as fast "
        f"as the paper's serial program on the paper's machine, where its own is {paper:.3g} times as fast. The first "
        "is the speedup of this machine and is judged; the second is newer hardware, too."
    )


def shares_text(table: pd.DataFrame) -> str:
    """What the paper's way does with its time; `table` is from `iteration.shares`."""
    if PAPER_WAY not in set(table["way"]):
        return NO_GPU
    row = table.set_index("way").loc[PAPER_WAY]
    return (
        f"Of an iteration of the paper's way the copies over the bus take **{row['bus (%)']:.3g} %**, the kernels on "
        f"the GPU {row['GPU kernels (%)']:.3g} %, and the host {row['host (%)']:.3g} %."
    )


def _implied(paper: Paper) -> str:
    """What the paper's own speedup and gain say of collision alone."""
    nodes, implied = next(iter(paper.collide_only.items()))
    return f"Its own speedup and gain on {nodes}$^3$ imply {implied:.3g} there, which the figure of sizes shows. "


def collision_text(parts: pd.DataFrame, paper: Paper, nodes: int = LARGEST) -> str:
    """Why collision alone on the GPU gains little: what it saves on the core, and what the bus takes."""
    claimed = paper.cited
    serial, alone = (seconds_of(parts, way, nodes) for way in (SERIAL, COLLIDE_ONLY))
    saved, paid = seconds_of(parts, SERIAL, nodes, ("collide",)), seconds_of(parts, COLLIDE_ONLY, nodes, BUS)
    kernel, stayed = seconds_of(parts, COLLIDE_ONLY, nodes, ("collide",)), serial - saved
    stays = alone - paid - kernel
    return (
        f"Collision alone on the GPU is {_gain_of_collision(parts, nodes):.3g} times as fast on {nodes}$^3$ nodes"
        f"{_by_run(parts, nodes)}; the paper cites {claimed:g} from another work on Palabos, on a grid that it does "
        f"not state. {_implied(paper)}It saves {saved:.3g} s of collision on the core and pays {paid:.3g} s for the "
        f"bus and {kernel:.2g} s for the kernel; what stays on the core takes {stays:.3g} s here and {stayed:.3g} s "
        f"in the serial program: the same work{_of_same_work(parts, nodes)}, and with the latter in both the "
        f"speedup would be {serial / (paid + kernel + stayed):.3g}. So it depends on core and bus, and hardly on the "
        f"GPU.{_over_grids(parts, nodes)}"
    )


def _of_same_work(parts: pd.DataFrame, nodes: int) -> str:
    """Whether the runs tell apart what stays on the core after the copies and the same in the serial program."""
    stays = [
        [seconds_of(run, way, nodes, ("stream", "boundary")) for run in one_by_one(parts)]
        for way in (COLLIDE_ONLY, SERIAL)
    ]
    if len(stays[0]) < 2:
        return ""
    return ", whose runs overlap" if overlap(*stays) else ", and yet apart in all runs"


def overlap(some, others) -> bool:
    """Whether the ranges of two sets of numbers meet."""
    return min(some) <= max(others) and min(others) <= max(some)


def _gain_of_collision(parts: pd.DataFrame, nodes: int) -> float:
    """How many times as fast as the serial program collision alone on the GPU is."""
    return seconds_of(parts, SERIAL, nodes) / seconds_of(parts, COLLIDE_ONLY, nodes)


def _by_run(parts: pd.DataFrame, nodes: int) -> str:
    """The same in each run, where there are several."""
    found = [_gain_of_collision(run, nodes) for run in one_by_one(parts)]
    return f" ({min(found):.3g} to {max(found):.3g} in {len(found)} runs)" if len(found) > 1 else ""


def _over_grids(parts: pd.DataFrame, largest: int) -> str:
    """The speedups of collision alone on the smaller grids, of which any may be the cited one's."""
    timed = sorted({int(n) for way, n in zip(parts["way"], parts["nodes"], strict=True) if way == COLLIDE_ONLY})
    found = [_gain_of_collision(run, n) for run in one_by_one(parts) for n in timed if n != largest]
    if not found:
        return ""
    low, high = f"{min(found):.3g}", f"{max(found):.3g}"
    return f" On smaller grids its runs are {low if low == high else f'{low} to {high}'}; the largest one is judged."


def rest_text(table: pd.DataFrame, parts: pd.DataFrame, paper: Paper) -> str:
    """Why the paper's numbers differ from ours; `table` is from `claims.rest_table`."""
    rows = table.set_index("id")
    at, stated = rows["here, with the paper's rest"], rows["paper"]
    limit = with_the_rest(parts, paper, PAPER_NODES)["limit"]
    serial, hybrid = 1000 * paper.serial_rest, 1000 * paper.hybrid_rest
    moved, carried = paper.hybrid * paper.hybrid_share, 2.0 * 8 * D3Q19.q * PAPER_NODES**3
    return (
        f"The paper's serial program spends {100 * (1 - paper.serial_share):.0f} % of its time on what is neither "
        "collision nor streaming and stays on the host. Whatever is done on the GPU, its speedup cannot pass "
        f"{limit:.3g} (**Amdahl's law**). Our programs have only the boundary nodes beside them, which the hybrid does "
        "on the GPU. The last column puts such a part back, in the paper's "
        f"proportion to collision and streaming: the hybrid would then be {at['swap-004']:.3g} times as fast on "
        f"{PAPER_NODES}$^3$ nodes and {at['swap-009']:.3g} times on {LARGEST}$^3$, and collision and streaming with "
        f"the bus would take {at['swap-008']:.0f} % of it, in the paper {stated['swap-008']:.0f} %. The gain over "
        f"collision alone would be {at['swap-010']:.0f} %, in the paper {stated['swap-010']:.0f} %. So two things keep "
        "the paper's speedup below two: the bus, and the rest. The paper's own numbers fit a bus: its hybrid takes "
        f"{1000 * moved:.0f} ms for collision and streaming. To carry the populations there and back, "
        f"{carried / 1e6:.0f} MB in double precision, in that time is {carried / moved / 1e9:.2g} GB/s, a bus's speed; "
        "the kernels' two passes through a GPU's memory are twice the bytes at a speed many times higher.\n\n"
        f"The paper's shares do not quite fit each other: "
        f"{100 * (1 - paper.serial_share):.0f} % of {paper.serial:g} s are {serial:.0f} ms, "
        f"{100 * (1 - paper.hybrid_share):.0f} % of {paper.hybrid:g} s {hybrid:.0f} ms, though the rest is on the host "
        "in both programs."
    )


def moved_text(parts: pd.DataFrame, paper: Paper) -> str:
    """Why the speedup of collision and streaming differs, and what the boundary nodes would cost on the host."""
    core = seconds_of(parts, SERIAL, PAPER_NODES, KERNELS)
    gpu = seconds_of(parts, PAPER_WAY, PAPER_NODES, (*BUS, *KERNELS))
    theirs = paper.serial * paper.serial_share, paper.hybrid * paper.hybrid_share
    on_host = [_with_boundary_on_host(run) for run in one_by_one(parts)]
    return (
        f"The paper does not print the speedup of collision and streaming (`swap-019`): its shares give "
        f"{theirs[0] / theirs[1]:.3g}, {1000 * theirs[0]:.0f} ms over {1000 * theirs[1]:.0f}. Here they take "
        f"{1000 * core:.0f} ms on the core and {1000 * gpu:.0f} ms with the bus: the core does them in "
        f"{core / theirs[0]:.2g} times the paper's time, and bus and GPU in {gpu / theirs[1]:.2g} times. The boundary "
        f"nodes are done on the GPU here. If the host did them, in the time that they take in the serial program, the "
        f"paper's way would be {_with_boundary_on_host(parts):.3g} times as fast on {PAPER_NODES}$^3$ nodes "
        f"({min(on_host):.3g} to {max(on_host):.3g} in {len(on_host)} runs), in the paper "
        f"{paper.speedups[PAPER_NODES]:g}."
    )


def _with_boundary_on_host(parts: pd.DataFrame) -> float:
    """Speedup of the paper's way if its boundary nodes took the time of the serial program's."""
    serial, hybrid = (seconds_of(parts, way, PAPER_NODES) for way in (SERIAL, PAPER_WAY))
    on_core, on_gpu = (seconds_of(parts, way, PAPER_NODES, ("boundary",)) for way in (SERIAL, PAPER_WAY))
    return serial / (hybrid - on_gpu + on_core)


def deviations(parts: pd.DataFrame, table: pd.DataFrame, paper: Paper) -> str:
    """Why the claims that hang on the rest and on the bus differ; `table` is from `claims.rest_table`."""
    return "\n\n".join((rest_text(table, parts, paper), moved_text(parts, paper), collision_text(parts, paper)))


def strategies_text(table: pd.DataFrame) -> str:
    """Links against types and rays and the last strategy, each where it runs, from `iteration.strategy_table`."""
    lines = []
    for precision, rows in table.groupby("precision", sort=False):
        speeds = rows.set_index("strategy")["mlups"]
        links, last = speeds["swap links"], speeds.index[-1]
        others = [name for name in ("types", "rays") if f"swap {name}" in speeds]
        over = " and ".join(f"{links / speeds[f'swap {name}']:.3g} times that of {name}" for name in others)
        lines.append(
            f"In {precision} precision on {rows['size'].iloc[0]} nodes, the speed of links is {over}, and that of "
            f"{last} {speeds[last] / links:.3g} times that of links."
        )
    return " ".join(lines)


def growth_text(table: pd.DataFrame) -> str:
    """How the paper's way, the serial sweep and their quotient go with the grid; `table` is from `iterations`."""
    speed = table.set_index(["way", "nodes"])["mlups"]
    if PAPER_WAY not in set(table["way"]):
        return ""
    nodes = [n for n in speed[PAPER_WAY].index if n in speed[SERIAL].index]
    first, last = min(nodes), max(nodes)
    if PAPER_NODES in nodes:
        first = PAPER_NODES
    if first == last:
        return ""
    runs = table.set_index(["way", "nodes"])["runs"]
    own, base = (_change(speed[way], runs[way], first, last) for way in (PAPER_WAY, SERIAL))
    factor = speed[PAPER_WAY, last] / speed[PAPER_WAY, first] / (speed[SERIAL, last] / speed[SERIAL, first])
    apart = [np.divide(runs[SERIAL, n], runs[PAPER_WAY, n]) for n in (first, last)]
    steps = ", ".join(f"{speed[PAPER_WAY, n] / speed[SERIAL, n]:.3g} on {n}$^3$" for n in nodes if n >= first)
    return (
        f"From {first}$^3$ to {last}$^3$ nodes the speed of the paper's way goes {own}, and that of the serial sweep "
        f"{base}: the speedup changes by a factor of {factor:.3g}{_told_apart(*apart)}. It is {steps} nodes."
    )


def _change(speed: pd.Series, runs: pd.Series, first: int, last: int) -> str:
    """From which to which speed a way goes between two grids, and by which factor, with that of each run."""
    factors = (last / first) ** 3 * np.divide(runs[first], runs[last])
    several = f"; {min(factors):.3g} to {max(factors):.3g} in {len(factors)} runs" if len(factors) > 1 else ""
    return f"from {speed[first]:.3g} to {speed[last]:.3g} MLUPS ({speed[last] / speed[first]:.3g} times{several})"


def _told_apart(first: np.ndarray, last: np.ndarray) -> str:
    """That the runs on two grids do not tell a change, where that is so."""
    if len(first) < 2 or not overlap(first, last):
        return ""
    ranges = " and ".join(f"{min(each):.3g} to {max(each):.3g}" for each in (first, last))
    return f", which the runs **do not tell from none**: they overlap, {ranges}"
