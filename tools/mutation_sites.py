"""Where a source can be mutated, and into what: operators on Python's syntax tree, see tools/mutants.py."""

import ast
from dataclasses import dataclass
from itertools import pairwise

#: how Python writes its operators
SYMBOLS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is"}
SYMBOLS |= {ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.And: "and", ast.Or: "or", ast.Add: "+"}
SYMBOLS |= {ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"}
SYMBOLS |= {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}

#: what each of them becomes
TURNED = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",)}
TURNED |= {"is": ("is not",), "is not": ("is",), "in": ("not in",), "not in": ("in",), "and": ("or",), "or": ("and",)}
TURNED |= {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "//": ("*",), "%": ("//",), "**": ("*",)}
TURNED |= {"&": ("|",), "|": ("&",), "^": ("&",), "<<": (">>",), ">>": ("<<",)}

#: functions and their opposites
NAMES = {"min": "max", "minimum": "maximum", "floor": "ceil", "sin": "cos", "any": "all", "argmin": "argmax"}
NAMES |= {other: name for name, other in NAMES.items()}


#: names of arguments that only guard against a mistake, and none that is named; and those whose methods draw
_GUARDS, _DRAWING = ("strict", None), ("axes", "axis", "figure", "plt")

#: arguments that may take each other's place, but for these functions
_UNORDERED = ("min", "max", "minimum", "maximum", "hypot")
_EXCHANGED = (ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript)


@dataclass(frozen=True)
class Mutation:
    """What stands between two places of a file becomes something else; `scope` is the function it is part of."""

    file: str
    scope: str
    begin: int
    end: int
    new: str
    line: int

    def applied(self, text: bytes) -> bytes:
        """The file's text with the change."""
        return text[: self.begin] + self.new.encode() + text[self.end :]

    def lines(self, text: bytes) -> tuple[str, str]:
        """The line of the change before and after it."""
        pairs = zip(text.decode().splitlines(), self.applied(text).decode().splitlines(), strict=False)
        before, after = next((old.strip(), new.strip()) for old, new in pairs if old != new)
        return before, after


class Sites(ast.NodeVisitor):
    """All places of a file that can change, each as the mutations that are possible there."""

    def __init__(self, file: str, text: bytes):
        self.file, self.text, self.sites, self._scope = file, text, [], []
        self._starts = [0, *(i + 1 for i, byte in enumerate(text) if byte == ord("\n"))]
        self.visit(ast.parse(text))

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _source(self, node: ast.AST) -> str:
        begin, end = self._span(node)
        return self.text[begin:end].decode()

    def _add(self, node: ast.AST, *new: str, span: tuple[int, int] | None = None) -> None:
        begin, end = span or self._span(node)
        line = self.text.count(b"\n", 0, begin) + 1
        self.sites.append([Mutation(self.file, ".".join(self._scope), begin, end, word, line) for word in new])

    def _between(self, left: ast.AST, right: ast.AST, operator: ast.AST, after: str = "") -> None:
        """The operator that stands between two nodes; brackets may stand there too."""
        start, symbol = self._span(left)[1], SYMBOLS[type(operator)]
        at = self.text.index((symbol + after).encode(), start, self._span(right)[0])
        self._add(left, *TURNED[symbol], span=(at, at + len(symbol)))

    def _function(self, node) -> None:
        self._scope.append(node.name)
        for part in [*node.args.defaults, *filter(None, getattr(node.args, "kw_defaults", [])), *node.body]:
            self.visit(part)
        self._scope.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """What stands in its body; its decorators are declarations."""
        self._scope.append(node.name)
        for part in node.body:
            self.visit(part)
        self._scope.pop()

    def _left_alone(self, node: ast.AST) -> None:
        """Messages, imports and declarations."""

    visit_Raise = visit_JoinedStr = visit_Import = visit_ImportFrom = visit_Assert = _left_alone

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value only."""
        if node.value:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """All but types."""
        if self._source(node.value) not in ("Annotated", "Literal", "tuple", "Callable"):
            self.generic_visit(node)

    def visit_If(self, node) -> None:
        """A condition and its opposite."""
        if self._source(node.test) != '__name__ == "__main__"':
            self._add(node.test, f"(not ({self._source(node.test)}))")
            self.generic_visit(node)

    visit_IfExp = visit_If

    def visit_Compare(self, node: ast.Compare) -> None:
        """Strict or not, and turned round."""
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self._between(left, right, operator)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Plus and minus, times and over."""
        # texts and lists know plus only
        lists = any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in (node.left, node.right))
        words = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right))
        if type(node.op) in SYMBOLS and not lists and not words:
            self._between(node.left, node.right, node.op)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """And, or."""
        for left, right in pairwise(node.values):
            self._between(left, right, node.op)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Without a `not` or a sign."""
        self._add(node, f"({self._source(node.operand)})")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Added or taken away, or left out."""
        if SYMBOLS.get(type(node.op)) in TURNED:
            self._between(node.target, node.value, node.op, "=")
        self._add(node, "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for what it does, left out; no docstring."""
        if isinstance(node.value, ast.Call) and not self._draws(node.value):
            self._add(node, "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """The other sign of a formula."""
        if isinstance(node.value, ast.BinOp) and not isinstance(node.value.op, ast.BitOr | ast.Mod):
            self._add(node.value, f"-({self._source(node.value)})")
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """The value of an argument with a name."""
        if node.arg not in _GUARDS:
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another number, the other truth."""
        value = node.value
        if isinstance(value, bool):
            self._add(node, str(not value))
        elif isinstance(value, int):
            self._add(node, *(str(other) for other in {value + 1, abs(value - 1)}))
        elif isinstance(value, float):
            self._add(node, repr(2 * value) if value else "1.0")

    def _draws(self, call: ast.Call) -> bool:
        return self._source(call.func).partition(".")[0] in _DRAWING

    def visit_Call(self, node: ast.Call) -> None:
        """Two arguments exchanged, one with a name left out, or a function's opposite called."""
        if self._draws(node):
            return
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for one, other in pairwise(node.args):
            # with arguments of two kinds the call fails, and of some functions they have no order
            if called not in _UNORDERED and isinstance(one, _EXCHANGED) and isinstance(other, _EXCHANGED):
                (begin, first), (second, end) = self._span(one), self._span(other)
                mid = self.text[first:second].decode()
                self._add(one, self._source(other) + mid + self._source(one), span=(begin, end))
        for before, word in pairwise(sorted([*node.args, *node.keywords], key=self._span)):
            if isinstance(word, ast.keyword) and word.arg not in _GUARDS:
                self._add(word, "", span=(self._span(before)[1], self._span(word)[1]))
        if called in NAMES:
            end = self._span(node.func)[1]
            self._add(node, NAMES[called], span=(end - len(called), end))
        self.generic_visit(node)
