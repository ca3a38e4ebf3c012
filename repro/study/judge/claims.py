"""What the papers claim, data/published/KEY.csv, and how its numbers and rankings are read and written."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path

from repro.errors import InputError
from repro.study.notebooks import Project, did_you_mean, read_code

KINDS = ("physics", "speed", "mechanism", "setup")
RULES = ("within", "at least", "at most", "order", "")
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
    """physics; speed (what newer hardware does better: a rate, a time, a speedup over another processor); mechanism
    (an order, a share or a gain on one device: what the paper explains); setup (facts and parameters, never judged)."""
    rule: str
    """within, at least, at most or order; empty for setup."""
    tolerance: str
    """In the claim's unit, or relative as "2 %"."""
    why: str
    """Reason of the tolerance."""
    note: str
    same_as: str = ""
    """Id of the claim that this one states again; it is linked to that one and not counted."""

    @property
    def unjudged(self) -> str:
        """Why the claim has no verdict of its own; empty if it has."""
        if self.kind == "setup":
            return "it states the set-up"
        return f"it restates {self.same_as}" if self.same_as else ""

    @property
    def judged(self) -> bool:
        """Whether the claim has a verdict of its own."""
        return not self.unjudged

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
        if not match:
            raise InputError(f"claim {self.id}: the tolerance '{self.tolerance}' is not a number")
        return abs(self.bounds()[1]) * float(match[1]) / 100 if match[2] else float(match[1])


def read(path: Path) -> list[Claim]:
    """Claims of one file; lines that start with # are comments."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path.name}: must be a table of claims, CSV in UTF-8 ({error})") from None
    names = [f.name for f in fields(Claim)]
    if not rows:
        raise InputError(f"{path.name}: must hold a claim a line, below the columns {', '.join(names)}")
    if missing := [n for n in names if n not in rows[0] and n != "same_as"]:
        raise InputError(f"{path.name}: column {', '.join(missing)} is missing")
    claims = [Claim(**{name: (row.get(name) or "").strip() for name in names}) for row in rows]
    known = {claim.id: claim for claim in claims}
    if twice := [i for i, count in Counter(claim.id for claim in claims).items() if count > 1]:
        raise InputError(f"{path.name}: claim {', '.join(twice)} stands there twice")
    for claim in claims:
        _check(claim, known)
    return claims


def _check(claim: Claim, known: Mapping[str, Claim]) -> None:
    if claim.kind not in KINDS or claim.rule not in RULES or (claim.kind == "setup") != (claim.rule == ""):
        raise InputError(f"claim {claim.id}: kind '{claim.kind}' with rule '{claim.rule}' is not known")
    if claim.same_as and (claim.same_as not in known or not known[claim.same_as].judged):
        raise InputError(f"claim {claim.id} restates '{claim.same_as}', which is no judged claim of this paper")
    if claim.rule == "order":
        groups(claim.value)
    elif claim.rule:
        if not all(map(isfinite, (*claim.bounds(), claim.margin()))):
            raise InputError(f"claim {claim.id}: {claim.value} within {claim.tolerance} is too large a number")
        if claim.margin() < 0:
            raise InputError(f"claim {claim.id}: the tolerance {claim.tolerance} is negative")


def load(paper: str, project: Project | None = None) -> dict[str, Claim]:
    """Claims of a paper by id; InputError where it has none."""
    folder = (project or Project.default()).data / "published"
    path = folder / f"{paper}.csv"
    if not path.is_file():
        papers = [other.stem for other in folder.glob("*.csv") if "_" not in other.stem]
        raise InputError(f"no claims of paper '{paper}', {path.name} is missing: {did_you_mean(paper, papers)}")
    return {claim.id: claim for claim in read(path)}


def named_in(notebook: Path) -> set[str]:
    """Ids of claims that stand as texts in a notebook's code; empty where there is no notebook."""
    return set(re.findall(r"""["'](\w+-\d+)["']""", "\n".join(read_code(notebook))))


def find(ids: Iterable[str], project: Project | None = None) -> dict[str, Claim]:
    """Claims by id, InputError for an unknown one."""
    found = {}
    for identifier in ids:
        known = load(identifier.partition("-")[0], project)
        if identifier not in known:
            raise InputError(f"unknown claim '{identifier}': {did_you_mean(identifier, known)}")
        found[identifier] = known[identifier]
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
