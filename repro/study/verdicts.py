"""Judging a measured value against a claim."""

import math
from dataclasses import dataclass
from enum import StrEnum

from repro.errors import InputError

from .claims import Claim


class Verdict(StrEnum):
    """The five answers to a claim."""

    REPRODUCED = "reproduced"
    TREND_ONLY = "trend only"
    NOT_REPRODUCED = "not reproduced"
    NOT_COMPARABLE = "not comparable"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Judgement:
    """A verdict and the sentence that justifies it."""

    verdict: Verdict
    reason: str


def judge(claim: Claim, measured, trend: str | None = None, not_comparable: str | None = None) -> Judgement:
    """Judge `measured` by the claim's rule.

    `trend` says what the paper's trend is and that it was found: it turns a miss into "trend only".
    `not_comparable` gives the reason why the numbers cannot be compared. NaN never reproduces anything.
    """
    if claim.kind == "setup":
        raise InputError(f"claim {claim.id} states the set-up; it is not judged")
    if not_comparable:
        return Judgement(Verdict.NOT_COMPARABLE, not_comparable)
    if _is_number(measured) and not math.isfinite(measured):
        return Judgement(Verdict.NOT_REPRODUCED, f"the measured value is {measured}")
    holds, numbers = _order(claim, measured) if claim.rule == "order" else _compare(claim, float(measured))
    if holds:
        return Judgement(Verdict.REPRODUCED, numbers)
    if trend:
        return Judgement(Verdict.TREND_ONLY, f"{trend}; {numbers}")
    return Judgement(Verdict.NOT_REPRODUCED, numbers)


def _is_number(value) -> bool:
    return not isinstance(value, str) and value is not None


def _order(claim: Claim, measured) -> tuple[bool, str]:
    found, stated = (_normal(str(v)) for v in (measured, claim.value))
    return found == stated, f"{found} against {stated} (paper)"


def _normal(text: str) -> str:
    text = " ".join(text.split())
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _compare(claim: Claim, measured: float) -> tuple[bool, str]:
    low, high = claim.bounds()
    margin = claim.margin()
    # decimal numbers are not exact in binary: a difference equal to the tolerance is within it
    slack = 1e-9 * max(abs(low), abs(high), margin)
    unit = "" if claim.unit in ("", "-") else f" {claim.unit}"
    stated = f"{low:.5g}" if low == high else f"{low:.5g} to {high:.5g}"
    allowed = f" (tolerance {margin:.3g})" if margin else ""
    if claim.rule in ("at least", "at most"):
        least = claim.rule == "at least"
        holds = measured >= low - margin - slack if least else measured <= high + margin + slack
        ours, limit = _apart(measured, low if least else high, 5)
        stated = limit if low == high else stated
        return holds, f"{ours} against {claim.rule} {stated}{unit} (paper){allowed}"
    difference = max(low - measured, measured - high, 0.0)
    holds = difference <= margin + slack
    off, limit = _apart(difference, margin, 2)
    side = "within" if holds else "beyond"
    return holds, f"{measured:.5g} against {stated}{unit} (paper), difference {off} {side} {limit}"


def _apart(value: float, limit: float, digits: int) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart, `digits` at least."""
    for more in range(digits, 12):
        texts = f"{value:.{more}g}", f"{limit:.{max(more, 3)}g}"
        if float(texts[0]) != float(texts[1]):
            return texts
    # equal but for rounding
    return f"{value:.{digits}g}", f"{limit:.{max(digits, 3)}g}"
