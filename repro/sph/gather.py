"""Bodies of kernels for a sum over neighbours (`sums.Sum`): one item a particle, or one a particle and row of cells.

Few particles leave most of a GPU idle, and each waits for its own memory: with an item a row, nine threads share a
particle's sum, and a second kernel adds up what they found. Both give the same bits, see `Sum`. What does not hang on
such a sum is found at the same time, by further threads of its kernel.
"""

from functools import cache

from numpy import float64

from repro.parallel import inline

from .strategies.lists import ROWS

#: particles below which nine threads share a particle on a GPU
FEW = 300_000


def shared(device, count: int) -> bool:
    """Whether so many particles are too few to keep the device busy with an item a particle."""
    return device.name == "cuda" and count < FEW


@cache
def _zeros(size: int):
    return (float64(0),) * size


@cache
def _plus(size: int):
    """Returns added(a, b): the sum of two tuples of so many numbers."""
    if size == 0:
        return _empty
    rest = _plus(size - 1)

    @inline
    def added(a, b):
        return (a[0] + b[0], *rest(a[1:], b[1:]))

    return added


@inline
def _empty(a, b):
    return ()


@cache
def _kept(size: int):
    """Returns keep(table, place, stride, values): writes so many numbers, `stride` apart."""
    if size == 0:
        return _done
    rest = _kept(size - 1)

    @inline
    def keep(table, place, stride, values):
        table[place] = values[0]
        rest(table, place + stride, stride, values[1:])

    return keep


@inline
def _done(table, place, stride, values):
    pass


@cache
def _read(size: int):
    """Returns values(table, place, stride): what `_kept` has written."""
    if size == 0:
        return _nothing
    rest = _read(size - 1)

    @inline
    def values(table, place, stride):
        return (table[place], *rest(table, place + stride, stride))

    return values


@inline
def _nothing(table, place, stride):
    return ()


@cache
def whole_body(terms):
    """One item a particle, which goes through all rows."""
    ask, add, finish, plus, zeros = terms.ask, terms.add, terms.finish, _plus(terms.size), _zeros(terms.size)

    @inline
    def sums(x, n, target, faces, p, cells, fluid, *others):
        for i in range(x, x + n):
            me, at = ask(i, faces, p, cells, fluid)
            found = zeros
            for row in range(ROWS):
                found = plus(found, add(zeros, me, at, row, (fluid, *others), p, cells))
            finish(i, found, target, faces, p, fluid)

    return sums


@cache
def rows_body(terms):
    """One item a particle and row, particles fastest; into a table of ROWS * size numbers a particle."""
    ask, add, size, keep, zeros = terms.ask, terms.add, terms.size, _kept(terms.size), _zeros(terms.size)

    @inline
    def partial_sums(x, n, table, faces, p, cells, fluid, *others):
        count = fluid.count
        for item in range(x, x + n):
            row, i = item // count, item % count
            me, at = ask(i, faces, p, cells, fluid)
            found = add(zeros, me, at, row, (fluid, *others), p, cells)
            keep(table, row * size * count + i, count, found)

    return partial_sums


@cache
def end_body(terms):
    """Adds up the rows of `rows_body`, one item a particle."""
    finish, size, read = terms.finish, terms.size, _read(terms.size)
    plus, zeros = _plus(size), _zeros(size)

    @inline
    def added_up(x, n, target, table, faces, p, fluid):
        count = fluid.count
        for i in range(x, x + n):
            found = zeros
            for row in range(ROWS):
                found = plus(found, read(table, row * size * count + i, count))
            finish(i, found, target, faces, p, fluid)

    return added_up


@cache
def beside(first, second, taken: int):
    """Two bodies in one kernel: `count` items of the first one, which has so many arguments, and then the second's."""

    @inline
    def both(x, n, count, *arguments):
        begin = max(x, count)
        if x < count:
            first(x, min(n, count - x), *arguments[:taken])
        if x + n > begin:
            second(begin - count, x + n - begin, *arguments[taken:])

    return both
