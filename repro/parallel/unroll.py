"""Loops that are written out before the compiler sees them.

It leaves a long body a loop, with its numbers in tables: then what is multiplied by zero is not left out, rows of the
scratch are not known to differ, and nothing is vectorised.
"""

import ast
import inspect
import textwrap
from copy import deepcopy

from .jit import device_function, generated

#: marks a loop that `unrolled` writes out, `for term in each(terms)`, over a tuple from around the function
each = iter


def unrolled(function):
    """A `device_function` whose loops over `each` are written out, a copy of their text for each entry."""
    around = inspect.getclosurevars(function)
    writer = _Writer(around.nonlocals)
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    tree.decorator_list = []
    text = textwrap.indent(ast.unparse(writer.visit(tree)), "    ")
    values = around.globals | writer.values
    title = f'"""Generated: {function.__name__} of {function.__module__}, its loops written out."""'
    text = f"{title}\n\n\ndef make({', '.join(values)}):\n{text}\n    return {function.__name__}\n"
    return device_function(generated("unrolled", text).make(*values.values()))


class _Writer(ast.NodeTransformer):
    """Writes out the loops over `each`, with a name of its own for each entry."""

    def __init__(self, values: dict):
        self.values, self.names = dict(values), {}

    def visit_For(self, node):
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "each"):
            return self.generic_visit(node)
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        copies = []
        for number, entry in enumerate(self.values[call.args[0].id]):
            self.names |= {target.id: f"{target.id}_{number}" for target in targets}
            entries = entry if isinstance(node.target, ast.Tuple) else [entry]
            self.values |= {self.names[target.id]: value for target, value in zip(targets, entries, strict=True)}
            copies += [self.visit(deepcopy(statement)) for statement in node.body]
        return copies

    def visit_Name(self, node):
        return ast.Name(self.names.get(node.id, node.id), node.ctx)
