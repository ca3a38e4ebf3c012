"""What ends a command from outside: Ctrl-C, a batch system's SIGTERM, a terminal that closes."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: signals that ask a program to end
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: seconds after a signal in which others change nothing: what the first one asks for is being done
PATIENCE = 20.0


class Interrupted(KeyboardInterrupt):
    """A signal asked the program to end; `status` is the exit status of one that does, 128 + n."""

    def __init__(self, number: int):
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.status = 128 + number


@contextmanager
def heeded() -> Iterator[None]:
    """Raise Interrupted for the first signal of ENDING; those that whoever started us has ignored (nohup) stay so."""
    last = -PATIENCE

    def interrupt(number: int, _: FrameType | None) -> None:
        nonlocal last
        # a session that ends sends two at once, and who is impatient presses twice
        if (now := time.monotonic()) - last >= PATIENCE:
            last = now
            raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
