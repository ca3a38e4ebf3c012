import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from repro.errors import InputError
from repro.files import write_json
from repro.study import provenance
from repro.study.paths import Project
from repro.study.record import open_record, plain

matplotlib.use("Agg")
TIMING = {"seconds": 1.0, "spread": 0.01, "device": "serial", "precision": "float32", "size": [8, 8]}


@pytest.fixture
def record(workshop, tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_OUTPUT", str(tmp_path / "out"))
    return open_record("toy/good", parameters={"n": np.int64(3)}, claims=["toy-001", "toy-002"])


def content(record) -> dict:
    return json.loads(record.close().read_text())


def test_claims_without_a_value_become_not_measured(record):
    record.measure("toy-001", np.float32(0.5541))
    claims = content(record)["claims"]
    assert claims["toy-001"]["verdict"] == "reproduced"
    assert claims["toy-002"]["verdict"] == "not measured"


def test_verdicts_show_measured_and_paper_side_by_side(record):
    record.measure("toy-001", 0.9)
    row = record.verdicts().iloc[0]
    assert (row["id"], row["paper"], row["measured"], row["verdict"]) == (
        "toy-001",
        "0.5543",
        0.9,
        "not reproduced",
    )


def test_undeclared_unknown_and_setup_claims_are_refused(record):
    with pytest.raises(InputError, match="not declared"):
        record.measure("toy-003", 1)
    with pytest.raises(InputError, match="unknown claim"):
        open_record("a", parameters={}, claims=["toy-999"])
    with pytest.raises(InputError, match="toy-005.*set-up"):
        open_record("a", parameters={}, claims=["toy-005"])


def test_speed_without_a_physics_check_is_refused(record):
    with pytest.raises(InputError, match="physics check"):
        record.timing("pull", includes="the loop", check=" ", **TIMING)
    record.timing("pull", includes="the loop", check="mass is conserved", mlups=5, block=64, **TIMING)
    assert content(record)["timings"][0]["block"] == 64


def test_figures_keep_their_arrays_inline_or_beside_when_many(record):
    figure, axes = plt.subplots()
    axes.plot([1, 2])
    record.figure("Stream lines", figure, arrays={"x": np.array([1 / 3, np.nan])})
    record.figure("big", figure, arrays={"x": np.zeros(20_001)})
    figures = content(record)["figures"]
    assert figures["Stream lines"]["arrays"]["x"] == [0.3333333, "nan"]
    names = {name for entry in figures.values() for name in entry["files"]}
    assert "figures/toy-good-stream-lines.svg" in names
    assert "figures/toy-good-big.npz" in names
    assert all((record.folder / name).is_file() for name in names)


def test_same_figure_is_the_same_svg(record):
    from repro.papers.style import use_style

    use_style()
    figure, axes = plt.subplots()
    axes.plot([1, 2])
    record.figure("a", figure, arrays={})
    first = (record.folder / "figures/toy-good-a.svg").read_bytes()
    record.figure("a", figure, arrays={})
    assert (record.folder / "figures/toy-good-a.svg").read_bytes() == first


def test_table_is_kept_and_returned(record):
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]})
    assert record.table("t", frame) is frame
    assert content(record)["tables"]["t"]["rows"] == [[1, 0.5], [2, "nan"]]


def test_provenance_names_no_folder_of_this_machine(record, tmp_path):
    text = record.close().read_text()
    assert str(tmp_path) not in text
    assert {"versions", "cpu", "cores", "os"} <= set(json.loads(text)["provenance"])


def test_interrupted_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    file = tmp_path / "a.json"
    write_json(file, {"a": 1})

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_json(file, {"a": 2})
    assert json.loads(file.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_values_become_plain_json():
    assert plain({"a": np.arange(2), "b": (True, None, np.float32(0.1))}) == {
        "a": [0, 1],
        "b": [True, None, 0.1],
    }


def test_the_commit_of_a_copied_checkout_is_what_its_owner_says(tmp_path, monkeypatch):
    monkeypatch.delenv("REPRO_COMMIT", raising=False)
    assert provenance.commit(tmp_path) == {}
    monkeypatch.setenv("REPRO_COMMIT", "abc123")
    assert provenance.commit(tmp_path) == {"commit": "abc123", "dirty": False}
    assert provenance.commit(Project.default().root)["commit"] == "abc123"
