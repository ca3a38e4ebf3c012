"""Windows, averages and what they tell of flows between plates and through a channel."""

from dataclasses import replace
from math import ceil, pi
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
    assert fit.largest < 1e-10
    assert fit.largest_slip < 1e-10
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


def test_cpu_and_device_are_compared_in_their_last_settled_windows(system):
    exact_flow, shifted = between_plates(parabola_with(0.0)), between_plates(parabola_with(0.05))
    runs = {
        "CPU": flows.Flow(system, 100, 50, [exact_flow] * 4),
        "GPU": flows.Flow(system, 100, 50, [exact_flow] * 3 + [shifted]),
    }
    both = plates.compare(runs, 0.5)
    fastest = exact.poiseuille(5.0, 10.0, 0.02, 4.0, 1.1)
    # two settled windows; the last of the GPU lies 0.05 above that of the CPU in all layers
    assert len(both.settled) == 2
    assert both.apart["CPU and GPU"] == pytest.approx(0.05 / fastest, rel=0.03)
    assert set(both.apart) == {"CPU and theory", "GPU and theory", "CPU and GPU"}
    assert both.noise == pytest.approx(0.05 / np.sqrt(2) / both.fit.fastest)
    assert not both.resolved


def test_shorter_windows_of_the_cpu_make_one_as_long_as_the_devices(system):
    straight, shifted = between_plates(parabola_with(0.0)), between_plates(parabola_with(0.05))
    short = flows.Flow(system, 100, 25, [straight] * 4 + [straight, shifted])
    long = flows.Flow(system, 100, 50, [straight] * 4)
    both = plates.compare({"CPU": short, "GPU": long}, 0.5)
    # the last two windows: half of the shift
    assert both.last["CPU"].velocity - both.last["GPU"].velocity == pytest.approx(np.full(30, 0.025))
    with pytest.raises(InputError, match="1 settled windows of 25 steps: 2 make one of 50"):
        plates.compare({"CPU": replace(short, windows=[straight] * 5), "GPU": long}, 0.5)


@pytest.mark.parametrize(("slow", "workers"), [("all", 1), ("one", 8)])
def test_the_cpu_runs_a_case_on_one_core_or_all_whichever_is_faster(monkeypatch, slow, workers):
    def cpu(name, workers=8):
        return SimpleNamespace(workers=workers, clock=lambda run: run() or float((workers == 1) == (slow == "one")))

    steps = []
    monkeypatch.setattr(flows, "CpuDevice", cpu)
    monkeypatch.setattr(flows, "Simulation", lambda system, device, strategy: SimpleNamespace(step=steps.append))
    assert flows.processor(PLATES, 7).workers == workers
    assert steps == [1, 7] * 2


def _figure_8(system, judged: float, others: list[float]) -> plates.Comparison:
    """A CPU without error, a device whose last window lies `judged` too high, and other windows of the device."""
    shifts = [*others, judged]
    windows = [between_plates(parabola_with(shift)) for shift in shifts]
    straight = plates.parabola([between_plates(parabola_with(0.0))], system)
    last = {"CPU": straight, "GPU": plates.parabola(windows[-1:], system)}
    return plates.Comparison(system, "GPU", windows, straight, last)


def test_the_largest_distance_scatters_as_it_does_with_pairs_of_other_windows(system):
    both, fastest = _figure_8(system, 0.05, [0.0, 0.02, 0.09, 0.0]), exact.poiseuille(5.0, 10.0, 0.02, 4.0, 1.1)
    # the layers lie beside the middle: the largest velocity of theory is that of a layer
    assert both.largest == pytest.approx(0.05 / fastest, rel=0.01)
    # the pairs give 0.02 and 0.09: the second is further from 0.05
    assert both.scatter == pytest.approx(0.04 / fastest, rel=0.01)
    assert np.isnan(_figure_8(system, 0.05, [0.0]).scatter)


@pytest.mark.parametrize(
    ("judged", "others", "verdict"),
    [
        (0.02, [0.0, 0.02, 0.0, 0.03], Verdict.REPRODUCED),
        (0.04, [0.0, 0.02, 0.0, 0.06], Verdict.TIE),
        (0.09, [0.0, 0.08, 0.0, 0.1], Verdict.NOT_REPRODUCED),
    ],
)
def test_a_distance_near_the_limit_is_a_tie(system, judged, others, verdict):
    both = _figure_8(system, judged, others)
    evidence = Evidence(100 * both.largest, scatter=100 * both.scatter)
    assert judge(claims.load("dpd")["dpd-065"], evidence).verdict is verdict


def test_the_layers_beside_the_judged_one_are_shown_with_their_distance_from_theory(monkeypatch, system):
    shifts = {0.1: 0.05, 0.3: -0.02}
    made = {layer: [between_plates(parabola_with(shift))] * 3 for layer, shift in shifts.items()}
    monkeypatch.setattr(plates, "run", lambda case, device: flows.Flow(system, 0, 50, made[case.layer]))
    study = plates.slip_study(PLATES, list(shifts), None, relaxation=0.0)
    fastest = exact.poiseuille(5.0, 10.0, 0.02, 4.0, 1.1)
    assert list(study["from theory"]) == pytest.approx([0.05 / fastest, 0.02 / fastest], rel=0.01)


def test_a_table_tells_what_is_judged_and_what_is_not(system):
    found = plates.apart_table(_figure_8(system, 0.09, [0.0])).set_index(["pair", "layers"])["apart (%)"]
    assert found["GPU and theory", "beside walls, not judged"] == pytest.approx(9.9, abs=0.1)
    assert found["CPU and GPU", "all"] > 0


def test_a_law_holds_only_where_its_error_is_known_and_small():
    assert plates.holds(-0.01, 0.03, 0.01)
    assert not plates.holds(0.04, 0.03, 0.01)
    assert not plates.holds(0.01, 0.03, 0.02)
    assert not plates.holds(0.01, 0.03, float("nan"))


def test_theory_is_held_against_the_uniform_fluid_only_and_the_runs_against_each_other_everywhere(system):
    slow = between_plates(parabola_with(0.0))
    # both runs are slower than the parabola beside the lower wall, and the device a little more
    slow.velocity_x[0, 1] -= 0.10
    slower = between_plates(parabola_with(0.0))
    slower.velocity_x[0, 1] -= 0.13
    fits = [plates.parabola([field], system) for field in (slow, slower)]
    both = plates.Comparison(system, "GPU", [slower] * 3, fits[1], dict(zip(("CPU", "GPU"), fits, strict=True)))
    fastest = both.fit.theory.max()
    assert both.apart["CPU and theory"] == pytest.approx(0, abs=1e-9)
    assert both.largest == both.apart["CPU and GPU"] == pytest.approx(0.03 / fastest)
    assert both.apart_at_walls == pytest.approx({"CPU and theory": 0.10 / fastest, "GPU and theory": 0.13 / fastest})


def test_theory_takes_the_density_of_the_layers_that_it_is_compared_in(system):
    field = between_plates(parabola_with(0.0))
    field.density[0, 10:20] = 4.3
    fit = plates.parabola([field], system)
    both = plates.Comparison(system, "GPU", [field], fit, {"CPU": fit, "GPU": fit})
    # 24 of 30 layers lie at least a cutoff radius from the walls
    assert both.density == pytest.approx((14 * 4.0 + 10 * 4.3) / 24)
    # a fluid as much thicker in the middle has as fast a flow
    tall = plates.tall_channel(PLATES, flows.Flow(system, 0, 50, [field]), fit, Estimate(1.1 * 4.3 / 4, 0.0))
    assert tall["off"] == pytest.approx(0, abs=1e-9)
    assert tall["holds"]
    box = plates.bulk_box(both, 8.0, 0.05)
    assert (box.fluid.density, box.drive) == (both.density, 0.05)


def test_the_slowest_mode_between_plates_falls_by_e_in_a_relaxation_time():
    height, nu = 7.0, 0.28
    # the mode sin(pi z / H) obeys u' = nu u'', so its rate is nu (pi / H)^2
    assert flows.relaxation_time(height, nu) * nu * (pi / height) ** 2 == pytest.approx(1)


def test_windows_before_four_relaxation_times_do_not_count(system):
    field = between_plates(lambda z: 0 * z)
    flow = flows.Flow(system, 100, 50, [field] * 4)
    assert list(flow.ends) == [150, 200, 250, 300]
    # four times 0.5 are 100 steps of 0.02
    assert len(flow.settled(0.5)) == 2
    with pytest.raises(InputError, match="choose at least 2151"):
        flow.settled(10.0)


def test_scatter_is_that_of_the_windows_and_needs_two():
    assert flows.scatter([np.array([1.0, np.nan]), np.array([3.0, np.nan])]) == pytest.approx(np.sqrt(2))
    with pytest.raises(InputError, match="at least 2"):
        flows.scatter([np.zeros(3)])


def test_distances_are_those_of_each_pair_and_leave_empty_bins_out():
    found = flows.distances({"a": np.array([0.0, 1, 2]), "b": np.array([0.5, np.nan, 2])}, 2.0)
    assert found == {"a and b": 0.25}


@pytest.mark.parametrize("wrong", [{"steps": 105}, {"window": 15}, {"window": 0}, {"steps": 20}])
def test_steps_that_are_no_whole_windows_are_refused(wrong):
    with pytest.raises(InputError, match="choose a window"):
        flows.run(PLATES, None, **{"steps": 100, "equilibration": 20, "window": 40} | wrong)


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


def test_the_part_with_the_force_goes_on_from_the_part_without_it_with_noise_of_its_own(monkeypatch):
    parts = []

    class Run:
        """A run that only says with what it was begun, and for how long it went on."""

        def __init__(self, system, device, *, seed, strategy):
            self.system, self.seed, self.steps = system, seed, []
            parts.append(self)

        def step(self, count, *, every=1, observers=()):
            self.steps.append((count, every, len(observers)))

        def particles(self):
            return {"position": self.system.position / 2, "velocity": -self.system.velocity}

    monkeypatch.setattr(flows, "Simulation", Run)
    monkeypatch.setattr(flows, "Averages", lambda simulation, **bins: SimpleNamespace(take=lambda: bins["rows"]))
    flow = flows.run(PLATES, None, steps=60, equilibration=20, window=20, rows=7, seed=5, strategy="any")
    resting, driven = parts
    assert (resting.system.drive, driven.system.drive) == (0.0, PLATES.drive)
    # the counter of a simulation begins at zero: only the seed tells the two parts' noise apart
    assert resting.seed == 5 != driven.seed
    np.testing.assert_array_equal(driven.system.position, resting.system.position / 2)
    np.testing.assert_array_equal(driven.system.velocity, -resting.system.velocity)
    assert (resting.steps, driven.steps) == ([(20, 1, 0)], [(steps, flows.EVERY, 1) for steps in (20, 10, 10)])
    assert flow.windows == [7, 7]
    assert [np.array_equal(seen, driven.system.position / 2) for seen in flow.snapshots] == [True, True]


def test_equal_flow_passes_every_section_of_an_incompressible_flow():
    field = in_channel({"wide": 0.25, "narrow": 1.0})
    rate = sections.flow_rate(field, CHANNEL)
    assert rate == pytest.approx(np.full(32, 4.0 * 0.25 * 16 * 6))
    run = flows.Flow(CHANNEL.system(), 0, 50, [field] * 3)
    assert sections.rates(run, CHANNEL) == {"over": pytest.approx(0), "late": pytest.approx(0), "holds": True}


def test_a_flow_rate_varies_by_its_deviation_over_the_sections_and_by_its_growth_in_the_last_window():
    fields = [in_channel({"wide": speed, "narrow": 4 * speed}) for speed in (0.2, 0.2, 0.3)]
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
    middles = sections.at_middles(field, CHANNEL, 0.6)
    assert middles["wide"] == pytest.approx(np.full(32, 0.3))
    assert np.flatnonzero(np.isfinite(middles["narrow"])) == pytest.approx(np.arange(12, 20))
    with pytest.raises(InputError, match="half a column"):
        sections.at_middles(field, CHANNEL, 0.4)


def test_two_runs_are_as_far_apart_as_their_sections_over_the_largest_velocity():
    first, second = in_channel({"wide": 0.25, "narrow": 1.0}), in_channel({"wide": 0.35, "narrow": 2.0})
    apart = sections.far_apart([first], [second], CHANNEL, 0.6)
    assert apart == pytest.approx({"wide": 0.05, "narrow": 0.5})


def _windows(wide: list[float]) -> list[Field]:
    return [in_channel({"wide": speed, "narrow": 1.0}) for speed in wide]


def test_the_scatter_of_the_largest_distance_is_half_that_of_four_blocks():
    first, second = _windows([0.25] * 4), _windows([0.26, 0.27, 0.30, 0.28])
    # largest distances of 1, 2, 5 and 3 %
    assert sections.block_scatter(first, second, CHANNEL, 0.6) == pytest.approx(0.04 / 2)
    # blocks of two windows: averages of 1.5 and 4 %, twice
    twice = _windows([0.26, 0.27, 0.30, 0.28] * 2)
    assert sections.block_scatter(_windows([0.25] * 8), twice, CHANNEL, 0.6) == pytest.approx(0.025 / 2)
    # a run with other windows has as many blocks
    assert sections.block_scatter(_windows([0.25] * 4), twice, CHANNEL, 0.6) == pytest.approx(0.025 / 2)
    assert np.isnan(sections.block_scatter(first[:3], second, CHANNEL, 0.6))


def test_the_larger_distance_of_both_sections_is_judged_with_its_scatter(system):
    runs = {"CPU": _windows([0.9] + [0.25] * 4), "GPU": _windows([0.1, 0.26, 0.27, 0.30, 0.28])}
    # the second begins four relaxation times after the force sets in
    window = ceil(4 * sections.relaxation(CHANNEL) / system.fluid.dt)
    both = sections.compare({name: flows.Flow(system, 0, window, w) for name, w in runs.items()}, CHANNEL)
    # the first does not count
    assert both.largest == pytest.approx(0.0275)
    assert both.scatter == pytest.approx(0.02)
    assert both.fewest == 4
    table = sections.apart_table(both).set_index("section")
    assert table.loc["wide", "of the largest (%)"] == 2.75


def test_runs_that_end_before_the_flow_has_settled_do_not_judge_it(system):
    runs = {name: flows.Flow(system, 0, 50, _windows([0.25, 0.26] * 3)) for name in ("CPU", "GPU")}
    both = sections.compare(runs, CHANNEL)
    assert not both.resolved
    assert both.fewest == 0


@pytest.mark.parametrize(
    ("value", "verdict"), [(2.0, Verdict.REPRODUCED), (4.5, Verdict.TIE), (7.0, Verdict.NOT_REPRODUCED)]
)
def test_a_distance_of_the_channel_within_the_scatter_of_the_limit_is_a_tie(value, verdict):
    assert judge(claims.load("dpd")["dpd-066"], Evidence(value, scatter=1.0)).verdict is verdict


def test_two_runs_of_one_flow_are_as_far_apart_as_their_scatter_makes_at_each_section():
    chance = np.random.default_rng(3)

    def noisy(speed):
        field = in_channel({"wide": speed, "narrow": 1.0})
        return replace(field, velocity_x=field.velocity_x + chance.normal(0, 0.02, field.velocity_x.shape))

    runs = [[noisy(0.25) for _ in range(40)] for _ in range(2)]
    found = sections.apart_locally(*runs, CHANNEL, 1.6)
    for place, bins in (("wide", 32), ("narrow", 8)):
        local = found[place]
        assert local.bins == bins
        # an average over 4 columns and 40 windows
        assert local.error == pytest.approx(0.02 * np.sqrt(2 / 4 / 40), rel=0.1)
        assert 0.5 < local.rms / local.error < 1.5
        assert 0.4 < local.largest / local.chance < 2.5
    shifted = [noisy(0.30) for _ in range(40)]
    local = sections.apart_locally(shifted, runs[1], CHANNEL, 1.6)["wide"]
    assert local.largest / local.fastest == pytest.approx(0.2, abs=0.05)
    assert local.largest > 5 * local.chance


def test_a_flow_whose_last_profiles_still_change_is_called_developing(system):
    def late(before, last, noise=0.0):
        run = flows.Flow(system, 0, 50, _windows([before, before, last, last + noise]))
        return sections.steady(sections.last_windows(run, CHANNEL))

    assert late(0.25, 0.26) == {"change": pytest.approx(1), "limit": 5, "holds": True}
    assert late(0.25, 0.45) == {"change": pytest.approx(20), "limit": 5, "holds": False}
    # noise alone makes as much
    assert not late(0.25, 0.26, noise=0.3)["holds"]


def test_a_snapshot_shows_the_fluid_of_a_thin_slice_and_where_it_was_before():
    system = CHANNEL.system()
    before, after = system.position, (system.position + np.array([1.0, 0, 0])) % system.box
    seen = sections.snapshot(flows.Flow(system, 0, 10, [], (before, after)), CHANNEL, most=500)
    assert len(seen["x"]) == pytest.approx(500, rel=0.2)
    assert (seen["x"] - seen["x before"]) % CHANNEL.length == pytest.approx(np.ones(len(seen["x"])))
    assert 0 <= seen["z"].min() < 1 < CHANNEL.height - 1 < seen["z"].max() <= CHANNEL.height


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


def test_figures_name_their_axes_with_units(system):
    field = between_plates(parabola_with(0.0))
    fit = plates.parabola([field], system)
    study = pd.DataFrame({"layer": [0.1, 0.3], "slip": [0.1, -0.1], "lower wall": [0.1, -0.1], "upper wall": [0.1, 0]})
    bins = in_channel({"wide": 0.25, "narrow": 1.0})
    flow, middles = flows.Flow(system, 10, 10, [bins, bins, bins]), sections.at_middles(bins, CHANNEL, 0.6)
    drawn = [
        flow_figures.profile(plates.Comparison(system, "GPU", [field], fit, {"CPU": fit, "GPU": fit}), fit.theory),
        flow_figures.slip(study),
        flow_figures.layers({"a": (fit, field)}),
        flow_figures.flow_map(bins, CHANNEL)[0],
        flow_figures.sections(SimpleNamespace(z=bins.z, profiles={"CPU": middles}))[0],
        flow_figures.rates(flow, CHANNEL)[0],
        flow_figures.channel_sketch(CHANNEL),
        flow_figures.plates_sketch(PLATES),
    ]
    for figure in drawn:
        figure.canvas.draw()
        assert all(axes.get_ylabel() for axes in figure.axes)
        assert len(plates.summary({"a": fit})) == 1


def test_the_largest_distance_by_chance_is_that_of_normal_numbers():
    generator = np.random.default_rng(4)
    for bins in (10, 40, 160):
        first, second = generator.normal(0, 0.3, (2, 4000, bins))
        assert np.median(np.abs(first - second).max(1)) == pytest.approx(sections.by_chance(0.3, bins), rel=0.02)
