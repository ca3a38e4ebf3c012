"""Drops on a plate (figure 6.6): contact angles over the wetting, beside the paper's pictures and a formula."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from repro.lbm.two_fluids import exact
from repro.lbm.two_fluids.cases import Drop
from repro.lbm.two_fluids.observables import ContactAngle, contact_angle

#: the claim of each drop of figure 6.6 by G_fs, and that of their order
CLAIMS = {w: f"porous-{130 + k}" for k, w in enumerate((-0.03, -0.02, -0.01, -0.005, 0.0, 0.01, 0.02, 0.03))}
ORDER = "porous-138"

#: the one of them that is about what a drop covers, since it hardly touches the plate
BASE = CLAIMS[0.03]

#: change in degrees over the last fifth of the steps below which an angle counts as settled
SETTLED = 0.5


def drops(cases, device, steps: int, *, precision: str) -> list[tuple[Drop, np.ndarray, ContactAngle, float]]:
    """Run drops; of each the case, the densities (2, height + 2, length), the angle, and its change in degrees over
    the last fifth of the steps, NaN without an angle."""
    found = []
    for case in cases:
        flow = case.start(device, precision=precision)
        flow.step(int(0.8 * steps))
        before = contact_angle(*flow.fields()[:2])
        flow.step(steps - flow.steps)
        a, b, _ = flow.fields()
        angle = contact_angle(a, b)
        found.append((case, np.stack([a[0], b[0]]), angle, abs(angle.angle - before.angle)))
    return found


#: difference in degrees below which two angles count as complementary
COMPLEMENTARY = 3.0


def pictures(data: Path) -> pd.DataFrame:
    """The angles of the paper's pictures in degrees by G_fs, read from the folder data/: columns read and corrected.

    Without wetting both fluids are alike and the angle is 90 degrees; that picture is read as 85.6. So the plate lies
    below the last row of the pictures, from which angles are read, by as much as makes it 90; `corrected` takes the
    plate there in all pictures. It is NaN where the circle then meets no plate.
    """
    table = pd.read_csv(data / "published" / "porous_contact_angles_figures.csv", comment="#").set_index("G_fs")
    read = table["theta"]
    return pd.DataFrame({"read": read, "corrected": [_corrected(angle, read[0.0]) for angle in read]})


def circle_radius(angle: float) -> float:
    """Radius of a drop with a contact angle in degrees over that of the half circle of the same area."""
    t = np.radians(angle)
    return float(np.sqrt(np.pi / 2 / (t - np.sin(t) * np.cos(t))))


def _corrected(read: float, neutral: float) -> float:
    """The angle that reads so from a line above the plate, from where 90 degrees read as `neutral`; NaN for none."""

    def off(angle):
        return np.cos(np.radians(angle)) + np.cos(np.radians(neutral)) / circle_radius(angle) - np.cos(np.radians(read))

    return float(brentq(off, 1.0, 180.0)) if off(180.0) < 0 else float("nan")


def table(found, published: pd.DataFrame) -> pd.DataFrame:
    """One row a drop, in the order of the wetting G_fs = -G_gs; `published` are the `pictures`.

    Where there is no angle it says why; the complement is 180 less the angle with the fluids exchanged. In nodes: the
    circle's radius and residual, the gap between it and the plate's surface (negative where they intersect), how much
    of the plate fluid a covers; base (%) is that over the base of the half circle at the start.
    """
    rows = []
    for case, densities, angle, change in found:
        row = {"wetting": case.wetting, "angle": angle.angle}
        row |= dict(zip(("read", "paper"), published.reindex([case.wetting]).iloc[0], strict=True))
        row |= {"difference": angle.angle - row["paper"], "formula": formula([case.wetting], case.interaction)[0]}
        row |= {"change": change, "radius": angle.radius, "gap": angle.height - angle.radius}
        row["covered"] = int((densities[0, 1] > densities[1, 1]).sum())
        row["base (%)"] = 100 * row["covered"] / (2 * case.radius)
        rows.append(row | {"residual": angle.residual, "why": angle.why})
    frame = pd.DataFrame(rows).sort_values("wetting", ignore_index=True)
    angles = frame.set_index("wetting")["angle"]
    frame.insert(6, "complement", [180 - angles.get(-w, np.nan) for w in frame["wetting"]])
    return frame


def over_solid_density(runs: dict[float, list], published: pd.DataFrame) -> pd.DataFrame:
    """The paper's drops by G_fs beside the angle in each run by its solid's density, with rho_s times the strengths."""
    beside = published.copy()
    for density, found in runs.items():
        angles = {round(case.wetting / density, 9): angle.angle for case, _, angle, _ in found}
        beside[f"rho_s = {density:g}"] = beside.index.map(angles)
    return beside.sort_index()


def hand_over(record, frame: pd.DataFrame, beside: pd.DataFrame) -> None:
    """Give the notebook's `record` the angle of each of the paper's drops, and how often it rises from one to the next.

    Of the drop that hardly touches the plate, what it covers. From `table` and `over_solid_density`.
    """
    rows = frame.set_index("wetting")
    for wetting, claim in CLAIMS.items():
        row, others = rows.loc[wetting], beside.loc[wetting].iloc[3:].dropna()
        if claim == BASE:
            record.measure(claim, row["base (%)"], note=row["why"])
        elif row["why"]:
            record.not_measured(claim, f"{row['why']}: there is no angle")
        else:
            note = ", ".join(f"{name}: {angle:.1f}" for name, angle in others.items())
            record.measure(claim, row["angle"], converged=row["change"] < SETTLED, note=note)
    record.measure(ORDER, rises(frame[frame["wetting"].isin(CLAIMS)]))


def rises(frame: pd.DataFrame) -> int:
    """How often the angle rises from a drop to the next of a `table`; one off the plate is above all, a film below."""
    none = np.where(frame["gap"] > 0, np.inf, -np.inf)
    angles = np.where(frame["angle"].isna(), none, frame["angle"])
    return int((angles[1:] > angles[:-1]).sum())


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Drops with exchanged wetting, indexed by its strength, from a `table`.

    Angle, complement and gap are those of the drop that the plate repels, the rest of the one that it attracts.
    """
    rows = frame.set_index("wetting")
    strengths = [w for w in rows.index if w > 0 and -w in rows.index]
    repelled, attracted = rows.loc[strengths], rows.loc[[-w for w in strengths]].set_axis(strengths)
    made = repelled[["angle", "complement", "gap"]].copy()
    made["difference"] = (made["angle"] - made["complement"]).abs()
    return made.join(attracted[["angle", "covered", "change"]].rename(columns={"angle": "attracted"}))


def formula(wettings, interaction: float = 0.2) -> np.ndarray:
    """Angles in degrees by Huang and others for G_fs = -G_gs, with rho_s = 1 and phases in equilibrium."""
    own, other = exact.coexistence(interaction, density=1.0)
    return np.array([exact.contact_angle((w, -w), interaction, own - other) for w in np.asarray(wettings, float)])


def slopes(frame: pd.DataFrame) -> dict[str, float]:
    """-d cos(theta)/d G_fs near neutral wetting (up to 0.01) of this run, the paper's pictures and the formula."""
    near, found = frame[frame["wetting"].abs() <= 0.0101], {}
    for name, column in {"this run": "angle", "paper's pictures": "paper", "formula": "formula"}.items():
        # not every strength has a picture, and before the first steps all drops have one angle
        rows = near.dropna(subset=column)
        if rows[column].nunique() > 1:
            found[name] = float(-np.polyfit(rows["wetting"], np.cos(np.radians(rows[column])), 1)[0])
    return found


def symmetric(published: pd.DataFrame) -> dict:
    """By how many degrees the sum of exchanged drops in the paper's pictures misses 180, as read and corrected.

    Over +-0.01, where both drops rest on the plate at angles that pictures tell. Holds if the corrected is nearer.
    """
    read, corrected = (published.loc[[-0.01, 0.01], name].sum() - 180 for name in ("read", "corrected"))
    return {"read": read, "corrected": corrected, "holds": bool(abs(corrected) < abs(read))}


def from_pictures(frame: pd.DataFrame) -> dict:
    """How far angles of drops on the plate are from those of the paper's pictures, in degrees; holds within 15."""
    difference = frame["difference"].dropna()
    least, most = (difference.min(), difference.max()) if len(difference) else (0.0, 0.0)
    return {"least": float(least), "most": float(most), "holds": len(difference) > 0 and max(-least, most) < 15}


def headline(frame: pd.DataFrame) -> str:
    """The contact angles of the drops of a `table` that the paper's pictures have, too, and theirs, in a line."""
    both = frame.dropna(subset=["angle", "paper"])
    if both.empty:
        return "No drop of this run has a contact angle that the paper's pictures have, too"
    ours, theirs = (f"{both[name].min():.0f} to {both[name].max():.0f} degrees" for name in ("angle", "paper"))
    return f"Contact angles of {len(both)} drops on a plate: {ours}; in the paper's pictures: {theirs}"


def formula_slope(frame: pd.DataFrame) -> dict:
    """The formula's slope over ours, of `slopes`, zero without two drops near neutral wetting; holds if it is less."""
    found = slopes(frame)
    share = found["formula"] / found["this run"] if "this run" in found else 0.0
    return {"share": share, "holds": 0 < share < 1}


def paper_slope(frame: pd.DataFrame) -> dict:
    """The slope of the paper's pictures over ours, of `slopes`, zero where one is not known; holds if it is more."""
    found = slopes(frame)
    times = found["paper's pictures"] / found["this run"] if {"paper's pictures", "this run"} <= set(found) else 0.0
    return {"times": times, "holds": times > 1}


def complementary(exchanged: pd.DataFrame) -> dict:
    """The largest difference of `pairs` of which both have an angle, in degrees; holds if small."""
    difference = exchanged["difference"].dropna()
    return {"off": float(difference.max() if len(difference) else 0), "holds": (difference <= COMPLEMENTARY).all()}
