"""What a sample file says is what is read, and what is wrong with it is said in one line."""

import os

import numpy as np
import pytest
from helpers.checkouts import ROOT

from repro.errors import InputError
from repro.lbm.media import read_sample

VOXELS = np.array([[[0, 1, 0], [0, 0, 1]]], np.uint8)


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "rock.npy", VOXELS)
    (tmp_path / "rock.raw").write_bytes(VOXELS.astype(np.uint16).tobytes())
    return tmp_path


def write(folder, text):
    (folder / "rock.toml").write_text(text)
    return folder / "rock.toml"


def test_the_image_lies_beside_the_file_whatever_the_working_folder_is(folder):
    sample, solid = read_sample(write(folder, 'image = "rock.npy"\nvoxel_size = 2.5e-6\naxis = "z"\n'))
    assert (sample.voxel_size, sample.axis, sample.ends, sample.sides) == (2.5e-6, "z", "mirror", "wall")
    np.testing.assert_array_equal(solid, VOXELS == 1)


def test_a_raw_file_has_the_shape_the_type_and_the_pore_value_that_the_file_says(folder):
    text = 'image = "rock.raw"\nvoxel_size = 1e-6\nshape = [1, 2, 3]\ndtype = "uint16"\npore = 1\n'
    np.testing.assert_array_equal(read_sample(write(folder, text))[1], VOXELS == 0)


def test_the_shipped_sample_is_three_bores_of_the_sizes_that_its_file_says():
    path = ROOT / "data/samples/channels.toml"
    sample, solid = read_sample(path)
    bores = np.ones((32, 32, 32), bool)
    bores[6:22, 4:20, :] = bores[8:20, :, 10:24] = bores[:, 6:18, 8:20] = False
    np.testing.assert_array_equal(solid, bores)
    assert "16 x 16 voxels along x, 14 x 12 along y, 12 x 12 along z" in path.read_text()
    assert (sample.axis, sample.ends, sample.sides) == ("x", "periodic", "periodic")


SIZE = "voxel_size = 1e-6\n"
WRONG = {
    "\n": "image is missing",
    'image = "rock.npy"\n': "voxel_size is missing",
    'image = "rock.npy"\nvoxel_size = 0\n': "voxel_size = .*: must be a number from 1e-12 to 1, in m",
    'image = "rock.npy"\nvoxel_size = nan\n': "voxel_size = .*: must be a number from 1e-12 to 1, in m",
    'image = "rock.npy"\nvoxel_size = "2 um"\n': "voxel_size = .*: must be a number from 1e-12 to 1, in m",
    'image = "rock.npy"\nvoxel_size = true\n': "voxel_size = .*: must be a number from 1e-12 to 1, in m",
    'image = "rock.npy"\nvoxel_size = 1e-200\n': "voxel_size = .*: must be a number from 1e-12 to 1, in m",
    SIZE + 'image = "rock.npy"\nshape = [1, 2, 3]\n': "rock.npy: shape and dtype are for a .raw image alone",
    SIZE + 'image = "rock.npy"\ndtype = "uint8"\n': "rock.npy: shape and dtype are for a .raw image alone",
    SIZE + 'image = "rock.npy"\naxis = "w"\n': "axis = 'w': must be one of x, y, z",
    SIZE + 'image = "rock.npy"\nends = ["mirror"]\n': "ends = .*: must be one of periodic, mirror",
    SIZE + 'image = "rock.npy"\nvoxel = 1\n': "unknown key .voxel",
    SIZE + "image = 5\n": "image = 5",
    SIZE + 'image = ""\n': "image = '': must be a line of text with something in it",
    SIZE + 'image = "other.npy"\n': "other.npy",
    SIZE + 'image = "rock.npy"\npore = "a"\n': "pore = 'a'",
    SIZE + 'image = "rock.raw"\n': "shape",
    SIZE + 'image = "rock.raw"\nshape = [1, 2]\n': "shape",
    SIZE + 'image = "rock.raw"\nshape = 6\n': "shape",
    SIZE + 'image = "rock.raw"\nshape = [1, 2, "3"]\n': "shape",
    SIZE + 'image = "rock.raw"\nshape = [1, 2, 3]\ndtype = "int3"\n': "int3",
    SIZE + 'image = "rock.raw"\nshape = [1, 2, 3]\ndtype = 8\n': "dtype",
    "image = ": "not a TOML file",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_in_one_line_with_the_name_of_the_file(folder, text):
    with pytest.raises(InputError, match=WRONG[text]) as error:
        read_sample(write(folder, text))
    assert str(error.value).startswith("rock.toml: ")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="no such sample file"):
        read_sample(tmp_path / "rock.toml")


def test_a_mark_before_the_text_is_read_over_and_other_encodings_are_named(folder):
    path, text = folder / "rock.toml", 'image = "rock.npy"\n' + SIZE
    path.write_text(text, encoding="utf-8-sig")
    assert read_sample(path)[0].image == "rock.npy"
    path.write_text(text, encoding="utf-16")
    with pytest.raises(InputError, match="saved as UTF-8"):
        read_sample(path)


HUGE = "0x" + "f" * 4000


@pytest.mark.parametrize(
    "text",
    [
        *("pore = " + value for value in ("[" * 16_000, "9" * 5000, HUGE, f"[{HUGE}]")),
        # a name of dots takes the square of them in memory
        *(f"pore{count * '.a'} = 1" for count in (5000, 100_000)),
        "#" * (1 << 14) + "\n\n",
    ],
)
def test_a_description_too_deep_or_too_long_is_refused(folder, text):
    with pytest.raises(InputError, match="rock.toml: not a") as error:
        read_sample(write(folder, text))
    # nor in the words of Python
    assert not [words for words in ("\n", "sys.", "recursion") if words in str(error.value)]


def test_a_name_that_is_too_long_for_a_file_is_none(folder):
    with pytest.raises(InputError, match="no such sample file"):
        read_sample(folder / ("r" * 300 + ".toml"))
    with pytest.raises(InputError, match="no such image file"):
        read_sample(write(folder, f'image = "{"r" * 300}.npy"\n{SIZE}'))


def test_a_pipe_is_no_description(tmp_path):
    os.mkfifo(tmp_path / "rock.toml")
    with pytest.raises(InputError, match="no sample file"):
        read_sample(tmp_path / "rock.toml")
