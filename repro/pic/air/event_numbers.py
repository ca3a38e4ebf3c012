"""Random numbers of collisions, each named by the particle, the step, the event in it and what the number is for.

`key` is (lower and upper half of the particle's id, seed, step); events are counted from 1 in each step, and number 0
draws a particle's first optical depth. So a history is the same wherever and in whatever order it is computed.
"""

from functools import cache

from numpy import uint32

from repro.parallel import inline
from repro.parallel.elementary import logarithm
from repro.particles.random import ROUNDS, Stream, tea, uniform

#: most events of a particle in a step
MOST_EVENTS = 2**22 - 1

#: purposes of an event's words: choice of process and next depth; energy or polar angle, azimuth; rejection, element;
#: the id of the secondary
CHOICE, ANGLES, REJECTION, SECONDARY_ID = range(4)

#: the stream is the lower byte of the word for it, which is all that others use of theirs; above are event and purpose
_STREAM = int(Stream.COLLISION)


@inline
def stream_of(event, purpose):
    """The word for the stream of an event's numbers."""
    return uint32(_STREAM + (4 * event + purpose) * 256)


@cache
def make_event_words():
    """Two random 32-bit words: drawn(key, event, purpose)."""
    words = tea(ROUNDS)

    @inline
    def drawn(key, event, purpose):
        low, high, seed, step = key
        return words(low, high, stream_of(event, purpose), seed, step)

    return drawn


@cache
def make_segment_depth(real):
    """The optical depth -ln(xi) of a segment by its number, with 0 that of the first one: depth(key, event).

    Where it is not carried across segments it is drawn for each anew.
    """
    drawn, unit, natural = make_event_words(), uniform(real), logarithm(real)

    @inline
    def depth(key, event):
        return -natural(unit(drawn(key, event, CHOICE)[1]))

    return depth


@cache
def make_secondary_id():
    """The lower and upper half of the id of the secondary that an event has set free: secondary_id(key, event).

    The upper half is from 2^30 to 2^31, so that ids are positive in 64 bits and not those of particles that are
    counted. Two of N secondaries share an id with the probability N^2 / 2^63.
    """
    drawn = make_event_words()

    @inline
    def secondary_id(key, event):
        low, high = drawn(key, event, SECONDARY_ID)
        return low, uint32((high & uint32(0x3FFFFFFF)) | uint32(0x40000000))

    return secondary_id
