"""Figure 5.7 taken apart: the paper's own changes of k with the viscosity, and runs with one thing changed."""

import numpy as np
import pandas as pd

from repro.errors import DivergenceError
from repro.lbm.exact import rounded_force
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.porous.driven import gentle_force
from repro.lbm.porous.permeability import flow_through

from .permeability import PAPER_NODES, THESIS_WALLS, VISCOSITY_CHI, chi_of

#: the relaxation times between which porous-115 is stated
TAUS = (0.8, 1.0)

#: the magic number of the rates of Pan, Luo and Miller, which the thesis cites
MAGIC_OF_MRT = 3 / 16

#: one thing changed in each, against BGK with the walls of listing 2, deviations stored
BASE = "as the thesis says"
PLAIN = "plain populations"
VARIANTS = {
    BASE: {},
    PLAIN: {"storage": "plain"},
    "modified walls": {"walls": "modified"},
    "force of Guo and others": {"forcing": "guo"},
    "force 10 times as large": {"stronger": 10.0},
    "stopped at a change of 1 %": {"tolerance": 1e-2},
    r"$\tau = 2$ taken for 1": {"taus": (0.8, 2.0)},
}

#: the velocity without half the force, as a first program often has it: from the runs of the first variant
HALF = "velocity without half the force"

PAPER_ROW = "paper, figure 5.7"


def paper_changes(bgk: pd.DataFrame, mrt: pd.DataFrame) -> pd.DataFrame:
    """What figures 5.7 and 5.8 say of the viscosity; one row a chi.

    k is that of BGK at tau = 0.8, changes are from there to tau = 1, "reading (%)" is the smallest difference between
    two readings of the figures, over k.
    """
    points = (rows[rows["series"].str.startswith("tau=")] for rows in (bgk, mrt))
    ours, theirs = (rows.pivot_table(index="x", columns="series", values="y") for rows in points)
    readings = np.unique([ours, theirs])
    table = {"chi": chi_of(ours.index), "porosity": ours.index, "k": ours["tau=0.8"]}
    for name, k in (("BGK", ours), ("MRT", theirs)):
        table[f"change with {name} (%)"] = _rise(k["tau=0.8"], k["tau=1.0"])
    for name, tau in (("BGK over MRT at 0.8 (%)", "tau=0.8"), ("at 1.0 (%)", "tau=1.0")):
        table[name] = _rise(theirs[tau], ours[tau])
    table["reading (%)"] = 100 * np.diff(readings).min() / ours["tau=0.8"]
    return pd.DataFrame(table).sort_values("chi", ignore_index=True)


def no_law(paper: pd.DataFrame) -> dict:
    """How often the sign of the change turns over chi, and where BGK begins against MRT at the first chi.

    By how many per cent it would lie below if k were linear in the magic number, and by how many the paper's two lie
    apart. `paper` is from `paper_changes`; holds if the sign turns, and they lie nearer than half of that.
    """
    turns = int((np.diff(np.sign(paper["change with BGK (%)"])) != 0).sum())
    first, last = ((tau - 0.5) ** 2 for tau in TAUS)
    below = (MAGIC_OF_MRT - first) / (last - first) * paper["change with BGK (%)"][0]
    apart = abs(paper["BGK over MRT at 0.8 (%)"][0])
    return {"turns": turns, "below": below, "apart": apart, "holds": turns > 0 and apart < below / 2}


def changes(table: pd.DataFrame, nodes: int, device, published: pd.DataFrame) -> pd.DataFrame:
    """Change of k with BGK from tau = 0.8 to 1 in per cent, a column a chi.

    Rows: the paper's, from `paper_changes`; this run's on its own grid, from its `crystal_table`; and each of VARIANTS
    on `nodes` along the cell, looking at k as often as the paper in terms of its own diffusion time. The force is set
    anew for each chi and relaxation time.
    """
    same = table[(table["collision"] == "bgk") & (table["walls"] == THESIS_WALLS) & table["chi"].isin(published["chi"])]
    here = same[same["nodes"] == same["nodes"].max()].pivot(index="chi", columns="tau", values="k")[list(TAUS)].dropna()
    found = {PAPER_ROW: published.set_index("chi")["change with BGK (%)"].reindex(here.index).to_dict()}
    found[f"{BASE}, {same['nodes'].max()} nodes"] = _rise(here[TAUS[0]], here[TAUS[1]]).to_dict()
    spaces = {chi: PoreSpace(sphere_crystal(nodes, chi)) for chi in here.index}
    for name, options in VARIANTS.items():
        pairs = {chi: _pair(space, device, **options) for chi, space in spaces.items()}
        found[f"{name}, {nodes} nodes"] = {chi: _rise(*k) for chi, k in pairs.items()}
        if name == BASE:
            halves = {chi: spaces[chi].porosity * (np.array(TAUS) - 0.5) / 6 for chi in here.index}
            found[f"{HALF}, {nodes} nodes"] = {chi: _rise(*(k - halves[chi])) for chi, k in pairs.items()}
    return pd.DataFrame(found).T


def rounded_changes(table: pd.DataFrame, nodes: int) -> pd.DataFrame:
    """What the rounding of the force makes of k from tau = 0.8 to 1, in %, one row a chi, from a table of `changes`.

    Predicted from `exact.rounded_force` alone; measured is what plain populations change beyond what deviations do.
    """
    rows = []
    for chi in table.columns:
        space = PoreSpace(sphere_crystal(nodes, chi))
        forces = np.array([gentle_force(space, (tau - 0.5) / 3) for tau in TAUS])
        kept = rounded_force(forces) / forces
        plain, base = (1 + table.loc[f"{name}, {nodes} nodes", chi] / 100 for name in (PLAIN, BASE))
        rows.append((chi, *forces, _rise(*kept), 100 * (plain / base - 1)))
    return pd.DataFrame(rows, columns=["chi", "force at 0.8", "at 1", "predicted (%)", "measured (%)"])


def explained(rounded: pd.DataFrame, paper: pd.DataFrame) -> dict:
    """Largest error of the prediction in `rounded_changes`, its largest change, and the paper's, in points."""
    off = (rounded["predicted (%)"] - rounded["measured (%)"]).abs().max()
    most = rounded["predicted (%)"].abs().max()
    theirs = paper["change with BGK (%)"].abs().max()
    return {"off": off, "most": most, "theirs": theirs, "holds": bool(off < most / 10)}


def steady_mrt(paper: pd.DataFrame) -> dict:
    """The paper's largest change (%) from tau = 0.8 to 1 with MRT, and with BGK; holds if a tenth of it at most."""
    mrt, bgk = (float(paper[f"change with {kind} (%)"].abs().max()) for kind in ("MRT", "BGK"))
    return {"mrt": mrt, "bgk": bgk, "holds": mrt < bgk / 10}


def told_rates(points: pd.DataFrame, paper: pd.DataFrame) -> dict:
    """At how many chi of all figure 5.8 changes from tau = 0.8 to 1 more as with the rates of reference 30 than of 31.

    All are those at which the changes with both differ by more than two readings of the figure. `points` is from
    `permeability.at_paper_points`, `paper` from `paper_changes`. Holds if at most of them.
    """
    rows = points[(points["length"] == PAPER_NODES) & points["tau"].isin(TAUS)]
    k = rows.pivot_table(index="chi", columns=["collision", "tau"], values="k").dropna()
    two, others = (_rise(*(k[kind, tau] for tau in TAUS)) for kind in ("mrt", "mrt-dhumieres"))
    read = paper.set_index("chi").loc[k.index]
    told = (two - others).abs() > read["reading (%)"]
    theirs = read["change with MRT (%)"]
    nearer = int((told & ((two - theirs).abs() < (others - theirs).abs())).sum())
    return {"thirty": nearer, "all": int(told.sum()), "holds": bool(nearer > told.sum() / 2)}


def different(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `changes` that are not, within a tenth, those with nothing changed on the same grid."""
    alike = []
    for base in table.index[table.index.str.startswith(BASE)]:
        grid = table[table.index.str.endswith(base.removeprefix(BASE))].drop(base)
        alike += [name for name, row in grid.iterrows() if np.allclose(row, table.loc[base], rtol=0.1)]
    return table.drop(alike)


def missed(table: pd.DataFrame) -> pd.DataFrame:
    """A table of `changes` with the name of a variant as first column, and two more.

    "off by" is how many points its changes are from the paper's at most, "as nothing changed" whether they are those
    of the run with nothing changed, see `different`.
    """
    off = (table - table.loc[PAPER_ROW]).abs().max(axis=1).drop(PAPER_ROW)
    same = ~table.index.isin(different(table).index)
    named = table.assign(**{"off by": off, "as nothing changed": same})
    return named.rename_axis("change of k (%)").reset_index()


def grid_for(table: pd.DataFrame) -> dict:
    """The paper's change at VISCOSITY_CHI, and on how many nodes BGK would have it, by a power law through two grids.

    `table` is from `changes`; empty where its two grids are one, or k does not change less on the finer.
    """
    column = table.get(VISCOSITY_CHI, pd.Series(dtype=float))
    found = {int(name.split()[-2]): change for name, change in column.items() if name.startswith(BASE)}
    if len(found) < 2 or not 0 < found[max(found)] < found[min(found)]:
        return {}
    (coarse, most), (fine, least) = sorted(found.items())
    power = np.log(most / least) / np.log(fine / coarse)
    wanted = float(coarse * (most / column[PAPER_ROW]) ** (1 / power))
    return {"change": column[PAPER_ROW], "wanted": wanted, "nodes": PAPER_NODES, "holds": wanted < PAPER_NODES}


def _rise(before, after):
    return 100 * (after / before - 1)


def _pair(space, device, *, taus=TAUS, stronger=1.0, **options) -> np.ndarray:
    """k at two relaxation times; NaN where the flow does not stay below the speed of sound."""
    found, more = [], {"collision": "bgk", "walls": THESIS_WALLS, "strategy": "sparse"} | options
    more["interval"] = max(10, round(1000 * (space.shape[0] / PAPER_NODES) ** 2))
    for tau in taus:
        force = stronger * gentle_force(space, (tau - 0.5) / 3)
        try:
            found.append(flow_through(space, device, relaxation_time=tau, force=force, **more).k)
        except DivergenceError:
            found.append(np.nan)
    return np.array(found)
