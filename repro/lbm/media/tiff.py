"""Volumes from TIFF files: every page that a file holds and claims, or the reason why not.

tifffile makes the best of what it finds: it only logs a chain of pages that ends early, reads one of several series,
and fills with zeros what is missing. Zeros are pores, so all of that is an error here.
"""

import logging
import lzma
import os
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from math import prod
from pathlib import Path

import numpy as np
import tifffile

from repro.errors import short
from repro.files import regular_file

from .planes import Planes

ENDINGS = (".tif", ".tiff")

#: what counts slices: depth, or pages of which no more is known
_DEPTH = ("Z", "I", "Q")

#: what tifffile's messages begin with
_ANGLES = re.compile(r"<tifffile[^>]*> ")

#: bytes that a file may have after the last page: room that was kept for its tables
_PADDING = 64

#: the width of an image, as the table of every page has it, in either order of bytes
_WIDTH = re.compile(rb"\x00\x01[\x03\x04\x10]\x00\x01\x00\x00\x00|\x01\x00\x00[\x03\x04\x10]\x00{3,7}\x01")


class NoCubesWarning(UserWarning):
    """The voxels of an image are no cubes."""


def open_tiff(path: Path) -> Planes:
    """The pages of a file in their order, (nz, ny, nx), or (ny, nx) of one page; raises ValueError for a flaw."""
    return _opened(path)[0]


def _opened(path: Path) -> tuple[Planes, str]:
    """The pages of a file, and of what kind they are; no voxel is read."""
    with _pages(path) as (file, pages, series, said):
        if not pages:
            raise ValueError(f"no page found in {file.filehandle.size} bytes")
        _check_pages(pages, series)
        _check_count(file, pages, series)
        if said:
            raise ValueError(
                f"{len(pages)} pages found in {file.filehandle.size} bytes, and then: {_ANGLES.sub('', said[0])}"
            )
        for number, page in enumerate(pages, 1):
            _check_segments(file.filehandle, page, number)
        _check_rest(file, pages, series)
        _warn_of_bricks(file, pages[0], path.name)
        whole = len(series) == 1
        shape = series[0].shape if whole else (len(pages), *pages[0].shape)
        kind, dtype = _kind(pages[0]), np.dtype(series[0].dtype)
    return Planes(path.name, tuple(shape), dtype, partial(_read, path)), kind


def _read(path: Path, first: int, end: int) -> np.ndarray:
    """Some planes of a file; of one page that is alone the page."""
    with _pages(path) as (file, pages, series, said):
        page_of = list(series[0].pages) if len(series) == 1 else pages
        follow = prod(series[0].shape[:-2]) > len(pages)
        for page in page_of[:1] if follow else page_of[first:end]:
            _check_stored(file.filehandle, pages[page.index], page.index + 1)
        if follow:
            # ImageJ's only page of a large file, which the others follow
            plane = prod(series[0].shape[1:])
            start = series[0].dataoffset + first * plane * series[0].dtype.itemsize
            kind = series[0].dtype.newbyteorder(file.byteorder)
            image = file.filehandle.read_array(kind, (end - first) * plane, start)
            image = image.reshape(end - first, *series[0].shape[1:])
        else:
            image = np.stack([pages[page.index].asarray() for page in page_of[first:end]])
            image = image if len(series[0].shape) == 3 or len(series) > 1 else image[0]
    if said:
        raise ValueError(_ANGLES.sub("", said[0]))
    return image


@contextmanager
def _pages(path: Path) -> Iterator[tuple]:
    """An open file, its pages and series, and what tifffile says of it meanwhile."""
    said = []
    # a file of several files may name any of them: what is not in this one is missing
    with _listening(said), tifffile.TiffFile(path, _multifile=False) as file:
        pages = [file.pages.get(n, cache=False, aspage=True) for n in range(len(file.pages))]
        yield file, pages, list(file.series), said


def open_slices(folder: Path) -> Planes:
    """The slices of a folder, (nz, ny, nx), slice2 before slice10; raises ValueError for a stray or missing one."""
    files = in_order([file.name for file in folder.iterdir()])
    places = {}
    for name in files:
        place = os.stat(regular_file(folder / name, "slice"))
        if (other := places.setdefault((place.st_dev, place.st_ino), name)) != name:
            raise ValueError(
                f"{name} is a link to {other}, or both to one file: each slice must have a file of its own"
            )
    first_slice, kind = _opened_slice(folder / files[0])

    def read(first: int, end: int) -> np.ndarray:
        slices = []
        for name in files[first:end]:
            piece, found = _opened_slice(folder / name)
            if found != kind:
                raise ValueError(f"{name} is {found}, and {files[0]} is {kind}")
            slices.append(piece.voxels(0, 1))
        return np.stack(slices)

    return Planes(folder.name, (len(files), *first_slice.shape), first_slice.dtype, read)


def _opened_slice(path: Path) -> tuple[Planes, str]:
    piece, kind = _opened(path)
    if len(piece.shape) != 2:
        raise ValueError(f"{path.name} holds {piece.shape[0]} slices: one file of a folder is one slice")
    return piece, kind


def in_order(names: list[str]) -> list[str]:
    """Names of slices by their number, in which alone they differ; raises ValueError for others and for gaps."""
    if not names:
        raise ValueError("an empty folder: it must hold the slices of an image, as TIFF files")
    if strays := sorted(name for name in names if Path(name).suffix.lower() not in ENDINGS):
        raise ValueError(f"{strays[0]} is no TIFF file: a folder of slices must hold nothing else")
    parts = {name: re.split(r"([0-9]+)", name) for name in sorted(names)}
    first, *others = parts.values()
    places = {n for other in others for n, (a, b) in enumerate(zip(first, other, strict=False)) if a != b}
    if any(len(other) != len(first) for other in others) or len(places) > 1 or any(n % 2 == 0 for n in places):
        raise ValueError(f"{', '.join(sorted(names)[:3])}: names of slices must differ in one number and nothing else")
    if not others:
        return names
    place = places.pop()
    ordered = sorted(parts, key=lambda name: int(parts[name][place]))
    numbers = [int(parts[name][place]) for name in ordered]
    for name, here, following in zip(ordered, numbers, numbers[1:], strict=False):
        if following != here + 1:
            raise ValueError(
                f"{len(names)} slices numbered from {numbers[0]} to {numbers[-1]}, of which there must be "
                f"{numbers[-1] - numbers[0] + 1}: after {name} comes number {following}"
            )
    return ordered


@contextmanager
def _listening(said: list[str]) -> Iterator[None]:
    """Keep what tifffile logs instead of showing it."""
    log, handler = logging.getLogger("tifffile"), logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    propagates, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagates


def _kind(page) -> str:
    """What all slices share, in words: size and type, what their values stand for, and which corner comes first."""
    values = tifffile.PHOTOMETRIC(page.photometric).name.lower()
    palette = "" if page.colormap is None else f" {zlib.crc32(page.colormap.tobytes()):08x}"
    size = " x ".join(map(str, page.shape))
    return f"{size} of {page.dtype}, {values}{palette}, orientation {page.tags.valueof('Orientation', default=1)}"


def _check_pages(pages: list, series: list) -> None:
    """One kind of grey or label image on all pages, and no axis but depth across them."""
    for number, page in enumerate(pages, 1):
        if page.is_volumetric:
            raise ValueError(f"page {number} is a volume of {page.imagedepth} slices: save each slice as a page")
        if page.is_reduced or page.is_mask:
            raise ValueError(f"page {number} is a smaller copy or a mask of another: save the slices alone")
        if page.samplesperpixel > 1:
            raise ValueError(f"a picture in colour, of {page.samplesperpixel} values a pixel")
        if page.subifds:
            raise ValueError(f"page {number} holds more images, as a pyramid does: give the finest alone")
        if (kind := _kind(page)) != (first := _kind(pages[0])):
            raise ValueError(f"{len(pages)} pages of several kinds: page {number} is {kind}, and page 1 is {first}")
    for part in series:
        if len(part.levels) > 1:
            raise ValueError(f"a pyramid of {len(part.levels)} levels: give the finest alone")
        if part.axes not in ("YX", *(f"{depth}YX" for depth in _DEPTH)):
            raise ValueError(f"axes {part.axes} of {part.shape}: save the slices as ZYX (T is time, C a channel)")


def _check_count(file, pages: list, series: list) -> None:
    """As many slices as the file says in any of its descriptions."""
    slices = sum(prod(part.shape[:-2]) for part in series)
    # ImageJ describes all slices of a large file on its only page, and they follow one another
    start, count = series[0].dataoffset, series[0].nbytes
    follow = len(pages) == 1 and start is not None and start + count <= file.filehandle.size
    found = slices if follow else len(pages)
    if file.is_ome and series[0].kind != "ome":
        raise ValueError(f"an OME-TIFF of several files, of which this one holds {found} slices: join them in one file")
    if file.is_ome and len(series) > 1:
        raise ValueError(f"{len(series)} images in one OME-TIFF: save the one that is meant alone")
    numbers = {place: page.tags["PageNumber"].value for place, page in enumerate(pages) if "PageNumber" in page.tags}
    if any(number for number, _ in numbers.values()) and len({n - place for place, (n, _) in numbers.items()}) > 1:
        raise ValueError(f"pages numbered {short([n for n, _ in numbers.values()])}: some are lost, or out of order")
    claims = {"its pages' numbers": max((total for _, total in numbers.values()), default=0)}
    claims["ImageJ's description"] = (file.imagej_metadata or {}).get("images", 0) if file.is_imagej else 0
    shapes = [tifffile.tifffile.shaped_description_metadata(page.description) for page in pages if page.is_shaped]
    claims["its description"] = sum(prod(said["shape"]) for said in shapes) // prod(pages[0].shape)
    claims["its series"] = slices
    for what, expected in claims.items():
        if expected not in (0, found):
            raise ValueError(f"{found} slices found, and {expected} expected from {what}")
    # OME names the page of each slice: of none there would be zeros
    used = [None if page is None else page.index for part in series for page in part.pages]
    if None in used:
        raise ValueError(f"{len(used)} slices expected, and number {used.index(None) + 1} has no page")
    if twice := [number for number in used if used.count(number) > 1]:
        raise ValueError(f"page {twice[0] + 1} is {used.count(twice[0])} slices at once, and others are none")


def _segments(page) -> tuple[list[tuple[int, int]], list[int]]:
    """Where each strip or tile of a page lies, (offset, bytes), and how many bytes of voxels each must hold."""
    rows, width = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    across, row = -(-page.imagewidth // width), -(-width * page.bitspersample // 8)
    count = across * -(-page.imagelength // rows)
    # tiles are whole, the last strip is not
    heights = [rows if page.is_tiled else min(rows, page.imagelength - n * rows) for n in range(count)]
    return list(zip(page.dataoffsets, page.databytecounts, strict=True)), [high * row for high in heights]


def _check_segments(handle, page, number: int) -> None:
    """Each strip or tile is there."""
    segments, wanted = _segments(page)
    if len(segments) != len(wanted):
        raise ValueError(f"page {number} has {len(segments)} strips or tiles, and {len(wanted)} expected")
    for offset, count in segments:
        if not offset or not count or offset + count > handle.size:
            raise ValueError(f"page {number}: {count} bytes at {offset} are not in the file, which has {handle.size}")


def _check_stored(handle, page, number: int) -> None:
    """Each strip or tile is as long as the voxels in it."""
    for (offset, count), wanted in zip(*_segments(page), strict=True):
        found = _unpacked(_bytes(handle, offset, count), page.compression, wanted + 1)
        # the only page of a file may be followed by the slices it describes
        if found != wanted:
            more = "or more " if found > wanted else ""
            raise ValueError(f"page {number}: {found} bytes {more}of voxels found, and {wanted} expected")


def _warn_of_bricks(file, page, name: str) -> None:
    """A voxel is a cube of the side voxel_size; ImageJ and OME also store other sides, which nobody reads here."""
    across = [page.tags.valueof(f"{axis}Resolution", default=(1, 1)) for axis in "XY"]
    sides = [pieces / length if length else 0.0 for length, pieces in across]
    if file.is_imagej:
        sides.append(file.imagej_metadata.get("spacing", sides[0]))
    elif file.is_ome:
        said = dict(re.findall(r'PhysicalSize([XYZ]) *= *"([0-9.eE+-]+)"', file.ome_metadata))
        units = set(re.findall(r'PhysicalSize[XYZ]Unit *= *"([^"]*)"', file.ome_metadata))
        sides = [float(side) for side in said.values()] if len(units) < 2 else []
    if sides and max(sides) > 1.01 * min(sides) > 0:
        warnings.warn(
            f"{name}: voxels of {' x '.join(f'{side:g}' for side in sides)} by what the file says: they are read as "
            "cubes with the side voxel_size; resample the image",
            NoCubesWarning,
            stacklevel=2,
        )


def _bytes(handle, start: int, count: int) -> bytes:
    handle.seek(start)
    return handle.read(count)


def _unpacked(packed: bytes, compression: int, most: int) -> int:
    """How many bytes a strip or tile unpacks to, of which no more than `most` are: the rest could fill the memory."""
    match compression:
        case 1:
            return len(packed)
        case 8 | 32946:
            return len(zlib.decompressobj().decompress(packed, most))
        case 34925:
            return len(lzma.LZMADecompressor().decompress(packed, most))
    return memoryview(tifffile.TIFF.DECOMPRESSORS[compression](packed, out=most)).nbytes


def _check_rest(file, pages: list, series: list) -> None:
    """No bytes behind the pages, and none between them that could be a page: one that no other leads to is lost."""
    handle, big = file.filehandle, file.is_bigtiff
    spans = [(0, 16 if big else 8)]
    for page in pages:
        spans += zip(page.dataoffsets, page.databytecounts, strict=True)
        spans.append((page.offset, (16 if big else 6) + (20 if big else 12) * len(page.tags)))
    for (start, count), (following, _) in pairwise(sorted(spans)):
        if following < start + count:
            raise ValueError(f"the bytes at {following} are in two strips or tables of pages: other voxels are lost")
    spans += [(tag.valueoffset, tag.valuebytecount) for page in pages for tag in page.tags]
    spans += [(part.dataoffset, part.nbytes) for part in series if part.dataoffset is not None]
    least = max(_PADDING, min(sum(page.databytecounts) for page in pages))
    # tables that share a value, such as the colours of labels, leave room for one each
    places = Counter((tag.valueoffset, tag.valuebytecount) for page in pages for tag in page.tags)
    spare = _PADDING + max((count for (_, count), times in places.items() if times > 1), default=0)
    reached, size = 0, handle.size
    for start, count in sorted(spans):
        gap = start - reached
        # a page that no other leads to leaves its voxels there, or its table
        if gap >= max(least, spare + 1) or (gap > _PADDING and _WIDTH.search(_bytes(handle, reached, gap))):
            raise ValueError(f"{len(pages)} pages found, and {gap} bytes between them: pages are lost")
        reached = max(reached, start + count)
    lost = _WIDTH.search(_bytes(handle, reached, max(0, size - reached)))
    if abs(size - reached) > (_PADDING if lost or size < reached else spare):
        raise ValueError(f"{size} bytes found, and {reached} expected by its {len(pages)} pages")
