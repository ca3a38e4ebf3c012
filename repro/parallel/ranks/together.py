"""What one rank is refused, all are, and what all ranks have: no rank waits for another that has given up."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from repro.errors import InputError

from .around import PIECE_TAG


@contextmanager
def together(ranks, kind: type[Exception] = InputError) -> Iterator[None]:
    """What is done inside, all ranks do; where some raise an error of a kind, all raise that of the first of them."""
    own = None
    try:
        yield
    except kind as error:
        own = error
    # one without a word is an error as well
    reason = (str(own) or kind.__name__).encode() if own else b""
    lengths = ranks.gather(np.array(len(reason)), "what a rank is refused").ravel()
    if not lengths.any():
        return
    line = np.zeros(int(lengths.max()), np.uint8)
    line[: len(reason)] = np.frombuffer(reason, np.uint8)
    lines, first = ranks.gather(line, "what a rank is refused"), int(np.flatnonzero(lengths)[0])
    if own and first == ranks.rank:
        raise own
    raise kind(lines[first, : lengths[first]].tobytes().decode()) from None


def joined(ranks, rows: np.ndarray, what: str) -> np.ndarray:
    """The rows (count, ...) of all ranks, whose counts may differ, one rank's after the other's, on all ranks."""
    counts = ranks.gather(np.array(len(rows)), what).ravel()
    table = np.zeros((int(counts.max()), *rows.shape[1:]), rows.dtype)
    table[: len(rows)] = rows
    return np.concatenate([each[:count] for each, count in zip(ranks.gather(table, what), counts, strict=True)])


def gathered_by_id(ranks, ids: np.ndarray, values: np.ndarray, counts) -> np.ndarray | None:
    """Values (n, ...) of the particles that each rank has, by their ids, together on rank 0; None on the others.

    `counts` are the particles of each rank; together they have the ids from 0 on.
    """
    ids, values = np.ascontiguousarray(ids), np.ascontiguousarray(values)
    if ranks.rank:
        pieces = [ranks.send(piece, 0, PIECE_TAG) for piece in (ids, values)]
        ranks.wait(pieces, "rank 0, which gathers the particles")
        return None
    whole = np.empty((int(sum(counts)), *values.shape[1:]), values.dtype)
    whole[ids] = values
    for rank, count in enumerate(counts[1:], 1):
        pieces = [np.empty(count, ids.dtype), np.empty((count, *values.shape[1:]), values.dtype)]
        ranks.wait([ranks.receive(piece, rank, PIECE_TAG) for piece in pieces], f"the particles of rank {rank}")
        whole[pieces[0]] = pieces[1]
    return whole
