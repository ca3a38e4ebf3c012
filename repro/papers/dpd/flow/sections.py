"""Flow through a channel that narrows and widens: velocities at a section, and the flow through it (section 6)."""

import numpy as np
import pandas as pd

from repro.dpd.averages import Field
from repro.dpd.cases import Channel
from repro.dpd.exact import sound_speed
from repro.errors import require

from . import flows

#: fluid particles of the paper's channel, from which its gap follows
FLUID = 1130496


def in_fluid(field: Field, case: Channel) -> np.ndarray:
    """Which bins, of shape (columns, rows), have their middle in the fluid."""
    x, z = np.meshgrid(field.x, field.z, indexing="ij")
    return case.walls.depth(x, z).reshape(x.shape) > 0


def section(field: Field, case: Channel, x: float, reach: float) -> np.ndarray:
    """Velocity along x over the height, averaged over the columns within `reach` of x (periodic); nan in the walls.

    Each particle has the same weight. Raises InputError if no column is that near.
    """
    near = np.abs((field.x - x + case.length / 2) % case.length - case.length / 2) <= reach
    require(near.any(), f"no column within {reach:g} of x = {x:g}: choose at least half a column")
    mean = flows.weighted_mean(field.density[near], field.velocity_x[near])
    return np.where(in_fluid(field, case)[near].all(0), mean, np.nan)


def at_middles(field: Field, case: Channel) -> dict[str, np.ndarray]:
    """Velocity around the middle of the wide part, on the periodic edge, and of the narrow one (figure 10)."""
    places = {"wide": 0.0, "narrow": case.length / 2}
    return {name: section(field, case, x, case.length / 20) for name, x in places.items()}


def compare(averages: dict[str, list[Field]], case: Channel, time: float) -> flows.Comparison:
    """The programs' velocities at both sections, over the last one's largest; the core ran for a `time`."""
    profiles = {}
    for name, fields in averages.items():
        profiles[name] = last = np.array([np.concatenate(list(at_middles(f, case).values())) for f in fields])
    moved = flows.twice_the_viscosity(time, slowing_time(case))
    return flows.Comparison(profiles, float(np.nanmax(last.mean(0))), moved)


def slowing_time(case: Channel) -> float:
    """The time in which friction in the narrow part slows the whole flow, without inertia of another kind.

    That of the narrow part, times all that must slow with it: one flow rate moves L_n / h and L_w / H.
    """
    narrow = flows.relaxation_time(case.gap, case.fluid)
    wide = (case.length - case.narrow_length) / case.height
    return narrow * (1 + wide * case.gap / case.narrow_length)


def by_section(both: flows.Comparison) -> dict[str, dict[str, np.ndarray]]:
    """The mean profiles of a comparison of two programs by program and section."""
    halves = {name: np.split(profile, 2) for name, profile in both.profiles.items()}
    return {name: {"wide": wide, "narrow": narrow} for name, (wide, narrow) in halves.items()}


def apart_table(both: flows.Comparison) -> pd.DataFrame:
    """How far two programs are apart at each section, in % of the largest velocity and of the section's own."""
    first, second = by_section(both).values()
    apart = {place: float(np.nanmax(np.abs(first[place] - second[place]))) for place in first}
    rows = [(p, 100 * d / both.scale, 100 * d / float(np.nanmax(second[p]))) for p, d in apart.items()]
    return pd.DataFrame(rows, columns=["section", "of the largest (%)", "of its own (%)"]).round(2)


def flow_rate(field: Field, case: Channel) -> np.ndarray:
    """Particles that pass each section in a unit of time, of shape (columns,)."""
    area = case.width * (field.z[1] - field.z[0])
    return np.nansum(field.density * field.velocity_x, axis=1) * area


def beside_faces(field: Field, case: Channel) -> np.ndarray:
    """Which columns hold the layer at the blocks' upright faces, of shape (columns,).

    There the layer reflects fluid particles, and the sampled velocities do not sum to the flow rate.
    """
    half_column, walls = case.length / len(field.x) / 2, case.walls
    outside = np.abs(field.x - walls.middle_x) - walls.half_length
    return (outside > -half_column) & (outside < walls.layer + half_column)


def rates_by_window(fields: list[Field], case: Channel) -> np.ndarray:
    """The `flow_rate` of each average, of shape (averages, columns), without the columns beside the faces."""
    kept = ~beside_faces(fields[0], case)
    return np.array([flow_rate(field, case)[kept] for field in fields])


def rate_ratio(averages: dict[str, list[Field]], case: Channel) -> dict:
    """Keywords of `Record.measure`: the flow rate of the first program over the second's, and three standard errors."""
    means = [rates_by_window(fields, case).mean(1) for fields in averages.values()]
    first, second = (each.mean() for each in means)
    squares = [each.var(ddof=1) / len(each) / each.mean() ** 2 for each in means if len(each) > 1]
    return {"measured": float(first / second), "scatter": float(3 * first / second * np.sqrt(sum(squares)))}


def rates(flow: flows.Flow, case: Channel) -> dict:
    """How much the flow rate varies over the sections and from the last window but one, in %; holds if both by less."""
    last = rates_by_window(flow.windows[-3:], case)
    over, late = last.mean(0).std(ddof=1) / last.mean(), last[-1].mean() / last[-2].mean() - 1
    return {"over": 100 * over, "late": 100 * late, "holds": max(abs(over), abs(late)) < flows.AGREEMENT}


def creeping_speed(case: Channel, kinematic: float) -> float:
    """The largest speed in the narrow part without inertia (creeping flow), an upper bound.

    Both parts are then plane Poiseuille flows with one flow rate, and their forces sum to the body force:
    g L = g_n (L_n + L_w (h / H)^3), v = g_n h^2 / (8 nu) with h the gap and H the height of the wide part.
    """
    wide = (case.length - case.narrow_length) * (case.gap / case.height) ** 3
    narrow_force = case.drive * case.length / (case.narrow_length + wide)
    return narrow_force * case.gap**2 / (8 * kinematic)


def drives(case: Channel) -> pd.DataFrame:
    """The largest speeds without inertia, their Mach numbers, and relaxation in steps of both parts, by force."""
    rows = []
    for name, channel in (("this run", case), ("the plane flow's force, in the paper's channel", Channel(drive=0.02))):
        fluid = channel.fluid
        speed = creeping_speed(channel, flows.kinematic_viscosity(fluid))
        steps = [flows.relaxation_time(height, fluid) / fluid.dt for height in (channel.gap, channel.height)]
        rows.append((name, channel.drive, speed, speed / sound_speed(fluid), *steps))
    names = ["channel", "force", "at most", "Mach", "narrow part (steps)", "wide part (steps)"]
    return pd.DataFrame(rows, columns=names).round(3)


def steady(flow: flows.Flow, case: Channel) -> dict:
    """The largest change of the profiles from the two windows before to the last two, in %; holds within 5 %."""
    windows = {"before": flow.windows[-4:-2], "last": flow.windows[-2:]}
    # for how long they ran is not asked
    late = compare(windows, case, flow.window)
    return {"change": 100 * late.largest, "limit": 100 * flows.AGREEMENT, "holds": late.largest < flows.AGREEMENT}


def fastest(fields: list[Field], case: Channel) -> dict:
    """The largest velocity at the sections, and in % of the bound without inertia; holds below the bound."""
    found = max(float(np.nanmax(v)) for v in at_middles(flows.mean_field(fields), case).values())
    bound = creeping_speed(case, flows.kinematic_viscosity(case.fluid))
    return {"fastest": found, "share": 100 * found / bound, "holds": found < bound}


def paper_particles() -> tuple[int, int]:
    """Numbers of fluid particles and of wall particles, in three planes, of the paper's channel, counted in a slice."""
    piece = Channel(width=3.0, frozen=None).system()
    slices = int(Channel.width / piece.box[1])
    return slices * piece.moving, slices * (piece.count - piece.moving)
