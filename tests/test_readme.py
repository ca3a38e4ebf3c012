"""README is short, and what it and docs/library.md show as a library runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIBRARY = (ROOT / "docs/library.md").read_text(encoding="utf-8")
SMALLER = {
    "nodes=64": "nodes=16",
    "reynolds=400": "reynolds=10",
    "48, 48, 48": "16, 16, 16",
    "32, 32, 32": "16, 16, 16",
    "diameter=16": "diameter=8",
    "diameter=12": "diameter=8",
    "step(2000": "step(20",
    "step(500": "step(20",
    "step(100": "step(10",
}
"""What makes the examples of docs/library.md quick; each must be there."""


def examples(page: str) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_readme_is_read_in_a_few_minutes():
    assert len(README.encode()) <= 7000


def test_the_readme_leaves_nothing_to_be_filled_in():
    assert "OWNER/" not in README
    assert re.findall(r"\{[a-z]+-\d+|TODO|\(not measured\)", README) == []


def test_the_readme_explains_a_word_before_it_uses_it():
    told = README.index("called *profiles*")
    assert min(m.start() for m in re.finditer("profile", README, re.IGNORECASE)) > told - 20


def test_the_example_of_the_readme_prints_what_it_says(capsys):
    (code,) = examples(README)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    said = [line[4:] for line in README.splitlines() if line.startswith("    ") and not line.startswith("    make")]
    # the last digits depend on the processor, by rounding
    assert [line.split() for line in printed[1:2]] == [line.split() for line in said[1:2]]
    measured, expected = ([float(n) for n in lines[2].split()[2:]] for lines in (printed, said))
    assert measured == pytest.approx(expected, abs=1e-4)
    assert printed[0].startswith("converged after ")
    assert re.search(r"x = 0\.6172, y = 0\.7344", README)
    assert measured[:2] == pytest.approx([0.6172, 0.7344], abs=0.004)


def test_the_glossary_turns_lattice_units_into_metres_as_it_says(capsys):
    (code,) = examples((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    exec(compile(code, "docs/glossary.md", "exec"), {})
    assert capsys.readouterr().out.strip() == code.strip().rpartition("  # ")[2]


def test_every_example_has_what_makes_it_smaller():
    assert [name for name in SMALLER if name not in "".join(examples(LIBRARY))] == []


@pytest.mark.parametrize("code", examples(LIBRARY), ids=re.findall(r"^## (.+)$", LIBRARY, re.MULTILINE))
def test_every_example_of_the_library_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for large, small in SMALLER.items():
        code = code.replace(large, small)
    exec(compile(code, "docs/library.md", "exec"), {})
    for name in re.findall(r'"(\w+\.(?:h5|xyz|vtp))"', code):
        assert (tmp_path / name).stat().st_size > 0
