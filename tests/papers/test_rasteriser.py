"""Pictures show bodies where they are: their outlines, who hides whom, where they are cut, which way they face."""

import numpy as np
import pytest

from repro.errors import InputError
from repro.papers.rasteriser import AZIMUTH, ELEVATION, Body, across, box_edges, picture

SIDE, WIDTH = 33, 240
RED, GREEN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def sphere(radius: float, centre=(16.0, 16.0, 16.0)) -> np.ndarray:
    """Positive inside; the centre is (x, y, z)."""
    z, y, x = np.ogrid[:SIDE, :SIDE, :SIDE]
    return radius - np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2)


def pixels_per_voxel() -> float:
    """The box fills the width of a picture."""
    right = [across(axis)[0] for axis in range(3)]
    return WIDTH / ((SIDE - 1) * sum(map(abs, right)))


def drawn(image: np.ndarray) -> np.ndarray:
    return ~np.isclose(image, 1.0, atol=0).all(axis=-1)


@pytest.mark.parametrize("radius", [6.0, 10.0, 14.0])
def test_a_sphere_is_seen_as_a_disc(radius):
    seen = drawn(picture([Body(sphere(radius), RED, SIDE - 1)], WIDTH))
    assert np.count_nonzero(seen) == pytest.approx(np.pi * (radius * pixels_per_voxel()) ** 2, rel=0.03)
    # without seams or holes
    for row in seen:
        columns = np.flatnonzero(row)
        assert len(columns) == 0 or len(columns) == columns[-1] - columns[0] + 1
    middle = np.argwhere(seen).mean(axis=0)
    np.testing.assert_allclose(middle, (np.array(seen.shape) - 1) / 2, atol=1.5)


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearer_body_hides_the_other_in_any_order(order):
    a, e = np.radians((AZIMUTH, ELEVATION))
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    near = Body(sphere(4.0, 16 + 8 * towards), RED, SIDE - 1)
    for radius, share in ((3.5, 0.0), (8.0, 1 - (4 / 8) ** 2)):
        far = Body(sphere(radius, 16 - 8 * towards), GREEN, SIDE - 1)
        image = picture([near, far][::order], WIDTH)
        green = np.count_nonzero(image[..., 1] > image[..., 0] + 0.02)
        assert green / np.count_nonzero(drawn(image)) == pytest.approx(share, abs=0.02)


def test_a_body_ends_at_its_cut_which_is_flat_and_closed():
    whole, half = (picture([Body(sphere(12.0), RED, end)], WIDTH) for end in (32.0, 16.0))
    # half a sphere: half of its disc, and half of the ellipse of the cut, which faces the camera
    turned = np.sqrt(1 - across(0)[0] ** 2 - across(0)[1] ** 2)
    assert np.count_nonzero(drawn(half)) / np.count_nonzero(drawn(whole)) == pytest.approx((1 + turned) / 2, abs=0.02)
    # what the whole body hides is empty
    assert (drawn(half) <= drawn(whole)).all()
    middle = half[half.shape[0] // 2, half.shape[1] // 2 - 8 : half.shape[1] // 2 + 8 : 4]
    np.testing.assert_allclose(middle, np.broadcast_to(middle[0], middle.shape), atol=0.02)


def test_a_full_box_is_closed_by_three_faces_that_are_lit_differently():
    image = picture([Body(np.ones((9, 9, 17)), RED, 16.0)], WIDTH)
    colours, counts = np.unique(image[drawn(image)].round(2), axis=0, return_counts=True)
    large = colours[counts > 0.05 * counts.sum()]
    assert len({tuple(colour) for colour in large}) >= 3
    right, up = across(0)
    assert right > 0
    assert up < 0


@pytest.mark.parametrize("width", [1, 10**9, 400.0])
def test_a_picture_that_nobody_could_see_or_hold_is_refused(width):
    with pytest.raises(InputError, match="width in pixels = .*: must be a whole number from 32"):
        picture([Body(sphere(4.0), RED, SIDE - 1)], width)


def test_the_edges_of_a_box_frame_the_picture_of_what_fills_it():
    image = picture([Body(np.ones((9, 13, 17)), RED, 16.0)], WIDTH)
    edges = box_edges((9, 13, 17), WIDTH)
    assert [axis for axis, _ in edges] == [0] * 3 + [1] * 3 + [2] * 3
    ends = np.concatenate([ends for _, ends in edges])
    rows, columns = np.nonzero(drawn(image))
    for place, seen in ((ends[:, 0], columns), (ends[:, 1], rows)):
        assert place.min() == pytest.approx(seen.min(), abs=1.5)
        assert place.max() == pytest.approx(seen.max() + 1, abs=1.5)
    # the first of x and of y is the lowest of its kind, the first of z the leftmost
    for axis, coordinate, pick in ((0, 1, max), (1, 1, max), (2, 0, min)):
        means = [found[:, coordinate].mean() for kind, found in edges if kind == axis]
        assert means[0] == pick(means)
