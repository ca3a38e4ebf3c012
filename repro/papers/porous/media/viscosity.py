"""The conclusion of section 5.4(3) on six readings: k depends on the viscosity with BGK, and hardly with MRT.

What the thesis leaves open are the rates of MRT (reference 30 or 31), the length of the cell (128 or 127 voxels) and,
in single precision, the force. A force that is added to whole populations is rounded, and k with it, by as much at all
viscosities where the force is one.
"""

import pandas as pd

from repro.lbm.exact import bcc_permeability

from .permeability import COLLISIONS, PAPER_NODES, RATES, THESIS_WALLS, crystal_table
from .variants import paper_changes

CLAIM = "porous-169"

#: with the side of the cell, at the smallest viscosity; the thesis keeps it below 1, and does not say with which length
REYNOLDS = 0.5

SHARE, LARGEST = "MRT over BGK", "MRT over BGK, largest"

_READING = ["rates", "length", "populations"]


def one_force(nodes: int, chi: float, tau: float, coefficients) -> float:
    """The force per volume that drives a Reynolds number of REYNOLDS at the relaxation time tau."""
    return float(REYNOLDS * ((tau - 0.5) / 3) ** 2 / (bcc_permeability(chi, nodes, coefficients) * nodes))


def whole_populations(table: pd.DataFrame, coefficients, device, **options) -> pd.DataFrame:
    """The runs of the figures in the longest cell of a `crystal_table`, with whole populations; a table like it.

    One force drives all runs at one chi. `options` as of `flow_through`.
    """
    rows, found = table[(table["collision"] == COLLISIONS[-1]) & (table["nodes"] == table["nodes"].max())], []
    for (nodes, chi), runs in rows.groupby(["nodes", "chi"]):
        asked = [(nodes, chi, tau, collision, THESIS_WALLS) for collision in COLLISIONS for tau in runs["tau"]]
        more = {"storage": "plain", "force": one_force(nodes, chi, runs["tau"].min(), coefficients)}
        found.append(crystal_table(asked, coefficients, device, **more, **options))
    return pd.concat(found, ignore_index=True)


def left_by_mrt(table: pd.DataFrame, coefficients, device, **options) -> pd.DataFrame:
    """By how much k changes over the viscosity with BGK and with MRT, in %; one row a chi and reading.

    From the runs of the figures in a `crystal_table`, and the same with `whole_populations`: the largest k over the
    least, less one. The length is of the paper's cell, converged is whether all runs did.
    """
    whole = whole_populations(table, coefficients, device, **options)
    rows = pd.concat([table.assign(populations="deviations"), whole.assign(populations="whole")])
    rows = rows[(rows["walls"] == THESIS_WALLS) & rows["tau"].isin(whole["tau"])]
    rows = rows.assign(length=PAPER_NODES - (table["nodes"].max() - rows["nodes"]))
    groups = rows.groupby(["populations", "length", "chi", "collision"])
    change = (100 * (groups["k"].max() / groups["k"].min() - 1)).unstack()
    pairs = {rates: change[["bgk", kind]].set_axis(["BGK (%)", "MRT (%)"], axis=1) for kind, rates in RATES.items()}
    found = pd.concat(pairs, names=["rates"]).dropna().reset_index()
    return found.assign(**{SHARE: found["MRT (%)"] / found["BGK (%)"], "converged": bool(rows["converged"].all())})


def by_reading(left: pd.DataFrame) -> pd.DataFrame:
    """The largest share of the change with BGK that MRT leaves, of all chi, on each reading of `left_by_mrt`."""
    return left.groupby(_READING)[SHARE].max().rename(LARGEST).reset_index()


def changes_less(left: pd.DataFrame) -> dict:
    """The largest share with the rates of either reference, for `Record.say`; holds if both are below 1."""
    thirty, other = (float(left.loc[left["rates"] == rates, SHARE].max()) for rates in RATES.values())
    return {"thirty": thirty, "other": other, "holds": max(thirty, other) < 1}


def paper_share(bgk: pd.DataFrame, mrt: pd.DataFrame) -> tuple[float, float]:
    """What "hardly" means in figures 5.7 and 5.8: the largest share of BGK's change that MRT leaves, and its reading.

    `bgk` and `mrt` are the points of the figures, the reading is what they can be read to there, as a share.
    """
    paper = paper_changes(bgk, mrt)
    theirs = paper["change with BGK (%)"].abs()
    shares = paper["change with MRT (%)"].abs() / theirs
    where = shares.idxmax()
    return float(shares[where]), float(paper["reading (%)"][where] / theirs[where])


def against_paper(left: pd.DataFrame, bgk: pd.DataFrame, mrt: pd.DataFrame) -> pd.DataFrame:
    """`by_reading`, and whether that is hardly: the `paper_share` and what that is read to, at most."""
    return by_reading(left).assign(hardly=lambda rows: rows[LARGEST] <= sum(paper_share(bgk, mrt)))


def open_rates(readings: pd.DataFrame, bgk: pd.DataFrame, mrt: pd.DataFrame) -> dict:
    """The `paper_share`, and on how many readings of `against_paper` MRT leaves as little, by the rates of MRT.

    Holds if that share can be read, and it is met on some readings with the rates of reference 30 and on none of 31.
    """
    thirty, other = (int(readings.loc[readings["rates"] == rates, "hardly"].sum()) for rates in RATES.values())
    share, reading = paper_share(bgk, mrt)
    return {"share": share, "thirty": thirty, "other": other, "holds": reading < share and thirty > 0 == other}


def claim_of(left: pd.DataFrame, chis) -> dict[str, dict]:
    """{claim: the largest share of all chi on the likeliest reading, and what each reading has}.

    The likeliest has the rates of reference 30, the length as printed, and no rounding, as figure 5.8 shows none. Empty
    if one was not run at each of `chis`, those of the figures.
    """
    runs = left.groupby(_READING)["chi"].apply(set)
    # a length of the cell apart, populations are deviations
    if len(runs) < 3 * len(RATES) or not all(set(chis) <= run for run in runs):
        return {}
    each = by_reading(left).set_index(_READING)[LARGEST]
    measured = float(each[RATES["mrt"], PAPER_NODES, "deviations"])
    note = ", ".join(f"{rates}, {length} voxels, {kind}: {share:.3f}" for (rates, length, kind), share in each.items())
    return {CLAIM: {"measured": measured, "note": note, "converged": bool(left["converged"].all())}}
