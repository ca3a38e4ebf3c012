"""What the paper argues against and does not time: lists, random numbers and copies on the host (4.1, 4.3 and 4.5)."""

from functools import partial
from statistics import median

import numpy as np
import pandas as pd

from repro.dpd.noise import PAPER_ROUNDS, make_noise
from repro.dpd.simulation import Simulation
from repro.dpd.state import make_state
from repro.dpd.system import in_cell_order
from repro.papers.dpd.random_numbers.cycle import numbers_a_step
from repro.papers.speed import RUNS, of_runs
from repro.parallel import device_function, part_seconds, select
from repro.parallel.launch_sequence import in_turn
from repro.parallel.timing import host_clock
from repro.particles.cell_table import CellTable
from repro.particles.launch import launch_of

from .tables import systems

_REAL = np.float32

#: ways of a step, by what the host does in it
AS_IT_IS, LIST, NUMBERS, COPIES = "nothing", "the list", "random numbers", "copies of all particles"

#: the claims about them
CLAIMS = {LIST: "dpd-085", NUMBERS: "dpd-086", COPIES: "dpd-087"}


def _numbers_body():
    noise = make_noise(_REAL, 0, running=True)

    @device_function
    def fill(x, n, out, words):
        last = words[0], words[0]
        for i in range(x, x + n):
            out[i], last = noise(0, 0, (0, 0), last)
        words[0] = last[1]

    return fill


def _list_on_the_host(simulation: Simulation):
    """A function that copies the positions to the host, fills the table there and copies it back."""
    state, device, core = simulation.state, simulation.device, select("serial")
    system, capacity = simulation.system, simulation.options["capacity"]
    copy = make_state(core, _REAL, system.position, system.velocity, system.moving, system.box)
    table = CellTable(core, system.cells, capacity, _REAL)
    launches = list(table.update(copy.r, system.count).values())
    targets = [(array, device.to_device(array)) for array in (table.counts, table.entries)]

    def build():
        copy.r[:] = device.to_host(state.r)
        in_turn(*launches)
        for array, target in targets:
            device.upload(array, target)

    return build


def _numbers_on_the_host(simulation: Simulation):
    """A function that makes a Gaussian deviate for each pair of a step on one core, and copies them to the device."""
    core, system = select("serial"), simulation.system
    out, words = core.zeros(round(system.count * numbers_a_step(system.fluid)), _REAL), np.ones(1, np.uint32)
    launch = launch_of(core, _numbers_body(), len(out), out, core.to_device(words), dtype=_REAL, strict=True)
    target = simulation.device.to_device(out)

    def make():
        launch()
        simulation.device.upload(out, target)

    return make


def _copy_all(simulation: Simulation) -> None:
    state, device = simulation.state, simulation.device
    for array in (state.r, state.v, state.f):
        device.upload(device.to_host(array), array)


def _seconds(device, work, repeats: int = 5) -> float:
    work()
    return median(host_clock(work, device) for _ in range(repeats))


def host_table(row: int, device, *, steps: int = 20) -> pd.DataFrame:
    """A step of the GPU's program on a row of table 4 with parts of it on the host, in medians of `RUNS` runs.

    Parts follow each other, so times add up: a list on the host stands in for the device's, all else comes on top.
    """
    runs, (system,) = {AS_IT_IS: [], LIST: [], NUMBERS: [], COPIES: []}, systems([row])
    for _ in range(RUNS):
        simulation = Simulation(in_cell_order(system), device, strategy="particle", rounds=PAPER_ROUNDS)
        simulation.step(steps)
        step = _seconds(device, partial(simulation.advance, steps, every=steps)) / steps
        parts = part_seconds(simulation.forces.parts, device, 0.01)
        own_list = parts["clear the table"] + parts["fill the table"]
        works = (_list_on_the_host(simulation), _numbers_on_the_host(simulation), partial(_copy_all, simulation))
        built, numbers, copied = (_seconds(device, work) for work in works)
        for each, more in zip(runs.values(), (0.0, built - own_list, numbers, copied), strict=True):
            each.append((step + more, (step + more) / step))
    each = {name: [list(column) for column in zip(*run, strict=True)] for name, run in runs.items()}
    rows = [(name, 1e3 * median(seconds), median(ratios), ratios) for name, (seconds, ratios) in each.items()]
    return pd.DataFrame(rows, columns=["on the host", "step (ms)", "over a step without", "runs"])


def claim_values(table: pd.DataFrame) -> dict[str, dict]:
    """Keywords of `Record.measure` from `host_table`; of random numbers their own time over a step's is judged."""
    runs = table.set_index("on the host")["runs"]
    values = {claim: of_runs(runs[name]) for name, claim in CLAIMS.items()}
    values[CLAIMS[NUMBERS]] = of_runs(ratio - 1 for ratio in runs[NUMBERS])
    return values
