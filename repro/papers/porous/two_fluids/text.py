"""The sentences with numbers of the notebooks on bubbles, layers and drops, as Markdown."""

from itertools import pairwise

import numpy as np
import pandas as pd

from repro.lbm.two_fluids.exact import layered_velocity_as_printed

from .contact import monotonic, pairs, slopes
from .laplace import SETTLED, Line
from .layered import PAPER_HALF, LayeredFlow

#: difference in degrees below which two angles count as complementary
COMPLEMENTARY = 3.0

#: the stencil that the paper's text names, and the one of its equation 2.12
NAMED, SUMMED = "central", "isotropic-4"

#: R^2 from which bubbles count as on a line through the origin
ON_A_LINE = 0.99

#: the wetting at which section 6.3(1) of the paper calls the contact angle close to 180 degrees
NON_WETTING = 0.03


def line_note(ours: Line, table: pd.DataFrame) -> str:
    """How sure the surface tension is, for the claim."""
    start = ", ".join(f"{radius:g}" for radius in table["start"])
    fit = f"line through the origin, R^2 = {ours.r_squared:.5f}, standard error {ours.error:.5f}"
    return f"{fit}; radii at the start {start}"


def laplace_text(ours: Line, theirs: Line, compared: pd.DataFrame) -> str:
    """The fitted line against the paper's, and the bubbles one by one."""
    text = (
        f"Surface tension {ours.tension:.4f} +- {ours.error:.4f} (R^2 = {ours.r_squared:.5f}) against "
        f"{theirs.tension:.4f} (R^2 = {theirs.r_squared:.5f}) through the paper's points: "
        f"{100 * (ours.tension / theirs.tension - 1):+.1f} %."
    )
    if compared.empty:
        return text
    shift = compared["paper's"] - compared["radius"]
    return text + (
        f" Started from radii {', '.join(f'{r:g}' for r in compared['start'])}, our bubbles end at radii that are "
        f"{shift.min():.2f} to {shift.max():.2f} nodes below those of the paper's points, with pressures that differ "
        f"by {compared['difference (%)'].abs().min():.2f} to {compared['difference (%)'].abs().max():.1f} %."
    )


def stencil_text(stencils: pd.DataFrame, steps: int, other_steps: int) -> str:
    """Which stencils come to rest; the first ran `steps` steps, the others `other_steps`."""
    restless = stencils.index[stencils["change"] > SETTLED]
    text = "; ".join(
        f"{name}: anisotropy {row['anisotropy']:.2%}, largest velocity {row['spurious']:.1e}, pressure still changing "
        f"by {row['change']:.1e}"
        for name, row in stencils.iterrows()
    )
    tail = f" Not at rest: {', '.join(restless)}." if len(restless) else " All came to rest."
    if len(restless) and len(stencils) > 1 and steps > other_steps:
        tail += (
            f" {stencils.index[0]} ran {steps:,} steps, and the others {other_steps:,}, after which a bubble may still "
            "dissolve: a pressure that changes need not mean a flow that never rests."
        )
    return text + "." + tail


def laplace_verdict(ours: Line, theirs: Line, stencils: pd.DataFrame, flat: pd.DataFrame) -> str:
    """What holds of Laplace's law, of the paper's gradient and of the equilibrium."""
    deviation = 100 * (ours.tension / theirs.tension - 1)
    text = (
        f"The pressure difference is a line through the origin to R^2 = {ours.r_squared:.4f}, with a surface tension "
        f"{abs(deviation):.1f} % {'above' if deviation > 0 else 'below'} that of the paper's points."
    )
    if {NAMED, SUMMED} <= set(stencils.index):
        named, summed = stencils.loc[NAMED], stencils.loc[SUMMED]
        rest = "never comes to rest" if named["change"] > SETTLED else "comes to rest"
        text += (
            f" With the plain central difference, which the paper's text names, a bubble {rest}: velocities of "
            f"{named['spurious']:.2g} nodes a step, {named['spurious'] / summed['spurious']:.0f} times those of the "
            "sum over eighteen neighbours, whose line is the paper's."
        )
    worst = flat.sort_values("interaction").iloc[-1]
    return text + (
        f" Across a flat interface the densities are those of the lattice's own balance to {_off_balance(flat):.1e}; "
        f"the continuum's chemical potentials differ by {worst['potential step (%)']:.1f} % at "
        f"g = {worst['interaction']:g}: the limit of a continuum's law on a lattice, and not of the program."
    )


def _off_balance(flat: pd.DataFrame) -> float:
    """The largest relative difference of a dissolved density from that of the lattice's balance at rest."""
    return float((flat["minority"] / flat["lattice minority"] - 1).abs().max())


def sphere_text(lines: pd.DataFrame) -> str:
    """Circles against spheres with the same stencil and interaction, where both ran."""
    rows = []
    for (stencil, interaction), pair in lines.groupby(["stencil", "interaction"]):
        tension = pair["tension"].droplevel(["stencil", "interaction"])
        if {2, 3} <= set(tension.index):
            rows.append(
                f"g = {interaction:g} ({stencil}): {tension[2]:.4f} from circles, {tension[3]:.4f} from spheres "
                f"({100 * (tension[3] / tension[2] - 1):+.1f} %)"
            )
    text = f"With the factor 2 of a sphere: {'; '.join(rows)}." if rows else "Spheres run in the profile `paper`."
    for (dimensions, stencil, interaction), row in lines[lines["r_squared"] < ON_A_LINE].iterrows():
        bubbles = "circles" if dimensions == 2 else "spheres"
        text += (
            f" At g = {interaction:g} ({stencil}) the points of {bubbles} lie on no line through the origin "
            f"(R^2 = {row['r_squared']:.2f}): this slope is no surface tension."
        )
    return text


def _small(value: float) -> str:
    """A relative difference, which may be none."""
    return f"{value:.0e}" if value else "the last digit"


def coexistence_text(flat: pd.DataFrame) -> str:
    """Where the continuum's equilibrium holds to one per cent."""
    step = flat["potential step (%)"]
    good, worst = flat.loc[step <= 1, "interaction"], flat.sort_values("interaction").iloc[-1]
    lattice = _off_balance(flat)
    text = (
        f"The densities agree with the balance on the lattice to {lattice:.1e}. (The pressures on both sides are equal "
        f"to {_small(flat['pressure step'].max())} by symmetry, as each phase is the other with the fluids exchanged.) "
        "The continuum's chemical potentials agree within 1 % of 6 g rho "
    )
    if worst["potential step (%)"] <= 1:
        return text + f"up to g = {good.max():g}, the strongest of this run."
    return text + (
        f"{f'up to g = {good.max():g}' if len(good) else 'nowhere in this run'}; at "
        f"g = {worst['interaction']:g} they differ by {worst['potential step (%)']:.1f} %: there the interface is "
        f"thinner than the lattice can differentiate, and a fluid's density in the other phase is "
        f"{worst['minority']:.4f} instead of {worst['continuum minority']:.4f}."
    )


def precision_text(rows: pd.DataFrame) -> str:
    """What single precision changes."""
    single, double = rows.loc["single"], rows.loc["double"]
    changes = ", ".join(f"{name} {single[name] / double[name] - 1:+.1e}" for name in ("radius", "pressure"))
    return f"Single over double precision, less one: {changes}."


def layers_text(flow: LayeredFlow, paper: float | None = None) -> str:
    """How far a flow of layers is from the exact curve."""
    text = (
        f"Largest velocity {flow.velocity.max():.6f}, exact {flow.exact().max():.6f}; largest deviation "
        f"{100 * flow.deviation():.2f} % of it, interface found at {flow.inner:.2f} nodes from the middle; over the "
        f"last tenth of {flow.steps} steps the velocity changed by {flow.change:.1e}."
    )
    return text if paper is None else text + f" The paper's own curves differ by {100 * paper:.1f} %."


def layers_precision_text(single: LayeredFlow, double: LayeredFlow) -> str:
    """What single precision changes."""
    difference = abs(single.velocity - double.velocity).max() / double.velocity.max()
    return f"The velocities in single and in double precision differ by at most {difference:.1e} of the largest."


def viscosity_text(table: pd.DataFrame) -> str:
    """Up to which ratio of the viscosities each collision runs, and what the deviation is there."""
    parts = []
    for collision, rows in table.groupby("collision"):
        steady = rows[rows["outcome"] == "steady"].sort_values("viscosity ratio")
        if steady.empty:
            parts.append(f"{collision.upper()} ran at no ratio")
            continue
        last = steady.iloc[-1]
        diverged = sorted(rows.loc[rows["outcome"] != "steady", "viscosity ratio"])
        beyond = f", and diverged at {', '.join(f'{r:g}' for r in diverged)}" if diverged else ""
        parts.append(
            f"{collision.upper()} ran up to {last['viscosity ratio']:g}, with a deviation of "
            f"{last['deviation (%)']:.1f} %{beyond}"
        )
    return "; ".join(parts) + "."


def layers_verdict(
    flow: LayeredFlow, dragged: LayeredFlow, refinement: pd.DataFrame, viscosity: pd.DataFrame, paper: float
) -> str:
    """How far the corrected and the printed equation hold, what remains, and what refining gains."""
    exact, printed = dragged.exact(), dragged.exact(layered_velocity_as_printed)
    rows = refinement[refinement["collision"] == flow.case.collision].sort_values("nodes")
    deviations = rows["deviation (%)"].to_numpy()
    steps = ", ".join(f"{coarse / fine:.1f}" for coarse, fine in pairwise(deviations))
    text = (
        f"With equal forces the profile on {flow.case.nodes} nodes lies within {100 * flow.deviation():.1f} % of the "
        f"exact one (the paper's own, on {2 * PAPER_HALF:.0f}: {100 * paper:.1f} %). With unequal ones the corrected "
        f"equation is met to {100 * dragged.deviation():.1f} %, from which the printed one differs by "
        f"{100 * np.abs(printed - exact).max() / exact.max():.0f} % of the largest velocity. At the interfaces the "
        f"density of the mixture falls to {flow.thinnest:.2f} of the fluids': such a layer weighs less, so that less "
        "force acts on the flow outside of it, and shears more easily, so that the velocity jumps there"
    )
    same = viscosity[(viscosity["viscosity ratio"] == 1) & (viscosity["outcome"] == "steady")]
    if len(same):
        alike, nodes = same["deviation (%)"].iloc[0], same["nodes"].iloc[0]
        text += f". With one viscosity in both fluids that is all; on {nodes:.0f} nodes it makes {alike:.1f} %"
    fluid, how = flow.worst
    text += f". Here the {fluid} fluid deviates most, and is {how}"
    if (fluid, how) == ("inner", "too slow"):
        text += ", as if the traces of the viscous fluid that are dissolved in it made it more viscous"
    return text + (f". Each doubling of the nodes divides the deviation by {steps}." if steps else ".")


def angles_text(frame: pd.DataFrame) -> str:
    """Order, and the distance from the paper's pictures, of drops that stay, and from the formula."""
    difference = frame.loc[~(frame["gap"] > 0), "difference"].dropna()
    text = f"The angle {'rises' if monotonic(frame) else 'does not rise'} with the wetting throughout."
    if len(difference):
        text += (
            f" Where the drop stays on the plate it differs from that of the paper's pictures by "
            f"{difference.min():+.1f} to {difference.max():+.1f} degrees, {difference.mean():+.1f} on average."
        )
    neutral = frame[frame["wetting"] == 0]
    if len(neutral):
        angle, paper = neutral[["angle", "paper"]].iloc[0]
        text += f" At neutral wetting, where symmetry demands 90, it is {angle:.1f}, in the picture {paper:.1f}."
    for row in frame[frame["gap"] > 0].itertuples():
        text += (
            f" At G_fs = {row.wetting:+g} the drop leaves the plate: its circle ends {row.gap:.1f} nodes above the "
            f"surface, so that no line of contact is left; the {row.angle:.0f} degrees say that, and are not measured "
            "at a wall."
        )
        if row.paper == row.paper:
            text += f" In the paper's picture it stays, at {row.paper:.1f}"
            text += ", though its section 6.3(1) calls the angle close to 180." if row.wetting == NON_WETTING else "."
    slope = slopes(frame)
    if slope:
        text += (
            " Slope of -cos(theta) near neutral wetting: "
            + "; ".join(f"{name} {value:.1f}" for name, value in slope.items())
            + f". The formula has {slope['formula'] / slope['this run']:.2f} of our slope."
        )
    return text


def angles_verdict(frame: pd.DataFrame) -> str:
    """Up to which wetting exchanged fluids give complementary angles, and what keeps the others from it."""
    found = pairs(frame).sort_index()
    if found.empty:
        return "No two drops of this run have exchanged wetting."
    met = found["difference"] <= COMPLEMENTARY
    parts = []
    if met.any():
        parts.append(
            f"Exchanged fluids give angles that are complementary to {found.loc[met, 'difference'].max():.1f} degrees "
            f"for wetting {', '.join(f'{w:g}' for w in found.index[met])}."
        )
    for wetting, row in found[~met].iterrows():
        parts.append(
            f"For {wetting:g} they are not: {row['angle']:.1f} against {row['complement']:.1f} degrees. With the "
            f"second a circle of this radius, {row['radius']:.0f} nodes, would reach {-row['asked']:.1f} nodes below "
            f"the plate's surface; the fitted one ends {abs(row['gap']):.1f} nodes "
            f"{'above' if row['gap'] > 0 else 'below'} it. An interface is two to four nodes thick. The "
            f"attracted drop, {row['attracted']:.1f} degrees, rests on {row['base']:.0f} nodes "
            f"while its fluid covers {row['covered']:.0f} nodes of the plate, and changed by {row['change']:.1f} "
            "degrees over the last fifth of the steps."
        )
    return " ".join(parts)
