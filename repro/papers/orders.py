"""The order with which an error falls on finer grids."""

import numpy as np
import pandas as pd
from scipy.optimize import brentq


def observed_order(widths, ratio: float) -> float:
    """The order p at which the distances between three grids have this ratio, 0 if none has.

    With an error C h^p and h = 1/width the distance of two grids is C (h_1^p - h_2^p); the grids need not be refined
    by the same factor (Roache, Annu. Rev. Fluid Mech. 29 (1997) 123).
    """
    coarse, middle, fine = (1 / np.asarray(widths, float)).tolist()

    def off(p):
        return (coarse**p - middle**p) / (middle**p - fine**p) - ratio

    least, most = 0.01, 10.0
    return brentq(off, least, most) if off(least) < 0 < off(most) else 0.0


def with_orders(table: pd.DataFrame, kind: str, size: str, error: str) -> pd.DataFrame:
    """With the column order: the slope of an error to the next coarser grid of the same kind, NaN for the coarsest."""
    logs = np.log(table[[size, error]]).groupby(table[kind]).diff()
    return table.assign(order=-logs[error] / logs[size])
