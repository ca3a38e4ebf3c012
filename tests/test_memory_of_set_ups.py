"""Every set-up asks for the memory that it takes on the host, before it takes any of it."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from repro.dpd.cases import Bulk, Channel, Poiseuille
from repro.dpd.uneven import KINDS, Uneven
from repro.errors import MemoryLimitError
from repro.papers.electrons.gyration.orbits import crowd
from repro.papers.electrons.plasma.loop import streams
from repro.papers.electrons.plasma.waves import Wave
from repro.parallel import memory
from repro.pic.cases import Plasma
from repro.sph.cases import DamBreak, StillWater

SET_UPS = {
    "bulk": Bulk((20.0, 20.0, 20.0)).system,
    "plates": Poiseuille(20.0, 20.0, 20.0).system,
    "channel": Channel(64.0, 12.0, 32.0, 24.0, 8.0, frozen=None).system,
    **{kind: Uneven(kind, (20.0, 20.0, 20.0), 12.0, 0.5).system for kind in KINDS},
    "still water": StillWater(column=(30, 30, 30)).system,
    "dam break": DamBreak(column=(30, 20, 50)).system,
    "plasma": Plasma(cells=10, per_cell=30).system,
    "a cold wave": Wave(48, diagonal=True).system,
    "two streams": lambda: streams(1024, 20),
    "a crowd": lambda: crowd(30_000, 0.5),
}


@pytest.fixture(params=SET_UPS)
def set_up(request):
    return SET_UPS[request.param]


def test_what_does_not_fit_is_refused_before_it_is_drawn(set_up, monkeypatch):
    monkeypatch.setattr(memory, "select", lambda name: SimpleNamespace(name=name, free_memory=lambda: 1_000_000))
    # who draws, draws from nothing
    monkeypatch.setattr(np.random, "default_rng", lambda *_: None)
    monkeypatch.setattr(np, "meshgrid", None)
    words = r"^\d+ particles needs [\d.]+ MiB, but serial has 976.6 KiB free: use fewer particles$"
    with pytest.raises(MemoryLimitError, match=words):
        set_up()


def test_no_set_up_takes_more_than_it_asks_for(set_up, monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "require_memory", lambda _, count, *__: asked.append(count))
    # what is imported is not counted
    set_up()
    asked.clear()
    tracemalloc.start()
    set_up()
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken <= 1.15 * asked[0]
