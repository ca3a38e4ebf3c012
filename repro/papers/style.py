"""One look for all figures."""

from cycler import cycler

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY_BLUE, BLACK, YELLOW = "#E69F00", "#56B4E9", "#000000", "#F0E442"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY_BLUE, BLACK, YELLOW)
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

PAPER = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 5,
    "markerfacecolor": "none",
    "markeredgecolor": BLACK,
    "markeredgewidth": 1.1,
    "zorder": 3,
}
"""Keywords of `plot` for a paper's points: open black circles, above our lines."""
OURS = {"linestyle": "-", "marker": "none", "linewidth": 1.8, "color": BLUE, "zorder": 2}
"""Keywords of `plot` for our results: a blue line."""

PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
"""Keyword `bbox` of a number that is drawn over a line: its background."""

SETTINGS = {
    "axes.prop_cycle": cycler(color=COLOURS) + cycler(marker=MARKERS),
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "figure.figsize": (6.4, 4.0),
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "savefig.bbox": "tight",
    "savefig.dpi": 200,
    # a fixed salt and no date make the same figure the same file
    "svg.hashsalt": "gpu-papers-repro",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


def look(k: int) -> dict:
    """Keywords of `plot` for the k-th of any number of lines: a colour and a marker, which repeat."""
    return {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}


def looks(items, **more):
    """Yield each of `items` with keywords of `plot`: a colour, a marker and `more`, of which a tuple has one for each.

    What there is too little of repeats.
    """
    for k, item in enumerate(items):
        each = {"color": COLOURS, "marker": MARKERS} | more
        yield item, {name: value[k % len(value)] if isinstance(value, tuple) else value for name, value in each.items()}


def use_style() -> None:
    """Set matplotlib's defaults to the project's look, whatever settings a user has."""
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update(SETTINGS)
