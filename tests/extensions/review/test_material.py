"""What can be reviewed: labels, an estimate, a run; and how each takes decisions in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.workflows.conftest import BUT, Trained

from crowdlogic.errors import CorpusError, MissingDataError, OptionError
from crowdlogic.extensions.review.material import ReviewOptions, load_material, tool_format
from crowdlogic.extensions.review.review_queue import Decisions
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files


def test_labels_are_aggregated_by_the_method_that_suits_them(trained: Trained) -> None:
    material = load_material(ReviewOptions(source=trained.file("labels.csv"), items=trained.file("items.csv")))

    assert material.title == "labels.csv"
    assert material.corpus is not None
    assert material.corpus.texts is not None
    assert not material.has_classifier
    assert material.notices[-1].startswith("labels.csv: aggregated by pool, chosen because ")
    assert material.fit.estimate.calibration is not None


def test_an_estimate_needs_its_labels_and_keeps_its_beliefs(trained: Trained, tmp_path: Path) -> None:
    labels, saved = trained.file("labels.csv"), str(tmp_path / "saved")
    made = aggregate_files(AggregateOptions(labels=labels, out=str(tmp_path / "a.csv"), save=saved, method="ibcc"))

    material = load_material(ReviewOptions(source=saved, labels=labels))

    np.testing.assert_array_equal(material.fit.estimate.beliefs, made.estimate.beliefs)
    with pytest.raises(OptionError, match="an estimate does not contain the labels"):
        load_material(ReviewOptions(source=saved))


def test_a_run_brings_everything_along(trained: Trained) -> None:
    material = load_material(ReviewOptions(source=trained.file("run")))

    assert material.has_classifier
    assert material.rules is not None
    assert "but" in material.rules.texts[0]
    with pytest.raises(OptionError, match="Leave --items out"):
        load_material(ReviewOptions(source=trained.file("run"), items="x.csv"))


@pytest.mark.parametrize("source", ["labels.csv", "run"])
def test_decisions_are_truths_from_then_on(trained: Trained, source: str) -> None:
    material = load_material(ReviewOptions(source=trained.file(source)))
    first, names = material.fit.estimate, material.labels.items
    others = [material.labels.classes[1 - k] for k in first.answer[:30]]
    decisions = Decisions(truth=dict(zip(names[:30].to_list(), others, strict=True)))

    after = material.fitter.refit(material.fit, decisions).estimate

    assert after.answer_names()[:30] == others
    assert after.confidence[:30].tolist() == [1.0] * 30
    assert (after.confidence[30:] < 1).all()


def test_a_method_that_knows_no_truths_keeps_the_decisions_all_the_same(trained: Trained) -> None:
    material = load_material(ReviewOptions(source=trained.file("labels.csv"), method="majority"))
    item, other = material.labels.items[0], material.labels.classes[1 - int(material.fit.estimate.answer[0])]

    after = material.fitter.refit(material.fit, Decisions(truth={item: other})).estimate

    assert after.answer_names()[0] == other
    np.testing.assert_array_equal(after.answer[1:], material.fit.estimate.answer[1:])


def test_rules_need_texts_and_those_that_ask_a_classifier_need_a_run(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "r.rules").write_text(f"{BUT}0.5: Contains(S, 'good') -> Label(S, 'positive')\n")
    rules, labels = str(tmp_path / "r.rules"), trained.file("labels.csv")

    with pytest.raises(CorpusError, match="Pass them with --items FILE"):
        load_material(ReviewOptions(source=labels, rules=rules))
    material = load_material(ReviewOptions(source=labels, items=trained.file("items.csv"), rules=rules))

    assert material.rules is not None
    assert [text for text in material.rules.texts if "good" in text] == list(material.rules.texts)
    assert [note for note in material.notices if "needs a classifier (Predicted) and is skipped" in note]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="contains neither a run nor an estimate"):
        load_material(ReviewOptions(source=str(tmp_path)))


def test_answers_go_back_to_the_tool_that_the_labels_are_from(trained: Trained, tmp_path: Path) -> None:
    task = {"id": 1, "data": {"text": "a"}, "annotations": [{"completed_by": 1, "result": [_choice("x")]}]}
    (tmp_path / "export.json").write_text(json.dumps([task]))

    assert tool_format(str(tmp_path / "export.json"), None) == "label-studio"
    assert tool_format(trained.file("labels.csv"), None) is None


def _choice(name: str) -> dict[str, object]:
    return {"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": [name]}}
