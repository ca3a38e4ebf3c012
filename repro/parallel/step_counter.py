"""The steps that a cell of JupyterLab has done, under the cell, where it takes long."""

import os
import sys
from collections.abc import Callable

from tqdm import tqdm

#: seconds after which a cell takes long
DELAY = 3.0

_bars: list[tqdm] = []


def step_counter() -> Callable[[int], object] | None:
    """What to tell of each portion of steps; None in a script and in a run of notebooks, which has its own bar."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel") or "REPRO_NOTEBOOK" in os.environ:
        return None
    if not _bars:
        _bars.append(tqdm(unit=" steps", delay=DELAY, leave=False))
        shell.events.register("post_run_cell", _close)
    return _bars[0].update


def _close(_result) -> None:
    """The cell has ended."""
    while _bars:
        _bars.pop().close()
    sys.modules["IPython"].get_ipython().events.unregister("post_run_cell", _close)
