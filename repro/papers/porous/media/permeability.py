"""Tables of permeabilities: of sphere crystals, against the series, over the viscosity, on finer grids."""

import numpy as np
import pandas as pd

from repro.lbm.exact import bcc_permeability
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.media.spheres import solid_fraction
from repro.lbm.porous.permeability import flow_through, refined


def crystal_table(runs, device, *, packing="body-centred", precision="single", interval=1000) -> pd.DataFrame:
    """k of sphere crystals for a list of (nodes, chi, relaxation time, collision, walls); one row a run.

    Columns nodes, chi, porosity, tau, collision, walls, k, steps, converged, reynolds.
    """
    rows, spaces = [], {}
    for nodes, chi, tau, collision, walls in runs:
        space = spaces.setdefault((nodes, chi), PoreSpace(sphere_crystal(nodes, chi, packing)))
        run = flow_through(
            space,
            device,
            relaxation_time=tau,
            collision=collision,
            walls=walls,
            precision=precision,
            interval=interval,
        )
        steps, converged = run.result.steps, run.result.converged
        rows.append((nodes, chi, space.porosity, tau, collision, walls, run.k, steps, converged, run.reynolds))
    names = ["nodes", "chi", "porosity", "tau", "collision", "walls", "k", "steps", "converged", "reynolds"]
    return pd.DataFrame(rows, columns=names)


def against_series(table: pd.DataFrame, coefficients) -> pd.DataFrame:
    """A `crystal_table` with the columns series and deviation (%) for body-centred spheres."""
    series = bcc_permeability(table["chi"], table["nodes"], coefficients)
    return table.assign(**{"series": series, "deviation (%)": 100 * (table["k"] / series - 1)})


def series_over_porosity(porosity, side: float, coefficients):
    """k of body-centred spheres by porosity instead of chi."""
    return bcc_permeability(((1 - np.asarray(porosity, float)) / solid_fraction(1.0)) ** (1 / 3), side, coefficients)


def viscosity_summary(table: pd.DataFrame) -> pd.DataFrame:
    """For each collision and wall how k depends on tau, in per cent.

    Columns spread (largest over smallest, all tau) and rise (from tau = 0.8 to 1), indexed by (collision, walls).
    """
    rows = {}
    for key, group in table.groupby(["collision", "walls"], sort=False):
        k = group.set_index("tau")["k"]
        rows[key] = (100 * (k.max() / k.min() - 1), 100 * (k[1.0] / k[0.8] - 1))
    index = pd.MultiIndex.from_tuples(rows, names=["collision", "walls"])
    return pd.DataFrame(list(rows.values()), columns=["spread (%)", "rise (%)"], index=index)


def resolution_check(solid: np.ndarray, device, *, times=(1, 2), **options) -> pd.DataFrame:
    """k of the image on finer and finer grids, in squared voxels of the image itself.

    Columns times, k, steps, converged, and change, the relative change against the next coarser grid. A voxel image
    fixes the pores; what a finer grid shows is the error of the flow in them.
    """
    rows = []
    for factor in times:
        run = flow_through(PoreSpace(refined(solid, factor)), device, **options)
        k = run.k / factor**2
        change = np.nan if not rows else k / rows[-1][1] - 1
        rows.append((factor, k, run.result.steps, run.result.converged, change))
    return pd.DataFrame(rows, columns=["times", "k", "steps", "converged", "change"])
