"""Judges what a notebook hands over by the paper's statement alone, also where its verdict is "not comparable"."""

from dataclasses import replace

from repro.study.judge.claims import INCOMPARABLE, SHOWN, Claim, first_rule
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge


def by_statement(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the evidence is what the paper states, as if another machine could tell."""
    if claim.kind in (*INCOMPARABLE, *SHOWN):
        old = claim if claim.rule else first_rule(claim).claim
        claim = replace(claim, kind="mechanism", rule=old.rule, tolerance=claim.tolerance or old.tolerance)
    return judge(claim, evidence).verdict
