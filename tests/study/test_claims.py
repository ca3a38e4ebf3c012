"""A claims file whose claims cannot be judged, or cannot fail, is refused with the name of the claim."""

import pytest
from helpers.workshop import CLAIMS, claim

from repro.errors import InputError
from repro.study.judge import claims


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        ("4-5", (4, 5)),
        ("4 to 5", (4, 5)),
        ("4-4", (4, 4)),
        ("-0.1", (-0.1, -0.1)),
        (">100", (100, 100)),
        ("about 70", (70, 70)),
        ("1/12", (1 / 12, 1 / 12)),
        ("1e-06", (1e-6, 1e-6)),
    ],
)
def test_printed_values_are_read_as_ranges(value, bounds):
    assert claim(value).bounds() == pytest.approx(bounds)


@pytest.mark.parametrize(("text", "margin"), [("", 0), ("0.5", 0.5), ("10 %", 1), ("2.5%", 0.25)])
def test_tolerance_is_in_the_unit_or_relative(text, margin):
    assert claim(tolerance=text).margin() == pytest.approx(margin)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("physics,within,0.0015", "physic,within,0.0015", "toy-001: kind 'physic'"),
        ("physics,within,0.0015", "physics,near,0.0015", "toy-001: kind 'physics' with rule 'near'"),
        ("physics,within,0.0015", "physics,,0.0015", "toy-001: kind 'physics' with rule ''"),
        ("setup,,", "setup,within,", "toy-005: kind 'setup' with rule 'within'"),
        ("0.5543,x/L", "big,x/L", "toy-001: 'big' is not a number"),
        ("0.5543,x/L", "nan,x/L", "toy-001: 'nan' is not a number"),
        ("0.5543,x/L", "5-4,x/L", "toy-001: '5-4' is not a number"),
        ("0.5543,x/L", "1/0,x/L", "toy-001: '1/0' is not a number"),
        ("within,0.0015", "within,-0.0015", "toy-001: the tolerance -0.0015 is negative"),
        ("within,10 %", "within,-10 %", "toy-006: the tolerance -10 % is negative"),
        # nothing would miss, or nothing would hold
        ("within,0.0015", "within,1e999", "within 1e999 is too large a number"),
        ("within,0.0015", "within,inf", "toy-001: the tolerance 'inf' is not a number"),
        ("within,0.0015", "within,nan", "toy-001: the tolerance 'nan' is not a number"),
        ("within,0.0015", "within,two cells", "toy-001: the tolerance 'two cells' is not a number"),
        (",128,threads", ",128 > 64 < 32,threads", "'128 > 64 < 32' goes up and down"),
        (",128,threads", ",128 > ,threads", "'128 >' names nothing or the same twice"),
        (",128,threads", ",128 > 64 = 128,threads", "names nothing or the same twice"),
        ("toy-002", "toy-001", "toy.csv: claim toy-001 stands there twice"),
        (",toy-001\n", ",toy-999\n", "toy-007 restates 'toy-999', which is no judged claim"),
        (",toy-001\n", ",toy-005\n", "toy-007 restates 'toy-005', which is no judged claim"),
        (",toy-001\n", ",toy-007\n", "toy-007 restates 'toy-007', which is no judged claim"),
        (",quantity,", ",what,", "toy.csv: column quantity is missing"),
        (",same_as", ",sameas", "toy.csv: unknown column 'sameas', did you mean same_as"),
        (",grid spacing,", ",grid, spacing,", "toy.csv: claim toy-001 has more cells than there are columns"),
        ("toy-003", "", "toy.csv: '' is no id of a claim of this paper, such as toy-001"),
        ("toy-003", "sph-003", "toy.csv: 'sph-003' is no id of a claim of this paper, such as toy-001"),
    ],
)
def test_broken_claims_file_is_refused(workshop, old, new, message):
    workshop.claims.write_text(CLAIMS.replace(old, new, 1))
    with pytest.raises(InputError) as refusal:
        claims.load("toy", workshop.project)
    assert message in str(refusal.value)


def test_chain_of_restatements_is_refused(workshop):
    more = "toy-008,intro,centre,,0.5543,x/L,,physics,within,0.0015,grid spacing,,toy-007\n"
    workshop.claims.write_text(CLAIMS + more)
    with pytest.raises(InputError, match="toy-008 restates 'toy-007'"):
        claims.load("toy", workshop.project)


def test_column_of_restatements_may_be_missing(workshop):
    lines = [line.rsplit(",", 1)[0] for line in CLAIMS.splitlines()]
    workshop.claims.write_text("\n".join(lines))
    assert [c.same_as for c in claims.load("toy", workshop.project).values()] == [""] * 7


def test_set_up_and_restatements_are_not_judged(workshop):
    found = claims.load("toy", workshop.project)
    assert {i: c.unjudged for i, c in found.items() if not c.judged} == {
        "toy-005": "it states the set-up",
        "toy-007": "it restates toy-001",
    }


def test_unknown_claim_offers_the_nearest(workshop):
    with pytest.raises(InputError, match="unknown claim 'toy-01': did you mean"):
        claims.find(["toy-01"], workshop.project)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"was": "tolerance = 0.1"}, "toy-001: was must give the reason of the change"),
        ({"was": "tolerance = 0.1 | reason = "}, "toy-001: was must give the reason of the change"),
        (
            {"was": "tolerence = 0.1 | reason = a node"},
            "toy-001: was has unknown part 'tolerence', did you mean tolerance",
        ),
        ({"was": "a node"}, "toy-001: was has unknown part 'a node'"),
        ({"was": "rule = near | reason = a node"}, "toy-001: kind 'physics' with rule 'near'"),
        ({"was": "kind = setup | reason = a node"}, "toy-001: kind 'setup' with rule 'within'"),
        ({"was": "tolerance = wide | reason = a node"}, "toy-001: the tolerance 'wide' is not a number"),
        ({"was": "measured = much | reason = a node"}, "toy-001: was has measured = 'much', neither a number nor"),
        ({"was": "measured = a = 1 | reason = a node"}, "toy-001: was has measured = 'a = 1', neither a number nor"),
        ({"was": "measured = a = 1, b | reason = a node"}, "toy-001: was has measured = 'a = 1, b', neither a"),
        ({"was": "measured = x: a = 1, b = 2; a = 1, b = 2 | reason = a node"}, "toy-001: .*nor such an order by case"),
        ({"was": "measured = x: a = 1, b = 2; x: a = 1, b = 2 | reason = a node"}, "toy-001: .*an order by case"),
        ({"was": "measured = x: a = 1, b = 2; y: a = 1 | reason = a node"}, "toy-001: .*nor such an order by case"),
        ({"trend": "> 0"}, "toy-001: the trend '> 0' must say what it means"),
        ({"trend": "it rises"}, "toy-001: the trend 'it rises' must say what it means"),
        ({"trend": "rises: it rises"}, "toy-001: the trend 'rises' must be a bound such as '> 0'"),
        ({"trend": "> big: it rises"}, "toy-001: the trend '> big' must be a bound such as '> 0'"),
        ({"kind": "hardware", "why": ""}, "toy-001: why is its hardware number not judged"),
        ({"kind": "arithmetic"}, "toy-001: kind 'arithmetic' with rule 'within' is not known"),
        ({"kind": "arithmetic", "rule": "", "why": ""}, "toy-001: why is its arithmetic number not judged"),
        ({"kind": "unstated", "rule": ""}, "toy-001: kind 'unstated' with rule ''"),
    ],
)
def test_what_a_rule_was_and_its_trend_must_be_readable(workshop, columns, message):
    workshop.state("toy-001", **columns)
    with pytest.raises(InputError, match=message):
        claims.load("toy", workshop.project)


def test_the_first_rule_is_the_claim_as_it_was(workshop):
    was = "tolerance = 0.1 | value = 0.6 | measured = 0.57 | reason = a node, and a = b"
    workshop.state("toy-001", was=was)
    first = claims.first_rule(claims.load("toy", workshop.project)["toy-001"])
    assert (first.claim.value, first.claim.tolerance, first.claim.rule) == ("0.6", "0.1", "within")
    assert (first.measured, first.reason) == (0.57, "a node, and a = b")


def test_a_file_may_begin_with_a_mark_of_its_encoding_and_break_lines_anywhere(workshop):
    workshop.state("toy-001", note="one\ntwo")
    workshop.claims.write_bytes(b"\xef\xbb\xbf" + workshop.claims.read_bytes())
    assert claims.load("toy", workshop.project)["toy-001"].note == "one two"


@pytest.mark.parametrize("trend", ["= 0: it is", "a > b < c: it turns", "a > : it falls"])
def test_a_trend_that_is_neither_bound_nor_order_is_refused(trend):
    with pytest.raises(InputError):
        claims.trend_of(
            claim("a < b" if "a" in trend[:2] else "10", "order" if "a" in trend[:2] else "within", trend=trend)
        )


def test_all_that_was_asked_for_is_kept(workshop):
    claims.find(["toy-001"], workshop.project)
    claims.find(["toy-002"], workshop.project)
    assert {"toy-001", "toy-002"} <= claims.asked_for(workshop.project).keys()


def test_a_measured_order_of_a_first_rule_is_read_entry_by_entry():
    old = claims.first_rule(claim("a < b", "order", was="measured = 128 nodes = 1.5, 256 = 2e3 | reason = so"))
    assert old.measured == {"128 nodes": [1.5], "256": [2e3]}


def test_a_measured_order_of_a_first_rule_may_have_several_runs_and_cases():
    was = "measured = at walls: a = 1 2.5, b = 2 3; x: a = -1, b = 2 | reason = so"
    old = claims.first_rule(claim("a < b", "order", was=was))
    assert old.measured == {"at walls": {"a": [1, 2.5], "b": [2, 3]}, "x": {"a": [-1], "b": [2]}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x93NUMPY\x01\x00\xff\xfe", "toy.csv: must be a table of claims, CSV in UTF-8 .'utf-8' codec"),
        (b"id,where\n\x00\r1\n", "toy.csv: "),
        (b"", "toy.csv: must hold a claim a line, below the columns id, where, quantity"),
        (b"# nothing yet\nid,where\n", "toy.csv: must hold a claim a line"),
    ],
)
def test_a_file_that_holds_no_claims_is_refused_in_one_line(workshop, content, words):
    path = workshop.project.data / "published" / "toy.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as refused:
        claims.load("toy")
    assert "\n" not in str(refused.value)


def test_a_paper_without_claims_is_refused_by_its_name(workshop):
    with pytest.raises(InputError, match="no claims of paper 'toi', toi.csv is missing: did you mean toy?"):
        claims.find(["toi-001"])


def test_rules_of_a_claim_are_what_decides_it_and_what_was_kept_of_earlier_ones():
    made = claim("10", tolerance="2 %", unit="m", where="table 3", trend="> 0: k rises", was="tolerance = 1 %: why")
    assert made.rules == {
        "value": "10",
        "unit": "m",
        "kind": "physics",
        "rule": "within",
        "tolerance": "2 %",
        "trend": "> 0: k rises",
        "was": "tolerance = 1 %: why",
    }


@pytest.mark.parametrize(("value", "unit", "stated"), [("10", "m", "10 m"), ("4", "-", "4"), ("red", "", "red")])
def test_a_number_is_stated_with_its_unit(value, unit, stated):
    assert claim(value, unit=unit).stated == stated


@pytest.mark.parametrize(
    ("facts", "why", "measurable"),
    [
        ({}, "", True),
        ({"same_as": "toy-002"}, "it restates toy-002", False),
        ({"kind": "setup", "same_as": "toy-002"}, "it states the set-up", False),
        ({"kind": "arithmetic", "why": "14 of 27"}, "14 of 27", True),
        ({"kind": "arithmetic", "why": "14 of 27", "same_as": "toy-002"}, "14 of 27", False),
    ],
)
def test_a_claim_is_judged_once_and_only_if_it_could_miss(facts, why, measurable):
    made = claim(**facts)
    assert (made.unjudged, made.judged, made.measurable) == (why, not why, measurable)
