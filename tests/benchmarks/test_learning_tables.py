"""The generated tables of docs/evidence/learning.md say what the committed runs say."""

from pathlib import Path

import pytest
from benchmarks.learning_scores import BEYOND, GRID, PAGE, RESULTS, SEEDS
from benchmarks.learning_tables import chosen_epoch, comparisons, render_page, render_tagger

from crowdlogic.extensions.paper.results import read_runs

ROOT = Path(__file__).parents[2]


def test_every_table_is_what_the_committed_runs_give():
    page = (ROOT / PAGE).read_text(encoding="utf-8")

    runs = read_runs(ROOT / RESULTS)
    assert render_page(page, runs, GRID, SEEDS) == page
    assert render_tagger(page, runs, BEYOND, SEEDS["ner"]) == page


@pytest.mark.parametrize(
    ("scores", "epoch"),
    [
        ([1, 2, 3], 2),
        ([3, 1, 1, 4], 0),  # two epochs without a better one end it
        ([1, 3, 2, 4, 0], 3),
        ([2, 2, 2], 0),  # the first of equals
    ],
)
def test_patience_chooses_the_best_epoch_before_it_runs_out(scores, epoch):
    assert chosen_epoch(scores, 2) == epoch


def test_the_preset_of_sentiment_is_compared_beside_table_2():
    firsts = {first for _, first, _ in comparisons("sentiment")}

    assert firsts == {"logic-lncl, k 0.2", "logic-lncl"}
    assert comparisons("ner")[0] == ("student", "logic-lncl", "aggnet")
