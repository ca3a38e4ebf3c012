"""Random numbers of collisions, each named by the particle, the step, the event in it and what the number is for.

`key` is (lower and upper half of the particle's id, seed, step); events are counted from 1 in each step, and number 0
draws a particle's first optical depth. So a history is the same wherever and in whatever order it is computed.
"""

from functools import cache

from numpy import uint32

from repro.parallel import device_function
from repro.parallel.elementary import logarithm
from repro.particles.random import ROUNDS, Stream, tea, uniform

#: most events of a particle in a step
MOST_EVENTS = 2**22 - 1

#: purposes of an event's words: choice of process and next depth; energy or polar angle, azimuth; rejection, element;
#: the id of the secondary
CHOICE, ANGLES, REJECTION, SECONDARY_ID = range(4)

#: the stream is the lower byte of the word for it, which is all that others use of theirs; above are event and purpose
_STREAM, _WORDS = int(Stream.COLLISION), tea(ROUNDS)


@device_function
def stream_of(event, purpose):
    """The word for the stream of an event's numbers."""
    return uint32(_STREAM + (4 * event + purpose) * 256)


@device_function
def event_words(key, event, purpose):
    """Two random 32-bit words."""
    low, high, seed, step = key
    return _WORDS(low, high, stream_of(event, purpose), seed, step)


@device_function
def secondary_id(key, event):
    """The lower and upper half of the id of the secondary that an event has set free.

    The upper half is from 2^30 to 2^31, so that ids are positive in 64 bits and not those of particles that are
    counted. Two of N secondaries share an id with the probability N^2 / 2^63.
    """
    low, high = event_words(key, event, SECONDARY_ID)
    return low, uint32((high & uint32(0x3FFFFFFF)) | uint32(0x40000000))


@cache
def make_segment_depth(real):
    """The optical depth -ln(xi) of a segment by its number, with 0 that of the first one: depth(key, event).

    Where it is not carried across segments it is drawn for each anew.
    """
    unit, natural = uniform(real), logarithm(real)

    @device_function
    def depth(key, event):
        return -natural(unit(event_words(key, event, CHOICE)[1]))

    return depth
