"""A scheme on a slab of a box whose halo is filled while the nodes away from it are updated."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .scheme import Scheme, arrays_of, in_order


@dataclass(frozen=True)
class Slab:
    """The planes of a part that are its own, `first` to `end`, and at which sides other ranks lie.

    starts[z] is the first item of plane z along the slowest axis of a launch: a plane, or a node of a list.
    """

    first: int
    end: int
    below: bool
    above: bool
    starts: np.ndarray

    def outer(self, launch, layers: int = 1) -> Callable[[], None]:
        """The launch for the `layers` that other ranks need."""
        low = (self.first, self.first + layers) if self.below else (0, 0)
        high = (self.end - layers, self.end) if self.above else (0, 0)
        return in_order(*self._launches(launch, low, high))

    def inner(self, launch, layers: int = 1) -> Callable[[], None]:
        """The launch for all other own nodes."""
        return in_order(*self._launches(launch, (self.first + layers * self.below, self.end - layers * self.above)))

    def _launches(self, launch, *planes: tuple[int, int]) -> list:
        spans = ((int(self.starts[first]), int(self.starts[end])) for first, end in planes)
        # a plane of a list may hold nothing
        return [launch.within(first, end - first) for first, end in spans if end > first]


def with_hidden_halo(scheme: Scheme, slab: Slab, populations: Callable, potentials: Callable, layers: int) -> Scheme:
    """The scheme on a slab: what other ranks need comes first, and goes on its way beside the rest.

    populations(arrays) and potentials(arrays) are exchanges, each in two halves, that fill the halo of such arrays;
    forces look over `layers` of it. Nothing is computed in the halo itself, where messages arrive meanwhile.
    """
    now, then = (populations(arrays_of(state)) for state in scheme.states)
    beside = potentials(scheme.potentials) if scheme.potentials else None
    parts = []
    for t, exchange in enumerate((then, now)):
        part = {}
        if beside:
            densities, update = scheme.parts[t]["densities"], scheme.parts[t]["update"]
            part |= _overlapped("densities", slab, densities, beside, "potentials", layers)
        else:
            update = scheme.steps[t]
        parts.append(part | _overlapped("update", slab, update, exchange, "populations", 1))
    found = replace(
        scheme,
        steps=tuple(in_order(*part.values()) for part in parts),
        start=in_order(scheme.start, now.begin, now.end),
        parts=tuple(parts),
    )
    if not beside:
        return found
    looks = (
        in_order(part["densities"], beside.begin, beside.end, look)
        for part, look in zip(scheme.parts, scheme.looks, strict=True)
    )
    return replace(found, observe=tuple(looks))


def _overlapped(name: str, slab: Slab, launch, exchange, what: str, layers: int) -> dict[str, Callable[[], None]]:
    return {
        f"{name} beside others": slab.outer(launch, layers),
        f"send {what}": exchange.begin,
        name: slab.inner(launch, layers),
        f"receive {what}": exchange.end,
    }
