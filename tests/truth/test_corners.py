"""Corners that a review found: tag sets without a beginning, other words at a checkpoint, weights of nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdlogic.annotators.tag_chain import tag_grammar
from crowdlogic.data.corpus import Corpus, merge_corpora, sentences
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.fitting import Fitting, Progress
from crowdlogic.truth.hmm_crowd import HMMCrowd
from crowdlogic.truth.ibcc import IBCC
from crowdlogic.truth.incremental import Incremental
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.methods import needs_sequences, truth_method
from crowdlogic.truth.one_coin import OneCoin
from crowdlogic.truth.weighting import CATD, PM

WORDS = (["New", "York", "is", "big"], ["I", "like", "Rome"], ["Rome", "is", "old"])
TAGS = (["B-X", "I-X", "O", "O"], ["O", "O", "B-X"], ["B-X", "O", "O"])


def tagged(n: int = 3) -> tuple[CrowdLabels, Corpus]:
    rows = [(f"s{s}", who, TAGS[s]) for s in range(n) for who in "abc"]
    return from_sequences(rows, classes=["B-X", "I-X", "O"]), sentences([f"s{s}" for s in range(n)], WORDS[:n])


@pytest.mark.parametrize("method", [HMMCrowd(), BSCSeq()], ids=lambda method: method.name)
@pytest.mark.parametrize(
    "tags",
    [["O", "I-PER", "I-PER", "O"], ["I-PER"], ["B-PER", "O", "I-LOC", "I-LOC"]],
    ids=["IO", "one tag", "no B-LOC"],
)
def test_a_type_without_a_beginning_may_begin_with_its_inside(method: Any, tags: list[str]) -> None:
    labels = from_sequences([(s, who, tags) for s in range(6) for who in "abc"])

    assert method.infer(labels).answer_names() == tags * 6


def test_a_type_with_a_beginning_must_begin_with_it() -> None:
    grammar = tag_grammar(("B-LOC", "I-LOC", "I-PER", "O"))

    assert grammar.may_start.tolist() == [True, False, True, True]
    assert grammar.allowed[3].tolist() == [True, False, True, True]


@pytest.mark.parametrize("method", [HMMCrowd(), BSCSeq()], ids=lambda method: method.name)
def test_a_checkpoint_of_other_words_is_refused(method: Any, tmp_path: Path) -> None:
    labels, corpus = tagged()

    class Stop(Exception):  # noqa: N818 (a way out, not an error)
        pass

    def stop(progress: Progress) -> None:
        if progress.iteration == 2:
            raise Stop

    with pytest.raises(Stop):
        method.infer(labels, corpus, fitting=Fitting(checkpoint=tmp_path / "c", every=1, progress=stop))
    other = sentences(corpus.items.to_list(), [[word.upper() for word in sentence] for sentence in WORDS])

    with pytest.raises(OptionError, match="belongs to another fit"):
        method.infer(labels, other, fitting=Fitting(checkpoint=tmp_path / "c"))


def test_new_sentences_come_with_their_words() -> None:
    labels, corpus = tagged()
    first, second = labels.select(items=["s0", "s1"]), labels.select(items=["s2"])

    standing = Incremental.start(HMMCrowd(), first, corpus.select(["s0", "s1"])).update(second, corpus.select(["s2"]))

    whole = HMMCrowd().infer(labels, corpus)
    assert standing.estimate.answer_names() == whole.answer_names()
    assert standing.corpus is not None
    assert standing.corpus.tokens == corpus.tokens
    with pytest.raises(CorpusError, match="Item 's2' has labels but no text"):
        Incremental.start(HMMCrowd(), first, corpus.select(["s0", "s1"])).update(second)


def test_items_known_to_both_are_taken_once() -> None:
    one, two = (
        sentences(["s", "t"], [["a"], ["b", "c"]], gold=[["O"], ["O", "X"]]),
        sentences(["t", "u"], [["z", "z"], ["d"]]),
    )

    both = merge_corpora(one, two)

    assert both is not None
    assert both.items.to_list() == ["s", "t", "u"]
    assert both.tokens == ("a", "b", "c", "d")
    assert both.gold is not None
    assert both.gold.tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize("name", [name for name in TRUTH_METHODS if not needs_sequences(name)])
def test_labels_of_no_weight_are_no_labels(name: str) -> None:
    labels = from_arrays(["u", "u", "v", "v", "w", "w"], list("ababab"), list("xxyyxx"), weight=[1, 1, 1, 1, 0, 0])

    assert truth_method(name).infer(labels).answer_names() == ["x", "y", None]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DawidSkene(smoothing=-1),
        lambda: DawidSkene(trust=float("nan")),
        lambda: OneCoin(trust=-1),
        lambda: IBCC(off_diagonal=0),
        lambda: EBCC(diagonal=0),
        lambda: MACE(strategy_count=0),
        lambda: HMMCrowd(word_count=0),
        lambda: BSCSeq(spread=-1),
        lambda: PM(convergence=Convergence(max_iterations=0)),
        lambda: CATD(convergence=Convergence(max_iterations=0)),
        lambda: Fitting(every=0),
        lambda: Fitting(threads=0),
    ],
)
def test_options_that_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(OptionError, match="must be"):
        make()


def test_an_anchor_may_leave_tokens_open() -> None:
    labels, _ = tagged()

    estimate = DawidSkene().infer(labels, fitting=Fitting(anchors={"s0": ["O", None, None, "B-X"]}))

    assert [estimate.answer_names()[i] for i in (0, 3)] == ["O", "B-X"]
    np.testing.assert_allclose(estimate.beliefs[[0, 3]].max(axis=1), 1.0, rtol=0, atol=1e-12)
