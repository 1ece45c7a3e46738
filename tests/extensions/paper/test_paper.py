"""The paper's figures as we typed them, checked against each other; and the rows that they need."""

import numpy as np
import pytest

from crowdlogic.extensions.paper.published import (
    NER,
    SENTIMENT,
    SIZES,
    TABLE_5,
    TABLES,
    paper_task,
    sample_rows,
    sensitivity_rows,
    table_rows,
)
from crowdlogic.extensions.paper.runs import QUICK_ITEMS, row_names


@pytest.mark.parametrize("task", [SENTIMENT, NER])
def test_every_line_of_the_papers_tables_has_a_row(task):
    missing = [row for row in table_rows(task) if row not in row_names()]

    assert missing == []


def test_the_papers_f1_is_that_of_its_precision_and_recall():
    for line in (*TABLES[SENTIMENT], *TABLES[NER]):
        for part in (line.prediction, line.inference):
            if len(part) == 3 and line.name not in ("CL (MW, 1)", "CL (VW, 5)"):  # a mean of F1 is not the F1 of means
                assert part[2] == pytest.approx(2 * part[0] * part[1] / (part[0] + part[1]), abs=0.4), line.name


def test_the_papers_averages_are_those_of_its_columns():
    for line in TABLE_5:
        assert np.mean(line.paper[:4]) == pytest.approx(line.paper[4], abs=0.011), line.name


def test_a_quick_task_stands_for_the_papers():
    assert [paper_task(task) for task in ("ner", "quick-ner", "sentiment-published")] == [NER, NER, SENTIMENT]
    assert {f"quick-{task}": items for task, items in QUICK_ITEMS.items()}.items() <= SIZES.items()


def test_the_rows_of_the_studies_are_those_of_the_paper():
    assert sample_rows("ner") == (
        "logic-lncl, 2500 samples",
        "aggnet, 2500 samples",
        "logic-lncl, 4900 samples",
        "aggnet, 4900 samples",
        "logic-lncl, 5700 samples",
        "aggnet, 5700 samples",
    )
    assert sensitivity_rows() == (
        "logic-lncl, C 1",
        "logic-lncl, C 2",
        "logic-lncl, C 10",
        "logic-lncl, C 20",
        "logic-lncl, k 0.2",
        "logic-lncl, k 0.5",
        "logic-lncl, k 0.8",
        "logic-lncl, k 1 - 0.98^t",
    )
