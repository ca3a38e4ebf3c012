"""Gives every page a description for search engines and previews: its first paragraph."""

from html import escape

from docutils import nodes

LONGEST = 200


def describe(app, name, template, context, doctree):
    """Add the description to what stands in the head of a page."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    text = next((" ".join(p.astext().split()) for p in paragraphs if len(p.astext()) > 40), "")
    short = text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0] + " ..."
    if short:
        content = escape(short, quote=True)
        context["metatags"] += f'<meta name="description" content="{content}">\n'
        context["metatags"] += f'<meta property="og:description" content="{content}">\n'
        context["metatags"] += f'<meta property="og:title" content="{escape(context["title"], quote=True)}">\n'


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True}
