"""Tables of speeds: shares of the copy bandwidth, rates of single runs, and what is kept of each speed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from repro.errors import InputError
from repro.papers import speed as speeds


def measured(case, problem, device, **options):
    """A made-up speed: 2 s a step, in runs of 2, 4 and 1 s; a bandwidth only if one is asked for."""
    row = {"case": case, "device": device.name, "seconds": 2.0, "runs": (2.0, 4.0, 1.0), "mlups": 8.0}
    return SimpleNamespace(row=row | options)


@pytest.fixture
def device(monkeypatch):
    """A device whose memory copies 100 bytes a second."""
    monkeypatch.setattr(speeds, "copy_bandwidth", lambda device: 100.0)
    return SimpleNamespace(name="made up")


def test_the_roof_is_the_share_of_the_copy_bandwidth(device):
    table = speeds.speed_table(
        [("a", None, device, {"bandwidth": 25.0}), ("b", None, device, {"bandwidth": 80.0})],
        measured=measured,
        includes="all",
    )
    assert list(table["roof"]) == [0.25, 0.8]


def test_a_speed_without_bytes_has_no_roof_and_every_speed_is_kept(device):
    kept = []
    record = SimpleNamespace(timing=lambda case, **more: kept.append((case, more["includes"], more["mlups"])))
    table = speeds.speed_table([("a", None, device, {})], record, measured=measured, includes="all")
    assert "roof" not in table
    assert kept == [("a", "all", 8.0)]


def test_a_run_that_takes_twice_as_long_has_half_the_rate(device):
    table = speeds.speed_table([("a", None, device, {})], measured=measured, includes="all")
    assert speeds.order(table, "case", "mlups") == {"a": [8.0, 4.0, 16.0]}
    both = pd.concat([table.assign(size=size, mlups=rate) for size, rate in ((1, 8.0), (2, 2.0))])
    assert speeds.orders(both, "size", "case", "mlups") == {
        "size 1": {"a": [8.0, 4.0, 16.0]},
        "size 2": {"a": [2.0, 1.0, 4.0]},
    }
    with pytest.raises(InputError, match="several rows have the same case: a"):
        speeds.order(both, "case", "mlups")


CPU = pd.Series({"node by node": 2.0, "rows": 40.0, "rows, all cores": 400.0})


def test_speedups_are_given_over_each_rung():
    evidence = speeds.speedup_evidence(800.0, CPU, "a list in rows", "MFLUPS")
    assert evidence["measured"] == 20
    assert evidence["baseline"] == "a list in rows, one core: 40 MFLUPS"
    assert evidence["note"] == "against rows on one core; node by node 400, all cores 2"
    assert speeds.rungs_note(CPU, "MLUPS") == "rows on one core; node by node 2, all cores 400 MLUPS"
    baselines = pd.DataFrame({"mlups": CPU, "hardware": "a CPU"}).rename_axis("baseline")
    assert list(speeds.over_rungs(800.0, baselines, "mlups")["speedup"]) == [400, 20, 2]


def test_a_ladder_is_indexed_by_its_rungs(device):
    table = speeds.ladder({"rows": (None, device, {})}, prefix="box: ", measured=measured, includes="all")
    assert list(table.index) == ["rows"]
    assert list(table["case"]) == ["box: rows"]


def test_programs_are_compared_at_one_size_or_over_another_run():
    rows = [(10, "slow", 2.0), (10, "fast", 6.0), (20, "slow", 1.0), (20, "fast", 8.0)]
    table = pd.DataFrame(rows, columns=["particles", "way", "updates"])
    assert list(speeds.speedups(table, ["slow"], "particles", "updates")["over slow"]) == [1, 3, 1, 8]
    over = speeds.speedups(table[2:], ["slow"], "particles", "updates", slow=table[:1])
    assert list(over["over slow"]) == [0.5, 4]
