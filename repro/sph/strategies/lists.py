"""What a strategy gives the simulation."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Lists:
    """The fluid's table of cells: the launches that bring it up to date, by name, and its two arrays."""

    parts: dict[str, Callable[[], None]]
    starts: object
    members: object
