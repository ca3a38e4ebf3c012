"""Figures of the notebooks on bubbles, layers and drops."""

from contextlib import suppress

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import LogLocator

from repro.errors import InputError
from repro.lbm.two_fluids import exact as theory
from repro.lbm.two_fluids.cases import Bubble, Drop, Layers
from repro.lbm.two_fluids.forces import STRENGTH
from repro.papers.style import BLUE, COLOURS, ORANGE, OURS, PAPER, SKY_BLUE, VERMILLION

from .contact import circle_radius, formula
from .laplace import line, published_line
from .layered import LayeredFlow, paper_difference, published_profiles

_DEVIATION = "largest deviation from the exact\nvelocity (% of its largest)"

#: from fluid g, or b, to fluid f, or a
FLUIDS = LinearSegmentedColormap.from_list("fluids", ["#f3d9a4", "#8fbfdd"])


def bubble(case: Bubble, a: np.ndarray, b: np.ndarray, radius: float):
    """A bubble of fluid a in its box, and densities and pressure along its middle row (figure 6.1)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8))
    half, middle = case.nodes / 2, case.nodes // 2
    place = {"origin": "lower", "extent": (-half, half, -half, half), "interpolation": "nearest"}
    left.imshow(a / (a + b), cmap=FLUIDS, vmin=0, vmax=1, **place)
    left.add_patch(plt.Circle((0, 0), radius, facecolor="none", edgecolor="black", ls="--"))
    left.annotate("", (radius, 0), (0, 0), arrowprops={"arrowstyle": "->"})
    left.text(radius / 2, 0.03 * case.nodes, f"r = {radius:.1f}", ha="center")
    left.set(xlabel="y (nodes), periodic", ylabel="z (nodes), periodic")
    left.grid(False)
    y = np.arange(case.nodes) - (case.nodes - 1) / 2
    fields = {"density of the bubble's fluid": a, "density of the other": b, "pressure": case.problem.pressure(a, b)}
    for (name, field), colour, dash in zip(fields.items(), (BLUE, ORANGE, "black"), ("-", "--", ":"), strict=True):
        right.plot(y, field[middle], color=colour, ls=dash, marker="none", label=name)
    right.set(xlabel="y (nodes)", ylabel="lattice units", ylim=(0, None))
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, {name: field[middle] for name, field in fields.items()} | {"radius": radius}


def laplace(table: pd.DataFrame, published: pd.DataFrame):
    """Pressure difference over curvature of circles with lines through the origin, beside the paper's (figure 6.2)."""
    figure, axes = plt.subplots(figsize=(6.0, 4.0))
    reach = 1.08 * max(table["curvature"].max(), published["x"].max())
    fitted, theirs = line(table), published_line(published)
    axes.plot([0, reach], [0, fitted.tension * reach], **OURS, label="line of this run")
    through = {"color": "black", "marker": "none", "lw": 1, "ls": "--", "zorder": 3}
    axes.plot([0, reach], [0, theirs.tension * reach], **through, label="line through the paper's points")
    axes.plot(table["curvature"], table["pressure"], "s", color=OURS["color"], label="this run")
    axes.plot(published["x"], published["y"], **PAPER, label="paper, figure 6.2")
    axes.set(xlabel="1/r (1/nodes)", ylabel="pressure inside less outside (lattice units)")
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.legend()
    return figure, {name: table[name] for name in ("curvature", "pressure")}


def laplace_lines(table: pd.DataFrame):
    """Pressure difference over (dimensions - 1)/r with the fitted line of each interaction, circles and spheres."""
    figure, axes = plt.subplots(figsize=(6.0, 4.0))
    markers = {2: "o", 3: "D"}
    colours = dict(zip(sorted(table["interaction"].unique()), (SKY_BLUE, BLUE, VERMILLION, ORANGE), strict=False))
    # bubbles that are gone have no pressure
    for (dimensions, interaction), rows in table.dropna(subset="pressure").groupby(["dimensions", "interaction"]):
        x = (dimensions - 1) * rows["curvature"]
        name = f"{'circles' if dimensions == 2 else 'spheres'}, g = {interaction:g}"
        axes.plot(x, rows["pressure"], markers[dimensions], color=colours[interaction], label=name)
        axes.plot([0, x.max()], [0, line(rows).tension * x.max()], color=colours[interaction], marker="none", lw=1)
    axes.set(xlabel="(d - 1)/r (1/nodes)", ylabel="pressure inside less outside\n(lattice units)")
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.legend()
    return figure, {name: table[name] for name in ("dimensions", "interaction", "curvature", "pressure")}


def coexistence(table: pd.DataFrame):
    """Densities of a fluid in its own and in the other phase over g, and the step of the chemical potential.

    `table` is from `laplace.flat_interfaces`; the curves are both predictions between its g, the lattice's at the
    density there, the continuum's at the pressure.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
    table = table.sort_values("interaction")
    g, own = table["interaction"].to_numpy(), table["majority"] + table["minority"]
    fine = np.linspace(g[0], g[-1], 25) if len(g) > 1 else g
    pressure = own / 3 + STRENGTH * g * table["majority"] * table["minority"]
    curves = {"balance on the lattice": predicted(theory.lattice_coexistence, fine, density=np.interp(fine, g, own))}
    curves["continuum"] = predicted(theory.coexistence, fine, pressure=np.interp(fine, g, pressure))
    for row, (name, colour) in enumerate((("majority", BLUE), ("minority", VERMILLION))):
        left.plot(g, table[name], "o", color=colour, label=f"{name}, run")
        for (kind, found), dash in zip(curves.items(), ("-", ":"), strict=True):
            left.plot(fine, found[row], color=colour, marker="none", ls=dash, label=f"{name}, {kind}")
    left.set(xlabel="g", ylabel="density of a fluid (lattice units)", yscale="log")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, fontsize=8)
    right.plot(g, table["potential step (%)"], color=BLUE, marker="o")
    right.axhline(1, color="black", lw=1, ls=":", marker="none", label="1 %")
    right.set(xlabel="g", ylabel="step of the chemical potential\nover $6 g \\rho$ (%)")
    right.legend()
    return figure, {name: table[name] for name in ("interaction", "majority", "minority", "potential step (%)")}


def predicted(phases, interactions, **given) -> np.ndarray:
    """Densities (majority, minority) by phases(g, density=... or pressure=...), NaN where the fluids mix."""
    ((name, values),) = given.items()
    found = np.full((2, len(interactions)), np.nan)
    for k, (g, value) in enumerate(zip(interactions, values, strict=True)):
        with suppress(InputError):
            found[:, k] = phases(float(g), **{name: float(value)})
    return found


def layers(flow: LayeredFlow, published: pd.DataFrame | None):
    """Velocity across the gap and its difference from the exact one (figure 6.4); for None, equation 6.2 as printed."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.8))
    exact = flow.exact()
    top = exact.max()
    left.plot(flow.y, exact, color="black", marker="none", lw=1, label="exact")
    left.plot(flow.y, flow.velocity, **OURS, label="this run")
    right.plot(flow.y, 100 * (flow.velocity - exact) / top, **OURS, label="this run")
    if published is None:
        printed = flow.exact(theory.layered_velocity_as_printed)
        left.plot(flow.y, printed, color=VERMILLION, ls="--", marker="none", label="equation 6.2 as printed")
        right.plot(flow.y, 100 * (printed - exact) / top, color=VERMILLION, ls="--", marker="none")
    else:
        found = paper_difference(published)
        left.plot(found["x"], found["y"], **PAPER, label="paper, numerical")
        right.plot(found["x"], 100 * found["difference"], **PAPER, label="paper, numerical")
    left.set(xlabel="distance from the middle (nodes)", ylabel="velocity (nodes/step)")
    right.set(xlabel=left.get_xlabel(), ylabel="velocity less exact,\nover the largest exact velocity (%)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, {"y": flow.y, "velocity": flow.velocity, "exact": exact}


def sketch(case: Layers):
    """The layers between the plates with their forces, and the velocity that equation 6.2 gives (figure 6.3)."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    half, inner = case.nodes / 2, case.share * case.nodes / 2
    plate = {"facecolor": "#cccccc", "edgecolor": "#555555", "hatch": "///", "linewidth": 0}
    for low, high in ((-1.12 * half, -half), (half, 1.12 * half)):
        axes.axhspan(low, high, **plate)
    for low, high, colour in ((-half, -inner, ORANGE), (-inner, inner, BLUE), (inner, half, ORANGE)):
        axes.axhspan(low, high, color=colour, alpha=0.25)
    y = np.linspace(-half, half, 401)
    velocity = theory.layered_velocity(y, inner, half, case.accelerations, case.problem.viscosities)
    axes.plot(velocity, y, color="black", marker="none")
    top = velocity.max()
    for place, name in ((0, "$F_n$, non-wetting"), (half - inner / 2, "$F_w$, wetting"), (inner / 2 - half, "$F_w$")):
        axes.annotate("", (1.32 * top, place), (1.15 * top, place), arrowprops={"arrowstyle": "->"})
        axes.text(1.36 * top, place, name, va="center")
    axes.set(xlim=(0, 1.9 * top), ylim=(-1.12 * half, 1.12 * half), xlabel="velocity along the plates (nodes/step)")
    axes.set_yticks([-half, -inner, 0, inner, half], ["-L", "-a", "0", "a", "L"])
    axes.set_ylabel(f"distance from the middle, L = {half:g} nodes")
    axes.grid(False)
    return figure, {"y": y, "velocity": velocity}


def outer_layer(flows: dict, points: pd.DataFrame, collision: str):
    """Each of `layered.readings` with one collision and the paper's points: velocity, and slope in the outer layer."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0))
    theirs = published_profiles(points)["numerical"]
    half, arrays = next(iter(flows.values())).case.nodes / 2, {}
    for (name, kind), colour in zip(flows, COLOURS * 2, strict=False):
        if kind == collision:
            flow = flows[name, kind]
            place, line = flow.y > 0, {"marker": "none", "color": colour, "ls": {BLUE: "-"}.get(colour, "--")}
            left.plot(flow.y[place] / half, 1e3 * flow.velocity[place], label=name, **line)
            right.plot(flow.y[place] / half, -1e5 * half / 128 * np.gradient(flow.velocity, flow.y)[place], **line)
            arrays[name] = flow.velocity
    theirs = theirs[theirs["x"] > 0]
    left.plot(theirs["x"] / half, 1e3 * theirs["y"], **PAPER, label="paper, numerical")
    between, slopes = theirs["x"].rolling(2).mean(), theirs["y"].diff() / theirs["x"].diff()
    right.plot(between / half, -1e5 * half / 128 * slopes, **PAPER)
    left.set(xlabel="distance from the middle over L", ylabel="velocity ($10^{-3}$ nodes/step)", xlim=(0, 1))
    right.set(xlabel=left.get_xlabel(), ylabel="slope of the velocity\n($10^{-5}$ per node of 256)")
    right.set(xlim=(0.5, 1), ylim=(0, 12))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays | {"paper": theirs["y"]}


def refinement(table: pd.DataFrame):
    """Deviation from the exact velocity over the grid, by collision."""
    figure, axes = plt.subplots(figsize=(5.6, 3.6))
    for collision, rows in table.groupby("collision"):
        axes.loglog(rows["nodes"], rows["deviation (%)"], label=collision.upper())
    nodes = np.array([table["nodes"].min(), table["nodes"].max()])
    first = table["deviation (%)"].max() * nodes[0] / nodes
    axes.loglog(nodes, first, color="black", marker="none", lw=1, ls=":", label="first order")
    axes.set(xlabel="nodes between the plates", ylabel=_DEVIATION)
    axes.set_xticks(table["nodes"].unique(), [str(n) for n in table["nodes"].unique()])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend()
    return figure, {"nodes": table["nodes"], "deviation": table["deviation (%)"]}


def viscosities(table: pd.DataFrame):
    """Deviation from the exact velocity over the ratio of the viscosities."""
    figure, axes = plt.subplots(figsize=(5.6, 3.6))
    # one ratio alone has a width, too
    ratios = table["viscosity ratio"]
    axes.set(xscale="log", xlim=(0.8 * ratios.min(), 1.25 * ratios.max()))
    for collision, rows in table.groupby("collision"):
        steady = rows[rows["outcome"] == "steady"]
        axes.plot(steady["viscosity ratio"], steady["deviation (%)"], label=collision.upper())
    axes.set(xlabel="viscosity outside over inside", ylabel=_DEVIATION, ylim=(0, 1.1 * axes.get_ylim()[1]))
    axes.legend()
    return figure, {"ratio": table["viscosity ratio"], "deviation": table["deviation (%)"]}


def drops(found, published: pd.DataFrame):
    """The drops, each whole, in the order of the wetting, with their circles and those of the paper's angles (6.6).

    `published` are the `contact.pictures`. A drop too wide for half of the figure gets a row of its own.
    """
    found = sorted(found, key=lambda drop: drop[0].wetting)
    radius, places, row, column = found[0][0].radius, [], 0, 0
    for _, densities, _, _ in found:
        covered = np.flatnonzero((densities[0] > densities[1]).any(axis=0))
        reach = np.abs(covered - densities.shape[2] / 2).max(initial=0)
        wide = reach > 2.3 * radius
        row, column = (row + 1, 0) if column == 2 or (wide and column) else (row, column)
        places.append((row, slice(0, 2) if wide else slice(column, column + 1), max(1.1 * reach, 2.4 * radius)))
        column = 2 if wide else column + 1
    figure = plt.figure(figsize=(9.2, 1.9 * (row + 1)))
    grid = figure.add_gridspec(row + 1, 2)
    for (at, columns, width), drop in zip(places, found, strict=True):
        _show_drop(figure.add_subplot(grid[at, columns]), drop, published, width)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, {"wetting": [drop[0].wetting for drop in found], "angle": [drop[2].angle for drop in found]}


def _show_drop(axes, drop, published: pd.DataFrame, width: float):
    case, densities, angle, _ = drop
    share, middle = densities[0] / densities.sum(axis=0).clip(1e-9), case.length / 2
    extent = (-middle, middle, -0.5, case.height + 0.5)
    axes.imshow(share[1:-1], origin="lower", extent=extent, cmap=FLUIDS, vmin=0, vmax=1, interpolation="nearest")
    paper = float(published["corrected"].get(case.wetting, np.nan))
    circles = [(angle.radius, angle.height, {"color": "black", "ls": "--", "label": "circle of this run"})]
    if np.isfinite(paper):
        size, look = case.radius * circle_radius(paper), {"color": VERMILLION, "ls": "-"}
        look["label"] = "circle of the paper's angle, same area"
        circles.append((size, -size * np.cos(np.radians(paper)), look))
    turn = np.linspace(0, 2 * np.pi, 2000)
    for radius, height, look in circles:
        axes.plot(radius * np.cos(turn), height + radius * np.sin(turn), **look, lw=1.3, marker="")
    axes.set(xlim=(-width, width), ylim=(0, 1.55 * case.radius), yticks=[0, case.radius], aspect="equal")
    axes.set(xlabel="x (nodes)", ylabel="height (nodes)")
    ours = angle.why or f"{angle.angle:.1f} degrees"
    theirs = f"; paper {paper:.1f}" if np.isfinite(paper) else ""
    axes.set_title(f"$G_{{fs}} = {case.wetting:g}$: {ours}{theirs}")
    axes.grid(False)


def drop_start(case: Drop, inside: np.ndarray):
    """The half circle on the lower of two plates (figure 6.5); `inside` are nodes of (height + 2, length)."""
    figure, axes = plt.subplots(figsize=(7.6, 7.0 * (case.height + 2) / case.length + 0.9))
    middle = case.length / 2
    extent = (-middle, middle, -1, case.height + 1)
    axes.imshow(inside, origin="lower", extent=extent, cmap=FLUIDS, interpolation="nearest")
    for low in (-1, case.height):
        axes.axhspan(low, low + 1, color="#555555")
    axes.annotate("", (case.radius, 2), (0, 2), arrowprops={"arrowstyle": "<->"})
    axes.text(case.radius / 2, 3, f"{case.radius:g}", ha="center", va="bottom")
    axes.text(0, 0.5 * case.radius, "fluid f", ha="center")
    axes.text(0, 0.5 * (case.radius + case.height), "fluid g", ha="center")
    axes.set(xlabel="x (nodes), periodic", ylabel="height (nodes)")
    axes.grid(False)
    return figure, {"nodes of f": int(inside.sum())}


def angles(frame: pd.DataFrame, beside: pd.DataFrame):
    """Contact angles of `contact.table` and `over_solid_density` over the wetting, the paper's, and Huang's formula."""
    figure, axes = plt.subplots(figsize=(6.0, 4.0))
    fine = np.linspace(frame["wetting"].min(), frame["wetting"].max(), 121)
    axes.plot(fine, formula(fine), color="black", marker="none", lw=1, label="Huang et al., $\\rho_s = 1$")
    axes.plot(frame["wetting"], frame["angle"], **OURS | {"marker": "s"}, label="this run, $\\rho_s = 1$")
    for name in [column for column in beside if column.startswith("rho_s")][1:]:
        label = f"this run, $\\{name.replace('rho_s', 'rho_s ')}$"
        axes.plot(beside.index, beside[name], "^", color=VERMILLION, label=label)
    for wetting in frame.loc[frame["angle"].isna() & (frame["gap"] > 0), "wetting"]:
        axes.text(wetting, 177, "off the plate", ha="right", va="center", color=OURS["color"], fontsize=9)
    axes.errorbar(beside.index, beside["corrected"], yerr=3, **PAPER, ecolor="black", elinewidth=0.8, label="paper")
    axes.plot(beside.index, beside["read"], "x", color="black", markersize=5, label="paper, as read")
    axes.set(xlabel="$G_{fs} = -G_{gs}$", ylabel="contact angle of fluid f (degrees)")
    axes.set(ylim=(0, 182), yticks=range(0, 181, 30))
    axes.legend()
    return figure, {name: frame[name] for name in ("wetting", "angle", "paper", "formula")}
