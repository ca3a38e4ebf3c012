"""Refuse what does not fit before it is allocated."""

from repro.errors import MemoryLimitError

from .select import select

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def readable(count: float) -> str:
    """Bytes in a unit that reads well: 20.1 GiB."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.4g} {_UNITS[unit]}"


def require_memory(device, count: int, what: str, advice: str = "use a smaller grid") -> None:
    """Raise MemoryLimitError if `count` bytes for `what` do not fit into the free memory of the device.

    `advice` is what a user can do about it.
    """
    free = device.free_memory()
    if count > free:
        raise MemoryLimitError(f"{what} needs {readable(count)}, but {device.name} has {readable(free)} free: {advice}")


def require_room(particles: int, each: int) -> None:
    """Raise MemoryLimitError if so many particles, of `each` bytes while they are set up, do not fit on the host."""
    require_memory(select("serial"), each * particles, f"{particles} particles", "use fewer particles")
