"""A second stream of a GPU: copies and messages go on beside the kernels of the first one."""

from collections.abc import Iterator
from contextlib import contextmanager


class SecondStream:
    """A stream beside the `first` one of a GPU; where that is said, it waits for that one, or that one for it."""

    def __init__(self, cupy, first):
        # a kernel that fills the GPU has more blocks than stand on it: messages begin before the next of them
        self._first, self._second = first, cupy.cuda.Stream(non_blocking=True, priority=-1)
        self._launched, self._done = (cupy.cuda.Event(disable_timing=True) for _ in range(2))

    def fork(self) -> None:
        """What comes on the second stream waits for what has been launched on the first one so far."""
        self._launched.record(self._first)
        self._second.wait_event(self._launched)

    def join(self) -> None:
        """What is launched on the first stream from now on waits for the second one."""
        self._done.record(self._second)
        self._first.wait_event(self._done)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Copies and messages of the block go to the second stream."""
        self._second.use()
        try:
            yield
        finally:
            # the end of CuPy's own "with" would go back to the default stream
            self._first.use()
