"""`fit` takes the reading options of `from_frame`; wrong arguments fail early and say what to write instead."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from crowdlogic import LogicLNCL, TrainingLimits, from_frame, save_estimate
from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import CrowdLogicError, LabelError, OptionError
from crowdlogic.learning import AggNet, TwoStage
from crowdlogic.truth.dawid_skene import DawidSkene

LIMITS = TrainingLimits(epochs=1, held_out=None)


@pytest.fixture(name="frame")
def make_frame() -> pd.DataFrame:
    rows = [
        (f"t{i}", who, "good" if i % 2 else "bad", f"a {'fine' if i % 2 else 'dull'} film {i}")
        for i in range(8)
        for who in "abc"
    ]
    rows.append(("t0", "a", "good", "a dull film 0"))  # a gave t0 two labels
    return pd.DataFrame(rows, columns=["item", "annotator", "label", "text"])


def test_fit_takes_the_options_of_from_frame(frame: pd.DataFrame) -> None:
    method = LogicLNCL(limits=LIMITS)
    texts = frame[["item", "text"]].drop_duplicates()

    with pytest.raises(LabelError):
        method.fit(frame)
    for learned in (method.fit(frame, duplicates="last"), method.fit(texts, frame, duplicates="last")):
        labels = learned.task.labels
        expected = from_frame(frame, duplicates="last")
        assert labels.to_frame().rows() == expected.to_frame().rows()
    classes = method.fit(frame, duplicates="first", classes=["good", "bad"]).estimate.classes
    assert classes == ("good", "bad")


def test_fit_takes_columns_with_other_names(frame: pd.DataFrame) -> None:
    renamed = frame.rename(columns={"item": "zz", "text": "body_of_it", "label": "ww"})

    learned = LogicLNCL(limits=LIMITS).fit(
        renamed, columns={"item": "zz", "text": "body_of_it", "label": "ww"}, duplicates="first"
    )

    assert set(learned.estimate.items) == set(frame["item"])


def test_reading_options_beside_labels_that_were_read_are_refused(frame: pd.DataFrame) -> None:
    labels = from_frame(frame, duplicates="last")

    with pytest.raises(OptionError, match=r"Pass the options to from_frame or read_labels"):
        LogicLNCL(limits=LIMITS).fit(frame[["item", "text"]].drop_duplicates(), labels, duplicates="last")


@pytest.mark.parametrize("method", [LogicLNCL, AggNet, lambda name: TwoStage(classifier=name)])
def test_a_wrong_name_of_a_classifier_fails_when_the_method_is_made(method: type) -> None:
    with pytest.raises(CrowdLogicError, match=r"Did you mean 'linear'"):
        method("linearr")


def test_a_classifier_may_be_named() -> None:
    assert LogicLNCL("linear") == LogicLNCL(Linear())


def test_swapped_arguments_of_save_estimate_are_one_sentence(tmp_path: Path, frame: pd.DataFrame) -> None:
    estimate = DawidSkene().infer(from_frame(frame, duplicates="last"))

    with pytest.raises(OptionError, match=r"save_estimate\(folder, estimate\)"):
        save_estimate(estimate, tmp_path / "saved")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
