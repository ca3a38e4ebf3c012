"""Modules that take long to import come without what they do not need, and a missing one is named."""

import subprocess
import sys

import pytest

from repro.errors import InputError
from repro.study.run.execute import import_without_grammar


def test_a_module_that_is_not_installed_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nbconvert", None)
    with pytest.raises(InputError, match=r"nbconvert is not installed: python -m pip install -r requirements\.txt"):
        import_without_grammar("nbconvert")


def test_the_grammar_of_links_is_not_built():
    code = "import sys\nfrom repro.study.run.execute import import_without_grammar as light\n"
    code += "light('nbformat')\nprint('rfc3987_syntax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
