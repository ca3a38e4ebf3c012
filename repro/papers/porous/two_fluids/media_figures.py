"""Figures of the notebooks on two fluids in porous media."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter
from scipy import ndimage

from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.wetting import PHASE_A, PHASE_B, SOLID
from repro.papers.rasteriser import Body, across, box_edges, picture
from repro.papers.style import BLUE, COLOURS, ORANGE

from .media import Run

#: of the values of an image of phases: solid, fluid f, fluid g
PALETTE = ("#333333", BLUE, ORANGE)

#: solid in three dimensions, where it is lit
GREY = "#a8a8a8"

#: nodes over which the steps between voxels are smoothed for pictures in three dimensions
SMOOTHING = 1.0

#: by which bodies overlap, of fields that go from -1 to 1
SEAM = 0.1

#: where fluid g and the solid end in a picture that is cut open, as shares of the box along x
ENDS = {PHASE_B: 0.34, SOLID: 0.67, PHASE_A: 1.0}


def _legend(wetting: float, colours=PALETTE) -> list[Patch]:
    """Handles for a case of wetting G_fs = -G_gs."""
    kinds = {-1: " (wetting)", 0: "", 1: " (non-wetting)"}
    labels = ("solid", f"fluid f{kinds[np.sign(wetting)]}", f"fluid g{kinds[-np.sign(wetting)]}")
    return [Patch(color=colour, label=label) for colour, label in zip(colours, labels, strict=True)]


def _panels(images: list[tuple[str, np.ndarray]], columns: int, width: float, wetting: float = 0.0):
    """The first layer of each image of phases under its title, with names for a case of wetting G_fs = -G_gs."""
    (_, ny, nx), rows = images[0][1].shape, -(-len(images) // columns)
    height = rows * ((width - 0.6) / columns * ny / nx + 0.3) + 0.8
    figure, panels = plt.subplots(rows, columns, figsize=(width, height), sharex=True, sharey=True, squeeze=False)
    shown = {"cmap": ListedColormap(PALETTE), "vmin": 0, "vmax": 2, "interpolation": "nearest", "origin": "lower"}
    for axes, (title, image) in zip(panels.ravel(), images, strict=False):
        axes.imshow(image[0], **shown)
        axes.set_title(title)
        axes.grid(False)
    for axes in panels.ravel()[len(images) :]:
        axes.set_axis_off()
    for axes in panels[:, 0]:
        axes.set_ylabel("y (nodes)")
    for axes in panels[-1]:
        axes.set_xlabel("x (nodes)")
    figure.legend(handles=_legend(wetting), loc="outside lower center", ncols=3)
    return figure


def pore_image(space: PoreSpace):
    """The image of the medium, solid black (figure 6.7)."""
    nx, ny, _ = space.shape
    figure, axes = plt.subplots(figsize=(6.4, 6.4 * ny / nx + 0.5))
    axes.imshow(space.solid[0], cmap="Greys", origin="lower", interpolation="nearest")
    axes.set(xlabel="x (nodes)", ylabel="y (nodes)")
    axes.grid(False)
    return figure, {"porosity": space.porosity}


def snapshots(run: Run, steps):
    """The phases at the given steps (figure 6.8)."""
    images = [(f"{step:,} steps", run.images[step]) for step in steps]
    figure = _panels(images, 3 if len(steps) == 3 else 2, 10.0, run.case.wetting)
    rows = run.table.set_index("step").loc[list(steps)]
    return figure, {"step": list(steps), "covered by f": rows["covered"], "saturation": rows["saturation"]}


def ends(runs: dict[str, Run]):
    """The phases at the end of each run, by name."""
    named = {f"{name}: $G_{{fs}} = {run.case.wetting:g}$": run for name, run in runs.items()}
    figure = _panels([(title, run.images[run.flow.steps]) for title, run in named.items()], len(runs), 11.0)
    return figure, {f"covered by f, {name}": run.last["covered"] for name, run in runs.items()}


def history(runs: dict[str, Run]):
    """What was observed over the steps, a colour for each run: f drawn out, g dashed."""
    figure, ((surface, area), (flow, pieces)) = plt.subplots(2, 2, figsize=(9.4, 6.4), sharex=True)
    for (name, run), colour in zip(runs.items(), COLOURS, strict=False):
        rows, drawn = run.table[run.table["step"] > 0], {"color": colour, "marker": ".", "markersize": 4}
        surface.plot(rows["step"], 100 * rows["covered"], **drawn, label=name)
        surface.plot(rows["step"], 100 * rows["saturation"], color=colour, marker="none", ls=":")
        area.loglog(rows["step"], rows["interface"], **drawn)
        for fluid, line in (("f", "-"), ("g", "--")):
            flow.plot(rows["step"], 1e3 * rows[f"flow {fluid}"], **drawn, ls=line)
            pieces.loglog(rows["step"], rows[f"pieces {fluid}"], **drawn, ls=line)
    surface.set(xscale="log", ylabel="solid surface covered by f (%)", ylim=(-2, 102))
    area.set(ylabel="interface over volume (1/nodes)")
    flow.set(ylabel="flow of a phase along x\n($10^{-3}$ nodes/step)", xlabel="steps")
    pieces.set(ylabel="pieces of a phase", xlabel="steps")
    for axes, marks in ((area, (1, 1.5, 2, 3, 5, 7)), (pieces, (1, 2, 5))):
        axes.yaxis.set_major_locator(LogLocator(subs=marks))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
    flow.set_ylim(min(0, flow.get_ylim()[0]), None)
    fluids = {"f": "-", "g": "--"}
    for axes, lines in {surface: {"f in the pores": ":"}, flow: fluids, pieces: fluids}.items():
        for name, line in lines.items():
            axes.plot([], [], color="black", marker="none", ls=line, label=name)
        axes.legend()
    names = ("step", "saturation", "covered", "interface", "flow f", "flow g", "pieces f", "pieces g")
    return figure, {f"{column}, {name}": run.table[column] for name, run in runs.items() for column in names}


def drops(table: pd.DataFrame, images: list[np.ndarray]):
    """Drops of fluid f on a plate, by their wetting."""
    titles = []
    for row in table.itertuples():
        angle = "no drop" if np.isnan(row.angle) else f"{row.angle:.0f} degrees"
        titles.append(f"$G_{{fs}} = {row.wetting:g}$: {angle}")
    figure = _panels(list(zip(titles, images, strict=True)), 1, 7.0)
    return figure, {name: table[name] for name in ("wetting", "angle", "base (%)")}


def bodies(image: np.ndarray, *, cut: bool) -> dict[int, Body]:
    """Solid, f and g of an image of phases as bodies, smoothed over SMOOTHING nodes; whole, or `cut` at ENDS."""

    def smooth(mask):
        return ndimage.gaussian_filter(mask.astype(np.float32), SMOOTHING, mode="wrap")

    solid, f, g = (smooth(image == phase) for phase in (SOLID, PHASE_A, PHASE_B))
    # which fluid is there, as if there were no solid, and where there is none
    which, open_ = (f - g) / np.maximum(f + g, 1e-6), 1 - 2 * solid
    # they overlap by what interpolation would leave open where all three meet
    fields = {SOLID: -open_, PHASE_A: np.minimum(which, open_) + SEAM, PHASE_B: np.minimum(-which, open_) + SEAM}
    length, colours = image.shape[2] - 1, {SOLID: GREY, PHASE_A: BLUE, PHASE_B: ORANGE}
    return {k: Body(field, to_rgb(colours[k]), length * (ENDS[k] if cut else 1.0)) for k, field in fields.items()}


def _show_bodies(axes, found: list[Body], width: int):
    """The bodies in their box, each of its axes with its length."""
    image, shape, written = picture(found, width), found[0].field.shape, set()
    axes.imshow(image, interpolation="antialiased", extent=(0, width, image.shape[0], 0))
    for axis, ends in box_edges(shape, width):
        axes.plot(*ends.T, color="black", lw=0.8, marker="none", clip_on=False)
        if axis not in written:
            written.add(axis)
            (right, down), middle = ends[1] - ends[0], ends.mean(axis=0)
            turned = {"rotation": np.degrees(np.arctan2(-down, right)), "rotation_mode": "anchor", "fontsize": 8}
            place = middle + 0.02 * width * np.array([-down, right]) / np.hypot(right, down) * (1 if axis < 2 else 0)
            text = f"{'xyz'[axis]}: {shape[2 - axis]} nodes"
            axes.text(*place, text, **turned, ha="center", va="top" if axis < 2 else "bottom")
    axes.set(xlim=(0, width), ylim=(image.shape[0], 0))
    axes.set_axis_off()


def solids(spaces: dict[str, PoreSpace], width: int):
    """The solid of some media, by name, each in its box (figure 6.11)."""
    figure, panels = plt.subplots(1, len(spaces), figsize=(3.4 * len(spaces), 3.0), squeeze=False)
    for axes, (name, space) in zip(panels.ravel(), spaces.items(), strict=True):
        _show_bodies(axes, [bodies(np.where(space.solid, SOLID, PHASE_A), cut=False)[SOLID]], width)
        axes.set_title(f"{name}: porosity {space.porosity:.2f}")
    return figure, {name: space.porosity for name, space in spaces.items()}


def packing(space: PoreSpace, width: int):
    """The spheres, cut at the faces of the periodic box (figure 6.9a)."""
    figure, axes = plt.subplots(figsize=(6.4, 4.4))
    _show_bodies(axes, [bodies(np.where(space.solid, SOLID, PHASE_A), cut=False)[SOLID]], width)
    axes.set_title(f"{' x '.join(map(str, space.shape))} voxels, porosity {space.porosity:.3f}")
    return figure, {"porosity": space.porosity}


def phases_in_packing(run: Run, width: int):
    """Both phases at the end of a run, cut open: on the left all, then without fluid g, on the right f alone (6.9b)."""
    figure, axes = plt.subplots(figsize=(8.0, 5.6))
    _show_bodies(axes, list(bodies(run.images[run.flow.steps], cut=True).values()), width)
    right, up = across(0)
    end = (0.02 + 0.15 * right, 0.12 + 0.2 * up)
    axes.annotate("", end, (0.02, 0.12), "axes fraction", arrowprops={"arrowstyle": "->"})
    axes.text(0.02, 0.02, "force, along x", transform=axes.transAxes, fontsize=9)
    axes.set_title(f"{run.flow.steps:,} steps; fluid g is cut off after a third, the solid after two thirds")
    figure.legend(handles=_legend(run.case.wetting, (GREY, BLUE, ORANGE)), loc="outside lower center", ncols=3)
    return figure, {"saturation": run.last["saturation"], "interface": run.last["interface"]}


def growth(run: Run, steps, width: int):
    """The phase of fluid f alone at some steps."""
    figure, panels = plt.subplots(1, len(steps), figsize=(3.6 * len(steps), 3.0), squeeze=False)
    for axes, step in zip(panels.ravel(), steps, strict=True):
        _show_bodies(axes, [bodies(run.images[step], cut=False)[PHASE_A]], width)
        axes.set_title(f"fluid f after {step:,} steps")
    return figure, {"step": list(steps), "interface": run.table.set_index("step").loc[list(steps), "interface"]}
