"""Slow electrons in a small volume: a steady source, attachment and recombination, against the exact solution."""

from dataclasses import dataclass

import numpy as np

from repro.errors import require_whole
from repro.pic.air.electron_loss import ATTACHMENT, FREE, RECOMBINATION, make_electron_loss, slow_rates
from repro.pic.air.medium import Air
from repro.pic.exact import slow_electrons

#: standard deviations of a count, and a share of the density for the length of a step
DEVIATIONS, STEP_ERROR = 5, 0.005


@dataclass(frozen=True)
class Balance:
    """Densities over time, in 1/m3 and s."""

    time: np.ndarray
    found: np.ndarray
    exact: np.ndarray
    #: electrons that a particle stands for, in a cubic metre
    weight: float
    #: number of particles that each process took
    attached: int
    recombined: int
    #: nu in 1/s and the source in 1/(m3 s)
    attachment: float
    source: float

    @property
    def worst(self) -> float:
        """Largest difference from the exact solution over what is allowed."""
        allowed = DEVIATIONS * np.sqrt(self.weight * self.exact) + STEP_ERROR * self.exact
        return float((np.abs(self.found - self.exact) / allowed).max())

    @property
    def last(self) -> float:
        """Relative difference from the exact density, mean of the last fifth."""
        late = slice(-(len(self.time) // 5), None)
        return float(self.found[late].mean() / self.exact[late].mean() - 1)


def balance(air: Air, particles: int, seed: int, steps: int = 100) -> Balance:
    """Begin without electrons, with a source that lets recombination take as many as attachment.

    Such a source is S = 2 nu^2 / beta: in balance n = nu / beta. The run lasts 3 / nu, and `particles` is how many
    there are in balance.
    """
    require_whole("slow electrons in balance", particles, 1, 10**7)
    require_whole("steps", steps, 5, 10**6)
    lose, rates = make_electron_loss(np.float64), slow_rates(air, np.float64)
    nu, beta = float(rates.attachment), float(rates.recombination)
    source, weight, step = 2 * nu**2 / beta, nu / beta / particles, 3 / nu / steps
    generator = np.random.default_rng(seed)
    births = np.sort(generator.random(round(source * step * steps / weight))) * steps
    depth, found, ends, before = np.zeros(0), [], np.zeros(0, int), 0.0
    for k in range(steps):
        born = births[(births >= k) & (births < k + 1)]
        now, depth = len(depth), np.concatenate([depth, generator.exponential(size=len(born))])
        spans = np.concatenate([np.full(now, step), (k + 1 - born) * step])
        # as many ions as in the middle of the step, continued from before
        ions = weight * now + (weight * now - before) / 2 if k else weight * len(born) / 2
        before = weight * now
        words = generator.integers(0, 2**32, len(depth), dtype=np.uint32)
        drawn = zip(depth, spans, words, strict=True)
        every = [lose(left, span, ions, rates, word) for left, span, word in drawn]
        depth = np.array([left for process, left in every if process == FREE])
        ends = np.concatenate([ends, [process for process, _ in every if process != FREE]])
        found.append(weight * len(depth))
    time = step * np.arange(1, steps + 1)
    exact = slow_electrons(time, source, nu, beta)
    lost = [int((ends == process).sum()) for process in (ATTACHMENT, RECOMBINATION)]
    return Balance(time, np.array(found), exact, weight, *lost, nu, source)
