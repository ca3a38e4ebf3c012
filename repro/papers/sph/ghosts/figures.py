"""Figures of the notebook on ghosts. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.collections import EllipseCollection
from matplotlib.colors import Normalize

from repro.papers.style import COLOURS, MARKERS, SKY_BLUE, VERMILLION
from repro.papers.style import looks as line_looks
from repro.sph.cases import DamBreak
from repro.sph.ghosts import wall_sites

from .measures import NAMES, PLACES, Look

#: colours of a deficit, readable without red and green, and where they end: half of rho0 is missing at a plane wall
CMAP, SCALE = "cividis", Normalize(0, 50)

#: how far to the right and up a metre of depth is drawn
OBLIQUE = np.array([0.45, 0.3])

#: a particle's diameter as drawn, and that of ghosts in walls and in the air, in spacings
_DOT, _GHOST, _AIR = 1.0, 0.55, 0.35

WITH, WITHOUT = NAMES["ghosts"], NAMES["none"]


def states(case: DamBreak, first: Look, looks: dict[str, list[Look]]):
    """Figure 6: the start with the walls' ghosts that touch the tank, and the water later, WITH ghosts and WITHOUT.

    Of `runs.sweep` the first seed is shown. Where there are ghosts, those in the air are small dots.
    """
    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.4))
    start, spacing = first.system, case.resolution.spacing
    walls = wall_sites(start).position
    # those in front of the water and over it would hide it
    low, high = -spacing, start.tank + np.array([spacing, spacing, np.inf])
    seen = ((walls > low) & (walls < high)).all(1) & ((walls[:, ::2] < 0).any(1) | (walls[:, 1] > start.tank[1]))
    _draw(panels[0], walls[seen & (walls[:, 1] > 0)], VERMILLION, start, _GHOST)
    _draw(panels[0], first.position, _deficit(first), start)
    _draw(panels[0], first.air, SKY_BLUE, start, _AIR)
    panels[0].set_title("(a) start; ghosts: walls orange, air blue")
    later = {name: looks[name][0] for name in (WITH, WITHOUT)}
    for axes, letter, (name, look) in zip(panels[1:], "bc", later.items(), strict=True):
        _draw(axes, look.position, _deficit(look), look.system)
        if name == WITH:
            _draw(axes, look.air, SKY_BLUE, look.system, _AIR)
        axes.set_title(f"({letter}) {name}, {look.time:.3g} s")
    _finish(figure, panels, start)
    places = {f"{name}: position": look.position.astype(np.float32) for name, look in later.items()}
    lacks = {f"{name}: deficit": _deficit(look) for name, look in later.items()}
    return figure, {"start": start.position} | places | lacks


def through(runs: dict[str, pd.DataFrame]):
    """Fronts and energies of `air.through` over time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.6))
    arrays = {}
    for (name, table), drawn in line_looks(runs.items(), marker="none", ls=(":", "-", "--", "-.")):
        left.plot(table["time"], table["front"], **drawn, label=name)
        right.plot(table["time"], 100 * table["energy"], **drawn)
        arrays |= {f"{name}: {column}": table[column].to_numpy() for column in ("time", "front", "energy")}
    left.set(xlabel="time (s)", ylabel="front $Z = x/a$")
    right.set(xlabel="time (s)", ylabel="growth of kinetic and potential\nenergy (%)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays


def _deficit(look: Look) -> np.ndarray:
    return 100 * np.maximum(-look.summed.astype(float), 0)


def _draw(axes, position: np.ndarray, colour, system, size: float = _DOT) -> None:
    """Draw particles as seen obliquely from above and the right, far ones first, in a colour or by a deficit in %."""
    order = np.argsort(position @ np.array([OBLIQUE[0], -1, OBLIQUE[1]]))
    place = 1000 * (position[order][:, ::2] + position[order, 1:2] * OBLIQUE)
    diameter = np.full(len(place), 1000 * size * system.resolution.spacing)
    given = {"facecolors": colour} if isinstance(colour, str) else {"array": colour[order], "cmap": CMAP, "norm": SCALE}
    # ten thousand circles would make a drawing of megabytes
    given |= {"edgecolors": (0, 0, 0, 0.35), "linewidths": 0.15, "rasterized": True}
    where = {"units": "xy", "offsets": place, "offset_transform": axes.transData}
    axes.add_collection(EllipseCollection(diameter, diameter, np.zeros(len(place)), **where, **given))


def _finish(figure, panels, system) -> None:
    """Axes as long as the tank and as high as the water stood, and the scale of the colours."""
    length, depth, _ = system.tank
    for axes in panels:
        margin, top = 2 * system.resolution.spacing, 1.1 * system.depth
        x = np.array([-margin, length + margin + OBLIQUE[0] * depth])
        axes.set(xlim=1000 * x, ylim=(-1000 * margin, 1000 * (top + OBLIQUE[1] * depth)), aspect="equal")
        axes.set(xlabel="x (mm)", ylabel="z (mm)")
        axes.grid(False)
        corners = np.array([[0, top], [0, 0], [length, 0], [length, top]])
        axes.plot(*1000 * corners.T, "-", color="0.3", marker="none", lw=0.8, zorder=0)
    label = "density that equation 3 lacks (% of $\\rho_0$)"
    bar = {"shrink": 0.8, "extend": "max", "label": label, "location": "bottom", "aspect": 40}
    figure.colorbar(ScalarMappable(SCALE, CMAP), ax=list(panels), **bar)


def deficits(table: pd.DataFrame):
    """What equation 3 lacks by place and boundary, of `measures.table`: means over seeds, and each seed as a point."""
    figure, axes = plt.subplots(figsize=(8.4, 4.0))
    series = {name: (name, "counted") for name in NAMES.values()}
    series = {WITH: (WITH, "counted"), "the same, ghosts not counted": (WITH, "not counted")} | series
    width, arrays = 0.8 / len(series), {}
    for n, (label, (name, kind)) in enumerate(series.items()):
        rows = table[table["boundary"] == name]
        values = 100 * rows[[f"{kind} {place}" for place in PLACES]].to_numpy()
        x = np.arange(len(PLACES)) + (n - (len(series) - 1) / 2) * width
        _bars(axes, x, values, width, COLOURS[n], MARKERS[n], label)
        for place, mean, top in zip(x, values.mean(0), values.max(0), strict=True):
            # what is small beside the others has a number, too
            text = f"{mean:.2g}" if np.isfinite(mean) else "none"
            above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center", "fontsize": 8}
            axes.annotate(text, (place, np.nan_to_num(top)), **above)
        arrays[label] = values
    axes.set_xticks(range(len(PLACES)), PLACES)
    axes.set(ylabel="density that equation 3 lacks,\nroot mean square (% of $\\rho_0$)")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays


def roughness(table: pd.DataFrame):
    """Roughness of the surface, unevenness along walls and particles on walls: means over seeds, each as a point."""
    what = {
        "surface": "roughness of the surface\n(spacings)",
        "walls": "unevenness along walls\n(spacings)",
        "on walls": "particles on a wall\n(% of all)",
    }
    figure, panels = plt.subplots(1, len(what), figsize=(9.0, 3.2))
    arrays = {}
    for axes, (column, label) in zip(panels, what.items(), strict=True):
        for n, name in enumerate(NAMES.values()):
            values = table.loc[table["boundary"] == name, [column]].to_numpy(float)
            values = 100 * values if column == "on walls" else values
            _bars(axes, np.array([n]), values, 0.7, COLOURS[n], MARKERS[n], name)
            arrays[f"{name}: {column}"] = values[:, 0]
        axes.set_xticks([])
        axes.set(ylabel=label, ylim=(0, None))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, arrays


def _bars(axes, x: np.ndarray, values: np.ndarray, width: float, colour: str, marker: str, label: str) -> None:
    """Bars at x of the means of values (seed, x), whiskers over all seeds, and a point for each."""
    mean = values.mean(0)
    reach = np.abs([mean - values.min(0), values.max(0) - mean])
    axes.bar(x, mean, width, color=colour, alpha=0.55, yerr=reach, error_kw={"capsize": 3, "lw": 1}, label=label)
    spread = np.linspace(-0.25, 0.25, len(values))[:, None] * width
    axes.plot(x + spread, values, ls="none", marker=marker, ms=4, mfc="white", color=colour)
