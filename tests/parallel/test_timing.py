"""What a timer says follows from what the clock said: on a made-up device whose work takes a known time."""

from functools import partial
from itertools import cycle

import pytest
from helpers.virtual import Virtual

from repro.errors import InputError
from repro.parallel import timing
from repro.parallel.timing import Timing, measure, part_seconds, time_launches, wall_clock


@pytest.fixture
def virtual(monkeypatch) -> Virtual:
    device = Virtual()
    monkeypatch.setattr(timing.time, "perf_counter", lambda: device.now)
    return device


def series(device: Virtual, seconds) -> object:
    """A run that takes another time each time it is called."""
    times = iter(seconds)
    return lambda: device.work(next(times))


def test_the_median_of_the_repetitions_counts_and_the_warm_up_does_not(virtual):
    found = measure(series(virtual, [100.0, 5.0, 1.0, 2.0, 4.0, 3.0]), virtual)
    assert found == Timing(seconds=3.0, best=1.0, spread=pytest.approx(4 / 3), repeats=5)


def test_work_that_was_begun_before_is_not_timed(virtual):
    virtual.work(1000.0)
    assert measure(series(virtual, [1.0, 1.0]), virtual, repeats=1).seconds == 1.0


@pytest.mark.parametrize("clock", [measure, wall_clock])
def test_a_timer_waits_until_the_work_is_done(virtual, clock):
    # the first run is the warm-up
    found = clock(series(virtual, [1.0, 2.0, 4.0, 3.0]), virtual, repeats=3)
    assert found == Timing(seconds=3.0, best=2.0, spread=pytest.approx(2 / 3), repeats=3)


@pytest.mark.parametrize("seconds", [1e-4, 0.01, 1.0])
def test_the_time_of_a_sequence_does_not_depend_on_how_often_it_is_repeated(virtual, seconds):
    launches = [lambda: virtual.work(1e-3), lambda: virtual.work(2e-3)]
    assert time_launches(launches, virtual, seconds).seconds == pytest.approx(3e-3)


def test_a_repetition_is_about_as_long_as_asked_for(virtual, monkeypatch):
    spans = []
    clock = virtual.clock
    monkeypatch.setattr(virtual, "clock", lambda run: spans.append(clock(run)) or spans[-1])
    time_launches([lambda: virtual.work(1e-3)], virtual, 0.05)
    assert spans[-5:] == pytest.approx([0.05] * 5)


@pytest.mark.parametrize(("each", "repeats"), [(1e-5, 1000), (2e-3, 500), (0.4, 2), (3.0, 1)])
def test_a_sequence_is_repeated_once_at_least_and_a_thousand_times_at_most(virtual, monkeypatch, each, repeats):
    spans, clock = [], virtual.clock
    monkeypatch.setattr(virtual, "clock", lambda run: spans.append(clock(run)) or spans[-1])
    found = time_launches([lambda: virtual.work(each)], virtual, 1.0)
    assert spans == pytest.approx([each, *[repeats * each] * 5])
    assert (found.seconds, found.best, found.repeats) == (pytest.approx(each), pytest.approx(each), 5)


def test_the_least_of_disturbed_repetitions_counts_for_a_part_and_none_takes_less_than_no_time(virtual, monkeypatch):
    """A part takes longer where the last one before it was the same; one of six clocks tells how often to repeat."""
    last, clock, more = [""], virtual.clock, cycle((0.0, 1.0, 1.0, 1.0, 0.0, 0.0))
    monkeypatch.setattr(virtual, "clock", lambda run: clock(run) + next(more))

    def launch(name, seconds, after):
        virtual.work(seconds if last[0] != after else seconds / 4)
        last[0] = name

    parts = {
        "a": partial(launch, "a", 4e-3, "b"),
        "b": partial(launch, "b", 1e-3, ""),
        "c": partial(launch, "c", 5e-3, ""),
    }
    # together 4, then 1 + 1 as the first follows the second, then 4 + 1 + 5
    assert part_seconds(parts, virtual, 0.1) == pytest.approx({"a": 4e-3, "b": 0, "c": 8e-3}, abs=1e-4)


def test_a_wall_clock_warms_up_and_repeats_as_it_is_told(virtual):
    assert wall_clock(series(virtual, [9.0, 8.0, 2.0, 4.0, 3.0]), virtual, repeats=3, warm_up=2).seconds == 3.0
    assert wall_clock(series(virtual, [9.0, *range(1, 6)]), virtual).repeats == 5


def test_devices_that_are_told_apart_have_bandwidths_of_their_own(virtual, monkeypatch):
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, "cuda", 4000)

    class Slow(Virtual):
        def upload(self, target, source):
            self.work(source.nbytes * 1e-8)

    assert [timing.copy_bandwidth(device) for device in (virtual, Slow())] == pytest.approx([2e9, 2e8])


def test_no_time_at_all_is_refused(virtual):
    for seconds in (0, -1, float("nan")):
        with pytest.raises(InputError, match="must be a number above 0"):
            time_launches([lambda: None], virtual, seconds)


def test_a_part_takes_what_the_sequence_takes_longer_with_it(virtual):
    parts = {"lists": lambda: virtual.work(1e-3), "forces": lambda: virtual.work(4e-3)}
    assert part_seconds(parts, virtual, 0.05) == pytest.approx({"lists": 1e-3, "forces": 4e-3})


def test_a_copy_reads_and_writes_each_byte(virtual, monkeypatch):
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, "cuda", 4000)
    assert timing.copy_bandwidth(virtual) == pytest.approx(2e9)
    # it is measured once in a process
    monkeypatch.setattr(virtual, "upload", None)
    assert timing.copy_bandwidth(virtual) == pytest.approx(2e9)


def test_on_a_cpu_every_byte_is_copied_by_the_cores_of_the_device(monkeypatch, device):
    if device.name == "cuda":
        pytest.skip("for the CPU")
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, device.name, 1 << 22)
    assert timing.copy_bandwidth(device) > 1e8


class Cores(Virtual):
    """Two cores on which a repetition takes a millisecond, whatever is done."""

    name, workers = "threads", 2

    def clock(self, run) -> float:
        run()
        return 1e-3


def test_a_copy_on_a_cpu_reads_and_writes_each_byte(monkeypatch):
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, "threads", 4000)
    assert timing.copy_bandwidth(Cores()) == pytest.approx(8e6)


@pytest.mark.parametrize("make", [Virtual, Cores])
def test_the_best_of_five_copies_counts(monkeypatch, make):
    device, more = make(), cycle((0.0, 1.0, 1.0, 1.0, 1.0))
    clock = device.clock
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, device.name, 4000)
    expected = timing.copy_bandwidth(device)
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setattr(device, "clock", lambda run: clock(run) + next(more), raising=False)
    assert timing.copy_bandwidth(device) == pytest.approx(expected)


def test_each_core_copies_its_share(monkeypatch):
    shares, copy = [], timing.np.copyto
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, "threads", 4000)
    monkeypatch.setattr(timing.np, "copyto", lambda target, source: shares.append(len(target)) or copy(target, source))
    timing.copy_bandwidth(Cores())
    # a warm-up and five repetitions of a thousand numbers
    assert shares == [500] * 12


def test_a_copy_that_did_not_take_place_has_no_bandwidth(monkeypatch):
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, "threads", 4000)
    monkeypatch.setattr(timing.np, "copyto", lambda target, source: None)
    with pytest.raises(AssertionError, match="did not take place"):
        timing.copy_bandwidth(Cores())


def test_arrays_are_written_before_they_are_copied(virtual, monkeypatch):
    seen = []
    monkeypatch.setattr(timing, "_measured", {})
    monkeypatch.setitem(timing._BYTES, "cuda", 4000)
    virtual.xp.copyto = lambda target, source: seen.append(source.all() and target.all()) or virtual.work(1.0)
    timing.copy_bandwidth(virtual)
    # pages that were never written are all the same one
    assert all(seen)
