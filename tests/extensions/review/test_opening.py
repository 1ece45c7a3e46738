"""The folder of a review."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.small_reviews import material_of, opened, small_material

from crowdlogic.data.frames import from_dict
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.session import LOG, default_folder


def test_a_review_is_called_after_what_is_reviewed() -> None:
    assert default_folder("data/labels.csv.gz") == Path("labels-review")
    assert default_folder("runs/first/") == Path("first-review")
    with pytest.raises(OptionError, match="-o DIR"):
        default_folder("-")


def test_only_one_process_serves_a_review(tmp_path: Path) -> None:
    first = opened(small_material(), tmp_path / "r")
    with first, pytest.raises(OptionError) as caught, opened(small_material(), tmp_path / "r"):
        pass

    assert str(caught.value).endswith(
        "r: another process is serving this review. Wait until it ends, or choose another folder."
    )


def test_other_items_are_another_review(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r"):
        pass

    others = material_of(from_dict({"u1": {"ann": "x"}, "u9": {"ann": "y"}}))
    with pytest.raises(OptionError, match="contains a review of other items"), opened(others, tmp_path / "r"):
        pass
    more = {"u1": {"ann": "x", "zoe": "y"}, "u2": {"ann": "x"}, "u3": {"ann": "y"}, "u4": {"ann": "y"}}
    with opened(material_of(from_dict(more)), tmp_path / "r"):  # the same items with other labels
        pass


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    (tmp_path / "file").write_text("x")

    for name, message in {
        "full": "contains other files, but no review",
        "file": "found a file",
        "no/such": "does not exist",
    }.items():
        with pytest.raises(OptionError, match=message), opened(small_material(), tmp_path / name):
            pass
    assert not (tmp_path / "full" / LOG).exists()


def test_a_share_is_from_0_to_1(tmp_path: Path) -> None:
    with (
        pytest.raises(OptionError, match=r"must be between 0 and 1, got 1\.5"),
        opened(small_material(), tmp_path / "r", share=1.5),
    ):
        pass
