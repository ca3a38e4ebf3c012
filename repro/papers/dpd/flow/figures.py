"""Figures of the flow notebooks; some return (figure, arrays), the arrays being the numbers that they show, by name."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from repro.dpd.averages import Field
from repro.dpd.cases import Channel, Poiseuille
from repro.papers.style import BLUE, GREEN, OURS, PLATE, SKY_BLUE, VERMILLION, looks

from .flows import THEORY, Comparison, Flow, mean_field
from .plates import thermal
from .sections import by_section, in_fluid, rates_by_window

_SPEED, _TIME, _LENGTH = r"$\sqrt{kT/m}$", r"$r_c \sqrt{m/kT}$", "$r_c$"
_POINTS = {"linestyle": "none", "markerfacecolor": "none"}
_WALL = "0.75"


def plates_sketch(case: Poiseuille):
    """The channel from the side: the particles of a slice at the start, and the velocity of theory (figure 7)."""
    system = case.system()
    x, y, height = system.position.T - np.array([[0], [0], [case.walls.bottom]])
    fluid = np.arange(system.count) < system.moving
    figure, axes = plt.subplots(figsize=(6.8, 3.8))
    for chosen, colour, label in ((fluid, SKY_BLUE, "fluid"), (~fluid, VERMILLION, "frozen")):
        seen = chosen & (y < 1)
        axes.plot(x[seen], height[seen], ".", ms=2.5, color=colour, label=label)
    for edge, inward in ((0, 1), (case.height, -1)):
        axes.axhline(edge, color="0.3", lw=1, marker="none")
        axes.axhspan(edge, edge + inward * case.layer, color=GREEN, alpha=0.35, lw=0, label="reflecting layer")
    z, beyond = np.linspace(0, case.height, 13), 0.8 * case.thickness + 0.3
    speed = 0.4 * case.length * 4 * z * (case.height - z) / case.height**2
    axes.quiver(0.3 * case.length + 0 * z, z, speed, 0 * z, angles="xy", scale_units="xy", scale=1)
    axes.set(xlim=(0, case.length), ylim=(-beyond, case.height + beyond))
    axes.set(xlabel=f"x ({_LENGTH})", ylabel=f"height z ({_LENGTH})", aspect="equal")
    axes.grid(False)
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=3, markerscale=3)
    return figure


def slip(study: pd.DataFrame):
    """The slip at both walls against the thickness of the reflecting layer."""
    figure, axes = plt.subplots()
    for k, column in enumerate(("lower wall", "upper wall")):
        axes.plot(study["layer"], 100 * study[column], "os"[k], **_POINTS | {"color": f"C{k}"}, label=column)
    axes.plot(study["layer"], 100 * study["slip"], "-", color="0.4", marker="none", label="mean of both")
    axes.axhspan(-2, 2, color=GREEN, alpha=0.15, label="within 2 %")
    axes.axhline(0, color="0.4", lw=0.8)
    axes.set(xlabel=f"thickness of the layer ({_LENGTH})", ylabel="slip (% of the largest velocity)")
    axes.legend()
    return figure


def flow_map(field: Field, case: Channel):
    """Speed and streamlines in the plane of x and z, walls in grey (figure 9)."""
    inside, low = in_fluid(field, case), case.walls.bottom
    u, w = (np.where(inside, v, 0.0) for v in (field.velocity_x, field.velocity_z))
    speed = np.ma.masked_where(~inside, np.hypot(u, w))
    figure, axes = plt.subplots(figsize=(7.4, 1.4 + 5.6 * case.height / case.length))
    x, z = field.x, field.z - low
    shade = axes.pcolormesh(x, z, speed.T, cmap="cividis", shading="nearest", vmin=0, rasterized=True)
    even_x, even_z = np.linspace(x[0], x[-1], len(x)), np.linspace(z[0], z[-1], len(z))
    lines = {"color": "white", "linewidth": 0.6, "density": 1.3, "arrowsize": 0.7}
    axes.streamplot(even_x, even_z, np.where(inside, u, np.nan).T, np.where(inside, w, np.nan).T, **lines)
    _draw_blocks(axes, case)
    figure.colorbar(shade, ax=axes, label=f"speed ({_SPEED})", shrink=0.9)
    arrays = {"x": field.x, "z": field.z, "u": field.velocity_x, "w": field.velocity_z, "density": field.density}
    return figure, arrays


def _draw_blocks(axes, case: Channel) -> None:
    """The two blocks in grey, and the axes of the plane of x and z."""
    first, block = (case.length - case.narrow_length) / 2, (case.height - case.gap) / 2
    for bottom in (0, case.height - block):
        axes.add_patch(Rectangle((first, bottom), case.narrow_length, block, color=_WALL, zorder=3))
    axes.set(xlabel=f"x ({_LENGTH})", ylabel=f"z ({_LENGTH})", aspect="equal")
    axes.set(xlim=(0, case.length), ylim=(0, case.height))
    axes.grid(False)


def channel_sketch(case: Channel):
    """The channel from the side, its lengths and its frozen particles (figure 9), drawn from the case itself."""
    system = replace(case, width=3.0, frozen=None).system()
    frozen = system.position[system.moving :]
    figure, axes = plt.subplots(figsize=(7.4, 1.2 + 6.4 * case.height / case.length))
    _draw_blocks(axes, case)
    axes.plot(frozen[:, 0], frozen[:, 2] - case.walls.bottom, ".", ms=0.8, color=VERMILLION, zorder=4)
    for bottom in (-2, case.height):
        axes.add_patch(Rectangle((0, bottom), case.length, 2, color=_WALL, zorder=3))
    axes.set(xlim=(-3, case.length + 3), ylim=(-3, case.height + 3))
    first, last = ((case.length + side * case.narrow_length) / 2 for side in (-1, 1))
    middle, upper, lower, left = case.height / 2, 0.93 * case.height, 0.07 * case.height, 0.1 * case.length
    ends = [((0, upper), (first, upper)), ((first, upper), (last, upper)), ((0, lower), (case.length, lower))]
    ends += [((left, 0), (left, case.height))]
    ends += [((case.length / 2, middle - case.gap / 2), (case.length / 2, middle + case.gap / 2))]
    for start, end in np.array(ends):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "<->", "lw": 0.9}, zorder=6)
        length = f"{np.sum(end - start):g}"
        axes.text(*(start + end) / 2, length, ha="center", va="center", bbox=PLATE, zorder=7)
    axes.annotate("", (0.9 * case.length, middle), (0.78 * case.length, middle), arrowprops={"color": BLUE, "width": 2})
    axes.text(0.84 * case.length, middle + 0.05 * case.height, "body force g", color=BLUE, ha="center")
    axes.set_title(f"periodic along x and along y (width {case.width:g}); dots: frozen particles")
    return figure


def profile(both: Comparison, z: np.ndarray, height: float, fitted: np.ndarray):
    """Velocity over the height (figure 8): programs as points, theory with the bulk's viscosity and fitted as lines."""
    figure, axes = plt.subplots()
    fine, middle = np.linspace(0, height, 201), len(z) // 2
    dashed = {"linestyle": "--", "marker": "none", "color": "0.3"}
    for name, velocity, style in (("theory, bulk viscosity", both.theory, OURS), ("theory, fitted", fitted, dashed)):
        # the parabola that vanishes at both walls and has this velocity in the middle
        curve = velocity[middle] / (z[middle] * (height - z[middle])) * fine * (height - fine)
        axes.plot(fine, curve, **style, label=name)
    programs = [name for name in both.profiles if name != THEORY]
    for name, look in looks(programs, marker=("s", "o"), color=(VERMILLION, GREEN)):
        axes.plot(z, both.profiles[name], **_POINTS | look, label=name)
    axes.set(xlabel=f"height above the lower wall z ({_LENGTH})", ylabel=f"velocity $V_x$ ({_SPEED})")
    axes.set_ylim(0, 1.3 * max(np.nanmax(line.get_ydata()) for line in axes.lines))
    axes.legend(ncols=2, loc="upper center")
    return figure, both.profiles | {"z": z, "fitted": fitted}


def layers(averages: dict[str, list[Field]], theory: np.ndarray):
    """Velocity less theory, density and temperature over the height, in shares of the height and of v_max."""
    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.6))
    labels, arrays = ("velocity less theory (% of $v_{max}$)", r"density ($1/r_c^3$)", "temperature ($kT$)"), {}
    for name, look in looks(averages, markersize=3.5, linewidth=1):
        field = mean_field(averages[name])
        off = 100 * (field.velocity_x[0] - theory) / theory.max()
        found = {"off": off, "density": field.density[0], "temperature": thermal(field)}
        for axes, label, values in zip(panels, labels, found.values(), strict=True):
            axes.plot((np.arange(len(theory)) + 0.5) / len(theory), values, **look, label=name)
            axes.set(xlabel="z / H", ylabel=label, xlim=(0, 1))
        arrays |= {f"{name} {what}": values for what, values in found.items()}
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays


def sections(both: Comparison, z: np.ndarray):
    """Velocity along x over the height above the lower wall at both middle sections (figure 10)."""
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.8))
    for k, (name, velocities) in enumerate(by_section(both).items()):
        style = {"linestyle": "-", "marker": "none"} if k == 0 else _POINTS | {"marker": "s"}
        for axes, (place, velocity) in zip(panels, velocities.items(), strict=True):
            axes.plot(z, velocity, **style, color=f"C{k}", label=name)
            axes.set(xlabel=f"height z ({_LENGTH})", ylabel=f"velocity $V_x$ ({_SPEED})")
            axes.set_title(f"middle of the {place} part")
    for axes in panels:
        axes.axhline(0, color="0.5", lw=0.8, marker="none")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, both.profiles | {"z": z}


def rates(flow: Flow, case: Channel):
    """The flow rate window by window; the bars are the spread over the sections."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    found = rates_by_window(flow.windows, case)
    axes.errorbar(flow.ends / 1000, found.mean(1), found.std(1, ddof=1), fmt="o-", capsize=3)
    axes.set(xlabel="end of the window (thousand steps)", ylabel=f"flow rate (particles per {_TIME})", ylim=(0, None))
    return figure, {"ends": flow.ends, "rates": found}
