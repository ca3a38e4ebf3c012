"""The launch of one kernel over the particles, or the cells, of a list."""

from repro.parallel import Kernel


def launch_of(device, body, items: int, *arguments, **options):
    """The launch of a body over so many items with its arguments; `options` as of `Kernel`."""
    return device.compile(Kernel(body, **options))((items,), *arguments)
