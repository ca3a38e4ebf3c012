"""Flow between two plates: the fitted parabola, the slip at the walls, and the viscosity (section 5, figure 8)."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from repro.dpd import exact
from repro.dpd.averages import Field
from repro.dpd.cases import Poiseuille
from repro.dpd.observables import Estimate, parabola_viscosity
from repro.dpd.system import System
from repro.papers.dpd.thermodynamics.transport import Reverse, reverse_flow
from repro.parallel import select

from . import flows


@dataclass(frozen=True)
class Parabola:
    """A parabola fitted to the velocity between two plates, and how far the flow is from it."""

    viscosity: Estimate
    #: middles of the layers, measured from the lower plate; the fluid's velocity and the parabola's there
    z: np.ndarray
    velocity: np.ndarray
    fitted: np.ndarray
    #: theory: the parabola of the same viscosity that is zero at both plates
    theory: np.ndarray
    #: the fitted parabola's largest value
    fastest: float
    #: its values at the lower and at the upper plate, over the largest
    slip: tuple[float, float]

    @property
    def rms(self) -> float:
        """Root mean square of velocity less parabola over all layers with fluid, over the largest velocity."""
        return float(np.sqrt(np.nanmean((self.velocity - self.fitted) ** 2))) / abs(self.fastest)


def parabola(windows: list[Field], system: System) -> Parabola:
    """Fit a parabola to the average of the windows.

    The viscosity's error is the larger of the fit's own and the one that the scatter of the windows gives: slow thermal
    waves bend a whole window, which the fit's own error cannot see.
    """
    field, walls = flows.mean_field(windows), system.walls
    viscosity, coefficients = parabola_viscosity(field, system)
    parts = [parabola_viscosity(f, system)[0].value for f in windows]
    error = np.std(parts, ddof=1) / np.sqrt(len(parts)) if len(parts) > 2 else 0.0
    fastest = float(np.polyval(coefficients, -coefficients[1] / (2 * coefficients[0])))
    z, height = field.z - walls.bottom, walls.top - walls.bottom
    return Parabola(
        viscosity=Estimate(viscosity.value, float(max(viscosity.error, error))),
        z=z,
        velocity=field.velocity_x[0],
        fitted=np.polyval(coefficients, field.z - walls.middle_z),
        theory=exact.poiseuille(z, height, 1.0, 1.0, -1 / (2 * coefficients[0])),
        fastest=fastest,
        slip=tuple(np.polyval(coefficients, [-height / 2, height / 2]) / fastest),
    )


def compare(averages: dict[str, list[Field]], theory: np.ndarray, time: float, case: Poiseuille) -> flows.Comparison:
    """The programs' velocities over the height, in all layers, beside theory's; the core ran for a `time`."""
    profiles = {name: np.array([f.velocity_x[0] for f in fields]) for name, fields in averages.items()}
    moved = flows.twice_the_viscosity(time, flows.relaxation_time(case.height, case.fluid))
    return flows.Comparison(profiles, float(theory.max()), moved, theory)


def middle_density(fields: list[Field]) -> float:
    """The fluid's density in the middle third of the layers; pressed together by the walls, it is not that of a box."""
    density = flows.mean_field(fields).density[0]
    third = len(density) // 3
    return float(density[third:-third].mean())


def viscosities(device, density: float, case: Poiseuille, flow: Reverse, drive: float) -> dict[str, Estimate]:
    """The viscosity of each of the two programs without any wall, at a density."""
    fluid = replace(case.fluid, density=density)
    serial = reverse_flow(select("serial"), fluid, drive, flow, **flows.SERIAL_PROGRAM)[0]
    return {"serial program": serial, "GPU's program": reverse_flow(device, fluid, drive, flow, **flows.GPU_PROGRAM)[0]}


def viscosity_table(found: dict[str, Estimate]) -> pd.DataFrame:
    """A row a program of `viscosities`: columns program, viscosity, error."""
    return pd.DataFrame([(name, *each) for name, each in found.items()], columns=["program", "viscosity", "error"])


def ratio(found: dict[str, Estimate]) -> dict:
    """The first of two viscosities over the second, and three standard errors of it; holds within 5 %."""
    (first, error), (second, other) = found.values()
    value, holds = first / second, abs(first / second - 1) <= flows.AGREEMENT
    return {"measured": value, "scatter": 3 * (value * float(np.hypot(error / first, other / second))), "holds": holds}


def thermal(field: Field) -> np.ndarray:
    """kT in each layer, of shape (rows,), without the spread of the flow's own velocity within a layer.

    A layer of height h in a shear s adds (s h)^2 / 12 to the mean square velocity, which is not temperature.
    """
    height = field.z[1] - field.z[0]
    shear = np.gradient(field.velocity_x[0], height)
    return field.temperature[0] - (shear * height) ** 2 / 36


def slip_study(case: Poiseuille, layers, device, **options) -> pd.DataFrame:
    """Slip, residual and largest distance from theory, over the largest velocity; `options` as for `run`."""
    rows = []
    for layer in layers:
        flow = flows.run(replace(case, layer=layer), device, **options)
        fit = parabola(flow.settled(flows.relaxation_time(case.height, case.fluid)), flow.end)
        apart = float(np.nanmax(np.abs(fit.velocity - fit.theory))) / fit.theory.max()
        rows.append((layer, np.mean(fit.slip), *fit.slip, fit.rms, apart, *fit.viscosity))
    columns = ["layer", "slip", "lower wall", "upper wall", "residual (rms)", "from theory", "viscosity", "error"]
    return pd.DataFrame(rows, columns=columns)


def summary(averages: dict[str, list[Field]], system: System) -> pd.DataFrame:
    """One row per program: kT away from the walls, viscosity, largest velocity, residual and slip of its parabola."""
    rows = []
    for name, fields in averages.items():
        fit, kt = parabola(fields, system), float(thermal(flows.mean_field(fields))[3:-3].mean())
        rows.append((name, kt, *fit.viscosity, fit.fastest, fit.rms, *fit.slip))
    columns = ["program", "kT", "viscosity", "error", "v_max", "residual (rms)", "lower slip", "upper slip"]
    return pd.DataFrame(rows, columns=columns)


def expectation(case: Poiseuille, driven: int) -> dict:
    """Of theory: Mach number, steps of a relaxation, and how many `driven` are; holds if a flow has settled by then."""
    fluid, steps = case.fluid, flows.relaxation_time(case.height, case.fluid) / case.fluid.dt
    fastest = exact.poiseuille(case.height / 2, case.height, case.drive, fluid.density, exact.viscosity(fluid))
    mach, times = float(fastest / exact.sound_speed(fluid)), driven / steps
    return {"mach": mach, "steps": steps, "times": times, "holds": times >= flows.SETTLED}


def against_bulk(fit: Parabola, theory: np.ndarray) -> dict:
    """How many % the fitted viscosity's theory lies above that of the bulk, `theory`; holds within 5 %."""
    off = float(fit.theory.max() / theory.max() - 1)
    return {"off": 100 * off, "holds": abs(off) < flows.AGREEMENT}
