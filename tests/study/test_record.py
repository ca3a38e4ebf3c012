"""A record takes each claim's value once, if it is one, and writes down no verdict."""

import json
import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from repro.errors import CheckError, InputError
from repro.files import write_json
from repro.study.judge.claims import find
from repro.study.keep.record import open_record, plain

matplotlib.use("Agg")
TIMING = {"seconds": 1.0, "spread": 0.01, "device": "serial", "precision": "float32", "size": [8, 8]}
JUDGED = ["toy-001", "toy-002", "toy-003", "toy-004", "toy-006"]
ORDER = {"64": [1.0, 2.0, 3.0], "128": np.array([4.0, 5.0, 6.0])}


@pytest.fixture(autouse=True)
def output(good, tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_OUTPUT", str(tmp_path / "out"))


def opened(*claims: str, value=0.5541):
    """The record of a notebook whose parameters cell assigns `value`."""
    return open_record("toy/good", parameters={"claims": claims, "value": value}, claims=claims)


@pytest.fixture
def record():
    return opened(*JUDGED)


def content(record) -> dict:
    return json.loads(record.close().read_text())


def test_value_is_judged_as_it_is_handed_over_and_kept_without_the_verdict(record):
    assert record.measure("toy-001", np.float32(0.5541), note="fine").verdict == "reproduced"
    kept = content(record)
    assert kept["claims"]["toy-001"] == {"measured": 0.5541, "note": "fine"}
    assert "reproduced" not in json.dumps(kept)


def test_parameters_are_the_names_that_the_parameters_cell_assigns():
    assert content(opened("toy-001", value=np.int64(3)))["parameters"] == {"value": 3}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1.0, "toy/good: value = -1.0: must be above 0"),
        ("much", "toy/good: parameter 'value' must be a number (default 0.5541), not 'much'"),
    ],
)
def test_a_parameter_beyond_its_limits_is_refused_by_name_as_the_record_is_opened(value, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        opened("toy-001", value=value)


def test_record_is_refused_before_the_parameters_cell_ran():
    with pytest.raises(InputError, match="^no value for value: run the parameters cell first$"):
        open_record("toy/good", parameters={"device": "serial"}, claims=[])


def test_notebook_that_is_being_written_need_not_be_in_the_catalogue(workshop):
    workshop.write("toy/new", "pass", "nodes = 3")
    assert content(open_record("toy/new", parameters={"nodes": 4}, claims=[]))["parameters"] == {"nodes": 4}
    with pytest.raises(InputError, match="^none.ipynb is not a notebook$"):
        open_record("toy/none", parameters={}, claims=[])


def test_claims_without_a_value_become_not_measured(record):
    assert content(record)["claims"]["toy-002"] == {"measured": None, "not_measured": "this run has no value for it"}


def test_order_is_kept_with_its_repetitions(record):
    assert record.measure("toy-004", ORDER).verdict == "reproduced"
    assert content(record)["claims"]["toy-004"]["measured"] == {"64": [1.0, 2.0, 3.0], "128": [4.0, 5.0, 6.0]}


def test_entries_may_be_named_by_numbers(record):
    assert record.measure("toy-004", {64: [1, 2, 3], 128: [4, 5, 6]}).verdict == "reproduced"
    assert content(record)["claims"]["toy-004"]["measured"] == {"64": [1, 2, 3], "128": [4, 5, 6]}


def test_order_can_not_be_changed_after_it_was_judged(record):
    order = {"64": [1.0, 2.0, 3.0], "128": [4.0, 5.0, 6.0]}
    record.measure("toy-004", order)
    order["64"][:] = [9.0, 9.0, 9.0]
    assert content(record)["claims"]["toy-004"]["measured"]["64"] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("again", ["measure", "not_measured", "void"])
def test_claim_is_measured_once(record, again):
    record.measure("toy-001", 0.9)
    more = {"measure": (0.5543,), "not_measured": ("why",), "void": ("why",)}[again]
    with pytest.raises(InputError, match="claim toy-001 has its value already: a claim is measured once"):
        getattr(record, again)("toy-001", *more)
    assert content(record)["claims"]["toy-001"]["measured"] == 0.9


def test_no_value_comes_after_the_word_that_there_is_none(record):
    record.not_measured("toy-001", "not at this size")
    with pytest.raises(InputError, match="has its value already"):
        record.measure("toy-001", 0.5543)


def test_claim_declared_twice_is_refused(workshop):
    with pytest.raises(InputError, match="^toy-001: declared twice$"):
        opened("toy-001", "toy-002", "toy-001")


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("toy-999", "unknown claim 'toy-999'"),
        ("toy-005", r"not measured by any run: toy-005 \(it states the set-up\)"),
        ("toy-007", r"not measured by any run: toy-007 \(it restates toy-001\)"),
    ],
)
def test_unknown_setup_and_restated_claims_can_not_be_declared(workshop, claim, message):
    with pytest.raises(InputError, match=message):
        opened("toy-001", claim)


@pytest.mark.parametrize("call", ["measure", "void"])
def test_claim_that_was_not_declared_is_refused(workshop, call):
    record = opened("toy-001")
    with pytest.raises(InputError, match="claim 'toy-003' was not declared"):
        getattr(record, call)("toy-003", {"measure": 1.0, "void": "why"}[call])


def test_record_of_another_notebook_is_refused_while_a_notebook_runs(workshop, monkeypatch):
    monkeypatch.setenv("REPRO_NOTEBOOK", "toy/good")
    opened()
    with pytest.raises(InputError, match="this notebook is toy/good: its record cannot be opened as 'toy/other'"):
        open_record("toy/other", parameters={}, claims=["toy-001"])


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -np.inf, np.float32("nan"), "0.5543", None, True, [0.5543]], ids=repr
)
def test_broken_value_is_an_error_of_the_notebook_and_not_kept(record, value):
    with pytest.raises(CheckError, match="^toy-001: "):
        record.measure("toy-001", value)
    assert content(record)["claims"]["toy-001"]["measured"] is None


@pytest.mark.parametrize("order", [{"64": [1, 2], "128": [3, 4]}, {"64": [1, 2, 3], "128": [4, 5, np.nan]}, 128.0])
def test_broken_order_is_an_error_of_the_notebook(record, order):
    with pytest.raises(CheckError, match="^toy-004: "):
        record.measure("toy-004", order)


def test_broken_scatter_is_an_error_of_the_notebook(record):
    with pytest.raises(CheckError, match="toy-001: the scatter is 'nan'"):
        record.measure("toy-001", 0.5543, scatter=np.nan)


def test_run_that_did_not_converge_voids_its_value(record):
    assert record.measure("toy-001", 0.5543, converged=np.bool_(False)).verdict == "not measured"
    kept = content(record)
    assert kept["void"] == ["toy-001: the run did not converge"]
    assert kept["claims"]["toy-001"] == {"measured": None, "not_measured": "the run did not converge"}


def test_run_that_converged_voids_nothing(record):
    record.measure("toy-001", 0.5543)
    assert content(record)["void"] == []


@pytest.mark.parametrize("baseline", ["", " "])
def test_speedup_without_what_it_is_over_is_refused(record, baseline):
    with pytest.raises(InputError, match="claim toy-006: say what the speedup is over"):
        record.measure("toy-006", 4.5, baseline=baseline)
    record.measure("toy-006", 4.5, baseline="one core, 5 MLUPS")
    assert content(record)["claims"]["toy-006"]["baseline"] == "one core, 5 MLUPS"


def test_gain_on_one_device_is_over_nothing_else(workshop, record):
    rows = workshop.claims.read_text() + "toy-090,text,gain,,4-5,x,,mechanism,within,10 %,spread,,\n"
    workshop.claims.write_text(rows)
    gain = opened("toy-090")
    assert gain.measure("toy-090", 4.5).verdict == "reproduced"


def test_what_is_no_speedup_keeps_no_baseline(record):
    record.measure("toy-001", 0.5541, baseline="one core, 5 MLUPS")
    assert content(record)["claims"]["toy-001"] == {"measured": 0.5541}


ARITHMETIC = "toy-090,text,cells,,14,cells,,arithmetic,,,half of 26 and one,,\n"


def test_what_follows_from_a_definition_is_kept_and_not_judged(workshop):
    workshop.claims.write_text(workshop.claims.read_text() + ARITHMETIC)
    record = opened("toy-001", "toy-090")
    assert record.measure("toy-090", 13).verdict == "arithmetic"
    record.measure("toy-001", 0.5543)
    shown = record.verdicts().set_index("id")
    assert shown.loc["toy-090", ["measured", "verdict", "reason"]].tolist() == [13, "arithmetic", "half of 26 and one"]
    assert content(record)["claims"]["toy-090"] == {"measured": 13}
    assert content(record)["rules"]["toy-090"]["kind"] == "arithmetic"


def test_a_sentence_may_have_three_numbers(record):
    record.say("{a}, {b} and {c}", a=1, b=2, c=3, holds=True)
    assert content(record)["sentences"][-1]["text"] == "1, 2 and 3"


def test_rules_and_the_papers_numbers_that_were_asked_for_are_kept(workshop, record):
    find(["toy-002"], workshop.project)
    kept = content(record)
    assert kept["rules"]["toy-001"] == {
        "quantity": "centre",
        "case": "Re=400",
        "value": "0.5543",
        "unit": "x/L",
        "kind": "physics",
        "rule": "within",
        "tolerance": "0.0015",
    }
    assert kept["stated"]["toy-002"] == "924 MLUPS"
    assert "toy-005" not in kept["stated"]
    assert "toy-005" not in kept["rules"]


def test_missing_reason_is_refused(record):
    with pytest.raises(InputError, match="claim toy-001: say why"):
        record.not_measured("toy-001", " ")


def test_several_values_are_handed_over_at_once(record):
    record.measure_all({"toy-001": 0.5543, "toy-003": 0.1}, note="it falls")
    claims = content(record)["claims"]
    assert [claims[i]["measured"] for i in ("toy-001", "toy-003")] == [0.5543, 0.1]
    assert claims["toy-003"]["note"] == "it falls"


def test_verdicts_show_measured_and_paper_side_by_side(record):
    record.measure("toy-001", 0.9)
    row = record.verdicts().set_index("id").loc["toy-001"]
    assert (row["paper"], row["measured"], row["verdict"]) == ("0.5543", 0.9, "not reproduced")


def test_tables_of_a_notebook_cut_no_reason_off_and_print_no_number_as_nothing(record):
    reason = "a reason that is longer than pandas shows of a text unless it is told to show all of it"
    record.measure("toy-001", 2.1e-7, note="small")
    record.not_measured("toy-003", reason)
    page = record.verdicts().to_html()
    assert reason in page
    assert "2.1e-07" in page
    assert ">0.0<" not in page
    assert "..." not in page


def test_headlines_are_kept_in_one_line_each(record):
    record.headline("k = 13,894 millidarcy\n  along x")
    record.headline("k = 2e-14 m^2")
    assert content(record)["headlines"] == ["k = 13,894 millidarcy along x", "k = 2e-14 m^2"]
    with pytest.raises(InputError, match="a headline is a line of text"):
        record.headline(" ")


@pytest.fixture
def shown(monkeypatch):
    """What a notebook shows, as Markdown."""
    texts = []
    monkeypatch.setattr("IPython.display.display", lambda item: texts.append(item.data))
    return texts


def test_a_sentence_is_shown_and_kept_with_its_numbers_and_whether_it_holds(record, shown):
    worst = np.float64(1.25)
    record.say(
        "Walls lie within {worst:.1f} %\n  of the {n:,} nodes.", worst=worst, n=np.int64(4096), holds=worst < 1.6
    )
    text = "Walls lie within 1.2 % of the 4,096 nodes."
    assert shown == [text]
    assert content(record)["sentences"] == [{"text": text, "holds": True, "numbers": {"worst": 1.25, "n": 4096}}]


def test_a_sentence_can_be_the_headline_of_a_notebook_if_it_holds(record, shown):
    record.say("k is {k:.1f}.", k=3, holds=True, headline=True)
    record.say("k is {k:.1f} and not more.", k=4, holds=False, headline=True)
    record.say("That is all.", holds=True)
    assert content(record)["headlines"] == ["k is 3.0."]


def test_a_sentence_that_is_not_true_is_shown_as_such_with_its_numbers(record, shown):
    record.say("Walls lie within {worst:.1f} %.", worst=2.3456, holds=np.bool_(False))
    assert shown == ["**Not true in this run (worst = 2.346):** \u201cWalls lie within 2.3 %.\u201d"]
    (kept,) = content(record)["sentences"]
    assert (kept["text"], kept["holds"]) == ("Walls lie within 2.3 %.", False)


def test_a_sentence_needs_no_number_but_something_that_makes_it_true(record, shown):
    record.say("Both ways agree.", holds=True)
    record.say("Both ways agree.", holds=False)
    assert shown == ["Both ways agree.", "**Not true in this run:** \u201cBoth ways agree.\u201d"]
    with pytest.raises(TypeError, match="holds"):
        record.say("Both ways agree.")


def test_braces_and_mathematics_stay_in_a_sentence(record, shown):
    record.say("Below $10^{{-6}}$ on {n}$^3$ nodes.", n=128, holds=True)
    assert shown == ["Below $10^{-6}$ on 128$^3$ nodes."]


@pytest.mark.parametrize(
    ("template", "numbers", "message"),
    [
        (" ", {}, "a sentence is a line of text"),
        ("It is {a}.", {}, "no number is given for {a}"),
        ("It is {}.", {"a": 1}, "no number is given for {}"),
        ("It is $10^{-6}$.", {}, "no number is given for {-6}"),
        ("It is {a.real}.", {"a": 1}, "no number is given for {a.real}"),
        ("It is.", {"a": 1, "b": 2}, "a, b is not in it"),
        ("It is {a.", {"a": 1}, "a brace that is no number's is written twice"),
        ("It is {a:d}.", {"a": 1.5}, "Unknown format code"),
        ("It is {a:{b}}.", {"a": 1.5}, "'b'"),
        ("{a} {b} {c} {d}", dict.fromkeys("abcd", 1), "4 numbers are a table, a sentence has 3"),
        ("It is {a}.", {"a": "1.5"}, "a = '1.5': must be a number"),
        ("It is {a}.", {"a": True}, "a = True: must be a number"),
        ("It is {a}.", {"a": None}, "a = None: must be a number"),
        ("It is {a}.", {"a": [1.5]}, r"a = [1.5]: must be a number"),
    ],
)
def test_a_sentence_that_its_numbers_do_not_fit_is_refused_in_one_line(record, shown, template, numbers, message):
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        record.say(template, holds=True, **numbers)
    assert "\n" not in str(refused.value)
    assert shown == content(record)["sentences"] == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, np.float32("nan")], ids=repr)
def test_a_number_that_is_not_finite_is_named(record, shown, value):
    with pytest.raises(CheckError, match=r"sentence 'It is \{gain:.1f\}\.': gain = -?(nan|inf): must be finite"):
        record.say("It is {gain:.1f}.", gain=value, holds=True)
    assert shown == content(record)["sentences"] == []


@pytest.mark.parametrize("holds", [None, 1, "yes", np.array([True, False])], ids=repr)
def test_what_makes_a_sentence_true_is_true_or_false(record, shown, holds):
    with pytest.raises(InputError, match="sentence 'It is 1.': holds = .*: must be True or False"):
        record.say("It is {a}.", a=1, holds=holds)
    assert shown == content(record)["sentences"] == []


def test_speed_without_a_physics_check_is_refused(record):
    with pytest.raises(InputError, match="physics check"):
        record.timing("pull", includes="the loop", check=" ", **TIMING)
    record.timing("pull", includes="the loop", check="mass is conserved", mlups=5, block=64, **TIMING)
    assert content(record)["timings"][0]["block"] == 64


def test_speed_without_what_its_timer_includes_is_refused(record):
    with pytest.raises(InputError, match="timing 'pull': say what the timer includes"):
        record.timing("pull", includes=" ", check="mass is conserved", **TIMING)
    assert content(record)["timings"] == []


def test_figures_keep_their_arrays_inline_or_beside_when_many(record):
    figure, axes = plt.subplots()
    axes.plot([1, 2])
    record.figure("Stream lines", figure, arrays={"x": np.array([1 / 3, np.nan])})
    record.figure("big", figure, arrays={"x": np.zeros(20_001)})
    figures = content(record)["figures"]
    assert figures["Stream lines"]["arrays"]["x"] == [0.3333333, "nan"]
    names = {name for entry in figures.values() for name in entry["files"]}
    assert "figures/toy-good-stream-lines.svg" in names
    assert "figures/toy-good-big.npz" in names
    assert all((record.folder / name).is_file() for name in names)


def test_a_caption_is_kept_and_shown_below_its_figure_which_is_closed(record, good, monkeypatch):
    text = '["toy/good"]\n"front-*" = "Where water ends."\n'
    (good.project.notebooks / "captions.toml").write_text(text)
    shown = []
    monkeypatch.setattr("IPython.get_ipython", lambda: "a notebook")
    monkeypatch.setattr("IPython.display.display", lambda what, metadata=None: shown.append((what, metadata)))
    figure, _ = plt.subplots()
    record.figure("front-3", figure, {"x": [1]})
    (first, metadata), (below, _) = shown
    assert first is figure
    assert metadata == {"image/png": {"alt": "Where water ends."}}
    assert below.data == "*Where water ends.*"
    assert not plt.fignum_exists(figure.number)
    assert content(record)["figures"]["front-3"]["caption"] == "Where water ends."


def test_same_figure_is_the_same_svg(record):
    from repro.papers.style import use_style

    use_style()
    figure, axes = plt.subplots()
    axes.plot([1, 2])
    record.figure("a", figure, arrays={})
    first = (record.folder / "figures/toy-good-a.svg").read_bytes()
    record.figure("a", figure, arrays={})
    assert (record.folder / "figures/toy-good-a.svg").read_bytes() == first


def test_table_is_kept_and_returned(record):
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]})
    assert record.table("t", frame) is frame
    assert content(record)["tables"]["t"]["rows"] == [[1, 0.5], [2, "nan"]]


def test_provenance_names_no_folder_of_this_machine(record, tmp_path):
    text = record.close().read_text()
    assert str(tmp_path) not in text
    assert {"versions", "cpu", "cores", "os"} <= set(json.loads(text)["provenance"])


def test_interrupted_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    file = tmp_path / "alone/a.json"
    write_json(file, {"a": 1})

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(InputError, match="a.json: cannot be written: disk full"):
        write_json(file, {"a": 2})
    assert json.loads(file.read_text()) == {"a": 1}
    assert list(file.parent.iterdir()) == [file]


def test_values_become_plain_json():
    assert plain({"a": np.arange(2), "b": (True, None, np.float32(0.1))}) == {
        "a": [0, 1],
        "b": [True, None, 0.1],
    }
    # seven digits of a number, and of what JSON does not know its text
    assert plain([1 / 3, 1e-9 / 3, 2 / 3e-9, np.float64(123456789.0), True, 10**20]) == [
        0.3333333, 3.333333e-10, 666666700.0, 123456800.0, True, 10**20
    ]  # fmt: skip
    assert plain({1: (float("inf"), -np.inf, np.nan, Path("a/b"), 1j)}) == {"1": ["inf", "-inf", "nan", "a/b", "1j"]}
    assert plain(np.array([[1.5, np.nan]])) == [[1.5, "nan"]]


def test_an_order_without_an_entry_that_the_claim_names_is_not_measured(workshop):
    record = opened("toy-004")
    judgement = record.measure("toy-004", {"64": [1.0, 1.1, 1.2], "256": [2.0, 2.1, 2.2]})
    assert (str(judgement.verdict), judgement.reason) == ("not measured", "this run has no 128")


def test_entries_that_a_ranking_does_not_name_are_left_out_of_it(workshop):
    rows = workshop.claims.read_text() + "toy-090,fig 1,order,,a > b,-,,mechanism,order,,the order,,\n"
    workshop.claims.write_text(rows)
    record = opened("toy-090")
    judgement = record.measure("toy-090", {"a": [3.0] * 3, "b": [2.0] * 3, "c": [9.0] * 3})
    assert str(judgement.verdict) == "reproduced"
    assert set(content(record)["claims"]["toy-090"]["measured"]) == {"a", "b"}


def test_a_case_that_did_not_run_leaves_an_order_unmeasured(workshop):
    record = opened("toy-004")
    both = {"small": {"64": [1.0] * 3, "128": [2.0] * 3}, "large": {"64": [1.0] * 3}}
    assert str(record.measure("toy-004", both).verdict) == "not measured"
    other = opened("toy-004")
    assert str(other.measure("toy-004", {}).verdict) == "not measured"


def test_an_order_of_which_only_some_entries_are_cases_is_refused(record):
    with pytest.raises(InputError, match="toy-004: '128' is a case with entries and '64' is not"):
        record.measure("toy-004", {"64": [1, 2, 3], "128": {"a": [1, 2, 3]}})
