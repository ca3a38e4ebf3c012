"""The time left falls as the clock goes, also where notebooks that measure speed stop the others."""

import random
from io import StringIO
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.study.run import progress
from repro.study.run.progress import WIDTH, Progress, describe


@pytest.fixture
def clock(monkeypatch):
    """clock(seconds): so much time passes."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def passes(seconds: float) -> None:
        now[0] += seconds

    return passes


def test_what_measures_speed_alone_adds_its_time_and_the_rest_shares_the_jobs(clock):
    shown = Progress({"a": 40, "b": 30, "speed": 100, "c": 30}, jobs=2, alone=["speed"])
    assert shown.left() == 100 + (40 + 30 + 30) / 2


def test_a_run_without_a_place_for_messages_runs(monkeypatch):
    monkeypatch.setattr(progress.sys, "stderr", None)
    shown = Progress({"a": 1}, jobs=1)
    shown.begin("a")
    shown.end("a", "done a")


def test_the_longest_notebook_bounds_the_time_left(clock):
    assert Progress({"a": 60, "b": 5, "c": 5}, jobs=3).left() == 60


def test_the_others_stand_still_while_one_measures_speed(clock):
    shown = Progress({"a": 60, "speed": 100}, jobs=2, alone=["speed"])
    shown.begin("a")
    shown.begin("speed")
    clock(100)
    shown.tick()
    assert shown.left() == 60
    shown.end("speed", "done")
    clock(60)
    assert shown.left() == 60
    shown.tick()
    assert shown.left() == 0


def test_two_that_measure_speed_take_turns(clock):
    shown = Progress({"first": 100, "second": 60}, jobs=2, alone=["first", "second"])
    shown.begin("first")
    shown.begin("second")
    clock(80)
    shown.tick()
    assert shown.left() == 100 + 60 - 80


def test_one_that_takes_longer_than_expected_does_not_let_the_time_left_rise(clock):
    shown = Progress({"a": 10, "b": 10}, jobs=1)
    shown.begin("a")
    clock(1000)
    shown.tick()
    assert shown.left() == 10
    shown.end("a", "done")
    assert shown.left() == 10


class Terminal(StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_the_bar_is_not_full_before_the_end_and_says_where_a_late_notebook_is(clock, monkeypatch):
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    shown = Progress({"rock/first": 10, "rock/then": 30}, jobs=1)
    shown.begin("rock/first")
    clock(4)
    shown.tick({"rock/first": "2 of 9"})
    assert (shown._bar.n, shown._bar.desc) == (4, "about 36 s left: first (cell 2 of 9)")
    clock(71)
    shown.tick({"rock/first": "3 of 9"})
    assert (shown._bar.n, shown._bar.desc) == (9.5, "longer than expected, 75 s so far: first (cell 3 of 9)")
    clock(1)
    shown.tick()
    assert progress.sys.stderr.getvalue().count("first takes longer than expected: a first run compiles") == 1
    shown.end("rock/first", "done")
    assert (shown._bar.n, shown._bar.desc) == (10, "about 30 s left")
    shown.close()


class Bar:
    """In place of tqdm's."""

    def __init__(self, **given):
        self.given, self.total, self.n, self.shown = given, given["total"], 0, []

    def set_description_str(self, text):
        self.shown.append((self.n, text))

    def write(self, line, file):
        assert file is progress.sys.stderr
        self.shown.append(line)

    def close(self):
        self.shown.append("closed")
        raise OSError("the terminal is gone")


def test_a_terminal_shows_the_share_of_the_work_that_is_over_and_loses_the_bar_at_the_end(clock, monkeypatch):
    monkeypatch.setattr(progress, "tqdm", Bar)
    monkeypatch.setattr(progress.sys, "stderr", SimpleNamespace(isatty=lambda: True))
    shown = Progress({"toy/a": 60, "b": 30}, jobs=1)
    bar = shown._bar
    assert (bar.given["leave"], bar.given["ncols"], bar.total) == (False, WIDTH, 90)
    shown.begin("toy/a")
    clock(20)
    shown.tick()
    shown.end("toy/a", "done toy/a")
    shown.close()
    assert bar.shown == [
        (0, describe("about 90 s left", ["a"])),
        (20, describe("about 70 s left", ["a"])),
        "done toy/a",
        (60, describe("about 30 s left", [])),
        "closed",
    ]
    assert Progress({}, jobs=1)._bar is None


def test_lines_tell_what_runs_for_how_long_where_there_is_no_terminal(clock, capsys):
    shown = Progress({"toy/a": 60, "b": 6000}, jobs=1)
    shown.begin("toy/a")
    shown.begin("b")
    shown.end("b", "done b")
    shown.close()
    told = "running 1 of 2: toy/a (about 60 s)\nrunning 2 of 2: b (about 1 h 40 min)\ndone b\n"
    assert capsys.readouterr().err == told


def test_one_notebook_alone_is_not_counted(clock, capsys):
    Progress({"toy/a": 60}, jobs=1).begin("toy/a")
    assert capsys.readouterr().err == "running toy/a (about 60 s)\n"


@pytest.mark.parametrize(("seconds", "text"), [
    (99.4, "99 s"), (100, "2 min"), (3569, "59 min"), (3570, "1 h 0 min"), (7501, "2 h 5 min"),
])  # fmt: skip
def test_a_duration_is_in_seconds_below_a_hundred_in_minutes_below_an_hour(seconds, text):
    assert progress.duration(seconds) == text


@given(st.lists(st.tuples(st.floats(1, 100), st.booleans()), min_size=1, max_size=8), st.integers(1, 3), st.randoms())
def test_the_time_left_never_rises(books, jobs, chance):
    with pytest.MonkeyPatch.context() as patch:
        now = [0.0]
        patch.setattr(progress.time, "monotonic", lambda: now[0])
        patch.setattr(Progress, "say", lambda self, line: None)
        run_through({str(i): b for i, b in enumerate(books)}, jobs, chance, now)


def run_through(books: dict, jobs: int, chance: random.Random, now: list[float]) -> None:
    """Any order of beginnings and ends, at any time."""
    shown = Progress({i: seconds for i, (seconds, _) in books.items()}, jobs, [i for i in books if books[i][1]])
    waiting, running, before = list(books), [], shown.left()
    while waiting or running:
        now[0] += chance.uniform(0, 50)
        if waiting and len(running) < jobs and chance.random() < 0.7:
            running.append(waiting.pop(chance.randrange(len(waiting))))
            shown.begin(running[-1])
        elif running:
            shown.end(running.pop(chance.randrange(len(running))), "done")
        assert shown.left() <= before + 1e-9
        before = shown.left()
    assert before == 0


@pytest.mark.parametrize("names", [[], ["porous/permeability_of_your_rock"], ["porous/permeability_of_your_rock"] * 4])
def test_the_line_fits_a_terminal_of_80_columns(names):
    bar = f"100%|{'#' * progress.BAR}| "
    line = bar + describe("about 2 h 5 min left", [name.rpartition("/")[2] for name in names])
    assert len(line) <= WIDTH < 80
    assert "about 2 h 5 min left" in line
    assert not names or "permeability" in line
    assert len(names) < 2 or line.endswith(f" and {len(names) - 1} more")
