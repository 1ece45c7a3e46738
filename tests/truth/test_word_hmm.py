"""The iteration of sequence methods: against enumeration of all paths."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.truth.planted import WORDS, tagged_sentences

from crowdlogic.annotators.class_accuracy import ClassAccuracy
from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.data.frames import from_matrix, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, LabelError, OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import expected_log
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.fitting import Fitting, Progress
from crowdlogic.truth.hmm_crowd import HMMCrowd
from crowdlogic.truth.word_hmm import TagChain, WordHMM, code_words, tag_grammar

TAG_SET = ("B-X", "I-X", "O")
METHODS = pytest.mark.parametrize("method", [HMMCrowd(), BSCSeq()], ids=lambda method: method.name)


def noisy_tags(seed: int, *, sentences: int = 12, annotators: int = 3) -> CrowdLabels:
    """Random tags, so that a fit has to iterate."""
    rng = np.random.default_rng(seed)
    tags = np.array(TAG_SET)
    rows = [(s, j, tags[rng.integers(3, size=4)].tolist()) for s in range(sentences) for j in range(annotators)]
    return from_sequences(rows, classes=TAG_SET)


def small_hmm(labels: CrowdLabels, corpus: Corpus | None) -> WordHMM:
    model = ClassAccuracy()
    return WordHMM(
        model=model,
        chain=TagChain(tag_grammar(labels.classes), np.asarray(labels.offsets), 0.5),
        words=code_words(labels, corpus, shapes=True),
        word_count=0.3,
        engine=model.observe(labels),
        items=labels.items,
    )


def test_a_step_is_the_sum_over_all_valid_paths() -> None:
    """Beliefs, expected transitions and the evidence against enumeration of every path of every sentence."""
    labels, corpus = tagged_sentences()
    hmm = small_hmm(labels, corpus)
    state = hmm.first_state(np.random.default_rng(0).dirichlet(np.ones(3), size=labels.n_units))
    unary = hmm.unary(state)
    follow, start = (expected_log(state[name], axis=-1) for name in ("transitions", "start"))
    q, pairs, log_evidence = np.zeros((labels.n_units, 3)), np.zeros((3, 3)), 0.0
    for first, last in pairwise(np.asarray(labels.offsets)):
        paths = list(product(range(3), repeat=last - first))
        weights = np.array(
            [
                np.exp(start[p[0]] + sum(follow[a, b] for a, b in pairwise(p)) + unary[range(first, last), p].sum())
                for p in paths
            ]
        )
        log_evidence += float(np.log(weights.sum()))
        for path, share in zip(paths, weights / weights.sum(), strict=True):
            q[range(first, last), path] += share
            for a, b in pairwise(path):
                pairs[a, b] += share

    following, bound = hmm.step(state)

    np.testing.assert_allclose(hmm.beliefs(state), q, rtol=0, atol=1e-9)
    allowed = tag_grammar(labels.classes).allowed
    np.testing.assert_allclose(following["transitions"], np.where(allowed, pairs + 0.5, 0.0), rtol=0, atol=1e-9)
    added = hmm.model.log_prior(hmm.engine, state) - hmm.chain.divergence(state) - hmm.words.divergence(state, 0.3)
    np.testing.assert_allclose(bound, log_evidence + added, rtol=1e-10)


def test_evidence_of_annotators_and_words_adds_up() -> None:
    labels, corpus = tagged_sentences()
    hmm = small_hmm(labels, corpus)
    state = hmm.first_state(np.random.default_rng(1).dirichlet(np.ones(3), size=labels.n_units))

    says = hmm.model.load(state).terms(hmm.engine)
    words = sum(expected_log(state[f"feature{at}"], axis=0)[codes] for at, codes in enumerate(hmm.words.codes))

    for unit in range(labels.n_units):
        expected = says[labels.unit == unit].sum(axis=0) + words[unit]
        np.testing.assert_allclose(hmm.unary(state)[unit], expected, rtol=1e-10)


@METHODS
@pytest.mark.parametrize("with_words", [False, True])
def test_the_bound_never_falls(method: Any, with_words: bool) -> None:
    labels = noisy_tags(0)
    words = tuple(np.random.default_rng(1).choice(["a", "B", "c", "1"], size=labels.n_units).tolist())
    corpus = Corpus(labels.items, tokens=words, offsets=labels.offsets) if with_words else None

    trace = method.infer(labels, corpus).trace

    assert len(trace) > 2
    assert (np.diff(trace) > -1e-8).all()


@METHODS
def test_transitions_and_starts_are_distributions_over_valid_tags(method: Any) -> None:
    estimate = method.infer(noisy_tags(2))

    transitions, start = estimate.parameters["transitions"], estimate.parameters["start"]
    np.testing.assert_allclose(transitions.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(start.sum(), 1.0, rtol=1e-12)
    assert transitions[2, 1] == 0.0  # I-X after O
    assert start[1] == 0.0


@METHODS
def test_single_items_are_refused(method: Any) -> None:
    labels = from_matrix(np.zeros((2, 2), dtype=int))

    with pytest.raises(OptionError) as refused:
        method.infer(labels)

    assert str(refused.value) == (
        f"{method.name} is for sequences: tags of the tokens of sentences. These labels are of single items; use "
        f"dawid-skene, ibcc or another method for them."
    )


@METHODS
def test_a_checkpoint_of_other_words_is_refused(method: Any, tmp_path: Path) -> None:
    labels, corpus = tagged_sentences()

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


def test_an_anchor_that_breaks_the_grammar_is_refused() -> None:
    labels = from_sequences([(0, 0, ["O", "B-X", "I-X"]), (1, 0, ["O", "O", "O"])])

    with pytest.raises(LabelError, match="The anchor of 1 is not a valid sequence of tags"):
        HMMCrowd().infer(labels, fitting=Fitting(anchors={1: ["O", "I-X", "O"]}))


@METHODS
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 20), shards=st.integers(2, 7))
def test_every_cut_between_sentences_gives_the_same_fit(method: Any, seed: int, shards: int) -> None:
    labels = noisy_tags(seed)
    method = replace(method, convergence=Convergence(max_iterations=6, tolerance=0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = method.infer(labels, fitting=Fitting(threads=1))

        cut = method.infer(labels, fitting=Fitting(threads=shards))

    np.testing.assert_allclose(cut.beliefs, whole.beliefs, rtol=0, atol=1e-8)
    np.testing.assert_allclose(cut.trace, whole.trace, rtol=1e-9)
    assert (cut.answer == whole.answer).all()
