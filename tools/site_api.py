"""Pages of the library: one a package, whose modules are its sections, written by Sphinx from their docstrings."""

import ast
from pathlib import Path

GROUPS = {
    "The package": ("repro",),
    "Where code runs": ("repro.parallel", "repro.particles"),
    "Methods": ("repro.lbm", "repro.dpd", "repro.sph", "repro.pic"),
    "Claims, runs and verdicts": ("repro.study",),
    "The papers' experiments": ("repro.papers",),
}
"""Packages by what they are for; each brings the packages inside it along, `repro` none."""

INDEX = """# All functions

From their docstrings: one page for each package, one section for each module. To begin, see the
[examples](../library.md). A parameter that cannot work raises `repro.errors.InputError`, whose one line says what would
be right.
"""

MODULE = """```{{eval-rst}}
.. automodule:: {}
   :members:
```
"""


def packages(source: Path) -> dict[str, list[str]]:
    """Every package below the folder of `repro` with its modules; what begins with _ is nobody's business."""
    found = {}
    for folder in sorted({file.parent for file in source.rglob("*.py")}):
        name = ".".join(("repro", *folder.relative_to(source).parts))
        found[name] = [f"{name}.{file.stem}" for file in sorted(folder.glob("*.py")) if not file.stem.startswith("_")]
    return found


def pages(source: Path) -> dict[str, str]:
    """The pages by their place in the site."""
    known = packages(source)
    found = {f"api/{name}.md": _page(name, modules) for name, modules in known.items()}
    return found | {"api/index.md": _index(source, list(known))}


def _page(package: str, modules: list[str]) -> str:
    sections = [f"# {package}", MODULE.format(package)]
    for module in modules:
        sections += [f"## {module}", MODULE.format(module)]
    return "\n".join(sections)


def _index(source: Path, names: list[str]) -> str:
    parts = [INDEX]
    for title, heads in GROUPS.items():
        inside = tuple(f"{head}." for head in heads if head != "repro")
        chosen = [name for name in names if name in heads or name.startswith(inside)]
        lines = [f"- [{name}]({name}.md){_first_line(source, name)}" for name in chosen]
        parts += [f"## {title}\n", *lines, "", "```{toctree}\n:hidden:\n", *chosen, "```\n"]
    return "\n".join(parts)


def _first_line(source: Path, package: str) -> str:
    """What a package is, from the beginning of its docstring, after a colon."""
    file = source.joinpath(*package.split(".")[1:], "__init__.py")
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return f": {' '.join(said.partition(chr(10) * 2)[0].split())}" if said else ""
