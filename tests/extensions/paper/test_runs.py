"""Runs on the simulated tasks: each kind of row runs, and the same seed gives the same scores."""

import math

import pytest

from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.results import run_line
from crowdlogic.extensions.paper.runs import load_task, run_job
from crowdlogic.registry import PRESETS

pytest.importorskip("torch")

KINDS = {
    "quick-sentiment": ("majority", "aggnet", "glad rule", "cl vw", "dl-wdn", "raykar", "gold", "other rules"),
    "quick-ner": (
        "logic-lncl, paper",
        "aggnet rule",
        "aggnet with silence",
        "without rules",
        "majority rule",
        "crf-ma",
        "gold-free annotations",
        "truth hmm-crowd",
    ),
}
"""One row of each kind, on one of the tasks."""


@pytest.mark.usefixtures("tiny_tasks")
@pytest.mark.parametrize(("task", "row"), [(task, row) for task, rows in KINDS.items() for row in rows])
def test_each_kind_of_row_runs_and_is_scored(task, row):
    found = run_job(Job(task, row, 1))

    assert (found["task"], found["row"], found["seed"]) == (task, row, 1)
    parts = {"inference"} if row.startswith("truth") else {"student", "teacher", "dev student", "dev teacher"}
    assert parts <= set(found["scores"])
    assert all(0 <= value <= 1 for own in found["scores"].values() for value in own.values())
    assert len(found["history"]) >= found["chosen"]
    assert run_line(found)


@pytest.mark.usefixtures("tiny_tasks")
@pytest.mark.parametrize("task", ["quick-sentiment", "quick-ner"])
def test_a_run_with_the_same_seed_has_the_same_scores(task):
    first, again, other = (run_job(Job(task, "logic-lncl", seed)) for seed in (1, 1, 2))

    assert first["scores"] == again["scores"]
    assert [epoch["loss"] for epoch in first["history"]] == [epoch["loss"] for epoch in again["history"]]
    assert [epoch["loss"] for epoch in first["history"]] != [epoch["loss"] for epoch in other["history"]]


def test_inference_is_better_than_the_vote():
    vote, learnt = (
        run_job(Job("quick-ner", row, 1))["scores"]["inference"]["f1"] for row in ("majority", "logic-lncl")
    )

    assert learnt > vote


@pytest.mark.parametrize("seed", [0, 1])
def test_the_rules_do_not_keep_the_quick_network_from_finding_entities(seed: int) -> None:
    """With k(t) counted in the small epochs of the quick task, the teacher's F1 was 0.02 and AggNet's 0.54."""
    aggnet, ours = (run_job(Job("quick-ner", row, seed))["scores"] for row in ("aggnet", "logic-lncl"))

    assert ours["teacher"]["f1"] > aggnet["student"]["f1"] - 0.1
    assert ours["teacher"]["f1"] > 0.4


def test_the_quick_imitation_grows_per_gradient_step_as_on_the_papers_data() -> None:
    data, quick = load_task("quick-ner")
    paper = PRESETS.load("ner-released")(data.labels.classes)

    # 200 sentences in batches of 8 are 25 steps per epoch, 5,985 in batches of 64 are 94
    assert 1 - quick.method.imitation(1) == pytest.approx((1 - paper.method.imitation(1)) ** (25 / 94))
    assert quick.method.imitation(6) < paper.method.imitation(2)


def test_a_truth_row_scores_the_inference_alone():
    found = run_job(Job("quick-ner", "truth dawid-skene", 0))

    assert set(found["scores"]) == {"inference"}
    assert 0.5 < found["scores"]["inference"]["f1"] < 1
    assert (found["chosen"], found["history"]) == (0, [])


@pytest.mark.usefixtures("tiny_tasks")
def test_with_all_epochs_every_epoch_is_scored_on_dev_and_test():
    found = run_job(Job("quick-sentiment", "logic-lncl, all epochs", 0))

    assert len(found["history"]) == 2
    assert all(
        {"test student", "dev gold student", "test teacher"} <= set(epoch["scores"]) for epoch in found["history"]
    )


def test_without_gold_both_fits_are_recorded():
    found = run_job(Job("quick-sentiment", "gold-free items", 0))

    assert len(found["refit_history"]) >= found["chosen"] >= found["averaged_from"] >= 1
    assert all(epoch["refit"] for epoch in found["refit_history"])
    assert not any(epoch["refit"] for epoch in found["history"])
    assert all(math.isfinite(epoch["stopping"]) for epoch in found["history"])
