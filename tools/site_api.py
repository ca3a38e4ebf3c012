"""Pages of the library: one a package, whose modules are its sections, written by Sphinx from their docstrings."""

from pathlib import Path

GROUPS = {
    "What every room stands on": ("repro",),
    "Where code runs": ("repro.parallel", "repro.particles"),
    "Methods": ("repro.lbm", "repro.dpd", "repro.sph", "repro.pic"),
    "Claims, runs and verdicts": ("repro.study",),
    "The papers' experiments": ("repro.papers",),
}
"""Packages by what they are for; each brings the packages inside it along, `repro` none."""

INDEX = """# The library

What the notebooks call, from its docstrings: one page a package, one section a module. In docstrings
`repro.errors.InputError` is what refuses a parameter, in one line that says what would be right.
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
    return found | {"api/index.md": _index(list(known))}


def _page(package: str, modules: list[str]) -> str:
    sections = [f"# {package}", MODULE.format(package)]
    for module in modules:
        sections += [f"## {module}", MODULE.format(module)]
    return "\n".join(sections)


def _index(names: list[str]) -> str:
    parts = [INDEX]
    for title, heads in GROUPS.items():
        inside = tuple(f"{head}." for head in heads if head != "repro")
        chosen = [name for name in names if name in heads or name.startswith(inside)]
        parts += [f"## {title}\n", "```{toctree}\n:maxdepth: 1\n", *chosen, "```\n"]
    return "\n".join(parts)
