"""Lines of a chart look different, and those that are more than looks repeat them."""

from repro.papers.style import COLOURS, MARKERS, looks


def test_every_line_has_a_look_of_its_own_until_they_repeat():
    found = list(looks(range(9), ls="none", mfc=("none",) * 8 + (None,)))
    assert [item for item, _ in found] == list(range(9))
    assert [look["color"] for _, look in found] == [*COLOURS, COLOURS[0]]
    assert [look["marker"] for _, look in found] == [*MARKERS, MARKERS[0]]
    assert {look["ls"] for _, look in found} == {"none"}
    assert found[8][1]["mfc"] is None


def test_what_is_given_takes_the_place_of_colour_or_marker():
    assert next(looks("a", marker="none", color="black")) == ("a", {"color": "black", "marker": "none"})
