"""The sentences with numbers of the notebooks on two fluids in porous media, as Markdown."""

import numpy as np
import pandas as pd

from repro.lbm.media import PoreSpace

from .media import Kept, Run, pore_width

#: share of the solid surface that counts as few
FEW = 0.05

#: how many times its last area an interface has while it still shrinks
PLATEAU = 1.1

#: the phases as the paper calls them
FLUIDS = {"f": "non-wetting", "g": "wetting"}


def image_text(space: PoreSpace) -> str:
    """Size and porosity of an image, and the width of its pores."""
    return (
        f"{' x '.join(map(str, space.shape))} nodes, porosity {space.porosity:.3f}, {space.pores:,} pore "
        f"nodes; these lie as far from walls as in a channel {pore_width(space):.1f} nodes wide."
    )


def surround_text(run: Run, steps) -> str:
    """Who lies on the solid at the given steps, and how soon that was decided."""
    rows, first = run.table.set_index("step").loc[list(steps)], run.table.iloc[0]
    few = run.table.loc[run.table["covered"] < FEW, "step"]
    soon = f"less than {100 * FEW:g} % by step {few.iloc[0]}" if len(few) else "never few"
    return (
        f"Fluid g, which the solid attracts, covers {100 * (1 - rows['covered'].max()):.1f} to "
        f"{100 * (1 - rows['covered'].min()):.1f} % of the solid surface in these pictures, though it fills only "
        f"{100 * (1 - rows['saturation'].max()):.1f} to {100 * (1 - rows['saturation'].min()):.1f} % of the pores. "
        f"Fluid f covered {100 * first['covered']:.0f} % at step {int(first['step'])}, {soon}."
    )


def controls_text(table: pd.DataFrame) -> str:
    """Who lies on the solid at the end of each run, from `media.summary`."""
    parts = [
        f"{name} (G_fs = {row['wetting']:g}): fluid f covers {100 * row['covered']:.1f} % of the solid and fills "
        f"{100 * row['saturation']:.1f} % of the pores"
        for name, row in table.iterrows()
    ]
    return "; ".join(parts) + "."


def flow_text(run: Run) -> str:
    """How much of each phase flows, per what there is of it."""
    last = run.last
    speeds = {"f": last["flow f"] / last["saturation"], "g": last["flow g"] / (1 - last["saturation"])}
    fast, slow = sorted(speeds, key=speeds.get, reverse=True)
    return (
        f"At the end the flow is {1e3 * last['flow f']:.3f} of f and {1e3 * last['flow g']:.3f} of g, in 1e-3 nodes a "
        f"step. Per volume, the {FLUIDS[fast]} phase moves {speeds[fast] / speeds[slow]:.2f} times as fast as the "
        f"{FLUIDS[slow]} one."
    )


def drop_text(table: pd.DataFrame) -> str:
    """What became of the drops, from `media.drops`."""
    parts = []
    for row in table.itertuples():
        share = f"behind {100 * row.covered:.1f} % of the plates' surface there is f"
        if np.isnan(row.radius):
            parts.append(f"At G_fs = {row.wetting:g} no drop is left that a circle describes: {share}.")
        else:
            gap = row.height - row.radius
            where = f"its lowest point {gap:.1f} nodes above the plate" if gap > 0 else "on the plate"
            parts.append(
                f"At G_fs = {row.wetting:g} the drop is a circle to {row.residual:.2f} nodes, {where}: {share}."
            )
    return " ".join(parts)


def angle_note(table: pd.DataFrame) -> str:
    """How the angle of the non-wetting drop came about."""
    row = next(row for row in table.itertuples() if row.wetting > 0)
    circle = f"circle of radius {row.radius:.1f}, its centre {row.height:.1f} nodes over the plate"
    return f"{circle}; f lies on {100 * row.covered:.1f} % of the plates"


def coarsening_text(run: Run) -> str:
    """How the interface shrinks until it hardly changes any more, and what else happens over the steps."""
    rows, last = run.table[run.table["step"] >= 100], run.last
    grow, text = rows[rows["interface"] > PLATEAU * last["interface"]], ""
    if len(grow) > 2:
        slope = np.polyfit(np.log(grow["step"]), np.log(grow["interface"]), 1)[0]
        text = (
            f"From step {int(grow['step'].iloc[0])} to {int(grow['step'].iloc[-1])} the interface shrinks from "
            f"{grow['interface'].iloc[0]:.4f} to {grow['interface'].iloc[-1]:.4f} per node, on average as the power "
            f"{slope:.2f} of the time; at step {int(last['step'])} it is {last['interface']:.4f}. "
        )
    return text + (
        f"At the end fluid g covers {100 * (1 - last['covered']):.1f} % of the solid, fluid f fills "
        f"{100 * last['saturation']:.1f} % of the pores, and the phases are {int(last['pieces f'])} and "
        f"{int(last['pieces g'])} pieces."
    )


def conservation_text(table: pd.DataFrame) -> str:
    """Whether the masses are kept, from `media.with_run`."""
    parts = []
    for row in table.itertuples(index=False):
        _, _, steps, first, second, allowed = row
        drift = max(abs(first), abs(second))
        verdict = "less" if drift < allowed else "**more**"
        parts.append(f"{row.precision}, {row.size}: {drift:.1e} over {steps} steps, {verdict} than {allowed:g}")
    return "Largest relative change of a fluid's mass: " + "; ".join(parts) + "."


def kept_text(kept: Kept) -> str:
    """What was written, and that it continues bit for bit."""
    return (
        f"At step {kept.step} a checkpoint of {kept.checkpoint:.1f} MB and a VTK image of {kept.image:.1f} MB were "
        f"written. The run and what was read back went on for {kept.further} steps and did not differ in a bit."
    )
