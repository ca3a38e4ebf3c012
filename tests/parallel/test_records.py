"""Records of messages, one after the other."""

import numpy as np
import pytest

from repro.parallel.ranks.records import joined

STRUCTURE = np.dtype([("cell", np.int32), ("place", np.float32, 3), ("id", np.int64)])


@pytest.mark.parametrize("record", [STRUCTURE, np.dtype((np.float64, 8)), np.dtype(np.int16)])
@pytest.mark.parametrize("counts", [(), (0,), (3,), (0, 2, 0), (2, 0, 5)])
def test_joined_records_have_the_bytes_of_their_arrays(record, counts):
    draw = np.random.default_rng(1)
    arrays = [np.empty(count, record) for count in counts]
    for array in arrays:
        array.reshape(-1).view(np.uint8)[:] = draw.integers(0, 256, array.nbytes)
    whole = joined(record, arrays)
    assert (whole.dtype, len(whole)) == (np.empty(0, record).dtype, sum(counts))
    assert whole.tobytes() == b"".join(array.tobytes() for array in arrays)
