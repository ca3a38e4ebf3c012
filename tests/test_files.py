"""A file is whole or not there, whatever happens while it is written."""

import json
import os
import stat
import subprocess
import sys

import pytest

from repro.files import read_json, whole, write_json, write_text


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
