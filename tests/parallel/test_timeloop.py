"""A time loop takes whole numbers of steps, observers that can sample, and functions, and refuses all else."""

from types import SimpleNamespace

import numpy as np
import pytest

from repro.errors import InputError, MemoryLimitError
from repro.parallel import TimeLoop, require_memory


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


def test_what_does_not_fit_is_refused_with_what_a_user_can_do():
    device = SimpleNamespace(name="tiny", free_memory=lambda: 1000)
    with pytest.raises(MemoryLimitError, match="needs 2 KiB, but tiny has 1000 B free: use fewer particles"):
        require_memory(device, 2048, "9 particles", "use fewer particles")
