"""Figures of the walk. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch, Rectangle

from repro.errors import require_whole
from repro.papers.style import BLACK, GREEN, ORANGE, SKY_BLUE, VERMILLION

from .pointers import State
from .walk import BASKET, THREADS, Look

#: colours of an element: what is in it
WAITS, WORKS, DONE, NOBODY = SKY_BLUE, ORANGE, GREEN, "white"

_LABELS = {
    "to be read": WAITS,
    "in work": WORKS,
    "at the end of the step": DONE,
    "in a basket": "0.85",
    "nobody": NOBODY,
}


def launches(looks: list[Look], columns: int = 3):
    """Domains and baskets before the first launch and after each, one panel a launch."""
    require_whole("columns", columns, 1, 12)
    rows = -(-len(looks) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(3.3 * columns, 2.5 * rows), squeeze=False)
    most = max(max(look.end) for look in looks) + 1
    for number, (axes, look) in enumerate(zip(panels.ravel(), looks, strict=False)):
        _draw(axes, look, most)
        axes.set_title("before the first launch" if not number else f"after launch {number}")
    for axes in panels.ravel()[len(looks) :]:
        axes.set_axis_off()
    handles = [Patch(facecolor=colour, edgecolor=BLACK, label=label) for label, colour in _LABELS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    names = ("domains", "read", "write", "end", "busy")
    return figure, {name: np.array([getattr(look, name) for look in looks]) for name in names}


def _draw(axes, look: Look, most: int):
    for t, domain in enumerate(look.domains):
        y = -1.35 * t - 0.5 * (t // THREADS)
        for element, name in enumerate(domain[:most]):
            _box(axes, element, y, "" if name < 0 else str(name), _colour(look, t, element, name))
        _pointer(axes, look.read[t], y + 0.86, "v", VERMILLION)
        _pointer(axes, look.write[t], y - 0.06, "^", BLACK)
        axes.text(-0.25, y + 0.4, f"{t}", ha="right", va="center")
    for block, (incoming, outgoing) in enumerate(zip(look.incoming, look.outgoing, strict=True)):
        y = -1.35 * THREADS * block - 0.5 * block
        for slot, (names, label) in enumerate(((incoming, "in"), (outgoing, "out"))):
            axes.text(most + 1.0, y - 1.35 * slot + 0.4, label, ha="right", va="center", fontsize=8)
            for k in range(BASKET):
                name = str(names[k]) if k < len(names) else ""
                _box(axes, most + 1.2 + k, y - 1.35 * slot, name, "0.85" if name else NOBODY)
    bottom = -1.35 * len(look.domains) - 0.4
    waiting = ", ".join(map(str, look.waiting)) or "nobody"
    axes.text(0, bottom, f"waiting at the host: {waiting}", fontsize=8, va="bottom")
    axes.set(xlim=(-0.9, most + 1.4 + BASKET), ylim=(bottom - 0.1, 1.3), aspect="equal")
    axes.set_axis_off()


def _colour(look: Look, t: int, element: int, name: int) -> str:
    if name < 0:
        return NOBODY
    if element < look.write[t]:
        return DONE
    return WORKS if element == look.read[t] else WAITS


def _box(axes, x, y, text, colour):
    axes.add_patch(Rectangle((x, y), 1, 0.8, facecolor=colour, edgecolor=BLACK, linewidth=0.8))
    axes.text(x + 0.5, y + 0.4, text, ha="center", va="center", fontsize=8)


def _pointer(axes, element, y, marker, colour):
    axes.plot(element + 0.5, y, marker=marker, color=colour, markersize=5, linestyle="none", clip_on=False)


def rules(cases: dict[str, list[State]]):
    """The rule of the pointers as it must be and as printed: a column a rule, a row a launch."""
    most = max(len(states) for states in cases.values())
    figure, panels = plt.subplots(1, len(cases), figsize=(3.4 * len(cases), 0.85 * most + 0.8))
    for axes, (title, states) in zip(panels, cases.items(), strict=True):
        for row, state in enumerate(states):
            y = -1.9 * row
            for element, name in enumerate(state.memory):
                _box(axes, element, y, name, _rule_colour(state, element))
            _pointer(axes, state.read, y + 0.9, "v", VERMILLION)
            _pointer(axes, state.write, y - 0.1, "^", BLACK)
            axes.text(0, y + 1.02, state.happened, fontsize=8, va="bottom")
        axes.set(xlim=(-0.2, 5.2), ylim=(-1.9 * (most - 1) - 0.5, 1.9), aspect="equal")
        axes.set_axis_off()
        axes.set_title(title, fontsize=9)
    arrays = {f"{title}: pointers": [(s.read, s.write) for s in states] for title, states in cases.items()}
    return figure, arrays


def _rule_colour(state: State, element: int) -> str:
    if element == state.source and state.read < len(state.memory):
        return WORKS
    if element < min(state.read, state.write):
        return DONE
    return WAITS if element >= max(state.read, state.write) else NOBODY
