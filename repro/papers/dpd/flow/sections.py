"""Flow through a channel that narrows and widens: velocities at a section, and the flow through it (section 6)."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd
from scipy.stats import norm

from repro.dpd.averages import Field
from repro.dpd.cases import Channel
from repro.dpd.exact import sound_speed
from repro.errors import InputError

from .flows import Flow, distances, kinematic_viscosity, mean_field, relaxation_time, scatter

#: share of the largest velocity that counts as agreement, and windows that it takes to tell
AGREEMENT, FEWEST_WINDOWS = 0.05, 4

#: fluid particles of the paper's channel, from which its gap follows
FLUID = 1130496

#: parts into which the windows of a run are divided to see how much a number scatters
BLOCKS = 4


def in_fluid(field: Field, case: Channel) -> np.ndarray:
    """Which bins, of shape (columns, rows), have their middle in the fluid."""
    x, z = np.meshgrid(field.x, field.z, indexing="ij")
    return case.walls.depth(x, z).reshape(x.shape) > 0


def section(field: Field, case: Channel, x: float, reach: float) -> np.ndarray:
    """Velocity along x over the height, averaged over the columns within `reach` of x (periodic); nan in the walls.

    Each particle has the same weight. Raises InputError if no column is that near.
    """
    near = np.abs((field.x - x + case.length / 2) % case.length - case.length / 2) <= reach
    if not near.any():
        raise InputError(f"no column within {reach:g} of x = {x:g}: choose at least half a column")
    density, velocity = field.density[near], field.velocity_x[near]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(density > 0, density * velocity, 0.0).sum(0) / density.sum(0)
    return np.where(in_fluid(field, case)[near].all(0), mean, np.nan)


def at_middles(field: Field, case: Channel, reach: float) -> dict[str, np.ndarray]:
    """Velocity in the middle of the wide part, which lies on the periodic edge, and of the narrow one (figure 10)."""
    places = {"wide": 0.0, "narrow": case.length / 2}
    return {name: section(field, case, x, reach) for name, x in places.items()}


def section_scatter(windows: list[Field], case: Channel, reach: float) -> float:
    """The scatter of both middle profiles between windows, see `flows.scatter`."""
    return scatter([np.concatenate(list(at_middles(f, case, reach).values())) for f in windows])


@dataclass(frozen=True)
class Apart:
    """How far two averages of one profile are apart, and how far chance alone puts them."""

    #: largest and root mean square distance, and the largest velocity of the profile
    largest: float
    rms: float
    fastest: float
    #: standard error of a bin's distance, from the scatter of both runs' windows
    error: float
    bins: int

    @property
    def chance(self) -> float:
        """The largest distance that chance alone makes: its median."""
        return by_chance(self.error / sqrt(2), self.bins)


def apart_locally(first: list[Field], second: list[Field], case: Channel, reach: float) -> dict[str, Apart]:
    """How far two runs are apart at each middle section, from their windows, beside what their scatter makes."""
    found = {}
    for place in at_middles(first[0], case, reach):
        runs = [[at_middles(f, case, reach)[place] for f in windows] for windows in (first, second)]
        one, two = (at_middles(mean_field(windows), case, reach)[place] for windows in (first, second))
        distance = (one - two)[np.isfinite(one - two)]
        error = sqrt(sum(scatter(profiles) ** 2 / len(profiles) for profiles in runs))
        rms = float(np.sqrt(np.square(distance).mean()))
        found[place] = Apart(float(np.abs(distance).max()), rms, float(np.nanmax(two)), error, len(distance))
    return found


def flow_rate(field: Field, case: Channel) -> np.ndarray:
    """Particles that pass each section in a unit of time, of shape (columns,)."""
    area = case.width * (field.z[1] - field.z[0])
    return np.nansum(field.density * field.velocity_x, axis=1) * area


def rates_by_window(run: Flow, case: Channel) -> np.ndarray:
    """The `flow_rate` of each window, of shape (windows, columns)."""
    return np.array([flow_rate(field, case) for field in run.windows])


def beside_faces(field: Field, case: Channel) -> np.ndarray:
    """Which columns hold the layer at the blocks' upright faces, of shape (columns,).

    There the sampled velocities do not sum to the flow rate: the layer reflects fluid particles once a step, and the
    velocity at the end of a step includes half a step too much of it. The error vanishes with the time step.
    """
    half_column = case.length / len(field.x) / 2
    walls = case.walls
    outside = np.abs(field.x - walls.middle_x) - walls.half_length
    return (outside > -half_column) & (outside < walls.layer + half_column)


def far_apart(first: list[Field], second: list[Field], case: Channel, reach: float) -> dict[str, float]:
    """The largest distance of two runs in each middle profile, over the largest velocity of the second."""
    one, two = (at_middles(mean_field(windows), case, reach) for windows in (first, second))
    fastest = max(float(np.nanmax(velocity)) for velocity in two.values())
    return {p: distances({"first": one[p], "second": two[p]}, fastest)["first and second"] for p in two}


def block_scatter(first: list[Field], second: list[Field], case: Channel, reach: float) -> float:
    """How far the largest distance of two runs lies from that of other runs, by block averaging.

    Each pair of blocks of windows gives a largest distance. A block has an error larger by the root of `BLOCKS` than
    all windows, and the distances of blocks scatter as much more. nan with fewer windows than blocks.
    """
    sizes = [len(windows) // BLOCKS for windows in (first, second)]
    if 0 in sizes:
        return float("nan")
    one, two = ([w[k * n : (k + 1) * n] for k in range(BLOCKS)] for w, n in zip((first, second), sizes, strict=True))
    blocks = [far_apart(*pair, case, reach) for pair in zip(one, two, strict=True)]
    largest = [max(apart.values()) for apart in blocks]
    return (max(largest) - min(largest)) / sqrt(BLOCKS)


def by_chance(error: float, bins: int) -> float:
    """The largest distance by chance alone between two averages in `bins` bins, each with `error`: its median."""
    return error * sqrt(2) * float(norm.ppf((1 + 0.5 ** (1 / bins)) / 2))


def creeping_speed(case: Channel, kinematic: float) -> float:
    """The largest speed in the narrow part without inertia (creeping flow), an upper bound.

    Both parts are then plane Poiseuille flows with one flow rate, and their forces sum to the body force:
    g L = g_n (L_n + L_w (h / H)^3), v = g_n h^2 / (8 nu) with h the gap and H the height of the wide part.
    """
    wide = (case.length - case.narrow_length) * (case.gap / case.height) ** 3
    narrow_force = case.drive * case.length / (case.narrow_length + wide)
    return narrow_force * case.gap**2 / (8 * kinematic)


@dataclass(frozen=True)
class Comparison:
    """Two averages at the two middle sections: of CPU and device, or of late windows of a run and those before."""

    #: heights above the lower wall, and velocities by run and section
    z: np.ndarray
    profiles: dict[str, dict[str, np.ndarray]]
    #: the distance at each section by itself
    local: dict[str, Apart]
    #: the largest velocity of the run that is the scale
    fastest: float
    #: the largest distance by chance alone, over the largest velocity
    chance: float
    #: how far `largest` lies from that of other runs, see `block_scatter`
    scatter: float
    #: windows in which the flow has settled, in the run that has fewer
    fewest: int

    @property
    def apart(self) -> dict[str, float]:
        """The largest distance at each section, over the largest velocity."""
        return {place: own.largest / self.fastest for place, own in self.local.items()}

    @property
    def largest(self) -> float:
        """The larger distance of both sections: what is judged."""
        return max(self.apart.values())

    @property
    def resolved(self) -> bool:
        """Whether a distance of `AGREEMENT` can be told from chance."""
        return self.fewest >= FEWEST_WINDOWS and self.chance < AGREEMENT


def relaxation(case: Channel) -> float:
    """The time in which friction alone lets the flow of the wide part settle, in DPD time: an upper bound."""
    return relaxation_time(case.height, kinematic_viscosity(case.fluid))


def settled(run: Flow, case: Channel) -> list[Field]:
    """The windows of a run in which the flow of the wide part has settled; there may be none."""
    try:
        return run.settled(relaxation(case))
    except InputError:
        return []


def compare(runs: dict[str, Flow], case: Channel) -> Comparison:
    """Compare two runs, {"CPU": run, name: run}, in the windows in which the flow has settled.

    Where a run has less than two of these, its last two are shown; such runs judge nothing.
    """
    counted = {name: settled(run, case) for name, run in runs.items()}
    kept = {name: each if len(each) > 1 else runs[name].windows[-2:] for name, each in counted.items()}
    _, device = runs
    return _between(kept, case, device, min(map(len, counted.values())))


def last_windows(run: Flow, case: Channel) -> Comparison:
    """Compare the last two windows of a run with the two before, to see whether the flow is steady."""
    pairs = {"last two windows": run.windows[-2:], "two before": run.windows[-4:-2]}
    return _between(pairs, case, "last two windows", 0)


def _between(kept: dict[str, list[Field]], case: Channel, scale: str, fewest: int) -> Comparison:
    """Compare the windows of two runs, by name; the largest velocity is that of the run `scale`."""
    reach = case.length / 20
    (other,) = kept.keys() - {scale}
    profiles = {name: at_middles(mean_field(windows), case, reach) for name, windows in kept.items()}
    velocity = np.concatenate(list(profiles[scale].values()))
    fastest = float(np.nanmax(velocity))
    # of a bin of either run: the mean of the squares of both
    squares = [section_scatter(each, case, reach) ** 2 / len(each) for each in kept.values()]
    return Comparison(
        z=kept[scale][0].z - case.walls.bottom,
        profiles=profiles,
        local=apart_locally(kept[other], kept[scale], case, reach),
        fastest=fastest,
        chance=by_chance(sqrt(sum(squares) / 2) / fastest, int(np.isfinite(velocity).sum())),
        scatter=block_scatter(kept[other], kept[scale], case, reach),
        fewest=fewest,
    )


def middle_velocities(run: Flow, case: Channel) -> dict[str, np.ndarray]:
    """The velocity on the axis at each middle section, window by window."""
    profiles = [at_middles(f, case, case.length / 20) for f in run.windows]
    middle = slice(len(run.windows[0].z) // 2 - 1, len(run.windows[0].z) // 2 + 1)
    return {place: np.array([each[place][middle].mean() for each in profiles]) for place in profiles[0]}


def snapshot(run: Flow, case: Channel, most: int = 5000) -> dict[str, np.ndarray]:
    """About `most` fluid particles at most, in a slice across y, and where they were `run.seen` steps before.

    {"x", "z": coordinates over the lower plate, "x before", "z before"}.
    """
    before, after = (positions[: run.system.moving] for positions in run.snapshots)
    low, inside = case.walls.bottom, after[:, 1] < case.width * min(1.0, most / run.system.moving)
    found = {"x": after[inside, 0], "z": after[inside, 2] - low}
    return found | {"x before": before[inside, 0], "z before": before[inside, 2] - low}


def drives(case: Channel, small: Channel) -> pd.DataFrame:
    """The largest speeds without inertia, their Mach numbers, and relaxation in steps of both parts, by channel."""
    rows = []
    for name, channel in (("this run", case), ("small", small), ("the plane flow's force", Channel(drive=0.02))):
        nu, dt = kinematic_viscosity(channel.fluid), channel.fluid.dt
        speed = creeping_speed(channel, nu)
        steps = [relaxation_time(height, nu) / dt for height in (channel.gap, channel.height)]
        rows.append((name, channel.drive, speed, speed / sound_speed(channel.fluid), *steps))
    names = ["channel", "force", "at most", "Mach", "narrow part (steps)", "wide part (steps)"]
    return pd.DataFrame(rows, columns=names).round(3)


def apart_table(both: Comparison) -> pd.DataFrame:
    """How far CPU and device are apart at each section, and by chance, in % of the section's own largest velocity."""
    rows = []
    for place, own in both.local.items():
        largest, chance = (100 * distance / own.fastest for distance in (own.largest, own.chance))
        rows.append((place, 100 * both.apart[place], largest, chance, own.rms / own.error if own.error else np.nan))
    names = ["section", "of the largest (%)", "of its own (%)", "by chance (%)", "root mean square over scatter"]
    return pd.DataFrame(rows, columns=names).round(2)


def steady(late: Comparison) -> dict:
    """The largest change of the profiles and the limit in %; holds if it is less, and noise alone makes less."""
    holds = late.largest < AGREEMENT and late.chance <= AGREEMENT
    return {"change": 100 * late.largest, "limit": 100 * AGREEMENT, "holds": holds}


def rates(run: Flow, case: Channel) -> dict:
    """How much the flow rate varies over the sections and from the last window but one, in %; holds if both by less."""
    kept = ~beside_faces(run.windows[0], case)
    last = np.array([rate[kept] for rate in rates_by_window(run, case)[-3:]])
    over, late = last.mean(0).std(ddof=1) / last.mean(), last[-1].mean() / last[-2].mean() - 1
    return {"over": 100 * over, "late": 100 * late, "holds": max(abs(over), abs(late)) < AGREEMENT}


def paper_particles() -> tuple[int, int]:
    """Numbers of fluid particles and of wall particles, in three planes, of the paper's channel.

    Counted in a slice: the channel repeats itself along y.
    """
    piece = Channel(width=3.0, frozen=None).system()
    slices = int(Channel.width / piece.box[1])
    return slices * piece.moving, slices * (piece.count - piece.moving)
