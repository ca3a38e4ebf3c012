"""Ranks that are threads of this process: messages between them arrive as MPI's do, without MPI."""

import time
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

#: seconds after which a rank waits in vain
PATIENCE = 20.0


class Post:
    """What the ranks share: messages by addressee, sender and tag, and where they meet."""

    def __init__(self, count: int):
        self.count, self.messages, self.leavers = count, defaultdict(deque), [deque() for _ in range(count)]
        self.entered, self.meeting, self.values = defaultdict(int), Barrier(count, timeout=PATIENCE), [None] * count


class Request:
    """A message or a barrier: done once `try_it` says so."""

    def __init__(self, try_it):
        self._try, self.done = try_it, False

    def Test(self) -> bool:
        """Whether it is done."""
        self.done = self.done or self._try()
        return self.done


class ThreadRank:
    """One rank of several, with what `repro.parallel.ranks` asks of one."""

    gpus = None

    def __init__(self, post: Post, rank: int):
        self._post, self.rank, self.count, self._barriers = post, rank, post.count, 0

    def progress(self) -> None:
        """Nothing watches."""

    def until(self, done, what: str) -> None:
        """Let the other threads run until it is done."""
        end = time.monotonic() + PATIENCE
        while not done():
            time.sleep(0)
            if time.monotonic() > end:
                self._post.meeting.abort()
                raise TimeoutError(f"rank {self.rank} waited for {what}")

    def wait(self, requests, what: str) -> None:
        """Until all are done."""
        for request in list(requests):
            self.until(request.Test, what)

    def barrier(self) -> Request:
        """Enter one."""
        self._barriers += 1
        number = self._barriers
        self._post.entered[number, self.rank] = 1
        return Request(lambda: sum(self._post.entered[number, rank] for rank in range(self.count)) == self.count)

    def gather(self, values, what: str = "") -> np.ndarray:
        """One row a rank."""
        self._post.values[self.rank] = np.array(values)
        self._post.meeting.wait()
        table = np.array(self._post.values)
        self._post.meeting.wait()
        return table

    def sum(self, values, what: str = "") -> np.ndarray:
        """Over the ranks."""
        return self.gather(values).sum(0)

    def send(self, buffer, to: int, tag: int) -> Request:
        """Bytes, which must stay as they are until they have been received."""
        return self._sent(self._post.messages[to, self.rank, tag], buffer)

    def receive(self, buffer, source: int, tag: int) -> Request:
        """Bytes of the next message from a rank with a tag, which may be fewer than there is room for."""
        letters = self._post.messages[self.rank, source, tag]

        def arrive() -> bool:
            if not letters:
                return False
            content, done = letters.popleft()
            buffer[: len(content)] = content
            done.append(True)
            return True

        return Request(arrive)

    def send_leavers(self, records, to: int) -> Request:
        """Records for any call of `arrived`."""
        return self._sent(self._post.leavers[to], records)

    def arrived(self, record) -> list:
        """All that are here."""
        found, letters = [], self._post.leavers[self.rank]
        while letters:
            records, done = letters.popleft()
            found.append(records.copy())
            done.append(True)
        return found

    def _sent(self, letters: deque, content) -> Request:
        done = []
        letters.append((content, done))
        return Request(lambda: bool(done))


def on_ranks(count: int, program) -> list:
    """What `program(rank)` returns on each of so many ranks."""
    post = Post(count)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(program, [ThreadRank(post, rank) for rank in range(count)]))
