"""What looks like a mistake in a table of labels is said."""

from __future__ import annotations

import polars as pl
import pytest

from crowdlogic.data.frames import from_frame
from crowdlogic.data.intake.building import odd_classes
from crowdlogic.errors import OptionError


def table(label: list[str | None], **more: list[float]) -> pl.DataFrame:
    items = [f"i{n}" for n in range(len(label))]
    return pl.DataFrame({"item": items, "annotator": ["a"] * len(label), "label": label, **more})


@pytest.mark.parametrize("separator", ["|", ";", ",", "/", "+", "&"])
def test_classes_that_join_others_are_said_with_their_separator(separator: str) -> None:
    labels = from_frame(table(["toxic", f"toxic{separator}insult", f"insult{separator} threat", "threat"]))

    assert labels.intake.notices == (
        f"2 of 4 classes combine others with {separator!r}, such as 'insult{separator} threat'. Several labels per "
        f"item are not supported, so each combination is used as a class. Instead, make one table per label with the "
        f"labels yes and no.",
    )


@pytest.mark.parametrize("classes", [["yes/no", "maybe"], ["B-ORG", "I-ORG"], ["a|b"], ["R&D", "sales"], ["+", "-1"]])
def test_a_sign_in_a_name_alone_joins_nothing(classes: list[str]) -> None:
    assert not [notice for notice in odd_classes(classes) if "join" in notice]


def test_an_empty_answer_can_be_kept_as_a_class_of_its_own() -> None:
    labels = from_frame(table(["x", "", None, "x"]), empty_label="none")

    assert labels.classes == ("none", "x")
    assert labels.n_labels == 4
    assert labels.intake.messages() == ["2 empty answers of 4 used as the class 'none'."]


def test_an_empty_answer_makes_no_sense_for_tags() -> None:
    tags = pl.DataFrame({"item": ["s"], "annotator": ["a"], "tags": ["O O"]})

    with pytest.raises(OptionError) as caught:
        from_frame(tags, empty_label="none")

    assert str(caught.value) == "empty_label: only applies to labels of whole items. Leave it out for a table of tags."


def test_a_column_that_looks_like_a_confidence_and_is_not_used_is_said() -> None:
    said = from_frame(table(["x", "y"], Confidence=[0.9, 0.1])).intake.notices
    used = from_frame(table(["x", "y"], confidence=[0.9, 0.1]), columns={"weight": "confidence"})

    assert said == (
        "The column 'Confidence' is not used, so all labels have equal weights. To use it as weights: "
        'columns={"weight": "Confidence"}.',
    )
    assert used.intake.notices == ()
    assert used.weight is not None
