"""The code of a formula, shown beside its equation."""

import inspect
import textwrap


def source(*functions) -> str:
    """A Markdown code block for each function with its source as it stands in the package, without its indentation.

    The inner function of a factory, such as the body of a kernel, may be given as well as a compiled function.
    """
    plain = [inspect.unwrap(getattr(function, "py_func", function)) for function in functions]
    return "".join(f"```python\n{textwrap.dedent(inspect.getsource(each)).strip()}\n```\n" for each in plain)
