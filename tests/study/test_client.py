"""What a notebook keeps of the output of its cells, message by message. No kernel runs."""

import tempfile

import pytest
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient

from repro.study.run import client


@pytest.fixture
def kernel(monkeypatch):
    """A client that keeps 100 characters, and whose own client keeps what it is given."""

    def keep(self, outs, msg, display_id, cell_index):
        made = NotebookNode(output_type=msg["msg_type"], **msg["content"])
        outs.append(made)
        return made

    monkeypatch.setattr(client, "MOST_OUTPUT", 100)
    monkeypatch.setattr(client, "_PIECE", 20)
    monkeypatch.setattr(PapermillNotebookClient, "output", keep)
    return client._Client.__new__(client._Client)


def told(kernel, outs: list, kind: str, **content) -> object:
    return client._Client.output(kernel, outs, {"msg_type": kind, "content": content}, "", 0)


def test_a_stream_is_cut_where_the_room_ends_and_what_is_cut_is_counted(kernel):
    outs = []
    told(kernel, outs, "stream", name="stdout", text="a" * 60)
    # with its name
    assert (kernel.kept, kernel.lost) == (66, 0)
    told(kernel, outs, "stream", name="stderr", text="b" * 50)
    assert [out["text"] for out in outs] == ["a" * 60, "b" * 34]
    assert (kernel.kept, kernel.lost) == (100, 16)
    told(kernel, outs, "stream", name="stderr", text="c" * 5)
    assert (kernel.kept, kernel.lost) == (100, 21)


def test_pieces_of_a_stream_are_joined_until_they_are_long(kernel):
    outs = []
    for text in ("a" * 12, "b" * 8, "c"):
        told(kernel, outs, "stream", name="stdout", text=text)
    told(kernel, outs, "stream", name="stderr", text="d")
    assert [out["text"] for out in outs] == ["a" * 12 + "b" * 8, "c", "d"]


def test_a_picture_that_has_no_room_is_left_out_and_counted_whole(kernel):
    outs = []
    told(kernel, outs, "display_data", data={"image/png": "x" * 70})
    assert told(kernel, outs, "display_data", data={"image/png": "y" * 40, "size": 3}) is None
    # a number counts as one character
    assert (len(outs), kernel.kept, kernel.lost) == (1, 70, 41)
    told(kernel, outs, "display_data", data={"image/png": "z" * 30})
    assert (len(outs), kernel.kept, kernel.lost) == (2, 100, 41)


def test_an_error_is_always_kept_and_short(kernel):
    kernel.kept, outs = 100, []
    told(kernel, outs, "error", ename="E", evalue="e" * 50, traceback=["t" * 50, "u"])
    (kept,) = outs
    assert (kept["evalue"], kept["traceback"]) == ("e" * 20, ["t" * 20, "u"])
    assert kernel.lost == 0


def test_a_cell_has_one_stream_of_each_name_in_the_place_of_the_first():
    def stream(name, text):
        return NotebookNode(output_type="stream", name=name, text=text)

    picture = NotebookNode(output_type="display_data")
    found = list(client._tidy([picture, stream("stderr", "1\r2\n"), picture, stream("stdout", "a\nb")], 0))
    assert [out.get("text", "picture") for out in found] == ["picture", "a\nb", "2\n", "picture"]
    assert [out["name"] for out in found[1:3]] == ["stdout", "stderr"]
    left_out = f"2.5 MB of output left out: a notebook keeps {client.MOST_OUTPUT / 1e6:.0f} MB\n"
    (_, said) = client._tidy([picture], 2_500_000)
    assert (said["name"], said["text"]) == ("stderr", left_out)


def test_the_time_of_a_cell_is_kept_by_a_file_that_is_there_while_it_runs(monkeypatch, tmp_path):
    clock, seen = tmp_path / "clock", []

    async def execute(self, cell, cell_index, **settings):
        seen.append((clock.read_text(), self.lost))
        self.lost = 3_000_000

    monkeypatch.setattr(PapermillNotebookClient, "async_execute_cell", execute)
    made = client._Client.__new__(client._Client)
    made.clock, made.lost = clock, 7
    code, text = cells = [NotebookNode(cell_type=kind, outputs=[]) for kind in ("code", "markdown")]
    made.nb = NotebookNode(cells=cells)
    for k, cell in enumerate(cells):
        client._Client.execute_cell(made, cell, k)
    # what one cell lost is not the next one's
    assert seen == [("1 of 2", 0), ("2 of 2", 0)]
    assert not clock.exists()
    assert [out["text"][:6] for out in code.outputs] == ["3.0 MB"]
    assert text.outputs == []


@pytest.mark.parametrize(("name", "transport"), [("short", "ipc"), ("n" * 100, "tcp")])
def test_a_kernel_has_ports_that_others_may_take_only_where_sockets_cannot_have_their_names(
    monkeypatch, tmp_path, name, transport
):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    manager = client._KernelManager()
    assert manager.transport == transport
    assert manager.ip.startswith(str(folder)) == (transport == "ipc")
    # what was tried is gone
    assert [path for path in folder.rglob("*") if not path.is_dir()] == []
