"""Speed of the force kernel with its constants in different memory spaces (section 4.5.2)."""

from itertools import product

import pandas as pd

from repro.dpd.benchmark import INCLUDES_FORCES, kernel_speed, reference_forces
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.system import System
from repro.papers.speed import of_runs, quotients, speed_table
from repro.parallel import Speed

from . import constants
from .occupancy import taken

#: where the constants lie in the two kernels that a claim compares, and in those that run with equal registers
PLAIN, TEXTURE = COMPARED = ("global memory", "texture object")
CACHED = ("read-only path", TEXTURE)

GAIN = "against global memory"


def constants_table(system: System, device, record=None, *, seconds: float, runs: int) -> pd.DataFrame:
    """Time the force kernel with its constants in every memory space of the device, for both stencils, each checked.

    "against global memory" is above one where the memory space is faster. Only what `texture_gain` compares is run
    more than once.
    """
    kernels, expected = [], reference_forces(system, rounds=PAPER_ROUNDS)
    for stencil, place in product(constants.STENCILS, constants.places_on(device)):
        options = {"stencil": stencil, "place": place, "expected": expected, "seconds": seconds}
        options["runs"] = runs if stencil == "half" and place in COMPARED else 1
        kernels.append((f"force kernel, {stencil} stencil, constants: {place}", system, device, options))
    includes = f"the force kernel alone of: {INCLUDES_FORCES}"
    table = speed_table(kernels, record, measured=_kernel_speed, includes=includes)
    columns = ("stencil", "constants", "registers", "occupancy", "seconds", "runs", "spread")
    table = table[[name for name in columns if name in table]]
    plain = table["stencil"].map(table[table["constants"] == PLAIN].set_index("stencil")["seconds"])
    return table.assign(**{GAIN: plain / table["seconds"]})


def with_equal_registers(constants_times: pd.DataFrame, system: System, device, record=None, *, seconds, runs):
    """The half stencil with its constants in CACHED places and at most as many registers a thread as plain loads take.

    Columns constants, registers, occupancy, seconds, runs, spread and "against global memory".
    """
    plain = constants_times.set_index(["stencil", "constants"]).loc[("half", PLAIN)]
    options = {"stencil": "half", "registers": int(plain["registers"]), "runs": runs}
    options |= {"expected": reference_forces(system, rounds=PAPER_ROUNDS), "seconds": seconds}
    case = f"force kernel, half stencil, {options['registers']} registers at most, constants: "
    kernels = [(f"{case}{place}", system, device, options | {"place": place}) for place in CACHED]
    includes = f"the force kernel alone of: {INCLUDES_FORCES}"
    table = speed_table(kernels, record, measured=_kernel_speed, includes=includes)
    table = table[["constants", "registers", "occupancy", "seconds", "runs", "spread"]]
    return table.assign(**{GAIN: plain["seconds"] / table["seconds"]})


def _kernel_speed(case: str, system: System, device, *, stencil: str, place: str, **options) -> Speed:
    def choices(simulation, forces):
        return {"stencil": stencil, "constants": place} | taken(device, forces, simulation.setup.block)

    options |= {"forces_of": lambda made: constants.build(made.setup, place, stencil), "choices": choices}
    return kernel_speed(case, system, device, strategy="particle", rounds=PAPER_ROUNDS, **options)


def texture_gain(constants_times: pd.DataFrame) -> dict:
    """The gain of fetches by a texture object over plain loads, with the half stencil, as compiled; see `of_runs`."""
    runs = constants_times.set_index(["stencil", "constants"])["runs"].loc["half"]
    return of_runs(quotients(*(runs[place] for place in COMPARED)))


def scatter(constants_times: pd.DataFrame) -> float:
    """By how much the times of a case lie apart at most: those of independent runs, where there are some."""
    several = constants_times["runs"].map(len) > 1
    return float(constants_times.loc[several if several.any() else several.index, "spread"].max())
