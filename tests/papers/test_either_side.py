"""What is told as a distance is as large on one side as on the other."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd.observables import Estimate
from repro.papers.dpd.flow import plates
from repro.papers.electrons.plasma import waves
from repro.papers.porous.box import lids
from repro.papers.porous.media import permeability, variants
from repro.papers.porous.two_fluids import laplace, layered

#: deviations of one table, of which the largest is on one side only
OFF = [-0.5, 3.0, 1.0]


def missed(side: int) -> dict:
    off = side * pd.Series([3.0, 1.0])
    return lids.misses(pd.DataFrame({"paper - converged": 1e-3 * off, "ours - converged": 0.5e-3 * off}))


def explained(side: int) -> dict:
    off = side * pd.Series(OFF)
    rounded = pd.DataFrame({"predicted (%)": 10 * off, "measured (%)": 9.9 * off})
    return variants.explained(rounded, pd.DataFrame({"change with BGK (%)": 7 * off}))


def steady(side: int) -> dict:
    off = side * pd.Series(OFF)
    return variants.steady_mrt(pd.DataFrame({"change with MRT (%)": 0.1 * off, "change with BGK (%)": 9 * off}))


def most_off(side: int) -> dict:
    rows = pd.DataFrame({"collision": "bgk", "length": 128, "off (%)": OFF})
    return permeability.most_off(rows.assign(**{"off (%)": side * rows["off (%)"]})).to_dict("list")


def off_series(side: int) -> dict:
    rows = {"nodes": 128, "chi": [0.6, 0.7, 0.8], "collision": "mrt", "walls": permeability.THESIS_WALLS, "tau": 1.0}
    return permeability.off_series(pd.DataFrame(rows | {"deviation (%)": [0.9 * side * off for off in OFF]}))


def off_line(side: int) -> dict:
    # at right angles to the curvature, so that the line is the same
    curvature, off = pd.Series([0.1, 0.05, 0.025]), pd.Series([0.05, -0.1, 0.0])
    pressure = 0.07 * curvature + 0.01 * side * off
    return {"off": laplace.off_line(pd.DataFrame({"dimensions": 2, "curvature": curvature, "pressure": pressure}))}


def balanced(side: int) -> dict:
    minority = [0.1 * (1 + 1e-3 * side * off) for off in OFF]
    return laplace.balanced(pd.DataFrame({"minority": minority, "lattice minority": 0.1}))


def deviations(side: int) -> dict:
    x, exact, off = [0.0, 1.0, 2.0], [2.0, 4.0, 1.0], pd.Series(OFF)
    curves = {"analytical": exact, "numerical": exact + 0.04 * side * off}
    points = pd.concat(pd.DataFrame({"series": name, "x": x, "y": y}) for name, y in curves.items())
    return layered.deviations(SimpleNamespace(deviation=lambda: 0.02), points)


def bowed(side: int) -> dict:
    """A straight outer layer, of whose 39 nodes that are fitted, 0.56 to 0.94, the middle one is off the line."""
    y = np.arange(101) / 100
    velocity = 2 - y + 0.1 * side * (y == 0.75)
    return {"bow": layered.shear(y, velocity, 1.0)["bow (%)"]}


def residual(side: int) -> dict:
    off, flow = np.array(OFF), np.array([1.0, 4.0, 1.0])
    places = {"z": flow, "theory": flow, "slip": (0.0, 0.0), "viscosity": Estimate(1.0, 0.1)}
    return {"rms": plates.Parabola(velocity=side * flow + off, fitted=side * flow, fastest=side * 4.0, **places).rms}


def along_an_axis(side: int) -> dict:
    return waves.along_an_axis(pd.DataFrame({"direction": "x", "deviation (%)": [0.1 * side * off for off in OFF]}))


MEASURES = {
    missed: {"paper": 3e-3, "spacings": 256 * 3e-3, "holds": True},
    explained: {"off": 0.3, "most": 30.0, "theirs": 21.0, "holds": True},
    steady: {"mrt": 0.3, "bgk": 27.0, "holds": True},
    most_off: {"collision": ["bgk"], "length": [128], "largest (%)": [3.0]},
    off_series: {"off": 2.7, "holds": True},
    off_line: {"off": 100 * 0.0010 / 0.0035},
    balanced: {"off": 3e-3, "holds": True},
    deviations: {"ours": 2.0, "paper": 3.0, "holds": True},
    # the line takes a part of it
    bowed: {"bow": 100 * 0.1 * (1 - 1 / 39) / 2},
    residual: {"rms": ((0.25 + 9 + 1) / 3) ** 0.5 / 4},
    along_an_axis: {"off": 0.3, "holds": True},
}


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("measure", MEASURES)
def test_what_lies_below_is_as_far_off_as_what_lies_above(measure, side):
    found = measure(side)
    assert found.keys() == MEASURES[measure].keys()
    for name, value in MEASURES[measure].items():
        assert found[name] == (value if isinstance(value, bool | list) else pytest.approx(value)), name
