"""The experiment of the dam break without compiled code: when one looks, what fronts, volumes and verdicts are."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.papers.sph import machines
from repro.papers.sph.dam_break import figures, runs
from repro.sph.cases import DamBreak
from repro.study.notebooks import Project


def made(front=(1.0, 2.0, 3.0), total=(10.0, 9.0, 8.0), beyond=(-0.5, 0.1, 0.2), lost=0, hanging=0) -> runs.Run:
    """A run of a small column that nobody computed."""
    case = DamBreak(column=(4, 3, 8))
    system, count = case.system(), len(front)
    table = pd.DataFrame({"time": 0.1 * np.arange(count), "reduced": 1.2 * np.arange(count), "front": front})
    table = table.assign(total=total, beyond=beyond, lost=lost, hanging=hanging)
    table = table.assign(kinetic=1.0, potential=7.0, internal=0.0, dissipated=table["total"].iloc[0] - table["total"])
    return runs.Run(case, system, table, [system.position] * count, [*range(count)], SimpleNamespace())


def volumes(*shares):
    return pd.DataFrame({"time": 0.1 * np.arange(len(shares)), "volume": shares})


def advanced(slopes, arrivals) -> pd.DataFrame:
    """A table of `runs.advances` with ascending resolutions, and one experiment."""
    ours = pd.DataFrame({"front": "ours", "spacings": 10 * np.arange(1, len(slopes) + 1), "slope": slopes})
    rest = pd.DataFrame({"front": ["Martin and Moyce"], "spacings": [None], "slope": [1.3], "arrival": [2.55]})
    return pd.concat([ours.assign(arrival=arrivals), rest], ignore_index=True).astype({"spacings": "Int64"})


def test_one_looks_evenly_and_at_each_of_the_given_times_once():
    found = runs.looks([0.0, 1.2, 2.4], 0.5)
    assert {0.0, 1.2, 2.4} <= set(found)
    assert found == sorted(found)
    # no two looks nearer than half of what they should be apart
    assert np.diff(found).min() > 0.2
    assert np.diff(found).max() < 1.0


def test_the_experiments_fronts_are_advanced_by_the_same_rule():
    found = runs.advances({192: made()}, runs.experiments(Project.default().data)).set_index("front")
    assert found.loc["192 particles", "slope"] == pytest.approx(1 / 1.2)
    assert found.loc["192 particles", "arrival"] == pytest.approx(2.4)
    # between their neighbours at 1.997 and 2.547, where Z is 2.292 and 2.995, and just beyond
    assert 2.5 < found.loc["Martin and Moyce", "arrival"] < 2.6
    assert found.loc["Koshizuka and Oka", "arrival"] == pytest.approx(2.719, abs=0.01)


def test_fronts_that_part_on_two_devices_are_told(monkeypatch):
    shifts = iter([0.0, 0.1])

    def follow(case, device, times, **options):
        shift = next(shifts)
        run = made(front=(1.0, 2.0, 3.0 + shift))
        run.positions[2] = run.positions[2] + shift
        return run

    monkeypatch.setattr(runs, "follow", follow)
    found = runs.compared((4, 3, 8), machines.pair("threads", 1))
    assert found["same bits"].tolist() == [True, True, False]


def test_the_column_has_its_own_volume_before_it_falls():
    run = made()
    found = runs.volumes(runs.surfaces(run), run)
    np.testing.assert_allclose(found["volume"], 1, rtol=0.01)
    # of the looks that were kept, each at its own time
    kept = replace(run, positions=run.positions[1:], kept=[1, 2])
    assert runs.volumes(runs.surfaces(kept), kept)["time"].tolist() == run.table["time"].tolist()[1:3]


def test_what_is_seen_of_a_collapse_is_counted_in_columns_and_spacings():
    case = DamBreak(column=(4, 3, 8))
    system = case.system()
    spacing, tank = system.resolution.spacing, system.tank
    position, velocity = np.tile([0.5 * tank[0], 0.5 * tank[1], 0.5 * tank[2]], (6, 1)), np.ones((6, 3))
    position[0, 0] = 3 * case.width - spacing / 2
    # beyond a wall: by a tenth of a spacing, and two that are lost
    position[1, 1], position[2, 0], position[0, 1] = -0.1 * spacing, -0.7 * spacing, -0.6 * spacing
    # at the lid: two hang there, one is on its way
    position[3:, 2] = tank[2] - 0.5 * system.resolution.support
    velocity[3] = velocity[5] = 0.09 / 3**0.5
    velocity[4] = 0.11 / 3**0.5
    particles = {"position": position, "velocity": velocity, "condensation": np.zeros(6)}
    found = runs._look(particles, system, case.width)
    assert case.width != pytest.approx(tank[0])
    assert found["front"] == pytest.approx(3)
    assert (found["beyond"], found["lost"], found["hanging"]) == (pytest.approx(0.7), 2, 2)
    kinetic = system.mass * (3 * 3 + 2 * 0.09**2 + 0.11**2) / 2
    potential = system.mass * 9.81 * position[:, 2].sum()
    assert (found["kinetic"], found["potential"]) == pytest.approx((kinetic, potential))
    assert found["total"] == pytest.approx(kinetic + potential)


def test_a_collapse_is_looked_at_at_the_nearest_step_and_dissipates_what_its_total_loses(monkeypatch):
    class Simulation:
        steps = 0

        def __init__(self, system, device):
            pass

        def start(self):
            pass

        def step(self, count):
            self.steps += count

        def particles(self):
            return {"position": self.steps}

    monkeypatch.setattr(runs, "Simulation", Simulation)
    monkeypatch.setattr(runs, "_look", lambda seen, system, width: {"total": 10.0 - seen["position"], "width": width})
    case = DamBreak(column=(4, 3, 8))
    dt = case.system().dt
    run = runs.follow(case, None, [0.0, 2.4 * dt, 4.6 * dt])
    assert run.positions == [0, 2, 5]
    some = runs.follow(case, None, [0.0, 2.4 * dt, 4.6 * dt], kept=[4.6 * dt])
    assert (some.positions, some.kept, len(some.table)) == ([5], [2], 3)
    assert set(run.table["width"]) == {case.width}
    assert run.table["time"].tolist() == pytest.approx([0, 2 * dt, 5 * dt])
    assert run.table["dissipated"].tolist() == pytest.approx([0, 2, 5])
    assert run.table["reduced"].tolist() == pytest.approx(
        [0, *(np.array([2, 5]) * dt * np.sqrt(2 * 9.81 / case.width))]
    )
    # as long as a front takes to the far wall
    times = np.array(runs._to_the_wall(case, None).positions) * dt
    assert len(times) == runs.LOOKS + 1
    assert times[-1] * np.sqrt(2 * 9.81 / case.width) == pytest.approx(runs.FRONT_ENDS, rel=0.02)


def test_a_falls_share_of_the_sound_speed_is_per_cent():
    case = DamBreak(column=(4, 3, 8))
    fluid, depth = case.fluid, case.system().depth
    found = runs.stiffness(case)
    assert found["share"] == pytest.approx(100 * (2 * 9.81 * depth) ** 0.5 / fluid.sound_speed)
    assert found["rule"] == pytest.approx(10)
    assert found["holds"] == (depth < found["depth"])
    assert found["holds"] == (found["share"] < found["rule"])


def test_fronts_are_told_by_the_finest_and_lead_against_the_first_experiment():
    # the finest stands first
    table = advanced([1.0, 1.31], [2.8, 2.36]).iloc[[1, 0, 2]]
    later = table.iloc[[2]].assign(front="another", arrival=2.5, slope=1.4)
    table = pd.concat([table, later], ignore_index=True)
    assert runs.slope(table) == {"slope": 1.31, "least": 1.3, "most": 1.4, "holds": True}
    assert runs.lead(table) == {"later": pytest.approx(0.14), "holds": True}
    assert runs.slope(table.assign(slope=[1.45, 1.45, 1.3, 1.4]))["holds"]
    assert not runs.slope(table.assign(slope=[1.55, 1.55, 1.3, 1.4]))["holds"]
    assert not runs.slope(table.assign(slope=[1.15, 1.15, 1.3, 1.4]))["holds"]
    assert not runs.lead(table.assign(arrival=2.5))["holds"]


def test_energy_gains_what_it_grows_by_from_one_look_to_the_next():
    assert runs.energy_gain(made(total=(10.0, 9.0, 9.5))) == pytest.approx(0.05)
    assert runs.energy_gain(made()) <= 0


@pytest.mark.parametrize(("order", "limit"), [(1.0, 2.24), (0.8, 2.1), (2.0, 2.3)])
def test_the_order_and_the_limit_of_arrivals_are_those_of_a_power_of_the_spacing(order, limit):
    # at 10, 20 and 30 spacings a width: not in one ratio
    table = advanced([1.0, 1.2, 1.3], [limit + 0.4 * n**-order for n in (1, 2, 3)])
    found = runs.convergence(table)
    assert (found["order"], found["limit"]) == (pytest.approx(order), pytest.approx(limit))
    assert found["holds"]
    # a coarser one still does not count
    four = advanced([1.0, 1.0, 1.2, 1.3], [9.0, *(limit + 0.4 * n**-order for n in (2, 3, 4))])
    assert runs.convergence(four)["order"] == pytest.approx(order)
    assert runs.away(table) == {"later": pytest.approx(2.55 - limit), "holds": limit + 0.4 * 3**-order < 2.55}


def test_arrivals_that_turn_round_or_drift_apart_do_not_converge():
    for arrivals in ([2.5, 2.3, 2.4], [2.5, 2.45, 2.2], [2.8, 2.5]):
        found = runs.convergence(advanced([1.0] * len(arrivals), arrivals))
        assert not found["holds"]
        assert np.isnan(found["order"])
        assert not runs.away(advanced([1.0] * len(arrivals), arrivals))["holds"]


def test_friction_reaches_as_far_as_viscosity_diffuses():
    case = DamBreak(column=(40, 8, 80))
    found = runs.friction(advanced([1.0, 1.31], [2.8, 2.36]), case)
    time = 2.36 / (2 * 9.81 / 0.146) ** 0.5
    assert found["layer"] == pytest.approx(1000 * (1e-6 * time) ** 0.5)
    assert found["spacing"] == pytest.approx(3.65)
    assert found["numerical"] / found["layer"] == pytest.approx(
        (0.1 * 1.3 * 3.65e-3 * 88.5 / 20 / 1e-6) ** 0.5, rel=1e-3
    )
    assert found["holds"]


def test_volume_is_kept_as_long_as_the_pictures_show():
    table = volumes(1.0, 1.02, 0.5)
    assert runs.volume_kept(table, table["time"][1]) == {"worst": pytest.approx(2), "holds": True}
    assert not runs.volume_kept(table, table["time"][2])["holds"]


def test_volume_is_lost_at_the_rate_of_its_second_half():
    found = runs.volume_loss(volumes(1.2, 1.0, 0.99, 0.98))
    assert found == {"rate": pytest.approx(10), "holds": True}
    assert not runs.volume_loss(volumes(1.0, 0.9, 0.95, 1.0))["holds"]


def test_the_sound_speed_of_the_papers_stiffness_is_ten_times_a_fall_of_four_metres():
    # Becker and Teschner's rule with B = 1119 kPa: c^2 = 7 B / rho = 100 * 2 g H
    height = 7 * 1119e3 / 1000 / 100 / (2 * 9.81)
    assert height == pytest.approx(4.0, abs=0.05)
    assert runs.stiffness(DamBreak(column=(4, 3, 8)))["depth"] == pytest.approx(height)


def test_a_film_shows_every_look_on_white():
    run = made()
    assert len(figures.film(run, runs.surfaces(run), 80, 0.1)[0]) == 2
    images, captions = figures.film(run, runs.surfaces(run), 80, 0.2)
    assert images.dtype == np.uint8
    assert len(images) == len(captions) == 3
    assert captions[0] == "0.00 s"
    # the page around the tank
    assert (images[:, [0, -1], [0, -1]] == 255).all()
    assert images.min() < 200
