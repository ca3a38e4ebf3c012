"""Lines of a chart look different, and those that are more than looks repeat them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.dpd.memory_and_launch import figures as memory
from repro.papers.dpd.thermodynamics import figures as thermodynamics
from repro.papers.electrons.plasma import figures as plasma
from repro.papers.style import COLOURS, MARKERS, look, looks


def test_every_line_has_a_look_of_its_own_until_they_repeat():
    found = list(looks(range(9), ls="none", mfc=("none",) * 8 + (None,)))
    assert [item for item, _ in found] == list(range(9))
    assert [look["color"] for _, look in found] == [*COLOURS, COLOURS[0]]
    assert [look["marker"] for _, look in found] == [*MARKERS, MARKERS[0]]
    assert {look["ls"] for _, look in found} == {"none"}
    assert found[8][1]["mfc"] is None


def test_what_is_given_takes_the_place_of_colour_or_marker():
    assert next(looks("a", marker="none", color="black")) == ("a", {"color": "black", "marker": "none"})


def test_the_look_of_a_line_follows_from_its_number():
    assert [look(k) for k in range(20)] == [each for _, each in looks(range(20))]


def test_more_lines_than_colours_are_all_drawn():
    many, steps = range(2 * len(COLOURS)), np.arange(1.0, 5)
    cold = {(swing, "double"): pd.DataFrame({"periods": steps, "electric": steps, "kinetic": steps}) for swing in many}
    warm = {count: pd.DataFrame({"periods": steps, "energy": steps}) for count in many}
    figure, _ = plasma.energies(cold, warm)
    # of the cold waves the smallest and the largest, a panel each; of the warm plasmas all
    assert [len(axes.lines) for axes in figure.axes] == [1, 1, len(many)]
    columns = {"stride": 1, "ratio": 2.0, "model": 1.0, "MiB": 1.0}
    _, arrays = memory.strides(pd.DataFrame([columns | {"bits": bits} for bits in many]), 32)
    assert len(arrays) == 3 * len(many)
    assert len(list(thermodynamics._each(pd.DataFrame({"rho": many}), "rho"))) == len(many)
    plt.close("all")
