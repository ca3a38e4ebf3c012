"""Sort of particles by the number of their cell in the memory that a block shares (sph paper, section 2, figure 3).

A block loads the numbers of its particles' cells once and sorts them bit after bit, the lowest first: a thread keeps
eleven pairs in registers, counts those whose bit is zero, and after a running sum over the block writes each one to its
place in shared memory. Blocks of 1024 threads hold 11,264 pairs in 48 KiB, which GPUs had in the paper's year too: all
of its ten thousand particles, which then need one launch. More of them take several blocks and eight bits a pass: what
a block has sorted goes to global memory, to where its digits begin among those of all blocks (Satish and others, IPDPS
2009).
"""

from functools import cache, partial

import numpy as np

from repro.parallel import device_function
from repro.parallel.launch_sequence import in_turn

from .launch import launch_of
from .radix_sort import CellSort, LibrarySort, RadixSort
from .scan import running_sum

#: pairs of a thread, and threads of a block, a power of two: so many where there are enough pairs
ITEMS, THREADS, _FEWEST = 11, 1024, 32

#: bits of a pair's place in its block, and of the part of its key that is sorted beside it in a word of 31
_PLACE_BITS, _KEY_BITS = 14, 17

#: bits that are sorted in a pass of several blocks
_DIGIT_BITS = 8

_PLACE, _KEY = (1 << _PLACE_BITS) - 1, (1 << _KEY_BITS) - 1


def _make_block_sort(threads: int, barrier):
    """What a block does: sort(x, n, s, t, keys, shift, bits, count), after which shared memory `t` holds its words.

    A word is a part of the key, `bits` above `shift`, and below it the pair's place in the block. Those beyond `count`
    come last.
    """
    steps = tuple(1 << k for k in range(threads.bit_length() - 1))

    @device_function
    def load(x, n, s, keys, shift, mask, count):
        for i in range(x, x + n):
            for k in range(ITEMS):
                place = i % threads * ITEMS + k
                item, word = i // threads * threads * ITEMS + place, _KEY << _PLACE_BITS
                if item < count:
                    word = ((keys[item] >> shift) & mask) << _PLACE_BITS | place
                s[k, i - x] = word

    @device_function
    def split(x, n, s, t, bit):
        """Those whose bit is zero come before the others, and each keep their order."""
        for i in range(x, x + n):
            zeros = 0
            for k in range(ITEMS):
                zeros += 1 - ((s[k, i - x] >> bit) & 1)
            t[ITEMS, i % threads] = zeros
        barrier()
        for step in steps:
            for i in range(x, x + n):
                lane = i % threads
                s[ITEMS, i - x] = t[ITEMS, lane - step] if lane >= step else 0
            barrier()
            for i in range(x, x + n):
                t[ITEMS, i % threads] += s[ITEMS, i - x]
            barrier()
        for i in range(x, x + n):
            lane = i % threads
            zero = t[ITEMS, lane - 1] if lane > 0 else 0
            one = t[ITEMS, threads - 1] + lane * ITEMS - zero
            for k in range(ITEMS):
                word = s[k, i - x]
                last = (word >> bit) & 1
                place = one if last else zero
                t[place // threads, place % threads] = word
                one, zero = one + last, zero + 1 - last
        barrier()
        for i in range(x, x + n):
            for k in range(ITEMS):
                place = i % threads * ITEMS + k
                s[k, i - x] = t[place // threads, place % threads]

    @device_function
    def sort(x, n, s, t, keys, shift, bits, count):
        load(x, n, s, keys, shift, (1 << bits) - 1, count)
        for bit in range(bits):
            split(x, n, s, t, _PLACE_BITS + bit)

    return sort


@cache
def _alone_body(threads: int, barrier):
    """One block sorts all pairs."""
    sort = _make_block_sort(threads, barrier)

    @device_function
    def alone(x, n, s, t, keys, keys_sorted, members, bits, count):
        sort(x, n, s, t, keys, 0, bits, count)
        for i in range(x, x + n):
            for k in range(ITEMS):
                place = i % threads * ITEMS + k
                if place < count:
                    keys_sorted[place] = s[k, i - x] >> _PLACE_BITS
                    members[place] = s[k, i - x] & _PLACE

    return alone


@cache
def _tile_body(threads: int, barrier):
    """Each block sorts its pairs by a digit, and counts how many it has of each value."""
    sort = _make_block_sort(threads, barrier)

    @device_function
    def begin_of(t, digit, count):
        """The first of `count` sorted words whose digit is not smaller."""
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if t[middle // threads, middle % threads] >> _PLACE_BITS < digit:
                low = middle + 1
            else:
                high = middle
        return low

    @device_function
    def tile(x, n, s, t, keys, words, begins, counts, shift, bits, blocks, count):
        sort(x, n, s, t, keys, shift, bits, count)
        for i in range(x, x + n):
            block = i // threads
            held = min(threads * ITEMS, count - block * threads * ITEMS)
            for k in range(ITEMS):
                words[i * ITEMS + k] = s[k, i - x]
            for digit in range(i % threads, 1 << bits, threads):
                begin = begin_of(t, digit, held)
                begins[digit * blocks + block] = begin
                counts[digit * blocks + block] = begin_of(t, digit + 1, held) - begin

    return tile


@cache
def _scatter_body(threads: int):
    """Brings each pair from its place in a sorted block to its place among all."""
    capacity = threads * ITEMS

    @device_function
    def scatter(x, n, words, keys, members, begins, places, keys_new, members_new, blocks):
        for item in range(x, x + n):
            block = item // capacity
            digit = (words[item] >> _PLACE_BITS) * blocks + block
            source = block * capacity + (words[item] & _PLACE)
            to = places[digit] + item - block * capacity - begins[digit]
            keys_new[to], members_new[to] = keys[source], members[source]

    return scatter


class BlockSort(CellSort):
    """A `CellSort` in shared memory: by one block where it holds all particles, else by several."""

    def __init__(self, device, cells, count: int, real, threads: int = THREADS):
        super().__init__(device, cells, count, real)
        enough = 1 << max(0, -(-count // ITEMS) - 1).bit_length()
        self._threads = threads = min(threads, max(_FEWEST, enough))
        self._blocks = -(-count // (threads * ITEMS))
        bits = max(1, (cells.count - 1).bit_length())
        self._alone = self._blocks == 1 and bits <= _KEY_BITS
        self._bits = [bits] if self._alone else [min(_DIGIT_BITS, bits - k) for k in range(0, bits, _DIGIT_BITS)]
        self._allocate(len(self._bits))

    def _launch(self, body, *arguments):
        """Of whole blocks; a multiprocessor has registers for so many threads if each has 64."""
        options = {"rows": ITEMS + 1, "shared_rows": ITEMS + 1, "dtype": np.int32, "block": self._threads}
        return launch_of(self.device, body, self._blocks * self._threads, *arguments, **options, registers=64)

    def _passes(self) -> dict:
        device = self.device
        if self._alone:
            (keys, sorted_), (_, members) = self._keys, self._members
            body, arguments = _alone_body(self._threads, device.barrier), (keys, sorted_, members, *self._bits)
            return {"sort in a block": self._launch(body, *arguments, self.count)}
        numbers = self._blocks << _DIGIT_BITS
        sizes = self._blocks * self._threads * ITEMS, numbers, numbers, numbers + 1
        self._words, self._begins, self._counts, self._places = (device.zeros(size, np.int32) for size in sizes)
        return {f"sort by digit {k}": self._one_pass(k, bits) for k, bits in enumerate(self._bits)}

    def _one_pass(self, k: int, bits: int):
        device, blocks, count, words, begins = self.device, self._blocks, self.count, self._words, self._begins
        from_, to = ((self._keys[pair], self._members[pair]) for pair in (k % 2, 1 - k % 2))
        digit = _DIGIT_BITS * k, bits, blocks, count
        tile = self._launch(_tile_body(self._threads, device.barrier), from_[0], words, begins, self._counts, *digit)
        body = _scatter_body(self._threads)
        scatter = launch_of(device, body, count, words, *from_, begins, self._places, *to, blocks)
        # of a last digit with fewer bits, the counts beyond it are those of the digit before, and no pair looks there
        return partial(in_turn, tile, *running_sum(device, self._counts, self._places), scatter)


#: the ways to sort: (device, cells, count, real) makes one
SORTS = {"in global memory": RadixSort, "in shared memory": BlockSort, "by a library": LibrarySort}
