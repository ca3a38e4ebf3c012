"""A device on which work takes a known time, by a clock of its own."""

from types import SimpleNamespace

import numpy as np


class Virtual:
    """A device on which work is begun at once and done when one waits for it, by a clock of its own."""

    name, description, workers = "cuda", "made up", 1

    def __init__(self):
        self.now = self.pending = 0.0
        self.xp = SimpleNamespace(copyto=self.upload)
        self.rates = {"copy": 1.0}

    def work(self, seconds: float) -> None:
        """Begin work that takes so long."""
        self.pending += seconds

    def synchronise(self) -> None:
        """Wait for the work."""
        self.now, self.pending = self.now + self.pending, 0.0

    def clock(self, run) -> float:
        """Seconds from a quiet device to a quiet device."""
        self.synchronise()
        start = self.now
        run()
        self.synchronise()
        return self.now - start

    def capture(self, run):
        """A recorded sequence is the sequence."""
        return run

    def zeros(self, shape, dtype):
        """An array."""
        return np.zeros(shape, dtype)

    def upload(self, target, source) -> None:
        """Copy at a byte a nanosecond."""
        self.work(source.nbytes * 1e-9)

    download = upload
