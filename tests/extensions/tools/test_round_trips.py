"""Every format that holds the labels of several annotators gives them back; every consensus has the same answers again.

Texts and names hold emoji, combining characters, right-to-left text and line breaks. Whatever a format says it cannot
hold (white space in CoNLL's tokens, tags that are no spans) is refused, and nothing is lost in silence.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.data.formats.texts import CROWDS_OF_SENTENCES, same_labels
from tests.extensions.tools.test_label_studio_writing import spans_of

from crowdlogic.data.estimate import Answers, align_answers
from crowdlogic.data.formats.protocol import Crowd, load_format
from crowdlogic.data.reading import read_answers, read_crowd, write_estimate, write_labels
from crowdlogic.errors import MissingExtraError, OptionError
from crowdlogic.registry import FORMATS
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.workflows.convert import ConvertOptions, convert
from crowdlogic.workflows.inputs import InputOptions

HOLD_LABELS = [name for name in FORMATS if load_format(name).overrides("encode_labels")]
HOLD_ANSWERS = [name for name in FORMATS if load_format(name).overrides("encode_estimate")]
WITHOUT_NAMES = {"fasttext", "conll2003"}
"""Formats that keep no names of items; what is read again is numbered."""
MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def fresh(folder: Path, name: str) -> Path:
    """A path that is not there yet, with the format's usual suffix."""
    return folder / f"f{len(list(folder.iterdir()))}{load_format(name).suffixes[0]}"


@pytest.mark.parametrize("name", HOLD_ANSWERS)
@MANY
@given(crowd=CROWDS_OF_SENTENCES)
def test_consensus_of_sentences_reads_back_with_the_same_spans(tmp_path: Path, name: str, crowd: Crowd) -> None:
    path, estimate = fresh(tmp_path, name), MajorityVote(seed=0).infer(crowd.labels)
    assume(len(spans_of(estimate.answer, estimate.classes, estimate.offsets)))
    assert estimate.offsets is not None
    assume((np.diff(estimate.offsets) > 0).all())
    try:
        write_estimate(path, estimate, corpus=crowd.corpus, format=name)
    except MissingExtraError:
        pytest.skip("spaCy is not installed; tests/tools runs its writer")
    except OptionError:
        assert name in ("csv", "tsv", "xlsx", "fasttext")
        return

    found = read_answers(path, format=name)

    items = found.items if name in WITHOUT_NAMES else estimate.items
    again = align_answers(found, Answers(items, estimate.classes, estimate.answer, offsets=estimate.offsets))
    assert spans_of(again.predicted, again.classes, again.offsets) == spans_of(again.gold, again.classes, again.offsets)


@pytest.mark.parametrize("source", HOLD_LABELS)
@pytest.mark.parametrize("target", HOLD_LABELS)
def test_convert_goes_from_every_format_to_every_other(tmp_path: Path, source: str, target: str) -> None:
    """With the tokens of the source; texts that a table of labels does not hold are missing for tools that need them."""
    crowd = made_crowd()
    path, out = fresh(tmp_path, source), tmp_path / f"out{load_format(target).suffixes[0]}"
    write_labels(path, crowd.labels, corpus=crowd.corpus, format=source)
    options = ConvertOptions(source=str(path), out=str(out), format=target, input=InputOptions(format=source))
    keeps_texts = read_crowd(path, format=source).corpus is not None

    if not keeps_texts and load_format(target).name in ("conll", "label-studio", "prodigy", "potato"):
        with pytest.raises(OptionError, match="needs"):
            convert(options)
        return
    convert(options)

    assert same_labels(read_crowd(out, format=target).labels, crowd.labels)


def made_crowd() -> Crowd:
    """Three sentences in which two people marked spans."""
    from crowdlogic.data.formats.protocol import ReadOptions
    from crowdlogic.extensions.tools.collector import Collector

    collector = Collector("made", ReadOptions())
    for number, text in enumerate(["Ann Lee 😀 sings", "שלום Bob", "nobody here"]):
        item = collector.item(f"s{number}", text=text)
        collector.spans(item, "ann", [(0, 7, "PER")] if number == 0 else [], record=1, kind="human")
        collector.spans(item, "bob", [(5, 8, "PER")] if number == 1 else [], record=1, kind="human")
    return collector.crowd()
