"""Sentences of the notebook on the flow between plates, as Markdown, with their numbers."""

import pandas as pd

from repro.dpd import exact
from repro.dpd.averages import Field
from repro.dpd.cases import Poiseuille
from repro.dpd.observables import Estimate

from . import flows, plates
from .plates import Comparison, Parabola, law


def expectation(case: Poiseuille, *, equilibration: int, window: int, rows: int) -> str:
    """What kinetic theory expects of the flow, and this run's steps and layers beside the paper's."""
    fluid, height, eta = case.fluid, case.height, exact.viscosity(case.fluid)
    fastest = exact.poiseuille(height / 2, height, case.drive, fluid.density, eta)
    relaxation = flows.relaxation_time(height, flows.kinematic_viscosity(fluid))
    return (
        f"H = {height:g}, g = {case.drive:g}: kinetic theory expects a largest velocity of {fastest:.2f}, which is "
        f"{fastest / exact.sound_speed(fluid):.2f} of the speed of sound, and a relaxation time of "
        f"{relaxation / fluid.dt:.0f} steps. The paper's 10000 steps without force and windows of 10000 steps are "
        f"{equilibration} and {window} here, its 30 layers are {rows}."
    )


def figure_8(both: Comparison, bulk: Estimate) -> str:
    """How far CPU, device and theory are apart, and the two viscosities."""
    apart = ", ".join(f"{pair} **{100 * d:.1f} %**" for pair, d in both.apart.items())
    walls = ", ".join(f"{pair} {100 * d:.1f} %" for pair, d in both.apart_at_walls.items())
    fitted = both.fit.viscosity
    difference, error = fitted.value / bulk.value - 1, (fitted.error**2 + bulk.error**2) ** 0.5 / bulk.value
    limit = plates.VISCOSITY_ERROR
    return (
        f"Largest distances over the largest velocity, runs in all layers and theory in the layers at least one cutoff "
        f"radius away from the walls: {apart}. In the layers beside the walls, which are not judged: {walls}. "
        f"{_window(both.noise)}. The viscosity is **{fitted}** between the plates and "
        f"**{bulk}** in the bulk, both at a density of {both.density:.3f}: a difference of {100 * difference:+.1f} %, "
        f"where up to {100 * limit:g} % was expected: {law(difference, limit, error)}."
    )


def straightness(both: Comparison, field: Field) -> str:
    """Residual, slip and density of the settled flow; `field` is the mean of its windows."""
    fit, density, error = both.fit, field.density[0], both.noise / len(both.settled) ** 0.5
    shares = {"root mean square of the residual": fit.rms, "slip at the worse wall": fit.largest_slip}
    laws = " ".join(
        f"The {what} is **{100 * share:.1f} %** of the largest velocity; below {100 * plates.SMALL:g} % was wanted: "
        f"{law(share, plates.SMALL, error)}."
        for what, share in shares.items()
    )
    return (
        f"{laws} The largest residual is {100 * fit.largest:.1f} %, at {fit.worst:.2f} from the nearer wall. The "
        f"density is {density.min():.2f} in the emptiest layer, {density.max():.2f} in the fullest, "
        f"{plates.middle_density(field):.2f} in the middle."
    )


def slip(study: pd.DataFrame, noise: float) -> str:
    """The layer without slip and the distances from theory, from `plates.slip_study`; `noise` is that of a window."""
    zero = plates.layer_without_slip(study)
    found = (
        f"The mean slip vanishes at a layer of **{zero:.2f}** cutoff radii."
        if zero == zero
        else "The slip, as the mean of both walls, does not change its sign among these layers."
    )
    distances = ", ".join(f"{100 * row['from theory']:.1f} % with {row['layer']:g}" for _, row in study.iterrows())
    scatter = "" if noise != noise else " The slip of a run of this study scatters by about as much."
    return (
        f"{found} {_window(noise)}.{scatter} The flow's largest distance from theory, all layers taken, is {distances}."
    )


def _window(noise: float) -> str:
    """How far a window scatters."""
    if noise != noise:
        return "There is only one settled window, so that its scatter is not known"
    return f"A single window scatters by {100 * noise:.1f} % in a layer"


def tall_channel(case: Poiseuille, run: flows.Flow, fit: Parabola, bulk: Estimate) -> str:
    """The flow in the tall channel beside theory with the bulk viscosity, its temperature and its density."""
    fluid, height, field = case.fluid, case.height, run.windows[-1]
    left = plates.last_share(run, flows.relaxation_time(height, flows.kinematic_viscosity(fluid)))
    middle = plates.middle_density(field)
    predicted = exact.poiseuille(height / 2, height, case.drive, middle, bulk.value)
    temperature, density = plates.thermal(field)[3:-3], field.density[0, 3:-3]
    lower, upper = fit.slip
    return (
        f"Height {height:g}: the largest velocity is **{fit.fastest:.2f}** "
        f"({fit.fastest / exact.sound_speed(fluid):.2f} of the speed of sound), {predicted:.2f} by theory with the "
        f"bulk viscosity and the density {middle:.2f} of the middle, with {100 * left:.0f} % of the way to the settled "
        f"flow left. The residual is "
        f"{100 * fit.rms:.1f} % (root mean square), the slip {100 * lower:+.1f} % and {100 * upper:+.1f} %. The "
        f"temperature away from the walls goes from {min(temperature):.3f} to **{max(temperature):.3f}**, the density "
        f"there from {density.min():.2f} to {density.max():.2f}."
    )


def conditions(case: Poiseuille, both: Comparison, *, steps: int, cpu_steps: int, window: int) -> str:
    """What was compared, for the verdict, and the distances beside the walls, which are not judged."""
    walls = " and ".join(f"{100 * d:.1f} % ({pair})" for pair, d in both.apart_at_walls.items())
    return (
        f"H = {case.height:g}, reflecting layer of {case.layer:g}, {both.device} at step {steps}, CPU at step "
        f"{cpu_steps}, windows of {window} steps; scatter from pairs of other windows; within a cutoff radius of the "
        f"walls, where the fluid is not uniform and no parabola is expected, {walls}"
    )


def not_resolved(both: Comparison) -> str:
    """Why this run cannot judge the agreement."""
    return (
        f"{100 * plates.AGREEMENT:g} % can be told where {plates.FEWEST_WINDOWS} settled windows scatter by less than "
        f"{100 * plates.AGREEMENT / 3:.1f} % in a layer: here there are {len(both.settled)}. {_window(both.noise)}"
    )
