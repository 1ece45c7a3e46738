"""The examples of these pages run, in their order and in an empty folder, as a reader would run them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping.protocol import TrainingLimits

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("from-crowd-kit.md", "from-cleanlab.md", "scikit-learn.md", "production.md", "notebooks.md")


def examples(page: str) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore::crowdlogic.errors.ConvergenceWarning")
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names: dict[str, object] = {"__name__": "__main__"}

    for number, example in enumerate(examples(page), 1):
        exec(compile(example, f"docs/{page}, example {number}", "exec"), names)  # noqa: S102 (the pages are ours)

    assert len(examples(page)) >= 2


def test_the_grid_search_of_the_page_is_ten_lines_and_finds_parameters() -> None:
    (search,) = [one for one in examples("scikit-learn.md") if "GridSearchCV(\n" in one]

    assert len(search.strip().splitlines()) <= 11
    assert {"strength", "imitation"} <= set(re.findall(r'"(\w+)":', search))


def test_the_own_classifier_of_the_guide_learns_and_comes_back() -> None:
    (example,) = [one for one in examples("learning.md") if "class LengthModel" in one]
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(example, "docs/learning.md, own classifier", "exec"), names)  # noqa: S102 (the page is ours)
    made = simulate_sentiment(0, items=60, annotators=6)

    learned = LogicLNCL(classifier=names["Length"](), limits=TrainingLimits(epochs=2)).fit(made.corpus, made.labels)

    again = names["Length"]().load(learned.classifier.arrays(), made.labels.classes)
    np.testing.assert_array_equal(again.predict_proba(made.corpus), learned.classifier.predict_proba(made.corpus))
    assert np.ptp(again.share) > 0
