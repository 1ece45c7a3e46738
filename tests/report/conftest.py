"""One small run with two rules, and the report on it."""

from __future__ import annotations

import pytest
from tests.report.small_crowds import report_on

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import Run, load_run, train_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.reporting.inputs import inputs_from_run
from crowdlogic.reporting.report import Report
from crowdlogic.rules.parser import parse_rules
from crowdlogic.workflows.report import report_explainer

RULES = "1: include contrast('but')\n2: Contains(S, 'the') -> Label(S, 'negative')"


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = simulate_sentiment(3, items=120, annotators=10, labels_per_item=3, test_items=40)
    folder = tmp_path_factory.mktemp("runs") / "run"
    data = TrainingData(corpus=made.corpus, labels=made.labels, rules=parse_rules(RULES), watched={"test": made.test})
    train_run(folder, LogicLNCL(imitation=ConstantImitation(0.4), limits=TrainingLimits(epochs=4)), data)
    return load_run(folder)


@pytest.fixture(scope="session")
def run_report(run: Run) -> Report:
    return report_on(inputs_from_run(run.record), explain=report_explainer(run.learned))
