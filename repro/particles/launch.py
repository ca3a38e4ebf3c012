"""The launch of one kernel over the particles, or the cells, of a list."""

from functools import cache

from repro.parallel import Kernel, device_function


def launch_of(device, body, items: int, *arguments, **options):
    """The launch of a body over so many items with its arguments; `options` as of `Kernel`."""
    return device.compile(Kernel(body, **options))((items,), *arguments)


@cache
def sequence(first, second, taken: int):
    """A body that does one after the other with each item; the first one takes so many of the arguments."""

    @device_function
    def both(x, n, *arguments):
        first(x, n, *arguments[:taken])
        second(x, n, *arguments[taken:])

    return both
