"""A lid drives the flow of the equations, at second order in the spacing, wherever its scheme puts it."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation

#: smallest u on the vertical, largest and smallest v on the horizontal centre line over the lid's speed, Reynolds
#: number 100: Botella and Peyret, Comput. Fluids 27 (1998) 421, table 2 of Bruneau and Saad, 35 (2006) 326
SPECTRAL = np.array([-0.2140424, 0.1795728, -0.2538030])

SPEED = 0.05


def extrema(shape: tuple[int, int], lid: str, collision: str, device) -> np.ndarray:
    """The three extrema in a box whose three walls are half a spacing outside of its nodes."""
    nx, ny = shape
    model = Model(D2Q9, Boundaries((*["half-way"] * 3, lid, "periodic", "periodic"), moving=3), collision)
    problem = Problem(model, (nx, ny, 1), relaxation_time=0.5 + 3 * SPEED * nx / 100, wall_velocity=(SPEED, 0.0, 0.0))
    flow = Simulation(problem, device, precision="double")
    assert flow.run_to_steady_state(tolerance=1e-7, interval=500).converged
    velocity = flow.fields()[1][:2].reshape(2, ny, nx) / SPEED
    # a half-way lid is half a spacing above the last row, an extrapolated one on it
    height = ny if lid == "half-way" else ny - 0.5
    x, y, fine = (np.arange(nx) + 0.5) / nx, (np.arange(ny) + 0.5) / height, np.linspace(0.02, 0.98, 20_001)
    u = CubicSpline(y, CubicSpline(x, velocity[0], axis=1)(0.5))(fine)
    v = CubicSpline(x, CubicSpline(y, velocity[1])(0.5))(fine)
    return np.array([u.min(), v.max(), v.min()])


def test_a_half_way_lid_drives_the_cavity_of_the_spectral_solution_at_second_order(threads):
    off = [np.abs(extrema((n, n), "half-way", "trt", threads) / SPECTRAL - 1) for n in (16, 32, 64)]
    assert (np.log2(off[0] / off[2]) / 2 > 1.8).all()
    assert (off[2] < 0.005).all()


@pytest.fixture(scope="module")
def low_boxes(threads) -> dict[int, np.ndarray]:
    """Boxes half a spacing of n nodes lower than wide, on grids twice as fine, by n."""
    return {n: extrema((2 * n, 2 * n - 1), "half-way", "trt", threads) for n in (24, 48)}


@pytest.mark.parametrize("collision", ["bgk", "trt"])
def test_an_extrapolated_lid_stands_on_its_nodes_and_drives_that_box_at_second_order(threads, low_boxes, collision):
    off = [np.abs(extrema((n, n), "extrapolation", collision, threads) / same - 1) for n, same in low_boxes.items()]
    assert (np.log2(off[0] / off[1]) > 1.8).all()
    assert (off[1] < 0.015).all()
