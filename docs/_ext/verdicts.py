"""Gives cells of tables that say a verdict its class, which has a colour."""

from docutils import nodes

from repro.study.judge.verdicts import Verdict


def mark(app, doctree):
    """Mark the cells of a page."""
    names = [str(verdict) for verdict in Verdict]
    for entry in doctree.findall(nodes.entry):
        said = next((name for name in names if entry.astext().partition(" (")[0] == name), None)
        if said:
            entry["classes"].append(said.replace(" ", "-"))


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True}
