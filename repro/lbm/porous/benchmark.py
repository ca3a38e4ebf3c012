"""Speed of the strategies for porous media, measured only after their physics has been checked."""

from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from repro.parallel import CpuDevice, InputError, copy_bandwidth, measure, select

from ..benchmark import INCLUDES, TOLERANCE, CheckError, steps_for, uniform_flow
from ..lattice import D3Q19
from ..media import PoreSpace, sphere_crystal
from .node_map import map_pores
from .problem import PorousProblem
from .simulation import PorousFlow


@dataclass(frozen=True)
class PorousSpeed:
    """One measured speed: whole time steps, without a copy to the host."""

    case: str
    device: str
    hardware: str
    strategy: str
    collision: str
    precision: str
    block: int
    size: str
    porosity: float
    #: updates of all nodes of the box, solid included (equation 5.5)
    mlups: float
    #: updates of pores
    mflups: float
    seconds: float
    spread: float
    #: bytes a second that the strategy must move at this speed
    bandwidth: float
    check: str


def check_strategy(problem: PorousProblem, device, *, strategy, precision, block, steps: int = 10) -> str:
    """Run the strategy on a small crystal against another one, node by node on one core; returns what was found.

    Raises CheckError where they differ by more than rounding.
    """
    small = replace(problem, space=PoreSpace(sphere_crystal(12, 0.8)))
    tested = PorousFlow(small, device, strategy=strategy, precision=precision, block=block)
    other = "flag word" if strategy == "sparse" else "sparse"
    reference = PorousFlow(small, select("serial"), strategy=other, precision=precision)
    for flow in (tested, reference):
        flow.set_populations(uniform_flow(D3Q19))
        flow.step(steps)
    expected = reference.fields()[1]
    difference = np.abs(tested.fields()[1] - expected).max() / np.abs(expected).max()
    if not difference <= TOLERANCE[precision]:
        raise CheckError(f"{strategy} on {device.name} differs from {other} by {difference:.2e} in {steps} steps")
    return f"velocity within {difference:.1e} of serial {other} after {steps} steps on 12 x 12 x 12"


def measure_speed(
    case: str, space: PoreSpace, device, *, strategy, collision="mrt", precision="single", block=64, seconds=0.2
) -> PorousSpeed:
    """Check the strategy, then time it on the image: five repetitions of about `seconds`."""
    if not seconds > 0:
        raise InputError(f"seconds = {seconds}: a repetition must take some time, such as 0.2")
    problem = PorousProblem(space, 0.8, (1e-6, 0.0, 0.0), collision)
    options = {"strategy": strategy, "precision": precision, "block": block}
    check = check_strategy(problem, device, **options)
    flow = PorousFlow(problem, device, **options)
    flow.set_populations(uniform_flow(D3Q19))
    steps = steps_for(flow, seconds)
    timing = measure(lambda: flow.advance(steps), device)
    flow.step(1)
    rate = space.pores * steps / timing.seconds
    return PorousSpeed(
        case=case,
        device=device.name,
        hardware=device.description,
        collision=collision,
        size=" x ".join(map(str, space.shape)),
        porosity=space.porosity,
        mlups=rate / space.porosity / 1e6,
        mflups=rate / 1e6,
        seconds=timing.seconds / steps,
        spread=timing.spread,
        bandwidth=rate * flow.bytes_per_update,
        check=check,
        **options,
    )


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, space, device, options); one row a speed, with `roof`, the share of copy bandwidth.

    Every speed is handed to the notebook's `record`.
    """
    roofs, rows = {}, []
    for case, space, device, options in runs:
        roofs[repr(device)] = roofs.get(repr(device)) or copy_bandwidth(device)
        speed = asdict(measure_speed(case, space, device, **options))
        rows.append(speed | {"roof": speed["bandwidth"] / roofs[repr(device)]})
        if record is not None:
            record.timing(**rows[-1], includes=INCLUDES)
    return pd.DataFrame(rows)


def cpu_baselines(space: PoreSpace, record=None, **options) -> pd.DataFrame:
    """The three CPU baselines as `speed_table` has them: node by node, rows on one core, rows on all cores."""
    devices = {
        "node by node": select("serial"),
        "rows": CpuDevice("threads", workers=1),
        "rows, all cores": select("threads"),
    }
    table = speed_table([(name, space, device, options) for name, device in devices.items()], record)
    table.index = pd.Index(list(devices), name="baseline")
    return table


def mapping_time(space: PoreSpace, device) -> float:
    """Seconds to number the pores and connect them on the device, the image's way there included."""
    problem = PorousProblem(space, 0.8, (0.0, 0.0, 0.0))
    map_pores(problem, device)
    device.synchronise()
    return device.clock(lambda: map_pores(problem, device))


def memory_table(strategies: dict, porosity: float) -> pd.DataFrame:
    """Bytes a node of the box that each strategy keeps, and the porosity below which a sparse one keeps less.

    Columns strategy, precision, bytes a node, break-even against the flag word.
    """
    rows = []
    for precision, itemsize in (("single", 4), ("double", 8)):
        dense = strategies["flag word"].COST
        for name, module in strategies.items():
            limit = np.nan if module.COST.dense else module.COST.break_even(dense, itemsize)
            rows.append((name, precision, module.COST.bytes_per_node(itemsize, porosity), limit))
    return pd.DataFrame(rows, columns=["strategy", "precision", "bytes a node", "saves memory below porosity"])


def measured_bytes(space: PoreSpace, device, strategy: str, precision: str) -> float:
    """Bytes a node of the box that the arrays of a running flow occupy, fields left out."""
    flow = PorousFlow(PorousProblem(space, 0.8, (0.0, 0.0, 0.0)), device, strategy=strategy, precision=precision)
    return flow.kept_bytes / space.solid.size
