"""A process that a user adds is one file and its name in PROCESSES: tables, tracks and tallies follow."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from repro.pic.air.collision_tables import Collisions
from repro.pic.air.processes import PROCESSES
from repro.pic.constants import REST_ENERGY


@pytest.fixture(scope="module")
def found():
    tests = Path(__file__).resolve().parents[1]
    path = os.pathsep.join([str(tests), str(tests.parent)])
    command = [sys.executable, "-W", "ignore", "-m", "helpers.fourth_process"]
    run = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_events_of_each_process_are_counted_as_often_as_they_happen(found):
    # 30 excitations are expected of 30 electrons that fly a millimetre, with the scatter of a Poisson process
    *_, excitations = found["collisions"]
    assert len(found["collisions"]) == len(PROCESSES) + 1
    assert abs(excitations - 30) < 5 * 30**0.5
    assert found["tallies"]["one_more"] > 0


def test_energy_that_events_take_is_tallied_as_lost_to_the_air(found):
    # what is cut to whole numbers is below 2^-12 of a unit a segment
    assert found["tallies"]["lost"] == pytest.approx(found["taken"], rel=1e-6, abs=0)


def test_events_take_their_energy_from_the_continuous_loss(found):
    known = REST_ENERGY * Collisions().restricted_stopping(1e4 / REST_ENERGY)
    assert found["stopping"] == pytest.approx(float(known), rel=1e-12)
