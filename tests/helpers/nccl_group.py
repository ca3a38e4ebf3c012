"""What stands for NCCL and GPUs where ranks are threads and all arrays are the host's."""

import ctypes
import queue
import sys
import threading
from collections import defaultdict
from types import SimpleNamespace

import numpy as np

from helpers.halos import StagedDevice


class Group:
    """NCCL's part, on host arrays: what a rank sends another one arrives in order, once a group of calls ends."""

    NCCL_CHAR = 0

    def __init__(self, post):
        self._post, self._calls = post, threading.local()

    def get_unique_id(self):
        return bytes(range(128))

    def NcclCommunicator(self, count, name, rank):
        assert name == bytes(range(128))
        self._calls.rank = rank
        return self

    def groupStart(self):
        self._calls.expected = []

    def send(self, pointer, count, kind, peer, stream):
        assert stream == 77
        self._post[self._calls.rank, peer].put(ctypes.string_at(pointer, count))

    def recv(self, pointer, count, kind, peer, stream):
        self._calls.expected.append((pointer, count, peer))

    def groupEnd(self):
        for pointer, count, peer in self._calls.expected:
            found = self._post[peer, self._calls.rank].get(timeout=20)
            assert len(found) == count
            ctypes.memmove(pointer, found, count)


class OnDevice(np.ndarray):
    """An array with an address as CuPy's."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


class Gpu(StagedDevice):
    """A device whose arrays stay where they are."""

    @staticmethod
    def zeros(shape, dtype):
        return np.zeros(shape, dtype).view(OnDevice)

    upload = download = None


def connected(monkeypatch) -> None:
    """Let ranks that are threads connect GPUs: NCCL is a `Group`, and there is one stream."""
    stream = SimpleNamespace(ptr=77)
    cuda = SimpleNamespace(nccl=Group(defaultdict(queue.Queue)), get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
