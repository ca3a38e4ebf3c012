"""The progress of a run: one bar with time left in a terminal, plain lines elsewhere."""

import sys
import textwrap
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from tqdm import tqdm

COLUMNS = 80
WIDTH, BAR = COLUMNS - 1, 12
"""Columns of the line and of its bar; a full line would scroll some terminals."""
LEAST_LEFT = 0.05
"""Share of a notebook's expected time that its part of the bar lacks as long as it runs."""


def duration(seconds: float) -> str:
    """`seconds` for people: 45 s, 12 min, 2 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def wrapped(text: str, indent: int = 2) -> str:
    """A text in lines of a terminal of 80 columns; names of files and numbers are not cut in two."""
    return textwrap.fill(text, COLUMNS, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def describe(time_left: str, names: list[str]) -> str:
    """Time left and the notebooks that run, as many as there is room for beside the bar."""
    room = WIDTH - BAR - len("100%|| ")
    for count in range(len(names), 0, -1):
        more = f" and {len(names) - count} more" if count < len(names) else ""
        text = f"{time_left}: {', '.join(names[:count])}{more}"
        if len(text) <= room:
            return text
    return time_left


class Progress:
    """Shows which notebooks run, what share of the expected work is over, and how much time is left.

    A notebook of `alone` measures speed: the others stand still while it does, so that its time adds to theirs.
    """

    def __init__(self, expected: Mapping[str, float], jobs: int, alone: Iterable[str] = ()):
        self._expected = dict(expected)
        self._jobs = jobs
        self._alone = set(alone)
        self._waiting = set(expected)
        self._spent: dict[str, float] = {}
        self._cells: Mapping[str, str] = {}
        self._told_late = False
        self._looked = time.monotonic()
        self._bar = None
        # None where it was closed
        if expected and sys.stderr and sys.stderr.isatty():
            layout = "{percentage:3.0f}%|{bar:" + str(BAR) + "}| {desc}"
            total = sum(expected.values())
            self._bar = tqdm(total=total, bar_format=layout, mininterval=0.2, leave=False, ncols=WIDTH)

    def begin(self, name: str) -> None:
        """A notebook has begun."""
        self._count()
        self._waiting.discard(name)
        self._spent[name] = 0.0
        if self._bar is None:
            among = len(self._expected)
            place = f" {among - len(self._waiting)} of {among}:" if among > 1 else ""
            self.say(f"running{place} {name} (about {duration(self._expected[name])})")
        self.tick()

    def end(self, name: str, line: str) -> None:
        """A notebook has ended; `line` says how."""
        self._count()
        self._waiting.discard(name)
        self._spent.pop(name, None)
        self.say(line)
        self.tick()

    def tick(self, cells: Mapping[str, str] | None = None) -> None:
        """Bring the bar up to date; `cells` says where notebooks are, "3 of 12"."""
        self._count()
        self._cells = self._cells if cells is None else cells
        late = {name: spent for name, spent in self._spent.items() if spent > self._expected[name]}
        if late and not self._told_late:
            self._told_late = True
            why = "a first run compiles its kernels, and other work beside slows it"
            self.say(f"{max(late, key=late.get)} takes longer than expected: {why}")
        if self._bar is None:
            return
        left = f"about {duration(self.left())} left"
        time_left = f"longer than expected, {duration(max(late.values()))} so far" if late else left
        # one that runs is not over
        open_ends = {name: LEAST_LEFT * self._expected[name] for name in self._spent}
        self._bar.n = self._bar.total - sum(max(r, open_ends.get(name, 0)) for name, r in self._remaining().items())
        self._bar.set_description_str(describe(time_left, [self._named(name) for name in self._spent]))

    def _named(self, name: str) -> str:
        """A notebook without its folder, and where it is."""
        short = name.rpartition("/")[2]
        return f"{short} (cell {self._cells[name]})" if name in self._cells else short

    def left(self) -> float:
        """Seconds until all will have ended, if each takes what is expected; they never rise."""
        remaining = self._remaining()
        alone = sum(seconds for name, seconds in remaining.items() if name in self._alone)
        beside = [seconds for name, seconds in remaining.items() if name not in self._alone]
        return alone + max(sum(beside) / self._jobs, max(beside, default=0.0))

    def _remaining(self) -> dict[str, float]:
        spent = {name: max(self._expected[name] - seconds, 0.0) for name, seconds in self._spent.items()}
        return {name: self._expected[name] for name in self._waiting} | spent

    def _count(self) -> None:
        """Give the time since the last look to what runs; to what measures speed first, which has the cores."""
        now = time.monotonic()
        alone = [name for name in self._spent if name in self._alone]
        for name in alone or self._spent:
            self._spent[name] += (now - self._looked) / max(1, len(alone))
        self._looked = now

    def say(self, line: str) -> None:
        """A line of its own."""
        if self._bar is None:
            print(wrapped(line), file=sys.stderr, flush=True)
        else:
            self._bar.write(wrapped(line), file=sys.stderr)

    def close(self) -> None:
        """Take the bar away; the terminal may have closed."""
        if self._bar is not None:
            with suppress(OSError):
                self._bar.close()
