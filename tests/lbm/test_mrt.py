"""The collision in moment space against its published matrix and rates, as plain Python functions."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.collisions import ROUNDING, collided, forces, random_populations, relaxation_times, seeds
from hypothesis import given

from repro.lbm import plain
from repro.lbm.equilibrium import VELOCITY_SHARE
from repro.lbm.lattice import D3Q19
from repro.lbm.mrt import fixed_rate, moment_matrix

TABLE = Path(__file__).resolve().parents[2] / "data" / "reference" / "d3q19_mrt.csv"

COLUMNS = [f"v{i}" for i in range(19)]


def published(ordering):
    """The rows of the matrix by number, and the columns brought into the order of our velocities."""
    table = pd.read_csv(TABLE, comment="#")
    table = table[table["ordering"] == ordering].set_index("row")
    velocities = [tuple(int(c) for c in column) for column in table.loc[["cx", "cy", "cz"], COLUMNS].to_numpy(float).T]
    order = [velocities.index(velocity) for velocity in D3Q19.velocities]
    moments = table.loc[[str(k) for k in range(19)]]
    return moments, moments[COLUMNS].to_numpy(float)[:, order]


@pytest.mark.parametrize("ordering", ["thesis", "dHumieres2002"])
def test_the_matrix_is_the_published_one_whatever_the_order_of_the_velocities(ordering):
    moments, rows = published(ordering)
    ours = moment_matrix(D3Q19)
    names = [name.replace("epsilon", "eps") for name in moments["moment"]]
    assert sorted(names) == sorted(ours)
    np.testing.assert_array_equal(np.array([ours[name] for name in names]), rows)


def test_the_rows_of_the_matrix_are_orthogonal():
    rows = np.array(list(moment_matrix(D3Q19).values()))
    product = rows @ rows.T
    np.testing.assert_array_equal(product, np.diag(np.diag(product)))


def test_the_fixed_rates_are_those_of_the_table():
    moments, _ = published("thesis")
    for name, rate in zip(moments["moment"], moments["s_dH2002"], strict=True):
        expected = 0.0 if rate in ("0", "s_nu") else float(rate)
        if not name.startswith(("rho", "j")):
            assert fixed_rate(name.replace("epsilon", "eps"), "mrt-dhumieres") == expected, name
        assert fixed_rate(name, "mrt") == 0.0


def textbook_moments(rho, j, force, u):
    """Equilibria of the moments as the table states them (LBGK's constants), and the moments of Luo's force."""
    jj, uf = j @ j / rho, u @ force
    traceless = np.array([2 * j[0] ** 2 - j[1] ** 2 - j[2] ** 2, j[1] ** 2 - j[2] ** 2]) / rho
    pushed = 2 * np.array([2 * u[0] * force[0] - u[1] * force[1] - u[2] * force[2], u[1] * force[1] - u[2] * force[2]])
    equilibrium = {"rho": rho, "e": -11 * rho + 19 * jj, "eps": 3 * rho - 5.5 * jj}
    forced = {"rho": 0.0, "e": 38 * uf, "eps": -11 * uf}
    for k, axis in enumerate("xyz"):
        equilibrium |= {f"j{axis}": j[k], f"q{axis}": -2 / 3 * j[k], f"m{axis}": 0.0}
        forced |= {f"j{axis}": force[k], f"q{axis}": -2 / 3 * force[k], f"m{axis}": 0.0}
    equilibrium |= {"3pxx": traceless[0], "pww": traceless[1], "3pixx": -traceless[0] / 2, "piww": -traceless[1] / 2}
    forced |= {"3pxx": pushed[0], "pww": pushed[1], "3pixx": -pushed[0] / 2, "piww": -pushed[1] / 2}
    for name, (a, b) in {"pxy": (0, 1), "pyz": (1, 2), "pzx": (2, 0)}.items():
        equilibrium[name] = j[a] * j[b] / rho
        forced[name] = u[a] * force[b] + u[b] * force[a]
    return equilibrium, forced


@given(seed=seeds, tau=relaxation_times, tau_odd=relaxation_times, force=forces)
@pytest.mark.parametrize("forcing", VELOCITY_SHARE)
@pytest.mark.parametrize("collision", ["mrt", "mrt-dhumieres"])
def test_each_moment_relaxes_to_its_equilibrium_at_its_rate_and_takes_its_part_of_the_force(
    collision, forcing, seed, tau, tau_odd, force
):
    matrix, share = moment_matrix(D3Q19), VELOCITY_SHARE[forcing]
    before, force = random_populations(D3Q19, seed, lanes=1), np.array(force)
    after = collided(D3Q19, before, 1 / tau, 1 / tau_odd, tuple(force), forcing, by=collision)
    f, rows = before[:, 0], np.array(list(matrix.values()))
    rho, momentum = f.sum(), np.array(D3Q19.velocities, float).T @ f + share * force
    equilibrium, forced = textbook_moments(rho, momentum, force, momentum / rho)
    expected = {}
    for name, moment in zip(matrix, rows @ f, strict=True):
        odd = name[0] in "jqm"
        rate = fixed_rate(name, collision) or (1 / tau_odd if odd else 1 / tau)
        expected[name] = moment + rate * (equilibrium[name] - moment) + (1 - share * rate) * forced[name]
    # entries of the matrix reach 30, and 19 of them are added
    np.testing.assert_allclose(rows @ after[:, 0], list(expected.values()), atol=500 * ROUNDING)


@given(seed=seeds, tau=relaxation_times, tau_odd=relaxation_times, force=forces)
@pytest.mark.parametrize("forcing", [None, *VELOCITY_SHARE])
def test_two_rates_in_moment_space_are_the_two_rates_of_even_and_odd_populations(forcing, seed, tau, tau_odd, force):
    force = force if forcing else (0.0, 0.0, 0.0)
    before = random_populations(D3Q19, seed)
    numbers = (before, 1 / tau, 1 / tau_odd, force, forcing)
    np.testing.assert_allclose(
        collided(D3Q19, *numbers, by="mrt"), collided(D3Q19, *numbers, by="trt"), atol=10 * ROUNDING
    )


@given(seed=seeds, tau=relaxation_times, tau_odd=relaxation_times)
@pytest.mark.parametrize("collision", ["mrt", "mrt-dhumieres"])
def test_the_collision_is_that_of_the_matrix_as_it_is_printed(collision, seed, tau, tau_odd):
    before = random_populations(D3Q19, seed)
    printed = plain.mrt_collision(before, 1 / tau, 1 / tau_odd, collision)
    after = collided(D3Q19, before, 1 / tau, 1 / tau_odd, by=collision)
    np.testing.assert_allclose(after, printed, atol=50 * ROUNDING)
