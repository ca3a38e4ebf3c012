"""Images of which each rank has a slab: what is found in them is what is found in the whole, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
import tifffile
from helpers.plain import PlainDevice
from helpers.rank_threads import on_ranks
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.media import PoreSpace, read_image
from repro.lbm.media.image import open_image
from repro.lbm.media.slabs import Slabs, read_slabs
from repro.lbm.porous.permeability import flow_through, mirrored
from repro.parallel.ranks.world import Alone
from repro.parallel.reproducible_sum import reproducible_sum

IMAGE = (np.random.default_rng(3).random((7, 4, 5)) < 0.3).astype(np.uint8)

KINDS = ("npy", "fortran.npy", "raw", "tif", "packed.tif", "one page.tif", "slices")


def write(folder, kind: str):
    """An image as a file of a kind, and how it is opened."""
    path = folder / f"rock.{kind}" if "." in kind else folder / kind if kind == "slices" else folder / f"rock.{kind}"
    grey = {"photometric": "minisblack"}
    if kind == "raw":
        IMAGE.astype(">u2").tofile(path)
        return path, {"shape": IMAGE.shape, "dtype": ">u2"}
    if kind == "npy":
        np.save(path, IMAGE)
    elif kind == "fortran.npy":
        np.save(path, np.asfortranarray(IMAGE))
    elif kind == "slices":
        path.mkdir()
        for number, plane in enumerate(IMAGE, 8):
            tifffile.imwrite(path / f"slice{number}.tif", plane, **grey)
    elif kind == "one page.tif":
        # as ImageJ writes what is large: one page, and the slices behind one another
        tifffile.imwrite(
            path, IMAGE.astype(">u2"), imagej=True, truncate=True, byteorder=">", metadata={"axes": "ZYX"}, **grey
        )
    else:
        tifffile.imwrite(path, IMAGE, compression="zlib" if kind == "packed.tif" else None, **grey)
    return path, {}


def cut(solid: np.ndarray, rank) -> Slabs:
    """A rank's slab of an image."""
    depth = len(solid)
    ends = tuple(depth * n // rank.count for n in range(rank.count + 1))
    return Slabs(solid[slice(*ends[rank.rank :][:2])], rank, ends)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_each_rank_reads_its_slab_and_no_more(tmp_path, kind, ranks):
    path, options = write(tmp_path, kind)
    expected = read_image(path, **options)
    np.testing.assert_array_equal(expected, IMAGE != 0)

    def run(rank):
        planes, asked = open_image(path, **options), []

        def voxels(first, end):
            asked.append(planes.voxels(first, end))
            return asked[-1]

        slab = read_slabs(replace(planes, voxels=voxels), 0, rank)
        (found,) = asked
        assert found.shape == slab.solid.shape
        # nor does what was read hold on to more
        assert found.base is None or found.base.nbytes <= found.nbytes if isinstance(found.base, np.ndarray) else True
        return slab.solid, slab.shape

    found = on_ranks(ranks, run)
    np.testing.assert_array_equal(np.concatenate([solid for solid, _ in found]), expected)
    assert {shape for _, shape in found} == {(5, 4, 7)}
    assert max(len(solid) for solid, _ in found) <= -(-7 // ranks)


@given(st.sampled_from([0, 1, 2]), st.integers(0, 13), st.integers(1, 14))
def test_planes_of_a_mirrored_image_are_those_of_the_image_and_its_mirror_image(tmp_path_factory, axis, first, count):
    path = tmp_path_factory.mktemp("mirror") / "a.npy"
    np.save(path, IMAGE)
    planes, whole = open_image(path).mirrored(axis), mirrored(IMAGE != 0, "zyx"[axis])
    assert planes.shape == whole.shape
    end = min(first + count, len(whole))
    first = min(first, end - 1)
    np.testing.assert_array_equal(planes.read(first, end) != 0, whole[first:end])


def test_what_one_rank_finds_wrong_all_say(tmp_path):
    path = tmp_path / "a.raw"
    IMAGE.tofile(path)

    def run(planes):
        def on(rank):
            with pytest.raises(InputError) as refused:
                read_slabs(planes, 0, rank)
            return str(refused.value)

        return on

    planes = open_image(path, shape=IMAGE.shape)

    def broken(first, end):
        if first:
            raise InputError("a.raw: cut off")
        return planes.voxels(first, end)

    assert on_ranks(3, run(replace(planes, voxels=broken))) == ["a.raw: cut off"] * 3
    grey = replace(planes, voxels=lambda first, end: np.arange(20 * first, 20 * end).reshape(-1, 4, 5))
    said = "a.raw: 140 different values, from 0 to 139: grey levels?"
    assert all(line.startswith(said) for line in on_ranks(2, run(grey)))
    assert on_ranks(8, run(planes)) == ["a.raw: 7 planes along z for 8 ranks: use at most 7"] * 8


@st.composite
def images(draw):
    """Small images of any porosity, in which paths wind through the faces."""
    shape = draw(st.tuples(st.integers(3, 7), st.integers(1, 5), st.integers(1, 5)))
    return np.random.default_rng(draw(st.integers(0, 999))).random(shape) < draw(st.sampled_from([0.3, 0.6, 0.8]))


def spiral() -> np.ndarray:
    """A path along z that comes out where it went in only after two copies of the image."""
    solid = np.ones((4, 1, 2), bool)
    solid[:2, 0, 0] = solid[2:, 0, 1] = False
    return solid


@settings(max_examples=60)
@example(spiral(), 2, "z")
@given(images(), st.integers(1, 3), st.sampled_from("xyz"))
def test_slabs_know_what_the_whole_image_does(solid, ranks, axis):
    whole = PoreSpace(solid)

    def run(rank):
        slab = cut(solid, rank)
        facts = slab.shape, slab.pores, slab.porosity, slab.specific_surface, slab.percolates(axis)
        across = [counts.tolist() for counts in slab.pores_across()]
        filled = slab.padded((1, 0, 1)).reached(axis)
        return facts, across, filled.solid, filled.cropped(slab.shape).solid, filled.shape

    facts = whole.shape, whole.pores, whole.porosity, whole.specific_surface, whole.percolates(axis)
    found, filled = on_ranks(ranks, run), whole.padded((1, 0, 1)).reached(axis)
    for here in found:
        assert here[:2] == (facts, [counts.tolist() for counts in whole.pores_across()])
        assert here[4] == filled.shape
    np.testing.assert_array_equal(np.concatenate([here[2] for here in found]), filled.solid)
    np.testing.assert_array_equal(np.concatenate([here[3] for here in found]), filled.cropped(whole.shape).solid)


@pytest.mark.parametrize("sides", ["periodic", "wall"])
@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_permeability_of_slabs_has_the_bits_of_one_rank(axis, sides):
    solid = np.random.default_rng(5).random((7, 5, 6)) < 0.25
    options = {"axis": axis, "sides": sides, "strategy": "sparse", "interval": 4, "tolerance": 0.3, "collision": "bgk"}

    def run(rank):
        return flow_through(cut(solid, rank), PlainDevice(), ranks=rank, keep_velocity=True, **options)

    alone = flow_through(PoreSpace(solid), PlainDevice(), keep_velocity=True, **options)
    for ranks in (1, 2, 3):
        found = on_ranks(ranks, run)
        assert {each.k for each in found} == {alone.k}
        assert {(each.porosity, each.force, each.result) for each in found} == {
            (alone.porosity, alone.force, alone.result)
        }
        np.testing.assert_array_equal(found[0].velocity, alone.velocity)


@given(st.lists(st.floats(-1e6, 1e6, width=32), max_size=40), st.integers(1, 4), st.randoms())
def test_a_sum_has_the_same_bits_in_any_order_and_on_any_ranks(numbers, ranks, chance):
    def total(values, rank):
        most = lambda number: float(rank.gather(np.array([number])).max())  # noqa: E731
        return reproducible_sum(np.array(values, np.float32), np, most, rank.sum)

    expected = total(numbers, Alone())
    chance.shuffle(numbers)
    assert set(on_ranks(ranks, lambda rank: total(numbers[rank.rank :: ranks], rank))) == {expected}
    assert expected == pytest.approx(float(np.sum(np.array(numbers, np.float64))), rel=1e-12, abs=1e-8)


def test_a_sum_of_what_is_not_finite_is_none():
    for flaw in (np.nan, np.inf):
        assert np.isnan(reproducible_sum(np.array([1.0, flaw]), np, float, np.array))
