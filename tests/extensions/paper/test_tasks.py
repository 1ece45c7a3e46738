"""Tasks: the same data every time, fewer items by seed, and whole messages for what is not there."""

import numpy as np
import pytest

from crowdlogic.data.corpus import align
from crowdlogic.errors import OptionError
from crowdlogic.extensions.paper.runs import TASKS, load_task, sample_items

pytest.importorskip("torch")


def test_a_simulated_task_has_labels_dev_and_test_and_a_small_network():
    data, task = load_task("quick-sentiment")

    assert (len(data.corpus.items), len(data.dev.items), len(data.test.items)) == (300, 150, 150)
    assert (task.method.limits.epochs, task.method.classifier.filters, task.method.classifier.training.batch_size) == (
        6,
        16,
        8,
    )


def test_fewer_samples_are_drawn_by_seed_with_their_labels():
    data, _ = load_task("quick-ner")

    one, same, other = (sample_items(data, 50, seed=seed) for seed in (1, 1, 2))

    assert len(one.corpus.items) == len(one.labels.items) == 50
    assert one.corpus.items.to_list() == same.corpus.items.to_list() != other.corpus.items.to_list()
    labels, corpus = align(data.labels, data.corpus)
    name = one.corpus.items[7]
    before, after = labels.select(items=[name]), one.labels.select(items=[name])
    np.testing.assert_array_equal(before.label, after.label)
    assert one.corpus.sentence(7) == corpus.sentence(corpus.items.to_list().index(name))
    assert one.test is data.test


def test_all_items_are_no_sample():
    data, _ = load_task("quick-ner")

    whole = sample_items(data, 200, seed=1)

    assert whole.corpus.items.to_list() == align(data.labels, data.corpus)[1].items.to_list()


def test_more_samples_than_there_are_items_are_refused():
    with pytest.raises(OptionError) as problem:
        sample_items(load_task("quick-ner")[0], 201, seed=0)

    assert str(problem.value) == "samples: 201 requested, but there are 200 items."


def test_an_unknown_task_is_refused_with_the_names_of_all():
    with pytest.raises(OptionError) as problem:
        load_task("quik-ner")

    assert str(problem.value).startswith("task: unknown task 'quik-ner'. Did you mean 'quick-ner'?")
    assert all(name in str(problem.value) for name in TASKS)


@pytest.mark.parametrize(("task", "variant"), [("sentiment", "paper"), ("quick-sentiment", "estimated")])
def test_a_variant_that_a_task_does_not_have_is_refused(task, variant):
    with pytest.raises(OptionError) as problem:
        load_task(task, variant)

    assert str(problem.value) == f"row: the task {task} has no option {variant!r}."


def test_an_unknown_classifier_of_weak_supervision_is_refused_before_data_is_read(monkeypatch):
    monkeypatch.delenv("CROWDLOGIC_DATA", raising=False)

    with pytest.raises(OptionError) as problem:
        load_task("weak-sms", "mlp")

    assert str(problem.value) == "row: the task weak-sms has no option 'mlp'. Choose one of linear, kim-cnn."
