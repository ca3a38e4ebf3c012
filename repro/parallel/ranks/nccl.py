"""Messages from GPU to GPU by NCCL, which passes by the hosts; each rank has a GPU of its own."""

import numpy as np


class GpuMessages:
    """The GPUs of all ranks, which must all make one. NCCL refuses two ranks on one GPU.

    A rank that dies leaves the others' GPUs waiting: what ends them is `mpiexec`.
    """

    def __init__(self, ranks):
        import cupy
        from cupy.cuda import nccl

        self._nccl, self._stream = nccl, lambda: cupy.cuda.get_current_stream().ptr
        # by the name that rank 0 has given it the group finds together
        names = ranks.gather(np.frombuffer(nccl.get_unique_id(), np.uint8), "the name of the GPUs' group")
        self._group = nccl.NcclCommunicator(ranks.count, names[0].tobytes(), ranks.rank)

    def move(self, links) -> None:
        """Send and receive, in the order of the current stream; `links` are (link, piece out, piece in) on the device.

        NCCL knows no tags: what one rank sends another one arrives in its order, here that of the tags on both ends.
        """
        stream, byte = self._stream(), self._nccl.NCCL_CHAR
        self._nccl.groupStart()
        for link, piece, _ in sorted(links, key=lambda each: each[0].tag_out):
            if len(piece):
                self._group.send(piece.data.ptr, piece.nbytes, byte, link.rank, stream)
        for link, _, piece in sorted(links, key=lambda each: each[0].tag_in):
            if len(piece):
                self._group.recv(piece.data.ptr, piece.nbytes, byte, link.rank, stream)
        self._nccl.groupEnd()
