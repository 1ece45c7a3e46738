"""The iteration of sequence methods: against enumeration of all paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.scale.coded_files import open_coded, write_coded
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.hmm_crowd import HMMCrowd

TAG_SET = ("B-X", "I-X", "O")
METHODS = pytest.mark.parametrize("method", [HMMCrowd(), BSCSeq()], ids=lambda method: method.name)


def noisy_tags(seed: int, *, sentences: int = 12, annotators: int = 3) -> CrowdLabels:
    """Random tags, so that a fit has to iterate."""
    rng = np.random.default_rng(seed)
    tags = np.array(TAG_SET)
    rows = [(s, j, tags[rng.integers(3, size=4)].tolist()) for s in range(sentences) for j in range(annotators)]
    return from_sequences(rows, classes=TAG_SET)


@pytest.mark.filterwarnings("ignore::crowdlogic.errors.ConvergenceWarning")
@METHODS
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 50), rows=st.integers(1, 60), worded=st.booleans(), anchored=st.booleans())
def test_every_cut_of_files_gives_the_answers_of_memory(
    tmp_path_factory: pytest.TempPathFactory, method: Any, seed: int, rows: int, worded: bool, anchored: bool
) -> None:
    labels = noisy_tags(seed)
    words = np.random.default_rng(seed).choice(["Ann", "runs", "7", "far"], size=(12, 4)).tolist()
    corpus = sentences(labels.items.to_list(), words) if worded else None
    fitting = Fitting(anchors={labels.items[3]: ["B-X", "I-X", "O", "O"]} if anchored else None)
    short = replace(method, convergence=Convergence(max_iterations=4, tolerance=0.0))
    folder = tmp_path_factory.mktemp("coded")
    write_coded(folder, short.arrange(labels), rows=rows, anchors=fitting.anchors)

    found = short.infer_over(open_coded(folder, threads=2), labels, corpus, fitting=fitting)

    whole = short.infer(labels, corpus, fitting=fitting)
    np.testing.assert_allclose(found.beliefs, whole.beliefs, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found.answer, whole.answer)
