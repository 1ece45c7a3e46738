"""The whole report: true at the edges, valid as JSON whatever the data holds, and the summary in order."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.report.small_crowds import all_sentences, estimate_with, inputs_by, report_on, small_crowd, small_inputs

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_labels
from crowdlogic.errors import OptionError
from crowdlogic.reporting.findings import ReportFinding, Urgency
from crowdlogic.reporting.html import to_html
from crowdlogic.reporting.inputs import ReportLimits, inputs_from_estimate
from crowdlogic.reporting.report import summarise, to_json
from crowdlogic.truth.comparison import MethodResult
from crowdlogic.truth.methods import truth_method

HOSTILE = "</script><script>alert(1)</script>\u2028\x00\x1b[31m\u202e{{ 7*7 }}"


def test_a_single_label_makes_true_sentences() -> None:
    report = report_on(inputs_by("majority", from_dict({"u": {"a": "x"}}, classes=("x", "y"))))

    assert all_sentences(report) == [
        "1 item, 1 label by 1 annotator; agreement cannot be measured: no item has two labels.",
        "1 item of 1 has a single annotator, so nobody else confirms or contradicts the label.",
        "Nobody ever gave the class y.",
        "The method doubts none of 1 label.",
        "1 annotator of 1 gave too few labels to be judged: 1 label in all.",
    ]
    assert report.pages["annotators"].pairs is None


def test_no_labels_at_all_is_said() -> None:
    empty = CrowdLabels(
        unit=np.zeros(0, dtype=np.int32),
        annotator=np.zeros(0, dtype=np.int32),
        label=np.zeros(0, dtype=np.int32),
        items=pl.Series(["u"]),
        annotators=pl.Series(["a"]),
        classes=("x", "y"),
    )

    report = report_on(inputs_by("majority", empty))

    assert "No item has an answer: there are no labels." in all_sentences(report)
    assert report.pages["labels"].expected_wrong_share is None
    assert "1 item has no label." in all_sentences(report)


def test_no_items_and_no_classes_are_no_crash() -> None:
    nothing = CrowdLabels(
        unit=np.zeros(0, dtype=np.int32),
        annotator=np.zeros(0, dtype=np.int32),
        label=np.zeros(0, dtype=np.int32),
        items=pl.Series([], dtype=pl.String),
        annotators=pl.Series([], dtype=pl.String),
        classes=(),
    )

    report = report_on(inputs_by("majority", nothing))

    assert report.pages["overview"].n_items == 0
    assert "0 items, 0 labels by 0 annotators; agreement cannot be measured: no item has two labels." in all_sentences(
        report
    )
    json.loads(to_json(report))


def test_one_class_only_makes_no_spammers() -> None:
    votes = {f"u{i}": {"a": "x", "b": "x", "c": "x"} for i in range(30)}

    report = report_on(inputs_by("dawid-skene", from_dict(votes)))

    assert set(report.pages["annotators"].n_flagged.values()) == {0}
    assert not [one for one in all_sentences(report) if "annotator answers" in one]


def test_hostile_names_survive_as_data_and_the_json_is_valid() -> None:
    votes = {f"{HOSTILE}{i}": {f"w{HOSTILE}": HOSTILE, "b": "x"} for i in range(12)}
    labels = from_dict(votes)
    corpus = documents([f"{HOSTILE}{i}" for i in range(12)], [HOSTILE] * 12)

    report = report_on(inputs_from_estimate(truth_method("dawid-skene").infer(labels), labels, corpus))
    read = json.loads(to_json(report))

    assert set(read["classes"]) == {HOSTILE, "x"}
    assert read["labels"]["doubts"] == [] or read["labels"]["doubts"][0]["text"] == HOSTILE
    assert {row["name"] for row in read["annotators"]["rows"]} == {f"w{HOSTILE}", "b"}
    assert "<script>alert(1)" not in to_html(report)


def test_a_lone_surrogate_does_not_break_the_json() -> None:
    made = small_inputs()
    strange = replace(made, corpus=replace(made.corpus, texts=("\ud800", "b", "c", "d")))

    written = to_json(report_on(strange)).encode("utf-8", "backslashreplace")

    assert [one["text"] for one in json.loads(written)["labels"]["doubts"]] == ["d", "b", "c", "\ud800"]


def test_what_is_not_a_number_is_null() -> None:
    text = to_json(report_on(inputs_by("majority", from_dict({"u": {"a": "x"}}))))

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(text, parse_constant=refuse)["overview"]["agreement"][0]["figure"]["value"] is None


def test_limits_cut_and_what_is_left_out_is_counted() -> None:
    made = simulate_labels(1, items=200, annotators=12, classes=3)
    estimate = truth_method("dawid-skene").infer(made.labels)

    report = report_on(inputs_from_estimate(estimate, made.labels), limits=ReportLimits(items=5, annotators=3))

    assert (len(report.pages["labels"].doubts), report.pages["labels"].n_doubts) == (
        5,
        int((estimate.confidence < 1 - 1e-6).sum()),
    )
    assert (len(report.pages["annotators"].rows), report.pages["annotators"].n_annotators) == (3, 12)
    with pytest.raises(OptionError, match="text must be at least 1, got 0"):
        ReportLimits(text=0)


def test_the_summary_holds_the_most_important_and_counts_the_rest() -> None:
    findings = [
        ReportFinding(f"w{n}", Urgency.act, importance=60 + n, about=f"w{n}", page="annotators") for n in range(10)
    ]
    findings += [ReportFinding(f"o{n}", Urgency.know, importance=n, page="overview") for n in range(10)]

    found = summarise(findings)

    assert [one.text for one in found.findings] == ["w9", "w8", "o9", "o8", "o7", "o6", "o5", "o4"]
    assert found.others == (("annotators", 8),)


def test_the_summary_says_first_what_to_act_on_and_last_what_to_know() -> None:
    kinds = (Urgency.know, Urgency.look, Urgency.act, Urgency.know, Urgency.look)
    findings = [ReportFinding(str(n), kind, importance=90 - n, page="labels") for n, kind in enumerate(kinds)]

    found = summarise(findings)

    assert [one.text for one in found.findings] == ["2", "1", "4", "0", "3"]


def test_the_summary_names_nobody_twice() -> None:
    findings = [
        ReportFinding("all", Urgency.act, importance=90, is_collective=True, page="annotators"),
        ReportFinding("loud", Urgency.look, importance=30, about="r", page="rules"),
    ]
    findings += [ReportFinding(f"w{n}", Urgency.act, importance=60, about=f"w{n}", page="annotators") for n in range(3)]
    findings += [ReportFinding("b1", Urgency.look, importance=50, about="b1", page="annotators")]

    found = summarise(findings)

    assert [one.text for one in found.findings] == ["all", "b1", "loud"]
    assert found.others == ()  # of w0 to w2 all is said


def test_a_method_whose_time_is_unknown_is_shown_with_a_dash() -> None:
    made = small_inputs(["x", "x", "y", "y"])
    compared = [MethodResult("one", made.estimate, float("nan"), {}), MethodResult("two", made.estimate, 0.001, {})]

    report = report_on(made, compared=compared)

    assert [row.seconds for row in report.pages["comparison"].methods] == [None, 0.001]
    page = to_html(report)
    assert '<td class="number" data-value="">–</td>' in page
    assert '<td class="number" data-value="0.001">&lt; 0.01</td>' in page


def test_every_page_puts_the_most_important_first() -> None:
    made = simulate_labels(2, items=400, annotators=20, classes=3)

    report = report_on(inputs_from_estimate(truth_method("dawid-skene").infer(made.labels), made.labels, made.corpus))

    for page in report.pages.values():
        importance = [one.importance for one in page.findings]
        assert importance == sorted(importance, reverse=True)
    assert 1 < len(report.summary.findings) <= 8


def test_labels_in_another_order_make_the_same_report() -> None:
    made = simulate_labels(4, items=60, annotators=8, classes=3).labels
    estimate = truth_method("dawid-skene").infer(made)
    shuffled = made.select(items=made.items.to_list()[::-1], annotators=made.annotators.to_list()[::-1])
    other = shuffled.with_classes(made.classes[::-1])

    one, two = (report_on(inputs_from_estimate(estimate, labels)) for labels in (made, other))

    assert one == two


def test_a_gold_class_that_nobody_knows_is_wrong_and_nothing_else_moves() -> None:
    labels = small_crowd()
    estimate = estimate_with(labels)

    plain = report_on(
        inputs_from_estimate(estimate, labels, documents(["u1", "u2", "u3", "u4"], gold=["x", "x", "y", "y"]))
    )
    odd = report_on(
        inputs_from_estimate(estimate, labels, documents(["u1", "u2", "u3", "u4"], gold=["a", "x", "y", "y"]))
    )

    assert (plain.pages["overview"].scores[0].figure.value, odd.pages["overview"].scores[0].figure.value) == (
        3 / 4,
        2 / 4,
    )
    assert odd.classes == ("x", "y", "a")
    assert [(one.name, one.gold) for one in odd.pages["labels"].gold_mistakes] == [("u1", "a")]
    assert odd.pages["labels"].expected_wrong == plain.pages["labels"].expected_wrong


def test_tags_that_are_no_spans_are_shown_tag_by_tag() -> None:
    labels = from_sequences([("s", "a", ["DET", "NOUN"]), ("s", "b", ["DET", "VERB"])])

    report = report_on(inputs_by("majority", labels))

    (one,) = report.pages["labels"].doubts
    assert [(span.start, span.end, span.kind) for span in one.sentence.readings[1].spans] == [
        (0, 1, "DET"),
        (1, 2, "VERB"),
    ]
    assert one.sentence.tokens == ("token 1", "token 2")
    assert (one.token, one.expected_wrong) == (1, 0.5)
