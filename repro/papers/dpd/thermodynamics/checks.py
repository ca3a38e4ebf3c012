"""Checks of the thermodynamics notebook: each measured number against theory, which is exact or known to be off.

A check is (law, measured, error, theory, exact).
"""

from math import hypot, nan

import pandas as pd

from repro.dpd.fluid import Fluid
from repro.dpd.observables import Estimate

from .equilibrium import deviation_from_one

#: allowed deviation in standard errors, where theory is exact
SIGMAS = 3


def of_temperature(table: pd.DataFrame) -> list[tuple]:
    """Groot and Warren: kT is too high with plain velocity-Verlet (lambda = 0.5), hardly with lambda = 0.65."""
    known = {(0.5, 0.02): 1.01, (0.5, 0.04): 1.03, (0.65, 0.02): 1.0}
    return [
        (f"kT, lambda = {predictor:g}, dt = {dt:g}", value, error, known[predictor, dt], False)
        for predictor, dt, value, error in table[["lambda", "dt", "kT", "error"]].itertuples(index=False)
        if (predictor, dt) in known
    ]


def of_pressure(table: pd.DataFrame) -> list[tuple]:
    """rho kT exactly without repulsion, and otherwise Groot and Warren's fit, good within 5 %."""
    ideal, soft = (table[alike].to_dict("records") for alike in (table["a"] == 0, table["a"] != 0))
    case = "a = {a:g}, rho = {rho:g}".format_map
    found = [(f"p - rho kT, {case(row)}", row["excess"], row["excess error"], 0.0, True) for row in ideal]
    return found + [(f"pressure, {case(row)}", row["p"], row["error"], row["fit"], False) for row in soft]


def of_viscosity(table: pd.DataFrame) -> list[tuple]:
    """Kinetic theory's viscosity within 30 %, and the same viscosity for every drive (linear response).

    Of one drive alone nothing is said on the second.
    """
    found = []
    for repulsion, rows in table.groupby("a"):
        weak, strong = (rows.loc[index] for index in (rows["drive"].idxmin(), rows["drive"].idxmax()))
        law = f"viscosity, a = {repulsion:g}"
        found.append((law, weak["viscosity"], weak["error"], weak["theory"], False))
        if len(rows) > 1:
            difference, error = strong["viscosity"] - weak["viscosity"], hypot(strong["error"], weak["error"])
            found.append((f"{law}: strong minus weak drive", difference, error, 0.0, True))
    return found


def of_all(temperature, pressure, structure, diffusion, rate: Estimate, viscosity) -> pd.DataFrame:
    """`table_of` all checks, from the tables of the five quantities and the friction rate.

    Without repulsion g = 1 everywhere, so deviations are as large as the standard errors; the rate of friction is
    exact, and kinetic theory's self-diffusion good within 30 %.
    """
    deviation, ideal = deviation_from_one(structure[structure["a"] == 0]), diffusion[diffusion["a"] == 0].iloc[0]
    gas = [
        ("(g - 1) / error, root mean square, a = 0", deviation, 0.5 / SIGMAS, 1.0, True),
        ("rate of friction, a = 0", *rate, 1 / ideal["theory"], True),
        ("self-diffusion, a = 0", *ideal[["D", "error", "theory"]], False),
    ]
    return table_of(of_temperature(temperature) + of_pressure(pressure) + gas + of_viscosity(viscosity))


def table_of(checks: list[tuple]) -> pd.DataFrame:
    """The checks, one per row, how far off the measured number is, in standard errors, and whether it "holds".

    It does within three of them where theory is exact; of the others, known to be off, nothing is said.
    """
    table = pd.DataFrame(checks, columns=["law", "measured", "error", "theory", "exact"])
    off = table["measured"] - table["theory"]
    return table.assign(off=off / table["error"], holds=~table["exact"] | (off.abs() <= SIGMAS * table["error"]))


def exact_laws(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `table_of` where theory is exact."""
    return table[table["exact"]].drop(columns="exact")


def theories(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `table_of` where theory is a fit or neglects something, with the deviation from it in %."""
    rows = table.loc[~table["exact"], ["law", "measured", "error", "theory"]]
    return rows.assign(**{"off (%)": 100 * (rows["measured"] / rows["theory"] - 1)})


def beside_other_code(temperature, pressure, diffusion, other: pd.DataFrame) -> pd.DataFrame:
    """kT, pressure and self-diffusion of the paper's fluid, ours and those of `other` (data/reference/dpd_values.csv).

    kT with plain velocity-Verlet, lambda = 1/2, as there. A repulsion that was not run is nan.
    """

    quantities = {
        "kT": temperature[(temperature["lambda"] == 0.5) & (temperature["dt"] == Fluid.dt)][["kT", "error"]],
        "pressure": pressure[(pressure["a"] == Fluid.repulsion) & (pressure["rho"] == Fluid.density)][["p", "error"]],
        "self-diffusion": diffusion[diffusion["a"] == Fluid.repulsion][["D", "error"]],
    }
    ours = {name: tuple(rows.iloc[0]) if len(rows) else (nan, nan) for name, rows in quantities.items()}
    found = pd.DataFrame(ours, index=["ours", "our error"]).T
    return other.set_index("quantity")[["value", "error", "code", "version"]].join(found).reset_index()
