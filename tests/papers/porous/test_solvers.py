"""What the porous notebooks run: the duct against its series, baselines that are what they are called."""

from types import SimpleNamespace

import numpy as np
import pytest

from repro.errors import InputError
from repro.lbm.cases import Cavity, Duct
from repro.lbm.porous.permeability import in_units
from repro.papers.porous.box import duct, lids, speed
from repro.papers.porous.box.cavity import solve_cavity
from repro.papers.porous.media import speed as media_speed
from repro.papers.porous.published import reference
from repro.parallel import select
from repro.study.notebooks import Project


def test_a_duct_is_its_series_but_for_an_error_of_second_order(threads):
    coarse, fine = (
        duct.solve_duct(Duct(nodes=nodes, relaxation_time=0.8), threads, precision="double") for nodes in (8, 16)
    )
    assert fine.convergence.converged
    assert fine.error < 0.02
    assert 3 < coarse.error / fine.error < 6
    # the flow is as fast in the middle as the series says, and the same from all sides
    assert fine.profile(0.0) == pytest.approx(0.571069, rel=0.02)
    np.testing.assert_allclose(fine.velocity, fine.velocity.T, atol=1e-9)
    np.testing.assert_allclose(fine.velocity, fine.velocity[::-1], atol=1e-9)


def test_a_run_that_was_cut_short_says_that_it_did_not_converge(threads):
    flow = duct.solve_duct(Duct(nodes=8, relaxation_time=0.8), threads, precision="double", limit=1000)
    assert not flow.convergence.converged


def test_the_reynolds_number_that_drives_a_cavity_is_the_one_asked_for(threads):
    slow, fast = (solve_cavity(Cavity(reynolds=re, nodes=24), threads, limit=2000) for re in (50.0, 100.0))
    for flow, reynolds in ((slow, 50.0), (fast, 100.0)):
        problem = flow.case.problem
        assert flow.case.lid_speed * flow.case.nodes / problem.viscosity == pytest.approx(reynolds)
    assert np.abs(slow.u - fast.u).max() > 0.01


def test_the_time_loop_s_speed_is_nodes_times_steps_over_seconds(threads, monkeypatch):
    # half a second by the clock for all steps together
    monkeypatch.setattr(speed, "host_clock", lambda run, device: run() or 0.5)
    found = speed.time_loop_speed(Cavity(reynolds=10, nodes=10).problem, threads, steps=20)
    assert found["seconds"] == pytest.approx(0.025)
    assert found["mlups"] == pytest.approx(10**2 * 20 / 0.5 / 1e6)


def test_a_permeability_of_one_micrometre_voxels_in_units():
    # 1 darcy is 9.869233e-13 square metres
    square_metres, millidarcy = in_units(2.0, 1e-6)
    assert square_metres == pytest.approx(2e-12)
    assert millidarcy == pytest.approx(2000 / 0.9869233)


@pytest.mark.parametrize("voxel", [0.0, -1e-6])
def test_a_voxel_without_a_size_is_refused(voxel):
    with pytest.raises(InputError, match=f"voxel_size = {voxel}: must be a number above 0, in m"):
        in_units(2.0, voxel)


def test_the_baselines_are_a_loop_on_one_core_and_rows_on_one_and_on_all(monkeypatch):
    timed = {}

    def measured(case, problem, device, **options):
        timed[case] = (device.name, device.lanes, device.workers)
        return SimpleNamespace(row={"case": case, "mlups": 1.0, **options})

    monkeypatch.setattr(speed, "measure_speed", measured)
    table = speed.cpu_baselines("cavity", None, seconds=0.1)
    assert list(table.index) == ["node by node", "rows", "rows, all cores"]
    node, rows, cores = timed.values()
    assert node == ("serial", 1, 1)
    assert rows[1] > 1
    assert rows[2] == 1
    assert cores == (select("threads").name, rows[1], select("threads").workers)


def test_the_baselines_of_a_porous_medium_are_the_list_three_times_and_all_nodes_on_one_core(monkeypatch):
    timed = {}

    def measured(case, space, device, *, strategy, **options):
        timed[case] = (device.name, device.lanes, device.workers, strategy)
        return SimpleNamespace(row={"case": case, "mflups": 1.0, **options})

    monkeypatch.setattr(media_speed, "measure_speed", measured)
    table = media_speed.cpu_baselines(None, seconds=0.1)
    assert list(table.index) == list(timed)
    assert timed["node by node"] == ("serial", 1, 1, "sparse")
    lanes = timed["rows"][1]
    assert lanes > 1
    assert timed["rows"] == ("threads", lanes, 1, "sparse")
    assert timed["rows, all cores"] == ("threads", lanes, select("threads").workers, "sparse")
    for strategy in ("flag word", "branches"):
        assert timed[f"{strategy}, node by node"] == ("serial", 1, 1, strategy)
        assert timed[f"{strategy}, rows"] == ("threads", lanes, 1, strategy)


def test_lids_are_ranked_by_the_fall_of_their_errors(threads):
    spectral = reference(Project.default().data, "cavity_extrema.csv")
    table = lids.lid_orders(100, [16, 32], spectral, threads, lids=("half-way", "extrapolated")).set_index("nodes")
    assert table["converged"].all()
    orders = table.loc[32].set_index("lid")["order"]
    assert orders["half-way"] > 1.8
    # half a spacing is missing above: an error of the first order in a box that is not square
    assert orders["extrapolated"] < orders["half-way"]
    heights = table.set_index("lid", append=True)["height/width"]
    assert heights[32, "half-way"] == pytest.approx(1)
    assert heights[32, "extrapolated"] == pytest.approx(1 - 0.5 / 32)
