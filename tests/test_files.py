"""A file is whole or not there, whatever happens while it is written."""

import json
import os
import socket
import stat
import subprocess
import sys

import pytest
from helpers.full_disk import full_disk

from repro.errors import InputError
from repro.files import append_text, read_json, read_toml, regular_file, whole, write_json, write_text
from repro.study.judge import claims


def append(path, text: str) -> None:
    """Add to a file whatever is in it."""
    append_text(path, text, lambda file: "")


WRITERS = pytest.mark.parametrize("write", [write_text, append], ids=["whole", "append"])


@pytest.fixture
def file(tmp_path):
    """A file that is there already."""
    write_text(tmp_path / "a.json", "old")
    return tmp_path / "a.json"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit], ids=lambda kind: kind.__name__)
def test_what_breaks_off_leaves_the_old_file_and_no_other(file, error):
    def breaks_off():
        with whole(file) as place:
            place.write_text("half")
            raise error

    with pytest.raises(error):
        breaks_off()
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == [file.name]


def test_while_it_is_written_the_old_file_is_read(file):
    with whole(file) as place:
        place.write_text("half")
        assert file.read_text() == "old"
    assert file.read_text() == "half"
    assert os.listdir(file.parent) == [file.name]


def test_who_has_the_old_file_open_goes_on_reading_it(file):
    with open(file) as reader:
        write_text(file, "new")
        assert reader.read() == "old"
    assert file.read_text() == "new"


def test_content_is_on_disk_before_the_name_appears(file, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *words, name=name, real=real: (done.append(name), real(*words)))
    write_text(file, "new")
    assert done == ["fsync", "replace"]


def test_others_may_read_it(tmp_path):
    write_text(tmp_path / "deep/er/a.txt", "new")
    assert stat.S_IMODE((tmp_path / "deep/er/a.txt").stat().st_mode) == 0o644


def test_number_that_json_does_not_know_is_refused_and_the_old_file_stays(file):
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(file, {"a": float("nan")})
    assert file.read_text() == "old"


@pytest.mark.parametrize("content", ["", "{", '{"a": 1', "\ufeff{}", "[" * 100_000, "nothing"], ids=lambda c: c[:9])
def test_what_is_no_json_is_none(file, content):
    file.write_text(content)
    assert read_json(file) is None
    assert read_json(file.parent / "missing.json") is None
    assert read_json(file.parent) is None


def test_a_pipe_is_no_json_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    assert read_json(tmp_path / "a.json") is None


def test_what_is_written_reads_the_same(file):
    content = {"Ångström": [1, 0.1, None, True, "\n"], "b": {}}
    write_json(file, content)
    assert read_json(file) == json.loads(file.read_text(encoding="utf-8")) == content


def test_a_file_has_the_rights_that_the_user_gives_to_new_ones(tmp_path):
    lines = [
        *("import os", "os.umask(0o027)", "from pathlib import Path", "from repro.files import write_text"),
        f"write_text(Path({str(tmp_path / 'a.txt')!r}), 'a')",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def everything(folder) -> dict:
    """Kind, rights and bytes of all below a folder."""
    modes = {path: path.lstat().st_mode for path in folder.rglob("*")}
    return {path: (mode, path.read_bytes() if stat.S_ISREG(mode) else "") for path, mode in modes.items()}


def make(kind: str, path):
    """Something that is no file; a device node is one of the test's own."""
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a circle of links":
        path.symlink_to(path.with_name("other"))
        path.with_name("other").symlink_to(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(os.path.relpath(path))
    else:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


@WRITERS
@pytest.mark.parametrize("through", ["itself", "a link"])
@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a circle of links", "a socket", "a device"])
def test_what_is_no_file_is_refused_and_stays(tmp_path, monkeypatch, write, through, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place").mkdir()
    thing = path = tmp_path / "place/thing"
    try:
        make(kind, thing)
    except PermissionError:
        pytest.skip("a device node needs root")
    if through == "a link":
        path = tmp_path / "name.xyz"
        path.symlink_to("place/thing")
    before = everything(tmp_path)
    with pytest.raises(InputError, match=f"{path}.*: cannot be written: it is {kind}, and no file$"):
        write(path, "new")
    assert everything(tmp_path) == before


@WRITERS
@pytest.mark.parametrize("name", ["\ud800.h5", "a\0b", "", "/", 5, "~/a.h5"])
def test_a_name_that_no_file_can_have_or_that_only_a_shell_knows_is_refused(tmp_path, monkeypatch, write, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="^path = .*: (must be the name of a file|~ is a shell's name of your home)"):
        write(name, "new")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a socket", "a device"])
def test_who_reads_hears_what_it_is_and_that_a_regular_file_is_needed(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    try:
        make(kind, tmp_path / "thing")
    except PermissionError:
        pytest.skip("a device node needs root")
    (tmp_path / "link").symlink_to("thing")
    for name in ("thing", "link"):
        for read, what in (
            (lambda path: regular_file(path, "image"), "image"),
            (read_toml, "TOML"),
            (claims.read, "CSV"),
        ):
            with pytest.raises(InputError, match=f"{name}: no {what} file: it is {kind}, and must be a regular file$"):
                read(tmp_path / name)


def test_who_reads_hears_that_a_file_is_empty(tmp_path):
    (tmp_path / "a.raw").touch()
    with pytest.raises(InputError, match="a.raw: no image file: it is empty$"):
        regular_file(tmp_path / "a.raw", "image")


@WRITERS
@pytest.mark.parametrize("old", ["old\n", None], ids=["there", "dangling"])
def test_links_are_followed_and_stay(tmp_path, write, old):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "second").symlink_to("scratch/flow.xyz")
    (tmp_path / "first").symlink_to("second")
    target = tmp_path / "scratch/flow.xyz"
    if old:
        target.write_text(old)
    write(tmp_path / "first", "new\n")
    assert target.read_text() == ("old\nnew\n" if old and write is append else "new\n")
    assert (tmp_path / "first").readlink().name == "second"
    assert (tmp_path / "second").is_symlink()
    assert os.listdir(target.parent) == [target.name]


@WRITERS
def test_no_folder_is_made_for_the_target_of_a_link(tmp_path, write):
    # a disk that is not mounted
    (tmp_path / "file.xyz").symlink_to("gone/flow.xyz")
    (tmp_path / "folder").symlink_to("away")
    with pytest.raises(InputError, match="file.xyz, a link to .*gone/flow.xyz: cannot be written: No such file"):
        write(tmp_path / "file.xyz", "new")
    with pytest.raises(InputError, match="folder/flow.xyz: cannot be written: .*folder is no folder"):
        write(tmp_path / "folder/flow.xyz", "new")
    assert sorted(os.listdir(tmp_path)) == ["file.xyz", "folder"]


@WRITERS
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_file_keeps_its_rights(file, write, mode):
    file.chmod(mode)
    write(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_nobody_else_reads_a_private_file_while_it_is_written(file):
    file.chmod(0o600)
    with whole(file) as place:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600


@WRITERS
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_is_write_protected_stays(file, write):
    file.chmod(0o444)
    with pytest.raises(InputError, match="a.json: cannot be written: "):
        write(file, "new")
    assert file.read_text() == "old"


@WRITERS
@pytest.mark.parametrize("name", ["n" * 255, "\N{GREEK SMALL LETTER PI}" * 127])
def test_the_longest_name_of_a_file_can_be_written(tmp_path, write, name):
    write(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name]


@WRITERS
def test_at_a_full_disk_a_file_is_as_it_was(file, write):
    with full_disk(4096), pytest.raises(InputError, match="a.json: cannot be written: File too large"):
        write(file, "half a frame\n" * 1000)
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == [file.name]


def test_nothing_is_added_to_what_has_a_flaw(file):
    with pytest.raises(InputError, match="a.json: nothing is appended: it says old$"):
        append_text(file, "new", lambda there: f"it says {(there.seek(0), there.read())[1].decode()}")
    assert file.read_text() == "old"


@WRITERS
@pytest.mark.parametrize("there", [True, False])
def test_who_breaks_off_finds_the_file_as_it_was(file, monkeypatch, write, there):
    if not there:
        file.unlink()

    def broken(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(KeyboardInterrupt):
        write(file, "new")
    assert [path.read_text() for path in file.parent.iterdir()] == ["old"] * there
