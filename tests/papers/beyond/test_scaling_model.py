"""The model of a step on several ranks: what it must say in any case."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.papers.beyond.scaling.model import Link, extrapolated, largest_part, predicted

NODE = 4e-11


@given(st.integers(1, 64), st.integers(16, 64), st.floats(0, 1e-3), st.floats(1e6, 1e12), st.floats(0, 100))
def test_hidden_or_not_a_step_takes_what_its_nodes_take_at_least_and_their_sum_with_the_exchange_at_most(
    ranks, planes, latency, bandwidth, crossing
):
    part, link = largest_part((32, 32, planes * ranks), ranks), Link(latency, bandwidth)
    hidden, after = (predicted(part, NODE, crossing, link, hidden=hidden) for hidden in (True, False))
    nodes, exchange = NODE * 32 * 32 * planes, link.seconds(crossing * part.beside)
    assert part.nodes == 32 * 32 * planes
    assert after == pytest.approx(nodes + exchange)
    assert nodes * (1 - 1e-12) <= hidden <= after * (1 + 1e-12)
    # what takes longer than the rest of the nodes is not hidden
    assert hidden >= exchange * (1 - 1e-12)


def test_a_rank_alone_exchanges_nothing_and_thin_boxes_hide_nothing():
    alone, thin = largest_part((8, 8, 8), 1), largest_part((8, 8, 8), 8)
    assert (alone.beside, thin.nodes, thin.hidden) == (0, 64, False)
    # three axes are cut in the middle, with two faces of 4 x 4 nodes each
    assert thin.beside == 6 * 16
    assert predicted(alone, NODE, 20, Link(1.0, 1.0)) == pytest.approx(512 * NODE)


def test_a_link_is_found_again_in_the_times_of_its_messages():
    link, sizes = Link(1e-5, 3e11), np.array([1e7, 1e3, 1e5])
    found = Link.fitted(pd.DataFrame({"bytes": sizes, "seconds": [link.seconds(size) for size in sizes]}))
    assert found.bandwidth == pytest.approx(link.bandwidth)
    assert found.latency == pytest.approx(link.latency + 1e3 / link.bandwidth)
    with pytest.raises(InputError, match=r"^1e\+07 bytes take no longer than 1000: time larger messages$"):
        Link.fitted(pd.DataFrame({"bytes": sizes, "seconds": 1.0}))


def test_with_the_same_box_for_all_ranks_each_keeps_less_the_more_there_are():
    table = extrapolated((64, 64, 64), (64, 64, 128), [1, 2, 8, 64, 512], NODE, 20, Link(1e-5, 3e11))
    assert table["strong"].iloc[0] == table["weak"].iloc[0] == pytest.approx(100)
    assert table["strong"].is_monotonic_decreasing
    assert (table["weak"] > table["strong"])[2:].all()
