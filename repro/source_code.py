"""The code of a source: what is left of it without comments, docstrings and empty lines."""

import ast
import hashlib
import tokenize
from io import StringIO


def code_hash(text: str) -> str:
    """Hash of what a source computes, in 16 digits."""
    return hashlib.sha256(code_of(text).encode()).hexdigest()[:16]


def code_of(text: str) -> str:
    """A source without docstrings, comments and empty lines; as it is where it is no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = text.split("\n")
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    strings = {n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str | bytes)}
    texts = strings | {n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)}
    for node in [n for n in ast.walk(tree) if isinstance(n, ast.Expr) and n.value in texts]:
        # it computes nothing, and no code stands beside it
        before, after = lines[node.lineno - 1].encode(), lines[node.end_lineno - 1].encode()
        beside = before[: node.col_offset] + after[node.end_col_offset :]
        if isinstance(node.value, ast.Constant) and not beside.strip():
            texts.remove(node.value)
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    # empty lines in a text are not empty lines of the source
    within = {number for node in texts for number in range(node.lineno - 1, node.end_lineno - 1)}
    return "\n".join(
        line if number in within else line.rstrip()
        for number, line in enumerate(lines)
        if number in within or line.strip()
    )
