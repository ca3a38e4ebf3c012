"""Tables and findings on bubbles, layers and drops."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.lbm import plain
from repro.lbm.two_fluids.cases import Bubble, Drop, Layers
from repro.lbm.two_fluids.exact import layered_velocity, layered_velocity_as_printed
from repro.lbm.two_fluids.observables import ContactAngle
from repro.papers.porous.published import figure_points
from repro.papers.porous.two_fluids import contact, figures, laplace, layered

DATA = Path(__file__).resolve().parents[4] / "data"


def bubbles(radii, tension, dimensions=2, scatter=0.0, **more) -> pd.DataFrame:
    r = np.array(radii, float)
    pressure = (dimensions - 1) * tension / r * (1 + scatter * np.array([(-1) ** k for k in range(len(r))]))
    columns = {"dimensions": dimensions, "nodes": 128, "interaction": 0.2, "stencil": "isotropic-4", "start": r + 1}
    columns |= {"radius": r, "curvature": 1 / r, "pressure": pressure, "tension": pressure * r / (dimensions - 1)}
    return pd.DataFrame(columns | {"anisotropy": 1e-3, "spurious": 2e-3, "change": 1e-4} | more)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_slope_of_an_exact_line_is_the_tension_of_circles_and_of_spheres(dimensions):
    found = laplace.line(bubbles([10, 20, 40], 0.07, dimensions))
    assert found == pytest.approx((0.07, 0, 1), abs=1e-12)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_scatter_about_the_line_is_an_error_and_costs_r_squared(dimensions):
    """Through (1, 3) and (2, 4) and the origin: slope 11/5, residuals 4/5 and -2/5, error sqrt(4/5 / 5) = 2/5."""
    found = laplace.line(pd.DataFrame({"curvature": [1.0, 2.0], "pressure": [3.0, 4.0], "dimensions": dimensions}))
    assert found == pytest.approx((2.2 / (dimensions - 1), 0.4 / (dimensions - 1), 1 - 0.8 / 0.5))


def test_a_layered_flows_row_tells_which_viscosity_and_which_force_is_which():
    case = Layers(nodes=64, relaxation_times=(0.8, 1.7), accelerations=(2e-6, 3e-6))
    flow = flow_of(case, 0.97, inner=12.0)
    row = layered.row_of(flow)
    assert row["viscosity ratio"] == pytest.approx(1.2 / 0.3)
    assert (row["force inside"], row["force outside"], row["inner"]) == (2e-6, 3e-6, 12.0)
    assert (row["change"], row["least density"]) == (1e-6, 0.6)
    assert row["u max"] == pytest.approx(0.97 * row["exact u max"])
    exact = layered_velocity(case.positions, 12.0, 32, (2e-6, 3e-6), (0.3 / 3, 1.2 / 3))
    assert row["exact u max"] == pytest.approx(exact.max())
    printed = layered_velocity_as_printed(case.positions, 12.0, 32, (2e-6, 3e-6), (0.3 / 3, 1.2 / 3))
    expected = 100 * np.abs(0.97 * exact - printed).max() / np.abs(printed).max()
    assert row["from equation 6.2 (%)"] == pytest.approx(expected)


def test_finer_grids_have_the_same_velocity_and_other_ratios_the_same_fluid_inside(monkeypatch):
    cases = []

    def run(case, device):
        cases.append(case)
        if case.relaxation_times[1] > 3:
            raise layered.DivergenceError("made up")
        return flow_of(case, 0.98)

    monkeypatch.setattr(layered, "run", run)
    layered.refined(Layers(nodes=64, relaxation_times=(1.0, 2.0), accelerations=(2e-6, 3e-6)), [32, 128], None)
    assert [case.nodes for case in cases] == [32, 128]
    assert [*cases[0].accelerations, *cases[1].accelerations] == pytest.approx([8e-6, 12e-6, 0.5e-6, 0.75e-6])
    cases.clear()
    found = layered.over_viscosity([Layers(nodes=32, relaxation_times=(0.8, 1.0))], [4, 10], None)
    assert [case.relaxation_times for case in cases] == [pytest.approx((0.8, 1.7)), pytest.approx((0.8, 3.5))]
    assert found["viscosity ratio"].tolist() == pytest.approx([4, 10])
    assert found["outcome"].tolist() == ["steady", "diverged"]


def test_the_papers_own_curve_is_off_by_the_largest_of_its_exact_one():
    exact = pd.DataFrame({"series": "analytical", "x": [0.0, 4.0, 8.0], "y": [0.0, 0.08, 0.0]})
    numerical = pd.DataFrame({"series": "numerical", "x": [6.0, 2.0], "y": [0.038, 0.044]})
    found = layered.paper_difference(pd.concat([exact, numerical]))
    assert found["difference"].tolist() == pytest.approx([0.05, -0.025])


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_bubbles_row_tells_its_tension_and_how_much_its_pressure_still_changes(monkeypatch, dimensions):
    states, taken = iter([0.05, 0.04]), []

    def state(flow):
        return SimpleNamespace(
            radius=8.0,
            pressure_difference=next(states),
            tension=0.32,
            anisotropy=2e-3,
            spurious_velocity=7e-4,
            inside=(0.97, 0.02),
        )

    class Flow:
        steps = 0

        def step(self, count):
            taken.append(count)
            self.steps += count

    case = laplace.Bubble(dimensions=dimensions, radius=9.0)
    monkeypatch.setattr(laplace, "bubble_state", state)
    asked = []
    monkeypatch.setattr(laplace.Bubble, "start", lambda *given, **options: asked.append((given, options)) or Flow())
    (row,) = laplace.bubbles([case], "here", 55, precision="double").to_dict("records")
    assert asked == [((case, "here"), {"precision": "double"})]
    # looked at after four fifths and at the end
    assert taken == [44, 11]
    assert (row["dimensions"], row["start"], row["radius"]) == (dimensions, 9.0, 8.0)
    assert (row["anisotropy"], row["spurious"], row["density"]) == (2e-3, 7e-4, pytest.approx(0.99))
    # what the state has is the pressure difference times the radius: twice the tension of a sphere
    found = (row["curvature"], row["pressure"], row["tension"], row["change"])
    assert found == pytest.approx((0.125, 0.04, 0.32 / (dimensions - 1), 0.2))


def test_the_steps_of_pressure_and_potential_are_those_from_phase_to_phase():
    a, b = np.full(32, 0.2), np.full(32, 0.7)
    a[8:24], b[8:24] = 0.9, 0.1
    # the middle and the first node are looked at
    a[[4, 12, -1]] = 5.0
    problem = SimpleNamespace(pressure=lambda a, b: a / 3 + b)
    fields = (a.reshape(1, 1, -1), b.reshape(1, 1, -1), np.zeros(3))
    taken = []
    flow = SimpleNamespace(step=taken.append, fields=lambda: fields)
    case = SimpleNamespace(
        nodes=32, interaction=0.2, stencil="central", problem=problem, start=lambda device, precision: flow
    )
    (row,) = laplace.flat_interfaces([case], None, 5, precision="double").to_dict("records")
    assert taken == [5]
    assert (row["interaction"], row["stencil"], row["majority"], row["minority"]) == (0.2, "central", 0.9, 0.2)
    assert row["pressure step"] == pytest.approx(abs((0.3 + 0.1) / (0.2 / 3 + 0.7) - 1))
    # of chemical potentials over 6 g rho, rho = 0.9 + 0.1, per cent
    strength = 6 * 0.2
    potential = (np.log(0.9 / 0.2) / 3 + strength * (0.1 - 0.7)) / strength
    assert row["potential step (%)"] == pytest.approx(100 * abs(potential))
    theory = laplace.coexistence(0.2, pressure=0.4), laplace.lattice_coexistence(0.2, density=1.0)
    names = ("continuum majority", "continuum minority", "lattice majority", "lattice minority")
    assert [row[name] for name in names] == pytest.approx([*theory[0], *theory[1]])
    # the interfaces are two
    assert row["tension"] == pytest.approx(laplace.surface_tension(a, b, 0.2, "central") / 2)


def test_means_over_radii_are_means_but_for_what_must_be_small_everywhere():
    table = bubbles([10, 20], 0.07).assign(
        tension=[0.06, 0.09], anisotropy=[1e-3, 4e-3], spurious=[1e-3, 6e-3], change=[2e-4, 1e-4]
    )
    found = laplace.by_stencil(laplace.joined(table, bubbles([10], 0.5, 3))).loc["isotropic-4"]
    assert dict(found) == pytest.approx({"tension": 0.075, "anisotropy": 2.5e-3, "spurious": 6e-3, "change": 2e-4})
    assert laplace.settled(table)
    assert not laplace.settled(table.assign(change=[1e-4, 4e-3]))


def test_the_papers_bubbles_stand_beside_those_of_the_same_start():
    # theirs in any order: radii 20 and 10, pressures 0.004 and 0.008
    points = pd.DataFrame({"x": [0.05, 0.1], "y": [0.004, 0.008]})
    ours = bubbles([22, 11], 0.07).assign(pressure=[0.0042, 0.0076])
    found = laplace.against_paper(ours, points)
    assert found["start"].tolist() == [12, 23]
    assert found["paper's"].tolist() == pytest.approx([10, 20])
    assert found["difference (%)"].tolist() == pytest.approx([-5, 5])


def test_the_distance_from_the_line_is_that_of_the_farthest_bubble():
    for dimensions in (2, 3):
        exact = bubbles([10, 20, 40], 0.07, dimensions)
        assert laplace.off_line(exact) == pytest.approx(0, abs=1e-9)
        # the smallest bubbles rule the line
        assert laplace.off_line(exact.assign(pressure=exact["pressure"] * [1, 1, 1.03])) == pytest.approx(
            2.86, abs=0.01
        )
    points = figure_points(DATA, "6.2 Laplace", "numerical")
    theirs = pd.DataFrame({"curvature": points["x"], "pressure": points["y"], "dimensions": 2})
    assert laplace.off_line(theirs) == pytest.approx(0.44, abs=0.005)


def test_the_thickness_of_an_interface_is_that_of_its_steepest_slope():
    x = np.arange(64)
    a = 0.2 + 0.6 * np.clip((x - 20) / 8, 0, 1)
    assert laplace.thickness(a, 1 - a) == pytest.approx(8)
    flat = pd.DataFrame({"interaction": [0.13, 0.15, 0.2], "thickness": [9.0, 6.0, 4.0]})
    assert laplace.thickness_claims(flat) == {"porous-163": 1.5}
    assert laplace.thickness_claims(flat[:2]) == {}


def test_lines_tell_stencils_interactions_and_dimensions_apart():
    table = laplace.joined(
        bubbles([10, 20], 0.07), bubbles([10, 20], 0.09, stencil="central"), bubbles([10, 20], 0.071, 3), pd.DataFrame()
    )
    found = laplace.lines(table)["tension"]
    assert found[2, "isotropic-4", 0.2] == pytest.approx(0.07)
    assert found[2, "central", 0.2] == pytest.approx(0.09)
    assert found[3, "isotropic-4", 0.2] == pytest.approx(0.071)
    agree = laplace.spheres_agree(laplace.lines(table))
    assert (agree["circles"], agree["spheres"], agree["holds"]) == (pytest.approx(0.07), pytest.approx(0.071), True)
    assert laplace.lines(laplace.joined()).empty
    # one bubble with half the pressure of the others is on no line
    odd = laplace.lines(laplace.joined(bubbles([10], 0.035), bubbles([20, 30, 40], 0.07)))
    assert odd["r_squared"].item() < 0.99


def test_a_bubble_that_is_gone_does_not_take_its_line_with_it():
    table = bubbles([10, 20, 40], 0.07)
    table.loc[0, ["radius", "curvature", "pressure"]] = np.nan
    assert laplace.lines(table)["tension"].item() == pytest.approx(0.07)


def test_the_papers_points_give_the_claimed_slope():
    points = figure_points(DATA, "6.2 Laplace", "numerical")
    published = laplace.published_line(points)
    assert published.r_squared > 0.99
    assert published.tension == pytest.approx(0.0698, abs=2e-4)
    same = bubbles(1 / points["x"], 0.0698)
    compared = laplace.against_paper(same, points)
    assert compared["difference (%)"].abs().max() < 1
    np.testing.assert_allclose(compared["radius"], compared["paper's"])
    assert laplace.against_paper(same[:3], points).empty


def test_only_the_central_difference_never_settles():
    central = bubbles([10, 20], 0.09, stencil="central", change=0.2, spurious=0.08)
    found = laplace.restless(laplace.by_stencil(laplace.joined(bubbles([10, 20], 0.07), central)))
    assert found == {"named": 0.08, "times": pytest.approx(40), "holds": True}
    quiet = laplace.joined(bubbles([10, 20], 0.07), central.assign(change=1e-4))
    assert not laplace.restless(laplace.by_stencil(quiet))["holds"]


def flow_of(case, change=1.0, inner=None) -> layered.LayeredFlow:
    inner = case.nodes / 4 if inner is None else inner
    exact = layered_velocity(case.positions, inner, case.nodes / 2, case.accelerations, case.problem.viscosities)
    return layered.LayeredFlow(case, 100, case.positions, change * exact, inner, 1e-6, 0.6)


def test_deviations_are_measured_against_the_largest_exact_velocity():
    flow = flow_of(Layers(nodes=64), change=0.97)
    assert flow.deviation() == pytest.approx(0.03)
    assert flow.deviation(layered_velocity_as_printed) == pytest.approx(0.03)
    pulled = flow_of(Layers(nodes=64, accelerations=(1e-6, 0.0)))
    assert pulled.deviation() == 0
    # the printed equation leaves the outer fluid at rest
    assert pulled.deviation(layered_velocity_as_printed) > 0.1
    row = layered.row_of(flow)
    assert row["viscosity ratio"] == pytest.approx(10)
    assert row["deviation (%)"] == pytest.approx(3)


def test_the_papers_curves_differ_by_what_is_said_of_them():
    points = figure_points(DATA, "6.4 layered")
    assert 100 * layered.paper_difference(points)["difference"].abs().max() == pytest.approx(3.4, abs=0.1)
    exact = layered.published_profiles(points)["analytical"]
    ours = layered_velocity(exact["x"], layered.PAPER_INNER, layered.PAPER_HALF, (1e-6, 1e-6), (1 / 6, 10 / 6))
    np.testing.assert_allclose(ours, exact["y"], atol=4e-5)


def readings_of(nodes=256) -> dict:
    """Exact flows of the three readings of figure 6.4."""
    flows = {}
    for name, (force, ratio) in layered.READINGS.items():
        case = Layers(nodes=nodes, accelerations=(1e-6, force * 1e-6), relaxation_times=(1.0, 0.5 + ratio / 2))
        flows[name, "bgk"] = flow_of(case, inner=layered.PAPER_INNER * nodes / 256)
    return flows


def test_the_papers_outer_layer_is_straight_and_asks_for_a_ratio_of_six():
    found = layered.viscosities_by_shear(figure_points(DATA, "6.4 layered"))
    assert found["holds"]
    assert found["inner"] == pytest.approx(1 / 6, rel=0.02)
    assert found["outer"] == pytest.approx(1, rel=0.02)


def test_without_a_force_the_shear_of_the_outer_layer_tells_its_viscosity():
    printed, ten, six = readings_of().values()
    assert layered.shear(printed.y, printed.velocity, 128)["bow (%)"] > 0.5
    for flow, viscosity in ((ten, 10 / 6), (six, 1)):
        found = layered.shear(flow.y, flow.velocity, 128)
        assert found["bow (%)"] == pytest.approx(0, abs=1e-9)
        assert found["slope"] == pytest.approx(1e-6 * layered.PAPER_INNER / viscosity)
        assert found["curvature"] == pytest.approx(3e-6)


def test_readings_are_judged_on_the_whole_curve():
    points, flows = figure_points(DATA, "6.4 layered"), readings_of()
    table = layered.readings_table(flows, points)
    assert table["farthest (%)"].iloc[0] == 0
    # the paper's exact curve is the printed reading
    assert table["farthest (%)"].iloc[1] == pytest.approx(3.4, abs=0.2)
    theirs = points.loc[points["series"] == "numerical", "y"].max()
    assert table["u max"].tolist() == [theirs, *(flow.velocity.max() for flow in flows.values())]
    assert layered.bows(table)["holds"]
    assert not layered.bows(table.assign(**{"bow (%)": 0.8}))["holds"]
    # on a grid of half as many nodes the scaled points are as far from what is driven by four times the force
    coarse = layered.scaled(points, 128)
    assert coarse["x"].abs().max() == pytest.approx(points["x"].abs().max() / 2)


def test_the_curve_is_handed_over_in_each_reading():
    points, said = figure_points(DATA, "6.4 layered"), {}
    record = SimpleNamespace(
        measure=lambda claim, value, **more: said.update({claim: (value, more)}),
        not_measured=lambda claim, reason: said.update({claim: reason}),
    )
    flows = readings_of()
    layered.hand_over(record, flows, points)
    value, more = said["porous-077"]
    assert value == layered.farthest(flows["as printed: F_w = F_n, ratio 10", "bgk"], points)
    assert more["converged"]
    assert "at the ratio 6" in more["note"]
    assert said["porous-076"][0] == pytest.approx(0.0158, abs=1e-4)
    value, more = said["porous-160"]
    # these flows are exact
    assert value == pytest.approx(0, abs=1e-9)
    assert more["note"] == "bgk: 0.0 %"
    layered.hand_over(record, readings_of(64), points)
    assert set(said) == set(layered.CLAIMS)
    assert all("the paper has 256" in reason for reason in said.values())
    table = layered.readings_table(flows, points)
    assert layered.nearest(table)["six"] == table["farthest (%)"].iloc[-1]
    assert layered.nearest(table.assign(**{"farthest (%)": [0.0, 7.0, 14.0, 1.5]})) == {"six": 1.5, "holds": True}


def test_each_reading_runs_with_each_collision(monkeypatch):
    monkeypatch.setattr(layered, "run", lambda case, device, **options: case)
    made = layered.readings(Layers(), ["bgk", "mrt"], None)
    assert len(made) == 6
    for (name, kind), case in made.items():
        force, ratio = layered.READINGS[name]
        assert (case.collision, case.accelerations) == (kind, (1e-6, force * 1e-6))
        inside, outside = case.problem.viscosities
        assert outside / inside == pytest.approx(ratio)


def test_ratios_at_which_the_fluids_diverge_are_named():
    steady = layered.row_of(flow_of(Layers(nodes=32), 0.9)) | {"outcome": "steady"}
    rows = [steady | {"viscosity ratio": ratio, "deviation (%)": 1.0} for ratio in (2.0, 5.0)] + [steady]
    rows.append({"viscosity ratio": 100.0, "collision": "mrt", "outcome": "diverged"})
    assert layered.largest_ratio(pd.DataFrame(rows), "mrt") == pytest.approx({"last": 10, "off": 10, "holds": True})
    assert not layered.largest_ratio(pd.DataFrame(rows[:3]), "mrt")["holds"]


def drop_of(wetting, angle):
    centre = -30.0 * np.cos(np.radians(angle))
    circle = ContactAngle(angle, 30.0, centre, 0.01, np.zeros((4, 2)), np.ones(4, bool))
    densities = np.full((2, 42, 96), 0.5)
    densities[0, 1, :7] = 0.9
    return Drop(wetting, length=96, height=40, radius=20.0), densities, circle, 0.1


def test_angles_stand_beside_their_pictures_and_their_mirror_images():
    found = [drop_of(0.01, 111.0), drop_of(0.0, 90.0), drop_of(-0.01, 67.0)]
    frame = contact.table(found, contact.pictures(DATA))
    assert list(frame["wetting"]) == [-0.01, 0.0, 0.01]
    assert list(frame["read"]) == [64.3, 85.6, 106.8]
    np.testing.assert_allclose(frame["difference"], frame["angle"] - frame["paper"])
    (pair,) = contact.pairs(frame).itertuples()
    assert (pair.Index, pair.difference, pair.attracted) == pytest.approx((0.01, 2.0, 67.0))
    assert contact.complementary(contact.pairs(frame)) == {"off": pytest.approx(2), "holds": True}
    assert contact.rises(frame) == 2
    assert contact.rises(frame.assign(angle=[90.0, 67.0, 111.0])) == 1
    assert contact.slopes(frame)["this run"] == pytest.approx((np.cos(np.radians(67)) - np.cos(np.radians(111))) / 0.02)
    slopes = contact.slopes(frame)
    assert contact.formula_slope(frame)["share"] == pytest.approx(slopes["formula"] / slopes["this run"])
    times = slopes["paper's pictures"] / slopes["this run"]
    assert contact.paper_slope(frame) == {"times": pytest.approx(times), "holds": times > 1}
    # pictures have angles where drops that float have none
    floating = frame.assign(angle=np.nan)
    assert contact.paper_slope(floating) == {"times": 0.0, "holds": False}
    assert contact.formula_slope(floating) == {"share": 0.0, "holds": False}
    assert contact.paper_slope(frame[:1]) == {"times": 0.0, "holds": False}
    assert frame["complement"].to_list() == pytest.approx([180 - 111, 90, 180 - 67])
    np.testing.assert_allclose(contact.formula([-0.01, 0.0, 0.01]), frame["formula"])
    assert frame["formula"].to_list()[1] == pytest.approx(90)
    # a fluid that the plate repels more wets it less
    assert contact.formula([0.01])[0] > 90
    assert contact.slopes(frame[:1]) == {}
    assert not contact.formula_slope(frame[:1])["holds"]
    still = frame.assign(angle=90.0, wetting=[-0.01, 0.01, *frame["wetting"][2:]])
    assert contact.formula_slope(still) == {"share": 0.0, "holds": False}
    assert contact.paper_slope(still) == {"times": 0.0, "holds": False}


def test_the_plate_of_the_pictures_is_where_equal_strengths_have_90_degrees():
    found = contact.pictures(DATA)["corrected"]
    assert found[0.0] == pytest.approx(90)
    # 3.8 nodes for a half circle of 50: steep drops are read worst, and the steepest is off the plate
    assert (found - contact.pictures(DATA)["read"]).idxmax() == 0.02
    assert np.isnan(found[0.03])
    assert contact.symmetric(contact.pictures(DATA))["holds"]
    for angle in (20.0, 90.0, 150.0):
        radius, turn = contact.circle_radius(angle), np.radians(angle)
        assert radius**2 * (turn - np.sin(turn) * np.cos(turn)) == pytest.approx(np.pi / 2)


def test_a_drop_without_a_line_of_contact_has_no_angle_but_its_place_in_the_order():
    case, densities, circle, _ = drop_of(0.03, 150.0)
    away = circle._replace(angle=float("nan"), height=32.0)
    film = circle._replace(angle=float("nan"), height=-900.0, radius=800.0)
    assert (away.why, film.why, circle.why) == ("the drop has left the plate", "the drop covers the plate", "")
    found = [(case, densities, away, float("nan")), drop_of(0.01, 111.0)]
    found.append((Drop(-0.03, length=96, height=40, radius=20.0), densities, film, float("nan")))
    frame = contact.table(found, contact.pictures(DATA))
    assert frame["angle"].isna().to_list() == [True, False, True]
    assert contact.rises(frame) == 2
    assert contact.from_pictures(frame)["least"] == contact.from_pictures(frame)["most"]


def test_each_of_the_papers_drops_is_handed_over():
    found = [drop_of(w, 90 + 2000 * w) for w in contact.CLAIMS]
    case, densities, circle, _ = found[-1]
    found[-1] = (case, densities, circle._replace(angle=float("nan"), height=40.0), float("nan"))
    said, pictures = {}, contact.pictures(DATA)
    record = SimpleNamespace(
        measure=lambda claim, value, **more: said.update({claim: value}),
        not_measured=lambda claim, reason: said.update({claim: reason}),
    )
    stronger = [drop_of(1.15 * w, 90.0) for w in contact.CLAIMS]
    beside = contact.over_solid_density({1.0: found, 1.15: stronger}, pictures)
    assert list(beside["rho_s = 1.15"]) == [pytest.approx(90)] * 8
    contact.hand_over(record, contact.table(found, pictures), beside)
    assert said["porous-130"] == pytest.approx(30)
    # what the density of the made-up drop covers of its first base
    assert contact.BASE == "porous-137"
    assert said["porous-137"] == pytest.approx(100 * np.count_nonzero(densities[0, 1] > densities[1, 1]) / 40)
    assert said[contact.ORDER] == 7


def test_a_tension_holds_on_a_line_near_the_papers():
    theirs = laplace.Line(0.07, 1e-3, 0.998)
    found = laplace.tensions(laplace.Line(0.069, 1e-3, 0.9995), theirs)
    assert found["off"] == pytest.approx(-1.43, abs=0.01)
    assert found["holds"]
    for tension in (0.066, 0.0736):
        assert not laplace.tensions(laplace.Line(tension, 1e-3, 0.9995), theirs)["holds"]
    assert not laplace.tensions(laplace.Line(0.07, 1e-3, 0.9), theirs)["holds"]


def test_the_continuum_fails_where_fluids_repel_each_other_most():
    flat = {"interaction": [0.15, 0.18, 0.2], "potential step (%)": [0.5, 0.8, 6.2], "minority": [0.1, 0.1, 0.05]}
    flat = pd.DataFrame(flat)
    assert laplace.continuum_fails(flat) == {"step": 6.2, "g": 0.2, "holds": True}
    assert laplace.balanced(flat.assign(**{"lattice minority": [0.1, 0.1, 0.0501]}))["off"] == pytest.approx(
        2e-3, rel=0.01
    )
    assert not laplace.balanced(flat.assign(**{"lattice minority": [0.1, 0.1, 0.06]}))["holds"]


def test_the_corrected_equation_is_met_and_the_printed_one_is_not():
    pulled = flow_of(Layers(nodes=64, accelerations=(1e-6, 0.0)), 0.97)
    found, exact = layered.correction(pulled), pulled.exact()
    assert found["ours"] == pytest.approx(3)
    # with equal thicknesses half of what is driven in the middle stands as a straight line outside, which is left out
    printed = pulled.exact(layered_velocity_as_printed)
    assert found["printed"] == pytest.approx(100 * (exact - printed).max() / exact.max())
    assert found["holds"]
    points = figure_points(DATA, "6.4 layered")
    assert layered.deviations(flow_of(Layers(nodes=64), 0.98), points)["holds"]
    assert not layered.deviations(flow_of(Layers(nodes=64), 0.95), points)["holds"]


def test_a_deviation_of_first_order_is_halved_with_each_doubling():
    grids = pd.DataFrame({"collision": "mrt", "nodes": [64, 32, 128], "deviation (%)": [4.0, 8.0, 2.5]})
    assert layered.orders(grids, "mrt") == {"least": 1.6, "most": 2, "holds": True}
    assert not layered.orders(grids.assign(**{"deviation (%)": 1.0}), "mrt")["holds"]
    second = grids.assign(**{"deviation (%)": [4.0, 16.0, 1.0]})
    assert layered.orders(second, "mrt") == {"least": 4, "most": 4, "holds": False}


def test_the_mixture_is_thin_where_the_layers_meet(threads):
    flow = layered.run(Layers(nodes=32, relaxation_times=(1.0, 1.0)), threads, times=0.2, precision="single")
    assert 0.4 < flow.thinnest < 0.7


def test_figures_show_the_arrays_that_they_return():
    points = figure_points(DATA, "6.2 Laplace", "numerical")
    table = bubbles([16, 23, 29, 39, 50], 0.07)
    flow = flow_of(Layers())
    flat = pd.DataFrame({"interaction": [0.15, 0.2], "potential step (%)": [0.5, 6.0]})
    for name, values in {"majority": [0.9, 0.97], "minority": [0.1, 0.03]}.items():
        flat[name] = flat[f"continuum {name}"] = flat[f"lattice {name}"] = values
    drops = [drop_of(0.01, 111.0), drop_of(0.0, 90.0), drop_of(-0.01, 67.0)]
    pictures = contact.pictures(DATA)
    layers = pd.DataFrame([layered.row_of(flow_of(Layers(nodes=n), 0.9)) for n in (32, 64)]).assign(outcome="steady")
    circle = np.hypot(*np.mgrid[-15.5:16, -15.5:16]) < 9
    shown = [
        figures.bubble(Bubble(radius=9.0, nodes=32), 0.03 + 0.94 * circle, 0.97 - 0.94 * circle, 9.0),
        figures.laplace(table, points),
        figures.laplace_lines(laplace.joined(table, bubbles([16, 23], 0.07, 3))),
        figures.coexistence(flat),
        figures.layers(flow, figure_points(DATA, "6.4 layered")),
        figures.layers(flow, None),
        figures.sketch(Layers()),
        figures.outer_layer(readings_of(), figure_points(DATA, "6.4 layered"), "bgk"),
        figures.refinement(layers),
        figures.viscosities(layers),
        figures.drops(drops, pictures),
        figures.angles(contact.table(drops, pictures), contact.over_solid_density({1.0: drops}, pictures)),
        figures.drop_start(drops[0][0], np.ones((42, 96), bool)),
    ]
    for figure, arrays in shown:
        assert any(axes.get_xlabel() for axes in figure.axes)
        assert arrays
        assert all(np.size(values) for values in arrays.values())
        plt.close(figure)


def test_a_run_measures_the_interface_from_both_masses(monkeypatch):
    case = Layers(nodes=32)
    share = (np.abs(case.positions) < 8).astype(float)
    # at one node there is less of both, and at the plates far less
    thin = np.where(np.arange(32) == 20, 0.6, np.where(np.isin(np.arange(32), (0, 31)), 0.1, 1.0))
    a, b = (np.pad(values, 1)[None, None] for values in (0.02 + 0.9 * share, 0.95 - 0.9 * share))
    profile = 1 - (case.positions / 16) ** 2

    class Flow:
        """The velocity in the middle is a quarter larger at the end, and another fluid's lies elsewhere."""

        steps = 0

        def step(self, count):
            taken.append(count)
            self.steps += count

        def fields(self):
            velocity = np.zeros((3, *a.shape))
            velocity[1] = np.pad(profile, 1)
            velocity[1][..., 17] *= 1.25 if len(taken) > 1 else 1.0
            return a * mixture, b * mixture, velocity

    taken, asked, mixture, flow = [], [], 1.0, Flow()
    monkeypatch.setattr(Layers, "start", lambda *given, **options: asked.append((given, options)) or flow)
    found = layered.run(case, "here", times=0.5, precision="double")
    assert asked == [((case, "here"), {"precision": "double"})]
    assert found.inner == pytest.approx(8)
    assert found.steps == int(0.5 * 16**2 * 6)
    # without the plates, along them
    profile[16] *= 1.25
    np.testing.assert_allclose(found.velocity, profile)
    assert taken == [found.steps * 9 // 10, found.steps - found.steps * 9 // 10]
    assert (found.change, found.thinnest) == pytest.approx((0.25, 1.0))
    # of the mixture between the plates, and not at them
    taken.clear()
    mixture, flow = np.pad(thin, 1), Flow()
    assert layered.run(case, "here", times=0.5, precision="double").thinnest == pytest.approx(0.6)


def test_the_plain_step_of_layers_is_the_solvers_with_walls_wetting_and_force(monkeypatch):
    found = layered.against_plain(PlainDevice(), steps=5)
    assert (found["holds"], found["nodes"], found["steps"]) == (True, 16, 5)
    # plates that neither fluid wets
    repulsion = plain.repulsion
    monkeypatch.setattr(plain, "repulsion", lambda *given: repulsion(*given[:-1], (0, 0)))
    assert not layered.against_plain(PlainDevice(), steps=5)["holds"]


def test_the_headline_on_bubbles_has_their_tension_and_the_papers():
    theirs = laplace.line(bubbles([10, 20], 0.0698))
    circles = bubbles([10, 20, 40], 0.07)
    found = laplace.headline(circles, laplace.line(circles), theirs)
    tensions = "0.0700 in lattice units; the paper's points give 0.0698"
    assert found == f"Surface tension from the pressure in bubbles of radius 10 to 40: {tensions}"


def test_the_headline_on_layers_has_both_distances_from_what_is_exact():
    points = figure_points(DATA, "6.4 layered")
    flow = flow_of(Layers(nodes=64, relaxation_times=(0.8, 1.7)), 0.97, inner=12.0)
    off = layered.deviations(flow, points)
    ours = f"Layers of two fluids, viscosity ratio 4: velocity up to {off['ours']:.1f} % off the exact one with MRT"
    assert layered.headline(flow, points) == f"{ours}; the paper's points up to 3.4 %"


def test_the_headline_on_drops_has_the_angles_that_both_have():
    frame = pd.DataFrame({"angle": [20.0, 80.0, 120.4, np.nan], "paper": [np.nan, 75.0, 110.0, 150.0]})
    angles = "80 to 120 degrees; in the paper's pictures: 75 to 110 degrees"
    assert contact.headline(frame) == f"Contact angles of 2 drops on a plate: {angles}"
    assert contact.headline(frame[:1]).startswith("No drop of this run")
