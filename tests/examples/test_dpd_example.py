"""The fluid of examples/dpd_fluid_of_your_own_law.py has the temperature, the momentum and the pressure of its law."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from repro.dpd import block_average, pressure, temperature

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/dpd_fluid_of_your_own_law.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("dpd_fluid_of_your_own_law", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def virial(position, box) -> float:
    """The sum over all pairs of r F, with the law written down once more, in plain NumPy."""
    apart = position[:, None] - position[None]
    apart -= box * np.round(apart / box)
    distance = np.sqrt((apart**2).sum(-1))[np.triu_indices(len(position), 1)]
    r = distance[distance < 1]
    return float((r * np.where(r < 0.4, 5.0, 5.0 * (1 - r) / 0.6)).sum())


def test_the_fluid_keeps_its_momentum_and_its_temperature(example):
    _, measured = example.run(steps=1500)
    assert measured["momentum"] < 1e-3  # rounding of 500 velocities in single precision
    # lambda = 0.65 holds kT within half a per cent (Groot and Warren 1997)
    assert abs(measured["kT"].value - 1) < 0.005 + 4 * measured["kT"].error


def test_the_pressure_is_that_of_the_law_by_a_sum_over_all_pairs(example):
    simulation, _ = example.run(steps=400)
    box, count, friction_and_noise, of_law = np.array(simulation.system.box), simulation.system.count, [], []
    for _ in range(100):
        simulation.step(10, every=10)
        by_hand = count * temperature(simulation) + virial(simulation.particles()["position"], box) / 3
        of_law.append(by_hand / box.prod())
        friction_and_noise.append(pressure(simulation) - of_law[-1])
    # friction and noise have no mean virial
    rest = block_average(friction_and_noise)
    assert abs(rest.value) < 4 * rest.error
    assert rest.error < 0.02 * np.mean(of_law)


def test_the_page_prints_what_was_measured_beside_what_is_expected(example, capsys):
    example.main()
    lines = capsys.readouterr().out.splitlines()
    assert "law plateau" in lines[0]
    assert [line.split()[0] for line in lines[1:4]] == ["momentum", "temperature", "pressure"]
    expected = float(lines[3].split("expected ")[1].split()[0])
    # neighbours that the law parts lower it by a few per cent
    assert 0.85 * expected < float(lines[3].split()[1]) < expected
