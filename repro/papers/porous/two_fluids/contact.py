"""Drops on a plate (figure 6.6): contact angles over the wetting, beside the paper's pictures and a formula."""

from pathlib import Path

import numpy as np
import pandas as pd

from repro.lbm.two_fluids.cases import Drop
from repro.lbm.two_fluids.exact import coexistence
from repro.lbm.two_fluids.exact import contact_angle as predicted_angle
from repro.lbm.two_fluids.observables import ContactAngle, contact_angle


def drops(cases, device, steps: int, *, precision: str) -> list[tuple[Drop, np.ndarray, ContactAngle, float]]:
    """Run drops; of each the case, the densities (2, height + 2, length), the angle, and its change in degrees over
    the last fifth of the steps."""
    found = []
    for case in cases:
        flow = case.start(device, precision=precision)
        flow.step(int(0.8 * steps))
        before = contact_angle(*flow.fields()[:2])
        flow.step(steps - flow.steps)
        a, b, _ = flow.fields()
        angle = contact_angle(a, b)
        found.append((case, np.stack([a[0], b[0]]), angle, abs(_limit(angle) - _limit(before))))
    return found


#: difference in degrees below which two angles count as complementary
COMPLEMENTARY = 3.0


def _limit(found: ContactAngle) -> float:
    """The angle in degrees; 180 for a drop that has left the plate (its gap is positive), 0 for one that covers it."""
    return found.angle if np.isfinite(found.angle) else 180.0 * (found.height > 0)


def pictures(data: Path) -> pd.Series:
    """Angles of the paper's pictures in degrees by G_fs, read from the folder data/."""
    table = pd.read_csv(data / "published" / "porous_contact_angles_figures.csv", comment="#")
    return table.set_index("G_fs")["theta"]


def table(found, published: pd.Series) -> pd.DataFrame:
    """One row a drop, in the order of the wetting.

    Columns wetting (G_fs = -G_gs), angle, paper (of its picture), difference, formula (Huang et al. with rho_s = 1 and
    phases in equilibrium), complement (180 less the angle with the fluids exchanged), change; and in nodes the radius
    of the circle, the gap between it and the plate's surface (negative where they intersect), the base on which it
    rests, how much of the plate fluid a covers, the residual of the circle.
    """
    rows = []
    for case, densities, angle, change in found:
        rows.append(
            {
                "wetting": case.wetting,
                "angle": _limit(angle),
                "paper": float(published.get(case.wetting, np.nan)),
                "formula": predicted_angle(
                    (case.wetting, -case.wetting), case.interaction, _contrast(case.interaction)
                ),
                "change": change,
                "radius": angle.radius,
                "gap": angle.height - angle.radius,
                "base": 2 * angle.radius * np.sin(np.radians(_limit(angle))),
                "covered": int((densities[0, 1] > densities[1, 1]).sum()),
                "residual": angle.residual,
            }
        )
    frame = pd.DataFrame(rows).sort_values("wetting", ignore_index=True)
    frame.insert(3, "difference", frame["angle"] - frame["paper"])
    angles = frame.set_index("wetting")["angle"]
    frame.insert(5, "complement", [180 - angles.get(-w, np.nan) for w in frame["wetting"]])
    return frame


def _contrast(interaction: float) -> float:
    """Difference of a fluid's densities in the two phases over the total density, of phases in equilibrium."""
    own, other = coexistence(interaction, density=1.0)
    return own - other


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Drops with exchanged wetting, indexed by its strength, from a `table`.

    Columns angle (of the drop that the plate repels), complement, difference (between them, in degrees), radius and gap
    (of that drop, in nodes), asked (the gap of a circle of that radius with the complement as its angle), and of the
    drop that is attracted attracted (its angle), base, covered and change.
    """
    rows = frame.set_index("wetting")
    strengths = [w for w in rows.index if w > 0 and -w in rows.index]
    repelled, attracted = rows.loc[strengths], rows.loc[[-w for w in strengths]].set_axis(strengths)
    made = repelled[["angle", "complement", "radius", "gap"]].copy()
    made["difference"] = (made["angle"] - made["complement"]).abs()
    made["asked"] = -made["radius"] * (1 + np.cos(np.radians(made["complement"])))
    return made.join(attracted[["angle", "base", "covered", "change"]].rename(columns={"angle": "attracted"}))


def formula(wettings, interaction: float = 0.2) -> np.ndarray:
    """Angles in degrees by Huang and others for G_fs = -G_gs, with rho_s = 1 and phases in equilibrium."""
    contrast = _contrast(interaction)
    return np.array([predicted_angle((w, -w), interaction, contrast) for w in np.asarray(wettings, float)])


def monotonic(frame: pd.DataFrame) -> bool:
    """Whether the angle rises with the wetting throughout."""
    return bool((frame["angle"].diff().dropna() > 0).all())


def slopes(frame: pd.DataFrame) -> dict[str, float]:
    """-d cos(theta)/d G_fs near neutral wetting (up to 0.01) of this run, the paper's pictures and the formula."""
    near = frame[frame["wetting"].abs() <= 0.0101]
    if len(near) < 2:
        return {}
    names = {"this run": "angle", "paper's pictures": "paper", "formula": "formula"}
    found = {}
    for name, column in names.items():
        # not every strength has a picture
        rows = near.dropna(subset=column)
        if len(rows) > 1:
            found[name] = float(-np.polyfit(rows["wetting"], np.cos(np.radians(rows[column])), 1)[0])
    return found


def from_pictures(frame: pd.DataFrame) -> dict:
    """How far angles of drops on the plate are from those of the paper's pictures, in degrees; holds within 15."""
    difference = frame.loc[~(frame["gap"] > 0), "difference"].dropna()
    least, most = (difference.min(), difference.max()) if len(difference) else (0.0, 0.0)
    return {"least": float(least), "most": float(most), "holds": len(difference) > 0 and max(-least, most) < 15}


def formula_slope(frame: pd.DataFrame) -> dict:
    """The formula's slope over ours, of `slopes`, zero without two drops near neutral wetting; holds if it is less."""
    found = slopes(frame)
    share = found["formula"] / found["this run"] if found else 0.0
    return {"share": share, "holds": 0 < share < 1}


def complementary(exchanged: pd.DataFrame) -> dict:
    """The largest difference of `pairs` but the strongest, in degrees; holds if small, and the strongest's is not."""
    difference = exchanged["difference"].to_list()
    off = max(difference[:-1], default=0.0)
    return {"off": off, "holds": len(difference) > 1 and off <= COMPLEMENTARY < difference[-1]}
