"""What was worked out from a text is kept for the next process, and never served for another text or another reader."""

import json

import pytest

from repro.study.keep import sources

calls = []


def longer(text: str) -> str:
    calls.append(text)
    return text + text


def shorter(text: str) -> str:
    return text[1:]


def opening(text: str, other: str) -> str:
    return text


@pytest.fixture
def process(tmp_path, monkeypatch):
    """process(): `longer` (or another), remembered, in a process of its own; process.end() is its end."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    at_exit = []
    monkeypatch.setattr(sources.atexit, "register", at_exit.append)
    calls.clear()

    def start(function=longer):
        sources._known.cache_clear()
        sources._save_at_exit.cache_clear()
        return sources.remember(function)

    def end():
        while at_exit:
            at_exit.pop()()

    start.end = end
    yield start
    sources._known.cache_clear()
    sources._save_at_exit.cache_clear()


def test_a_text_is_worked_out_once(process):
    first = process()
    assert (first("a"), first("a"), first("b")) == ("aa", "aa", "bb")
    process.end()
    assert process()("a") == "aa"
    assert calls == ["a", "b"]


@pytest.mark.parametrize("content", ["[", "null", '["a"]', "7"])
def test_damaged_memory_is_none(process, tmp_path, content):
    process()("a")
    process.end()
    (tmp_path / "sources.json").write_text(content)
    assert process()("a") == "aa"
    assert calls == ["a", "a"]


def test_readers_of_one_module_share_nothing(process):
    assert process()("a") == "aa"
    assert sources.remember(shorter)("a") == ""


def test_where_one_text_ends_and_the_next_begins_counts(process):
    remembered = process(opening)
    assert (remembered("ab", "c"), remembered("a", "bc")) == ("ab", "a")


def test_without_a_place_to_keep_it_a_text_is_worked_out_all_the_same(process, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert process()("a") == "aa"
    process.end()


def test_what_the_reader_was_then_is_not_asked_now(process, monkeypatch, tmp_path):
    process()("a")
    process.end()
    changed = tmp_path / "reader.py"
    changed.write_text("# another reader")
    monkeypatch.setattr(sources.inspect, "getfile", lambda function: str(changed))
    process()("a")
    assert calls == ["a", "a"]


def test_only_the_newest_are_kept(process, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST", 2)
    remembered = process()
    for text in "abc":
        remembered(text)
    process.end()
    assert list(json.loads((tmp_path / "sources.json").read_text()).values()) == ["bb", "cc"]
