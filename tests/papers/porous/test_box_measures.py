"""What the notebooks on the box measure of velocities that are written down, not run."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.errors import InputError
from repro.lbm.cases import Cavity, Duct
from repro.papers.porous.box import cavity, duct, lids

SIDE = np.linspace(0, 1, 41)
X, Y = np.meshgrid(SIDE, SIDE)


def flow_of(u, v, reynolds=400.0) -> cavity.Flow:
    """A cavity with these velocities, arrays over (y, x)."""
    return cavity.Flow(Cavity(reynolds=reynolds, nodes=41), SimpleNamespace(converged=True), SIDE, SIDE, u, v)


#: u on the vertical centre line is y^2 + 1/2, v on the horizontal one is 3 x + 1/4: no two of them alike
UNLIKE = flow_of(Y**2 + X, 3 * X + Y**2)


def test_a_centre_line_is_u_over_the_height_and_v_over_the_width():
    at = [0.1, 0.8]
    assert UNLIKE.centre_line("u", at) == pytest.approx([0.51, 1.14])
    assert UNLIKE.centre_line("v", at) == pytest.approx([0.55, 2.65])


@pytest.mark.parametrize(("component", "misprints"), [("u", [False] * 3), ("v", [False, True, False])])
def test_ghias_misprinted_points_stand_in_the_table_and_are_not_counted(component, misprints):
    off = pd.Series([0.01, 0.5, -0.03])
    at = pd.Series([0.0625, 0.9063, 0.5])
    theirs = pd.Series(UNLIKE.centre_line(component, at)) - off
    table = pd.DataFrame({"position": at, f"{component}_Re100": 7.0, f"{component}_Re400": theirs})
    frame = cavity.compare_with_ghia(UNLIKE, table, component)
    assert frame["misprinted"].tolist() == misprints
    assert (frame["ours"] - frame["ghia"]).tolist() == pytest.approx(off.tolist())
    counted = off[[not misprint for misprint in misprints]]
    assert cavity.rms_difference(frame) == pytest.approx(np.sqrt((counted**2).sum() / len(counted)))
    # at another Reynolds number the same point is printed right
    other = flow_of(UNLIKE.u, UNLIKE.v, 100.0)
    assert not cavity.compare_with_ghia(other, table, component)["misprinted"].any()
    with pytest.raises(InputError, match="choose from 100, 400"):
        cavity.compare_with_ghia(flow_of(UNLIKE.u, UNLIKE.v, 100.4), table, component)


def test_a_centre_lines_difference_is_held_against_ghias_own_error():
    frame = pd.DataFrame({"ours": [0.1, 0.27], "ghia": [0.13, 0.23], "misprinted": False})
    accuracy = pd.DataFrame({"Re": [400, 400], "component": ["u", "v"], "rms": [0.1, 0.025]})
    table = cavity.centre_line_table({(400, "v"): frame}, accuracy)
    rms = np.sqrt((0.03**2 + 0.04**2) / 2)
    assert table.to_numpy().tolist() == [[400, "v", pytest.approx(rms), 0.025, pytest.approx(rms / 0.025)]]


def test_centre_lines_are_compared_with_the_table_of_their_component(tmp_path):
    (tmp_path / "reference").mkdir()
    for name, value in (("u", 1.0), ("v", 2.0)):
        table = pd.DataFrame({"at": [0.25], f"{name}_Re400": [value]})
        table.to_csv(tmp_path / "reference" / f"ghia1982_{name}_centerline.csv", index=False)
    found = cavity.compare_centre_lines({400.0: UNLIKE}, tmp_path)
    assert {key: frame["ghia"].item() for key, frame in found.items()} == {(400.0, "u"): 1.0, (400.0, "v"): 2.0}
    assert found[400.0, "v"]["ours"].item() == pytest.approx(1.0)


def test_walls_stand_at_the_ends_whether_or_not_nodes_lie_there():
    half_way, on_nodes = np.array([0.125, 0.375, 0.625, 0.875]), np.array([-0.25, 0.0, 0.5, 1.0])
    assert cavity._closed(half_way).tolist() == [0, 0.125, 0.375, 0.625, 0.875, 1]
    assert cavity._closed(on_nodes).tolist() == [0, 0.5, 1]
    field = np.arange(16.0).reshape(4, 4)
    # rows are y: the inner node of y, all four of x
    np.testing.assert_array_equal(cavity._with_walls(field, half_way, on_nodes)[1:-1, 1:-1], field[2:3])


def test_the_second_vortices_are_sought_on_their_own_sides():
    # a vortex turns one way in the middle and the other in both lower corners
    psi = -np.exp(-30 * ((X - 0.55) ** 2 + (Y - 0.6) ** 2))
    psi = psi + 0.2 * np.exp(-200 * ((X - 0.85) ** 2 + (Y - 0.13) ** 2))
    psi = psi + 0.1 * np.exp(-200 * ((X - 0.12) ** 2 + (Y - 0.17) ** 2))
    along_y, along_x = np.gradient(psi, SIDE, SIDE)
    centres = cavity.vortex_centres(flow_of(along_y, -along_x)).set_index("vortex")
    places = {"primary": (0.55, 0.6, -1), "BR1": (0.85, 0.13, 0.2), "BL1": (0.12, 0.17, 0.1)}
    assert list(centres.index) == list(places)
    for name, place in places.items():
        assert tuple(centres.loc[name]) == pytest.approx(place, abs=0.03)


def test_extrema_are_those_of_their_centre_line():
    # least u of (y - 0.3)^2 - 0.2, v between -0.25 at x = 0.5 and 2 at the ends, both cut at 0.01 and 0.99
    flow = flow_of((Y - 0.3) ** 2 - 0.2 + 0 * X, 9 * (X - 0.5) ** 2 - 0.25 + 0 * Y)
    found = lids.extrema(flow)
    assert found == pytest.approx({"u_min": -0.2, "v_max": 9 * 0.49**2 - 0.25, "v_min": -0.25}, rel=1e-4)


def test_deviations_of_extrema_are_per_cent_and_their_order_is_that_of_the_rms(monkeypatch):
    exact = {"u_min": -0.4, "v_max": 0.5, "v_min": -0.2}
    spectral = pd.DataFrame([{"Re": 100.0} | dict.fromkeys(exact, 1.0), {"Re": 400.0} | exact])
    speeds = []

    def solved(case, device, precision):
        speeds.append((case.nodes, case.lid_speed))
        return SimpleNamespace(case=case, convergence=SimpleNamespace(converged=True))

    # of third order: 1, -2 and 2 % of them at a hundred nodes
    shares = dict(zip(exact, (0.01, -0.02, 0.02), strict=True))
    monkeypatch.setattr(lids, "solve_cavity", solved)
    monkeypatch.setattr(
        lids, "extrema", lambda flow: {k: exact[k] * (1 + shares[k] * (100 / flow.case.nodes) ** 3) for k in exact}
    )
    table = lids.lid_orders(400.0, [100, 200, 300], spectral, None, lids=["half-way"], lid_speed=0.12)
    assert speeds == [(100, pytest.approx(0.12)), (200, pytest.approx(0.06)), (300, pytest.approx(0.04))]
    assert table.loc[0, ["u_min", "v_max", "v_min"]].tolist() == pytest.approx([1, -2, 2])
    assert table["rms"].tolist() == pytest.approx([3**0.5, 3**0.5 / 8, 3**0.5 / 27])
    assert np.isnan(table["order"][0])
    assert table["order"][1:].tolist() == pytest.approx([3, 3])
    flows = {400.0: SimpleNamespace(case=Cavity(nodes=100, lid="extrapolation")), 5.0: SimpleNamespace(case=Cavity())}
    (row,) = lids.extrema_off(flows, spectral).to_numpy().tolist()
    assert row == [400.0, 100, "extrapolation", *map(pytest.approx, (1, -2, 2))]


def test_centres_of_vortices_stand_in_a_row_for_each_lid_speed_with_its_mach_number(monkeypatch):
    """A speed of 1 / sqrt(3) in lattice units is that of sound."""
    flow = SimpleNamespace(case=Cavity(lid_speed=0.1))
    monkeypatch.setattr(lids, "changed", lambda flow, device, precision, lid_speed: lid_speed)
    centres = lambda speed: pd.DataFrame({"vortex": ["main", "left"], "x": [speed, 2.0], "y": [3.0, 4.0]})  # noqa: E731
    monkeypatch.setattr(lids, "vortex_centres", centres)
    table = lids.over_lid_speed(flow, [0.1, 0.05], None, precision="double")
    assert table.to_dict("records") == [
        {"lid speed": v, "Mach": pytest.approx(v * 3**0.5), "main x": v, "main y": 3.0, "left x": 2.0, "left y": 4.0}
        for v in (0.1, 0.05)
    ]


def test_a_box_whose_lid_alone_lies_on_nodes_is_less_high_than_wide():
    assert lids.height_over_width(Cavity(nodes=100, lid="half-way")) == pytest.approx(1)
    # from half a spacing below the first node to the last, and as far beyond both
    assert lids.height_over_width(Cavity(nodes=100, lid="extrapolation")) == pytest.approx(0.995)


def test_how_close_a_lid_comes_is_the_rms_over_the_coordinates(monkeypatch):
    case = Cavity(nodes=100, **lids.LIDS["half-way"])
    published = {"porous-020": 0.5, "porous-021": 0.6}
    centres = pd.DataFrame({"vortex": ["primary"], "x": [0.53], "y": [0.56]})
    monkeypatch.setattr(lids, "vortex_centres", lambda flow: centres)
    table = lids.closeness(SimpleNamespace(case=case), published, ["half-way"], None, precision="single")
    row = table.set_index("coordinates").loc[lids.WALL_TO_WALL]
    assert (row["primary x"], row["primary y"]) == pytest.approx((0.03, -0.04))
    assert row["rms"] == pytest.approx(np.sqrt((0.03**2 + 0.04**2) / 2))


def duct_flow(factor=1.0, nodes=16) -> duct.DuctFlow:
    """A duct whose velocity is `factor` times that of a parabola across z times a quarter circle along y."""
    case = Duct(nodes=nodes)
    at = case.positions / case.side
    exact = (1 - at[:, None] ** 2) * (1.5 - at**2)
    return duct.DuctFlow(case, SimpleNamespace(steps=70, converged=True), factor * exact, exact)


def test_the_error_of_a_duct_is_in_the_euclidean_norm():
    assert duct_flow(1.02).error == pytest.approx(0.02)
    flow = duct_flow()
    flow.velocity[3, 5] += 0.5
    assert flow.error == pytest.approx(0.5 / np.sqrt((flow.exact**2).sum()))


def test_a_ducts_profile_is_taken_on_its_axis():
    # y = 0 is the middle of the first index: what is left is 1 - z^2, with 3/2 for the other
    found = duct_flow().profile([0.0, 0.25, -0.4])
    np.testing.assert_allclose(found, [1.5, 1.5 - 0.0625 * 1.5, 1.5 - 0.16 * 1.5], atol=2e-3)


def test_the_printed_series_is_taken_in_units_of_the_side_at_its_own_place():
    case = Duct(nodes=16)
    side, force, viscosity = case.side, case.force, case.problem.viscosity
    assert side != 1
    # x and y differ in the series
    literal = duct.duct_velocity_as_printed(0.1 * side, 0.3 * side, side, force, viscosity)
    assert literal != pytest.approx(duct.duct_velocity_as_printed(0.3 * side, 0.1 * side, side, force, viscosity))
    assert duct.velocity_as_printed(case, 0.1, 0.3) == pytest.approx(literal * side / case.u0)


def test_errors_over_the_relaxation_time_are_per_cent_at_the_centre(monkeypatch):
    monkeypatch.setattr(duct, "solve_duct", lambda case, device, precision: duct_flow(1 + case.relaxation_time / 100))
    table = duct.error_over_relaxation_time(Duct(nodes=16), [0.8, 1.2], None)
    assert table["relaxation time"].tolist() == [0.8, 1.2]
    assert table["error (%)"].tolist() == pytest.approx([0.8, 1.2])
    assert table["u(0,0)/U0"].tolist() == pytest.approx([1.5 * 1.008, 1.5 * 1.012], rel=1e-3)
    assert table["steps"].tolist() == [70, 70]
    assert duct.error_numbers(table, 0.8001) == {
        "least": pytest.approx(0.8),
        "most": pytest.approx(1.2),
        "below": 1,
        "holds": True,
    }
    assert not duct.error_numbers(table, 0.7)["holds"]


def test_the_papers_error_is_judged_by_the_largest_at_the_thesiss_times():
    errors = pd.DataFrame({"relaxation time": [0.6, 0.8, 1.0, 1.2], "error (%)": [9.0, 1.0, 3.0, 2.0]})
    found = duct.claimed_error(errors.assign(converged=True))
    assert found["measured"] == 3.0
    assert "1.00 % at 0.8, 3.00 % at 1, 2.00 % at 1.2" in found["note"]
    assert duct.claimed_error(errors.assign(converged=[True, True, False, True])) is None


def test_the_papers_grid_is_counted_from_the_spacing_of_its_points():
    drawn = pd.DataFrame({"x": np.linspace(-0.5, 0.5, duct.PAPER_NODES)[::-1]})
    ran = drawn[::4]
    assert duct.paper_grid(ran, drawn) == {"nodes": 128, "ran": 32, "stride": pytest.approx(4), "holds": True}
    # a point that was not read off does not count as a wider grid
    assert duct.paper_grid(ran, drawn.drop(index=50))["nodes"] == 128
    assert not duct.paper_grid(ran, drawn[1:])["holds"]


def test_the_order_of_a_wall_is_that_to_the_next_coarser_grid(monkeypatch):
    asked = []

    def solve_duct(case, device, **options):
        asked.append((case.nodes, device, options["precision"], options["tolerance"]))
        return SimpleNamespace(error=0.1 * (10 / case.side) ** (2.5 - 1.5 * (case.walls == "standard")))

    monkeypatch.setattr(duct, "solve_duct", solve_duct)
    table = duct.wall_orders(Duct(), [10, 20, 30], "here", walls=["half-way", "standard"])
    # far below the error of each
    assert asked == [(nodes, "here", "double", 1e-9) for nodes in (10, 20, 30)] * 2
    halves = table[table["walls"] == "half-way"]
    assert np.isnan(halves["order"].iloc[0])
    assert halves["order"].iloc[1:].tolist() == pytest.approx([2.5, 2.5])
    assert duct.finest_orders(table) == pytest.approx((2.5, 1.0))


def test_the_centre_of_a_duct_lies_nearer_to_the_series_than_its_error():
    case = Duct(nodes=16)
    exact = duct.duct_velocity(0, 0, case.side, case.force, case.problem.viscosity) / case.u0
    level = np.full((16, 16), 1.01 * exact)
    found = duct.centre(duct.DuctFlow(case, None, level, level / 1.02))
    assert found == {"error": pytest.approx(2), "ours": pytest.approx(1.01 * exact), "exact": pytest.approx(exact)} | {
        "holds": True
    }
    assert not duct.centre(duct.DuctFlow(case, None, level, level / 1.005))["holds"]
    # below the series as above it
    level = np.full((16, 16), 0.99 * exact)
    assert duct.centre(duct.DuctFlow(case, None, level, level / 1.02))["holds"]
    assert not duct.centre(duct.DuctFlow(case, None, level, level / 1.005))["holds"]


@pytest.mark.parametrize("name", list(cavity.VORTICES))
def test_a_vortex_is_sought_within_its_own_box(name):
    """A narrow one a little inside of each side of the box is found, and one as far outside is not."""
    (x0, x1, y0, y1), sign = cavity.VORTICES[name]
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    for axis, ends in enumerate(((x0, x1), (y0, y1))):
        for end, inward in zip(ends, (1, -1), strict=True):
            for inside in (True, False):
                at = list(middle)
                at[axis] = end + (0.05 if inside else -0.05) * inward
                if not 0.02 < at[axis] < 0.98:
                    continue
                psi = sign * np.exp(-600 * ((X - at[0]) ** 2 + (Y - at[1]) ** 2))
                along_y, along_x = np.gradient(psi, SIDE, SIDE)
                found = list(cavity.vortex_centres(flow_of(along_y, -along_x))["vortex"])
                assert (name in found) == inside, (axis, end, inside)


def test_a_vortex_counts_from_a_millionth_of_the_lids_speed_times_the_side_on():
    for largest, count in ((1.1e-6, 1), (0.9e-6, 0)):
        psi = largest * np.sin(np.pi * X) * np.sin(np.pi * Y)
        along_y = np.pi * largest * np.sin(np.pi * X) * np.cos(np.pi * Y)
        along_x = np.pi * largest * np.cos(np.pi * X) * np.sin(np.pi * Y)
        flow = flow_of(along_y, -along_x)
        np.testing.assert_allclose(flow.stream_function, psi, atol=1e-9)
        assert cavity.count_vortices(flow) == count


def test_a_duct_whose_order_is_told_runs_far_below_its_own_error(monkeypatch):
    asked = []

    def solved(case, device, **options):
        asked.append((case.walls, case.nodes, device, options))
        return SimpleNamespace(error=0.1)

    monkeypatch.setattr(duct, "solve_duct", solved)
    duct.wall_orders(Duct(), [10], "here", walls=["half-way"])
    assert asked == [("half-way", 10, "here", {"precision": "double", "tolerance": 1e-9, "limit": 100_000})]


def test_the_coarsest_grid_of_an_order_of_lids_has_a_lid_of_a_tenth(monkeypatch):
    cases = []

    def solved(case, device, precision):
        cases.append(case)
        return SimpleNamespace(case=case, convergence=SimpleNamespace(converged=True))

    monkeypatch.setattr(lids, "solve_cavity", solved)
    monkeypatch.setattr(lids, "extrema", lambda flow: dict.fromkeys(lids.EXTREMA, 1.0))
    spectral = pd.DataFrame([{"Re": 100.0} | dict.fromkeys(lids.EXTREMA, 2.0)])
    table = lids.lid_orders(100.0, [20, 40], spectral, None)
    assert [(case.nodes, case.lid_speed) for case in cases] == [(20, 0.1), (40, 0.05)] * 3
    assert [(case.lid, case.walls) for case in cases[::2]] == [tuple(way.values()) for way in lids.LIDS.values()]
    assert set(table["rms"]) == {50.0}


def test_the_cavitys_headline_has_the_primary_vortex_here_and_elsewhere():
    centres = pd.DataFrame({"vortex": ["BR1", "primary"], "x": [0.9, 0.554], "y": [0.1, 0.6049]})
    theirs = pd.DataFrame({"x": [0.25], "y": [0.5]}, index=["primary"])
    found = cavity.headline(centres, {"paper": theirs, "nobody": theirs[:0]}, 400.0)
    where = "here (0.5540, 0.6049), paper (0.2500, 0.5000)"
    assert found == f"Centre of the primary vortex at Re = 400, in units of the side: {where}"


def test_the_ducts_headline_has_the_error_in_per_cent_and_the_papers():
    flow = SimpleNamespace(case=Duct(nodes=64, relaxation_time=0.8), error=0.00123)
    ours = "Duct of 64 nodes, relaxation time 0.8: velocity 0.12 % off the exact series"
    assert duct.headline(flow, 0.14) == f"{ours}; the paper states 0.14 %, without its relaxation time"
