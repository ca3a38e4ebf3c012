"""The progress of a run: one bar with time left in a terminal, plain lines elsewhere."""

import sys
import time

from tqdm import tqdm


def duration(seconds: float) -> str:
    """`seconds` for people: 45 s, 12 min, 2 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Shows which notebooks run, what share of the expected time is over, and how much is left."""

    def __init__(self, expected: dict[str, float], jobs: int):
        self._expected = dict(expected)
        self._jobs = jobs
        self._done = 0.0
        self._started: dict[str, float] = {}
        self._bar = None
        if expected and sys.stderr.isatty():
            layout = "{percentage:3.0f}%|{bar:24}| {desc}"
            self._bar = tqdm(total=sum(expected.values()), bar_format=layout, mininterval=0.2, leave=False)

    def begin(self, name: str) -> None:
        """A notebook has begun."""
        self._started[name] = time.monotonic()
        if self._bar is None:
            self.say(f"running {name} (about {duration(self._expected[name])})")
        self.tick()

    def end(self, name: str, line: str) -> None:
        """A notebook has ended; `line` says how."""
        self._started.pop(name, None)
        self._done += self._expected[name]
        self.say(line)
        self.tick()

    def tick(self) -> None:
        """Bring the bar up to date."""
        if self._bar is None:
            return
        now = time.monotonic()
        running = sum(min(now - t, self._expected[n]) for n, t in self._started.items())
        self._bar.n = min(self._done + running, self._bar.total)
        left = duration((self._bar.total - self._bar.n) / max(1, min(self._jobs, len(self._started))))
        self._bar.set_description_str(", ".join([*self._started, f"about {left} left"]))

    def say(self, line: str) -> None:
        """A line of its own."""
        if self._bar is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._bar.write(line, file=sys.stderr)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
