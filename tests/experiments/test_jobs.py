"""A grid runs what is not finished, one process or several, and says what it did."""

from crowdlogic.experiments.jobs import Job, build_jobs, run_jobs, unfinished_jobs
from crowdlogic.experiments.results import add_run, read_runs


def double_seed(job):
    """A job that takes no time."""
    return {"task": job.task, "row": job.row, "seed": job.seed, "double": 2 * job.seed}


def test_a_grid_is_ordered_seed_by_seed():
    jobs = build_jobs("ner", ("a", "b"), 2)

    assert jobs == [Job("ner", "a", 0), Job("ner", "b", 0), Job("ner", "a", 1), Job("ner", "b", 1)]


def test_only_unfinished_jobs_are_run(tmp_path):
    jobs = build_jobs("ner", ("a", "b"), 2)
    add_run(tmp_path, double_seed(jobs[1]) | {"double": "kept"})
    calls = []

    assert unfinished_jobs(jobs, tmp_path) == [jobs[0], jobs[2], jobs[3]]
    run_jobs(jobs, double_seed, tmp_path, processes=2, progress=lambda *call: calls.append(call))

    assert {job for job, _, _ in calls} == {jobs[0], jobs[2], jobs[3]}
    assert [(done, total) for _, done, total in calls] == [(1, 3), (2, 3), (3, 3)]
    assert [run["double"] for run in read_runs(tmp_path).task_runs("ner")] == [0, 2, "kept", 2]
    assert unfinished_jobs(jobs, tmp_path) == []


def test_another_task_of_the_same_folder_is_not_finished(tmp_path):
    add_run(tmp_path, double_seed(Job("ner", "a", 0)))

    assert unfinished_jobs([Job("sentiment", "a", 0)], tmp_path) == [Job("sentiment", "a", 0)]
