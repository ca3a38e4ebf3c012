"""What the porous runs are held against: the paper's curves and the reference solutions, from the folder data/."""

from pathlib import Path

import pandas as pd


def figure_points(data: Path, figure: str, series: str = "") -> pd.DataFrame:
    """The paper's points of a figure, such as "4.4", in series that begin with `series`; as in porous_figures.csv."""
    points = pd.read_csv(data / "published" / "porous_figures.csv", comment="#")
    chosen = points["figure"].str.startswith(figure) & points["series"].str.startswith(series)
    return points[chosen].astype({"x": float})


def reference(data: Path, name: str) -> pd.DataFrame:
    """A table of data/reference, by the name of its file."""
    return pd.read_csv(data / "reference" / name, comment="#")


def drag_coefficients(data: Path) -> pd.Series:
    """The coefficients alpha_n of the series of Sangani and Acrivos (1982) for body-centred spheres."""
    return reference(data, "sangani_acrivos_bcc.csv")["alpha"]
