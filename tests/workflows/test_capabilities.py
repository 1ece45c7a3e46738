"""What labels allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.truth.methods import WHY_POOL
from crowdlogic.workflows.doctor import Capabilities, count_labels, find_capabilities


def capabilities(labels: CrowdLabels) -> Capabilities:
    return find_capabilities(labels, count_labels(Crowd(labels)))


def test_documents_refuse_methods_of_sentences_and_say_why() -> None:
    found = capabilities(from_frame({"item": ["u", "u"], "annotator": ["a", "b"], "label": ["x", "y"]}))

    assert "dawid-skene" in found.methods
    assert found.refused["bsc-seq"] == "it models the tags of sentences"
    assert found.suggested == "pool"
    assert found.reason == WHY_POOL


def test_sentences_allow_every_method() -> None:
    found = capabilities(from_sequences([("s", "a", ["O", "B-X"]), ("s", "b", ["O", "O"])]))

    assert "bsc-seq" in found.methods
    assert found.refused == {}


def test_labels_that_nobody_shares_allow_neither_agreement_nor_reliability() -> None:
    found = capabilities(from_frame({"item": ["u", "v"], "annotator": ["a", "b"], "label": ["x", "y"]}))

    allowed = {one.name: (one.possible, one.remark) for one in found.others}

    assert allowed["agreement with intervals"] == (False, "no item has two labels")
    assert allowed["reliability of annotators with intervals"] == (False, "no two annotators labelled the same unit")


def test_a_few_labels_give_wide_intervals_and_name_the_annotators() -> None:
    items = [f"i{n}" for n in range(25)]
    table = {"item": [*items, "i0"], "annotator": ["ann"] * 25 + ["bob"], "label": ["x", *["y"] * 24, "x"]}

    remarks = {one.name: one.remark for one in capabilities(from_frame(table)).others}

    assert remarks["reliability of annotators with intervals"] == "wide for 1 annotator with fewer than 20 labels (bob)"
    assert remarks["training a classifier"] == "no texts in the file; give them with --items"


def test_partial_labels_allow_methods_with_a_confusion_matrix_only() -> None:
    whole = from_frame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "z"]})

    found = capabilities(replace(whole, negated=np.array([True, False, False])))

    assert found.methods == ("dawid-skene", "ibcc", "ebcc")
    assert found.refused["majority"] == "some labels say only which class it is not"
    assert {one.name for one in found.others if not one.possible} >= {"agreement with intervals", "report"}
