"""A sealed file is read only where all of it is its own: nothing of another file, nothing larger than it."""

import gc
import os

import h5py
import numpy as np
import pytest
from helpers.full_disk import full_disk

from repro.checksummed_hdf5 import TEXT, entry, opened, seal, written
from repro.errors import InputError

KIND = "checkpoint of nothing"
SHAPE = (4, 3)


@pytest.fixture
def path(tmp_path):
    with written(tmp_path / "a.h5", KIND, 1) as file:
        file["state/r"], file["name"], file["empty"] = np.ones(SHAPE), "none", np.zeros((0, 3))
    # of another file, which the seal does not cover
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["r"] = np.full(SHAPE, 7.0)
    (tmp_path / "secret.raw").write_bytes(np.full(SHAPE, 7.0).tobytes())
    return tmp_path / "a.h5"


def read(path):
    with opened(path, KIND, 1) as file:
        texts = entry(file, "name", TEXT, ()), entry(file, "empty", np.dtype(float), (None, 3))
        return entry(file, "state/r", np.dtype(float), SHAPE), *texts


def test_what_was_written_is_read(path):
    values, name, empty = read(path)
    np.testing.assert_array_equal(values, np.ones(SHAPE))
    assert name == "none"
    assert empty.shape == (0, 3)


def test_a_pipe_is_no_checkpoint_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "a.h5")
    with pytest.raises(InputError, match="a.h5: no checkpoint file: it is a pipe, and must be a regular file"):
        read(tmp_path / "a.h5")


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("missing", [1, 300, 5000, 10**6])
def test_at_a_full_disk_the_reason_is_one_line_and_the_old_file_stays(path, missing, there):
    def write():
        with written(path, KIND, 1) as file:
            file.attrs["name"] = "none"
            for name in "abcdefgh":
                file[f"{name}/values"] = np.ones(300)

    write()
    old = path.read_bytes()
    room = max(0, len(old) - missing)
    if not there:
        path.unlink()
    with full_disk(room), pytest.raises(InputError) as refused:
        write()
    gc.collect()
    assert str(refused.value) == f"{path}: cannot be written: File too large"
    assert sorted(os.listdir(path.parent)) == ["a.h5"] * there + ["secret.h5", "secret.raw"]
    assert not there or path.read_bytes() == old


def _external_bytes(file):
    file["state"].create_dataset("r", SHAPE, float, external=[("secret.raw", 0, 96)])


def _external_link(file):
    file["state/r"] = h5py.ExternalLink("secret.h5", "/r")


def _external_group(file):
    del file["state"]
    file["state"] = h5py.ExternalLink("secret.h5", "/")


def _soft_link(file):
    file["s"] = np.full(SHAPE, 7.0)
    file["state/r"] = h5py.SoftLink("/s")


def _dangling_link(file):
    file["state/r"] = h5py.SoftLink("/nothing")


def _virtual(file):
    layout = h5py.VirtualLayout(SHAPE, float)
    layout[:] = h5py.VirtualSource("secret.h5", "r", SHAPE)
    file["state"].create_virtual_dataset("r", layout)


def _compressed(file):
    file["state"].create_dataset("r", (1000, 1000), float, np.zeros((1000, 1000)), compression="gzip")


def _chunks_of_a_fill_value(file):
    file["state"].create_dataset("r", (10**12,), float, chunks=(1000,), fillvalue=7.0)


def _never_written(file):
    file["state"].create_dataset("r", (10**12,), float)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_external_bytes, "state/r is compressed, in pieces or in another file"),
        (_external_link, "state/r is a link"),
        (_external_group, "state is a link"),
        (_soft_link, "state/r is a link"),
        (_dangling_link, "state/r is a link"),
        (_virtual, "state/r is compressed, in pieces or in another file"),
        (_compressed, "state/r is compressed, in pieces or in another file"),
        (_chunks_of_a_fill_value, "state/r is compressed, in pieces or in another file"),
        (_never_written, "state/r claims 8000000000000 bytes"),
    ],
)
def test_what_leads_out_of_a_file_or_is_larger_is_refused_even_where_it_is_sealed(path, monkeypatch, change, words):
    with h5py.File(path, "a") as file:
        del file["state/r"]
        change(file)
    seal(path, KIND)

    def is_read(*_):
        raise AssertionError

    monkeypatch.setattr(h5py.Dataset, "__getitem__", is_read)
    with pytest.raises(InputError, match=f"a.h5: {words}") as refused:
        read(path)
    assert "\n" not in str(refused.value)


def test_groups_in_a_circle_are_walked_once(path):
    with h5py.File(path, "a") as file:
        file["state/self"] = file["state"]
    seal(path, KIND)
    assert len(read(path)) == 3
