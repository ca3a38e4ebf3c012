"""A TIFF volume is read whole, slice by slice in its order, or refused in one line with what was found."""

import os
import re
import tracemalloc
import warnings
from itertools import pairwise, product

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as some

from repro.errors import InputError
from repro.lbm.media import read_image
from repro.lbm.media.tiff import in_order

VOXELS = (np.random.default_rng(3).random((12, 10, 9)) < 0.35).astype(np.uint8)
GREY, DEEP = {"photometric": "minisblack"}, {"axes": "ZYX"}

WHOLE = {
    "described": {},
    "plain": {"metadata": None},
    "big": {"bigtiff": True},
    "big-endian": {"byteorder": ">", "dtype": ">u2"},
    "signed": {"dtype": "i2"},
    "compressed": {"compression": "zlib"},
    "tiled": {"tile": (16, 16)},
    "strips": {"rowsperstrip": 3},
    "one bit": {"dtype": bool},
    "imagej": {"imagej": True, "metadata": DEEP},
    "ome": {"ome": True, "metadata": DEEP},
}


def write(path, voxels=VOXELS, dtype=None, **options):
    tifffile.imwrite(path, voxels.astype(dtype or voxels.dtype), **GREY, **options)
    return path


def refusal(path):
    with pytest.raises(InputError) as refused:
        read_image(path)
    assert str(refused.value).startswith(f"{path.name}: ")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("kind", WHOLE)
def test_a_volume_is_read_back_and_none_is_read_of_a_file_cut_off_or_with_more_behind(tmp_path, kind):
    path = write(tmp_path / "rock.tif", **WHOLE[kind])
    np.testing.assert_array_equal(read_image(path), VOXELS == 1)
    content = path.read_bytes()
    for share in (0.3, 0.6, 0.9):
        path.write_bytes(content[: int(share * len(content))])
        refusal(path)
    path.write_bytes(content + bytes(200))
    assert f"{len(content) + 200} bytes found" in refusal(path)


@pytest.mark.parametrize("kind", ["described", "plain", "compressed", "ome"])
def test_a_chain_of_pages_that_ends_early_or_returns_is_refused(tmp_path, kind):
    path = write(tmp_path / "rock.tif", **WHOLE[kind])
    with tifffile.TiffFile(path) as file:
        first, page = file.pages[0].offset, file.pages.get(6, aspage=True)
        place = page.offset + 2 + 12 * len(page.tags)
    content = path.read_bytes()
    for following in (0, first, len(content) + 8):
        path.write_bytes(content[:place] + following.to_bytes(4, "little") + content[place + 4 :])
        refusal(path)


def rewired(path, change):
    """A file in tifffile's layout, voxels first and the tables of pages behind, with some bytes changed."""
    write(path, metadata=None)
    content = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as file:
        pages = [file.pages.get(n, aspage=True) for n in range(len(VOXELS))]
        following = [page.offset + 2 + 12 * len(page.tags) for page in pages]
        strips = [page.tags["StripOffsets"].valueoffset for page in pages]
        for place, value in change([page.offset for page in pages], following, strips).items():
            content[place : place + 4] = value.to_bytes(4, "little")
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("lost", [{4}, {1, 3, 5, 7, 9}, {4, 5, 6}])
def test_pages_left_out_of_the_chain_are_missed(tmp_path, lost):
    kept = [n for n in range(len(VOXELS)) if n not in lost]

    def skip(pages, following, _):
        return {following[n]: pages[after] for n, after in pairwise(kept)}

    assert f"{len(kept)} pages found, and" in refusal(rewired(tmp_path / "rock.tif", skip))


@pytest.mark.parametrize(("page", "place"), [(6, 16 + 5 * VOXELS[0].size), (11, 16 + 12 * VOXELS[0].size - 30), (0, 4)])
def test_voxels_of_a_page_are_those_of_no_other_nor_its_table(tmp_path, page, place):
    path = rewired(tmp_path / "rock.tif", lambda pages, following, strips: {strips[page]: place})
    assert "are in two strips or tables of pages" in refusal(path)


@pytest.mark.parametrize(
    ("numbers", "right"),
    [
        (range(12), True),
        (range(1, 13), True),
        ([0] * 12, True),
        (range(0, 24, 2), False),
        (range(12, 0, -1), False),
        ([0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10], False),
    ],
)
def test_numbers_of_pages_rise_by_one_where_they_are_given(tmp_path, numbers, right):
    path = tmp_path / "rock.tif"
    with tifffile.TiffWriter(path) as file:
        for number, plane in zip(numbers, VOXELS, strict=True):
            tag = (297, 3, 2, (number, 0), True)
            file.write(plane, metadata=None, contiguous=False, extratags=[tag], **GREY)
    if right:
        np.testing.assert_array_equal(read_image(path), VOXELS == 1)
    else:
        assert "pages numbered [" in refusal(path)


@pytest.mark.parametrize("compression", ["zlib", "lzma"])
def test_no_more_is_unpacked_than_the_voxels_that_a_page_has(tmp_path, compression):
    size, rows = 1 << 24, 1 << 18
    voxels = np.zeros((2, rows, size // rows), np.uint8)
    path = write(tmp_path / "bomb.tif", voxels, metadata=None, compression=compression, rowsperstrip=rows)
    content = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as file:
        for page, name in product(file.pages, ("ImageLength", "RowsPerStrip")):
            tag = page.tags[name]
            content[tag.valueoffset : tag.valueoffset + tag.valuebytecount] = (8).to_bytes(tag.valuebytecount, "little")
    path.write_bytes(content)
    tracemalloc.start()
    try:
        assert "513 bytes or more of voxels found, and 512 expected" in refusal(path)
        # the dictionary of LZMA takes 8 MiB whatever there is to unpack
        assert tracemalloc.get_traced_memory()[1] < 0.6 * size
    finally:
        tracemalloc.stop()


def test_a_page_that_is_a_volume_is_said_to_be_one(tmp_path):
    for options in ({}, {"tile": (16, 16, 16)}):
        path = write(tmp_path / "rock.tif", volumetric=True, **options)
        assert "page 1 is a volume of 12 slices: save each slice as a page" in refusal(path)


def test_a_page_that_is_a_mask_or_a_small_copy_of_another_is_no_slice(tmp_path):
    path = tmp_path / "rock.tif"
    with tifffile.TiffWriter(path) as file:
        for number, plane in enumerate(VOXELS):
            file.write(plane, metadata=None, contiguous=False, subfiletype=1 if number == 3 else 2, **GREY)
    assert "page 4 is a smaller copy or a mask" in refusal(path)


def test_missing_slices_are_counted_and_no_pores(tmp_path):
    path = write(tmp_path / "rock.tif", VOXELS[:8], metadata=None, description='{"shape": [12, 10, 9]}')
    assert "8 slices found, and 12 expected" in refusal(path)
    ome = write(tmp_path / "whole.ome.tif", ome=True, metadata=DEEP).read_bytes()
    (tmp_path / "rock.tif").write_bytes(
        ome.replace(b'SizeZ="12"', b'SizeZ="99"').replace(b'PlaneCount="12"', b'PlaneCount="99"')
    )
    assert "12" in refusal(path)
    assert "99" in refusal(path)


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ([0, 1, 2, 3, None, *range(5, 12)], "12 slices expected, and number 5 has no page"),
        ([0, 1, 2, 3, 3, *range(5, 12)], "page 4 is 2 slices at once"),
    ],
)
def test_an_ome_slice_without_a_page_of_its_own_is_named(tmp_path, pages, said):
    whole = tifffile.TiffFile(write(tmp_path / "whole.ome.tif", **WHOLE["ome"])).ome_metadata
    planes = [
        f'<TiffData FirstZ="{z}" IFD="{page}" PlaneCount="1"/>' for z, page in enumerate(pages) if page is not None
    ]
    text = re.sub(r"<TiffData.*</TiffData>|<TiffData[^>]*/>", "".join(planes), whole, flags=re.DOTALL)
    with tifffile.TiffWriter(tmp_path / "rock.tif", ome=False) as file:
        for z, slice_ in enumerate(VOXELS):
            file.write(slice_, **GREY, metadata=None, description=None if z else text.encode())
    assert said in refusal(tmp_path / "rock.tif")


def test_two_images_of_one_ome_file_are_not_stacked(tmp_path):
    with tifffile.TiffWriter(tmp_path / "rock.ome.tif") as file:
        for part in (VOXELS[:6], VOXELS[6:]):
            file.write(part, **GREY, metadata=DEEP)
    assert "2 images in one OME-TIFF" in refusal(tmp_path / "rock.ome.tif")


def test_series_of_one_shape_and_type_are_stacked_in_the_order_of_their_pages(tmp_path):
    path = tmp_path / "rock.tif"
    with tifffile.TiffWriter(path) as file:
        for number, plane in enumerate(VOXELS):
            file.write(plane, compression="zlib" if number % 3 else None, metadata=None, **GREY)
    np.testing.assert_array_equal(read_image(path), VOXELS == 1)


@pytest.mark.parametrize("other", [VOXELS[0, :5], VOXELS[0].astype(np.uint16)])
def test_pages_of_several_kinds_are_refused(tmp_path, other):
    path = tmp_path / "rock.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(VOXELS, **GREY)
        file.write(other, **GREY)
    assert "13 pages of several kinds: page 13" in refusal(path)


def test_a_pyramid_and_axes_that_are_no_depth_are_refused(tmp_path):
    path = tmp_path / "rock.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(VOXELS, subifds=1, **GREY)
        file.write(VOXELS[:, ::2, ::2], subfiletype=1, **GREY)
    assert "pyramid" in refusal(path)
    for axes in ("TYX", "CYX"):
        for kind in ("imagej", "ome"):
            assert f"axes {axes}" in refusal(write(path, metadata={"axes": axes}, **{kind: True}))


PALETTES = [np.array([[first, 65535 - first] + [0] * 254] * 3, np.uint16) for first in (0, 65535)]
MEANINGS = {
    "palettes": [{"photometric": "palette", "colormap": palette} for palette in PALETTES],
    "white is zero": [{"photometric": "minisblack"}, {"photometric": "miniswhite"}],
    "turned": [{**GREY, "extratags": [(274, 3, 1, corner, True)]} for corner in (1, 3)],
}


@pytest.mark.parametrize("kind", MEANINGS)
def test_a_value_means_the_same_and_a_slice_lies_the_same_on_all_pages_and_in_all_files(tmp_path, kind):
    folder = tmp_path / "stack"
    folder.mkdir()
    with tifffile.TiffWriter(tmp_path / "rock.tif") as file:
        for number, plane in enumerate(VOXELS):
            options = {**MEANINGS[kind][number % 2], "metadata": None}
            file.write(plane, contiguous=False, **options)
            tifffile.imwrite(folder / f"slice{number}.tif", plane, **options)
    assert "12 pages of several kinds: page 2 is" in refusal(tmp_path / "rock.tif")
    assert "slice1.tif is 10 x 9" in refusal(folder)


@pytest.fixture
def stack(tmp_path):
    folder = tmp_path / "stack"
    folder.mkdir()
    for number, plane in enumerate(VOXELS, 1):
        write(folder / f"slice{number}.tif", plane)
    return folder


def test_slices_of_a_folder_are_in_the_order_of_their_numbers(stack):
    np.testing.assert_array_equal(read_image(stack), VOXELS == 1)


@given(count=some.integers(1, 200), start=some.integers(0, 1200), digits=some.integers(1, 5), chance=some.randoms())
def test_names_are_in_the_order_of_their_numbers_with_and_without_leading_zeros(count, start, digits, chance):
    names = [f"scan2_{number:0{digits}d}_8bit.tif" for number in range(start, start + count)]
    mixed = chance.sample(names, count)
    assert in_order(mixed) == names
    if count > 2:
        gone = names[count // 2]
        with pytest.raises(ValueError, match=f"{count - 1} slices numbered .* must be {count}"):
            in_order([name for name in mixed if name != gone])


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_file_is_one_slice_whatever_other_name_it_has(stack, link):
    (stack / "slice7.tif").unlink()
    link(stack / "slice3.tif", stack / "slice7.tif")
    assert "slice7.tif is a link to slice3.tif, or both to one file: each slice must have" in refusal(stack)


def test_slices_may_be_links_to_files_elsewhere(stack, tmp_path):
    (tmp_path / "chosen").mkdir()
    for file in stack.iterdir():
        (tmp_path / "chosen" / file.name).symlink_to(file)
    np.testing.assert_array_equal(read_image(tmp_path / "chosen"), VOXELS == 1)


def test_what_is_no_slice_in_a_folder_is_named(stack):
    (stack / "notes.txt").write_text("x")
    assert "notes.txt" in refusal(stack)
    (stack / "notes.txt").unlink()
    for wrong in (VOXELS[0, :5], VOXELS[0].astype(np.int8), VOXELS[:2]):
        write(stack / "slice13.tif", wrong)
        assert "slice13.tif" in refusal(stack)
    (stack / "slice13.tif").rename(stack / "other13.tif")
    assert "other13.tif" in refusal(stack)


@pytest.mark.parametrize(
    ("options", "sides"),
    [
        ({"resolution": (72, 72), "resolutionunit": "INCH"}, ""),
        ({"resolution": (100, 200)}, "0.01 x 0.005"),
        ({"imagej": True, "metadata": DEEP | {"spacing": 0.5}, "resolution": (2, 2)}, ""),
        ({"imagej": True, "metadata": DEEP | {"spacing": 2.5}}, "1 x 1 x 2.5"),
        ({"ome": True, "metadata": DEEP | {f"PhysicalSize{axis}": 2.0 for axis in "XYZ"}}, ""),
        ({"ome": True, "metadata": DEEP | {"PhysicalSizeX": 1, "PhysicalSizeY": 1, "PhysicalSizeZ": 3}}, "1 x 1 x 3"),
    ],
)
def test_voxels_that_are_no_cubes_by_what_a_file_says_are_warned_of(tmp_path, options, sides):
    file = write(tmp_path / "rock.tif", **options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert (read_image(file) == (VOXELS != 0)).all()
    expected = [f"rock.tif: voxels of {sides} by what the file says: they are read as cubes"] if sides else []
    assert [str(warning.message)[: len(text)] for warning, text in zip(said, expected, strict=True)] == expected


@pytest.mark.parametrize("options", [{}, {"metadata": None}, {"compression": "zlib"}], ids=str)
def test_labels_with_a_palette_are_read_and_a_lost_page_of_them_is_noticed(tmp_path, options):
    """All tables share the colours, and tifffile leaves room for a copy a page."""
    colours = {"photometric": "palette", "colormap": np.zeros((3, 256), "u2")}
    path = tmp_path / "labels.tif"
    tifffile.imwrite(path, VOXELS, **colours, **options)
    np.testing.assert_array_equal(read_image(path), VOXELS == 1)
    # the table of page 5 leads on to page 7
    with tifffile.TiffFile(path) as file:
        tables, content = [page.offset for page in file.pages], bytearray(path.read_bytes())
    place = next(p for p in range(len(content) - 4) if content[p : p + 4] == tables[5].to_bytes(4, "little"))
    content[place : place + 4] = tables[6].to_bytes(4, "little")
    path.write_bytes(content)
    refusal(path)


def test_a_header_without_a_page_is_refused(tmp_path):
    path = tmp_path / "header.tif"
    path.write_bytes(b"II*\0\0\0\0\0")
    assert "no page found in 8 bytes" in refusal(path)
