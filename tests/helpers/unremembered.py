"""A benchmark whose checks are made in plain Python over a small system, and not remembered."""

from contextlib import contextmanager

from helpers.plain import PlainCore


@contextmanager
def unremembered(benchmark, system, monkeypatch):
    """A core for the benchmark module of a method; `system` is checked over two steps."""
    monkeypatch.setattr(benchmark, "select", lambda name: PlainCore())
    monkeypatch.setattr(benchmark, "_small", lambda: system)
    monkeypatch.setattr(benchmark, "CHECK_STEPS", 2)
    checks = benchmark._checked, benchmark._expected
    for check in checks:
        check.cache_clear()
    yield PlainCore()
    for check in checks:
        check.cache_clear()
