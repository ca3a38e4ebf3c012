"""Two fluids that part in the pores of an image while a force drives them (section 6.3): what happens over time.

Fluid a is the paper's f, fluid b its g.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import ndimage

from repro.errors import CheckError, DivergenceError, InputError, require_whole
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids import checkpoint
from repro.lbm.two_fluids.cases import Drop, Mixture
from repro.lbm.two_fluids.observables import contact_angle
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.wetting import PHASE_A, PHASE_B, covered, phases, wetting

#: how strongly the solid repels fluid f, and attracts g, in each case
WETTINGS = {"as in the paper": 0.03, "exchanged": -0.03, "neutral": 0.0}

#: first step at which a run is looked at: nodes are still filled one by one before
FIRST = 20

#: relative change of a mass over a whole run that is put down to rounding
DRIFTS = {"single": 1e-5, "double": 1e-12}

#: how many times its last area an interface has while it still shrinks
PLATEAU = 1.1

#: distance of a circle from a drop's surface, in nodes, beyond which the drop is none
ROUND = 0.5


def pore_width(space: PoreSpace) -> float:
    """Width in nodes of the straight channel in which nodes lie as far from the walls as in the pores, on average."""
    # what is nearest may lie behind a face of the box
    reach = [extent // 4 for extent in space.solid.shape]
    around = np.pad(~space.solid, [(r, r) for r in reach], mode="wrap")
    inner = tuple(slice(r, r + extent) for r, extent in zip(reach, space.solid.shape, strict=True))
    distance = ndimage.distance_transform_edt(around)[inner][~space.solid]
    # the wall is half-way to the next node; in a channel of width w the mean is w/4
    return float(4 * (distance - 0.5).mean())


@dataclass(frozen=True)
class Run:
    """A run that was looked at now and then."""

    case: Mixture
    flow: TwoFluidFlow
    #: one row a look, see `follow`
    table: pd.DataFrame
    #: images of the phases (`wetting.phases`) by step
    images: dict[int, np.ndarray]

    @property
    def last(self) -> pd.Series:
        """The last look."""
        return self.table.iloc[-1]


def looks(last: int, count: int, also=()) -> list[int]:
    """`count` steps from FIRST to `last`, evenly spread on a logarithmic scale, and those of `also`, up to `last`."""
    require_whole("looks", count, 1, 10_000)
    for step in also:
        require_whole("step of a picture", step, 1, last)
    steps = {round(step) for step in np.geomspace(min(FIRST, last), last, count)}
    return sorted(steps | set(also))


def follow(case: Mixture, device, steps, *, negative: bool = False, **options) -> Run:
    """Run a mixture and look at it at the given steps; `options` as of TwoFluidFlow.

    With `negative` a run goes on where a density falls below zero for a while, as programs do that do not look for it;
    DivergenceError where one is not finite.

    Columns: step; saturation, the share of the pores in the phase of f; covered, the share of the solid surface behind
    which there is f; interface, the area between the phases over the volume of the image; pieces f and pieces g, how
    many clusters each phase has; flow f and flow g, the volume that flows in each phase along x through a unit of cross
    section in a step; drift f and drift g, by how much the fluid's mass has changed over what it was.
    """
    flow, rows, images = case.start(device, **options), [], {}
    masses, solid = flow.masses(), flow.problem.space.solid
    go_on = flow.advance if negative else flow.step
    for step in steps:
        go_on(step - flow.steps)
        a, b, velocity = flow.fields()
        if not np.isfinite(a + b).all():
            raise DivergenceError(f"a density is not finite by step {step}")
        images[step], found = phases(a, b, solid), wetting(a, b, solid)
        row = {"step": flow.steps, "saturation": found.saturation, "covered": found.covered}
        row |= {"interface": found.interface / solid.size, "pieces f": found.clusters[0], "pieces g": found.clusters[1]}
        for name, phase in (("flow f", PHASE_A), ("flow g", PHASE_B)):
            row[name] = float(velocity[0][images[step] == phase].sum()) / solid.size
        rows.append(row | _drifts(flow, masses))
    return Run(case, flow, pd.DataFrame(rows), images)


def controls(space: PoreSpace, device, steps, snapshots, **options) -> dict[str, Run]:
    """The paper's case, looked at at all `steps`, and the two others of WETTINGS at the snapshots only."""
    chosen = {name: steps if wet == WETTINGS["as in the paper"] else snapshots for name, wet in WETTINGS.items()}
    return {name: follow(Mixture(space, wetting=WETTINGS[name]), device, at, **options) for name, at in chosen.items()}


def summary(runs: dict[str, Run]) -> pd.DataFrame:
    """The last look at each run, one row a run, by name; the wetting G_fs = -G_gs before."""
    last = pd.concat({name: run.table.tail(1).assign(wetting=run.case.wetting) for name, run in runs.items()})
    last.insert(0, "wetting", last.pop("wetting"))
    return last.droplevel(1).rename_axis("case")


def surrounds(run: Run, steps) -> dict:
    """The least share of the solid that fluid g covers at these steps, and the pores it fills, in %.

    Holds if it covers nine tenths, and more than half again of what it fills.
    """
    rows = run.table.set_index("step").loc[list(steps)]
    least, pores = 1 - rows["covered"].max(), 1 - rows["saturation"].min()
    return {"least": 100 * least, "pores": 100 * pores, "holds": bool(least > max(0.9, 1.5 * pores))}


def headline(run: Run) -> str:
    """What fluid g covers and fills at the last look, and what the paper says of that, in a line."""
    last = run.last
    covers, fills = (f"{100 * (1 - last[name]):.0f} %" for name in ("covered", "saturation"))
    ours = (
        f"After {last['step']:,.0f} steps the wetting fluid covers {covers} of the solid and fills {fills} of the pores"
    )
    return f"{ours}; the paper says that it surrounds the solid"


def over_its_share(run: Run, steps) -> float:
    """The least of these steps of what fluid g covers of the solid over what it fills of the pores."""
    rows = run.table.set_index("step").loc[list(steps)]
    return float(((1 - rows["covered"]) / (1 - rows["saturation"])).min())


def with_six_neighbours(space: PoreSpace, device, steps, **options) -> float:
    """`over_its_share` with central differences over six neighbours alone; not a number where the fluids diverge.

    From the random filling a density falls below zero at a node or two, in the first hundred steps.
    """
    case = Mixture(space, stencil="central")
    try:
        return over_its_share(follow(case, device, steps, negative=True, **options), steps)
    except DivergenceError:
        return np.nan


def turned_round(table: pd.DataFrame) -> dict:
    """What fluid f covers with exchanged strengths and as in the paper, in %, of `summary`.

    Holds if it is nearly all and nearly nothing, and about what it fills where walls are neutral.
    """
    exchanged, paper = (100 * table.loc[name, "covered"] for name in ("exchanged", "as in the paper"))
    neutral = table.loc["neutral"]
    even = abs(neutral["covered"] - neutral["saturation"]) < 0.1
    return {"exchanged": exchanged, "paper": paper, "holds": bool(exchanged > 90 and paper < 10 and even)}


def faster(run: Run) -> dict:
    """How many times as fast as the wetting phase the non-wetting one moves, per volume; holds if faster."""
    last = run.last
    times = last["flow f"] / last["saturation"] / (last["flow g"] / (1 - last["saturation"]))
    return {"times": float(times), "holds": times > 1}


def coarsening(run: Run) -> dict:
    """The power of the time as which the interface shrinks before its plateau, and the interface at the end.

    Looks count from step 100 on as long as it is a tenth above its last value. Holds between -2/3 and -1/3, as inertia
    and diffusion would have it.
    """
    rows, last = run.table[run.table["step"] >= 100], run.last["interface"]
    shrinks = rows[rows["interface"] > PLATEAU * last]
    power = np.polyfit(np.log(shrinks["step"]), np.log(shrinks["interface"]), 1)[0] if len(shrinks) > 2 else 0.0
    return {"power": float(power), "last": float(last), "holds": -2 / 3 <= power <= -1 / 3}


def drops(cases: list[Drop], device, steps: int, **options) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """Drops of fluid f on a plate after so many steps: a table, and the images of their phases.

    Columns wetting; angle in degrees, NaN where the drop does not touch the plate along a line; radius, height of the
    circle's centre over the plate and residual in nodes, NaN where there is no drop that a circle describes; base (%),
    what it covers of the plates over the base of the half circle that it starts from.
    """
    rows, images = [], []
    for case in cases:
        flow = case.start(device, **options)
        flow.step(steps)
        a, b, _ = flow.fields()
        images.append(phases(a, b, flow.problem.space.solid))
        base = 100 * covered(images[-1]) * case.length / case.radius
        rows.append((case.wetting, *_circle(a, b), base))
    return pd.DataFrame(rows, columns=["wetting", "angle", "radius", "height", "residual", "base (%)"]), images


def _circle(a, b) -> tuple[float, float, float, float]:
    """Angle, radius, height and residual of `contact_angle`; all NaN where no circle describes the surface."""
    try:
        found = contact_angle(a, b)
    except InputError:
        found = None
    if found is None or found.residual >= ROUND:
        return (np.nan,) * 4
    return found.angle, found.radius, found.height, found.residual


def conservation(run: Run, space: PoreSpace, steps: int, precisions) -> pd.DataFrame:
    """By how much the fluids' masses change in a run, and over `steps` in another space in each of the precisions."""
    drifts = [(run.flow, run.last[["drift f", "drift g"]].to_dict())]
    for precision in precisions:
        flow = Mixture(space).start(run.flow.device, precision=precision)
        before = flow.masses()
        flow.advance(steps)
        drifts.append((flow, _drifts(flow, before)))
    rows = []
    for flow, drift in drifts:
        about = {"precision": flow.precision, "size": " x ".join(map(str, flow.problem.space.shape))}
        rows.append(about | {"steps": flow.steps} | drift | {"allowed": DRIFTS[flow.precision]})
    return pd.DataFrame(rows)


def _drifts(flow: TwoFluidFlow, before) -> dict[str, float]:
    both = zip(("drift f", "drift g"), flow.masses(), before, strict=True)
    return {name: now / then - 1 for name, now, then in both}


def keep(flow: TwoFluidFlow, image: Path, further: int) -> None:
    """Write the state as a VTK file, and as a checkpoint to go on from, beside the run itself.

    CheckError if the two differ in a single bit after `further` steps. The checkpoint is not kept.
    """
    step = flow.steps
    checkpoint.write_vtk(flow, image)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.h5"
        checkpoint.save(flow, file)
        again = checkpoint.load(file, flow.device)
    for run in (flow, again):
        run.step(further)
    states = [[flow.device.to_host(array) for array in run.state] for run in (flow, again)]
    if not all(np.array_equal(one, other) for one, other in zip(*states, strict=True)):
        raise CheckError(f"a run from the checkpoint of step {step} differs after {further} steps")
