"""Rules checked and audited, called from Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workflows.conftest import Trained

from crowdlogic.errors import OptionError
from crowdlogic.workflows.inputs import InputOptions
from crowdlogic.workflows.rules import AuditRulesOptions, CheckRulesOptions, audit_rules, check_rules


def test_classes_come_from_labels_items_or_names(trained: Trained, tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text("1: Contains(S, 'x') -> Label(S, 'positve')\n")

    unknown = check_rules(CheckRulesOptions(rules=str(rules)))
    sources = [
        {"labels": trained.file("labels.csv")},
        {"items": trained.file("gold.csv")},
        {"input": InputOptions(classes=("negative", "positive"))},
    ]
    found = [check_rules(CheckRulesOptions(rules=str(rules), **source)) for source in sources]  # type: ignore[arg-type]

    assert unknown.message == f"{rules}: 1 rule, 0 findings"
    for checked in found:
        assert checked.figures()[0]["message"].startswith("'positve' is no class. Did you mean 'positive'?")


def test_a_rule_that_asks_a_classifier_needs_a_run(trained: Trained) -> None:
    options = {
        "rules": trained.file("but.rules"),
        "labels": trained.file("labels.csv"),
        "items": trained.file("gold.csv"),
    }

    without = audit_rules(AuditRulesOptions(**options))  # type: ignore[arg-type]
    asked = audit_rules(AuditRulesOptions(**options, run=trained.file("run")))  # type: ignore[arg-type]

    assert not without.audits
    assert without.notices[0].endswith("asks a classifier (Predicted) and is left out. Give one with --run RUN.")
    (one,) = asked.audits
    assert asked.figures()[0]["groundings"] == one.groundings > 0
    assert asked.table().rows[0][:2] == (str(one.rule), one.groundings)


def test_a_run_of_other_classes_cannot_be_asked(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,odd\n")
    options = AuditRulesOptions(
        rules=trained.file("but.rules"), labels=str(tmp_path / "l.csv"), run=trained.file("run")
    )

    with pytest.raises(OptionError, match=r"knows no class 'odd': its classes are negative, positive\."):
        audit_rules(options)
