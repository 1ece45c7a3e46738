"""Algorithm 1 with a classifier of chains: what it starts from, what it keeps, and what anchors do to neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.chain_beliefs import ChainBeliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF
from crowdlogic.extensions.networks.network import Training
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import score_answers
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.majority import MajorityVote

MADE = simulate_ner(4, items=60, annotators=8, labels_per_item=4, test_items=20)
TAGGER = BiLSTMCRF(vector_size=10, hidden_size=8, training=Training(learning_rate=2e-2, batch_size=8))
BIO = parse_rules("1.0: include bio")


@dataclass(frozen=True)
class RandomBeliefs:
    """A truth method that knows nothing."""

    name = "random"

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        rng = np.random.default_rng(0)
        return make_estimate(labels, self.name, rng.dirichlet(np.ones(labels.n_classes), labels.n_units))


def fit(epochs: int = 4, **options: Any) -> Learned:
    limits = TrainingLimits(epochs=epochs, held_out=None)
    method = LogicLNCL(**{"classifier": TAGGER, "annotators": Sequential(), **options}, limits=limits)
    return method.fit(MADE.corpus, MADE.labels, rules=BIO)


def inference(learned: Learned) -> float:
    return score_answers(learned.task.corpus, learned.estimate.answer)


def test_a_random_start_does_not_win_and_beliefs_of_a_truth_method_do() -> None:
    """With plain matrices; the prior of sequential annotators, who are trusted, finds back from a random start."""
    found = {
        start.name: inference(fit(epochs=6, start=start, annotators=ConfusionMatrices()))
        for start in (BSCSeq(), MajorityVote(), RandomBeliefs())
    }

    assert found["bsc-seq"] > 0.7
    assert found["majority"] > 0.6
    assert found["random"] < min(found["bsc-seq"], found["majority"]) - 0.1


def test_the_first_targets_are_learnt_as_long_as_told() -> None:
    """With all epochs a warm-up, it is the same network as one that learns nothing else."""
    seen: dict[int, list[float]] = {}
    for epochs in (1, 3):
        learned = fit(epochs=3, start=BSCSeq(), warm_up=epochs)
        seen[epochs] = [row.loss for row in learned.history]

    assert seen[1][0] == seen[3][0]
    assert seen[1][1] != seen[3][1]
    with pytest.raises(OptionError, match="warm_up must be at least 1, got 0"):
        LogicLNCL(warm_up=0)


def test_answers_are_paths_and_beliefs_hold_neighbours() -> None:
    learned = fit()
    epoch = learned.epoch

    assert isinstance(epoch.targets, ChainBeliefs)
    offsets = np.asarray(learned.task.corpus.offsets)
    np.testing.assert_array_equal(epoch.targets.best_path(offsets), learned.estimate.answer)
    later = np.setdiff1d(np.arange(len(epoch.q_f)), offsets[:-1])
    np.testing.assert_allclose(epoch.targets.pair[later].sum(axis=1), epoch.q_f[later], rtol=0, atol=1e-5)
    tags = [learned.estimate.classes[k] for k in learned.answer(MADE.test)]
    assert [tag for sentence in learned.predict_labels(MADE.test) for tag in sentence] == tags


def test_what_is_known_of_a_token_is_certain_and_heard_by_its_neighbours() -> None:
    item = MADE.corpus.items[0]
    gold = [str(MADE.corpus.classes[k]) for k in np.asarray(MADE.corpus.gold)[: MADE.corpus.offsets[1]]]
    limits = TrainingLimits(epochs=2, held_out=None)
    method = LogicLNCL(classifier=TAGGER, annotators=Sequential(), limits=limits)

    learned = method.fit(MADE.corpus, MADE.labels, anchors={item: gold})

    units = np.arange(MADE.corpus.offsets[1])
    assert [str(learned.estimate.classes[k]) for k in learned.estimate.answer[units]] == gold
    np.testing.assert_array_equal(learned.epoch.q_f[units].max(axis=1), 1.0)
    assert learned.epoch.pair is not None
    np.testing.assert_allclose(learned.epoch.pair[units[1:]].max(axis=(1, 2)), 1.0, rtol=1e-6)


def test_a_rule_that_contradicts_the_labels_gets_no_weight_in_chains() -> None:
    rules = "1.0: Label(T, 'I-PER') & Previous(T, P) -> Label(P, 'O')\n1.0: include bio('PER')"

    learned = LogicLNCL(classifier=TAGGER, limits=TrainingLimits(epochs=2)).fit(MADE.corpus, MADE.labels, rules=rules)

    assert learned.teacher.factors is not None
    assert learned.teacher.factors[0] == 0.0
    assert learned.teacher.factors[1] == 1.0
