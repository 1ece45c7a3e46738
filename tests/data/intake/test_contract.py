from __future__ import annotations

import pytest

from crowdlogic.data.frames import from_arrays, from_dict


def test_lookalike_classes_are_noticed() -> None:
    labels = from_dict({"u": {"a": "Yes", "b": "yes ", "c": "no"}})

    assert labels.intake.messages() == ["The classes 'Yes', 'yes ' differ only in case or spaces; are they one class?"]


@pytest.mark.parametrize("label", ["NA", "NaN", "null", "None"])
def test_words_for_nothing_are_classes_that_are_pointed_out(label: str) -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["x", label])

    assert label in labels.classes
    assert labels.intake.messages() == [
        f"The label {label!r} is taken as a class; if it means that there is no label, leave the cell empty."
    ]
