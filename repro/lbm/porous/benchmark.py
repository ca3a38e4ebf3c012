"""Speed of the strategies for porous media, measured only after their physics has been checked."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from repro.parallel import CpuDevice, InputError, copy_bandwidth, measure, select

from .. import benchmark
from ..benchmark import TOLERANCE, CheckError, steps_for, uniform_flow
from ..lattice import D3Q19
from ..media import PoreSpace, random_blocks, random_spheres, sphere_crystal
from .node_map import map_pores
from .problem import PorousProblem
from .simulation import PorousFlow
from .strategies import STRATEGIES


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
    return benchmark.speed_table(runs, record, measured=measure_speed)


def cpu_baselines(space: PoreSpace, record=None, **options) -> pd.DataFrame:
    """The CPU baselines as `speed_table` has them, indexed by name.

    The sparse list node by node, in rows on one core and in rows on all cores, and the flag word node by node.
    """
    serial, rows = select("serial"), CpuDevice("threads", workers=1)
    runs = {
        "node by node": (serial, "sparse"),
        "rows": (rows, "sparse"),
        "rows, all cores": (select("threads"), "sparse"),
        "flag word, node by node": (serial, "flag word"),
    }
    table = speed_table(
        [(name, space, device, {"strategy": strategy} | options) for name, (device, strategy) in runs.items()], record
    )
    table.index = pd.Index(list(runs), name="baseline")
    return table


def over_porosity(spaces, strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of each strategy on each image."""
    runs = [
        (f"{strategy}, porosity {space.porosity:.3f}", space, device, {"strategy": strategy} | options)
        for strategy in strategies
        for space in spaces
    ]
    return speed_table(runs, record)


def flag_word_variants(spaces, device, blocks, record=None, **options) -> pd.DataFrame:
    """MLUPS of the flag word with MRT in single precision for each block size, with BGK, and in double precision.

    One row an image; columns porosity, the block sizes, "bgk" and "double" (both with the first block size).
    """
    variants = {block: {"block": block} for block in blocks}
    variants["bgk"] = {"block": blocks[0], "collision": "bgk"}
    variants["double"] = {"block": blocks[0], "precision": "double"}
    table = pd.DataFrame({"porosity": [space.porosity for space in spaces]})
    for name, variant in variants.items():
        table[name] = over_porosity(spaces, ["flag word"], device, record, **options, **variant)["mlups"]
    table["drop"] = 100 * (1 - table[blocks[0]] / table["bgk"])
    table["share"] = 100 * table["double"] / table[blocks[0]]
    return table


def packings(nodes: int, porosities, diameter: float, seed: int) -> dict[str, PoreSpace]:
    """Cubes of random spheres by porosity, without solid, and of small random blocks (figure 6.11)."""
    cube = (nodes,) * 3
    found = {f"spheres, {value}": PoreSpace(random_spheres(cube, value, diameter, seed)) for value in porosities}
    found["no solid"] = PoreSpace(np.zeros(cube, bool))
    found["blocks, 0.7"] = PoreSpace(random_blocks(cube, 0.7, max(2, nodes // 32), seed))
    return found


def packing_table(media: dict[str, PoreSpace], strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of each strategy on each medium, in blocks of 128 threads (in place 256); adds `medium`."""
    runs, names = [], []
    for medium, space in media.items():
        for strategy in strategies:
            block = 256 if strategy == "sparse in place" else 128
            names.append(medium)
            runs.append((f"{medium}, {strategy}", space, device, {"strategy": strategy, "block": block} | options))
    table = speed_table(runs, record)
    table.insert(0, "medium", names)
    return table


def in_place_steps(media: dict[str, PoreSpace], device, block: int = 256) -> pd.DataFrame:
    """MFLUPS and share of their own roof of even and odd steps of `sparse in place`, with MRT in single precision.

    Even steps touch a pore's own places only, odd steps read and write through the map.
    """
    bandwidth, populations, rows = copy_bandwidth(device), 2 * 4 * D3Q19.q, []
    for medium, space in media.items():
        flow = PorousFlow(PorousProblem(space, 0.8, (1e-6, 0.0, 0.0)), device, strategy="sparse in place", block=block)
        flow.step(2)
        for name, step, bytes_moved in zip(
            ("even", "odd"), flow.scheme.steps, (populations, populations + flow.cost.map), strict=True
        ):
            repeated = device.capture(lambda step=step: [step() for _ in range(50)] and None)
            rate = space.pores * 50 / measure(repeated, device).seconds
            rows.append((medium, name, rate / 1e6, bytes_moved, rate * bytes_moved / bandwidth))
    return pd.DataFrame(rows, columns=["medium", "step", "mflups", "bytes", "roof"])


def mapping_time(space: PoreSpace, device) -> float:
    """Seconds to number the pores and connect them on the device, the image's way there included."""
    problem = PorousProblem(space, 0.8, (0.0, 0.0, 0.0))
    map_pores(problem, device)
    device.synchronise()
    return device.clock(lambda: map_pores(problem, device))


def memory_table(space: PoreSpace, device) -> pd.DataFrame:
    """Bytes a node of the box that each strategy keeps, by design and as allocated on the device.

    Columns strategy, precision, bytes, allocated, and the porosity below which a sparse one keeps less than the flag
    word.
    """
    rows = []
    for precision, itemsize in (("single", 4), ("double", 8)):
        dense = STRATEGIES["flag word"].COST
        for name in STRATEGIES:
            flow = PorousFlow(PorousProblem(space, 0.8, (0.0, 0.0, 0.0)), device, strategy=name, precision=precision)
            limit = np.nan if flow.cost.dense else flow.cost.break_even(dense, itemsize)
            allocated = flow.kept_bytes / space.solid.size
            rows.append((name, precision, flow.cost.bytes_per_node(itemsize, space.porosity), allocated, limit))
    return pd.DataFrame(rows, columns=["strategy", "precision", "bytes", "allocated", "saves below porosity"])
