"""The step on two ranks that is drawn: one has nothing to do, enters the barrier, and comes back to work."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from repro.papers.electrons.speed import timeline
from repro.parallel.ranks.migration import ENTERED, MOVED, MOVES, PASSED, RECEIVED, RESUMED, SENT


@pytest.fixture(scope="module")
def step():
    """A step, as it happened."""
    return timeline.step()


def test_a_rank_without_particles_enters_the_barrier_and_works_again_when_some_arrive(step):
    events, counts = step
    idle = events[events["rank"] == 1]["what"].tolist()
    assert idle[:3] == [MOVES, MOVED, ENTERED]
    # once a round, and no second time when it comes back to work: a barrier stands until all have entered
    assert idle.count(ENTERED) == counts["rounds"].iloc[1]
    assert idle.index(RECEIVED) < idle.index(RESUMED)
    assert idle.count(RESUMED) > 0


def test_what_is_sent_arrives_and_the_last_thing_is_to_pass_the_barrier(step):
    events, counts = step
    sums = events.groupby("what")["particles"].sum()
    assert sums[SENT] == sums[RECEIVED] == counts["sent"].sum() == counts["received"].sum() > 0
    assert events.groupby("rank")["what"].last().tolist() == [PASSED, PASSED]
    assert events["ms"].groupby(events["rank"]).is_monotonic_increasing.all()
    # a record is 48 bytes in single precision
    assert counts["bytes"].sum() == 48 * counts["sent"].sum()
    assert counts["messages"].sum() == (events["what"] == SENT).sum()
    assert counts["after"].sum() == counts["before"].sum()


def test_the_figure_shows_every_event(step):
    events, _ = step
    figure, arrays = timeline.figure(events)
    assert len(arrays["ms"]) == len(events)
    plt.close(figure)


def test_what_is_sent_leaves_above_the_line_of_its_rank_and_what_arrives_comes_from_below():
    rows = [(rank, 1.0, what, 1) for rank in (0, 1) for what in timeline._MARKS]
    drawn, _ = timeline.figure(pd.DataFrame(rows, columns=["rank", "ms", "what", "particles"]))
    heights = {
        line.get_label(): np.subtract(line.get_ydata(), [0, 1])
        for line in drawn.axes[0].lines
        if len(line.get_xdata()) == 2
    }
    names = {what: name for what, (name, *_) in timeline._MARKS.items()}
    assert (heights[names[SENT]] > 0).all()
    assert (heights[names[RECEIVED]] < 0).all()
    assert not heights[names[ENTERED]].any()
    plt.close(drawn)
