"""An animation is a file of the record like its figures, small, and shows the frames it was given."""

import json

import matplotlib
import numpy as np
import pytest
from PIL import Image

from repro.errors import CheckError, InputError
from repro.study.keep import record as module
from repro.study.keep.record import keep_animation, keep_film, open_record

matplotlib.use("Agg")
COLOURS = ["#333333", "#0072B2", "#E69F00"]
FRAMES = np.random.default_rng(1).integers(0, 3, (4, 5, 7)).astype(np.uint8)
CAPTIONS = ["a", "b", "c", "d"]


@pytest.fixture
def record(good, tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_OUTPUT", str(tmp_path / "out"))
    return open_record("toy/good", parameters={"value": 1.0}, claims=[])


def test_every_frame_is_shown_the_first_row_at_the_bottom(record):
    file = keep_animation(record, "Two phases", FRAMES, COLOURS, CAPTIONS)
    assert json.loads(record.close().read_text())["figures"]["Two phases"]["files"] == [f"figures/{file.name}"]
    assert file == record.folder / "figures/toy-good-two-phases.gif"
    factor = module.WIDTH // 7
    with Image.open(file) as film:
        assert film.n_frames == 4
        for number, frame in enumerate(FRAMES):
            film.seek(number)
            pixels = np.array(film.convert("RGB"))
            assert pixels.shape == (module.CAPTION + 5 * factor, 7 * factor, 3)
            shown = pixels[module.CAPTION + factor // 2 :: factor, factor // 2 :: factor][::-1]
            expected = [[tuple(bytes.fromhex(COLOURS[k][1:])) for k in row] for row in frame]
            np.testing.assert_array_equal(shown, expected)


def test_the_same_frames_are_the_same_file(record):
    first = keep_animation(record, "a", FRAMES, COLOURS, CAPTIONS).read_bytes()
    assert keep_animation(record, "a", FRAMES, COLOURS, CAPTIONS).read_bytes() == first


def test_an_animation_that_is_too_large_is_refused(record, monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 100)
    with pytest.raises(CheckError, match="animation 'a' takes .* MB.*give fewer frames"):
        keep_animation(record, "a", FRAMES, COLOURS, CAPTIONS)
    assert json.loads(record.close().read_text())["figures"] == {}


@pytest.mark.parametrize(
    ("frames", "captions"),
    [
        (FRAMES[0], CAPTIONS),
        (FRAMES[:0], []),
        (FRAMES, CAPTIONS[:3]),
        (FRAMES + 1, CAPTIONS),
        (FRAMES.astype(float), CAPTIONS),
    ],
)
def test_what_is_no_film_is_refused(record, frames, captions):
    with pytest.raises(InputError, match="animation 'a'"):
        keep_animation(record, "a", frames, COLOURS, captions)


def test_images_are_shown_as_they_are_but_for_their_number_of_colours(record):
    ramp = np.arange(64, dtype=np.uint8)
    images = np.stack([np.stack(np.meshgrid(ramp, 2 * ramp[:32]), -1)[..., [0, 1, 1]] for _ in range(2)])
    images[1] //= 2
    with Image.open(keep_film(record, "Water", images, ["first", "second"])) as film:
        assert (film.n_frames, film.info["loop"]) == (2, 2)
        for number, image in enumerate(images):
            film.seek(number)
            # the last one stays ten times as long
            assert film.info["duration"] == (150, 1500)[number]
            shown = np.array(film.convert("RGB"))[module.CAPTION :].astype(int)
            assert np.abs(shown - image).mean() < 8


@pytest.mark.parametrize(
    ("images", "captions"),
    [
        (np.zeros((2, 4, 4), np.uint8), ["a", "b"]),
        (np.zeros((2, 4, 4, 3)), ["a", "b"]),
        (np.zeros((2, 4, 4, 3), np.uint8), ["a"]),
        (np.zeros((0, 4, 4, 3), np.uint8), []),
    ],
)
def test_what_is_no_film_of_images_is_refused(record, images, captions):
    with pytest.raises(InputError, match="animation 'a': .* captions"):
        keep_film(record, "a", images, captions)
