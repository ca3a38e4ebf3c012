"""Orders: which is the fastest, what grows with what. Two entries whose repetitions overlap are not told apart.

A paper states an order as "a > b > c" or "a < b < c", or names the largest alone; "a = b" where its own figure does not
tell them apart, so that either order is right.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from itertools import combinations, pairwise
from statistics import median

from repro.errors import InputError


class Answer(Enum):
    """Whether something holds; open if the scatter could turn it."""

    HOLDS = auto()
    OPEN = auto()
    MISSES = auto()


def compare(stated: str, measured: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[Answer, str]:
    """Whether what was measured in every case is in the stated order, and the sentence that says so."""
    answers = {case: _holds(stated, order) for case, order in measured.items()}
    worst = next(a for a in (Answer.MISSES, Answer.OPEN, Answer.HOLDS) if a in answers.values())
    if len(measured) == 1:
        return worst, f"{found_in(measured, stated)} against {stated} (paper)"
    parts = [(word, [case for case in answers if answers[case] is answer]) for answer, word in _WORDS.items()]
    said = "; ".join(f"{word} {_cases(cases, len(measured))}" for word, cases in parts if cases)
    return worst, f"{stated} (paper): {said}"


_WORDS = {Answer.HOLDS: "found", Answer.OPEN: "not told apart", Answer.MISSES: "not found"}


def _cases(some: list[str], count: int) -> str:
    return f"in all {count} cases" if len(some) == count else f"at {', '.join(some)}"


def found_in(measured: Mapping[str, Mapping[str, Sequence[float]]], stated: str = ">") -> str:
    """The order that was measured in each case."""
    return "; ".join(f"{case}: {found(o, stated)}" if case else found(o, stated) for case, o in measured.items())


def groups(stated: str) -> list[list[str]]:
    """The names of a stated order, the largest first; names in one group are not told apart."""
    text = stated.strip()
    if ">" in text and "<" in text:
        raise InputError(f"'{stated}' goes up and down: write an order with > or with <")
    parts = [[name.strip() for name in part.split("=")] for part in re.split("[<>]", text)]
    names = [name for part in parts for name in part]
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"the order '{stated}' names nothing or the same twice")
    return parts[::-1] if "<" in text else parts


def as_stated(stated: str, measured: Mapping[str, Mapping]) -> tuple[dict[str, dict], list[str]]:
    """What was measured, in each case without what a stated ranking does not name, and the names that are missing.

    Where a paper names the largest alone, all others count.
    """
    names = [name for group in groups(stated) for name in group]
    ranking = len(groups(stated)) > 1
    kept = {
        case: {str(name): values for name, values in order.items() if not ranking or str(name) in names}
        for case, order in measured.items()
    }
    return kept, [name for name in names if not kept or any(name not in order for order in kept.values())]


def found(order: Mapping[str, Sequence[float]], stated: str = ">") -> str:
    """The order that was measured, in the direction of the stated one; ~ stands between entries that overlap."""
    names = sorted(order, key=lambda name: median(order[name]), reverse="<" not in stated)
    text = str(names[0])
    for before, name in pairwise(names):
        apart = _above(order[before], order[name]) is not Answer.OPEN
        text += f" {'<' if '<' in stated else '>'} {name}" if apart else f" ~ {name}"
    return text


def _holds(stated: str, order: Mapping[str, Sequence[float]]) -> Answer:
    order = {str(name): values for name, values in order.items()}
    ranks = groups(stated)
    if missing := [name for group in ranks for name in group if name not in order]:
        raise InputError(f"the order '{stated}' names {', '.join(missing)}, but {', '.join(order)} were measured")
    rest = [name for name in order if not any(name in group for group in ranks)]
    if len(ranks) > 1 and rest:
        raise InputError(f"the order '{stated}' leaves out {', '.join(rest)}, which were measured")
    ranks = [*ranks, rest] if rest else ranks
    pairs = [(a, b) for high, low in combinations(ranks, 2) for a in high for b in low]
    if len(ranks) == 2 and rest:
        # of names that are not told apart, the largest stands for all
        best = max(ranks[0], key=lambda name: median(order[name]))
        pairs = [(best, other) for other in rest]
    if not pairs:
        raise InputError(f"the order '{stated}' cannot fail: it tells none of the entries apart")
    answers = {_above(order[a], order[b]) for a, b in pairs}
    return next(a for a in (Answer.MISSES, Answer.OPEN, Answer.HOLDS) if a in answers)


def _above(values: Sequence[float], others: Sequence[float]) -> Answer:
    """Whether all repetitions lie above all others; open where they overlap."""
    if min(values) > max(others):
        return Answer.HOLDS
    return Answer.MISSES if max(values) < min(others) else Answer.OPEN
