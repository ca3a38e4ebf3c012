"""Random numbers: published test vectors, the laws of the noise, and the register of streams."""

import numpy as np
import pytest
from helpers import forces_by_hand as by_hand
from numpy import uint32
from scipy import stats

from repro.dpd.noise import LCG_FACTOR, LCG_INCREMENT, PAPER_ROUNDS, lcg, make_noise
from repro.parallel import Kernel, device_function
from repro.parallel.elementary import half_turn_sine, logarithm
from repro.particles.random import ROUNDS, Stream, normal, tea, tea_round, uniform


def words_by_rounds(a, b, key, rounds):
    a, b, total = uint32(a), uint32(b), uint32(0)
    key = [uint32(k) for k in key]
    with np.errstate(over="ignore"):
        for _ in range(rounds):
            total = uint32(total + uint32(by_hand.DELTA))
            a, b = tea_round(a, b, total, *key)
    return int(a), int(b)


@pytest.mark.parametrize(
    ("plain", "key", "secret"),
    [
        # widely published vectors of the algorithm with 32 rounds
        ((0, 0), (0, 0, 0, 0), (0x41EA3A0A, 0x94BAA940)),
        ((0x01234567, 0x89ABCDEF), (0x00112233, 0x44556677, 0x8899AABB, 0xCCDDEEFF), (0x126C6B92, 0xC0653A3E)),
    ],
)
def test_thirty_two_rounds_of_tea_give_the_published_words(plain, key, secret):
    assert by_hand.tea(*plain, key, 32) == secret
    assert words_by_rounds(*plain, key, 32) == secret


def test_the_linear_generator_follows_its_recurrence_modulo_two_to_the_32():
    word, expected = uint32(12345), 12345
    with np.errstate(over="ignore"):
        for _ in range(1000):
            word, expected = lcg(word), (expected * int(LCG_FACTOR) + int(LCG_INCREMENT)) % 2**32
            assert int(word) == expected


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_uniform_numbers_are_never_zero_and_at_most_one(real):
    unit = uniform(real)
    assert unit(uint32(0)) > 0
    assert unit(uint32(2**32 - 1)) <= 1
    assert np.isfinite(normal(real)(uint32(0), uint32(7))).all()
    assert np.isfinite(normal(real)(uint32(2**32 - 1), uint32(7))).all()


def all_pairs(device, count, seed, step, rounds=8):
    """The deviates of all pairs (i, j) as a matrix, computed on the device."""
    noise = make_noise(np.float64, rounds)

    @device_function
    def fill(x, n, values, count, seed, step):
        for k in range(x, x + n):
            values[k] = noise(k // count, k % count, (seed, step), (0, 0))[0]

    values = device.zeros(count * count, np.float64)
    device.compile(Kernel(fill))((count * count,), values, count, seed, step)()
    return device.to_host(values).reshape(count, count)


def test_pair_noise_is_the_reference_and_symmetric_on_every_device(device):
    found = all_pairs(device, 6, seed=11, step=3)
    expected = [[by_hand.deviate(i, j, 11, 3, 8) for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


def test_the_papers_noise_takes_each_uniform_number_from_a_run_of_its_own_on_every_device(device):
    found = all_pairs(device, 6, seed=11, step=3, rounds=PAPER_ROUNDS)
    expected = [[by_hand.paper_deviate(i, j, 11, 3) for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


def test_the_two_runs_of_the_papers_noise_are_independent():
    words, pairs = tea(32), [(i, j) for i in range(60) for j in range(i + 1, 60)]
    with np.errstate(over="ignore"):
        one, two = (
            np.array([words(i, j, s.value, 5, 7)[0] for i, j in pairs]) for s in (Stream.PAIR, Stream.PAIR_AGAIN)
        )
    # a chi-square test of a table of both numbers in eighths of their range
    counts = np.histogram2d(one / 2**32, two / 2**32, bins=8, range=[[0, 1]] * 2)[0]
    assert stats.chi2_contingency(counts).pvalue > 1e-3
    assert abs(np.corrcoef(one, two)[0, 1]) < 4 / np.sqrt(len(pairs))


@pytest.mark.parametrize("rounds", [8, 32, PAPER_ROUNDS])
def test_pair_noise_is_normal_and_uncorrelated_between_neighbouring_pairs_and_steps(threads, rounds):
    first, later = (all_pairs(threads, 600, seed=5, step=step, rounds=rounds) for step in (7, 8))
    above = np.triu_indices(600, 2)
    sample, beside, after = first[above], first[above[0], above[1] - 1], later[above]
    assert stats.kstest(sample, "norm").pvalue > 1e-3
    # the correlation of independent numbers scatters by 1 / sqrt(samples)
    limit = 4 / np.sqrt(len(sample))
    for other in (beside, after, first[above[0] + 1, above[1]]):
        assert abs(np.corrcoef(sample, other)[0, 1]) < limit


def test_streams_seeds_and_steps_share_no_numbers():
    words = tea(8)
    # a second name of the same stream is no member of its own
    assert list(Stream.__members__.values()) == list(Stream)
    # with other numbers no run is what it was
    numbers = {"PAIR": 1, "WALL": 2, "WALL_NORMAL": 3, "PAIR_AGAIN": 4, "COLLISION": 101, "SOURCE": 111}
    assert {stream.name: stream.value for stream in Stream} == numbers
    assert ROUNDS == 8
    with np.errstate(over="ignore"):
        found = {words(1, 2, stream.value, seed, step) for stream in Stream for seed in (1, 2, 3) for step in (0, 1, 2)}
    assert len(found) == len(Stream) * 9


@pytest.mark.parametrize(("real", "limit"), [(np.float32, 3e-7), (np.float64, 5e-16)])
def test_the_series_of_the_sine_is_the_sine(real, limit):
    f = np.linspace(-0.5, 0.5, 1001)
    found = np.array([half_turn_sine(real)(real(value)) for value in f])
    assert np.abs(found - np.sin(np.pi * f)).max() < limit


@pytest.mark.parametrize(("real", "limit"), [(np.float32, 2e-7), (np.float64, 4e-16)])
def test_the_series_of_the_logarithm_is_the_logarithm(real, limit):
    u = np.concatenate([np.geomspace(2.0**-33, 1, 3000), np.linspace(0.5, 1, 1001)]).astype(real)
    found = np.array([logarithm(real)(value) for value in u], float)
    expected = np.log(u.astype(np.longdouble))
    assert found[-1] == 0
    assert (np.abs(found - expected) <= limit * np.abs(expected)).all()


def test_deviates_are_box_and_mullers():
    first, second = uint32(123456789), uint32(3141592653)
    u1, u2 = ((int(word) + 0.5) / 2**32 for word in (first, second))
    radius = np.sqrt(-2 * np.log(u1))
    expected = radius * np.cos(2 * np.pi * u2), radius * np.sin(2 * np.pi * u2)
    np.testing.assert_allclose(normal(np.float64)(first, second), expected, rtol=1e-13)
