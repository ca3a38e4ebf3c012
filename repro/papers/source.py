"""The code of a formula, shown beside its equation."""

import inspect
import textwrap


def source(function) -> str:
    """A Markdown code block with the source of a function as it stands in the package, without its indentation.

    The inner function of a factory, such as the body of a kernel, may be given as well as a compiled function.
    """
    plain = inspect.unwrap(getattr(function, "py_func", function))
    return f"```python\n{textwrap.dedent(inspect.getsource(plain)).strip()}\n```\n"
