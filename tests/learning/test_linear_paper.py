"""The paper's configuration with the linear classifier, which needs no extension."""

from __future__ import annotations

import numpy as np

import crowdlogic
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.learning.presets import linear_paper_preset

BIO = ("O", "B-PER", "I-PER")


def test_it_follows_table_2_and_the_appendix_for_both_tasks() -> None:
    texts, tags = linear_paper_preset(("neg", "pos")), linear_paper_preset(BIO)

    assert [texts.method.imitation(t) for t in (1, 10)] == [1 - 0.94, 1 - 0.94**10]
    assert [tags.method.imitation(t) for t in (1, 40)] == [1 - 0.90, 0.8]
    for one in (texts, tags):
        assert one.method.projector.strength == 5
        assert (one.method.learn_weights, one.method.folds, one.method.classifier.name) == (False, 1, "linear")
    assert (str(texts.method.loss), str(tags.method.loss)) == ("plain", "annotators")
    assert str(texts.rules.statements[0]) == "1.0: include contrast('but')"
    assert str(tags.rules.statements[0]) == "1.0: include bio"


def test_train_takes_it_for_texts_and_tags() -> None:
    reviews, sentences = simulate_sentiment(0, items=150, annotators=8), simulate_ner(0, items=60, annotators=6)

    for made in (reviews, sentences):
        learned = crowdlogic.train(made.labels, made.corpus, preset="linear-paper", epochs=5)
        right = np.asarray(learned.estimate.answer) == np.asarray(made.corpus.gold)
        votes = made.labels.votes().argmax(axis=1) == np.asarray(made.corpus.gold)
        assert right.mean() > votes.mean() - 0.02
