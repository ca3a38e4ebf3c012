"""Moving pictures in a notebook's record: GIF files that are published with its figures.

A module of its own: results without animations do not depend on it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from repro.errors import CheckError, InputError

from .paths import file_stem
from .record import Record, slug

LIMIT = 2_000_000
"""Bytes of an animation: it is looked at in a browser, and kept in the repository."""
WIDTH = 600
"""Pixels that a smaller picture is enlarged to, by a whole factor."""
CAPTION = 24
"""Height in pixels of the strip for the caption."""


def keep_animation(
    record: Record,
    name: str,
    frames: np.ndarray,
    colours: Sequence[str],
    captions: Sequence[str],
    *,
    milliseconds: int = 150,
) -> Path:
    """Save frames (number, height, width) of indices into `colours` as a GIF, a caption over each; returns the file.

    The last frame stays for a while, then it begins again. InputError for what is no such film, CheckError if it takes
    more than LIMIT bytes.
    """
    frames = np.asarray(frames)
    if frames.ndim != 3 or not len(frames) or len(captions) != len(frames):
        raise InputError(f"animation '{name}': frames of shape {frames.shape} with {len(captions)} captions")
    if frames.dtype.kind != "u" or frames.max() >= len(colours) or len(colours) > 254:
        raise InputError(f"animation '{name}': frames must hold indices of the {len(colours)} colours")
    palette = [value for colour in (*colours, "white", "black") for value in ImageColor.getrgb(colour)]
    pictures = [_picture(frame, caption, palette) for frame, caption in zip(frames, captions, strict=True)]
    return _keep(record, name, pictures, milliseconds)


def keep_film(
    record: Record, name: str, images: np.ndarray, captions: Sequence[str], *, milliseconds: int = 150
) -> Path:
    """The same of images (number, height, width, 3) in red, green and blue, bytes, the first row at the top."""
    images = np.asarray(images)
    if images.ndim != 4 or images.shape[-1] != 3 or images.dtype != np.uint8 or not 0 < len(images) == len(captions):
        raise InputError(f"animation '{name}': {images.dtype} images of shape {images.shape}, {len(captions)} captions")
    pictures = [_image(image, caption) for image, caption in zip(images, captions, strict=True)]
    return _keep(record, name, pictures, milliseconds)


def _keep(record: Record, name: str, pictures: list[Image.Image], milliseconds: int) -> Path:
    file = record.folder / "figures" / f"{file_stem(record.id)}-{slug(name)}.gif"
    file.parent.mkdir(parents=True, exist_ok=True)
    shown = [milliseconds] * (len(pictures) - 1) + [10 * milliseconds]
    pictures[0].save(file, save_all=True, append_images=pictures[1:], duration=shown, loop=0, optimize=False)
    if (size := file.stat().st_size) > LIMIT:
        raise CheckError(f"animation '{name}' takes {size / 1e6:.1f} MB, more than {LIMIT / 1e6:g}: give fewer frames")
    record._content["figures"][name] = {"files": [f"figures/{file.name}"]}
    return file


def _image(image: np.ndarray, caption: str) -> Image.Image:
    picture = Image.fromarray(np.pad(image, ((CAPTION, 0), (0, 0), (0, 0)), constant_values=255))
    _write(picture, caption, "black")
    return picture.quantize(128, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def _picture(frame: np.ndarray, caption: str, palette: list[int]) -> Image.Image:
    white, black = len(palette) // 3 - 2, len(palette) // 3 - 1
    factor = max(1, WIDTH // frame.shape[1])
    # rows of an image go down, those of an array up
    large = np.kron(frame[::-1].astype(np.uint8), np.ones((factor, factor), np.uint8))
    picture = Image.fromarray(np.pad(large, ((CAPTION, 0), (0, 0)), constant_values=white))
    picture.putpalette(palette)
    _write(picture, caption, black)
    return picture


def _write(picture: Image.Image, caption: str, ink) -> None:
    ImageDraw.Draw(picture).text((6, 3), caption, fill=ink, font=ImageFont.load_default(size=15))
