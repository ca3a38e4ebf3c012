"""Executes a notebook's cells as papermill does: outputs are bounded, and the kernel does not outlive us."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient.util import run_sync
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from repro.study.run.guard import die_with_parent

#: name of the engine, for papermill
ENGINE = "bounded"

#: characters of output that are kept of a notebook; pictures are text there
MOST_OUTPUT = 10_000_000

#: characters of the lines of an error, and those up to which pieces of a stream are joined as they come: joining long
#: ones again and again takes for ever
_PIECE = 65536


#: begins a kernel without the settings of a machine, which no variable keeps it from
_KERNEL = """
from IPython.core import application
for folders in (application.SYSTEM_CONFIG_DIRS, application.ENV_CONFIG_DIRS):
    folders.clear()
from ipykernel import kernelapp
kernelapp.launch_new_instance()
"""


class _KernelManager(AsyncKernelManager):
    """Starts this Python, which has the package, whatever kernels are installed under any name.

    They talk through sockets in a folder. Ports are found here and taken by the kernel seconds later, and one that
    somebody else has taken by then ends the kernel before its first cell.
    """

    def __init__(self, **settings):
        super().__init__(**settings)
        place = f"{mkdtemp()}/kernel"
        if _takes_sockets(f"{place}-0"):
            self.transport, self.ip = "ipc", place

    @property
    def kernel_spec(self) -> KernelSpec:
        command = [sys.executable, "-c", _KERNEL, "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name=self.kernel_name, language="python")


def _takes_sockets(path: str) -> bool:
    """Whether a socket can have this name: it must be short, and some file systems have no sockets."""
    with closing(socket.socket(socket.AF_UNIX)) as probe:
        try:
            probe.bind(path)
        except OSError:
            return False
    os.unlink(path)
    return True


class _Client(PapermillNotebookClient):
    kept = lost = 0
    clock: Path

    def output(self, outs: list, msg: dict, display_id: str, cell_index: int) -> NotebookNode | None:
        content, room = msg["content"], MOST_OUTPUT - self.kept
        if msg["msg_type"] == "stream":
            self.lost += max(0, len(content["text"]) - room)
            content["text"] = content["text"][:room]
        elif msg["msg_type"] == "error":
            # it ends the notebook and says why: it is always kept
            content["evalue"] = content["evalue"][:_PIECE]
            content["traceback"] = [line[:_PIECE] for line in content["traceback"]]
        elif _size(content) > room:
            self.lost += _size(content)
            return None
        self.kept = min(MOST_OUTPUT, self.kept + _size(content))
        last = outs[-1] if outs else {}
        if msg["msg_type"] == "stream" and last.get("name") == content["name"] and len(last["text"]) < _PIECE:
            last["text"] += content["text"]
            return last
        return super().output(outs, msg, display_id, cell_index)

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, **settings) -> NotebookNode:
        self.lost = 0
        self.clock.write_text(f"{cell_index + 1} of {len(self.nb.cells)}")
        try:
            return await super().async_execute_cell(cell, cell_index, **settings)
        finally:
            self.clock.unlink()
            if cell.cell_type == "code":
                cell.outputs = list(_tidy(cell.outputs, self.lost))

    execute_cell = run_sync(async_execute_cell)


def _size(content) -> int:
    """Characters of texts in a message."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, dict):
        content = content.values()
    return sum(map(_size, content)) if hasattr(content, "__iter__") else 1


def _tidy(outputs: list[NotebookNode], lost: int) -> Iterator[NotebookNode]:
    """The outputs of a cell with one stream of each name, in the place of the first: standard output, then errors."""
    pieces = [output for output in outputs if output["output_type"] == "stream"]
    written = {name: [p["text"] for p in pieces if p["name"] == name] for name in ("stdout", "stderr")}
    streams = {name: _as_seen("".join(texts)) for name, texts in written.items()}
    if lost:
        streams["stderr"] += f"{lost / 1e6:,.1f} MB of output left out: a notebook keeps {MOST_OUTPUT / 1e6:,.0f} MB\n"
    texts = [NotebookNode(output_type="stream", name=name, text=text) for name, text in streams.items() if text]
    for output in outputs:
        if output["output_type"] != "stream":
            yield output
        elif output is pieces[0]:
            yield from texts
    if not pieces:
        yield from texts


def _as_seen(text: str) -> str:
    """What stays of lines that were written over from their beginning, as progress bars do."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


class _Engine(NBClientEngine):
    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, *, execution_timeout, start_timeout, clock: Path, **_):
        """As papermill's own, by our client; `clock` is there, and as old as the cell, while a cell runs."""
        times = {"timeout": execution_timeout, "startup_timeout": start_timeout}
        client = _Client(nb_man, kernel_name=kernel_name, kernel_manager_class=_KernelManager, **times)
        client.clock = clock
        return client.execute(preexec_fn=die_with_parent)


papermill_engines.register(ENGINE, _Engine)
