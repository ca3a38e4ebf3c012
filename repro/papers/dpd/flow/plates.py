"""Flow between two plates: the fitted parabola, the slip at the walls, and the viscosity (section 5, figure 8)."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from repro.dpd import exact
from repro.dpd.averages import Field
from repro.dpd.cases import Bulk, Poiseuille
from repro.dpd.observables import Estimate, parabola_viscosity, reverse_viscosity
from repro.dpd.system import System
from repro.errors import InputError

from .flows import Flow, distances, kinematic_viscosity, mean_field, relaxation_time, run, scatter

#: share of the largest velocity that counts as agreement, and settled windows that it takes to tell: the last one is
#: judged, two pairs of others tell how much its number scatters
AGREEMENT, FEWEST_WINDOWS = 0.05, 5

#: the name of the fitted parabola among the profiles
THEORY = "theory"

#: share of the largest velocity below which slip and residual should be, and expected error of the viscosity
SMALL, VISCOSITY_ERROR = 0.02, 0.03


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
    def residual(self) -> np.ndarray:
        """Velocity less parabola in each layer, over the largest velocity."""
        return (self.velocity - self.fitted) / self.fastest

    @property
    def rms(self) -> float:
        """Root mean square of the residual over all layers with fluid."""
        return float(np.sqrt(np.nanmean(self.residual**2)))

    @property
    def largest(self) -> float:
        """The largest residual."""
        return float(np.nanmax(np.abs(self.residual)))

    @property
    def largest_slip(self) -> float:
        """The slip at the wall where it is larger."""
        return float(np.abs(self.slip).max())


def parabola(windows: list[Field], system: System) -> Parabola:
    """Fit a parabola to the average of the windows.

    The viscosity's error is the larger of the fit's own and the one that the scatter of the windows gives.
    """
    field, walls = mean_field(windows), system.walls
    viscosity, coefficients = parabola_viscosity(field, system)
    fastest = float(np.polyval(coefficients, -coefficients[1] / (2 * coefficients[0])))
    z, height = field.z - walls.bottom, walls.top - walls.bottom
    return Parabola(
        viscosity=_with_scatter(viscosity, [parabola_viscosity(f, system)[0].value for f in windows]),
        z=z,
        velocity=field.velocity_x[0],
        fitted=np.polyval(coefficients, field.z - walls.middle_z),
        theory=exact.poiseuille(z, height, 1.0, 1.0, -1 / (2 * coefficients[0])),
        fastest=fastest,
        slip=tuple(np.polyval(coefficients, [-height / 2, height / 2]) / fastest),
    )


@dataclass(frozen=True)
class Comparison:
    """CPU, device and theory: the settled flow of the device's run, and the last window of both runs."""

    system: System
    #: name of the device's run, and its settled windows
    device: str
    settled: list[Field]
    #: the parabola of all settled windows of the device, and of the last window of each run
    fit: Parabola
    last: dict[str, Parabola]

    @property
    def fits(self) -> dict[str, Parabola]:
        """All parabolas, by what they are fitted to."""
        every = {f"{self.device}, {len(self.settled)} settled windows": self.fit}
        return every | {f"{name}, last window": fit for name, fit in self.last.items()}

    @property
    def profiles(self) -> dict[str, np.ndarray]:
        """Velocities over the height: the last window of each run, and theory with the fitted viscosity."""
        return {name: fit.velocity for name, fit in self.last.items()} | {THEORY: self.fit.theory}

    @property
    def inside(self) -> np.ndarray:
        """Which layers lie at least one cutoff radius away from both walls: no particle there feels a frozen one."""
        height = self.system.walls.top - self.system.walls.bottom
        return (self.fit.z > 1) & (self.fit.z < height - 1)

    @property
    def density(self) -> float:
        """The fluid's density in these layers, to which the parabola is fitted; pressed to the walls, it is not 4."""
        return float(mean_field(self.settled).density[0, self.inside].mean())

    @property
    def apart(self) -> dict[str, float]:
        """The distances that are judged, over the largest velocity: the largest of each two.

        Two runs are compared in all layers, a run and theory in the layers `inside`: theory is that of a uniform fluid.
        """
        return self._distances(self.profiles)

    @property
    def apart_at_walls(self) -> dict[str, float]:
        """The largest distance of each run from theory in the layers beside the walls, over the largest velocity."""
        beside = {name: np.where(self.inside, np.nan, velocity) for name, velocity in self.profiles.items()}
        found = distances(beside, self.fit.theory.max())
        return {pair: distance for pair, distance in found.items() if pair.endswith(THEORY)}

    def _distances(self, profiles: dict[str, np.ndarray]) -> dict[str, float]:
        uniform = {name: np.where(self.inside, velocity, np.nan) for name, velocity in profiles.items()}
        runs, scale = {name: velocity for name, velocity in profiles.items() if name != THEORY}, self.fit.theory.max()
        return distances(uniform, scale) | distances(runs, scale)

    @property
    def largest(self) -> float:
        """The largest of the distances `apart`: what is judged."""
        return max(self.apart.values())

    @property
    def scatter(self) -> float:
        """How far `largest` lies from the same number of other windows, at most; nan without a pair of them.

        A window is several relaxation times long, so windows are independent samples of one flow. Two settled windows
        of the device, one of them in place of the CPU's, make the figure anew; the last window, which is judged, is
        in no pair.
        """
        windows, theory = [field.velocity_x[0] for field in self.settled[:-1]], self.fit.theory
        pairs = zip(windows[::2], windows[1::2], strict=False)
        figures = [{"first": first, "second": second, THEORY: theory} for first, second in pairs]
        numbers = [max(self._distances(profiles).values()) for profiles in figures]
        return max((abs(number - self.largest) for number in numbers), default=float("nan"))

    @property
    def noise(self) -> float:
        """The scatter of one window in a layer, over the largest velocity; nan with a single settled window."""
        if len(self.settled) < 2:
            return float("nan")
        return scatter([field.velocity_x[0] for field in self.settled]) / self.fit.fastest

    @property
    def resolved(self) -> bool:
        """Whether a distance of `AGREEMENT` can be told from the scatter."""
        return len(self.settled) >= FEWEST_WINDOWS and 3 * self.noise < AGREEMENT


def compare(runs: dict[str, Flow], relaxation: float) -> Comparison:
    """Fit parabolas to two runs of one case, {"CPU": run, name: run}; `relaxation` as for `Flow.settled`.

    The CPU's windows may be shorter: as many of its last ones as make a window of the device are its last window.
    Raises InputError where it has not as many.
    """
    _, device = runs
    run = runs[device]
    settled = run.settled(relaxation)
    last = {name: parabola(_last_window(each, run.window, relaxation), each.system) for name, each in runs.items()}
    return Comparison(run.system, device, settled, parabola(settled, run.system), last)


def _last_window(run: Flow, steps: int, relaxation: float) -> list[Field]:
    """The last windows of a run that make `steps` steps."""
    settled, pieces = run.settled(relaxation), max(1, steps // run.window)
    if len(settled) < pieces:
        raise InputError(f"{len(settled)} settled windows of {run.window} steps: {pieces} make one of {steps}")
    return settled[-pieces:]


def bulk_box(both: Comparison, side: float, drive: float) -> Bulk:
    """A periodic box of reverse Poiseuille flow at the density of the layers that are compared with theory."""
    return Bulk((side, side, side), replace(both.system.fluid, density=both.density), drive)


def bulk_viscosity(windows: list[Field], system: System) -> Estimate:
    """Viscosity from reverse Poiseuille flow without walls; the error as for `parabola`."""
    parts = [reverse_viscosity(f, system).value for f in windows]
    return _with_scatter(reverse_viscosity(mean_field(windows), system), parts)


def _with_scatter(estimate: Estimate, parts: list[float]) -> Estimate:
    # slow thermal waves bend a whole window, which the fit's own error cannot see
    error = np.std(parts, ddof=1) / np.sqrt(len(parts)) if len(parts) > 2 else 0.0
    return Estimate(estimate.value, float(max(estimate.error, error)))


def thermal(field: Field) -> np.ndarray:
    """kT in each layer, of shape (rows,), without the spread of the flow's own velocity within a layer.

    A layer of height h in a shear s adds (s h)^2 / 12 to the mean square velocity, which is not temperature.
    """
    height = field.z[1] - field.z[0]
    shear = np.gradient(field.velocity_x[0], height)
    return field.temperature[0] - (shear * height) ** 2 / 36


def layer_arrays(field: Field) -> dict[str, np.ndarray]:
    """The arrays of a figure of layers: density and kT, of shape (rows,)."""
    return {"density": field.density[0], "temperature": thermal(field)}


def slip_study(case: Poiseuille, layers, device, *, relaxation: float, **options) -> pd.DataFrame:
    """Slip, residual and largest distance from theory for several thicknesses of the reflecting layer.

    `options` as for `run`. Slip and distance are shares of the largest velocity.
    """
    rows = []
    for layer in layers:
        flow = run(replace(case, layer=layer), device, **options)
        fit = parabola(flow.settled(relaxation), flow.system)
        apart = distances({"flow": fit.velocity, "theory": fit.theory}, fit.theory.max())["flow and theory"]
        rows.append((layer, np.mean(fit.slip), *fit.slip, fit.rms, apart, fit.viscosity.value, fit.viscosity.error))
    columns = ["layer", "slip", "lower wall", "upper wall", "residual (rms)", "from theory", "viscosity", "error"]
    return pd.DataFrame(rows, columns=columns)


def summary(fits: dict[str, Parabola]) -> pd.DataFrame:
    """One row per flow: viscosity, largest velocity, residual and slip, as shares of the largest velocity."""
    rows = [
        (name, f.viscosity.value, f.viscosity.error, f.fastest, f.rms, f.largest, *f.slip) for name, f in fits.items()
    ]
    columns = ["flow", "viscosity", "error", "v_max", "residual (rms)", "residual (largest)"]
    return pd.DataFrame(rows, columns=[*columns, "lower slip", "upper slip"])


def expectation(case: Poiseuille) -> dict:
    """What kinetic theory expects: the Mach number of the flow and the steps of a relaxation; holds below sound."""
    fluid, height = case.fluid, case.height
    fastest = exact.poiseuille(height / 2, height, case.drive, fluid.density, exact.viscosity(fluid))
    mach = float(fastest / exact.sound_speed(fluid))
    steps = relaxation_time(height, kinematic_viscosity(fluid)) / fluid.dt
    return {"mach": mach, "steps": steps, "holds": mach < 1}


def agreement(both: Comparison) -> dict:
    """The largest distance of any two of CPU, device and theory in %; holds if it counts as agreement."""
    return {"largest": 100 * both.largest, "holds": both.largest <= AGREEMENT}


def apart_table(both: Comparison) -> pd.DataFrame:
    """Largest distances of each two of CPU, device and theory over the largest velocity, in %.

    Those `within` a cutoff radius of the walls are not judged.
    """
    rows = [(pair, "all" if THEORY not in pair else "middle", d) for pair, d in both.apart.items()]
    rows += [(pair, "beside walls, not judged", d) for pair, d in both.apart_at_walls.items()]
    rows += [("one window and the mean", "scatter in a layer", both.noise)]
    return pd.DataFrame([(*row, 100 * d) for *row, d in rows], columns=["pair", "layers", "apart (%)"]).round(2)


def viscosities_agree(both: Comparison, bulk: Estimate) -> dict:
    """Viscosities between the plates and in the bulk and their difference in %; holds if within the expected error."""
    fitted = both.fit.viscosity
    off = fitted.value / bulk.value - 1
    error = (fitted.error**2 + bulk.error**2) ** 0.5 / bulk.value
    return {"plates": fitted.value, "bulk": bulk.value, "off": 100 * off, "holds": holds(off, VISCOSITY_ERROR, error)}


def straight(both: Comparison) -> dict:
    """Residual and slip of the settled flow in % of the largest velocity; holds if both are small."""
    error = both.noise / len(both.settled) ** 0.5
    rms, slip = both.fit.rms, both.fit.largest_slip
    return {"rms": 100 * rms, "slip": 100 * slip, "holds": holds(max(rms, slip), SMALL, error)}


def tall_channel(case: Poiseuille, flow: Flow, fit: Parabola, bulk: Estimate) -> dict:
    """Mach number, how many % the flow is off theory with the bulk viscosity, and the hottest layer; holds within 5 %.

    The density is that of the middle third of the layers; those beside the walls are not looked at.
    """
    height, field = case.height, flow.windows[-1]
    third = len(field.z) // 3
    density = float(field.density[0, third:-third].mean())
    theory = exact.poiseuille(height / 2, height, case.drive, density, bulk.value)
    off = float(fit.fastest / theory - 1)
    mach, hottest = fit.fastest / exact.sound_speed(case.fluid), float(max(thermal(field)[3:-3]))
    return {"mach": mach, "off": 100 * off, "hottest": hottest, "holds": abs(off) < AGREEMENT}


def holds(value: float, limit: float, error: float) -> bool:
    """Whether |value| is below a limit, by a run whose error is known and less than half of that."""
    return bool(error < limit / 2 and abs(value) < limit)
