"""Every row runs on the simulated stand-ins, and the variations change what they say they change."""

import numpy as np
import pytest

from crowdlogic.data.corpus import align
from crowdlogic.errors import OptionError
from crowdlogic.experiments.annotators import real_confusion, reliability
from crowdlogic.experiments.jobs import Job
from crowdlogic.experiments.paper import NER, SENTIMENT, TABLE_5, TABLES, table_rows
from crowdlogic.experiments.rows import AGGNET_RULE, ROWS, TRUTH, configured, run, varied
from crowdlogic.experiments.tasks import sample, task_named

pytest.importorskip("torch")


@pytest.mark.parametrize("task", [SENTIMENT, NER])
def test_every_line_of_the_papers_tables_has_a_row(task):
    known = {*ROWS, AGGNET_RULE, *TRUTH}

    missing = [row for row in table_rows(task) if row not in known]

    assert missing == []


def test_the_papers_averages_are_those_of_its_columns():
    for line in (*TABLES[SENTIMENT], *TABLES[NER]):
        for part in (line.prediction, line.inferred):
            if len(part) == 3 and line.name not in ("CL (MW, 1)", "CL (VW, 5)"):  # a mean of F1 is not the F1 of means
                assert part[2] == pytest.approx(2 * part[0] * part[1] / (part[0] + part[1]), abs=0.4), line.name
    for line in TABLE_5:
        assert np.mean(line.paper[:4]) == pytest.approx(line.paper[4], abs=0.011), line.name


@pytest.mark.parametrize("task", ["quick-sentiment", "quick-ner"])
def test_a_run_is_the_same_again(task):
    first = run(Job(task, "logic-lncl", 1))

    again = run(Job(task, "logic-lncl", 1))

    assert first["scores"] == again["scores"]
    assert first["scores"]["inference"] != run(Job(task, "majority", 1))["scores"]["inference"]


def test_a_truth_row_scores_the_inference_alone():
    found = run(Job("quick-ner", "truth dawid-skene", 0))

    assert set(found["scores"]) == {"inference"}
    assert 0.5 < found["scores"]["inference"]["f1"] < 1


def test_fewer_samples_are_drawn_by_seed_with_their_labels():
    data, _ = task_named("quick-ner")

    one, same, other = (sample(data, 50, seed=seed) for seed in (1, 1, 2))

    assert len(one.corpus.items) == len(one.labels.items) == 50
    assert one.corpus.items.to_list() == same.corpus.items.to_list() != other.corpus.items.to_list()
    labels, corpus = align(data.labels, data.corpus)
    name = one.corpus.items[7]
    before, after = labels.select(items=[name]), one.labels.select(items=[name])
    np.testing.assert_array_equal(before.label, after.label)
    assert one.corpus.sentence(7) == corpus.sentence(corpus.items.to_list().index(name))
    assert one.test is data.test


def test_options_change_strength_and_imitation():
    data, base = task_named("quick-sentiment")

    strong = varied(data, base, "C 2", seed=0)[1].method
    steady = varied(data, base, "k 0.5", seed=0)[1].method

    slow = varied(data, base, "k 1 - 0.98^t", seed=0)[1].method
    alone = varied(data, base, "from the classifier", seed=0)[1].method
    patient = varied(data, base, "all epochs", seed=0)[1].method
    assert (strong.strength, strong.imitation) == (2.0, base.method.imitation)
    assert patient.patience == patient.held_out.patience == patient.epochs
    assert [steady.imitation(t) for t in (1, 9)] == [0.5, 0.5]
    assert slow.imitation(2) == pytest.approx(1 - 0.98**2)
    assert (alone.preset.start, base.method.preset) == ("classifier", "paper")


def test_options_add_up_and_a_reading_comes_first():
    _, base, row = configured(Job("quick-ner", "logic-lncl, paper, C 2, k 0.5", 0))

    assert (row, base.method.strength, base.method.imitation(1)) == ("logic-lncl", 2.0, 0.5)
    assert base.method.transitions is None
    assert base.rules is not None


def test_with_all_epochs_every_epoch_is_scored_on_dev_and_test():
    found = run(Job("quick-sentiment", "logic-lncl, all epochs", 0))
    free = run(Job("quick-sentiment", "gold-free items", 0))

    assert len(found["history"]) == 6
    assert len(free["again"]) >= free["chosen"]
    assert all({"test student", "dev gold student", "test teacher"} <= set(one["scores"]) for one in found["history"])


def test_unknown_rows_options_and_tasks_are_refused():
    with pytest.raises(OptionError, match="none of"):
        configured(Job("quick-ner", "no such row", 0))
    with pytest.raises(OptionError, match="no option"):
        varied(*task_named("quick-sentiment"), "C", seed=0)
    with pytest.raises(OptionError, match="no option"):
        configured(Job("quick-ner", "logic-lncl, C 2, paper", 0))
    with pytest.raises(OptionError, match="no option 'paper'"):
        configured(Job("sentiment", "logic-lncl, paper", 0))
    with pytest.raises(OptionError, match="no option 'estimated'"):
        configured(Job("quick-sentiment", "logic-lncl, estimated", 0))
    with pytest.raises(OptionError, match="task"):
        task_named("chess")


def test_other_rules_let_no_entity_begin_inside_a_sentence():
    data, base, row = configured(Job("quick-ner", "other rules", 0))

    method, _ = ROWS[row](base, 0)

    table = method.transitions
    at = {name: k for k, name in enumerate(table.classes)}
    assert table.probability[at["O"], at["B-PER"]] == 0 < table.probability[at["B-PER"], at["I-PER"]]
    assert data.labels.n_classes == len(table.classes)


def test_annotators_are_compared_with_what_they_really_did():
    found = run(Job("quick-sentiment", "annotators", 0))["annotators"]

    data, _ = task_named("quick-sentiment")
    labels, corpus = align(data.labels, data.corpus)
    gold = np.asarray(corpus.gold)
    for entry in found["each"][:5]:
        own = labels.select(annotators=[entry["name"]])
        right = own.label == gold[own.unit]
        by_class = [right[gold[own.unit] == m].mean() for m in range(2) if (gold[own.unit] == m).any()]
        assert entry["skill"] == pytest.approx(right.mean(), abs=1e-4)
        assert entry["real"] == pytest.approx(np.mean(by_class), abs=1e-4)
        assert entry["labels"] == entry["items"] == own.n_labels
    pairs = [(one["estimated"], one["real"]) for one in found["each"]]
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.8


def test_the_f1_of_an_annotator_is_that_of_his_own_sentences():
    found = run(Job("quick-ner", "annotators", 0))["annotators"]

    best = max(found["each"], key=lambda one: one["skill"])
    worst = min(found["each"], key=lambda one: one["skill"])
    assert 0 <= worst["skill"] < best["skill"] <= 1
    assert len(found["busiest"][0]["real"]) == len(found["classes"])


def test_classes_never_met_are_left_out_of_a_reliability():
    confusion = np.array([[0.8, 0.2], [np.nan, np.nan]])

    assert reliability(confusion, np.array([10.0, 0.0])) == 0.8


def test_the_real_confusion_is_counted():
    data, _ = task_named("quick-sentiment")
    labels, corpus = align(data.labels, data.corpus)
    gold = np.asarray(corpus.gold)

    real, met = real_confusion(labels, gold)

    j = int(labels.annotator[0])
    own = labels.annotator == j
    for m in range(2):
        here = own & (gold[labels.unit] == m)
        assert met[j, m] == here.sum()
        for n in range(2):
            assert real[j, m, n] == pytest.approx((labels.label[here] == n).mean())


@pytest.mark.parametrize(("row", "name"), [("cl mw", "crowd-layer"), ("cl mw 1", "crowd-layer"), ("dl-wdn", "dl-wdn")])
def test_rows_that_learn_from_labels_as_they_are_start_as_the_task_does(row, name):
    _, base, key = configured(Job("quick-ner", row, 0))

    method, rules = ROWS[key](base, 3)

    assert (method.name, method.seed, rules) == (name, 3, None)
    assert method.classifier is base.method.classifier
    if name == "crowd-layer":
        assert (method.kind, method.start) == ("MW", base.method.start)
        assert method.pretraining == (1 if row.endswith("1") else 5)
