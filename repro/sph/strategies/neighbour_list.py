"""A neighbour list for a GPU: a step's first sum writes down who is near, and both sums visit these only.

Of the particles in 27 cells one in six is a neighbour. Where all threads of a warp go through them together, most
lanes wait for the few that have a pair to add. So each thread first looks at all candidates without a branch, and notes
those that are near as bits, 32 candidates a word; then each takes its own next neighbour, whatever row or word that is
in. Not in the paper.

An entry is the place of a word's first candidate, with flags, and the word; entry k of particle i of n stands at
2 k n + i and (2 k + 1) n + i of the table. An entry without a word ends a list: its place is the number of rows that
the list holds, all of them but for a crowd, whose further rows are walked.
"""

from functools import cache

from numpy import uint32, uint64

from repro.parallel import device_function
from repro.parallel.unroll import each, unrolled
from repro.particles.candidates import WORD, lowest, make_near_bits
from repro.particles.sorted_cells import row_around

from ..pair import separation
from .search import ROWS

#: entries of a particle's list, the one that ends it included: fluid in order takes 7 to 16 with a ratio of 1.3, and 17
#: to 33 with one of 2; more is a crowd
ENTRIES = 36

#: particles whose lists have places of 32 bits
MOST_LISTED = 2**32 // (2 * ENTRIES)

#: flags of an entry: the first one of its row, and the bits from which on the type of particles stands
NEW_ROW, TYPE = uint32(1 << 31), uint32(29)

#: the bits of an entry's place below its flags
PLACE = uint32((1 << 29) - 1)


@cache
def make_find(real):
    """The bits of the neighbours among candidates from `first` to `end`: find(first, end, target, species, p)."""
    apart = separation(real, uint64)

    @device_function
    def near(j, target, species, p):
        return apart(target.position, j, species, p)[1] < p.reach

    return make_near_bits(near)


@cache
def _entries_of_type(find, kind: int):
    """Entries of a row for one type of particles, as far as there is room: the number of entries with and without."""
    flags = uint32(kind << int(TYPE))

    @device_function
    def entries(entry, flag, target, cell, row, species, p, cells, table):
        first, end = row_around(row, cell[0], cell[1], cell[2], species.starts, cells)
        i, count = uint32(cell[3]), uint32(cell[4])
        while first < end:
            after = min(uint32(first + uint32(WORD)), end)
            word = find(first, after, target, species, p)
            if word != uint32(0):
                if entry < uint32(ENTRIES - 1):
                    table[uint32(2 * entry * count + i)] = uint32(first | uint32(flags | flag))
                    table[uint32(uint32(2 * entry + 1) * count + i)] = word
                entry, flag = uint32(entry + 1), uint32(0)
            first = after
        return entry, flag

    return entries


@cache
def _make_of_types(find, pair_terms: tuple):
    """row_entries(entry, row, ...), the entries of a row for all types of particles, and add(...), a type's pair term.

    The last type is added without a condition, for the compiler.
    """
    finders = tuple((k, _entries_of_type(find, k)) for k, _ in pair_terms)
    *others, (last, last_term) = pair_terms

    @unrolled
    def row_entries(entry, row, target, cell, species, p, cells, table):
        flag = NEW_ROW
        for k, entries in each(finders):
            entry, flag = entries(entry, flag, target, cell, row, species[k], p, cells, table)
        return entry

    @unrolled
    def add(sums, kind, target, j, species, p):
        for k, term in each(others):
            if kind == k:
                return term(sums, target, j, species[k], p)
        return last_term(sums, target, j, species[last], p)

    return row_entries, add


@cache
def make_neighbour_list(find, pair_terms: tuple, zeros, plus, accumulate):
    """write(target, cell, species, p, cells, table), and visit(...) of the same, which gives the sums.

    `find` gives the bits of the neighbours among candidates, see `sorted_cells`; `pair_terms` are (k, term) of the
    types that are met, species[k] among them. `zeros` are the sums of none, plus(a, b) adds two, `accumulate` as of
    sum_kernels walks a row that is not listed.
    """
    row_entries, add = _make_of_types(find, pair_terms)

    @device_function
    def write(target, cell, species, p, cells, table):
        entry, row, rows = uint32(0), 0, 0
        while row < ROWS:
            after = row_entries(entry, row, target, cell, species, p, cells, table)
            row += 1
            if after < uint32(ENTRIES):
                entry, rows = after, row
            else:
                row = ROWS
        i, count = uint32(cell[3]), uint32(cell[4])
        table[uint32(2 * entry * count + i)] = uint32(rows)
        table[uint32(uint32(2 * entry + 1) * count + i)] = uint32(0)

    @device_function
    def visit(target, cell, species, p, cells, table):
        i, count = uint32(cell[3]), uint32(cell[4])
        total, sums, entry, first, word = zeros, zeros, uint32(0), uint32(0), uint32(0)
        while True:
            if word == uint32(0):
                first = table[uint32(2 * entry * count + i)]
                word = table[uint32(uint32(2 * entry + 1) * count + i)]
                if word == uint32(0):
                    break
                entry = uint32(entry + 1)
                if first >= NEW_ROW:
                    total, sums = plus(total, sums), zeros
            k, word = lowest(word)
            j = uint32(uint32(first & PLACE) + k)
            sums = add(sums, uint32(first >> TYPE) & uint32(3), target, j, species, p)
        total = plus(total, sums)
        for row in range(first, ROWS):
            total = plus(total, accumulate(zeros, target, cell, row, species, p, cells))
        return total

    return write, visit
