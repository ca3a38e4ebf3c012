"""Where a run's notebooks are executed: in threads here that wait for them, or on the workers of a Dask cluster."""

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from repro.errors import InputError, require

ANSWER, LOOK, DESERTED = 3.0, 2.0, 30.0
"""Seconds in which a scheduler must answer, between two looks at it, and after which one without workers ends a run."""


class Here(ThreadPoolExecutor):
    """Threads of this machine: nothing of it can get lost while the run is there."""

    def changes(self) -> Iterator[str]:
        """Nothing is ever said."""
        return iter(())


class Cluster:
    """The workers of a Dask scheduler; `needs` is what a notebook takes of one."""

    def __init__(self, client, address: str, needs: dict[str, int]):
        self.submit = client.get_executor(pure=False, retries=0, resources=needs).submit
        self._client, self._address = client, address
        self._workers = _workers(client)
        self._looked = self._peopled = time.monotonic()

    def changes(self) -> Iterator[str]:
        """A line for each worker that is lost since the last look; InputError where nothing can go on."""
        if self._client.status != "running":
            raise InputError(f"the Dask scheduler at {self._address} is lost: start another one, and its workers")
        if (now := time.monotonic()) - self._looked < LOOK:
            return
        self._looked, before = now, self._workers
        try:
            self._workers = _workers(self._client)
        except (OSError, TimeoutError):  # the next look knows what became of it
            return
        for worker in sorted(set(before) - set(self._workers)):
            yield f"the worker {worker} is lost; a notebook that it was at goes to another"
        if self._workers:
            self._peopled = now
        elif now - self._peopled > DESERTED:
            waited = f"no other one came within {DESERTED:g} s"
            raise InputError(f"the last worker of {self._address} is lost and {waited}: {_start(self._address)}")
        elif before:
            yield f"no worker is left: waiting {DESERTED:g} s for one, {_start(self._address)}"


@contextmanager
def executor(scheduler: str | None, jobs: int, device: str) -> Iterator[Here | Cluster]:
    """What executes `jobs` notebooks at once; InputError if the cluster cannot do what they ask for."""
    if scheduler is None:
        with Here(jobs) as threads:
            yield threads
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--scheduler needs dask: pip install 'gpu-papers-repro[dask]'") from None
    try:
        client = Client(scheduler, timeout=ANSWER)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler at {scheduler}: {error}") from None
    _silence()
    try:
        yield Cluster(client, scheduler, _tokens(client, scheduler, device))
    finally:
        with suppress(OSError, TimeoutError):
            client.close(timeout=5)


def _silence():
    """What Dask has to tell about a lost scheduler is said by us, in one line: its client has a level of its own."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _workers(client) -> dict[str, dict]:
    return client.scheduler_info(n_workers=-1)["workers"]


def _start(address: str) -> str:
    return f"start one with `dask worker {address}`"


def _tokens(client, scheduler: str, device: str) -> dict[str, int]:
    """What a notebook takes of a worker; InputError if no worker has it to give, for which Dask would wait for ever."""
    workers = _workers(client).values()
    require(workers, f"the Dask cluster at {scheduler} has no workers: {_start(scheduler)}")
    if device != "cuda":
        return {}
    if not any("GPU" in worker["resources"] for worker in workers):
        start = f"dask worker {scheduler} --nthreads 1 --resources GPU=1"
        raise InputError(f"no worker at {scheduler} has a GPU to lend: start one a GPU, `{start}`")
    return {"GPU": 1}
