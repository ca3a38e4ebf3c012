"""Quality of the random numbers: mean, variance, symmetry, and correlation between neighbours (section 4.3)."""

from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np
import pandas as pd

from repro.dpd.noise import make_pair_noise, make_thread_noise, thread_words
from repro.errors import InputError
from repro.parallel import Kernel, device_function

#: the type of the numbers in production runs
_REAL = np.float32

#: columns of the correlations of a pair (i, j)
NEIGHBOURS = ("(i, j+1)", "(i+1, j)", "next step")

#: number of steps from which the pairs of a sample are taken
_SAMPLE_STEPS = 4


def _pair_body(rounds: int):
    noise = make_pair_noise(_REAL, rounds)

    @device_function
    def fill(x, n, first, second, steps, out, seed):
        for i in range(x, x + n):
            value, _ = noise(first[i], second[i], (seed, steps[i]), (0, 0))
            out[i] = value

    return fill


def _thread_body():
    noise, zero = make_thread_noise(_REAL), _REAL(0)

    @device_function
    def fill(x, n, threads, steps, draws, out, seed):
        for i in range(x, x + n):
            value = zero
            words = thread_words(threads[i], (seed, steps[i]))
            for _ in range(draws[i]):
                value, words = noise(0, 0, (seed, 0), words)
            out[i] = value

    return fill


def _filled(device, body, seed: int, columns) -> np.ndarray:
    columns = np.broadcast_arrays(*(np.asarray(column) for column in columns))
    shape, count = columns[0].shape, columns[0].size
    arrays = [device.to_device(np.ascontiguousarray(column, np.int32).ravel()) for column in columns]
    out = device.zeros(count, _REAL)
    device.compile(Kernel(body, dtype=_REAL, strict=True))((count,), *arrays, out, seed)()
    return device.to_host(out).astype(float).reshape(shape)


def pair_numbers(device, rounds: int, first, second, steps, *, seed: int = 1) -> np.ndarray:
    """Method two: the Gaussian deviates of pairs of ids at the given steps; the three broadcast."""
    if rounds < 1:
        raise InputError(
            f"rounds = {rounds}: TEA needs at least one; the linear congruential generators are `thread_numbers`"
        )
    return _filled(device, _pair_body(rounds), seed, (first, second, steps))


def thread_numbers(device, threads, steps, draws, *, seed: int = 1) -> np.ndarray:
    """Method one: the Gaussian deviate that a thread draws `draws`-th (from 1) in a step; the three broadcast."""
    if np.min(draws) < 1:
        raise InputError(f"draws = {np.min(draws)}: a thread's numbers are counted from 1 on")
    return _filled(device, _thread_body(), seed, (threads, steps, draws))


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's coefficient of two samples; nan where one does not vary."""
    a, b = (sample.ravel() - sample.mean() for sample in (first, second))
    power = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / power if power else float("nan")


@dataclass(frozen=True)
class Grid:
    """Pairs (i, j) with i < j < 2 side at a few steps: arrays that broadcast to (steps, side, side)."""

    side: int

    def __post_init__(self):
        if self.side < 2:
            raise InputError(f"{self.side} ids on either side of a pair: take at least 2")

    @classmethod
    def of(cls, pairs: int) -> "Grid":
        """About this many pairs."""
        return cls(isqrt(max(pairs // _SAMPLE_STEPS, 0)))

    @property
    def count(self) -> int:
        """Number of pairs."""
        return _SAMPLE_STEPS * self.side**2

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lower ids, higher ids and steps; the steps are far apart."""
        ids = np.arange(self.side)
        return ids[:, None], self.side + 1 + ids, 1000 * (1 + np.arange(_SAMPLE_STEPS))[:, None, None]


def tea_table(device, all_rounds, pairs: int, *, seed: int = 1) -> pd.DataFrame:
    """Mean, variance, symmetry and correlation with neighbours of about `pairs` pairs, one row per number of rounds.

    The neighbours of (i, j) are (i, j+1), (i+1, j) and the same pair a step later. "unequal" counts pairs of which the
    two orders disagree. "band" is twice the standard error of a correlation of independent numbers.
    """
    grid, rows = Grid.of(pairs), []
    i, j, t = grid.axes
    for rounds in all_rounds:
        own, turned, across, along, later = (
            pair_numbers(device, rounds, *key, seed=seed)
            for key in ((i, j, t), (j, i, t), (i, j + 1, t), (i + 1, j, t), (i, j, t + 1))
        )
        near = [correlation(own, other) for other in (across, along, later)]
        unequal = int((own != turned).sum())
        rows.append((rounds, grid.count, own.mean(), own.var(), unequal, *near, 2 / sqrt(grid.count)))
    names = ["rounds", "pairs", "mean", "variance", "unequal", *NEIGHBOURS, "band"]
    return pd.DataFrame(rows, columns=names)


def row_of(table: pd.DataFrame, rounds: int) -> pd.Series:
    """The row of `tea_table` for so many rounds; raises InputError if they were not tried."""
    if rounds not in set(table["rounds"]):
        raise InputError(f"{rounds} rounds were not tried, but {', '.join(str(k) for k in table['rounds'])}: add them")
    return table.set_index("rounds").loc[rounds]


def worst_correlation(table: pd.DataFrame, rounds: int) -> float:
    """The largest of a row's correlations, with its sign; nan where a number has none."""
    row = row_of(table, rounds)[list(NEIGHBOURS)].to_numpy(float)
    return float(row[np.abs(row).argmax()]) if np.isfinite(row).all() else float("nan")


def too_few(table: pd.DataFrame, rounds: int) -> dict:
    """The worst correlation that so many rounds leave; holds if it is more than chance makes."""
    worst = worst_correlation(table, rounds)
    return {"worst": worst, "holds": abs(worst) > 2 * row_of(table, rounds)["band"]}


def enough(table: pd.DataFrame, rounds: int) -> dict:
    """The worst correlation that so many rounds leave, and twice its standard error; holds if there is no more.

    Of three correlations one is beyond the band in one case of seven, so twice the band is allowed.
    """
    worst, band = worst_correlation(table, rounds), row_of(table, rounds)["band"]
    return {"worst": worst, "band": band, "holds": abs(worst) <= 2 * band}


def thread_table(device, threads: int, steps: int, *, draw: int = 1, seed: int = 1) -> pd.DataFrame:
    """Correlation of the linear congruential generators' numbers with others that should be independent."""
    names, times = np.arange(threads), 1 + np.arange(steps)[:, None]

    def numbers(thread=0, step=0, number=0):
        return thread_numbers(device, names + thread, times + step, draw + number, seed=seed)

    own = numbers()
    others = {
        "next thread, same step": numbers(thread=1),
        "same thread, next step": numbers(step=1),
        "next thread, a step earlier": numbers(thread=1, step=-1),
        "same thread and step, next number": numbers(number=1),
    }
    rows = [(name, correlation(own, other)) for name, other in others.items()]
    return pd.DataFrame(rows, columns=["compared with", "correlation"]).assign(band=2 / sqrt(own.size))


def memory_in_time(device, threads: int, lags: int, *, rounds: int, draw: int = 1, seed: int = 1) -> pd.DataFrame:
    """Correlation of a number with the one `lag` steps later, and the mean over all threads at each step.

    Of method one the `draw`-th number of a thread, of method two (`rounds` of TEA) the number of a pair.
    """
    names, times = np.arange(threads), 1 + np.arange(lags)[:, None]
    series = {
        "method one": thread_numbers(device, names, times, draw, seed=seed),
        "method two": pair_numbers(device, rounds, names, names + threads, times, seed=seed),
    }
    columns = {"lag": np.arange(lags)}
    for name, values in series.items():
        columns[f"{name}, correlation"] = [correlation(values[0], later) for later in values]
        columns[f"{name}, mean"] = values.mean(1)
    return pd.DataFrame(columns)
