"""Ready-made rule sets, written out."""

from __future__ import annotations

import pytest

from crowdlogic.errors import RuleError
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.parser import parse_rules

BIO = ("B-PER", "I-PER", "B-LOC", "O")


BIOES = ("B-X", "I-X", "E-X", "S-X", "O")


def printed(text: str, classes: tuple[str, ...] | None = None) -> list[str]:
    return str(expand(parse_rules(text), classes)).splitlines()


REFUSED = [
    ("include bio", None, 9, "bio needs the entity types: write bio('PER', 'ORG'), or give the labels."),
    ("include bio", ("neg", "pos"), 9, "bio needs span tags such as B-PER and O; the classes are neg, pos."),
    (
        "include bi",
        None,
        9,
        "there is no ready-made rule set 'bi'. Did you mean 'bio'? Known: bio, bioes, contrast.",
    ),
    ("include contrast", None, 9, "contrast needs one word, such as contrast('but')."),
]


def test_bio_reads_the_types_from_the_classes() -> None:
    assert printed("include bio", BIO) == [
        "1.0: Label(T, 'I-PER') & Previous(T, P) -> Label(P, 'B-PER') | Label(P, 'I-PER')",
        "1.0: First(T) -> !Label(T, 'I-PER')",
    ]


def test_bio_takes_types_and_a_weight_by_hand() -> None:
    assert printed("0.5: include bio('LOC')") == [
        "0.5: Label(T, 'I-LOC') & Previous(T, P) -> Label(P, 'B-LOC') | Label(P, 'I-LOC')",
        "0.5: First(T) -> !Label(T, 'I-LOC')",
    ]
    assert printed("include bio('LOC') .")[1] == "First(T) -> !Label(T, 'I-LOC') ."


def test_bioes_holds_in_both_directions() -> None:
    assert printed("include bioes", BIOES) == [
        "1.0: Label(T, 'I-X') & Previous(T, P) -> Label(P, 'B-X') | Label(P, 'I-X')",
        "1.0: First(T) -> !Label(T, 'I-X')",
        "1.0: Label(T, 'E-X') & Previous(T, P) -> Label(P, 'B-X') | Label(P, 'I-X')",
        "1.0: First(T) -> !Label(T, 'E-X')",
        "1.0: Label(P, 'B-X') & Previous(T, P) -> Label(T, 'I-X') | Label(T, 'E-X')",
        "1.0: Last(T) -> !Label(T, 'B-X')",
        "1.0: Label(P, 'I-X') & Previous(T, P) -> Label(T, 'I-X') | Label(T, 'E-X')",
        "1.0: Last(T) -> !Label(T, 'I-X')",
    ]
    assert printed("include bioes", ("B-X", "I-X", "L-X", "U-X", "O"))[2].startswith("1.0: Label(T, 'L-X')")


def test_contrast_is_one_rule() -> None:
    assert printed("include contrast('but')") == ["1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"]


@pytest.mark.parametrize(("text", "classes", "column", "message"), REFUSED, ids=[m[3] for m in REFUSED])
def test_a_wrong_include_is_refused(text: str, classes: tuple[str, ...] | None, column: int, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        printed(text, classes)

    assert str(caught.value) == f"the rules:1:{column}: {message}\n    {text}\n    {' ' * (column - 1)}^"
