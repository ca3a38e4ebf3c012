"""What a way to move the particles is to a simulation."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """How the particles of a step are moved, and what takes part in it."""

    name: str
    #: build(simulation): the launches by name that move the particles by a step
    build: Callable
    #: bytes(system, real, device) that it takes on the device beside the particles and the fields
    memory: Callable = lambda system, real, device: 0
    #: crossing(simulation, move): the particles' part of a step on several ranks, if it can, from their launch `move`:
    #: `Crossing`, if move.resume ends the partial steps of particles from another rank
    crossing: Callable | None = None
    #: the devices that it is for
    on: tuple[str, ...] = ("serial", "threads", "cuda")
    #: the host launches again until all is done, which no recorded sequence can; it injects a source's particles itself
    by_host: bool = False
    #: what the electrons fly through, see `System.medium`
    media: tuple[str, ...] = ("vacuum",)
    #: the fields are advanced on the CPU, and cross the bus in each step
    fields_on_host: bool = False
