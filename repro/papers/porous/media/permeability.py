"""Tables of permeabilities: of sphere crystals, against the series, over the viscosity, on finer grids.

k is in squared voxels, tau is the relaxation time.
"""

from itertools import pairwise, product
from typing import Annotated

import numpy as np
import pandas as pd

from repro.declared import Rule, Whole, checked
from repro.lbm.exact import bcc_permeability, bcc_permeability_as_printed
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.media.pore_space import AXES
from repro.lbm.media.spheres import solid_fraction
from repro.lbm.porous.permeability import flow_through, in_units, refined

#: relaxation times of the runs that show how k depends on the viscosity, at chi = VISCOSITY_CHI
VISCOSITY_TAUS, VISCOSITY_CHI = (0.8, 1.0, 1.2, 1.6), 0.6

#: voxels along the cell of the paper's figures
PAPER_NODES = 128

#: the walls of the thesis' listing 2: where solid is, a node reads its own opposite population after the collision
THESIS_WALLS = "half-way"

#: the references that the rates of MRT may be from, by the collision that has them
RATES = {"mrt": "reference 30", "mrt-dhumieres": "reference 31"}

#: the collisions of figures 5.7 and 5.8
COLLISIONS = ("bgk", *RATES)

#: differences of k that single precision does not show
ROUNDING = 1e-6

#: the highest chi up to which the series is a yardstick for a per cent, and those of the paper's highest and lowest
#: porosity
TRUSTED_CHI, OUTER_CHIS = 0.85, (0.6, 0.99)

#: the chi that claims on figure 5.8 are about, and all claims of the notebook
CHI_CLAIMS = {"porous-117": 0.7, "porous-118": 0.8, "porous-119": 0.9}
CLAIMS = [f"porous-{number}" for number in (*range(115, 120), *range(124, 127), 157, 158, 169)]


def crystal_runs(nodes: int, chis, taus, walls) -> list[tuple]:
    """The runs of figures 5.7 and 5.8, in cells of `nodes` and one voxel less, and those over viscosity and `walls`."""
    lengths = (nodes, nodes - 1)
    runs = [(*run, THESIS_WALLS) for run in product(lengths, chis, taus, COLLISIONS)]
    for wall in (THESIS_WALLS, *walls):
        runs += [(nodes, VISCOSITY_CHI, tau, collision, wall) for collision in COLLISIONS[:2] for tau in VISCOSITY_TAUS]
    return list(dict.fromkeys(runs))


def crystal_table(runs, coefficients, device, **options) -> pd.DataFrame:
    """k of body-centred spheres for a list of (nodes, chi, relaxation time, collision, walls); one row a run.

    `coefficients` are those of the series, from which it also has the deviation; `options` as of `flow_through`.
    """
    rows, spaces = [], {}
    for nodes, chi, tau, collision, walls in runs:
        space = spaces.setdefault((nodes, chi), PoreSpace(sphere_crystal(nodes, chi)))
        run = flow_through(space, device, relaxation_time=tau, collision=collision, walls=walls, **options)
        how = (run.result.steps, run.result.converged, run.reynolds, run.result.mean_density)
        rows.append((nodes, chi, space.porosity, tau, collision, walls, run.k, *how))
    names = ["nodes", "chi", "porosity", "tau", "collision", "walls", "k", "steps", "converged", "reynolds"]
    table = pd.DataFrame(rows, columns=[*names, "mean density"])
    table["series"] = bcc_permeability(table["chi"], table["nodes"], coefficients)
    return table.assign(**{"deviation (%)": 100 * (table["k"] / table["series"] - 1)})


def flow_of_figure_5_6(nodes: int, device, **options) -> tuple[np.ndarray, np.ndarray]:
    """Velocity over the Darcy velocity, and the solid: BGK at chi = 0.8, tau = 0.8; `options` as of `flow_through`."""
    space = PoreSpace(sphere_crystal(nodes, 0.8))
    run = flow_through(space, device, relaxation_time=0.8, collision="bgk", keep_velocity=True, **options)
    return run.velocity, space.solid


def at_paper_points(table: pd.DataFrame, published: pd.DataFrame, collision: str) -> pd.DataFrame:
    """The rows of a `crystal_table` with the thesis' walls that are at a point of its figure 5.7 or 5.8.

    Those of collisions whose names begin with `collision`, such as MRT with either set of rates. With the columns
    length, which is 128 or 127 voxels along the cell of the paper, k in such a cell, paper, and "off (%)", by which k
    is above the paper's. `published` has figure, series, x (porosity) and y of one figure.
    """
    points = published[published["series"].str.startswith("tau=")]
    tau = points["series"].str[4:].astype(float)
    points = pd.DataFrame({"chi": chi_of(points["x"]), "tau": tau, "paper": points["y"]})
    rows = table[(table["walls"] == THESIS_WALLS) & table["collision"].str.startswith(collision)]
    rows = rows.drop_duplicates(["nodes", "chi", "tau", "collision"])
    rows = rows[rows["nodes"] >= table["nodes"].max() - 1].merge(points, on=["chi", "tau"])
    rows["length"] = PAPER_NODES - (table["nodes"].max() - rows["nodes"])
    rows["k"] *= (rows["length"] / rows["nodes"]) ** 2
    return rows.assign(**{"off (%)": 100 * (rows["k"] / rows["paper"] - 1)})


def chi_of(porosity):
    """chi of the body-centred spheres of a porosity, to the two digits of the thesis' figures."""
    return np.round(((1 - np.asarray(porosity, float)) / solid_fraction(1.0)) ** (1 / 3), 2)


def most_off(*points: pd.DataFrame) -> pd.DataFrame:
    """The largest distance from the thesis' points, in %, of each collision and length of `at_paper_points`."""
    points = pd.concat(points)
    groups = points.assign(off=points["off (%)"].abs()).groupby(["collision", "length"], sort=False)
    return groups["off"].max().rename("largest (%)").reset_index()


def cell_lengths(coefficients) -> pd.DataFrame:
    """k at chi = 0.6 from the balance of forces and from equation 5.3 as printed, for three lengths of the cell."""
    lengths = pd.DataFrame({"L": [PAPER_NODES - 2, PAPER_NODES - 1, PAPER_NODES]})
    lengths["k (balance of forces)"] = bcc_permeability(0.6, lengths["L"], coefficients)
    lengths["k (equation 5.3 as printed)"] = bcc_permeability_as_printed(0.6, lengths["L"], coefficients)
    return lengths


def drawn_length(lengths: pd.DataFrame, drawn: pd.DataFrame) -> dict:
    """The lowest point of the paper's analytical curve, and the length and formula of `cell_lengths` nearest to it."""
    paper = float(drawn.loc[drawn["x"].idxmax(), "y"])
    length, formula = lengths.set_index("L").sub(paper).abs().stack().idxmin()
    return {"paper": paper, "length": length, "holds": formula == "k (balance of forces)"}


def drawn_cell(points: pd.DataFrame) -> dict:
    """How far (%) k with MRT lies from the paper's at chi = 0.8, tau = 0.8 in cells of 128 and of 126 voxels.

    From `at_paper_points`, for `Record.say`; the second follows from the first as the square of the length. Holds if
    they lie on both sides of the paper's.
    """
    off = points.set_index(["length", "collision", "chi", "tau"])["off (%)"]
    stated = float(off[PAPER_NODES, "mrt", 0.8, 0.8])
    drawn = 100 * ((1 + stated / 100) * ((PAPER_NODES - 2) / PAPER_NODES) ** 2 - 1)
    return {"stated": stated, "drawn": drawn, "holds": drawn < 0 < stated}


def viscosity_runs(table: pd.DataFrame, nodes: int) -> pd.DataFrame:
    """The rows of a `crystal_table` for `viscosity_summary`: collisions and walls that ran at all viscosities."""
    rows = table[(table["chi"] == VISCOSITY_CHI) & (table["nodes"] == nodes)]
    return rows.groupby(["collision", "walls"]).filter(lambda group: set(VISCOSITY_TAUS) <= set(group["tau"]))


def viscosity_summary(table: pd.DataFrame) -> pd.DataFrame:
    """How k depends on tau, in %, by (collision, walls): spread over all tau, and rise from tau = 0.8 to 1."""
    rows = {}
    for key, group in table.groupby(["collision", "walls"], sort=False):
        k = group.set_index("tau")["k"]
        rows[key] = (100 * (k.max() / k.min() - 1), 100 * (k[1.0] / k[0.8] - 1))
    return pd.DataFrame(rows, ["spread (%)", "rise (%)"]).T.rename_axis(["collision", "walls"])


def claims_of(summary: pd.DataFrame, bgk: pd.DataFrame, mrt: pd.DataFrame) -> dict[str, dict]:
    """{claim: its value and a note for the notebook's record} of figures 5.7 and 5.8.

    From `viscosity_summary` and the `at_paper_points` of the two figures. The cell is of 128 voxels, as the thesis
    has it, and MRT has two rates; what the other readings give stands in the note, and of its change with the viscosity
    the larger is judged.
    """
    rise = summary["rise (%)"].xs(THESIS_WALLS, level="walls")
    two, share = abs(rise["mrt"]), abs(rise["mrt"] / rise["bgk"])
    others = mrt[(mrt["collision"] == "mrt-dhumieres") & (mrt["length"] == PAPER_NODES)]
    k = others[others["chi"] == VISCOSITY_CHI].set_index("tau")["k"].reindex([0.8, 1.0])
    other = 100 * (k[1.0] / k[0.8] - 1)
    found = {"porous-115": {"measured": float(rise["bgk"])}}
    found["porous-116"] = {"measured": float(np.nanmax([two, abs(other)])), "note": _other_rates(other, " %")}
    found["porous-124"] = {"measured": float(share), "note": _other_rates(abs(other / rise["bgk"]))}
    readings = ["collision", "length"]
    for claim, points in {"porous-125": mrt, "porous-126": bgk}.items():
        found[claim] = _readings(most_off(points).set_index(readings)["largest (%)"], " %")
    for claim, chi in CHI_CLAIMS.items():
        here = mrt[(mrt["chi"] == chi) & (mrt["tau"] == 0.8)].set_index(readings)["k"]
        if len(here):
            found[claim] = _readings(here, "")
    return found


def record_claims(record, summary: pd.DataFrame, at: dict[str, pd.DataFrame], table: pd.DataFrame, more: dict) -> None:
    """Give the notebook's `record` its claims: of figures 5.7 and 5.8 (`at` their points), on the series, and `more`.

    None on a grid that is coarser than the paper's.
    """
    if table["nodes"].max() < PAPER_NODES:
        return
    found = claims_of(summary, at["bgk"], at["mrt"]) | change_over_porosity(table) | series_claims(table) | more
    for claim, evidence in found.items():
        record.measure(claim, **{"converged": table["converged"].all()} | evidence)


def change_over_porosity(table: pd.DataFrame) -> dict[str, dict]:
    """{claim: value and note} of where k of BGK changes most with the viscosity, from a `crystal_table`.

    The change of k from tau = 0.8 to 1 at the highest porosity over that at the lowest, in squared voxels as figure 5.7
    draws k; in per cent it stands in the note. Empty without these runs.
    """
    rows = table[(table["collision"] == "bgk") & (table["walls"] == THESIS_WALLS)]
    rows = rows[rows["nodes"] == rows["nodes"].max()]
    k = rows.pivot_table(index="chi", columns="tau", values="k").reindex(index=OUTER_CHIS, columns=(0.8, 1.0))
    if k.isna().any(axis=None):
        return {}
    change = k[1.0] - k[0.8]
    high, low = 100 * change / k[0.8]
    return {"porous-157": {"measured": float(change.iloc[0] / change.iloc[1]), "note": f"{high:.2f} % and {low:.2f} %"}}


def series_claims(table: pd.DataFrame) -> dict[str, dict]:
    """{claim: value} of the agreement with the series, from a `crystal_table`; empty but for the paper's grid."""
    rows = half_way_runs(table)
    if len(rows) == 0 or rows["nodes"].iloc[0] != PAPER_NODES:
        return {}
    others = table.query("collision == 'mrt-dhumieres' and tau == 1.0 and nodes == @PAPER_NODES")
    note = _other_rates(others.query("chi <= @TRUSTED_CHI")["deviation (%)"].abs().max(), " %")
    return {"porous-158": {"measured": float(off_series(table)["off"]), "note": note}}


def _other_rates(value: float, unit: str = "") -> str:
    """What a claim gives with the rates of reference 31; empty if not run."""
    return "" if np.isnan(value) else f"{value:.2f}{unit} with the rates of reference 31"


def _readings(values: pd.Series, unit: str) -> dict:
    """The value of the likeliest reading, (collision, length), and a note of what each gives."""
    likeliest = "mrt" if ("mrt", PAPER_NODES) in values.index else "bgk"
    each = (f"{kind} on {length} voxels: {value:.4g}{unit}" for (kind, length), value in values.items())
    return {"measured": float(values[likeliest, PAPER_NODES]), "note": ", ".join(each)}


def half_way_runs(table: pd.DataFrame) -> pd.DataFrame:
    """The runs of a `crystal_table` that are held against the series: MRT with two rates, tau = 1, the longest cell."""
    rows = table.query("collision == 'mrt' and walls == @THESIS_WALLS and tau == 1.0")
    return rows[rows["nodes"] == rows["nodes"].max()].drop_duplicates("chi")


def off_series(table: pd.DataFrame) -> dict:
    """Largest deviation (%) of `half_way_runs` from the series up to TRUSTED_CHI; zero, and does not hold, without."""
    off = half_way_runs(table).query("chi <= @TRUSTED_CHI")["deviation (%)"].abs().max()
    return {"off": 0.0 if np.isnan(off) else off, "holds": bool(off < 3)}


def left_by_two_rates(summary: pd.DataFrame) -> dict:
    """By how much (%) k of `viscosity_summary` changes with BGK, and with MRT; holds if less than a tenth of it."""
    spread = summary["spread (%)"].xs(THESIS_WALLS, level="walls")
    return {"bgk": spread["bgk"], "mrt": spread["mrt"], "holds": bool(spread["mrt"] < spread["bgk"] / 10)}


def headline(summary: pd.DataFrame, published: pd.DataFrame) -> str:
    """How k of `viscosity_summary` rises from tau = 0.8 to 1, and the paper's (`variants.paper_changes`), in a line."""
    ours = summary["rise (%)"].xs(THESIS_WALLS, level="walls")
    theirs = published.set_index("chi").loc[VISCOSITY_CHI]
    bgk, mrt = (theirs[f"change with {name} (%)"] for name in ("BGK", "MRT"))
    changes = f"{ours['bgk']:.3g} % with BGK and {ours['mrt']:.2g} % with MRT"
    paper = f"the paper has {bgk:.2f} % and {mrt:.2f} %"
    return f"From relaxation time 0.8 to 1 the permeability of spheres changes by {changes}; {paper}"


def resolution_table(table: pd.DataFrame, nodes: int, chis, coefficients, device, **options) -> pd.DataFrame:
    """The `half_way_runs` of a `crystal_table` at some chi, and the same on a finer grid, against the series."""
    fine = crystal_table([(nodes, chi, 1.0, "mrt", THESIS_WALLS) for chi in chis], coefficients, device, **options)
    coarse = half_way_runs(table)
    return pd.concat([coarse[coarse["chi"].isin(chis)], fine]).sort_values(["chi", "nodes"])


class _Refinements(Rule):
    wanted = "whole numbers from 1 to 64, each larger than the one before, such as [1, 2]"

    def holds(self, value) -> bool:
        whole = isinstance(value, list | tuple) and value and all(map(Whole(1, 64).holds, value))
        return bool(whole) and all(a < b for a, b in pairwise(value))


@checked
def resolution_check(solid: np.ndarray, device, *, times: Annotated[tuple, _Refinements()], **options) -> pd.DataFrame:
    """k of the image on finer and finer grids, in squared voxels of the image itself.

    The change is relative, against the next coarser grid. An image fixes the solid: what a finer grid shows is the
    error of the flow.
    """
    rows = []
    for factor in times:
        run = flow_through(PoreSpace(refined(solid, factor)), device, **options)
        rows.append((factor, run.k / factor**2, run.result.steps, run.result.converged))
    table = pd.DataFrame(rows, columns=["times", "k", "steps", "converged"])
    return table.assign(change=table["k"].pct_change())


def image_table(space: PoreSpace, voxel_size: float) -> pd.DataFrame:
    """Size of an image, its voxels and specific surface in metres, without walls at its sides; one row."""
    shape, surface = " x ".join(map(str, space.shape)), space.specific_surface / voxel_size
    names = ["voxels", "voxel (m)", "fluid nodes", "specific surface (1/m)"]
    return pd.DataFrame([(shape, voxel_size, space.pores, surface)], columns=names)


def rock_table(solid: np.ndarray, device, voxel_size: float, **options) -> pd.DataFrame:
    """`resolution_check` with the columns square metres and millidarcy; `voxel_size` in metres."""
    table = resolution_check(solid, device, **options)
    square_metres, millidarcy = in_units(table["k"], voxel_size)
    return table.assign(**{"square metres": square_metres, "millidarcy": millidarcy})


def with_its_digits(best: pd.Series, axis: str) -> str:
    """The last row of a `rock_table` in words, k with the digits that its `change` leaves.

    What is still to change is about the last change, so no digit below its size is printed; on one grid alone two are.
    """
    change = abs(best["change"])
    digits = 2 if np.isnan(change) else 4 if change < 1e-4 else int(np.clip(np.ceil(-np.log10(change)), 1, 4))
    # rounded, without the exponent that %g has for thousands
    millidarcy = float(f"{best['millidarcy']:.{digits}g}")
    doubt = "one grid, no refinement" if np.isnan(change) else f"{100 * best['change']:+.2g} % on the last refinement"
    return f"k = {millidarcy:,.15g} millidarcy = {best['square metres']:.{digits}g} m^2 along {axis} ({doubt})"


def reversal(image: np.ndarray, device, force: float, *, axis: str, **options) -> pd.DataFrame:
    """k along an axis and against it, with `force` and with a quarter of it; one row a force.

    Against the axis is along it in the mirror image. Creeping flow of an incompressible fluid is reversible, so that
    both are one; the lattice's fluid is compressible, and k differs in proportion to the differences of the density,
    so to the force. The spread is the larger of the two.
    """
    index = 2 - AXES.index(axis)
    spaces, rows = (PoreSpace(image), PoreSpace(np.flip(image, index))), []
    for push in (force, force / 4):
        there, back = (flow_through(space, device, axis=axis, force=push, **options) for space in spaces)
        spread = max(run.result.density_spread for run in (there, back))
        rows.append((push, there.k, back.k, back.k / there.k - 1, spread))
    return pd.DataFrame(rows, columns=["force", "k", "k back", "k back/k - 1", "density spread"])


def above_rounding(table: pd.DataFrame) -> bool:
    """Whether the differences of a `reversal` are large enough to show in single precision."""
    return table["k back/k - 1"].abs().min() > ROUNDING
