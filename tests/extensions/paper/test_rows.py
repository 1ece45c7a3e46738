"""Every row can be built, each kind of row runs, and options change what they say they change."""

from dataclasses import replace

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.runs import AGGNET_RULE, ROWS, TRUTH_ROWS, apply_option, load_task, row_names, set_up

pytest.importorskip("torch")


@pytest.mark.parametrize("task", ["quick-sentiment", "quick-ner"])
@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_a_method_with_the_seed_of_the_job(task, row):
    setup = set_up(Job(task, row, 3))

    method, _ = ROWS[setup.name](setup.task, 3)

    assert method.limits.seed == 3
    assert callable(method.fit)


@pytest.mark.parametrize("row", TRUTH_ROWS)
def test_every_truth_row_is_a_truth_method(row):
    assert row.split(",")[0] == f"truth {TRUTH_ROWS[row](0).name}"


def test_names_are_of_one_row_each():
    assert len(set(row_names())) == len(row_names()) == len(ROWS) + len(TRUTH_ROWS) + 1


def test_options_change_strength_imitation_and_start():
    data, base = load_task("quick-sentiment")

    def method_with(option):
        return apply_option(data, base, option, seed=0)[1].method

    assert (method_with("C 2").projector.strength, method_with("C 2").imitation) == (2.0, base.method.imitation)
    assert [method_with("k 0.5").imitation(t) for t in (1, 9)] == [0.5, 0.5]
    assert method_with("k 1 - 0.98^t").imitation(2) == pytest.approx(1 - 0.98**2)
    assert (method_with("from the classifier").projector.preset.start, base.method.projector.preset) == (
        "classifier",
        "paper",
    )
    assert method_with("all epochs").limits.patience == base.method.limits.epochs


def test_options_add_up_and_a_reading_comes_first():
    setup = set_up(Job("quick-ner", "logic-lncl, paper, C 2, k 0.5", 0))

    method = setup.task.method
    assert (setup.name, method.projector.strength, method.imitation(1)) == ("logic-lncl", 2.0, 0.5)
    assert method.projector.transitions is None
    assert setup.task.rules is not None


def test_fewer_samples_are_an_option():
    assert len(set_up(Job("quick-ner", "aggnet, 50 samples", 0)).data.corpus.items) == 50


@pytest.mark.parametrize(
    ("row", "every_epoch", "gold_free"),
    [("logic-lncl", False, False), ("logic-lncl, all epochs", True, False), ("gold-free items", True, True)],
)
def test_what_is_scored_after_every_epoch(row, every_epoch, gold_free):
    setup = set_up(Job("quick-ner", row, 0))

    assert (setup.scores_every_epoch, setup.is_gold_free) == (every_epoch, gold_free)


def test_an_unknown_row_is_refused_with_the_names_of_all():
    with pytest.raises(OptionError) as problem:
        set_up(Job("quick-ner", "agnet", 0))

    assert str(problem.value).startswith("row: unknown row 'agnet'. Did you mean 'aggnet'? Choose one of gold, ")
    assert AGGNET_RULE in str(problem.value)


@pytest.mark.parametrize(
    ("task", "row", "option"),
    [
        ("quick-sentiment", "logic-lncl, C", "C"),
        ("quick-ner", "logic-lncl, C 2, paper", "paper"),  # a reading comes first
        ("quick-sentiment", "logic-lncl, estimated", "estimated"),
        ("sentiment", "logic-lncl, paper", "paper"),
    ],
)
def test_an_option_that_is_not_there_is_refused(task, row, option):
    with pytest.raises(OptionError, match=f"(unknown|no) option '{option}'"):
        set_up(Job(task, row, 0))


def test_rows_beyond_the_paper_have_the_tagger_of_the_preset_and_options_of_their_own():
    row = "logic-lncl-bilstm-crf, start majority, warm-up 2, annotators confusion, no rules, halving 0"
    setup, plain = (set_up(Job("quick-ner", name, 0)) for name in (row, "logic-lncl-bilstm-crf"))
    theirs = set_up(Job("quick-ner", "aggnet-bilstm-crf", 0)).task.method

    method = setup.task.method
    assert (method.start.name, method.warm_up, method.annotators.name) == ("majority", 2, "confusion")
    assert (method.annotators.correlation, method.classifier.training.halve_every) == (1.0, 0)
    assert (setup.task.rules, plain.task.method.start.name) == (None, "bsc-seq")
    assert plain.task.rules is not None
    assert {method.classifier.name, plain.task.method.classifier.name, theirs.classifier.name} == {"bilstm-crf"}
    independent = set_up(Job("quick-ner", "logic-lncl-bilstm-crf, correlation 0", 0)).task.method
    assert independent.annotators == replace(plain.task.method.annotators, correlation=0.0)
    assert (theirs.start.name, theirs.annotators.name) == ("majority", "confusion")
