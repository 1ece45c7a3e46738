"""The grid of the committed runs."""

from benchmarks.learning_scores import GRID, SEEDS, select_jobs

from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.runs import row_names


def test_every_row_of_the_grid_is_known():
    unknown = {row for rows in GRID.values() for row in rows if row.split(", ")[0] not in row_names()}

    assert unknown == set()
    assert GRID.keys() == SEEDS.keys()


def test_jobs_are_ordered_by_seed_and_selected_by_task_and_row():
    jobs = select_jobs("ner,labelme", "gold;aggnet", 2)

    assert jobs == [
        Job(task, row, seed) for seed in (0, 1) for task in ("ner", "labelme") for row in ("gold", "aggnet")
    ]
