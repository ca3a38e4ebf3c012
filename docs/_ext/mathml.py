"""Formulas as MathML, which browsers draw themselves: MathJax would have to come from the network."""

import re

from docutils import nodes

from repro.study.show import html


def formula(tex: str, block: bool) -> str:
    """A formula in TeX as one MathML element; ValueError where it cannot be read."""
    fence = "$$" if block else "$"
    found = re.search(r"<math\b.*</math>", html.markdown_to_html(f"{fence}{tex.strip()}{fence}"), re.DOTALL)
    if not found:
        raise ValueError(f"no formula: {tex}")
    return found.group()


def _inline(writer, node):
    writer.body.append(f'<span class="formula">{formula(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="formula-block">{formula(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app) -> dict:
    """Name the renderer, which conf.py chooses."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
