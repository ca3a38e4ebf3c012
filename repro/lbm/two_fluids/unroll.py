"""Loops that are unrolled before the compiler sees them.

It leaves a long body a loop, with its numbers in tables: then what is multiplied by zero is not left out, rows of the
scratch are not known to differ, and nothing is vectorised.
"""

from repro.parallel import device_function


def unrolled(terms: list):
    """One function that calls all of them. By halves, because each call within a call costs the compiler's stack."""
    if len(terms) == 1:
        return terms[0]
    first, second = unrolled(terms[: len(terms) // 2]), unrolled(terms[len(terms) // 2 :])

    @device_function
    def both(*arguments):
        first(*arguments)
        second(*arguments)

    return both
