"""The cubic cavity: symmetric, closed, converging as its scheme should, and refused where it cannot work."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.errors import InputError
from repro.lbm.cases import CubicCavity
from repro.lbm.simulation import Convergence
from repro.papers.orders import observed_order
from repro.papers.swap import cavity3d
from repro.papers.swap.cavity3d import (
    CubicFlow,
    between_grids,
    floor_table,
    power_of_spacing,
    reference_table,
    runs_table,
    solve_cubic_cavity,
    solve_grids,
)


@pytest.fixture(scope="module")
def flows(threads):
    return [solve_cubic_cavity(CubicCavity(reynolds=50, nodes=nodes), threads) for nodes in (12, 18, 28)]


def test_the_grids_converge_faster_than_first_order(flows):
    table = between_grids(flows)
    assert all(flow.convergence.converged for flow in flows)
    # the lid's edges, where the velocity jumps, keep it from order two
    assert table["order u"].iloc[-1] > 1.5


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("nodes", [(34, 66, 98), (12, 18, 28)])
def test_an_error_that_falls_as_a_power_of_the_spacing_has_that_order_on_unequal_grids(order, nodes):
    flows = []
    for case in (CubicCavity(reynolds=10, nodes=count) for count in nodes):
        y = ((np.arange(case.width) + 0.5) / case.width)[:, None]
        # a cubic, so that the spline between the nodes adds nothing
        u = np.broadcast_to(y + y * (1 - y) / case.width**order, (case.width,) * 3)
        x = y[:, 0]
        v = np.broadcast_to(x * (1 - x) * (1 + 1 / case.width**order), (case.width,) * 3)
        flows.append(CubicFlow(case, None, np.stack([u, v, 0 * u])))
    assert between_grids(flows)["order u"].iloc[-1] == pytest.approx(order, rel=1e-3)
    assert between_grids(flows)["order v"].iloc[-1] == pytest.approx(order, rel=1e-3)


def test_grids_that_come_no_closer_have_no_order():
    assert observed_order((32, 64, 96), 1.0) == 0


def test_the_table_of_runs_says_which_did_not_become_steady(threads):
    cases = [CubicCavity(reynolds=10, nodes=nodes) for nodes in (10, 12)]
    limits = (200_000, 1)
    runs = [solve_cubic_cavity(case, threads, limit=limit) for case, limit in zip(cases, limits, strict=True)]
    table = runs_table(runs).set_index("nodes a side")
    assert table["converged"].to_dict() == {10: True, 12: False}
    # full-way walls keep the mass, and nothing corrects it: what is left is rounding
    assert table["mean density - 1"].abs().max() < 1e-5


def test_rounding_ends_the_fall_of_the_change_in_single_precision(threads):
    table = floor_table(CubicCavity(reynolds=10, nodes=10), threads, "swap links", times=40).set_index("precision")
    single, double = table["change at the end"]
    assert single > 1e-9
    assert double < 1e-12
    assert table.loc["double", "steps to 1e-6"] >= 1000


def test_a_run_stands_in_its_table_with_its_own_viscosity_steps_and_density():
    """A lid of 0.1 on 10 nodes between full-way walls, at a Reynolds number of 20."""
    case = CubicCavity(reynolds=20, nodes=12, lid_speed=0.1)
    steady = Convergence(True, 7000, ((7000, 1e-7),))
    (row,) = runs_table([CubicFlow(case, steady, np.zeros((3, 10, 10, 10)), 1.25)]).to_dict("records")
    assert (row["Re"], row["nodes a side"], row["steps"], row["converged"]) == (20, 12, 7000, True)
    # nu = (tau - 1/2) / 3 is speed times width over Re
    assert (row["relaxation time"] - 0.5) / 3 == pytest.approx(0.1 * case.width / 20)
    assert row["mean density - 1"] == pytest.approx(0.25)


def test_a_run_without_an_end_lasts_as_long_as_the_lid_moves_its_width_so_often(monkeypatch):
    """Double precision falls below 1e-6 after 3000 steps, single never does; the last ten changes count."""
    changes = {
        "single": [1e-3, 1e-5] + [2e-6, 4e-6] * 4 + [8e-6] * 2,
        "double": [1e-3, 2e-6, 1e-6, 1e-7] + [1e-14, 3e-14] * 3 + [9e-14] * 3,
    }
    asked = []

    def simulation(problem, device, *, precision, strategy):
        asked.append((device, precision, strategy))

        def run(*, tolerance, limit):
            assert tolerance < 1e-100
            asked.append(limit)
            return SimpleNamespace(history=[(1000 * k, change) for k, change in enumerate(changes[precision], 1)])

        return SimpleNamespace(run_to_steady_state=run)

    monkeypatch.setattr(cavity3d, "Simulation", simulation)
    case = CubicCavity(reynolds=10, nodes=12, lid_speed=0.05)
    table = floor_table(case, "here", "any").set_index("precision")
    steps = 150 * case.width / 0.05
    assert asked == [("here", "single", "any"), steps, ("here", "double", "any"), steps]
    assert np.isnan(table.loc["single", "steps to 1e-6"])
    assert table.loc["double", "steps to 1e-6"] == 3000
    assert table["change at the end"].tolist() == pytest.approx([4e-6, 3e-14])


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_power_of_the_spacing_is_that_of_the_first_and_last_grid(power):
    """Full-way walls lie on the outermost nodes' far sides: so many nodes less two are the width."""
    nodes = [82, 114, 162]
    table = pd.DataFrame({"nodes a side": nodes, "rms": [(n - 2.0) ** -power for n in nodes]})
    table.loc[1, "rms"] = 1.0
    assert power_of_spacing(table) == pytest.approx(power)


def test_one_reynolds_number_is_solved_on_each_grid_at_the_same_lid_speed(monkeypatch):
    monkeypatch.setattr(cavity3d, "solve_cubic_cavity", lambda case, device, **options: (case, device, options))
    found = solve_grids(30.0, [12, 18], "here", lid_speed=0.05, precision="double")
    assert [(case.reynolds, case.nodes, case.lid_speed) for case, *_ in found] == [(30.0, 12, 0.05), (30.0, 18, 0.05)]
    assert [more for _, *more in found] == [["here", {"precision": "double"}]] * 2


def test_a_flow_is_that_of_the_interior_over_the_lid_s_speed(monkeypatch):
    """Made up: the velocity is the number of the node along x, a tenth of the lid's speed each."""
    case = CubicCavity(reynolds=10, nodes=12, lid_speed=0.05)

    def simulation(problem, device, *, precision, strategy):
        assert (device, precision, strategy) == ("here", "single", "swap links")
        field = np.broadcast_to(0.005 * np.arange(12), (3, 12, 12, 12))
        steady = lambda limit: ("steady", limit)  # noqa: E731
        return SimpleNamespace(run_to_steady_state=steady, fields=lambda: (None, field), mean_density=lambda: 1.5)

    monkeypatch.setattr(cavity3d, "Simulation", simulation)
    flow = solve_cubic_cavity(case, "here", limit=9)
    assert (flow.case, flow.convergence, flow.mean_density) == (case, ("steady", 9), 1.5)
    assert flow.velocity.shape == (3, 10, 10, 10)
    np.testing.assert_allclose(flow.velocity[0, 0, 0], 0.1 * np.arange(1, 11))


def test_the_flow_is_symmetric_between_the_end_walls(flows):
    u, v, w = flows[-1].velocity
    np.testing.assert_allclose(u, u[::-1], atol=2e-5)
    np.testing.assert_allclose(v, v[::-1], atol=2e-5)
    np.testing.assert_allclose(w, -w[::-1], atol=2e-5)


def test_what_goes_to_the_right_under_the_lid_comes_back_below(flows):
    u, _, _ = flows[-1].velocity
    through = u.sum(axis=(0, 1)) / np.abs(u).sum(axis=(0, 1))
    # mass is conserved and not volume; away from the lid's ends density varies by far less than the Mach number squared
    middle = through[len(through) // 4 : -len(through) // 4]
    assert np.abs(middle).max() < 0.1 * 3 * flows[-1].case.lid_speed ** 2


def test_centre_lines_start_and_end_at_the_walls(flows):
    for flow in flows:
        np.testing.assert_allclose(flow.centre_line("u", [0, 1]), [0, 1], atol=1e-12)
        np.testing.assert_allclose(flow.centre_line("v", [0, 1]), [0, 0], atol=1e-12)


@pytest.mark.parametrize("nodes", [13, 14])
def test_the_middle_is_found_on_odd_and_even_grids(nodes):
    case = CubicCavity(reynolds=10, nodes=nodes)
    at = (np.arange(case.width) + 0.5) / case.width
    z, y, x = np.meshgrid(at, at, at, indexing="ij")
    flow = CubicFlow(case, None, np.stack([y * (1 + (z - 0.5) ** 3 + x), x * (1 - x) * (y + z), x]))
    np.testing.assert_allclose(flow.centre_line("u", at), at * 1.5, atol=1e-12)
    np.testing.assert_allclose(flow.centre_line("v", at), at * (1 - at), atol=1e-12)
    table = pd.DataFrame({"component": ["u", "v"], "position": at[:2], "velocity": [at[0] * 1.5, 0.0]})
    found, largest = reference_table([flow], table).iloc[0], at[1] * (1 - at[1])
    assert found[["rms", "largest"]].tolist() == pytest.approx([largest / np.sqrt(2), largest])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reynolds": 5000.0}, "use at least 387 nodes"),
        ({"reynolds": 0.0}, "reynolds = 0.0: must be a number above 0"),
        ({"nodes": 5}, "nodes = 5: must be a whole number from 10"),
        ({"lid_speed": -0.1}, "lid_speed = -0.1: must be"),
        ({"lid_speed": 0.5}, "Mach"),
        ({"collision": "none"}, "collision = 'none': must be one of"),
    ],
)
def test_a_cavity_that_cannot_work_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        CubicCavity(**options).problem  # noqa: B018


def test_the_headline_is_about_the_published_profiles_or_else_about_the_last_two_grids(flows):
    published = pd.DataFrame({"component": ["u"], "position": [0.5], "velocity": [0.0]})
    off = 100 * abs(float(flows[-1].centre_line("u", 0.5)))
    found = cavity3d.headline({100: flows[:1], 1000: flows}, published)
    about = "Cubic cavity at Re = 1000, 28 nodes a side: velocity on the centre lines"
    assert found == f"{about} {off:.2f} % of the lid's speed from Albensoeder and Kuhlmann's (rms)"
    last = between_grids(flows).iloc[-1]
    off = 100 * np.sqrt((last["u"] ** 2 + last["v"] ** 2) / 2)
    found = cavity3d.headline({50: flows}, published)
    about = "Cubic cavity at Re = 50, 28 nodes a side: velocity on the centre lines"
    assert found == f"{about} {off:.2f} % of the lid's speed from that on 18 nodes (rms)"
