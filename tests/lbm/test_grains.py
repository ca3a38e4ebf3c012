"""Irregular grains: one connected pore space of the porosity asked for, in a periodic image."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.media import PoreSpace
from repro.lbm.media.grains import random_grains
from repro.lbm.media.pore_space import label_clusters


def flooded(mask: np.ndarray) -> list[frozenset]:
    """The clusters of a mask, each the set of its voxels, by flooding one voxel after the other."""
    left, found = {tuple(place) for place in np.argwhere(mask)}, []
    while left:
        waiting, cluster = [left.pop()], set()
        while waiting:
            here = waiting.pop()
            cluster.add(here)
            for axis in range(mask.ndim):
                for step in (-1, 1):
                    place = list(here)
                    place[axis] = (place[axis] + step) % mask.shape[axis]
                    if (place := tuple(place)) in left:
                        left.remove(place)
                        waiting.append(place)
        found.append(frozenset(cluster))
    return found


@settings(max_examples=60, deadline=None)
@given(shape=st.tuples(*[st.integers(1, 5)] * 3), share=st.floats(0.2, 0.8), seed=st.integers(0, 999))
def test_clusters_are_what_can_be_flooded_through_the_faces_of_the_box(shape, share, seed):
    mask = np.random.default_rng(seed).random(shape) < share
    labels, count = label_clusters(mask)
    assert (labels > 0).tolist() == mask.tolist()
    sets = {frozenset(map(tuple, np.argwhere(labels == k).tolist())) for k in range(1, count + 1)}
    assert sets == set(flooded(mask))


@settings(max_examples=15, deadline=None)
@given(porosity=st.floats(0.6, 0.85), seed=st.integers(0, 99), grain=st.floats(14, 22))
def test_grains_leave_one_pore_space_of_the_porosity_through_which_fluid_flows(porosity, seed, grain):
    solid = random_grains((64, 88), porosity, grain, seed)
    assert solid.shape == (1, 64, 88)
    # a level more may join a pore to the others, but not a large one
    assert porosity <= PoreSpace(solid).porosity <= porosity + 0.05
    assert label_clusters(~solid)[1] == 1
    for axis in "xy":
        PoreSpace(solid).require_flow(axis)


def test_grains_repeat_with_their_seed():
    first, same, other = (random_grains((64, 88), 0.6, 16, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert (first != other).mean() > 0.2


def test_grains_go_on_behind_the_faces():
    """As many voxels differ from their neighbours across a face as anywhere else."""
    solid = random_grains((256, 256), 0.6, 18, 1)[0]
    for axis in (0, 1):
        differs = np.take(solid != np.roll(solid, 1, axis), 0, axis).mean()
        assert differs < 2 * (solid != np.roll(solid, 1, axis)).mean()
        # faces that do not fit differ wherever chance has it
        assert differs < 0.25


def test_grains_are_as_far_apart_as_they_are_said_to_be():
    solid = random_grains((200, 200), 0.75, 20, 1)
    assert label_clusters(solid)[1] == pytest.approx((200 / 20) ** 2, rel=0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((64, 64, 64), 0.6, 16, 1), "shape = .*: must be 2 values"),
        (((64, 4), 0.6, 16, 1), "shape = .*each a whole number from 8"),
        (((64, 64.5), 0.6, 16, 1), "shape = .*each a whole number from 8"),
        (((64, 64), 0.0, 16, 1), "porosity = 0.0: must be a number above 0 and below 1"),
        (((64, 64), 1.0, 16, 1), "porosity = 1.0"),
        (((64, 64), float("nan"), 16, 1), "porosity = nan"),
        (((64, 64), 0.6, 40, 1), "grain = 40 voxels: must be at most half"),
        (((64, 64), 0.6, 1, 1), "grain = 1: must be a number of at least 4, in voxels"),
        (((64, 64), 0.1, 16, 1), "the grains close the pores along"),
    ],
)
def test_what_makes_no_image_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        random_grains(*arguments)
