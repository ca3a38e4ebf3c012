"""What one rank is refused, all are: no rank waits for another that has given up."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from repro.errors import InputError


@contextmanager
def together(ranks) -> Iterator[None]:
    """What is done inside, all ranks do; where some raise InputError, all raise that of the first of them."""
    own = None
    try:
        yield
    except InputError as error:
        own = error
    reason = str(own).encode() if own else b""
    lengths = ranks.gather(np.array(len(reason)), "what a rank is refused").ravel()
    if not lengths.any():
        return
    line = np.zeros(int(lengths.max()), np.uint8)
    line[: len(reason)] = np.frombuffer(reason, np.uint8)
    lines, first = ranks.gather(line, "what a rank is refused"), int(np.flatnonzero(lengths)[0])
    if own and first == ranks.rank:
        raise own
    raise InputError(lines[first, : lengths[first]].tobytes().decode()) from None


def joined(ranks, rows: np.ndarray, what: str) -> np.ndarray:
    """The rows (count, ...) of all ranks, whose counts may differ, one rank's after the other's, on all ranks."""
    counts = ranks.gather(np.array(len(rows)), what).ravel()
    table = np.zeros((int(counts.max()), *rows.shape[1:]), rows.dtype)
    table[: len(rows)] = rows
    return np.concatenate([each[:count] for each, count in zip(ranks.gather(table, what), counts, strict=True)])
