"""Every format that holds the labels of several annotators gives them back; every consensus has the same answers again.

Texts and names hold emoji, combining characters, right-to-left text and line breaks. Whatever a format says it cannot
hold (white space in CoNLL's tokens, tags that are no spans) is refused, and nothing is lost in silence.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.data.formats.texts import CROWDS_OF_DOCUMENTS, CROWDS_OF_SENTENCES, same_labels

from crowdlogic.data.formats.protocol import Crowd, load_format
from crowdlogic.data.reading import read_answers, read_crowd, write_estimate, write_labels
from crowdlogic.errors import FormatError, MissingExtraError, OptionError
from crowdlogic.registry import FORMATS
from crowdlogic.truth.majority import MajorityVote

HOLD_LABELS = [name for name in FORMATS if load_format(name).overrides("encode_labels")]
HOLD_ANSWERS = [name for name in FORMATS if load_format(name).overrides("encode_estimate")]
WITHOUT_NAMES = {"fasttext", "conll2003"}
"""Formats that keep no names of items; what is read again is numbered."""
MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def fresh(folder: Path, name: str) -> Path:
    """A path that is not there yet, with the format's usual suffix."""
    return folder / f"f{len(list(folder.iterdir()))}{load_format(name).suffixes[0]}"


@pytest.mark.extension("tools")
def test_the_list_of_formats_is_the_one_that_the_docs_promise() -> None:
    assert {"csv", "jsonl", "parquet", "conll", "huggingface", "label-studio", "prodigy", "potato"} <= set(HOLD_LABELS)
    assert {*HOLD_LABELS, "conll2003", "spacy", "fasttext"} <= set(HOLD_ANSWERS)


@pytest.mark.parametrize("name", HOLD_LABELS)
@MANY
@given(crowd=CROWDS_OF_DOCUMENTS)
def test_labels_of_documents_come_back(tmp_path: Path, name: str, crowd: Crowd) -> None:
    path = fresh(tmp_path, name)
    try:
        write_labels(path, crowd.labels, corpus=crowd.corpus, format=name)
    except OptionError as refused:
        assert name == "conll", refused
        return

    found = read_crowd(path, format=name)

    assert same_labels(found.labels, crowd.labels)
    assert found.labels.kind in (None, crowd.labels.kind, ("human",) * len(found.labels.annotators))


@pytest.mark.parametrize("name", HOLD_LABELS)
@MANY
@given(crowd=CROWDS_OF_SENTENCES)
def test_tags_of_sentences_come_back(tmp_path: Path, name: str, crowd: Crowd) -> None:
    path = fresh(tmp_path, name)
    try:
        write_labels(path, crowd.labels, corpus=crowd.corpus, format=name)
    except FormatError as refused:
        assert name == "conll"
        assert "is empty, which CoNLL does not support" in str(refused)
        return

    assert same_labels(read_crowd(path, format=name).labels, crowd.labels)


@pytest.mark.parametrize("name", HOLD_ANSWERS)
@MANY
@given(crowd=CROWDS_OF_DOCUMENTS)
def test_consensus_of_documents_reads_back_with_the_same_answers(tmp_path: Path, name: str, crowd: Crowd) -> None:
    path, estimate = fresh(tmp_path, name), MajorityVote(seed=0).infer(crowd.labels)
    try:
        write_estimate(path, estimate, corpus=crowd.corpus, format=name)
    except MissingExtraError:
        pytest.skip("spaCy is not installed; tests/tools runs its writer")
    except OptionError as refused:
        assert name in ("conll", "conll2003") or "white space" in str(refused), refused
        return

    found = read_answers(path, format=name)

    answers = {str(item): str(found.classes[code]) for item, code in zip(found.items, found.answer, strict=True)}
    names = range(len(estimate.items)) if name in WITHOUT_NAMES else estimate.items
    assert answers == {str(item): str(label) for item, label in zip(names, estimate.answer_names(), strict=True)}
