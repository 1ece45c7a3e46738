"""Figures on the public data sets that must not fall."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from crowdlogic.extensions.paper.benchmarks import Benchmark, load_benchmark
from crowdlogic.metrics.scores import accuracy_ties_half
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import needs_sequences, truth_method
from crowdlogic.truth.word_hmm import tag_grammar

pytestmark = pytest.mark.data


@cache
def loaded(name: str, root: Path) -> Benchmark:
    return load_benchmark(name, root=root)


def right(method: object, name: str, root: Path) -> float:
    data = loaded(name, root)
    estimate = method.infer(data.labels)  # type: ignore[attr-defined]
    return 100 * accuracy_ties_half(data.corpus.gold, estimate.answer, estimate.beliefs)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("dawid-skene", 91.4),
        ("glad", 91.6),
        ("catd", 91.4),
        ("pm", 89.6),
        ("ibcc", 91.4),
        ("mace", 91.6),
    ],
)
def test_sentiment(data_root: Path, name: str, least: float) -> None:
    assert right(truth_method(name), "sentiment_mturk", data_root) >= least


def test_ebcc_is_right_as_often_as_its_authors_found(data_root: Path) -> None:
    assert right(EBCC(), "truth/bluebird", data_root) == pytest.approx(86.11, abs=0.005)
    assert right(EBCC(restarts=1), "sentiment_mturk", data_root) >= 91.4


def test_sentiment_by_dawid_skene_is_the_published_figure(data_root: Path) -> None:
    assert right(DawidSkene(), "sentiment_mturk", data_root) == pytest.approx(91.5, abs=0.1)
    assert right(MajorityVote(ties="soft"), "sentiment_mturk", data_root) == pytest.approx(88.59, abs=0.005)


@pytest.mark.filterwarnings("ignore::crowdlogic.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("bluebird", 89.81),
        ("dog", 84.26),
        ("rte", 92.75),
        ("temp", 94.16),
        ("weather_amt", 83.67),
        ("sp_amt", 94.40),
        ("music_genre", 76.71),
        ("labelme", 78.90),
    ],
)
def test_dawid_skene_without_smoothing_scores_as_crowd_kit_does_after_100_iterations(
    data_root: Path, name: str, figure: float
) -> None:
    method = DawidSkene(smoothing=0, trust=0, convergence=Convergence(max_iterations=100, tolerance=0))

    assert right(method, f"truth/{name}", data_root) == pytest.approx(figure, abs=0.005)


@pytest.mark.parametrize(
    ("name", "conll", "strict"),
    [("dawid-skene", 73.0, 74.4), ("ibcc", 73.0, 74.4), ("hmm-crowd", 74.8, 74.8), ("bsc-seq", 77.4, 77.4)],
)
def test_named_entities(data_root: Path, name: str, conll: float, strict: float) -> None:
    data = loaded("ner_conll_mturk", data_root)
    offsets = np.asarray(data.labels.offsets)

    answer = truth_method(name).infer(data.labels, data.corpus).answer

    for scheme, least in (("conll", conll), ("strict", strict)):
        assert 100 * span_scores(data.corpus.gold, answer, offsets, data.labels.classes, scheme=scheme).f1 >= least
    if needs_sequences(name):
        grammar = tag_grammar(data.labels.classes)
        inner = np.setdiff1d(np.arange(1, len(answer)), offsets)
        assert grammar.allowed[answer[inner - 1], answer[inner]].all()
        assert grammar.may_start[answer[offsets[:-1]]].all()


def test_the_papers_majority_vote_is_met_with_its_order_of_ties(data_root: Path) -> None:
    data = loaded("ner_conll_mturk", data_root)
    order = ("I-MISC", "I-ORG", "B-ORG", "I-PER", "B-PER", "I-LOC", "B-LOC", "B-MISC", "O")

    answer = MajorityVote(ties="order", order=order).infer(data.labels).answer

    found = span_scores(data.corpus.gold, answer, np.asarray(data.labels.offsets), data.labels.classes)
    assert 100 * found.f1 == pytest.approx(67.27, abs=0.005)
