from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Result

Run = Callable[..., Result]

LABELS = "item,annotator,label\n" + "".join(
    f"d{i},{a},{'spam' if (i % 2) != (a == 'c') else 'ham'}\n" for i in range(40) for a in "abc"
)
ITEMS = "item,text,label\n" + "".join(
    f"d{i},{'win a prize' if i % 2 else 'the bill is due'},{'spam' if i % 2 else 'ham'}\n" for i in range(40)
)


def test_good_rules_pass_the_check(run: Run) -> None:
    Path("r.rules").write_text("1: Contains(S, 'prize') -> Label(S, 'spam')\n")
    Path("l.csv").write_text(LABELS)
    Path("i.csv").write_text(ITEMS)

    done = run("rules", "check", "r.rules", "--labels", "l.csv", "--items", "i.csv")

    assert (done.code, done.out, done.err) == (0, "", "r.rules: 1 rule, 0 findings\n")


def test_rules_about_texts_pass_the_check_against_labels_alone(run: Run) -> None:
    Path("r.rules").write_text("1: Contains(S, 'prize') -> Label(S, 'spam')\n")
    Path("w.rules").write_text("1: Contains(S, 'prize') -> Label(S, 'spm')\n")
    Path("l.csv").write_text(LABELS)

    good = run("rules", "check", "r.rules", "--labels", "l.csv")
    wrong = run("rules", "check", "w.rules", "--labels", "l.csv")

    assert (good.code, good.out, good.err) == (0, "", "r.rules: 1 rule, 0 findings\n")
    assert (wrong.code, wrong.out.splitlines()[0]) == (
        1,
        "w.rules:1:37: 'spm' is not a class. Did you mean 'spam'? The classes are ham, spam.",
    )


def test_a_finding_is_printed_with_a_caret_and_exit_code_1(run: Run) -> None:
    Path("r.rules").write_text("# a rule\n1: Contains(S, 'prize') -> Label(S, 'spm')\n")

    done = run("rules", "check", "r.rules", "--classes", "ham,spam")

    assert done.code == 1
    assert done.out == (
        "r.rules:2:37: 'spm' is not a class. Did you mean 'spam'? The classes are ham, spam.\n"
        "    1: Contains(S, 'prize') -> Label(S, 'spm')\n"
        "                                        ^\n"
    )


def test_findings_come_as_json_too(run: Run) -> None:
    Path("r.rules").write_text("1: Contains(S, 'zebra') -> Label(S, 'spam')\n")
    Path("l.csv").write_text(LABELS)
    Path("i.csv").write_text(ITEMS)

    done = run("rules", "check", "r.rules", "--labels", "l.csv", "--items", "i.csv", "--json")

    assert done.code == 1
    assert json.loads(done.out)["findings"] == [
        {
            "severity": "warning",
            "place": "r.rules:1:1",
            "message": "this rule never applies: no items make its body true.",
        }
    ]


def test_a_rule_that_cannot_be_read_is_exit_code_2_with_a_caret(run: Run) -> None:
    Path("r.rules").write_text("1: Contains(S, 'prize' -> Label(S, 'spam')\n")

    done = run("rules", "check", "r.rules")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "crowdlogic: r.rules:1:24: unexpected '->'; expected ')' or ','.\n"
        "    1: Contains(S, 'prize' -> Label(S, 'spam')\n"
        "                           ^\n"
    )


def test_ready_made_sets_print_as_ordinary_rules(run: Run) -> None:
    Path("r.rules").write_text("include bio('PER')\n")

    done = run("rules", "check", "r.rules", "--show")

    assert done.code == 0
    assert done.out == (
        "1.0: Label(T, 'I-PER') & Previous(T, P) -> Label(P, 'B-PER') | Label(P, 'I-PER')\n"
        "1.0: First(T) -> !Label(T, 'I-PER')\n"
    )


def test_facts_come_from_a_table(run: Run) -> None:
    Path("r.rules").write_text("1: Similar(A, B) & Label(A, C) -> Label(B, C)\n")
    Path("s.csv").write_text("a,b,truth\nd1,d3,0.5\n")
    Path("l.csv").write_text(LABELS)

    done = run("rules", "check", "r.rules", "--labels", "l.csv", "--table", "Similar=s.csv")
    wrong = run("rules", "check", "r.rules", "--labels", "l.csv", "--table", "Similar")

    assert done.code == 0
    assert (wrong.code, wrong.err) == (
        2,
        "crowdlogic: --table 'Similar': write Name=file, such as Similar=similar.csv.\n",
    )


def test_the_audit_tells_good_from_bad(run: Run) -> None:
    Path("r.rules").write_text(
        "1: Contains(S, 'prize') -> Label(S, 'spam')\n1: Contains(S, 'bill') -> Label(S, 'spam')\n"
    )
    Path("l.csv").write_text(LABELS)
    Path("i.csv").write_text(ITEMS)

    done = run("rules", "audit", "r.rules", "l.csv", "--items", "i.csv", "--json")
    table = run("rules", "audit", "r.rules", "l.csv", "--items", "i.csv")
    settled = run("rules", "audit", "r.rules", "l.csv", "--items", "i.csv", "--anchors", "i.csv", "--json")

    good, bad = json.loads(done.out)["rules"]
    assert (done.code, done.err) == (0, "")
    assert (good["groundings"], bad["groundings"]) == (20, 20)
    assert (good["outcome"], bad["outcome"]) == ("helps", "contradicts the labels")
    assert good["holds"] > good["chance"] > bad["holds"]
    assert bad["new_weight"] == 0
    assert "contradicts" in table.out
    assert f"{bad['rule']}: {bad['reason']}" in table.err
    assert [(one["gold_cases"], round(one["gold_holds"], 6)) for one in json.loads(settled.out)["rules"]] == [
        (20, 1),
        (20, 0),
    ]


def test_conll_labels_bring_their_tokens(run: Run) -> None:
    Path("l.conll").write_text("EU B-ORG B-ORG\nrejects O I-ORG\n\nParis I-ORG B-ORG\n")
    Path("r.rules").write_text("include bio\n")

    done = run("rules", "audit", "r.rules", "l.conll", "--json")

    assert done.code == 0
    assert [one["groundings"] for one in json.loads(done.out)["rules"]] == [1, 2]


def test_rules_that_ask_a_classifier_are_judged_without_a_run(run: Run) -> None:
    Path("r.rules").write_text(
        "1: Predicted(S, C) -> Label(S, C)\n1: Label(S, C) & After(S, 'a', B) -> Predicted(B, C)\n"
    )
    Path("l.csv").write_text(LABELS)
    Path("i.csv").write_text(ITEMS)

    done = run("rules", "audit", "r.rules", "l.csv", "--items", "i.csv", "--json")

    own, clause = json.loads(done.out)["rules"]
    assert (done.code, done.err) == (0, "")
    assert (own["groundings"], clause["groundings"]) == (80, 40)
    assert own["outcome"] == "helps"


def test_a_run_of_other_classes_cannot_answer(run: Run) -> None:
    Path("r.rules").write_text("1: Predicted(S, C) -> Label(S, C)\n")
    Path("l.csv").write_text(LABELS)
    Path("i.csv").write_text(ITEMS)
    run("train", "--labels", "l.csv", "--items", "i.csv", "--epochs", 1, "-o", "model")
    Path("o.csv").write_text(LABELS.replace("spam", "junk"))
    Path("n.csv").write_text(ITEMS.replace("spam", "junk"))

    done = run("rules", "audit", "r.rules", "o.csv", "--items", "n.csv", "--run", "model")

    assert (done.code, done.err) == (
        2,
        "crowdlogic: o.csv: the run model does not know the class 'junk'; its classes are ham, spam. Name a run with the classes of the labels.\n",
    )
