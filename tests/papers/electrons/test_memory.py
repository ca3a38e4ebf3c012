"""The memory of blocks with currents of their own: parts of the mesh, the three powers, and what is allocated."""

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.papers.electrons.memory import measures
from repro.pic.state import bytes_each
from repro.pic.strategies import baskets
from repro.study.judge.claims import find, load


@pytest.fixture
def plain(monkeypatch):
    """Plain Python, with the fields where it is: a thread's pool would have to be compiled."""
    monkeypatch.setattr(measures, "baskets", lambda **more: baskets(fields="device", **more))
    return PlainDevice()


@pytest.mark.parametrize(("processes", "cells"), [(1, (8, 8, 8)), (2, (4, 8, 8)), (8, (4, 4, 4)), (16, (2, 4, 4))])
def test_parts_of_the_mesh_are_as_large_and_together_the_mesh(processes, cells):
    assert measures.subdomain(8, processes) == cells


@pytest.mark.parametrize(("side", "processes"), [(8, 3), (6, 16), (8, 0)])
def test_parts_that_are_not_alike_are_refused(side, processes):
    with pytest.raises(InputError):
        measures.subdomain(side, processes)


def test_currents_are_twelve_sums_a_node_and_block(plain):
    table = measures.sweep(plain, [4, 8], [2, 4], [1, 2])
    table = table[(table["side"] == 4) & (table["chips"] == 2)]
    assert table["process"].tolist() == [96 * 6**3 * 2, 96 * (4 * 6 * 6)]
    assert table["formula"].tolist() == [96 * 64 * 2, 96 * 64 * 2 / 4]
    assert table["GPU"].tolist() == [96 * 6**3 * 2, 2 * 96 * (4 * 6 * 6)]


@pytest.mark.parametrize("alone", range(3))
def test_from_one_value_no_power_is_told(alone):
    """Least squares would give zero for it, and say nothing."""
    values = [[4, 8], [2, 4], [1, 2]]
    values[alone] = values[alone][:1]
    with pytest.raises(InputError, match="must be two values at least, or there is no power of it"):
        measures.sweep(None, *values)


def test_the_formula_itself_has_the_papers_powers(plain):
    table = measures.sweep(plain, [4, 8], [2, 4], [1, 2])
    assert measures.powers(table, "formula") == pytest.approx(measures.POWERS)
    assert measures.powers(table, "formula of the GPU")["processes"] == pytest.approx(-1)
    assert len(measures.figure(table)[1]) == 8


def test_the_largest_mesh_just_fits():
    memory = 16 * 2**30
    fitting = measures.meshes_that_fit(np.float32, 4)["cells along each axis"]
    assert 96 * fitting[1] ** 3 * 80 / 4 <= memory < 96 * (fitting[1] + 1) ** 3 * 80 / 4
    taken = 30_000_000 * bytes_each(np.float32)
    table = measures.meshes_that_fit(np.float32, 4)
    assert table["sets of currents"].tolist() == [80, 20, 1, 80]
    assert table["GiB"].tolist() == [16, 16, 16, taken / 2**30]
    sides = [(memory / (96 * sets)) ** (1 / 3) for memory, sets in [(2**34, 80), (2**34, 20), (2**34, 1), (taken, 80)]]
    assert table["cells along each axis"].tolist() == [int(side) for side in sides]
    # what the particles take is less than the GPU has
    assert fitting[3] < fitting[0] < fitting[1] < fitting[2]


def test_the_set_up_is_the_papers(plain):
    simulation = measures.process(plain, 4, 16, 2)
    table = measures.setup(find(measures.SETUP), simulation).set_index("id")["here"]
    assert table.tolist() == [512, 8, 8 * 512, 3]


def test_every_number_of_the_paper_stands_in_its_file_and_those_judged_are_the_notebooks():
    known = load("electrons")
    assert set(known) == {f"electrons-{n:03d}" for n in range(1, 15)}
    assert {c.id for c in known.values() if c.measurable} == {
        "electrons-001",
        "electrons-012",
        *measures.JUDGED.values(),
    }
    powers = {name: known[claim].bounds()[0] for name, claim in measures.JUDGED.items()}
    assert powers == measures.POWERS


@pytest.mark.parametrize(
    ("numbers", "line"),
    [
        ((0, 16, 2), "side = 0: must be a whole number from 1 to 65535$"),
        ((4, 0, 2), "chips = 0: must be a whole number from 1 to 65536$"),
        ((4, 16, 3), "16 multiprocessors for 3 processes: each gets as many"),
        ((4, 16, 0), "processes = 0: must be a whole number from 1 to 16"),
    ],
)
def test_a_gpu_is_shared_by_one_process_at_least(numbers, line):
    with pytest.raises(InputError, match=line):
        measures.process(None, *numbers)


def test_each_power_is_handed_over_as_the_claim_on_it():
    claims = {"processes": "electrons-006", "cells": "electrons-013", "chips": "electrons-014"}
    assert claims == measures.JUDGED
