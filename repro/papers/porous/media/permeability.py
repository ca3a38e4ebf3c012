"""Tables of permeabilities: of sphere crystals, against the series, over the viscosity, on finer grids.

k is in squared voxels, tau is the relaxation time.
"""

from itertools import pairwise
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

#: the walls that the thesis names; all its permeabilities are compared with runs that have them
THESIS_WALLS = "modified"

#: differences of k that single precision does not show
ROUNDING = 1e-6

#: the chi that claims on figure 5.8 are about
CHI_CLAIMS = {"porous-117": 0.7, "porous-118": 0.8, "porous-119": 0.9}


def crystal_runs(nodes: int, chis, taus, walls) -> list[tuple]:
    """The runs of figures 5.7 and 5.8 with the thesis' walls, for `crystal_table`.

    Then those over the viscosity, with each of `walls` as well, and with half-way walls those that are held against
    the series.
    """
    collisions = ("bgk", "mrt")
    runs = [(nodes, chi, tau, collision, THESIS_WALLS) for collision in collisions for chi in chis for tau in taus]
    runs += [(nodes, chi, 1.0, "mrt", "half-way") for chi in chis]
    for wall in (THESIS_WALLS, *walls):
        for collision in collisions:
            runs += [(nodes, VISCOSITY_CHI, tau, collision, wall) for tau in VISCOSITY_TAUS]
    return list(dict.fromkeys(runs))


def crystal_table(runs, device, **options) -> pd.DataFrame:
    """k of body-centred spheres for a list of (nodes, chi, relaxation time, collision, walls); one row a run.

    `options` as of `flow_through`. Columns nodes, chi, porosity, tau, collision, walls, k, steps, converged, reynolds,
    mean density.
    """
    rows, spaces = [], {}
    for nodes, chi, tau, collision, walls in runs:
        space = spaces.setdefault((nodes, chi), PoreSpace(sphere_crystal(nodes, chi)))
        run = flow_through(space, device, relaxation_time=tau, collision=collision, walls=walls, **options)
        how = (run.result.steps, run.result.converged, run.reynolds, run.result.mean_density)
        rows.append((nodes, chi, space.porosity, tau, collision, walls, run.k, *how))
    names = ["nodes", "chi", "porosity", "tau", "collision", "walls", "k", "steps", "converged", "reynolds"]
    return pd.DataFrame(rows, columns=[*names, "mean density"])


def against_series(table: pd.DataFrame, coefficients) -> pd.DataFrame:
    """A `crystal_table` with the columns series and deviation (%) for body-centred spheres."""
    series = bcc_permeability(table["chi"], table["nodes"], coefficients)
    return table.assign(**{"series": series, "deviation (%)": 100 * (table["k"] / series - 1)})


def series_over_porosity(porosity, side: float, coefficients):
    """k of body-centred spheres by porosity instead of chi."""
    return bcc_permeability(((1 - np.asarray(porosity, float)) / solid_fraction(1.0)) ** (1 / 3), side, coefficients)


def in_paper_cell(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a `crystal_table` with the thesis' walls, their k scaled to a cell of 128 voxels."""
    rows = table[table["walls"] == THESIS_WALLS]
    return rows.assign(k=rows["k"] * (PAPER_NODES / rows["nodes"]) ** 2)


def curve(table: pd.DataFrame, collision: str, taus) -> pd.DataFrame:
    """The rows of one collision and the given relaxation times, in the order of the porosity."""
    return table[(table["collision"] == collision) & table["tau"].isin(taus)].sort_values("porosity")


def k_by_chi(table: pd.DataFrame) -> pd.Series:
    """k of MRT at tau = 0.8 by chi, from `in_paper_cell`: what the paper's numbers are compared with."""
    return curve(table, "mrt", [0.8]).drop_duplicates("chi").set_index("chi")["k"]


def cell_lengths(coefficients) -> pd.DataFrame:
    """k at chi = 0.6 from the balance of forces and from equation 5.3 as printed, for three lengths of the cell."""
    lengths = pd.DataFrame({"L": [PAPER_NODES - 2, PAPER_NODES - 1, PAPER_NODES]})
    lengths["k (balance of forces)"] = bcc_permeability(0.6, lengths["L"], coefficients)
    lengths["k (equation 5.3 as printed)"] = bcc_permeability_as_printed(0.6, lengths["L"], coefficients)
    return lengths


def drawn_length(lengths: pd.DataFrame, drawn: pd.DataFrame) -> dict:
    """The lowest point of the paper's analytical curve, chi = 0.6, and the length in `cell_lengths` nearest to it.

    Holds if it is the balance of forces that comes nearest.
    """
    paper = float(drawn.loc[drawn["x"].idxmax(), "y"])
    length, formula = lengths.set_index("L").sub(paper).abs().stack().idxmin()
    return {"paper": paper, "length": length, "holds": formula == "k (balance of forces)"}


def viscosity_runs(table: pd.DataFrame, nodes: int) -> pd.DataFrame:
    """The rows of a `crystal_table` for `viscosity_summary`: collisions and walls that ran at all viscosities."""
    rows = table[(table["chi"] == VISCOSITY_CHI) & (table["nodes"] == nodes)]
    return rows.groupby(["collision", "walls"]).filter(lambda group: set(VISCOSITY_TAUS) <= set(group["tau"]))


def viscosity_summary(table: pd.DataFrame) -> pd.DataFrame:
    """For each collision and wall how k depends on tau, in per cent.

    Columns spread (largest over smallest, all tau) and rise (from tau = 0.8 to 1), indexed by (collision, walls).
    """
    keys, rows = ["collision", "walls"], []
    for key, group in table.groupby(keys, sort=False):
        k = group.set_index("tau")["k"]
        rows.append((*key, 100 * (k.max() / k.min() - 1), 100 * (k[1.0] / k[0.8] - 1)))
    return pd.DataFrame(rows, columns=[*keys, "spread (%)", "rise (%)"]).set_index(keys)


def viscosity_claims(summary: pd.DataFrame) -> dict:
    """{claim: value} of figures 5.7 and 5.8 over the viscosity, from `viscosity_summary`, with the thesis' walls."""
    rise = summary["rise (%)"]
    return {"porous-115": float(rise["bgk", THESIS_WALLS]), "porous-116": float(abs(rise["mrt", THESIS_WALLS]))}


def claims_of(table: pd.DataFrame, summary: pd.DataFrame) -> dict[str, dict]:
    """{claim: its value and a note for the notebook's record} of figures 5.7 and 5.8.

    From a `crystal_table` and its `viscosity_summary`. With the value stand what other walls give.
    """
    rises = {name: summary["rise (%)"].xs(name, level="collision").abs().items() for name in ("bgk", "mrt")}
    notes = {name: ", ".join(f"{walls} walls {rise:.3f} %" for walls, rise in found) for name, found in rises.items()}
    notes = {"porous-115": notes["bgk"], "porous-116": notes["mrt"]}
    half_way = half_way_runs(table).set_index("chi")
    for claim, chi in CHI_CLAIMS.items():
        notes[claim] = f"{THESIS_WALLS} walls, two rates"
        if chi in half_way.index:
            k = half_way["k"][chi] * (PAPER_NODES / half_way["nodes"][chi]) ** 2
            notes[claim] += f"; half-way walls, tau = 1: {k:.2f}"
    values = viscosity_claims(summary) | chi_claims(k_by_chi(in_paper_cell(table)))
    return {claim: {"measured": value, "note": notes[claim]} for claim, value in values.items()}


def half_way_runs(table: pd.DataFrame) -> pd.DataFrame:
    """The runs of a `crystal_table` that are held against the series, the first of each chi."""
    return table.query("collision == 'mrt' and walls == 'half-way' and tau == 1.0").drop_duplicates("chi")


def what_is_left(table: pd.DataFrame, summary: pd.DataFrame) -> dict:
    """Largest deviation of MRT with half-way walls from the series, in %, where the series can be trusted,
    zero without such a run.

    And the share in % of BGK's change with the viscosity that MRT has with the thesis' walls. Holds if that is less
    than all. From `against_series` and `viscosity_summary`.
    """
    off = half_way_runs(table).query("chi <= 0.85")["deviation (%)"].abs().max()
    off = 0.0 if (unknown := np.isnan(off)) else off
    left = 100 * summary["spread (%)"]["mrt", THESIS_WALLS] / summary["spread (%)"]["bgk", THESIS_WALLS]
    return {"off": off, "left": left, "holds": bool(not unknown and left < 100)}


def chi_claims(k: pd.Series) -> dict:
    """{claim: value} of figure 5.8 for the chi that ran, from `k_by_chi`."""
    return {claim: float(k[chi]) for claim, chi in CHI_CLAIMS.items() if chi in k.index}


def resolution_table(table: pd.DataFrame, fine: pd.DataFrame, coefficients) -> pd.DataFrame:
    """MRT with half-way walls at tau = 1 on two grids, against the series; both are from `crystal_table`."""
    same = (table["collision"] == "mrt") & (table["tau"] == 1.0) & (table["walls"] == "half-way")
    coarse = table[same & table["chi"].isin(fine["chi"])]
    return against_series(pd.concat([coarse, fine]), coefficients).sort_values(["chi", "nodes"])


class _Refinements(Rule):
    wanted = "whole numbers from 1 to 64, each larger than the one before, such as [1, 2]"

    def holds(self, value) -> bool:
        if not isinstance(value, list | tuple) or not value or not all(map(Whole(1, 64).holds, value)):
            return False
        return all(a < b for a, b in pairwise(value))


@checked
def resolution_check(
    solid: np.ndarray, device, *, times: Annotated[tuple, _Refinements()] = (1, 2), **options
) -> pd.DataFrame:
    """k of the image on finer and finer grids, in squared voxels of the image itself.

    Columns times, k, steps, converged, and change, the relative change against the next coarser grid. A voxel image
    fixes the solid; what a finer grid shows is the error of the flow in them.
    """
    rows = []
    for factor in times:
        run = flow_through(PoreSpace(refined(solid, factor)), device, **options)
        k = run.k / factor**2
        change = np.nan if not rows else k / rows[-1][1] - 1
        rows.append((factor, k, run.result.steps, run.result.converged, change))
    return pd.DataFrame(rows, columns=["times", "k", "steps", "converged", "change"])


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

    Columns force, k, k back, "k back/k - 1" and density spread (the larger). Against the axis is along it in the mirror
    image. Creeping flow of an incompressible fluid is reversible, so that both are one; the lattice's fluid is
    compressible, and k differs in proportion to the differences of the density, so to the force.
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
