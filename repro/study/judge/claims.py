"""What the papers claim, data/published/KEY.csv, and how its numbers and rankings are read and written."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from pathlib import Path

from repro.errors import InputError, require
from repro.files import require_regular
from repro.study.notebooks import Project, did_you_mean

JUDGED = ("physics", "speed", "mechanism")
"""Kinds of claims that another machine can reproduce or miss. A speed is what newer hardware does better: a rate, a
time, a speedup over another processor. A mechanism is a ranking, a share or a gain that the paper explains."""
INCOMPARABLE = ("hardware", "unstated")
"""Kinds whose number depends on the paper's chip, bus or cache, or on conditions that the paper does not state. Whether
our number meets it or not says nothing of the paper."""
SHOWN = ("arithmetic", "yardstick")
"""Kinds that are measured and counted nowhere: what follows from a definition or from inputs, and numbers of another
source that the paper compares its own with."""
KINDS = (*JUDGED, *INCOMPARABLE, *SHOWN, "setup")
RULES = ("within", "at least", "at most", "order", "")
RULE_FIELDS = ("quantity", "case", "value", "unit", "kind", "rule", "tolerance", "trend", "same_as")
"""What decides a verdict; `was` keeps what they were when a result was first judged."""
NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"


@dataclass(frozen=True)
class Claim:
    """One number (or ordering) that a paper states."""

    id: str
    where: str
    """Section, table, figure or equation."""
    quantity: str
    case: str
    value: str
    """As printed: a number, a range "4-5", a bound ">100", a fraction "1/12"; for an ordering, its winner."""
    unit: str
    hardware: str
    kind: str
    """One of KINDS; setup: facts and parameters that a program takes."""
    rule: str
    """within, at least, at most or order; empty for what is not judged."""
    tolerance: str
    """In the claim's unit, or relative as "2 %"."""
    why: str
    """Reason of the tolerance, or of why the claim is not judged."""
    note: str
    same_as: str = ""
    """Id of the claim that this one states again; it is linked to that one and not counted."""
    trend: str = ""
    """What is left of the claim where its number differs, as a bound or an order and its meaning: "> 0: k rises"."""
    was: str = ""
    """What the rule was when a result was first judged by it, and why it changed; see `first_rule`."""

    @property
    def unjudged(self) -> str:
        """Why the claim has no verdict of its own; empty if it has."""
        if self.kind == "setup":
            return "it states the set-up"
        if self.kind in SHOWN:
            return self.why
        return f"it restates {self.same_as}" if self.same_as else ""

    @property
    def judged(self) -> bool:
        """Whether the claim has a verdict of its own, and is counted."""
        return not self.unjudged

    @property
    def measurable(self) -> bool:
        """Whether a notebook may hand over a value: for all but the set-up and what is stated twice."""
        return self.judged or (self.kind in SHOWN and not self.same_as)

    @property
    def stated(self) -> str:
        """The paper's number with its unit."""
        return f"{self.value} {self.unit}".removesuffix(" -").strip()

    @property
    def rules(self) -> dict[str, str]:
        """What decides the verdict, and what is kept of earlier rules."""
        return {name: getattr(self, name) for name in (*RULE_FIELDS, "was") if getattr(self, name)}

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.id.partition("-")[0]

    def bounds(self) -> tuple[float, float]:
        """The stated number as a range; both ends are the same for a single number."""
        text = re.sub(r"^(about|ca\.?|[<>≤≥~])\s*", "", self.value.strip())
        if (match := re.fullmatch(rf"({NUMBER})\s*/\s*({NUMBER})", text)) and float(match[2]):
            ratio = float(match[1]) / float(match[2])
            return ratio, ratio
        if match := re.fullmatch(rf"({NUMBER})\s*(?:-|to)\s*({NUMBER})", text):
            low, high = float(match[1]), float(match[2])
            if low <= high:
                return low, high
        if re.fullmatch(NUMBER, text):
            return float(text), float(text)
        raise InputError(f"claim {self.id}: '{self.value}' is not a number")

    def margin(self) -> float:
        """The tolerance in the claim's unit."""
        match = re.fullmatch(rf"({NUMBER})\s*(%?)", self.tolerance.strip() or "0")
        require(match, f"claim {self.id}: the tolerance '{self.tolerance}' is not a number")
        return abs(self.bounds()[1]) * float(match[1]) / 100 if match[2] else float(match[1])


@dataclass(frozen=True)
class FirstRule:
    """By what a claim was judged when its first result was published."""

    claim: Claim
    """The claim as it stood then."""
    measured: float | dict | None
    """What is measured by the first rule, where today's value is of something else; see `Evidence.measured`."""
    reason: str
    """Why it changed."""


def parts_of_was(was: str) -> dict[str, str]:
    """The texts of "NAME = text | NAME = text" by name."""
    parts = [part.partition("=") for part in was.split("|")] if was else []
    return {name.strip(): text.strip() for name, _, text in parts}


def first_rule(claim: Claim) -> FirstRule | None:
    """What `was` says, "NAME = text | NAME = text"; None where no rule has changed.

    NAMEs are those of RULE_FIELDS, `measured` (a number, "a = 1, b = 2" for an order, with "a = 1 1.1 0.9" for several
    runs and "case: a = 1, b = 2; other: ..." for several cases) and `reason`. InputError says what is wrong with it.
    """
    if not claim.was:
        return None
    said = parts_of_was(claim.was)
    for name in said:
        if name not in (known := (*RULE_FIELDS, "measured", "reason")):
            raise InputError(f"claim {claim.id}: was has unknown part '{name}', {did_you_mean(name, known)}")
    require(said.get("reason"), f"claim {claim.id}: was must give the reason of the change, as 'reason = ...'")
    rules = {name: text for name, text in said.items() if name in RULE_FIELDS}
    old = replace(claim, **rules | {"was": "", "same_as": ""})
    measured = _measured(claim.id, said["measured"]) if "measured" in said else None
    _check(old, {})
    return FirstRule(old, measured, said["reason"])


def _measured(identifier: str, text: str) -> float | dict:
    if re.fullmatch(NUMBER, text):
        return float(text)
    cases = [part.rpartition(":") for part in text.split(";")]
    found = {case.strip(): _order(entries) for case, _, entries in cases}
    if len(found) < len(cases) or ("" in found) != (len(cases) == 1) or not all(found.values()):
        form = "neither a number nor 'a = 1, b = 2', nor such an order by case"
        raise InputError(f"claim {identifier}: was has measured = '{text}', {form}")
    return found.get("", found)


def _order(text: str) -> dict[str, list[float]]:
    """The values of "a = 1 1.1, b = 2" by entry; nothing where it is no such order."""
    entries = [re.fullmatch(rf"(.+?)\s*=\s*({NUMBER}(?:\s+{NUMBER})*)", part.strip()) for part in text.split(",")]
    if len(entries) < 2 or not all(entries):
        return {}
    return {entry[1]: [float(value) for value in entry[2].split()] for entry in entries}


def trend_of(claim: Claim) -> tuple[str, str, str]:
    """The trend as sign ("" for an order), bound or order, and meaning; InputError where it is none."""
    statement, _, meaning = (part.strip() for part in claim.trend.partition(":"))
    require(meaning, f"claim {claim.id}: the trend '{claim.trend}' must say what it means, as '> 0: it grows'")
    if claim.rule == "order":
        groups(statement)
        return "", statement, meaning
    if not (match := re.fullmatch(rf"([<>])\s*({NUMBER})", statement)):
        raise InputError(f"claim {claim.id}: the trend '{statement}' must be a bound such as '> 0'")
    return match[1], match[2], meaning


def read(path: Path) -> list[Claim]:
    """Claims of one file; lines that start with # are comments."""
    try:
        require_regular(path, "CSV")
        # an editor may begin a file with a mark of its encoding
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path.name}: must be a table of claims, CSV in UTF-8 ({error})") from None
    names = [f.name for f in fields(Claim)]
    require(rows, f"{path.name}: must hold a claim a line, below the columns {', '.join(names)}")
    if missing := [n for n in names if n not in rows[0] and n not in ("same_as", "trend", "was")]:
        raise InputError(f"{path.name}: column {', '.join(missing)} is missing")
    if odd := [name for name in rows[0] if name is not None and name not in names]:
        raise InputError(f"{path.name}: unknown column '{odd[0]}', {did_you_mean(odd[0], names)}")
    if long := [row["id"] for row in rows if None in row]:
        raise InputError(f"{path.name}: claim {long[0]} has more cells than there are columns: quote what has a comma")
    claims = [Claim(**{name: " ".join((row.get(name) or "").split()) for name in names}) for row in rows]
    if strange := [c.id for c in claims if not re.fullmatch(rf"{re.escape(path.stem)}-\d+", c.id)]:
        raise InputError(f"{path.name}: '{strange[0]}' is no id of a claim of this paper, such as {path.stem}-001")
    known = {claim.id: claim for claim in claims}
    if twice := [i for i, count in Counter(claim.id for claim in claims).items() if count > 1]:
        raise InputError(f"{path.name}: claim {', '.join(twice)} stands there twice")
    for claim in claims:
        _check(claim, known)
        first_rule(claim)
    return claims


def _check(claim: Claim, known: Mapping[str, Claim]) -> None:
    ruled = claim.kind in (*JUDGED, *INCOMPARABLE)
    if claim.kind not in KINDS or claim.rule not in RULES or ruled != (claim.rule != ""):
        raise InputError(f"claim {claim.id}: kind '{claim.kind}' with rule '{claim.rule}' is not known")
    if claim.kind in (*INCOMPARABLE, *SHOWN) and not claim.why:
        raise InputError(f"claim {claim.id}: why is its {claim.kind} number not judged? Say so in the column why")
    if claim.same_as and (claim.same_as not in known or not known[claim.same_as].judged):
        raise InputError(f"claim {claim.id} restates '{claim.same_as}', which is no judged claim of this paper")
    if claim.trend:
        trend_of(claim)
    if claim.rule == "order":
        groups(claim.value)
    elif claim.rule:
        if not all(map(isfinite, (*claim.bounds(), claim.margin()))):
            raise InputError(f"claim {claim.id}: {claim.value} within {claim.tolerance} is too large a number")
        require(claim.margin() >= 0, f"claim {claim.id}: the tolerance {claim.tolerance} is negative")


_asked: dict[Project, dict[str, Claim]] = {}


def asked_for(project: Project) -> dict[str, Claim]:
    """The claims of a checkout that this process has read by `load` or `find`: what a notebook has drawn or used."""
    return _asked.get(project, {})


def files(project: Project) -> list[Path]:
    """The files of claims, a paper each; a name with an underscore holds the points of a figure."""
    return sorted(path for path in (project.data / "published").glob("*.csv") if "_" not in path.stem)


def load(paper: str, project: Project | None = None) -> dict[str, Claim]:
    """Claims of a paper by id; InputError where it has none."""
    found = _load(paper, project := project or Project.default())
    _asked.setdefault(project, {}).update(found)
    return found


def _load(paper: str, project: Project) -> dict[str, Claim]:
    path = project.data / "published" / f"{paper}.csv"
    if not path.is_file():
        papers = [other.stem for other in files(project)]
        raise InputError(f"no claims of paper '{paper}', {path.name} is missing: {did_you_mean(paper, papers)}")
    return {claim.id: claim for claim in read(path)}


def find(ids: Iterable[str], project: Project | None = None) -> dict[str, Claim]:
    """Claims by id, InputError for an unknown one."""
    project, found = project or Project.default(), {}
    for identifier in ids:
        known = _load(identifier.partition("-")[0], project)
        if identifier not in known:
            raise InputError(f"unknown claim '{identifier}': {did_you_mean(identifier, known)}")
        found[identifier] = known[identifier]
    _asked.setdefault(project, {}).update(found)
    return found


MOST_DIGITS = 12
LARGEST_WHOLE = 1e15
"""Up to here all digits before the point are written."""


def number(value: float, digits: int = 5) -> str:
    """`value` with so many significant digits, and with all that stand before the point: 54,879 and 0.0043196."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if 10 ** (digits - 1) <= abs(value) < LARGEST_WHOLE:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}" if value else "0"


def numbers_apart(value: float, limit: float, digits: int = 5) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart, `digits` at least, the second with three."""
    for more in range(digits, MOST_DIGITS):
        texts = number(value, more), number(limit, max(more, 3))
        if texts[0] != texts[1]:
            return texts
    # equal but for rounding
    return number(value, digits), number(limit, max(digits, 3))


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
