"""A time loop takes whole numbers of steps, observers that can sample, and functions, and refuses all else."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from repro.errors import DivergenceError, InputError, MemoryLimitError
from repro.parallel import TimeLoop, require_finite, require_memory, step_counter


@pytest.fixture
def loop():
    """A loop that counts its launches, on a device without graphs."""
    device = SimpleNamespace(capture=lambda launch: launch)
    counted = []
    found = TimeLoop(device, [lambda: counted.append(1)], start=lambda: None, look=lambda: None)
    found.counted = counted
    return found


class Observer:
    """Samples nothing."""

    def launch(self):
        """Do nothing."""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": True}, "steps = True: must be a whole number from 0"),
        ({"count": 1.5}, "steps = 1.5: must be a whole number"),
        ({"count": "10"}, "steps = '10': must be a whole number"),
        ({"count": 2**48 + 1}, f"steps = {2**48 + 1}: must be a whole number from 0 to {2**48}$"),
        ({"count": 10, "every": 2**48 + 1}, f"every = {2**48 + 1}: must be a whole number from 1 to {2**48}$"),
        ({"count": 10, "every": 0}, "every = 0: must be a whole number from 1"),
        ({"count": 10, "every": False}, "every = False: must be"),
        ({"count": 10, "observers": 5}, "observers = 5: must be a list of observers"),
        ({"count": 10, "observers": None}, "observers = None: must be"),
        ({"count": 10, "observers": ["averages"]}, r"observers = \['averages'\]: must be a list of observers"),
        ({"count": 10, "every": 3, "observers": [Observer()]}, "steps = 10 with a sample each 3: must be a multiple"),
    ],
)
def test_steps_and_observers_that_cannot_be_are_refused_before_any_launch(loop, options, words):
    for move in (loop.step, loop.advance):
        with pytest.raises(InputError, match=words):
            move(options["count"], **{name: value for name, value in options.items() if name != "count"})
    assert loop.steps == len(loop.counted) == 0


@pytest.mark.parametrize("progress", ["bar", 1, []])
def test_progress_is_a_function_of_the_steps_done(loop, progress):
    with pytest.raises(InputError, match="progress = .*: must be a function of the number of steps done, or None"):
        loop.step(1, progress=progress)
    heard = []
    loop.step(2500, progress=heard.append)
    assert sum(heard) == loop.steps == len(loop.counted) == 2500


class Cell:
    """A cell of JupyterLab, which can end."""

    kernel, ends = "a kernel", ()

    @property
    def events(self):
        """Who hears of the end."""
        return self

    def register(self, event, call):
        """`call` hears of the event."""
        assert event == "post_run_cell"
        self.ends = (*self.ends, call)

    def unregister(self, event, call):
        """`call` hears of it no more."""
        self.ends = tuple(each for each in self.ends if each != call)


def test_a_long_cell_of_jupyterlab_shows_its_steps_once_and_a_run_of_notebooks_does_not(loop, monkeypatch):
    cell, bars = Cell(), []

    class Bar(list):
        update = list.append

        def close(self):
            self.append("closed")

    monkeypatch.setattr(step_counter, "tqdm", lambda **_: bars.append(Bar()) or bars[-1])
    loop.step(1)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: cell))
    monkeypatch.setenv("REPRO_NOTEBOOK", "toy")
    loop.step(1)
    assert bars == []
    monkeypatch.delenv("REPRO_NOTEBOOK")
    loop.step(1500)
    loop.step(7)
    heard = []
    loop.step(5, progress=heard.append)
    (end,) = cell.ends
    end("done")
    assert (bars, heard, cell.ends) == ([[1000, 500, 7, "closed"]], [5], ())
    loop.step(2)
    assert len(bars) == 2
    cell.ends[0]("done")


@pytest.mark.parametrize("every", [1, 300, 999, 1000, 1001, 2500])
def test_a_look_comes_after_as_many_whole_samples_as_a_thousand_steps_hold(loop, every):
    sampled, looked, steps, observer = [], [], (1 + 3000 // every) * every, Observer()
    observer.launch, loop._look = (lambda: sampled.append(len(loop.counted))), (lambda: looked.append(loop.steps))
    loop.step(steps, every=every, observers=[observer])
    assert sampled == list(range(every, steps + 1, every))
    assert all(step % every == 0 for step in looked)
    between = np.diff([0, *looked])
    assert between.max() <= max(1000, every)
    assert (between[:-1] + every > 1000).all()
    assert looked[-1] == loop.steps == steps


class Recorder:
    """A device that records launches, which cannot compile then, and a run on it whose steps have two kernels."""

    def __init__(self):
        self.log, self.recorded, self._compiled, self._recording = [], [], set(), None
        launches = [lambda: self.launch("even"), lambda: self.launch("odd")]
        self.loop = TimeLoop(self, launches, start=lambda: self.launch("start"), look=lambda: self.log.append("look"))
        self.observer = Observer()
        self.observer.launch = lambda: self.launch("sample")
        self._compiled.add("sample")

    def launch(self, name):
        if self._recording is None:
            self._compiled.add(name)
            self.log.append(name)
        else:
            assert name in self._compiled
            self._recording.append(name)

    def capture(self, run):
        self._recording = []
        run()
        recorded, self._recording = self._recording, None
        self.recorded.append(recorded)
        return lambda: self.log.extend(recorded)

    def steps(self):
        """What was launched of steps, in its order."""
        return [name for name in self.log if name in ("even", "odd")]


def in_turn(first: int, count: int) -> list[str]:
    return [("even", "odd")[step % 2] for step in range(first, first + count)]


def test_even_and_odd_steps_take_turns_however_they_are_launched():
    device = Recorder()
    loop = device.loop
    assert not loop.has_stepped
    loop.advance(1, every=4)
    assert device.log == ["start", "even"]
    # the second kernel is not compiled yet, so that the first step is launched alone, and three are too few
    loop.advance(4, every=4)
    assert device.recorded == []
    assert loop.has_stepped
    # from an odd step on twice, and one that is left
    loop.advance(9, every=4)
    assert device.recorded == [in_turn(1, 4)]
    loop.advance(4, every=4)
    loop.advance(2, every=2)
    loop.advance(4, every=4)
    assert device.recorded[1:] == [in_turn(0, 4), in_turn(0, 2)]
    loop.advance(8, every=4, observers=[device.observer])
    loop.advance(4, every=4)
    assert device.recorded[3:] == [[*in_turn(0, 4), "sample"]]
    assert (device.steps(), loop.steps) == (in_turn(0, 36), 36)
    assert (device.log.count("start"), device.log.count("sample"), device.log.count("look")) == (1, 2, 0)


def test_samples_are_taken_in_steps_before_anything_is_recorded():
    device = Recorder()
    device.loop.advance(9, every=3, observers=(device.observer,))
    assert device.log == ["start", *in_turn(0, 3), "sample", *in_turn(3, 3), "sample", *in_turn(6, 3), "sample"]
    assert device.recorded == [[*in_turn(1, 3), "sample"], [*in_turn(0, 3), "sample"]]


def test_a_graph_has_a_hundred_steps_and_a_look_comes_after_a_thousand():
    device, heard = Recorder(), []
    device.loop.step(2502, progress=heard.append)
    assert heard == [1000, 1000, 502]
    assert device.recorded == [in_turn(0, 100)]
    assert [k - n - 1 for n, k in enumerate(k for k, name in enumerate(device.log) if name == "look")] == [
        1000,
        2000,
        2502,
    ]
    device.loop.check_steps, heard = 250, []
    device.loop.step(600, progress=heard.append)
    assert heard == [200, 200, 200]


def test_a_run_that_is_taken_up_goes_on_with_its_step_and_does_not_start_again():
    device = Recorder()
    for steps in (-1, 1.0, True, 2**48 + 1):
        with pytest.raises(InputError, match=rf"steps = {steps}: must be a whole number from 0 to {2**48}$"):
            device.loop.resume(steps)
    device.loop._require_untouched("velocities")
    device.loop.resume(np.int64(5))
    with pytest.raises(InputError, match="set velocities before the first step and the first look; this is step 5"):
        device.loop._require_untouched("velocities")
    assert (device.loop.steps, type(device.loop.steps), device.loop.has_stepped) == (5, int, False)
    device.loop.step(2)
    assert device.log == [*in_turn(5, 2), "look"]
    assert device.loop.has_stepped
    device.loop.resume(2**48)
    # a look is a start too
    other = Recorder()
    other.loop.start()
    other.loop.start()
    assert other.log == ["start"]
    with pytest.raises(InputError, match="this is step 0"):
        other.loop._require_untouched("velocities")


def test_the_text_of_a_step_is_that_of_its_parts_or_of_those_that_are_named():
    device = Recorder()
    device.source = lambda *launches: launches
    assert device.loop.source() == device.loop._launches
    device.loop.parts = {"drift": 1, "forces": 2, "kick": 3}
    assert device.loop.source() == (1, 2, 3)
    assert device.loop.source("kick", "drift") == (3, 1)
    with pytest.raises(InputError, match="part = 'kicks': must be one of drift, forces, kick"):
        device.loop.source("drift", "kicks")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_anywhere_is_found_and_large_ones_are_none(wrong):
    values = np.full((3, 40), 3e38, np.float32)
    require_finite(values, 7, "made up")
    values[2, 39] = wrong
    with pytest.raises(DivergenceError, match="the flow diverged by step 7: made up"):
        require_finite(values, 7, "made up")


def test_what_does_not_fit_is_refused_with_what_a_user_can_do():
    device = SimpleNamespace(name="tiny", free_memory=lambda: 1000)
    with pytest.raises(MemoryLimitError, match="needs 2 KiB, but tiny has 1000 B free: use fewer particles"):
        require_memory(device, 2048, "9 particles", "use fewer particles")
    require_memory(device, 1000, "a grid")
    with pytest.raises(MemoryLimitError, match="a grid needs 1001 B, but tiny has 1000 B free: use a smaller grid"):
        require_memory(device, 1001, "a grid")
