"""Figures of the flow notebooks. `ours` is the keyword dictionary of the project's plotting style."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from repro.dpd.averages import Field
from repro.dpd.cases import Channel
from repro.papers.style import GREEN

from .flows import Flow
from .plates import Comparison, Parabola, thermal
from .sections import beside_faces, flow_rate, in_fluid

_SPEED, _TIME, _LENGTH = r"$\sqrt{kT/m}$", r"$r_c \sqrt{m/kT}$", "$r_c$"
_POINTS = {"linestyle": "none", "markerfacecolor": "none"}
_WALL = "0.75"


def profile(both: Comparison, unfitted: np.ndarray, ours: dict):
    """Velocity over the height: runs as points, theory as lines (figure 8).

    `unfitted` is theory with the viscosity of the bulk, at the heights `both.fit.z`.
    """
    fit = both.fit
    lines = {"theory, fitted": (fit.z, fit.theory), "theory, bulk viscosity": (fit.z, unfitted)}
    points = {name: (each.z, each.velocity) for name, each in both.last.items()}
    figure, axes = plt.subplots()
    styles = [ours, {"linestyle": "--", "marker": "none", "color": "0.3"}]
    for (name, (z, velocity)), style in zip(lines.items(), styles, strict=False):
        axes.plot(z, velocity, **style, label=name)
    for k, (name, (z, velocity)) in enumerate(points.items(), start=1):
        axes.plot(z, velocity, **_POINTS, color=f"C{k}", marker="so^"[k - 1], label=name)
    axes.set(xlabel=f"height above the lower wall z ({_LENGTH})", ylabel=f"velocity $V_x$ ({_SPEED})")
    axes.set_ylim(0, 1.3 * max(np.nanmax(v) for _, v in points.values()))
    axes.legend(ncols=2, loc="upper center")
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


def layers(runs: dict[str, tuple[Parabola, Field]]):
    """Residual of the parabola, density and temperature over the height, in shares of the height and of v_max."""
    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.6))
    for k, (name, (fit, field)) in enumerate(runs.items()):
        height = fit.z / (fit.z[0] + fit.z[-1])
        style = {"color": f"C{k}", "marker": "os^"[k], "markersize": 3.5, "linewidth": 1}
        for axes, values in zip(panels, (100 * fit.residual, field.density[0], thermal(field)), strict=True):
            axes.plot(height, values, **style, label=name)
    labels = ("velocity less parabola (% of $v_{max}$)", r"density ($1/r_c^3$)", "temperature ($kT$)")
    for axes, label in zip(panels, labels, strict=True):
        axes.set(xlabel="z / H", ylabel=label, xlim=(0, 1))
    panels[0].legend(loc="upper center")
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(low, high + 0.3 * (high - low))
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
    edge, block = (case.length - case.narrow_length) / 2, (case.height - case.gap) / 2
    for bottom in (0, case.height - block):
        axes.add_patch(Rectangle((edge, bottom), case.narrow_length, block, color=_WALL, zorder=3))
    axes.set(xlabel=f"x ({_LENGTH})", ylabel=f"z ({_LENGTH})", aspect="equal")
    axes.set(xlim=(0, case.length), ylim=(0, case.height))
    axes.grid(False)
    figure.colorbar(shade, ax=axes, label=f"speed ({_SPEED})", shrink=0.9)
    return figure


def sections(z: np.ndarray, profiles: dict[str, dict[str, np.ndarray]]):
    """Velocity along x over the height at several sections: {run: {section: velocity}} (figure 10)."""
    places = list(next(iter(profiles.values())))
    figure, panels = plt.subplots(1, len(places), figsize=(8.6, 3.8), squeeze=False)
    for axes, place in zip(panels[0], places, strict=True):
        for k, (name, velocities) in enumerate(profiles.items()):
            style = {"linestyle": "-", "marker": "none"} if k == 0 else _POINTS | {"marker": "s"}
            axes.plot(z, velocities[place], **style, color=f"C{k}", label=name)
        axes.axhline(0, color="0.5", lw=0.8)
        axes.set(xlabel=f"height z ({_LENGTH})", ylabel=f"velocity $V_x$ ({_SPEED})")
        axes.set_title(f"middle of the {place} part")
    low, high = panels[0][0].get_ylim()
    panels[0][0].set_ylim(low, high + 0.25 * (high - low))
    panels[0][0].legend(ncols=2, loc="upper center")
    return figure


def rates(flow: Flow, case: Channel, last: int):
    """Flow rate in each window on the left, over x in the last windows on the right.

    The bars are the spread over the sections on the left and standard errors, from the windows, on the right.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), width_ratios=[1, 1.2])
    found = np.array([flow_rate(field, case) for field in flow.windows])
    left.errorbar(flow.ends / 1000, found.mean(1), found.std(1, ddof=1), fmt="o-", capsize=3)
    left.xaxis.get_major_locator().set_params(nbins=6)
    left.set(xlabel="end of the window (thousand steps)", ylabel=f"flow rate (particles per {_TIME})", ylim=(0, None))
    kept = found[-last:]
    error = kept.std(0, ddof=1) / np.sqrt(len(kept))
    beside, x = beside_faces(flow.windows[0], case), flow.windows[0].x
    for chosen, label, mark in ((~beside, "sections", "o"), (beside, "beside a face", "s")):
        mean, style = kept.mean(0)[chosen], {"ms": 3, "capsize": 2, "lw": 0.8, "markerfacecolor": "none"}
        right.errorbar(x[chosen], mean, error[chosen], fmt=mark, label=label, **style)
    right.axhline(kept[:, ~beside].mean(), color="0.4", lw=1, marker="none", label="mean")
    right.axvspan(
        *((case.length + s * case.narrow_length) / 2 for s in (-1, 1)), color=_WALL, alpha=0.4, label="narrow part"
    )
    right.set(xlabel=f"x ({_LENGTH})", ylabel=f"flow rate (particles per {_TIME})", ylim=(0, 1.4 * kept.mean(0).max()))
    right.legend(ncols=2, loc="upper center")
    return figure
