from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.simulate import simulate_tags
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.scoring import score, score_name
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.majority import MajorityVote


def models() -> list[Architecture]:
    found: list[Architecture] = [Linear()]
    try:
        from crowdlogic.classifiers.cnn_gru import CNNGRU
        from crowdlogic.classifiers.training import Training
    except ImportError:
        return found
    return [
        *found,
        CNNGRU(filters=32, hidden_size=16, vector_size=24, training=Training(learning_rate=1e-2, batch_size=16)),
    ]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_parts_of_speech_are_learnt_and_predicted(model: Architecture) -> None:
    made = simulate_tags(np.random.default_rng(0), sentences=400, annotators=10, labels_per_sentence=3)
    parts = made.corpus.split(300, seed=0)
    learnt, new = parts[0], parts[1].with_classes(made.crowd.labels.classes)
    labels = made.crowd.labels.select(items=learnt.items.to_list())

    learned = LogicLNCL(model, epochs=12, patience=12).fit(learnt, labels)

    vote = score(learnt.with_classes(labels.classes), MajorityVote(ties="soft").infer(labels).beliefs)
    assert score_name(labels.classes, sequential=True) == "accuracy"
    assert score(learned.task.corpus, learned.epoch.q_f) > vote
    assert score(new, learned.predict(new)) > 0.9


def test_a_rule_of_grammar_over_such_tags_is_obeyed() -> None:
    made = simulate_tags(np.random.default_rng(0), sentences=60, annotators=6)
    classes = [str(name) for name in made.crowd.labels.classes]
    first, second = classes[0], classes[1]
    rules = parse_rules(f"Label(T, '{second}') & Previous(T, P) -> !Label(P, '{first}') .")

    learned = LogicLNCL(epochs=3, held_out=None).fit(made.corpus, made.crowd.labels, rules=rules)

    q_b = learned.epoch.q_b
    later = np.setdiff1d(np.arange(len(q_b)), made.corpus.offsets[:-1])
    # the rule is hard: no sequence of certain tags can break it
    answer = q_b.argmax(axis=1)
    sure = (q_b[later].max(axis=1) > 0.99) & (q_b[later - 1].max(axis=1) > 0.99)
    broken = (answer[later] == 1) & (answer[later - 1] == 0) & sure
    assert not broken.any()
