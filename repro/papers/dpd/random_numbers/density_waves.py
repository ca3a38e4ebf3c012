"""Whether a fluid's density fluctuates regularly, as section 4.3 warns for random numbers of method one.

A fluid in a periodic box is sampled on its grid of cells. In equilibrium each Fourier mode of the density has the power
that follows from the compressibility, and averages over time are uniform in space.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy import uint32

from repro.dpd import exact
from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.noise import lcg, thread_words
from repro.dpd.observables import mean_of
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import cell
from repro.errors import require
from repro.papers.speed import of_runs
from repro.parallel import device_function
from repro.particles.random import ROUNDS

from .cycle import driver
from .quality import correlation

TEA, BY_PARTICLE, BY_CELL = "TEA", "method one, a thread a particle", "method one, a thread a cell"

#: strategy and rounds of TEA (0: linear congruential generators, a state in each thread)
WAYS = {TEA: ("fastest", ROUNDS), BY_PARTICLE: ("particle", 0), BY_CELL: ("cell", 0)}


@device_function
def _apart(thread, key):
    return lcg(uint32(thread + key[0])), lcg(uint32(key[1] + key[0]))


@device_function
def _crosswise(thread, key):
    first, second = _apart(thread, key)
    return lcg(uint32(first + key[1])), lcg(uint32(second + thread))


#: ways in which a thread's number n and the step t can make two words, which the paper leaves open
SEEDINGS = {"from n and n + t": thread_words, "from n, and from t": _apart, "from n and t, crosswise": _crosswise}

#: steps below which waves of the density cannot be told from chance
FEWEST_STEPS = 500


@dataclass(frozen=True)
class Sampled:
    """Samples of one run; maps have the shape of the grid of cells (x, y, z)."""

    particles: int
    every: int
    #: particles in each cell, averaged over time
    counts: np.ndarray
    #: kT in each cell, averaged over time
    cell_temperature: np.ndarray
    #: Fourier sums of the particles in cells at each sample, of shape (samples, x, y, z)
    waves: np.ndarray
    #: kT of the whole fluid at each sample
    temperature: np.ndarray
    #: largest component of the mean velocity in any sample
    drift: float

    @property
    def structure(self) -> np.ndarray:
        """Static structure factor: mean power of each wave over the number of particles; nan for wave vector 0."""
        power = np.square(np.abs(self.waves)).mean(0) / self.particles
        power[0, 0, 0] = np.nan
        return power


def require_samples(steps: int, every: int) -> None:
    """Raise InputError unless so many steps have two samples at least, one each `every` steps."""
    require(steps >= 2 * every, f"{steps} steps with a sample each {every}: at least two samples")


def sample(box, device, way: str, *, seed: int, steps: int, every: int, settle: int, begin=None) -> Sampled:
    """Run a bulk fluid for `settle` and then `steps` steps, sampled each `every` steps.

    `begin` is one of SEEDINGS, for one thread per cell. The seed sets the initial particles only: the random numbers'
    own seed, and so their effects, are the same in all runs.
    """
    require_samples(steps, every)
    strategy, rounds = WAYS[way]
    # a driven wave must not overflow the cell table
    simulation = Simulation(Bulk(tuple(box)).system(seed), device, strategy=strategy, rounds=rounds, capacity=64)
    if begin is not None:
        simulation.forces = cell.build(simulation.setup, begin=begin)
    shape, count = simulation.system.cells.shape, simulation.system.count
    simulation.step(settle, every=every)
    counts, energy, waves, temperature, drift = np.zeros(shape), np.zeros(shape), [], [], 0.0
    for _ in range(steps // every):
        simulation.step(every, every=every)
        found = simulation.particles()
        velocity = found["velocity"].astype(float)
        square = np.square(velocity).sum(1)
        at = np.minimum((found["position"] / box * shape).astype(int), np.array(shape) - 1)
        index = np.ravel_multi_index(at.T, shape)
        number, squares = (np.bincount(index, w, counts.size).reshape(shape) for w in (None, square))
        counts, energy = counts + number, energy + squares
        waves.append(np.fft.fftn(number).astype(np.complex64))
        temperature.append(square.sum() / (3 * count - 3))
        drift = max(drift, float(np.abs(velocity.mean(0)).max()))
    maps = counts / len(waves), energy / (3 * counts), np.array(waves)
    return Sampled(count, every, *maps, np.array(temperature), drift)


def sample_ways(box, device, counts: dict[str, int], **lengths) -> dict:
    """Lists of runs by way; `counts` says how many of each, two at least, which differ by the initial particles."""
    return {way: [sample(box, device, way, seed=1 + k, **lengths) for k in range(n)] for way, n in counts.items()}


def excess(runs: dict, way: str) -> np.ndarray:
    """Power of each wave over its mean in the runs with TEA.

    Of TEA itself, each run against the mean of the others, and of these the largest.
    """
    tea = np.array([run.structure for run in runs[TEA]])
    if way != TEA:
        return np.mean([run.structure for run in runs[way]], axis=0) / tea.mean(0)
    alone = [run / np.delete(tea, k, axis=0).mean(0) for k, run in enumerate(tea)]
    return np.max(alone, axis=0)


def strongest(runs: dict, way: str) -> tuple[int, int, int]:
    """The wave with the largest excess: its integer wave vector, in waves along each side of the box."""
    ratio = excess(runs, way)
    index = np.unravel_index(np.nanargmax(ratio), ratio.shape)
    return tuple(int(i) if 2 * i <= side else int(i) - side for i, side in zip(index, ratio.shape, strict=True))


def frequency(run: Sampled, wave) -> float:
    """Frequency f of a wave's largest power, in turns a step, with its sign; the wave is e^(2 pi i (k x + f t))."""
    power = np.abs(np.fft.fft(run.waves[(slice(None), *wave)]))
    return float(np.fft.fftfreq(len(power), run.every)[power.argmax()])


def comparison(runs: dict) -> pd.DataFrame:
    """One row per way: kT and its error, drift, correlation of the maps of two runs, and the strongest wave.

    "kT pattern" and "density pattern" are correlations between the maps of the first two runs: zero, within "band",
    where no cell differs from another.
    """
    rows = []
    for way, found in runs.items():
        wave, kt = strongest(runs, way), mean_of([run.temperature.mean() for run in found])
        row = {"way": way, "runs": len(found), "kT": kt.value, "kT error": kt.error}
        row |= {"drift": max(run.drift for run in found)}
        row |= {"kT in cells, scatter": np.mean([run.cell_temperature.std() for run in found])}
        row |= {"kT pattern": correlation(*(run.cell_temperature for run in found[:2]))}
        row |= {"density pattern": correlation(*(run.counts for run in found[:2]))}
        row |= {"band": 2 / np.sqrt(found[0].counts.size), "strongest wave": str(wave)}
        rows.append(row | {"its excess": np.nanmax(excess(runs, way)), "turns a step": frequency(found[0], wave)})
    return pd.DataFrame(rows)


def free_turns(wave, box, fluid: Fluid) -> float:
    """Turns a step of free sound in a wave, given by its whole numbers of lengths along the sides of the box."""
    number = np.linalg.norm(np.asarray(wave, float) / np.asarray(box, float))
    return float(exact.sound_speed(fluid) * number * fluid.dt)


def turns_table(runs: dict, wave, predicted: pd.DataFrame, box, fluid: Fluid) -> pd.DataFrame:
    """Turns a step of a wave with one thread per cell, by its cause; `predicted` comes from `cycle.driven_waves`."""
    measured, free = abs(frequency(runs[BY_CELL][0], wave)), free_turns(wave, box, fluid)
    found = (str(wave), f"{measured:.4f}", driver(predicted, wave), f"{free:.4f}")
    return pd.DataFrame([found], columns=["wave", "measured", "driven by", "free sound"])


def against_tea(table: pd.DataFrame, way: str, column: str) -> dict:
    """A column of `comparison` with a way and with TEA."""
    rows = table.set_index("way")[column]
    return {"ours": float(rows[way]), "tea": float(rows[TEA])}


def regularity(runs: dict, way: str) -> dict:
    """What the claim on a regular fluctuation is judged by, from the runs of a way, see `of_runs`.

    In each run the largest excess of any wave, over the largest that TEA shows by chance: about one where the density
    fluctuates as that of a fluid does, and large where a wave is driven.
    """
    return of_runs(map(_over_chance(runs), runs[way]))


def _over_chance(runs: dict):
    tea, chance = structures(runs)[TEA], np.nanmax(excess(runs, TEA))
    return lambda run: np.nanmax(run.structure / tea) / chance


def seedings(runs: dict, box, device, **lengths) -> pd.DataFrame:
    """kT and the strongest wave "over chance" with one thread per cell by SEEDINGS; `runs` and `lengths` as above."""
    over_chance = _over_chance(runs)
    tried = {name: sample(box, device, BY_CELL, seed=1, begin=begin, **lengths) for name, begin in SEEDINGS.items()}
    rows = [(name, run.temperature.mean(), over_chance(run)) for name, run in tried.items()]
    return pd.DataFrame(rows, columns=["seeding", "kT", "over chance"])


def height(run: Sampled, wave) -> np.ndarray:
    """The wave's amplitude in the density at each sample, over the mean density, where its phase is zero."""
    return 2 * run.waves[(slice(None), *wave)].real / run.particles


def structures(runs: dict) -> dict[str, np.ndarray]:
    """The static structure factor of each way, averaged over its runs."""
    return {way: sum(run.structure for run in found) / len(found) for way, found in runs.items()}
