"""Judging evidence against a claim. A verdict is derived whenever it is shown, and kept nowhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from statistics import median

from repro.errors import InputError, require
from repro.files import read_toml
from repro.study.judge.claims import INCOMPARABLE, Claim, first_rule, groups, number, numbers_apart, trend_of
from repro.study.judge.evidence import Answer, Evidence, above, as_stated, found_in, orders


class Verdict(StrEnum):
    """The seven answers to a claim."""

    REPRODUCED = "reproduced"
    NEWER_HARDWARE = "met by newer hardware"
    TIE = "tie"
    TREND_ONLY = "trend only"
    NOT_REPRODUCED = "not reproduced"
    NOT_COMPARABLE = "not comparable"
    NOT_MEASURED = "not measured"


MEANINGS: dict[str, str] = read_toml(Path(__file__).with_name("meanings.toml"))
"""What each verdict says."""

_VERDICTS = {Answer.HOLDS: Verdict.REPRODUCED, Answer.OPEN: Verdict.TIE, Answer.MISSES: Verdict.NOT_REPRODUCED}


@dataclass(frozen=True)
class Judgement:
    """A verdict and the sentence that justifies it."""

    verdict: Verdict | str
    """Of what is not judged its kind."""
    reason: str


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """Judge the evidence by the claim's rule; of a claim that is not judged its kind, and why it is not.

    A comparison that the scatter of the runs could turn is a tie. A bound on a speed that holds is met by newer
    hardware, which is no finding about the paper; a speedup that is missed is none either, for it is a ratio of two
    processors. What depends on the paper's hardware is not comparable, met or missed. A miss with the trend that the
    claim states is "trend only".
    """
    if not claim.judged:
        return Judgement(claim.kind, claim.unjudged)
    if evidence.not_measured:
        return Judgement(Verdict.NOT_MEASURED, evidence.not_measured)
    _require_form(claim, evidence)
    if claim.kind in INCOMPARABLE:
        ours = found_in(orders(evidence.measured), claim.value) if claim.rule == "order" else number(evidence.measured)
        return Judgement(Verdict.NOT_COMPARABLE, f"{ours} here, {claim.stated} in the paper: {claim.why}")
    found = _by_rule(claim, evidence)
    if found.verdict is Verdict.NOT_REPRODUCED and claim.kind == "speed" and claim.unit == "x":
        return Judgement(Verdict.NOT_COMPARABLE, f"{found.reason}: a ratio of two processors, both others here")
    return found


def judge_by_first_rule(claim: Claim, evidence: Evidence) -> Judgement | None:
    """The verdict by the rule under which a result was first published; None where no rule has changed.

    By today's value, or where the first rule asks for something else by what is measured for it.
    """
    first = first_rule(claim)
    if first is None:
        return None
    if first.measured is not None:
        evidence = Evidence(first.measured)
    if evidence.measured is None:
        return Judgement(Verdict.NOT_MEASURED, evidence.not_measured or "no value")
    _require_form(first.claim, evidence)
    return _by_rule(first.claim, evidence)


def _require_form(claim: Claim, evidence: Evidence) -> None:
    if (claim.rule == "order") != isinstance(evidence.measured, Mapping):
        kind = "an order of entries with their repetitions" if claim.rule == "order" else "a number"
        raise InputError(f"{claim.id}: the claim asks for {kind}, not {evidence.measured}")


def _by_rule(claim: Claim, evidence: Evidence) -> Judgement:
    answer, numbers = _answer(claim, evidence)
    if answer is Answer.MISSES and claim.trend and (meaning := _trend_found(claim, evidence)):
        return Judgement(Verdict.TREND_ONLY, f"{meaning}; {numbers}")
    if answer is Answer.HOLDS and claim.kind == "speed" and claim.rule in ("at least", "at most"):
        return Judgement(Verdict.NEWER_HARDWARE, numbers)
    return Judgement(_VERDICTS[answer], numbers)


def _trend_found(claim: Claim, evidence: Evidence) -> str:
    """What the trend of the claim means, if it was found beyond the scatter; empty if not."""
    sign, stated, meaning = trend_of(claim)
    if not sign:
        cases, missing = as_stated(stated, orders(evidence.measured))
        return meaning if not missing and compare(stated, cases)[0] is Answer.HOLDS else ""
    scatter, bound = evidence.scatter or 0.0, float(stated)
    low, high = evidence.measured - scatter, evidence.measured + scatter
    return meaning if (low > bound if sign == ">" else high < bound) else ""


def _answer(claim: Claim, evidence: Evidence) -> tuple[Answer, str]:
    if claim.rule == "order":
        return compare(claim.value, orders(evidence.measured))
    value, scatter = evidence.measured, evidence.scatter or 0.0
    # a range that reaches over a bound has an end outside, or both where it reaches over all that is allowed
    low, high = value - scatter, value + scatter
    nearest = min(max(sum(claim.bounds()) / 2, low), high)
    outcomes = {_holds(claim, v) for v in (low, value, high, nearest)}
    text = _comparison(claim, value)
    if len(outcomes) > 1:
        return Answer.OPEN, f"{text}; runs differ by {number(scatter, 2)}"
    return (Answer.HOLDS if outcomes == {True} else Answer.MISSES), text


def _holds(claim: Claim, value: float) -> bool:
    low, high = claim.bounds()
    margin = claim.margin()
    # decimal numbers are not exact in binary: a difference equal to the tolerance is within it
    slack = 1e-9 * max(abs(low), abs(high), margin)
    above, below = value >= low - margin - slack, value <= high + margin + slack
    return {"at least": above, "at most": below, "within": above and below}[claim.rule]


def _comparison(claim: Claim, measured: float) -> str:
    """The two numbers side by side, with as many digits as it takes to tell them apart."""
    low, high = claim.bounds()
    margin = claim.margin()
    unit = "" if claim.unit in ("", "-") else f" {claim.unit}"
    stated = number(low, 7) if low == high else f"{number(low, 7)} to {number(high, 7)}"
    if claim.rule == "within":
        off, limit = numbers_apart(max(low - measured, measured - high, 0.0), margin, 2)
        side = "within" if _holds(claim, measured) else "beyond"
        nearest = min(max(measured, low), high)
        ours = number(measured) if measured == nearest else numbers_apart(measured, nearest)[0]
        return f"{ours} against {stated}{unit} (paper), difference {off} {side} {limit}"
    ours, limit = numbers_apart(measured, low if claim.rule == "at least" else high)
    allowed = f" (tolerance {number(margin, 3)})" if margin else ""
    return f"{ours} against {claim.rule} {limit if low == high else stated}{unit} (paper){allowed}"


def compare(stated: str, measured: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[Answer, str]:
    """Whether what was measured in every case is in the stated order, and the sentence that says so."""
    answers = {case: _ranked(stated, order) for case, order in measured.items()}
    worst = next(a for a in (Answer.MISSES, Answer.OPEN, Answer.HOLDS) if a in answers.values())
    if len(measured) == 1:
        return worst, f"{found_in(measured, stated)} against {stated} (paper)"
    said = []
    for answer, word in _WORDS.items():
        cases = [case for case in answers if answers[case] is answer]
        where = f"in all {len(measured)} cases" if len(cases) == len(measured) else f"at {', '.join(cases)}"
        said += [f"{word} {where}"] if cases else []
    return worst, f"{stated} (paper): {'; '.join(said)}"


_WORDS = {Answer.HOLDS: "found", Answer.OPEN: "not told apart", Answer.MISSES: "not found"}


def _ranked(stated: str, order: Mapping[str, Sequence[float]]) -> Answer:
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
    require(pairs, f"the order '{stated}' cannot fail: it tells none of the entries apart")
    answers = {above(order[a], order[b]) for a, b in pairs}
    return next(a for a in (Answer.MISSES, Answer.OPEN, Answer.HOLDS) if a in answers)
