"""Rows in memory: each begins with a line of the cache, which nobody sees outside."""

from unittest.mock import patch

import numpy as np
import pytest
from helpers.plain import PlainDevice
from hypothesis import given
from hypothesis import strategies as st

from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9, D3Q19
from repro.lbm.layout import LAYOUTS, row_length
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import ALL

#: a closed box that every strategy takes, and one whose lid leaks mass
CLOSED = D3Q19, Boundaries(("standard",) * 6, 3), (4, 3, 3)
LEAKS = D2Q9, Boundaries(("periodic",) * 2 + ("half-way", "extrapolation") + ("periodic",) * 2, 3), (5, 6, 1)


def flow(case, **options) -> Simulation:
    """A flow of random populations around obstacles, on plain Python."""
    lattice, boundaries, shape = case
    solid = np.random.default_rng(3).random(shape[::-1]) < 0.2
    solid[:, -2:] = False
    problem = Problem(Model(lattice, boundaries, "trt"), shape, 0.8, wall_velocity=(0.05, 0.0, 0.0), solid=solid)
    simulation = Simulation(problem, PlainDevice(), **options)
    noise = np.random.default_rng(5).uniform(-0.1, 0.1, (lattice.q, *shape[::-1]))
    simulation.set_populations(np.array(lattice.weights)[:, None, None, None] * (1 + noise))
    return simulation


def both(case, steps, **options) -> list[Simulation]:
    """The same flow in arrays whose rows end with their last node, and as they are."""
    flows = []
    for length in (lambda nodes: nodes, row_length):
        with patch("repro.lbm.strategies.box.row_length", length):
            flows.append(flow(case, **options))
        steps(flows[-1])
    return flows


@pytest.mark.parametrize(
    "strategy", [name for name in ALL if name not in ("swap sweep", "shared memory", "paired pull")]
)
def test_no_bit_of_a_flow_depends_on_the_length_of_a_row(strategy):
    packed, padded = (simulation.fields() for simulation in both(CLOSED, lambda flow: flow.step(3), strategy=strategy))
    assert all(np.array_equal(*fields) for fields in zip(packed, padded, strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_mass_is_restored_alike_and_nothing_is_written_behind_the_last_node_of_a_row(layout):
    packed, padded = both(LEAKS, lambda flow: flow.run_to_steady_state(interval=3, limit=6), layout=layout)
    assert np.array_equal(packed.populations(), padded.populations())
    nodes = padded.problem.nodes
    assert (len(padded.state) > D2Q9.q * nodes) == (layout == "soa")
    assert np.count_nonzero(padded.state) == np.count_nonzero(padded.populations() - padded._stored_from)


@given(nodes=st.integers(1, 10**10))
def test_a_row_is_an_odd_number_of_lines_of_which_less_than_two_are_empty(nodes):
    lines, beyond = divmod(row_length(nodes), 32)
    assert beyond == 0
    assert lines % 2 == 1
    assert 0 <= row_length(nodes) - nodes < 64
