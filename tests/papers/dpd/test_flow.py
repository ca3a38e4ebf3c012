"""Windows, averages and what they tell of flows between plates and through a channel."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from math import pi
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from repro.dpd import cases, exact
from repro.dpd.averages import Field
from repro.dpd.observables import Estimate
from repro.errors import InputError
from repro.papers.dpd.flow import figures as flow_figures
from repro.papers.dpd.flow import flows, plates, sections
from repro.parallel import select
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge

PLATES = cases.Poiseuille(4, 4, 10, 0.02)
CHANNEL = cases.Channel(32, 6, 16, 12, 4, frozen=None)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def between_plates(velocity, *, samples=10):
    """Layers between the plates of PLATES with a velocity given as a function of the height above the lower one."""
    walls = PLATES.walls
    z = walls.bottom + (np.arange(30) + 0.5) * PLATES.height / 30
    shape = (1, 30)
    u = np.asarray(velocity(z - walls.bottom), float).reshape(shape)
    return Field(np.array([2.0]), z, np.full(shape, 4.0), u, np.zeros(shape), np.ones(shape), samples)


def in_channel(speed_of):
    """Bins of CHANNEL, 32 x 32, with a velocity along x given for each part; nan in the blocks."""
    low = CHANNEL.walls.bottom
    x, z = np.arange(32) + 0.5, low + (np.arange(32) + 0.5) / 2
    narrow = (np.abs(x - 16) < 6)[:, None]
    inside = ~narrow | (np.abs(z - low - 8) < 2)[None, :]
    u = np.where(inside, np.where(narrow, speed_of["narrow"], speed_of["wide"]), np.nan)
    return Field(x, z, np.where(inside, 4.0, 0.0), u, np.where(inside, 0.0, np.nan), np.where(inside, 1.0, np.nan), 5)


def parabola_with(slip, viscosity=1.1):
    return lambda z: slip + exact.poiseuille(z, PLATES.height, PLATES.drive, 4.0, viscosity)


@pytest.fixture(scope="module")
def system():
    return PLATES.system()


def test_a_particle_has_the_same_weight_in_whichever_window_it_was_seen():
    first = between_plates(lambda z: np.full_like(z, 1.0), samples=10)
    second = between_plates(lambda z: np.full_like(z, 4.0), samples=30)
    second = replace(second, density=2 * second.density)
    mean = flows.mean_field([first, second])
    # 40 and 240 particles a unit of volume: velocity (40 + 4 * 240) / 280, density 280 / 40
    assert mean.velocity_x == pytest.approx(np.full((1, 30), 1000 / 280))
    assert mean.density == pytest.approx(np.full((1, 30), 7.0))
    # the mean square of one component rises by the variance of the means, over three components
    variance = (40 * 1 + 240 * 16) / 280 - (1000 / 280) ** 2
    assert mean.temperature == pytest.approx(np.full((1, 30), 1 + variance / 3))


def seen(velocities: list[np.ndarray], samples: int, volume: float) -> Field:
    """What is found of so many samples in bins of a `volume`, each with the velocities (count, 3) of all of them."""
    u, _, w = np.array([v.mean(0) for v in velocities]).T[:, None]
    square = np.array([[(v**2).sum(1).mean() for v in velocities]])
    density = np.array([[len(v) for v in velocities]]) / samples / volume
    return Field(np.zeros(1), np.arange(2.0), density, u, w, (square - u**2 - w**2) / 3, samples)


def test_the_average_over_windows_is_that_of_all_particles_together():
    """Of bins in which the fluid moves along and across the plates, and faster in one window than in another."""
    chance = np.random.default_rng(3)
    windows = [
        [chance.normal(shift, 0.7, (count, 3)) for shift, count in pairs]
        for pairs in ([((1.0, 0.0, 2.0), 30), ((0.5, 0.0, -1.0), 50)], [((-2.0, 0.0, 5.0), 90), ((3.0, 0.0, 0.25), 20)])
    ]
    mean = flows.mean_field([seen(each, n, 0.4) for each, n in zip(windows, (4, 9), strict=True)])
    expected = seen([np.concatenate(both) for both in zip(*windows, strict=True)], 13, 0.4)
    for name in ("density", "velocity_x", "velocity_z", "temperature", "samples"):
        np.testing.assert_allclose(getattr(mean, name), getattr(expected, name), rtol=1e-12)


def test_a_bin_that_is_empty_in_one_window_takes_the_velocity_of_the_other():
    full = between_plates(lambda z: 0 * z + 2.0)
    empty = replace(full, density=0 * full.density, velocity_x=np.nan * full.velocity_x)
    mean = flows.mean_field([full, empty])
    assert mean.velocity_x == pytest.approx(full.velocity_x)
    assert mean.density == pytest.approx(full.density / 2)


def test_an_exact_parabola_gives_back_its_viscosity_and_has_no_residual(system):
    fit = plates.parabola([between_plates(parabola_with(0.0))], system)
    assert fit.viscosity.value == pytest.approx(1.1)
    assert fit.fastest == pytest.approx(4 * 0.02 * 100 / (8 * 1.1))
    assert fit.rms < 1e-10
    assert np.abs(fit.slip).max() < 1e-10
    assert fit.theory == pytest.approx(fit.velocity)


def test_a_parabola_that_is_shifted_slips_at_both_walls(system):
    slip = 0.05
    fit = plates.parabola([between_plates(parabola_with(slip))], system)
    assert fit.slip == pytest.approx([slip / (slip + 8 / 8.8)] * 2)
    assert fit.velocity - fit.theory == pytest.approx(np.full(30, slip))


def test_the_error_of_the_viscosity_holds_the_scatter_of_the_windows(system):
    windows = [between_plates(parabola_with(0.0, viscosity)) for viscosity in (1.0, 1.1, 1.2)]
    assert plates.parabola(windows, system).viscosity.error == pytest.approx(0.1 / np.sqrt(3))


def test_the_shear_within_a_layer_is_not_temperature():
    shear, height = 1.5, 10 / 30
    field = between_plates(lambda z: shear * z)
    # uniform in a layer: the mean square is kT and (s h)^2 / 12 more for one of three components
    field = replace(field, temperature=field.temperature + (shear * height) ** 2 / 36)
    assert plates.thermal(field) == pytest.approx(np.ones(30))


def test_the_slowest_mode_between_plates_falls_by_e_in_a_relaxation_time():
    height, fluid = 7.0, PLATES.fluid
    # the mode sin(pi z / H) obeys u' = nu u'', so its rate is nu (pi / H)^2
    rate = flows.kinematic_viscosity(fluid) * (pi / height) ** 2
    assert flows.relaxation_time(height, fluid) * rate == pytest.approx(1)


def test_windows_before_four_relaxation_times_do_not_count(system):
    field = between_plates(lambda z: 0 * z)
    flow = flows.Flow(system, 100, 50, [field] * 4)
    assert list(flow.ends) == [150, 200, 250, 300]
    # four times 0.5 are 100 steps of 0.02
    assert len(flow.settled(0.5)) == 2
    with pytest.raises(InputError, match="choose at least 2151"):
        flow.settled(10.0)


def test_distances_are_those_of_each_pair_and_leave_empty_bins_out():
    averages = {"a": np.array([[0.0, 1, 2]]), "b": np.array([[0.5, np.nan, 2]])}
    assert flows.Comparison(averages, 2.0, 0.0).apart == {"a and b": 0.25}


@pytest.mark.parametrize("wrong", [{"steps": 105}, {"window": 15}, {"window": 0}, {"steps": 20}])
def test_steps_that_are_no_whole_windows_are_refused(wrong):
    with pytest.raises(InputError, match="choose a window"):
        flows.run(PLATES, None, **{"steps": 100, "equilibration": 20, "window": 40} | wrong)


def test_every_case_is_refused_before_any_of_them_runs():
    """One with windows that are not whole, one whose box no particle fits into; and what is right passes."""
    lengths, good = {"equilibration": 20, "window": 40, "rows": 12}, [(PLATES, 100), (cases.Bulk((3.0, 3.0, 6.0)), 60)]
    flows.require_runs(good, **lengths)
    with pytest.raises(InputError, match="60 steps, windows of 40: must be 100 steps at least, 2 windows"):
        flows.require_runs(good, least=2, **lengths)
    # 20 steps without the force, four relaxation times H^2 / (pi^2 nu), and a window of 40
    steps = int(4 * 100 / np.pi**2 / flows.kinematic_viscosity(PLATES.fluid) / PLATES.fluid.dt) + 60
    flows.require_settled(PLATES, steps + 2, **lengths)
    with pytest.raises(InputError, match=f"a height of 10: {steps - 1} steps end before .* at least {steps + 1}"):
        flows.require_settled(PLATES, steps - 1, **lengths)
    for bad, line in (((PLATES, 110), "choose a window"), ((cases.Bulk((1e-30, 3.0, 6.0)), 60), "box")):
        with pytest.raises(InputError, match=line):
            flows.require_runs([*good, bad], **lengths)


def test_a_run_averages_all_its_fluid_and_falls_freely_only_after_equilibration():
    case = cases.Bulk((3.0, 3.0, 3.0), drive=10.0)
    flow = flows.run(
        case, select("serial"), steps=40, equilibration=20, window=10, rows=2, strategy="planes", precision="double"
    )
    assert list(flow.ends) == [30, 40]
    assert [f.samples for f in flow.windows] == [1, 1]
    assert [f.density.mean() for f in flow.windows] == pytest.approx([4.0, 4.0])
    # sampled after 10 steps of 0.02 with a force of 10: at most 2, and less by the friction between both halves
    lower, upper = flow.windows[0].velocity_x[0]
    assert 1.0 < lower < 2.0
    assert upper == pytest.approx(-lower, abs=0.3)


def test_equal_flow_passes_every_section_of_an_incompressible_flow():
    field = in_channel({"wide": 0.25, "narrow": 1.0})
    rate = sections.flow_rate(field, CHANNEL)
    assert rate == pytest.approx(np.full(32, 4.0 * 0.25 * 16 * 6))
    run = flows.Flow(CHANNEL.system(), 0, 50, [field] * 3)
    assert sections.rates(run, CHANNEL) == {"over": pytest.approx(0), "late": pytest.approx(0), "holds": True}


def test_a_flow_rate_varies_by_its_deviation_over_the_sections_and_by_its_growth_in_the_last_window():
    fields = [in_channel({"wide": speed, "narrow": 4 * speed}) for speed in (0.5, 0.1, 0.2, 0.3)]
    found = sections.rates(flows.Flow(CHANNEL.system(), 0, 50, fields), CHANNEL)
    assert found == {"over": pytest.approx(0, abs=1e-9), "late": pytest.approx(50), "holds": False}
    # a column beside a face does not count, one elsewhere does
    for column, over in ((9, 0.0), (0, 100 * 0.1 / np.sqrt(30) / (1 + 0.1 / 30))):
        field = in_channel({"wide": 0.25, "narrow": 1.0})
        field.velocity_x[column] *= 1.1
        run = flows.Flow(CHANNEL.system(), 0, 50, [field] * 3)
        assert sections.rates(run, CHANNEL)["over"] == pytest.approx(over, abs=1e-9)


def test_the_columns_beside_the_upright_faces_are_those_outside_the_blocks_that_hold_the_layer():
    beside = sections.beside_faces(in_channel({"wide": 0.0, "narrow": 0.0}), CHANNEL)
    assert list(np.flatnonzero(beside)) == [9, 22]


def test_sections_lie_in_the_middles_and_leave_out_the_blocks():
    field = in_channel({"wide": 0.25, "narrow": 1.0})
    # the wide part's middle is the periodic edge: both ends count
    field.velocity_x[0], field.velocity_x[-1] = 0.2, 0.4
    assert sections.section(field, CHANNEL, 0.0, 0.6) == pytest.approx(np.full(32, 0.3))
    assert np.flatnonzero(np.isfinite(sections.section(field, CHANNEL, 16.0, 0.6))) == pytest.approx(np.arange(12, 20))
    # across a face: what is in a block of either column is in the walls
    across = sections.section(field, CHANNEL, 10.0, 0.6)
    assert np.flatnonzero(np.isfinite(across)) == pytest.approx(np.arange(12, 20))
    with pytest.raises(InputError, match="half a column"):
        sections.section(field, CHANNEL, 0.0, 0.4)
    middles = sections.at_middles(field, CHANNEL)
    assert [np.nanmax(middles[part]) for part in ("wide", "narrow")] == pytest.approx([0.275, 1.0])


def _windows(wide: list[float]) -> list[Field]:
    return [in_channel({"wide": speed, "narrow": 1.0}) for speed in wide]


def test_the_channel_has_the_papers_number_of_fluid_particles():
    stated = claims.load("dpd")
    fluid, walls = sections.paper_particles()
    assert fluid == int(stated["dpd-032"].value) == sections.FLUID
    assert walls == pytest.approx(int(stated["dpd-031"].value), rel=0.01)


def test_without_a_narrow_part_the_creeping_speed_is_that_between_plates():
    almost = cases.Channel(32, 6, 16, 12, 15.999999, drive=0.01)
    assert sections.creeping_speed(almost, 0.28) == pytest.approx(0.01 * 16**2 / (8 * 0.28), rel=1e-5)


def test_creeping_flows_in_series_share_one_flow_rate_and_spend_the_whole_drive():
    nu = 0.28
    fastest = sections.creeping_speed(CHANNEL, nu)
    rate = fastest * 2 / 3 * CHANNEL.gap
    spent = [12 * nu * rate / h**3 * length for h, length in ((4, 12), (16, 20))]
    assert sum(spent) == pytest.approx(CHANNEL.drive * CHANNEL.length)


def test_the_layers_beside_the_judged_one_are_shown_with_their_distance_from_theory(monkeypatch, system):
    shifts = {0.1: 0.05, 0.3: -0.02}
    # windows of two thousand steps of 0.02, as long as four relaxation times
    made = {layer: [between_plates(parabola_with(shift))] * 6 for layer, shift in shifts.items()}
    monkeypatch.setattr(flows, "run", lambda case, device: flows.Flow(system, 0, 2000, made[case.layer]))
    study = plates.slip_study(PLATES, list(shifts), None)
    fastest = exact.poiseuille(5.0, 10.0, 0.02, 4.0, 1.1)
    assert list(study["from theory"]) == pytest.approx([0.05 / fastest, 0.02 / fastest], rel=0.01)
    # faster at the upper wall than at the lower one, and bent elsewhere
    tilted = lambda viscosity: lambda z: parabola_with(0.04, viscosity)(z) + 0.002 * z + 1e-3 * (z > 5)  # noqa: E731
    made[0.2] = [between_plates(tilted(viscosity)) for viscosity in (1.1, 1.2)] * 6
    # four relaxation times are almost four windows
    fit, (row,) = plates.parabola(made[0.2][4:], system), plates.slip_study(PLATES, [0.2], None).to_dict("records")
    assert row["lower wall"] == pytest.approx(0.04 / fit.fastest, rel=0.1)
    assert row["upper wall"] == pytest.approx(0.06 / fit.fastest, rel=0.1)
    assert row["slip"] == pytest.approx((row["lower wall"] + row["upper wall"]) / 2)
    assert (row["layer"], row["residual (rms)"]) == (0.2, pytest.approx(fit.rms))
    assert (row["viscosity"], row["error"]) == pytest.approx(tuple(fit.viscosity))


def test_programs_and_theory_are_compared_in_all_layers_over_the_largest_velocity(system):
    straight = between_plates(parabola_with(0.0))
    slow = between_plates(parabola_with(0.0))
    # slower than the parabola beside the lower wall
    slow.velocity_x[0, 1] -= 0.10
    fit = plates.parabola([straight], system)
    relaxation = flows.relaxation_time(PLATES.height, PLATES.fluid)
    both = plates.compare({"core": [slow] * 3, "GPU": [straight] * 4}, fit.theory, relaxation / 2, PLATES)
    assert both.moved == pytest.approx(4 / pi**2 / np.e)
    assert both.scale == pytest.approx(0.02 * 4 * 100 / (8 * 1.1), rel=0.01)
    slower = 0.10 / both.scale
    expected = {"core and GPU": slower, "core and theory": slower, "GPU and theory": 0}
    assert both.apart == pytest.approx(expected, abs=1e-9)
    assert (both.largest, both.from_theory) == pytest.approx((slower, slower))
    alike = plates.compare({"core": [slow] * 3, "GPU": [slow] * 4}, fit.theory, relaxation / 2, PLATES)
    assert (alike.largest, alike.from_theory) == pytest.approx((0, slower), abs=1e-9)
    assert both.chance < 1e-12
    assert both.resolved
    assert both.evidence == {"measured": 100 * both.largest, "scatter": 100 * both.chance}


def test_what_chance_makes_is_the_median_of_the_largest_distance_of_noise():
    generator, found, expected = np.random.default_rng(4), [], []
    for bins, count in ((10, 5), (40, 3), (160, 8)):
        for _ in range(300):
            noise = [generator.normal(0, 0.3, (n, bins)) for n in (count, 2 * count)]
            both = flows.Comparison(dict(zip(("core", "GPU"), noise, strict=True)), scale=2.0, moved=1.0)
            found.append(both.largest)
            expected.append(both.chance)
        assert np.median(found) == pytest.approx(np.median(expected), rel=0.06)
        found, expected = [], []


def test_few_averages_and_much_noise_do_not_tell_five_per_cent():
    generator = np.random.default_rng(5)
    quiet, loud = (lambda n, s=s: generator.normal(1, s, (n, 20)) for s in (0.01, 0.2))
    assert flows.Comparison({"core": quiet(4), "GPU": quiet(3)}, 1.0, 0.06).resolved
    assert not flows.Comparison({"core": quiet(4), "GPU": quiet(3)}, 1.0, 0.04).resolved
    assert not flows.Comparison({"core": quiet(4), "GPU": quiet(2)}, 1.0, 0.06).resolved
    assert not flows.Comparison({"core": loud(4), "GPU": quiet(4)}, 1.0, 0.06).resolved
    assert np.isnan(flows.Comparison({"core": quiet(1), "GPU": quiet(2)}, 1.0, 0.06).chance)


def test_twice_the_viscosity_moves_a_profile_by_at_most_what_all_its_modes_lose():
    # the parabola between plates as a sum of odd sine waves, each of which decays towards half of it
    relaxation, n = 0.7, np.arange(1, 400, 2)
    amplitudes = 32 / (pi * n) ** 3 * np.sin(n * pi / 2)
    for time in (0.01 * relaxation, 0.5 * relaxation, 3 * relaxation):
        spent = 2 * n**2 * time / relaxation
        lost = (amplitudes / 2 * (1 - (1 - np.exp(-spent)) / spent)).sum()
        assert 0.75 * lost < flows.twice_the_viscosity(time, relaxation) < 1.01 * lost


def test_friction_in_the_narrow_part_slows_what_is_in_the_wide_one_too():
    even = cases.Channel(32, 6, 16, 12, 15.999999, drive=0.01)
    narrow = flows.relaxation_time(16, even.fluid)
    assert sections.slowing_time(even) == pytest.approx(narrow * 32 / 12, rel=1e-5)


@pytest.mark.parametrize("claim", ["dpd-065", "dpd-066"])
@pytest.mark.parametrize(
    ("value", "verdict"), [(2.0, Verdict.REPRODUCED), (4.5, Verdict.TIE), (7.0, Verdict.NOT_REPRODUCED)]
)
def test_a_distance_within_the_scatter_of_the_limit_is_a_tie(claim, value, verdict):
    assert judge(claims.load("dpd")[claim], Evidence(value, scatter=1.0)).verdict is verdict


def test_a_ratio_of_viscosities_has_three_standard_errors_of_both():
    found = plates.ratio({"core": Estimate(1.1, 0.011), "GPU": Estimate(1.0, 0.02)})
    scatter = pytest.approx(3 * 1.1 * np.hypot(0.01, 0.02))
    assert found == {"measured": pytest.approx(1.1), "scatter": scatter, "holds": False}
    assert plates.ratio({"core": Estimate(1.04, 0.01), "GPU": Estimate(1.0, 0.02)})["holds"]


def test_a_flow_with_the_viscosity_of_the_bulk_is_on_theory(system):
    field = between_plates(parabola_with(0.0))
    field.density[0, 10:20] = [5.0, *[4.2] * 8, 4.4]
    density = plates.middle_density([field])
    assert density == pytest.approx(4.3)
    fit = plates.parabola([field], system)
    # a fluid as much thicker has as fast a flow
    theory = exact.poiseuille(fit.z, PLATES.height, PLATES.drive, density, 1.1 * 4.3 / 4)
    assert plates.against_bulk(fit, theory) == {"off": pytest.approx(0, abs=1e-9), "holds": True}
    assert not plates.against_bulk(fit, 1.06 * theory)["holds"]


def test_both_of_the_papers_programs_keep_a_flow_and_its_temperature():
    case = cases.Poiseuille(4, 4, 4, 0.1)
    options = {"windows": 3, "window": 600, "columns": 1, "rows": 9, "seed": 3}
    start, found = case.system(), {}
    for name, program in (("serial", flows.SERIAL_PROGRAM), ("GPU", flows.GPU_PROGRAM)):
        fields, end = flows.go_on(start, select("serial"), **options, **program)
        found[name] = fields[1:]
        assert plates.thermal(flows.mean_field(fields[1:]))[3:-3].mean() == pytest.approx(1, abs=0.04)
        assert end.moving == start.moving
    slow, fast = (flows.mean_field(fields).velocity_x[0] for fields in found.values())
    # rho g H^2 / (8 eta) is about 0.7; noise of a layer in 1200 steps is about 0.04
    assert np.abs(slow - fast).max() < 0.2
    assert 0.4 < slow.max() < 1.0


def test_the_serial_program_goes_on_from_each_state_with_numbers_of_its_own(monkeypatch, system):
    seen = []
    monkeypatch.setattr(
        flows, "go_on", lambda start, device, **o: ([seen.append((start, device.name, o)) or "f"], start)
    )
    assert flows.serial_program([system], window=20) == ["f"]
    ((start, device, options),) = seen
    assert (device, options["strategy"], options["rounds"], options["window"]) == ("serial", "linked", 0, 20)
    # numbered in the order of the cells
    assert (np.diff(start.cells.of(start.position[: start.moving])) >= 0).all()
    # the same of three, each in a process of its own; here a thread's, which sees what is replaced
    seen.clear()
    monkeypatch.setattr(flows, "ProcessPoolExecutor", lambda most, context: ThreadPoolExecutor(1))
    others = [replace(system, drive=k) for k in (0.1, 0.2, 0.3)]
    assert flows.serial_program(others, window=20) == ["f"] * 3
    assert [start.drive for start, *_ in seen] == [0.1, 0.2, 0.3]
    assert len({options["seed"] for *_, options in seen}) == 3
    assert seen[0][-1] == options


def test_states_of_other_seeds_are_independent_and_settle_without_averages():
    case = cases.Poiseuille(4, 4, 4, 0.1)
    one, two, again = flows.states(case, select("serial"), (1, 2, 1), steps=30, equilibration=10)
    assert one.drive == 0.1
    np.testing.assert_array_equal(one.position, again.position)
    alike = np.corrcoef(one.velocity[: one.moving, 2], two.velocity[: one.moving, 2])[0, 1]
    assert abs(alike) < 4 / np.sqrt(one.moving)


def test_the_gpu_program_takes_one_window_from_each_state_with_noise_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setattr(flows, "go_on", lambda start, device, **o: ([seen.append(o) or start], start))
    assert flows.gpu_program(["a", "b"], None, window=20, rows=7) == ["a", "b"]
    assert len({options["seed"] for options in seen}) == 2
    # nor the noise with which states of the first seeds were made, with the force and without it
    made = {seed + part for seed in range(20) for part in (0, flows._NEXT_SEED)}
    assert not made & {options["seed"] for options in seen}
    expected = {"window": 20, "rows": 7, "seed": 0} | flows.GPU_PROGRAM
    assert [options | {"seed": 0} for options in seen] == [expected] * 2


def test_the_part_with_the_force_goes_on_from_the_part_without_it_with_noise_of_its_own(monkeypatch):
    parts = []

    class Run:
        """A run that only says with what it was begun, and for how long it went on."""

        def __init__(self, system, device, *, seed, strategy):
            self.system, self.seed, self.steps = system, seed, []
            parts.append(self)

        def step(self, count, *, every=1, observers=()):
            self.steps.append((count, every, len(observers)))

        def as_it_is(self):
            return replace(self.system, position=self.system.position / 2, velocity=-self.system.velocity)

    monkeypatch.setattr(flows, "Simulation", Run)
    monkeypatch.setattr(flows, "Averages", lambda simulation, **bins: SimpleNamespace(take=lambda: bins["rows"]))
    flow = flows.run(PLATES, None, steps=60, equilibration=20, window=20, rows=7, seed=5, strategy="any")
    resting, driven = parts
    assert (resting.system.drive, driven.system.drive) == (0.0, PLATES.drive)
    # the counter of a simulation begins at zero: only the seed tells the two parts' noise apart
    assert resting.seed == 5 != driven.seed
    np.testing.assert_array_equal(driven.system.position, resting.system.position / 2)
    np.testing.assert_array_equal(driven.system.velocity, -resting.system.velocity)
    assert (resting.steps, driven.steps) == ([(20, 1, 0)], [(20, flows.EVERY, 1)] * 2)
    assert flow.windows == [7, 7]
    np.testing.assert_array_equal(flow.end.position, driven.system.position / 2)


def _windows(wide: list[float]) -> list[Field]:
    return [in_channel({"wide": speed, "narrow": 1.0}) for speed in wide]


def test_two_programs_are_as_far_apart_as_their_sections_over_the_largest_velocity():
    averages = {"core": _windows([0.25] * 3), "GPU": _windows([0.29, 0.30, 0.31])}
    both = sections.compare(averages, CHANNEL, sections.slowing_time(CHANNEL) / 2)
    assert both.moved == pytest.approx(4 / pi**2 / np.e)
    assert both.largest == pytest.approx(0.05)
    table = sections.apart_table(both).set_index("section")
    assert table.loc["wide"].to_dict() == pytest.approx({"of the largest (%)": 5.0, "of its own (%)": 16.67})
    assert (table.loc["narrow"] == 0).all()
    # whichever of the two is the faster one
    turned = sections.compare(dict(reversed(averages.items())), CHANNEL, sections.slowing_time(CHANNEL) / 2)
    assert turned.largest == pytest.approx(0.05)
    assert sections.apart_table(turned)["of the largest (%)"].tolist() == pytest.approx([5.0, 0.0])
    # the largest velocity is that of the mean of all windows
    last = [in_channel({"wide": 0.25, "narrow": speed}) for speed in (0.9, 1.0, 1.4)]
    assert sections.compare(averages | {"GPU": last}, CHANNEL, 1.0).scale == pytest.approx(1.1)
    middles = sections.by_section(both)["core"]
    assert middles["wide"] == pytest.approx(np.full(32, 0.25))


def test_the_ratio_of_two_flow_rates_has_three_standard_errors():
    averages = {"core": [in_channel({"wide": s, "narrow": 4 * s}) for s in (0.25, 0.27)]}
    averages["GPU"] = [in_channel({"wide": 0.25, "narrow": 1.0})] * 2
    found = sections.rate_ratio(averages, CHANNEL)
    assert found == {"measured": pytest.approx(1.04), "scatter": pytest.approx(3 * 1.04 * 0.01 / 0.26)}
    # one of 30 sections passes half as many again
    for field in averages["core"]:
        field.velocity_x[0] *= 1.5
    assert sections.rate_ratio(averages, CHANNEL)["measured"] == pytest.approx(1.04 * 30.5 / 30)


def test_a_flow_whose_last_profiles_still_change_is_called_developing(system):
    for last, holds in ((0.26, True), (0.45, False)):
        found = sections.steady(flows.Flow(system, 0, 50, _windows([9.0, 5.0, 0.25, 0.25, last, last])), CHANNEL)
        assert found == {"change": pytest.approx(100 * (last - 0.25)), "limit": 5, "holds": holds}


def test_figures_name_their_axes_with_units(system):
    field = between_plates(parabola_with(0.0))
    fit, z = plates.parabola([field], system), field.z - system.walls.bottom
    study = pd.DataFrame({"layer": [0.1, 0.3], "slip": [0.1, -0.1], "lower wall": [0.1, -0.1], "upper wall": [0.1, 0]})
    bins = in_channel({"wide": 0.25, "narrow": 1.0})
    flow, programs = flows.Flow(system, 10, 10, [bins] * 3), {"core": [field] * 2, "GPU": [field]}
    drawn = [
        flow_figures.profile(plates.compare(programs, fit.theory, 1.0, PLATES), z, PLATES.height, fit.theory)[0],
        flow_figures.slip(study),
        flow_figures.layers(programs, fit.theory)[0],
        flow_figures.flow_map(bins, CHANNEL)[0],
        flow_figures.sections(sections.compare({"core": [bins], "GPU": [bins]}, CHANNEL, 1.0), bins.z)[0],
        flow_figures.rates(flow, CHANNEL)[0],
        flow_figures.channel_sketch(CHANNEL),
        flow_figures.plates_sketch(PLATES),
    ]
    for figure in drawn:
        figure.canvas.draw()
        assert all(axes.get_ylabel() for axes in figure.axes)
    assert len(plates.summary(programs, system)) == 2


def test_the_flow_rate_over_the_sections_is_that_of_the_last_three_windows(monkeypatch):
    """The window before them, in which the flow was uneven, does not count."""
    windows = {0: [1.0, 9.0], 1: [1.0, 1.0], 2: [1.0, 1.0], 3: [1.0, 1.0]}
    monkeypatch.setattr(sections, "rates_by_window", lambda fields, case: np.array([windows[k] for k in fields]))
    found = sections.rates(SimpleNamespace(windows=[0, 1, 2, 3]), None)
    assert found == {"over": 0.0, "late": 0.0, "holds": True}


def test_the_temperature_of_a_program_is_that_away_from_the_walls(system):
    """Three layers beside each wall are left out, and the parabola is that of the mean."""
    field = between_plates(parabola_with(0.0))
    hot = field.temperature.copy()
    hot[0, [0, 1, 2, -3, -2, -1]] = 9.0
    hot[0, [3, -4]] += 0.27
    row = plates.summary({"core": [replace(field, temperature=hot)]}, system).iloc[0]
    # less the shear within a layer, which is no more than 4e-6
    assert row["kT"] == pytest.approx(1 + 2 * 0.27 / 24, abs=1e-4)
    fit = plates.parabola([field], system)
    assert row[["viscosity", "v_max", "lower slip"]].tolist() == pytest.approx(
        [fit.viscosity.value, fit.fastest, fit.slip[0]], abs=1e-9
    )


def test_all_averages_have_as_many_bins_where_nothing_is_said():
    bins = [
        {name: signature(program).parameters[name].default for name in ("columns", "rows")}
        for program in (flows.run, flows.go_on)
    ]
    assert bins[0] == bins[1]


def test_a_parabola_may_slip_more_at_one_wall_than_at_the_other(system):
    """0.1 at the lower wall and 0.4 at the upper one, above a parabola: its largest value is not in the middle."""
    height, curved = PLATES.height, 0.02 * 4 / (2 * 1.1)
    speed = lambda z: 0.1 + 0.3 * z / height + curved * z * (height - z)  # noqa: E731
    fit = plates.parabola([between_plates(speed)], system)
    highest = height / 2 + 0.3 / height / (2 * curved)
    assert fit.fastest == pytest.approx(speed(highest))
    assert fit.slip == pytest.approx((0.1 / fit.fastest, 0.4 / fit.fastest))
    assert fit.viscosity.value == pytest.approx(1.1)
    assert fit.rms < 1e-10


def test_two_windows_do_not_tell_how_far_windows_scatter(system):
    windows = [between_plates(parabola_with(0.0, viscosity)) for viscosity in (1.0, 1.2)]
    assert plates.parabola(windows, system).viscosity.error < 0.01


def test_a_study_of_the_layer_has_the_slip_at_both_walls_and_its_mean(monkeypatch, system):
    profiles = {"velocity": np.array([1.0, 2.0, np.nan]), "theory": np.array([1.0, 2.5, 9.0])}
    fit = SimpleNamespace(slip=(0.1, 0.4), rms=0.02, viscosity=Estimate(1.1, 0.3), **profiles)
    monkeypatch.setattr(plates, "parabola", lambda windows, end: fit)
    monkeypatch.setattr(flows, "run", lambda case, device: SimpleNamespace(settled=lambda relaxation: [], end=system))
    row = plates.slip_study(PLATES, [0.2], None).iloc[0]
    assert row.tolist() == pytest.approx([0.2, 0.25, 0.1, 0.4, 0.02, 0.5 / 9, 1.1, 0.3])
