"""A sequence of launches that is recorded once it has been compiled."""

from collections.abc import Callable, Iterable


def in_turn(*launches: Callable) -> None:
    """Launch one after the other."""
    for launch in launches:
        launch()


class LaunchSequence:
    """Launches one after the other: the first call compiles them, all later ones replay one recorded sequence."""

    def __init__(self, device, launches: Iterable[Callable]):
        self._device, self._launches, self._replay = device, list(launches), None

    def __call__(self):
        """Launch them all."""
        if self._replay:
            self._replay()
            return
        self._one_by_one()
        # a recording cannot compile
        self._replay = self._device.capture(self._one_by_one) if self._launches else self._one_by_one

    def _one_by_one(self):
        in_turn(*self._launches)
