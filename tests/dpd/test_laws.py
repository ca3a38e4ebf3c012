"""A law of a user's own: in every strategy, on every device, refused where it is none, and known again from a file."""

import importlib.util
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers import forces_by_hand as by_hand
from helpers.plain import PlainCore
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as some
from numba.core.serialize import dumps

from repro.dpd import Bulk, Fluid, Simulation, System, benchmark, checkpoint, conservative, exact
from repro.dpd.strategies import STRATEGIES, runs_on
from repro.errors import InputError
from repro.papers.dpd.memory_and_launch import constants

#: forces of order 100 in single precision, positions to 1e-9 of the box
TOLERANCE = {"single": 3e-5, "double": 1e-10}


def stiff_by_hand(r, a, b, c):
    """A core that falls off exponentially, and an attraction at half the cutoff radius."""
    return a * math.exp(-b * r) - c * r * (1 - r)


@conservative
def stiff(r, a, b, c):
    return a * math.exp(-b * r) - c * r * (1 - r)


@conservative
def square(r, a):
    return a * (1 - r) * (1 - r)


#: a time step that keeps the noise in proportion
STIFF = Fluid(dt=0.04, repulsion=40.0, law=stiff, parameters=(2.5, 15.0))


@some.composite
def few_particles(draw):
    """Three or four particles across a corner of the smallest box, one of them frozen."""
    count = draw(some.integers(3, 4))
    offset = some.lists(some.integers(-60, 60), min_size=3, max_size=3)
    position = np.mod(np.array([draw(offset) for _ in range(count)]) / 100, 3.0)
    apart = position[:, None] - position
    # the law does not vanish at the cutoff radius: there rounding decides between all of the force and none
    assume((abs(np.linalg.norm(apart - 3 * np.round(apart / 3), axis=2) - 1) > 1e-5).all())
    velocity = np.array([draw(some.lists(some.floats(-3, 3), min_size=3, max_size=3)) for _ in range(count)])
    velocity[-1] = 0
    return System(STIFF, (3.0, 3.0, 3.0), position, velocity, count - 1)


@pytest.mark.parametrize(
    ("strategy", "precision"), [*((name, "single") for name in STRATEGIES), ("sorted cells", "double")]
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(system=few_particles())
def test_forces_of_a_law_of_ones_own_are_those_by_hand(device, strategy, precision, system):
    if not runs_on(strategy, device):
        return
    # few places and threads: a simulated GPU has a thread of Python for each
    options = {"strategy": strategy, "precision": precision, "seed": 9, "capacity": 8, "block": 8}
    simulation = Simulation(system, device, **options)
    simulation.start()
    found = simulation.particles()["force"][: system.moving]
    expected = by_hand.forces(system, seed=9, law=stiff_by_hand)[: system.moving]
    assert np.abs(found - expected).max() < TOLERANCE[precision] * max(1, np.abs(expected).max() / 100)


@pytest.mark.parametrize("stencil", constants.STENCILS)
def test_a_law_takes_its_numbers_from_every_memory_space(device, stencil):
    position = np.array([[0.1, 0.1, 0.1], [0.4, 0.3, 2.9], [2.8, 0.2, 0.5]])
    system = System(STIFF, (3.0, 3.0, 3.0), position, np.zeros((3, 3)), 3)
    expected = by_hand.forces(system, law=stiff_by_hand)
    # in single precision, which textures have
    simulation, limit = Simulation(system, device, strategy="particle"), TOLERANCE["single"] * np.abs(expected).max()
    for place in constants.places_on(device):
        constants.build(simulation.setup, place, stencil).run()
        np.testing.assert_allclose(simulation.particles()["force"], expected, rtol=0, atol=limit, err_msg=place)


def test_trajectories_of_a_law_of_ones_own_are_the_same_for_both_fast_strategies_bit_for_bit(threads):
    system = Bulk((3.0, 3.0, 3.0), STIFF).system()
    runs = [Simulation(system, threads, strategy=strategy, seed=7) for strategy in ("planes", "sorted cells")]
    for run in runs:
        run.step(40)
    np.testing.assert_array_equal(*(run.particles()["velocity"] for run in runs))


def test_the_papers_law_is_the_same_as_one_made_of_its_conservative_force():
    soft, system = conservative(by_hand.soft), Bulk((3.0, 3.0, 3.0), Fluid(density=1.0)).system()
    found = []
    for fluid in (system.fluid, replace(system.fluid, law=soft)):
        simulation = Simulation(replace(system, fluid=fluid), PlainCore(), precision="double")
        with np.errstate(over="ignore"):
            simulation.start()
        found.append(simulation.particles()["force"])
    np.testing.assert_allclose(*found, atol=1e-11)


def plain(r):
    return 1 - r


def undeclared(r, a):
    return a * plain(r)


NO_LAWS = {
    "a default, which no strategy would take": (
        lambda: conservative(lambda r, a=3.0: a * r),
        "takes 'a=3.0': a number by its name alone, whose value stands in Fluid.repulsion or Fluid.parameters",
    ),
    "as many numbers as there are": (lambda: conservative(lambda r, *p: r), r"takes '\*p': a number by its name"),
    "a number": (lambda: conservative(3), "the law 3 must be a function of the distance"),
    "a function of nothing": (lambda: conservative(lambda: 1.0), "must be a function of the distance"),
    "a text": (lambda: conservative(lambda r, a: "strong"), "it returns Literal"),
    "nothing": (lambda: conservative(lambda r, a: None), "it returns none"),
    "a function that is not compiled": (
        lambda: conservative(undeclared),
        "undeclared .*Untyped global name 'plain'",
    ),
    "a name that is not there": (lambda: conservative(lambda r, a: there(r)), "name 'there' is not defined"),  # noqa: F821
    "a plain function": (lambda: Fluid(law=undeclared), "law = .*must be a law, as @repro.dpd.conservative makes it"),
    "too few numbers": (lambda: Fluid(law=stiff), r"parameters of the law stiff = \(\): must be 2 values"),
    "too many numbers": (lambda: Fluid(law=square, parameters=(1.0,)), "parameters of the law square"),
    "numbers that are none": (lambda: Fluid(law=stiff, parameters=(1.0, math.nan)), "must be 2 values, each a number"),
    "numbers of the paper's law": (lambda: Fluid(parameters=(1.0,)), "parameters of the law Groot and Warren"),
    "nan": (lambda: Fluid(law=conservative(lambda r, a: math.nan)), "gives nan at r = 0.05: a finite number is needed"),
    "a pole": (lambda: Fluid(law=conservative(lambda r, a: a / (r - 0.5))), "fails at r = 0.5: float division by zero"),
}


@pytest.mark.parametrize(("make", "line"), NO_LAWS.values(), ids=NO_LAWS)
def test_what_is_no_law_is_refused_in_one_line_before_anything_runs(make, line):
    with pytest.raises(InputError, match=line) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_checkpoint_goes_on_with_its_law_and_with_no_other(threads, tmp_path):
    path, fluid = tmp_path / "run.h5", Fluid(law=stiff, parameters=(2.5, 15.0))
    whole = Simulation(Bulk((3.0, 3.0, 3.0), fluid).system(), threads, seed=5)
    whole.step(3)
    checkpoint.save(whole, path)
    with pytest.raises(InputError, match="run.h5: .*written with the law stiff, not with Groot and Warren"):
        checkpoint.load(path, threads)
    other = conservative(lambda r, a, b, c: a * math.exp(-b * r) - c * r)._replace(name="stiff")
    with pytest.raises(InputError, match="run.h5: .*written with another law of the name stiff"):
        checkpoint.load(path, threads, law=other)
    second = checkpoint.load(path, threads, law=stiff)
    assert second.system.fluid == fluid
    for run in (whole, second):
        run.step(2)
    np.testing.assert_array_equal(whole.particles()["velocity"], second.particles()["velocity"])


def test_a_law_is_named_where_a_run_is_described_and_its_forces_are_checked_before_it_is_timed(threads):
    simulation = Simulation(Bulk((3.0, 3.0, 3.0), Fluid(law=square)).system(), threads, strategy="planes")
    assert "law square" in str(simulation)
    assert benchmark._check_of(simulation, {}).endswith("particles, law square")


def test_a_fit_is_refused_for_another_law_and_without_structure_the_pressure_is_an_integral():
    for theory in (exact.pressure, exact.sound_speed):
        with pytest.raises(InputError, match="for the law Groot and Warren, not for square"):
            theory(Fluid(law=square))
    # integrals of r^3 (1 - r) and r^3 (1 - r)^2
    for law, moment in ((Fluid().law, 1 / 20), (square, 1 / 60)):
        fluid = Fluid(density=2.0, repulsion=6.0, temperature=0.5, law=law)
        assert exact.unstructured_pressure(fluid) == pytest.approx(1.0 + 2 * math.pi / 3 * 4 * 6 * moment)


def test_what_is_kept_on_disk_is_not_taken_for_a_law_whose_file_has_changed(tmp_path, monkeypatch):
    kept = []
    # two texts of one length within a second would share their bytecode
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for strength in (1, 1, 2):
        path = tmp_path / "laws.py"
        path.write_text(
            "from repro.dpd import conservative\nfrom repro.parallel import device_function\n\n"
            f"@device_function\ndef strength():\n    return {strength}.0\n\n"
            "@conservative\ndef flat(r, a):\n    return a * strength() * (1 - r)\n"
        )
        spec = importlib.util.spec_from_file_location("laws", path)
        module = importlib.util.module_from_spec(spec)
        # numba names what a law calls by its module, as for every import
        monkeypatch.setitem(sys.modules, "laws", module)
        spec.loader.exec_module(module)
        kept.append(dumps(module.flat.along))
    assert kept[0] == kept[1] != kept[2]


def test_a_run_goes_on_on_a_device_and_not_on_its_name(tmp_path):
    with pytest.raises(InputError, match="^device = 'serial': must be a device of repro.parallel"):
        checkpoint.load(tmp_path / "none.h5", "serial")
