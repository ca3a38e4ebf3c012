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
