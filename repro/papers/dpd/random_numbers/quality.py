"""Quality of the random numbers: mean, variance, symmetry, and correlation between neighbours (section 4.3)."""

from math import isqrt, sqrt

import numpy as np
import pandas as pd

from repro.dpd.noise import make_noise, thread_words
from repro.parallel import Kernel, device_function

#: the type of the numbers in production runs, and the seed of all of them
_REAL, _SEED = np.float32, 1

#: columns of the correlations of a pair (i, j)
NEIGHBOURS = ("(i, j+1)", "(i+1, j)", "next step")

#: number of steps from which the pairs of a sample are taken
_SAMPLE_STEPS = 4


def _filled(device, noise, *columns) -> np.ndarray:
    """The first deviate, with its words of method one, of each thread: columns first and second id, and step."""

    @device_function
    def fill(x, n, first, second, steps, out, seed):
        for i in range(x, x + n):
            key = seed, steps[i]
            out[i], _ = noise(first[i], second[i], key, thread_words(first[i], key))

    columns = np.broadcast_arrays(*(np.asarray(column) for column in columns))
    shape, count = columns[0].shape, columns[0].size
    arrays = [device.to_device(np.ascontiguousarray(column, np.int32).ravel()) for column in columns]
    out = device.zeros(count, _REAL)
    device.compile(Kernel(fill, dtype=_REAL, strict=True))((count,), *arrays, out, _SEED)()
    return device.to_host(out).astype(float).reshape(shape)


def pair_numbers(device, rounds: int, first, second, steps) -> np.ndarray:
    """Method two: the Gaussian deviates of pairs of ids at the given steps; the three broadcast."""
    return _filled(device, make_noise(_REAL, rounds), first, second, steps)


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's coefficient of two samples; nan where one does not vary."""
    a, b = (sample.ravel() - sample.mean() for sample in (first, second))
    power = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / power if power else float("nan")


def tea_table(device, all_rounds, pairs: int) -> pd.DataFrame:
    """Mean, variance, symmetry and correlation with neighbours of about `pairs` pairs, one row per number of rounds.

    The neighbours of (i, j) are (i, j+1), (i+1, j) and the same pair a step later. "unequal" counts pairs of which the
    two orders disagree. "band" is twice the standard error of a correlation of independent numbers.
    """
    side, rows = isqrt(pairs // _SAMPLE_STEPS), []
    ids, count = np.arange(side), _SAMPLE_STEPS * side**2
    # all i < j < 2 side + 1, of shape (steps, side, side), at steps that are far apart
    i, j, t = ids[:, None], side + 1 + ids, 1000 * (1 + np.arange(_SAMPLE_STEPS))[:, None, None]
    keys = (i, j, t), (j, i, t), (i, j + 1, t), (i + 1, j, t), (i, j, t + 1)
    for rounds in all_rounds:
        own, turned, *others = (pair_numbers(device, rounds, *key) for key in keys)
        near = [correlation(own, other) for other in others]
        rows.append((rounds, count, own.mean(), own.var(), int((own != turned).sum()), *near, 2 / sqrt(count)))
    names = ["rounds", "pairs", "mean", "variance", "unequal", *NEIGHBOURS, "band"]
    return pd.DataFrame(rows, columns=names)


def worst_correlation(table: pd.DataFrame, rounds: int) -> float:
    """The largest of the correlations of `tea_table` for so many rounds, with its sign; nan where one is."""
    near = table.set_index("rounds").loc[rounds, list(NEIGHBOURS)].to_numpy(float)
    return float(near[np.abs(near).argmax()])


def against_chance(table: pd.DataFrame, rounds: int, more: bool) -> dict:
    """The worst correlation that so many rounds leave, and twice its standard error, for `Record.say`.

    Holds if it is `more` than chance makes, or not: twice the band, as one of three is beyond it in one case of seven.
    """
    worst, band = worst_correlation(table, rounds), table["band"].iloc[0]
    return {"worst": worst, "band": band, "holds": bool((abs(worst) > 2 * band) == more)}


def memory_in_time(device, threads: int, lags: int, *, rounds: int) -> pd.DataFrame:
    """Correlation of a number with the one `lag` steps later, and the mean over all threads at each step.

    Of method one the first number of a thread, of method two (`rounds` of TEA) the number of a pair.
    """
    names, times = np.arange(threads), 1 + np.arange(lags)[:, None]
    series = {
        "method one": _filled(device, make_noise(_REAL, 0), names, 0, times),
        "method two": pair_numbers(device, rounds, names, names + threads, times),
    }
    table = pd.DataFrame({"lag": np.arange(lags)})
    for name, values in series.items():
        table[f"{name}, correlation"] = [correlation(values[0], later) for later in values]
        table[f"{name}, mean"] = values.mean(1)
    return table
