"""What a notebook hands over about a claim, and nothing that is derived from it: verdicts are not written down.

A number, or for a ranking (which is the fastest, what grows with what) the repetitions of each entry: two entries whose
repetitions overlap are not told apart.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum, auto
from itertools import pairwise
from statistics import median

from repro.errors import InputError, require
from repro.study.judge.claims import groups, number
from repro.study.notebooks import did_you_mean

LARGEST = sys.float_info.max
REPETITIONS = 3
"""Least number of independent repetitions of each entry of an order."""


@dataclass(frozen=True)
class Evidence:
    """What was found about one claim."""

    measured: float | dict | None = None
    """A finite number in the claim's unit; for an order the repetitions of each entry, {name: [value, ...]}, or such
    an order for each of several cases, {case: {name: [value, ...]}}; None without a value."""
    scatter: float | None = None
    """How far a number lies from that of another run, at most, in the claim's unit; None where runs do not differ."""
    baseline: str = ""
    """What a speedup is over: the program, the hardware and its speed."""
    not_measured: str = ""
    """Why there is no value, or none that counts."""
    note: str = ""

    def shown(self, stated: str = ">") -> float | str | None:
        """The value for people: the number, with what a speedup is over beside it, or the order that was found.

        An order goes in the direction of the stated one.
        """
        if isinstance(self.measured, Mapping):
            return found_in(orders(self.measured), stated)
        if self.baseline and self.measured is not None:
            return f"{number(self.measured)} (over {self.baseline})"
        return self.measured

    @property
    def entry(self) -> dict:
        """As it is kept in a result: what is not empty, and always `measured`."""
        return {name: value for name, value in vars(self).items() if name == "measured" or value not in ("", None)}


def read_evidence(claim: str, entry) -> Evidence:
    """The evidence of a result's entry for a claim; InputError says what is wrong with it."""
    known = {f.name: f.type for f in fields(Evidence)}
    require(isinstance(entry, Mapping), f"{claim}: its entry is no table")
    for name, value in entry.items():
        if name not in known:
            raise InputError(f"{claim}: unknown key '{name}', {did_you_mean(str(name), known)}")
        require(known[name] is not str or isinstance(value, str), f"{claim}: {name} is not a text")
    return check_evidence(claim, Evidence(**entry))


def check_evidence(claim: str, evidence: Evidence) -> Evidence:
    """InputError if there is neither a value nor the reason why, or if a value is not what it must be."""
    if evidence.measured is None and not evidence.not_measured:
        raise InputError(f"{claim}: neither a value nor the reason why there is none")
    if isinstance(evidence.measured, Mapping):
        for order in orders(evidence.measured, claim).values():
            _check_order(claim, order)
    elif evidence.measured is not None:
        _require_number(claim, evidence.measured, "the measured value")
    if evidence.scatter is not None:
        _require_number(claim, evidence.scatter, "the scatter")
        require(evidence.scatter >= 0, f"{claim}: the scatter is {evidence.scatter}, less than nothing")
    return evidence


def orders(measured: Mapping, claim: str = "") -> dict[str, Mapping]:
    """The orders by case; a single one has the case "". InputError if some entries are cases and others are not."""
    nested = [name for name, value in measured.items() if isinstance(value, Mapping)]
    if not nested:
        return {"": measured}
    if len(nested) < len(measured):
        other = next(name for name in measured if name not in nested)
        mixed = f"'{nested[0]}' is a case with entries and '{other}' is not"
        raise InputError(f"{claim}: {mixed}: give all by case or none")
    return dict(measured)


def _check_order(claim: str, order) -> None:
    if not isinstance(order, Mapping) or len(order) < 2:
        raise InputError(f"{claim}: an order needs two entries or more, {{name: [value, ...]}}, not {order}")
    for name, values in order.items():
        if not isinstance(values, list | tuple) or len(values) < REPETITIONS:
            raise InputError(f"{claim}: '{name}' needs {REPETITIONS} independent repetitions or more, not {values}")
        for value in values:
            _require_number(claim, value, f"'{name}'")


def _require_number(claim: str, value, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{claim}: {what} is {value!r}, not a number")
    require(-LARGEST <= value <= LARGEST, f"{claim}: {what} is {value}: the run is broken")


class Answer(Enum):
    """Whether something holds; open if the scatter could turn it."""

    HOLDS = auto()
    OPEN = auto()
    MISSES = auto()


def found_in(measured: Mapping[str, Mapping[str, Sequence[float]]], stated: str = ">") -> str:
    """The order that was measured in each case."""
    return "; ".join(f"{case}: {found(o, stated)}" if case else found(o, stated) for case, o in measured.items())


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
        apart = above(order[before], order[name]) is not Answer.OPEN
        text += f" {'<' if '<' in stated else '>'} {name}" if apart else f" ~ {name}"
    return text


def above(values: Sequence[float], others: Sequence[float]) -> Answer:
    """Whether all repetitions lie above all others; open where they overlap."""
    if min(values) > max(others):
        return Answer.HOLDS
    return Answer.MISSES if max(values) < min(others) else Answer.OPEN
