"""Sentences of the notebook on the channel that narrows and widens, as Markdown, with their numbers."""

from repro.dpd import exact
from repro.dpd.cases import Channel

from . import flows, sections
from .sections import Comparison, LastWindows

#: relaxation times in a window from which the slowest mode's means over neighbouring ones correlate by less than 0.2
INDEPENDENT = 4.0


def drives(case: Channel, small: Channel, steps: int) -> str:
    """The Mach numbers that the forces allow, and the steps in which the flow of `case` settles."""
    nu, sound = flows.kinematic_viscosity(case.fluid), exact.sound_speed(case.fluid)
    paper = Channel(drive=0.02)
    fastest, of_small, of_paper = (sections.creeping_speed(each, nu) for each in (case, small, paper))
    narrow, wide = flows.relaxation_time(case.gap, nu) / case.fluid.dt, sections.relaxation(case) / case.fluid.dt
    return (
        f"Force {case.drive:g}: at most {fastest:.2f} in the narrow part, Mach {fastest / sound:.2f}; the small "
        f"channel with {small.drive:g}: Mach {of_small / sound:.2f}. In the paper's channel the force of the plane "
        f"flow, {paper.drive:g}, would allow up to Mach {of_paper / sound:.2f}. The relaxation "
        f"time of the narrow part is {narrow:.0f} steps, that of the wide part {wide:.0f}; this run has {steps}."
    )


def particles(fluid: int, walls: int) -> str:
    """The numbers of fluid and wall particles, from `sections.paper_particles`."""
    return (
        f"Fluid: {fluid}, the paper's number, from which the gap was derived. Walls: {walls} in three planes of a "
        f"lattice of the fluid's density, {100 * (walls / Channel.frozen - 1):+.1f} % from the paper's "
        f"{Channel.frozen}; the paper does not say where they sit."
    )


def comparison(both: Comparison, case: Channel) -> str:
    """How far CPU and device are apart, and how much of that is statistical error."""
    apart = ", ".join(f"{place} part **{100 * d:.1f} %**" for place, d in both.apart.items())
    return (
        f"Largest distance over the largest velocity: {apart}. The scatter of the windows gives each average an "
        f"error of {100 * both.noise:.1f} %, so that chance alone makes a largest distance of about "
        f"{100 * both.chance:.1f} %. The largest velocity is {both.fastest:.2f}, Mach "
        f"{both.fastest / exact.sound_speed(case.fluid):.2f}. {_locally(both)}"
    )


def _locally(both: Comparison) -> str:
    """The distances over each section's own largest velocity, beside chance."""
    each = "; ".join(
        f"{place} part {100 * d.largest / d.fastest:.1f} %, by chance {100 * d.chance / d.fastest:.1f} %"
        for place, d in both.local.items()
    )
    ratios = " and ".join(f"{d.rms / d.error:.2f}" for d in both.local.values())
    return (
        f"Over each section's own largest velocity the largest distances are: {each}. The root mean square of the "
        f"distances is {ratios} times what the scatter of two runs of one flow makes. {_independence(both)}"
    )


def _independence(both: Comparison) -> str:
    """Whether the windows count as independent, on which the stated chance rests."""
    long = f"A window is {both.relaxations:.2g} times the relaxation time of the wide part long"
    if both.relaxations < INDEPENDENT:
        return f"{long}: neighbouring ones may still be alike, so that chance may make more than stated."
    return f"{long}, so that neighbouring ones are nearly independent."


def steadiness(run: flows.Flow, case: Channel) -> str:
    """How much the flow rate varies over the sections, and from the last window but one to the last."""
    mean, over_x, error = sections.rate_spread(run.windows[-3:], case)
    before, last = (sections.mean_rate(field, case) for field in run.windows[-2:])
    return (
        f"Mean flow rate {mean:.1f} particles a unit of time. It varies by **{100 * over_x / mean:.1f} %** over the "
        "sections, those beside the blocks' faces left out, where one section's standard error is "
        f"{100 * error / mean:.1f} %. From the last window but one to the last it changed by "
        f"{100 * (last / before - 1):+.1f} %."
    )


def last_windows(late: LastWindows, case: Channel) -> str:
    """The largest velocity at the two sections, and how much the profiles still changed."""
    sound, nu = exact.sound_speed(case.fluid), flows.kinematic_viscosity(case.fluid)
    share = late.fastest / sections.creeping_speed(case, nu)
    return (
        f"The largest velocity at the two sections is {late.fastest:.2f}, Mach {late.fastest / sound:.2f}, "
        f"{100 * share:.0f} % of the bound without inertia. Between the two pairs of windows the profiles changed by "
        f"at most {100 * late.changed['wide']:.1f} % (wide part) and {100 * late.changed['narrow']:.1f} % (narrow "
        "part) of the largest velocity."
    )


def comparison_note(both: Comparison, case: Channel, steps: int) -> str:
    """What was compared, for the verdict; `steps` is the length of a window."""
    size = " x ".join(f"{side:g}" for side in (case.length, case.width, case.height))
    own = " and ".join(
        f"{100 * d.largest / d.fastest:.1f} % ({place}, by chance {100 * d.chance / d.fastest:.1f} %)"
        for place, d in both.local.items()
    )
    lengths = " and ".join(f"{name} over {count * steps} steps" for name, count in both.windows.items())
    return (
        f"channel of {size}, gap {case.gap:g}, {lengths}; chance alone "
        f"makes {100 * both.chance:.1f} %; over each section's own largest velocity {own}; scatter from "
        f"{sections.BLOCKS} blocks of the windows"
    )


def not_resolved(both: Comparison) -> str:
    """Why this run cannot judge the agreement of CPU and device."""
    return (
        f"{100 * sections.AGREEMENT:g} % can be told where chance alone makes less, from four windows at least in "
        f"which the flow has settled: here {both.fewest} have, and chance makes {100 * both.chance:.1f} %"
    )


def state(late: LastWindows, run: flows.Flow) -> str:
    """Whether the last windows show a steady flow, or one that still develops."""
    change = f"{100 * max(late.changed.values()):.1f} % of the largest velocity from one pair of windows to the next"
    limit = f"{100 * sections.AGREEMENT:g} %"
    if late.chance > sections.AGREEMENT:
        return (
            f"At step {run.ends[-1]} this run cannot tell whether the flow is steady: its profiles "
            f"changed by {change}, where noise alone makes about {100 * late.chance:.0f} %."
        )
    if late.settled:
        return (
            f"At step {run.ends[-1]} the flow is **steady within {limit}**: its profiles changed by {change}, "
            f"{2 * run.window} steps. What changes more slowly, such as eddies that only friction lets settle, this "
            "does not show."
        )
    return (
        f"At step {run.ends[-1]} the flow is still **developing**: its profiles changed by {change}, where less than "
        f"{limit} counts as steady. The map, the rates and the sections below are those of a transient."
    )
