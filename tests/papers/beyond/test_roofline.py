"""Floors of kernels, other codes beside, and the size from which a GPU is faster."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.papers.beyond.roofline import figures, measures
from repro.papers.beyond.roofline.kernels import KERNELS, Kernel, side_of
from repro.study.notebooks import Project

DATA = Project.default().data


def times(items, seconds, device="cuda", kernel="SPH, two sums"):
    return pd.DataFrame({"kernel": kernel, "device": device, "items": items, "seconds": seconds})


def speed(seconds=1e-3, **rates):
    return SimpleNamespace(seconds=seconds, rates=rates)


@given(start=st.floats(1e-6, 1e-4), each=st.floats(1e-10, 1e-9), factor=st.floats(5, 100))
def test_a_gpu_that_starts_late_overtakes_where_both_take_as_long(start, each, factor):
    items = np.geomspace(10, 1e8, 200)
    found = measures.crossing(times(items, start + each * items), times(items, factor * each * items, "threads"))
    assert found == pytest.approx(max(10, start / each / (factor - 1)), rel=0.05)


def test_a_gpu_that_is_slower_to_the_last_size_of_both_overtakes_nowhere():
    gpu, cores = times([1e3, 1e6], [1e-3, 1e-3]), times([1e3, 1e4], [1e-5, 1e-4], "threads")
    assert np.isnan(measures.crossing(gpu, cores))
    assert np.isnan(measures.crossing(gpu, times([10, 100], [1, 1], "threads")))


def test_the_floor_is_what_takes_longest():
    kernel = Kernel("DPD", "a", None, bytes=100, instructions=1000)
    of = speed(updates=1e9)
    by_bytes, by_issue = (measures.floor_of(kernel, of, 1e12, issue) for issue in (1e14, 1e12))
    assert (by_bytes["bound"], by_issue["bound"]) == ("memory", "issue")
    assert (by_bytes["floor (ns)"], by_issue["floor (ns)"]) == (pytest.approx(0.1), pytest.approx(1.0))
    assert measures.floor_of(kernel, of, 1e12, None)["bound"] == "memory"


def test_bytes_that_a_strategy_declares_are_those_of_its_bandwidth():
    of = speed(mlups=2000.0, mflups=1000.0, bandwidth=152e9)
    assert measures.items_of(of) == pytest.approx(1e6)
    assert measures.floor_of(Kernel("lattice Boltzmann", "a", None), of, 1e12, None)["bytes"] == pytest.approx(152)


def test_the_fastest_of_the_codes_at_the_nearest_size_stands_beside():
    kernels = ["lattice Boltzmann, dense, single", "DPD, TEA-8", "electrons, single", "electrons, double"]
    ours = pd.DataFrame({"kernel": kernels, "items": [2e7, 9e6, 1e7, 1e7], "million/s": [16920.0, 777.0, 2681.0, 1.0]})
    found = measures.with_peers(ours, DATA)
    assert list(found["peer"]) == ["FluidX3D", "UAMMD", "PIConGPU", ""]
    assert found["ours / peer"].to_numpy() == pytest.approx([1, 0.5, 1, np.nan], nan_ok=True)


def test_every_code_stands_beside_a_kernel_of_ours():
    peers = pd.read_csv(DATA / "reference" / "peers.csv", comment="#")
    assert set(peers["kernel"]) <= set(KERNELS)


@given(volume=st.floats(1e3, 1e9), multiple=st.sampled_from([1, 2, 16]))
def test_a_cube_has_about_the_volume_that_was_asked_for(volume, multiple):
    side = side_of(volume, multiple)
    assert side % multiple == 0 or side == 1
    assert abs(side - volume ** (1 / 3)) <= multiple


def test_figures_show_the_numbers_that_they_are_given():
    rows = {"bytes": [152.0, 104.0], "floor (ns)": [0.1, 1.0], "million/s": [5e3, 500.0], "share (%)": [50.0, 50.0]}
    table = pd.DataFrame({"kernel": ["lattice Boltzmann, dense, single", "DPD, TEA-8"], "bound": ["memory", "issue"]})
    table = table.assign(**rows)
    steps = pd.concat([times([1e3, 1e6], [1e-5, 1e-4]), times([1e3, 1e5], [1e-6, 1e-3], "threads")])
    for _, arrays in (figures.roofline(table, 1e12), figures.shares(table)):
        assert list(arrays["kernel"]) == list(table["kernel"])
    _, arrays = figures.steps(steps, measures.crossings(steps))
    assert list(arrays["seconds"]) == list(steps["seconds"])
