"""Random numbers: correlations, the cycle of the linear congruential generator, and density waves."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.judging import by_statement

from repro.dpd.exact import sound_speed
from repro.dpd.fluid import Fluid
from repro.dpd.noise import combined, lcg, thread_words
from repro.errors import InputError
from repro.papers.dpd.random_numbers import cycle
from repro.papers.dpd.random_numbers import density_waves as dw
from repro.papers.dpd.random_numbers import quality as rq
from repro.parallel import select
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge


def _stepped(count: int) -> np.ndarray:
    """The first words of the generator from 0 on, one step after the other."""
    word, words = np.array([0], np.uint32), []
    for _ in range(count):
        words.append(word)
        word = lcg(word)
    return np.concatenate(words)


def test_position_is_the_number_of_steps_from_zero():
    assert (cycle.position(_stepped(300)) == np.arange(300)).all()


def test_the_next_word_lies_one_step_further_and_after_the_period_comes_the_first():
    words = np.random.default_rng(1).integers(0, 2**32, 50, dtype=np.uint32)
    last = (0 - 1234567) * pow(69069, -1, 2**32) % 2**32
    words = np.append(words, np.uint32(last))
    # modulo 2^32, as the steps are
    assert (cycle.position(lcg(words)) - cycle.position(words) == 1).all()
    assert cycle.position(last) == cycle.PERIOD - 1


@pytest.mark.parametrize(("length", "expected"), [(5, 0), (6, 2), (8, 4)])
def test_stretches_overlap_when_they_are_longer_than_the_gap(length, expected):
    assert cycle.overlapping(_stepped(108)[[107, 0, 5, 100]], length) == expected


def test_a_stretch_alone_overlaps_with_none():
    assert cycle.overlapping(_stepped(1), 1000) == 0


def test_stretches_overlap_through_the_end_of_the_cycle():
    words = _stepped(1001)[[0, 1, 1000]]
    # the second but last of the cycle
    for _ in range(2):
        words[0] = (int(words[0]) - 1234567) * pow(69069, -1, 2**32) % 2**32
    assert cycle.overlapping(words, 4) == 2


def test_a_thread_takes_up_the_stretch_that_the_next_thread_had_a_step_before():
    threads = np.arange(100)
    assert (thread_words(threads, (3, 8))[1] == thread_words(threads + 1, (3, 7))[1]).all()


def test_distinct_starts_grow_with_threads_plus_steps():
    row = cycle.overlap_table([10], [7], 9).iloc[0]
    starts = {int(word) for step in range(7) for word in thread_words(np.arange(10), (1, step))[1]}
    assert row["anew, second"] == len(starts) == 16
    assert row["stretches"] == 70
    assert row["anew, first"] == 10
    # each of 16 at random has another within nine numbers before or behind it
    near = 2 * 9 * 16 / 2**32
    assert row["at random"] == pytest.approx(16 * near, rel=1e-6)
    assert row["overlap, second"] == cycle.overlapping(np.array(sorted(starts), np.uint32), 9)


def test_numbers_of_neighbouring_cells_turn_by_the_predicted_angle():
    shape, number = (6, 5, 4), 3
    wave = cycle.driven_waves(shape, 0.02, number).set_index("number").loc[number]
    _, words = thread_words(np.array([0, 1, 6, 30]), (1, 5))
    for _ in range(number):
        words = lcg(words)
    turns = (words[1:].astype(float) - float(words[0])) / 2**32
    expected = np.array([wave["x"] / 6, wave["y"] / 5, wave["z"] / 4])
    assert np.allclose((turns - expected + 0.5) % 1, 0.5, atol=1e-9)


def test_a_driven_wave_is_named_whichever_way_it_runs():
    # the fifth number comes after six steps: 4238970681 of 2^32 is 0.0130 turns back
    predicted = cycle.driven_waves((8, 8, 8), 0.02, 5)
    assert pow(69069, 6, 2**32) == 4238970681
    assert cycle.driver(predicted, (0, 1, -1)) == cycle.driver(predicted, (0, -1, 1)) == "number 5, 0.0130 turns a step"
    assert cycle.driver(predicted, (1, 0, 0)) == "none"
    turned = predicted.set_index("number").loc[5]
    # turns a unit of time over those of a cell
    speed = 0.0130 / 0.02 / np.linalg.norm(turned[["x", "y", "z"]] / 8)
    assert (turned["per step"], turned["speed"]) == pytest.approx((-0.0130, speed), rel=5e-3)


def test_both_particles_of_a_pair_find_the_same_number(device):
    ids = np.arange(4)
    forward = rq.pair_numbers(device, 8, ids, ids + 10, 3)
    assert (forward == rq.pair_numbers(device, 8, ids + 10, ids, 3)).all()
    assert len(np.unique(forward)) == 4


@pytest.fixture(scope="module")
def table(threads):
    """Rounds 4 and 32 of TEA."""
    return rq.tea_table(threads, [4, 32], 400_000)


def test_tea_of_32_rounds_is_normal_and_without_correlation(table):
    row = table.set_index("rounds").loc[32]
    assert abs(row["mean"]) < 5 / np.sqrt(row["pairs"])
    assert abs(row["variance"] - 1) < 5 * np.sqrt(2 / row["pairs"])
    assert row["unequal"] == 0
    assert 399_000 < row["pairs"] <= 400_000
    assert row["band"] == pytest.approx(2 / np.sqrt(row["pairs"]))
    # five standard errors: the band is two
    assert abs(rq.worst_correlation(table, 32)) < 2.5 * row["band"]


def test_neighbours_are_the_next_of_either_and_the_next_step(monkeypatch):
    asked = []
    monkeypatch.setattr(
        rq, "pair_numbers", lambda device, rounds, i, j, t: asked.append((i, j, t)) or (i + 2.0 * j) * t
    )
    rq.tea_table(None, [4], 4000)
    own, turned, *others = asked
    assert [part is other for part, other in zip(own, (turned[1], turned[0], turned[2]), strict=True)] == [True] * 3
    moved = [[int((b - a).flat[0]) for a, b in zip(own, other, strict=True)] for other in others]
    assert moved == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_the_correlation_that_is_judged_is_the_largest_and_can_refute_the_claim():
    row = {"rounds": 32, "band": 0.001, "(i, j+1)": 0.002, "(i+1, j)": -0.03, "next step": 0.004}
    worst = rq.worst_correlation(pd.DataFrame([row]), 32)
    assert worst == -0.03
    assert judge(claims.load("dpd")["dpd-061"], Evidence(worst)).verdict is Verdict.NOT_REPRODUCED
    assert np.isnan(rq.worst_correlation(pd.DataFrame([row | {"next step": np.nan}]), 32))


def test_a_correlation_is_more_than_chance_beyond_twice_its_band():
    """The band is twice the standard error, and of three correlations the worst counts: so twice the band is chance."""
    near = {"rounds": 4, "band": 0.01, "(i, j+1)": 0.002, "next step": 0.004}
    for worst, beyond in ((-0.015, False), (0.019, False), (-0.021, True), (0.021, True)):
        table = pd.DataFrame([near | {"(i+1, j)": worst}])
        for more in (True, False):
            found = {"worst": worst, "band": 0.01, "holds": beyond == more}
            assert rq.against_chance(table, 4, more) == found


def test_tea_of_four_rounds_leaves_the_published_correlation_of_neighbours(table):
    row = table.set_index("rounds").loc[4]
    assert np.mean([row["(i, j+1)"], row["(i+1, j)"]]) == pytest.approx(0.08, abs=0.02)


def test_a_threads_number_comes_back_when_its_angle_has_turned_round(threads):
    turn = cycle.driven_waves((3, 3, 3), 0.02, 1)["per step"][0]
    found = rq.memory_in_time(threads, 20_000, 10, rounds=8)
    # nine steps are almost a whole turn
    assert abs(9 * turn - 1) < 0.01
    assert found["method one, correlation"][9] > 0.99
    assert abs(found["method two, correlation"][9]) < 5 / np.sqrt(20_000)


def test_the_memory_of_a_number_is_its_correlation_with_the_first_step_beside_the_mean_of_each(monkeypatch):
    asked, first = [], np.array([1.0, 2.0, 4.0, 9.0])
    one = np.array([first, -3 * first, first[[1, 0, 3, 2]]])

    def filled(device, noise, *columns):
        asked.append((device, [np.asarray(column).tolist() for column in columns]))
        return one

    def pairs(device, rounds, *columns):
        asked.append((device, rounds, [np.asarray(column).tolist() for column in columns]))
        return 10 + one[[0, 2, 1]]

    monkeypatch.setattr(rq, "_filled", filled)
    monkeypatch.setattr(rq, "pair_numbers", pairs)
    table = rq.memory_in_time("here", 4, 3, rounds=8)
    times = [[1], [2], [3]]
    assert asked == [("here", [[0, 1, 2, 3], 0, times]), ("here", 8, [[0, 1, 2, 3], [4, 5, 6, 7], times])]
    other = np.corrcoef(first, first[[1, 0, 3, 2]])[0, 1]
    assert table["lag"].tolist() == [0, 1, 2]
    assert table["method one, correlation"].tolist() == pytest.approx([1, -1, other])
    assert table["method two, correlation"].tolist() == pytest.approx([1, other, -1])
    assert table["method one, mean"].tolist() == [4, -12, 4]
    assert table["method two, mean"].tolist() == [14, 14, -2]


def test_too_short_a_run_is_refused(threads):
    with pytest.raises(InputError, match="at least two samples"):
        dw.sample((3, 3, 3), threads, dw.TEA, seed=1, steps=5, every=5, settle=0)


def _synthetic(seed: int, strength: float) -> dw.Sampled:
    """White noise of the density and a wave (0, 1, -1) that turns 0.02 times a step."""
    generator, shape, samples, every = np.random.default_rng(seed), (4, 4, 4), 100, 10
    steps, (_, y, z) = every * np.arange(samples), np.indices(shape)
    phase = 0.4 + (y - z) / 4 + 0.02 * steps[:, None, None, None]
    counts = 4 + generator.normal(0, 1, (samples, *shape)) + strength * np.cos(2 * np.pi * phase)
    return dw.Sampled(
        256, every, counts.mean(0), np.ones(shape), np.fft.fftn(counts, axes=(1, 2, 3)), np.ones(samples), 0.0
    )


def test_particles_anywhere_have_a_structure_factor_of_one():
    generator, shape, samples = np.random.default_rng(8), (3, 4, 5), 400
    counts = generator.multinomial(250, np.full(60, 1 / 60), samples).reshape(samples, *shape)
    run = dw.Sampled(
        250, 10, counts.mean(0), np.ones(shape), np.fft.fftn(counts, axes=(1, 2, 3)), np.ones(samples), 0.0
    )
    # the power of a wave has an exponential distribution, or the square of a normal one where the wave is real
    assert np.isnan(run.structure[0, 0, 0])
    assert np.nanmax(np.abs(run.structure - 1)) < 4.5 * np.sqrt(2 / samples)


def test_a_wave_in_the_density_is_found_with_its_frequency():
    runs = {dw.TEA: [_synthetic(k, 0.0) for k in range(3)], dw.BY_CELL: [_synthetic(k, 1.0) for k in range(3, 6)]}
    wave = dw.strongest(runs, dw.BY_CELL)
    assert wave in [(0, 1, -1), (0, -1, 1)]
    assert dw.frequency(runs[dw.BY_CELL][0], wave) == pytest.approx(0.02 * wave[1], abs=1e-9)
    assert _regular(dw.regularity(runs, dw.BY_CELL)) is Verdict.REPRODUCED


def test_ways_stand_side_by_side_with_what_their_runs_have_in_common():
    """Three runs a way; by hand, but for the wave, which is that of the test above."""
    pattern = np.random.default_rng(4).normal(1, 0.1, (4, 4, 4))
    runs = {dw.TEA: [_synthetic(k, 0.0) for k in range(3)], dw.BY_CELL: [_synthetic(k, 1.0) for k in range(3, 6)]}
    for k, run in enumerate(runs[dw.BY_CELL]):
        cells = {"counts": (1, -1, 1)[k] * pattern, "cell_temperature": (1 + 0.1 * k) * pattern}
        more = {"temperature": np.array([0.8, 1.0]) + 0.1 * k, "drift": 0.5 - 0.1 * k}
        runs[dw.BY_CELL][k] = dataclasses.replace(run, **cells, **more)
    row = dw.comparison(runs).set_index("way").loc[dw.BY_CELL]
    assert (row["runs"], row["drift"], row["band"]) == (3, 0.5, 2 / 8)
    assert (row["kT"], row["kT error"]) == (pytest.approx(1.0), pytest.approx(0.1 / np.sqrt(3)))
    assert row["kT in cells, scatter"] == pytest.approx(1.1 * pattern.std())
    assert (row["kT pattern"], row["density pattern"]) == (pytest.approx(1), pytest.approx(-1))
    wave = dw.strongest(runs, dw.BY_CELL)
    assert (row["strongest wave"], row["turns a step"]) == (str(wave), pytest.approx(0.02 * wave[1]))
    assert row["its excess"] == np.nanmax(dw.excess(runs, dw.BY_CELL)) > 1
    box, fluid = (4.0,) * 3, Fluid()
    told = dw.turns_table(runs, wave, cycle.driven_waves((4, 4, 4), fluid.dt, 5), box, fluid).iloc[0]
    assert (told["wave"], told["measured"]) == (str(wave), "0.0200")
    assert told["free sound"] == f"{dw.free_turns(wave, box, fluid):.4f}"


def test_the_height_of_a_wave_is_its_amplitude_over_the_mean_density():
    shape, steps = (4, 5, 6), 10 * np.arange(20)
    _, y, z = np.indices(shape)
    turns = y / 5 - z / 6 + 0.02 * steps[:, None, None, None]
    counts = 7 + 0.3 * np.cos(2 * np.pi * turns)
    run = dw.Sampled(7 * 120, 10, counts.mean(0), np.ones(shape), np.fft.fftn(counts, axes=(1, 2, 3)), np.ones(20), 0.0)
    assert dw.height(run, (0, 1, -1)) == pytest.approx(0.3 / 7 * np.cos(2 * np.pi * 0.02 * steps), abs=1e-12)


def test_noise_alone_is_not_a_regular_fluctuation():
    runs = {dw.TEA: [_synthetic(k, 0.0) for k in range(3)], dw.BY_CELL: [_synthetic(k, 0.0) for k in range(3, 6)]}
    assert _regular(dw.regularity(runs, dw.BY_CELL)) is Verdict.NOT_REPRODUCED


def _regular(value: dict) -> Verdict:
    return by_statement(claims.load("dpd")["dpd-060"], Evidence(**value))


def _with_power(power: float) -> dw.Sampled:
    """A run with a single wave, whose power over the number of particles is given."""
    waves = np.array([0.0, np.sqrt(9 * power)]).reshape(1, 2, 1, 1)
    return dw.Sampled(9, 10, np.ones((2, 1, 1)), np.ones((2, 1, 1)), waves, np.ones(1), 0.0)


def test_the_excess_of_a_run_is_over_the_largest_that_tea_shows_by_chance():
    runs = {dw.TEA: [_with_power(p) for p in (1, 2, 3)], dw.BY_CELL: [_with_power(p) for p in (8, 16, 12)]}
    runs[dw.BY_PARTICLE] = [_with_power(4), _with_power(5), _with_power(6)]
    # TEA has 2 on average, and its third run twice the mean of the others
    assert dw.regularity(runs, dw.BY_CELL) == {"measured": pytest.approx(3), "scatter": pytest.approx(2)}
    # runs of which one has no more than the bound do not decide
    assert _regular(dw.regularity(runs, dw.BY_CELL)) is Verdict.TIE
    assert dw.regularity(runs, dw.BY_PARTICLE) == {"measured": pytest.approx(1.25), "scatter": pytest.approx(0.5)}


def test_linear_generators_keep_particles_and_momentum():
    run = dw.sample((3, 3, 3), select("serial"), dw.BY_PARTICLE, seed=1, steps=20, every=10, settle=10)
    assert run.counts.sum() == pytest.approx(108)
    assert run.drift < 1e-6


def test_free_sound_advances_by_its_speed_over_its_length():
    fluid = Fluid()
    # a wave along the diagonal of a square of 8 is 8/sqrt(2) long
    expected = sound_speed(fluid) * fluid.dt * 2**0.5 / 8
    assert dw.free_turns((0, 1, -1), (8.0, 8.0, 8.0), fluid) == pytest.approx(expected)


def test_two_generators_with_one_set_of_constants_have_half_the_period_of_one():
    # the generator of equation 6 has full period
    assert cycle.period(1234567, 5) == 2**32
    assert cycle.combined_period() == 0.5
    # and equation 8 adds the words that the generators give
    first, second = lcg(np.uint32(7)), lcg(np.uint32(90))
    assert combined(first, second) == (int(first) + int(second)) % 2**32
    assert combined(lcg(first), lcg(second)) == (69069 * int(combined(first, second)) + 2 * 1234567) % 2**32


def test_each_way_to_seed_gives_every_thread_and_step_words_of_their_own():
    threads, found = np.arange(50), {}
    for name, begin in dw.SEEDINGS.items():
        words = [np.concatenate([np.ravel(w) + 0 * threads for w in begin(threads, (1, step))]) for step in (1, 2)]
        assert (words[0] != words[1]).any()
        found[name] = words[0]
    assert len({tuple(words) for words in found.values()}) == len(dw.SEEDINGS)


def test_the_ways_to_seed_are_run_with_one_thread_per_cell(threads):
    lengths = {"steps": 20, "every": 10, "settle": 10}
    runs = dw.sample_ways((3.0, 3.0, 4.0), threads, {dw.TEA: 3}, **lengths)
    table = dw.seedings(runs, (3.0, 3.0, 4.0), threads, **lengths)
    assert list(table["seeding"]) == list(dw.SEEDINGS)
    assert table["kT"].between(0.5, 2).all()
    # each by its own words
    assert table["kT"].nunique() == table["over chance"].nunique() == len(dw.SEEDINGS)


def test_a_way_to_seed_has_the_mean_temperature_of_its_run(monkeypatch):
    run = dataclasses.replace(_synthetic(3, 1.0), temperature=np.array([0.8, 1.0, 1.5]))
    monkeypatch.setattr(dw, "sample", lambda *_, **__: run)
    table = dw.seedings({dw.TEA: [_synthetic(k, 0.0) for k in range(3)]}, None, None)
    assert table["kT"].tolist() == pytest.approx([1.1] * len(dw.SEEDINGS))


@pytest.mark.parametrize(("threads", "steps"), [(0, 7), (10, 0)])
def test_no_thread_and_no_step_have_no_sub_sequences(threads, steps):
    with pytest.raises(InputError, match=f"{threads} threads and {steps} steps: at least one of each"):
        cycle.overlap_table([threads], [steps], 9)
