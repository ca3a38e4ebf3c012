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
from repro.particles.random import Stream, normal, tea

#: rounds of one run of TEA in the paper, and those of its noise of a pair, two runs with other keys (section 4.3)
RUN_ROUNDS = 32
PAPER_ROUNDS = 2 * RUN_ROUNDS

#: the paper's linear generator (its reference 25): modulus 2^32, factor and increment. They are stated for method one,
#: and none for the serial program
LCG_FACTOR, LCG_INCREMENT = uint32(69069), uint32(1234567)

_RUN = tea(RUN_ROUNDS)


@device_function
def lcg(word):
    """The next word of the linear congruential generator (equation 6)."""
    return uint32(uint32(word * LCG_FACTOR) + LCG_INCREMENT)


@device_function
def combined(first, second):
    """The word of two generators together (equation 8): v = (u1 + u2) mod 1."""
    return uint32(first + second)


@cache
def _words_of_pair(rounds: int):
    """Method two: the words of both orders of a pair, and the thread's two words as they are."""
    words_of = tea(rounds)

    @device_function
    def draw(first, second, key, words):
        a, b = words_of(min(first, second), max(first, second), Stream.PAIR.value, key[0], key[1])
        return a, b, words

    return draw


@device_function
def _words_of_two_runs(first, second, key, words):
    """Method two as in the paper: two runs of TEA with other keys, by the stream; of each the first word counts."""
    low, high = min(first, second), max(first, second)
    one, _ = _RUN(low, high, Stream.PAIR.value, key[0], key[1])
    two, _ = _RUN(low, high, Stream.PAIR_AGAIN.value, key[0], key[1])
    return one, two, words


@device_function
def _words_of_thread(first, second, key, words):
    """Method one, for any pair: the words after the thread's two, which take their place."""
    one, two = lcg(words[0]), lcg(words[1])
    return one, two, (one, two)


@device_function
def _words_in_turn(first, second, key, words):
    """The serial program's: the next two words of the sequence, which has arrived at the second of `words`."""
    one = lcg(words[1])
    two = lcg(one)
    return one, two, (one, two)


@cache
def make_noise(real, rounds: int, *, running: bool = False) -> Callable:
    """A Gaussian deviate of a pair, and the thread's next two words: noise(id, id, key, thread's two words).

    By so many rounds of TEA, where PAPER_ROUNDS are the paper's two runs. Without rounds it comes from the paper's
    linear generator: from one running sequence, or from a thread's words.
    """
    if rounds:
        draw = _words_of_two_runs if rounds == PAPER_ROUNDS else _words_of_pair(rounds)
    else:
        draw = _words_in_turn if running else _words_of_thread
    deviates = normal(real)

    @device_function
    def noise(first, second, key, words):
        one, two, words = draw(first, second, key, words)
        return deviates(one, two)[0], words

    return noise


@device_function
def thread_words(thread, key):
    """The two words with which a thread begins a step in method one, from its number, the seed and the step."""
    return lcg(uint32(thread + key[0])), lcg(uint32(thread + key[0] + key[1]))
