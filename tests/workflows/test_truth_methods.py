"""Truth methods as users name them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from crowdlogic.data.estimate import drawn_at_random
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.data.reading import read_answers
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import PUBLIC_CROWDS
from crowdlogic.truth.methods import uses_anchors
from crowdlogic.truth.pool import MethodPool
from crowdlogic.workflows.aggregate import (
    anchors_of,
    collect_warnings,
    configured_method,
    methods_to_compare,
    parse_dependence,
    suggest_method,
)

LABELS = from_dict({"u": {"a": "x", "b": "y"}, "v": {"a": "y", "b": "x"}})
ONE_TAG_EACH = from_sequences([("s", "a", ["O", "B-X", "I-X"])])
TAGS = from_sequences([("s", "a", ["O", "B-X"]), ("s", "b", ["O", "O"])])


def test_a_seed_and_a_dependence_go_to_the_methods_that_have_them() -> None:
    assert configured_method("majority", seed=7).seed == 7  # type: ignore[attr-defined]
    assert configured_method("dawid-skene", seed=7) == configured_method("dawid-skene", seed=8)
    assert configured_method("ensemble", dependence=None).dependence is None  # type: ignore[attr-defined]
    assert configured_method("pool", dependence=None).dependence is None  # type: ignore[attr-defined]
    assert configured_method("pool") == MethodPool()


def test_an_unknown_dependence_is_refused() -> None:
    assert (parse_dependence("public"), parse_dependence("none")) == (PUBLIC_CROWDS, None)
    with pytest.raises(OptionError, match=r"--dependence must be one of public, none; got 'some'"):
        parse_dependence("some")


def test_with_anchors_a_method_is_chosen_that_can_use_them() -> None:
    name, _ = suggest_method(ONE_TAG_EACH)

    assert (name, uses_anchors(name)) == ("majority", False)
    assert suggest_method(ONE_TAG_EACH, anchored=True) == ("ensemble", "it can use anchors")


def test_all_means_all_methods_that_can_take_the_labels() -> None:
    every = methods_to_compare(["all"], TAGS, option="--methods")
    items = methods_to_compare(["all"], LABELS, option="--methods")
    anchored = methods_to_compare(["all"], LABELS, option="--methods", anchored=True)

    assert every == list(TRUTH_METHODS)
    assert set(every) - set(items) == {"hmm-crowd", "bsc-seq"}
    assert anchored == [name for name in items if uses_anchors(name)]
    assert methods_to_compare(["glad", "mace", "glad"], LABELS, option="--methods") == ["glad", "mace"]


def test_names_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(OptionError, match=r"--compare: no method is named\. Pass all, or names separated by commas\."):
        methods_to_compare([], LABELS, option="--compare")
    with pytest.raises(OptionError, match=r"No truth method is called 'glda'\. Did you mean 'glad'\?"):
        methods_to_compare(["glda"], LABELS, option="--compare")


def test_anchors_are_classes_or_tags_by_item(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("item,label\nu,y\nv,\n")
    (tmp_path / "k.jsonl").write_text('{"item": "s", "tags": ["O", "B-X"]}\n')
    (tmp_path / "z.csv").write_text("item,label\nz,y\n")

    assert anchors_of(read_answers(tmp_path / "k.csv"), LABELS) == {"u": "y"}
    assert anchors_of(read_answers(tmp_path / "k.jsonl"), TAGS) == {"s": ["O", "B-X"]}
    with pytest.raises(DataError, match=r"item 'z' has no labels \(1 such items\)\. Leave them out\."):
        anchors_of(read_answers(tmp_path / "z.csv"), LABELS)


def test_warnings_of_fits_are_collected_once_each() -> None:
    with collect_warnings() as messages:
        for message in ("first", "second", "first"):
            warnings.warn(message, ConvergenceWarning, stacklevel=1)
        assert messages == []

    assert messages == ["first", "second"]


def test_anchors_of_a_review_know_which_were_drawn_at_random(tmp_path: Path) -> None:
    (tmp_path / "anchors.csv").write_text("item,label,chosen\nu,x,random\nv,y,queue\n")
    labels = from_dict({"u": {"a": "x"}, "v": {"a": "y"}})

    anchors = anchors_of(read_answers(tmp_path / "anchors.csv"), labels)

    assert anchors == {"u": "x", "v": "y"}
    assert drawn_at_random(anchors) == {"u": "x"}
