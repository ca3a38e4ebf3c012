"""The noise of a pair: keyed by the two ids, from linear generators of a thread, or from one running sequence.

Method two (section 4.3) names a number by (seed, step, lower id, higher id): both particles of a pair find the same
one, in any order, on any device, and nothing is stored between steps. The paper runs TEA twice for it, once for each
of two uniform numbers; here one run of fewer rounds gives both. Method one (equations 6 and 7) keeps a state of
two words in each thread, begun anew in every step. The paper's serial program has one sequence for all particles, from
which the pairs take their numbers in the order in which the core meets them. A `key` is (seed, step).
"""

from collections.abc import Callable
from functools import cache

from numpy import uint32

from repro.parallel import device_function
from repro.particles.random import ROUNDS, Stream, normal, tea

#: rounds of one run of TEA in the paper, and those of its noise of a pair, two runs with other keys (section 4.3)
RUN_ROUNDS = 32
PAPER_ROUNDS = 2 * RUN_ROUNDS

#: the paper's linear generator (its reference 25): modulus 2^32, factor and increment. They are stated for method one,
#: and none for the serial program
LCG_FACTOR, LCG_INCREMENT = uint32(69069), uint32(1234567)


@device_function
def lcg(word):
    """The next word of the linear congruential generator (equation 6)."""
    return uint32(uint32(word * LCG_FACTOR) + LCG_INCREMENT)


@device_function
def combined(first, second):
    """The word of two generators together (equation 8): v = (u1 + u2) mod 1."""
    return uint32(first + second)


@cache
def make_pair_noise(real, rounds: int = ROUNDS):
    """Method two, a Gaussian deviate, the same for both orders of a pair: noise(id, id, key, thread's words).

    It leaves the thread's two words alone and returns them after the deviate.
    """
    words_of, deviates = tea(rounds), normal(real)

    @device_function
    def noise(first, second, key, words):
        a, b = words_of(min(first, second), max(first, second), Stream.PAIR.value, key[0], key[1])
        return deviates(a, b)[0], words

    return noise


@cache
def make_paper_noise(real):
    """Method two as in the paper, with the same signature: each of the two uniform numbers from a TEA run of its own.

    The runs differ in their keys, by the stream; of each the first word counts.
    """
    words_of, deviates = tea(RUN_ROUNDS), normal(real)

    @device_function
    def noise(first, second, key, words):
        low, high = min(first, second), max(first, second)
        one, _ = words_of(low, high, Stream.PAIR.value, key[0], key[1])
        two, _ = words_of(low, high, Stream.PAIR_AGAIN.value, key[0], key[1])
        return deviates(one, two)[0], words

    return noise


@cache
def make_thread_noise(real):
    """Method one, with the same signature: a deviate from the thread's two words, for any pair, and the next two."""
    deviates = normal(real)

    @device_function
    def noise(first, second, key, words):
        one, two = lcg(words[0]), lcg(words[1])
        return deviates(one, two)[0], (one, two)

    return noise


@cache
def make_running_noise(real):
    """The serial program's, with the same signature: a deviate from the next two words of the sequence, and the last.

    Of the two words that it takes and returns only the second counts: the one at which the sequence has arrived.
    """
    deviates = normal(real)

    @device_function
    def noise(first, second, key, words):
        one = lcg(words[1])
        two = lcg(one)
        return deviates(one, two)[0], (one, two)

    return noise


def make_noise(real, rounds: int, *, running: bool = False) -> Callable:
    """The noise by so many rounds of TEA for a pair; PAPER_ROUNDS are the paper's two runs.

    Without rounds it comes from the paper's linear generator: from one running sequence, or from a thread's words.
    """
    if rounds == PAPER_ROUNDS:
        return make_paper_noise(real)
    linear = make_running_noise if running else make_thread_noise
    return make_pair_noise(real, rounds) if rounds else linear(real)


@device_function
def thread_words(thread, key):
    """The two words with which a thread begins a step in method one, from its number, the seed and the step."""
    return lcg(uint32(thread + key[0])), lcg(uint32(thread + key[0] + key[1]))
