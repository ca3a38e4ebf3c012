"""The tool that changes sources at random: what it changes and what it leaves alone, and which tests it asks."""

import importlib
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
tool = importlib.import_module("mutants")
sites = importlib.import_module("mutation_sites")


def changed(source: str) -> set[str]:
    """All that a line can become."""
    text = source.encode()
    return {m.applied(text).decode() for site in sites.Sites("some.py", text).sites for m in site}


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("a < b", {"a <= b", "a > b"}),
        ("a + (b)", {"a - (b)"}),
        ("(a) * b", {"(a) / b"}),
        ("é - b", {"é + b"}),
        ("a and b", {"a or b"}),
        ("x = not a", {"x = (a)"}),
        ("x = -a", {"x = (a)"}),
        ("a[1]", {"a[2]", "a[0]"}),
        ("x = 0.5", {"x = 1.0"}),
        ("x = True", {"x = False"}),
        ("a += b", {"a -= b", "pass"}),
        ("f(a)", {"pass"}),
        ("x = f(a, b)", {"x = f(b, a)"}),
        ("x = f(a, b=c)", {"x = f(a)"}),
        ("x = np.min(a)", {"x = np.max(a)"}),
        ("x = max(a, b)", {"x = min(a, b)"}),
        ("if a: b", {"if (not (a)): b"}),
        ("x = a if b else c", {"x = a if (not (b)) else c"}),
        ("def f(): return a * b", {"def f(): return a / b", "def f(): return -(a * b)"}),
    ],
)
def test_a_line_can_become_its_neighbours(source, others):
    assert changed(source) == others


@pytest.mark.parametrize(
    "source",
    [
        '"""Of 1 + 1."""',
        "import a",
        "raise InputError(a + b)",
        "x = f'{a + b}'",
        "x = 'a' + b",
        "def f(a: Annotated[int, Whole(1, 2)]) -> tuple[int, 2]: pass",
        "x: Annotated[int, Whole(1, 2)]",
        "x = zip(a, 'b', strict=True)",
        "__all__ = ['a', 'b']",
        "axes.plot(a, 2 * b)",
    ],
)
def test_what_computes_nothing_is_left_alone(source):
    assert changed(source) == set()


def test_a_seed_draws_the_same_mutations_and_no_line_twice():
    made = tool.drawn("repro/pic/maxwell", 20, 3)
    assert made == tool.drawn("repro/pic/maxwell", 20, 3)
    assert made != tool.drawn("repro/pic/maxwell", 20, 4)
    assert len({(mutation.file, mutation.line) for mutation in made}) == 20
    assert len({mutation.file for mutation in made}) > 2
    for mutation in made:
        before, after = mutation.lines((tool.ROOT / mutation.file).read_bytes())
        assert before != after


def test_tests_that_are_named_after_a_module_come_first_and_those_of_who_imports_it_stand_in():
    assert tool.tests_of("repro/pic/air/elastic.py")[0] == "tests/pic/test_elastic.py"
    assert "tests/test_mutate.py" not in tool.tests_of("repro/sph/strategies/linked_list.py")
    assert any(test.startswith("tests/sph/") for test in tool.tests_of("repro/sph/strategies/linked_list.py"))
    # a program, of whose starters there are tests
    starters = "tests/parallel/test_rank_supervision.py", "tests/lbm/test_solve.py"
    assert sorted(tool.tests_of("repro/parallel/ranks/rank_main.py")) == sorted(starters)


@pytest.mark.parametrize(
    ("status", "unchanged", "word", "code"),
    [
        (0, 0, "survived", 1),
        (1, 0, "caught", 0),
        (-11, 0, "caught", 0),
        (None, 0, "undecided", 1),
        # a test that fails in any case says nothing
        (1, 1, "undecided", 1),
    ],
)
def test_a_mutation_is_caught_where_its_tests_fail_that_pass_without_it(monkeypatch, status, unchanged, word, code):
    seen = []

    def copy_of(folder: Path) -> Path:
        (folder / "repro").mkdir()
        (folder / "repro/some.py").write_text("two = 1 + 1\n")
        return folder

    def ran(folder, tests):
        text = (folder / "repro/some.py").read_text()
        if "+" in text:
            return unchanged, ""
        seen.append(text)
        return status, "FAILED tests/test_some.py::test_one - why\n"

    mutation = sites.Mutation("repro/some.py", "", 8, 9, "-", 1)
    monkeypatch.setattr(tool, "LIBRARIES", ())
    monkeypatch.setattr(tool, "copy_of", copy_of)
    monkeypatch.setattr(tool, "ran", ran)
    monkeypatch.setattr(tool, "drawn", lambda room, count, seed: [mutation] * 2)
    monkeypatch.setattr(tool, "tests_of", lambda file: ["tests/test_some.py"])
    monkeypatch.setattr(sites.Mutation, "lines", lambda self, text: ("1 + 1", "1 - 1"))
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"two = 1 + 1\n")
    app = tool.typer.Typer()
    app.command()(tool.main)
    found = CliRunner().invoke(app, ["repro"])
    first, _, last = found.output.splitlines()
    assert first.startswith(word)
    assert (last, found.exit_code) == (f"2 {word}", code)
    # each is made in the source as it is
    assert seen == ["two = 1 - 1\n"] * 2


def test_a_file_that_fails_in_any_case_is_left_out_and_the_others_are_asked(monkeypatch, tmp_path):
    """One that cannot be imported would keep them from running."""
    (some := tmp_path / "some.py").write_text("1 + 1\n")

    def ran(folder, tests):
        if "tests/test_broken.py" in tests:
            return 2, "ERROR tests/test_broken.py\n"
        return int("-" in some.read_text()), "FAILED tests/test_good.py::test_one - why\n"

    monkeypatch.setattr(tool, "ran", ran)
    monkeypatch.setattr(tool, "tests_of", lambda file: ["tests/test_good.py", "tests/test_broken.py"])
    tool.passes.cache_clear()
    found = tool.verdict(sites.Mutation("some.py", "", 2, 3, "-", 1), tmp_path, 6, [])
    assert found == ("caught", "tests/test_good.py::test_one")
    assert some.read_text() == "1 + 1\n"
