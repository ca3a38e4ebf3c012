"""Voxel images: porosity, surface, percolation and files, against geometry and against counting."""

import os
from math import pi
from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm import D2Q9, Model, PorousProblem, Problem, TwoFluids
from repro.lbm.boundaries import PERIODIC_BOX
from repro.lbm.media import PACKINGS, PoreSpace, random_blocks, random_spheres, read_image, sphere_crystal
from repro.lbm.media.spheres import solid_fraction, sphere_radius


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("chi", [0.3, 0.6, 0.85, 1.0])
def test_spheres_fill_the_fraction_of_the_cell_that_chi_says(packing, chi):
    solid = sphere_crystal(96, chi, packing)
    assert 1 - PoreSpace(solid).porosity == pytest.approx(solid_fraction(chi, packing), abs=2e-3)


@pytest.mark.parametrize(
    ("packing", "nearest"), [("simple", 1), ("body-centred", 3**0.5 / 2), ("face-centred", 0.5**0.5)]
)
def test_spheres_touch_at_chi_one(packing, nearest):
    assert 2 * sphere_radius(1.0, 1.0, packing) == pytest.approx(nearest, rel=1e-12)


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_crystal_has_the_symmetries_of_the_cube(packing):
    solid = sphere_crystal(20, 0.7, packing)
    for axes in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
        np.testing.assert_array_equal(solid, solid.transpose(axes))
    for axis in range(3):
        np.testing.assert_array_equal(solid, np.flip(solid, axis))


def test_specific_surface_of_spheres_is_that_of_spheres():
    solid = sphere_crystal(96, 0.6)
    exact = 2 * 4 * pi * sphere_radius(0.6, 96) ** 2 / 96**3
    assert PoreSpace(solid).specific_surface == pytest.approx(exact, rel=0.02)


@settings(max_examples=15, deadline=None)
@given(porosity=st.floats(0.35, 0.95), seed=st.integers(0, 99), diameter=st.floats(4, 12))
def test_random_spheres_have_exactly_the_porosity_and_repeat_with_their_seed(porosity, seed, diameter):
    solid = random_spheres((24, 28, 32), porosity, diameter, seed)
    # spheres at the same distance come and go together
    assert PoreSpace(solid).porosity == pytest.approx(porosity, abs=2e-3)
    np.testing.assert_array_equal(solid, random_spheres((24, 28, 32), porosity, diameter, seed))


def test_random_spheres_hardly_overlap_where_there_is_room():
    """Their surface is that of as many separate spheres."""
    porosity, diameter = 0.7, 12.0
    solid = random_spheres((72, 72, 72), porosity, diameter, 1)
    assert PoreSpace(solid).specific_surface == pytest.approx(6 / diameter * (1 - porosity), rel=0.04)


@settings(max_examples=15, deadline=None)
@given(porosity=st.floats(0.05, 0.95), seed=st.integers(0, 99), edge=st.integers(1, 8))
def test_random_blocks_reach_the_porosity_to_one_block(porosity, seed, edge):
    solid = random_blocks((16, 18, 20), porosity, edge, seed)
    assert porosity - edge**3 / solid.size <= PoreSpace(solid).porosity <= porosity


def reachable_copy(solid, axis):
    """Percolation by flooding several periodic copies in a row: does a pore meet itself in another copy?"""
    copies = 6
    pores = np.concatenate([~solid] * copies, axis)
    lateral = [a for a in range(3) if a != axis]
    first = np.zeros_like(pores)
    first[(slice(None),) * axis + (slice(0, solid.shape[axis]),)] = True
    for start in np.argwhere(pores & first):
        flood = np.zeros_like(pores)
        flood[tuple(start)] = True
        while True:
            grown = flood.copy()
            for step in np.ndindex(3, 3, 3):
                step = np.array(step) - 1
                if not 1 <= np.abs(step).sum() <= 2:
                    continue
                moved = np.roll(flood, [step[a] for a in lateral], lateral)
                moved = np.roll(moved, step[axis], axis)
                if step[axis]:
                    edge = (slice(None),) * axis + (0 if step[axis] > 0 else -1,)
                    moved[edge] = False
                grown |= moved & pores
            if (grown == flood).all():
                break
            flood = grown
        place = list(start)
        for copy in range(1, copies):
            place[axis] = start[axis] + copy * solid.shape[axis]
            if flood[tuple(place)]:
                return True
    return False


@settings(max_examples=60, deadline=None)
@given(shape=st.tuples(*[st.integers(1, 4)] * 3), seed=st.integers(0, 9999), porosity=st.floats(0.1, 0.6))
def test_percolation_is_a_path_to_the_next_copy_of_the_same_pore(shape, seed, porosity):
    solid = np.random.default_rng(seed).uniform(0, 1, shape) > porosity
    assume(not solid.all())
    for name, axis in (("x", 2), ("y", 1), ("z", 0)):
        assert PoreSpace(solid).percolates(name) == reachable_copy(solid, axis)


def test_touching_both_faces_is_not_percolating():
    """A pore goes from face to face but comes out where the next copy is solid."""
    solid = np.ones((1, 8, 4), bool)
    solid[0, 2, :2] = solid[0, 2:6, 1] = solid[0, 5, 1:] = False
    assert not PoreSpace(solid).percolates("x")
    solid[0, 2:6, 3] = False
    assert PoreSpace(solid).percolates("x")


def test_a_path_that_winds_through_several_copies_percolates():
    """In y a helix returns to itself only after some turns around x."""
    solid = np.ones((1, 6, 6), bool)
    for k in range(6):
        solid[0, k, k] = False
    assert PoreSpace(solid).percolates("x")
    assert PoreSpace(solid).percolates("y")


@pytest.mark.parametrize(
    ("solid", "axis", "message"),
    [
        (np.ones((2, 2, 2), bool), "x", "all solid"),
        (np.array([[[False, True]]]), "x", "do not connect along x"),
        (np.zeros((2, 2, 2), bool), "w", "axis = 'w': must be one of x, y, z"),
        (np.zeros((2, 2, 2), bool), "x", "no solid: without a wall"),
    ],
)
def test_a_medium_without_flow_is_refused(solid, axis, message):
    with pytest.raises(InputError, match=message):
        PoreSpace(solid).require_flow(axis)


@pytest.mark.parametrize(
    "image", [np.zeros((2, 2, 2), np.uint8), [[[False]]], np.zeros((2, 2), bool), np.zeros((0, 1, 1), bool)]
)
def test_what_is_no_image_is_refused(image):
    with pytest.raises(InputError, match="solid = .*: must be an array of booleans"):
        PoreSpace(image)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sphere_crystal(16, 0.0), "chi"),
        (lambda: sphere_crystal(16, 1.1), "chi"),
        (lambda: sphere_crystal(16, float("nan")), "chi"),
        (lambda: sphere_crystal(2, 0.5), "nodes = 2"),
        (lambda: sphere_crystal(16, 0.5, "hexagonal"), "packing"),
        (lambda: random_spheres((16, 16, 16), 0.0, 4, 0), "porosity"),
        (lambda: random_spheres((16, 16, 16), 1.0, 4, 0), "porosity"),
        (lambda: random_spheres((16, 16, 16), float("nan"), 4, 0), "porosity"),
        (lambda: random_spheres((16, 16, 16), 0.5, 9, 0), "diameter"),
        (lambda: random_spheres((16, 16), 0.5, 4, 0), "shape"),
        (lambda: random_blocks((16, 16, 16), 1.5, 4, 0), "porosity"),
        (lambda: random_blocks((16, 16, 16), 0.5, 17, 0), "edge"),
    ],
)
def test_wrong_numbers_are_refused_by_name(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.fixture
def written(tmp_path):
    solid = np.random.default_rng(5).uniform(0, 1, (3, 4, 5)) > 0.5

    def write(kind, values=None):
        image = (solid if values is None else values).astype(np.uint8)
        path = tmp_path / f"rock{len(list(tmp_path.iterdir()))}{kind}"
        if kind == ".npy":
            np.save(path, image)
        elif kind == ".raw":
            image.tofile(path)
        else:
            tifffile.imwrite(path, image, photometric="minisblack")
        return path

    return solid, write


@pytest.mark.parametrize("kind", [".npy", ".tif", ".tiff", ".raw"])
def test_an_image_is_read_back_from_every_kind_of_file(written, kind):
    solid, write = written
    path = write(kind)
    shape = solid.shape if kind == ".raw" else None
    np.testing.assert_array_equal(read_image(path, shape=shape), solid)
    np.testing.assert_array_equal(read_image(path, shape=shape, pore=1), ~solid)


def test_wrong_files_are_refused_in_one_line(written, tmp_path):
    _, write = written
    raw = write(".raw")
    broken = tmp_path / "broken.tif"
    broken.write_bytes(b"no image")
    grey = np.arange(60).reshape(3, 4, 5)
    cases = [
        ((tmp_path / "none.npy",), {}, "no such image"),
        ((tmp_path / "rock.png",), {}, "unknown kind"),
        ((raw,), {}, "needs its shape"),
        ((raw,), {"shape": (3, 4)}, "needs its shape"),
        ((raw,), {"shape": (3, 4, 6)}, "60 bytes, but 3 x 4 x 6"),
        ((raw,), {"shape": (3, 4, 5), "dtype": "uint16"}, "120 bytes"),
        ((raw,), {"shape": (3, 4, 5), "dtype": "voxel"}, "unknown type"),
        ((broken,), {}, "cannot be read"),
        ((write(".npy", grey),), {}, "60 different values, from 0 to 59: grey levels"),
        ((write(".npy", np.ones((3, 4, 5))),), {}, "no voxel has the pores' value 0"),
        ((write(".npy", np.zeros((3, 4, 5))),), {}, "no solid"),
        ((write(".npy", np.zeros((4, 5))),), {}, "three dimensions"),
        ((write(".npy", np.zeros((0, 4, 5))),), {}, "three dimensions"),
    ]
    for arguments, options, message in cases:
        with pytest.raises(InputError, match=message) as refused:
            read_image(*arguments, **options)
        assert "\n" not in str(refused.value)
    np.save(tmp_path / "floats.npy", np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match="float64"):
        read_image(tmp_path / "floats.npy")


@pytest.mark.parametrize("kind", [".npy", ".tif"])
@pytest.mark.parametrize("values", [3, 4])
def test_a_picture_in_colour_is_no_volume(tmp_path, kind, values):
    picture = (np.random.default_rng(1).uniform(0, 1, (32, 32, values)) > 0.5).astype(np.uint8)
    path = tmp_path / f"picture{kind}"
    if kind == ".npy":
        np.save(path, picture)
    else:
        tifffile.imwrite(path, picture, photometric="rgb", extrasamples=["unassalpha"] * (values - 3))
    with pytest.raises(InputError, match="a picture in colour") as refused:
        read_image(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("shape", [(10**5,) * 3, (10**9,) * 3, (2, 2, 3)])
def test_a_header_that_claims_more_than_the_file_holds_is_refused_before_anything_is_allocated(tmp_path, shape):
    path = tmp_path / "claims.npy"
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
        file.write(bytes(8))
    with pytest.raises(InputError, match="claims.npy: cannot be read as an image") as refused:
        read_image(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", [".npy", ".tif", ".raw"])
def test_a_pipe_or_an_empty_file_is_refused_before_it_is_opened(tmp_path, kind):
    """What stands in /proc says that it is empty, and may never end."""
    os.mkfifo(tmp_path / f"pipe{kind}")
    (tmp_path / f"empty{kind}").touch()
    for name in ("pipe", "empty"):
        with pytest.raises(InputError, match="no image file"):
            read_image(tmp_path / f"{name}{kind}")


@pytest.mark.parametrize("dtype", ["V0", "O", "(2,2)u1", "u1,u1", "S1", "f4", "(99999999999999999999,)u1", ",,"])
def test_a_raw_file_holds_whole_numbers(written, dtype):
    with pytest.raises(InputError, match="whole numbers, such as uint8"):
        read_image(written[1](".raw"), shape=(3, 4, 5), dtype=dtype)


def test_a_raw_file_larger_than_the_memory_is_refused_before_anything_is_allocated(tmp_path):
    with open(tmp_path / "huge.raw", "wb") as file:
        file.truncate(2**42)
    with pytest.raises(InputError, match="huge.raw needs 12 TiB"):
        read_image(tmp_path / "huge.raw", shape=(2**14,) * 3)
    # a product that no integer of 64 bits holds
    with pytest.raises(InputError, match="are 79228162514264337593543950336 bytes"):
        read_image(tmp_path / "huge.raw", shape=(2**32,) * 3)


@pytest.mark.skipif(not os.path.exists("/sys/devices/system/cpu/online"), reason="no files of the kernel here")
def test_a_raw_image_that_ends_before_its_size_is_refused(tmp_path):
    """The kernel says that a few letters are a page of memory."""
    source, path = Path("/sys/devices/system/cpu/online"), tmp_path / "short.raw"
    path.symlink_to(source)
    with pytest.raises(InputError, match=f"{len(source.read_bytes())} bytes, but"):
        read_image(path, shape=(1, 1, path.stat().st_size))


@pytest.mark.parametrize("change", [-1, 1])
def test_an_array_is_as_long_as_its_header_says(written, change):
    path = written[1](".npy")
    content = path.read_bytes()
    path.write_bytes(content + b"1" if change > 0 else content[:-1])
    with pytest.raises(InputError, match="cannot be read as an image"):
        read_image(path)


def test_every_label_but_the_pores_is_solid_and_grey_levels_are_none(written):
    _, write = written
    labels = np.arange(60).reshape(3, 4, 5)
    np.testing.assert_array_equal(read_image(write(".npy", labels % 16), pore=3), labels % 16 != 3)
    with pytest.raises(InputError, match="17 different values, from 0 to 16: grey levels"):
        read_image(write(".npy", labels % 17))


def test_an_image_is_shown_by_its_size_and_porosity_in_whatever_holds_it():
    space = PoreSpace(np.eye(4, dtype=bool)[None])
    assert repr(space) == "PoreSpace(4 x 4 x 1 voxels, porosity 0.75)"
    box = Problem(Model(D2Q9, PERIODIC_BOX), (4, 4, 1), 1.0, solid=space.solid)
    problems = [TwoFluids(space, 0.1, lattice=D2Q9), PorousProblem(space, 1.0, (0.0, 0.0, 0.0), "bgk", lattice=D2Q9)]
    for problem in problems:
        assert repr(space) in repr(problem)
    for problem in (box, *problems):
        assert "lattice=D2Q9" in repr(problem)
        assert "array" not in repr(problem)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("(42, 10, 9)", "1208 bytes, but its header says 3908"),
        ("(4000000000, 4000000000, 4000000000)", "1208 bytes, but its header says 64000000000000000000000000128"),
        ("(True, 10, 108)", "shape (True, 10, 108) and type uint8 by its header: must be whole numbers of voxels"),
        ("(-1, 10, 9)", "shape (-1, 10, 9) and type uint8 by its header: must be whole numbers of voxels"),
        ("(2**32, 10, 9)", "its header is damaged"),
    ],
)
def test_a_header_that_is_no_image_s_is_refused_with_what_it_says(tmp_path, header, said):
    file = tmp_path / "a.npy"
    np.save(file, np.zeros((12, 10, 9), np.uint8))
    content = file.read_bytes()
    shape, line = b"(12, 10, 9)", content[10:128]
    wanted = line.replace(shape, header.encode()).rstrip()
    file.write_bytes(content[:10] + wanted.ljust(117) + b"\n" + content[128:])
    with pytest.raises(InputError) as refused:
        read_image(file)
    assert str(refused.value) == f"a.npy: cannot be read as an image: {said}"


@pytest.mark.parametrize("pore", [np.array([0, 1]), True, 1.0, "0", None])
def test_the_value_of_a_pore_is_a_whole_number(written, pore):
    with pytest.raises(InputError, match="^pore = .*: must be a whole number, the value of a pore$"):
        read_image(written[1](".npy"), pore=pore)


def test_the_shape_of_a_raw_image_may_be_of_numpys_numbers(tmp_path):
    image = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) % 2
    image.tofile(tmp_path / "a.raw")
    np.testing.assert_array_equal(read_image(tmp_path / "a.raw", shape=tuple(np.array(image.shape))), image == 1)


def test_a_masked_image_is_none():
    image = np.ma.masked_array(np.eye(3, dtype=bool)[None], mask=True)
    with pytest.raises(InputError, match="solid = a masked array of bool of the shape"):
        PoreSpace(image)
