"""Rules checked and audited, called from Python."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.report.small_crowds import report_on
from tests.workflows.conftest import Trained

from crowdlogic.errors import OptionError, RuleError
from crowdlogic.learning.saved_run import load_run
from crowdlogic.reporting.inputs import inputs_from_run
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
        assert checked.figures()[0]["message"].startswith("'positve' is not a class. Did you mean 'positive'?")


def test_wide_tables_of_labelling_functions_are_checked_and_audited(tmp_path: Path) -> None:
    (tmp_path / "my.rules").write_text("1: Contains(S, 'buy') -> Label(S, '1')\n")
    rows = [f"{i},{'buy now' if i % 2 else 'hello you'},{i % 2 or -1},{-(i % 2)},{i % 2 or -1}" for i in range(60)]
    (tmp_path / "wide.csv").write_text("\n".join(["item,text,lf0,lf1,lf2", *rows, ""]))
    rules, labels = str(tmp_path / "my.rules"), str(tmp_path / "wide.csv")
    wide = InputOptions(wide=True, abstain="-1")

    checked = check_rules(CheckRulesOptions(rules=rules, labels=labels, input=wide))
    (one,) = audit_rules(AuditRulesOptions(rules=rules, labels=labels, input=wide)).audits

    assert checked.message == f"{rules}: 1 rule, 0 findings"
    assert one.groundings == 30
    assert one.holds > 0.8 > one.chance  # the cells of -1 are no labels against it


def test_all_syntax_errors_of_a_file_are_reported_together(tmp_path: Path) -> None:
    rules = tmp_path / "bad.rules"
    rules.write_text(
        "1.0: Contains(S, 'a') -> Label(S, 'x')\n"
        "1.0: Contains(S, 'b' -> Label(S, 'x')\n"
        "1.0: Contains(S, 'c') ->\n"
        "1.0: Contains(S, 'd') -> Label(S, 'x')\n"
        "Contains(S, 'e') -> Label(S, 'x')\n"
        "1.0: Contains(S, 'f) -> Label(S, 'x')\n"
    )

    with pytest.raises(RuleError) as raised:
        check_rules(CheckRulesOptions(rules=str(rules)))

    places = re.findall(r"^bad.rules:(\d+:\d+)", str(raised.value), flags=re.MULTILINE)
    assert places == ["2:22", "4:4", "5:1", "6:35"]  # line 3 ends too early, which shows at the start of line 4


def test_audit_run_and_report_have_the_same_verdicts(trained: Trained) -> None:
    rules, labels, items = (trained.file(name) for name in ("but.rules", "labels.csv", "gold.csv"))
    run = load_run(trained.file("run"))

    audited = audit_rules(AuditRulesOptions(rules=rules, labels=labels, items=items, run=trained.file("run")))
    page = report_on(inputs_from_run(run.record)).pages["rules"]

    assert run.audit
    for alone, own, shown in zip(audited.audits, run.audit, page.rows, strict=True):
        assert (alone.rule, alone.outcome, alone.reason) == (own.rule, own.outcome, own.reason)
        assert (shown.verdict, shown.reason) == (own.outcome, own.reason)
        np.testing.assert_allclose(
            [alone.holds, alone.low, alone.high, alone.chance, alone.gain, alone.new_weight or 0],
            [own.holds, own.low, own.high, own.chance, own.gain, own.new_weight or 0],
        )


def test_a_run_of_other_classes_cannot_be_asked(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,odd\n")
    options = AuditRulesOptions(
        rules=trained.file("but.rules"), labels=str(tmp_path / "l.csv"), run=trained.file("run")
    )

    with pytest.raises(OptionError, match=r"does not know the class 'odd'; its classes are negative, positive\."):
        audit_rules(options)
