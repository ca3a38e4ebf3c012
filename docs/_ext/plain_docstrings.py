"""Docstrings of this project are plain text with `code`; Sphinx reads reStructuredText.

So what that would take for markup is escaped, and what is indented below a line stays as it is typed.
"""

import inspect
import re

from sphinx import addnodes

_CODE = re.compile(r"(`[^`]+`)")
_LIST = re.compile(r"\s*([-*]|\d+\.) ")


def as_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    found, literal = [], False
    for before, line in zip(["", *lines], lines, strict=False):
        indented = line.startswith("    ")
        if indented and not literal and not before.strip() and not _LIST.match(line):
            found += ["::", ""]
            literal = True
        elif line.strip() and not indented:
            literal = False
        found.append(line if literal else _escaped(line))
    return found


def _escaped(line: str) -> str:
    """A line of text with `code` as code, and no other markup."""
    head = _LIST.match(line)
    start = head.end() if head else 0
    parts = _CODE.split(line[start:])
    for i, part in enumerate(parts):
        parts[i] = _code(part) if i % 2 else re.sub(r"([\\*|_`])", r"\\\1", part)
    return line[:start] + "".join(parts)


def _code(part: str) -> str:
    # markup ends only before a space or a sign; the escaped space, which is not shown, stands for one
    return rf"\ `{part}`\ "


def _process(app, what, name, obj, options, lines):
    lines[:] = as_rst(lines)


def _skip(app, what, name, obj, skip, options):
    # another library's function under a name of ours brings its own docstring along
    module = getattr(obj, "__module__", None) or ""
    return True if inspect.isroutine(obj) and not module.startswith("repro") else None


def _without_addresses(app, domain, objtype, content):
    # where a module lies, or an object in memory, is true of one machine and one run only
    for node in list(content.parent.findall(addnodes.desc_annotation)):
        if re.search(r"<module|0x[0-9a-f]{6}", node.astext()):
            node.parent.remove(node)


def setup(app) -> dict:
    """Let every docstring pass through here, and leave out what is not ours."""
    app.connect("object-description-transform", _without_addresses)
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
