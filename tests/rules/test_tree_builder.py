"""From parse tree to rules: what reads, what is refused, and where the caret points."""

from __future__ import annotations

import pytest
from tests.rules.rule_texts import READS

from crowdlogic.errors import RuleError
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.syntax import ArithmeticRule, LogicalRule


@pytest.mark.parametrize(("text", "printed"), READS.items(), ids=READS)
def test_a_rule_reads_and_prints_in_plain_form(text: str, printed: str) -> None:
    assert str(parse_rules(text)).rstrip("\n") == printed


@pytest.mark.parametrize("text", [text for text in READS if "(X == Y)" not in text])
def test_what_is_printed_reads_the_same(text: str) -> None:
    once = parse_rules(text)

    assert parse_rules(str(once)).statements == once.statements


REFUSED = [
    ("1: A(X & B(X)", 8, "unexpected '&'; expected ')' or ','."),
    ("1: A(X)) -> B(X)", 8, "unexpected ')'; expected a rule, or the end of the text."),
    ("1: A(X) -> B(X) -> C(X)", 17, "unexpected '->'; expected a rule, or the end of the text."),
    ("1: A() -> B(X)", 6, "unexpected ')'; expected a name, a quoted constant, a number, a $group or '+'."),
    ("1: A(X) ->", 11, "the text ends in the middle of a rule; expected an atom, such as Label(S, C)."),
    ("1: A(X) -> B('x", 14, "the quote ' is never closed on this line."),
    ('1: A(X) -> B("x', 14, 'the quote " is never closed on this line.'),
    ("1: A(X) /* -> B(X)", 9, "the comment /* is never closed."),
    ("1: A(X) -> B(?)", 14, "unexpected character '?'."),
    (
        " ?: A(X) -> B(X)",
        2,
        "expected a number as weight, found '?'. Give each rule a weight; training lowers it if held-out labels "
        "contradict the rule.",
    ),
    ("1: A(X, $) -> B(X)", 9, "a '$' begins the name of a group, such as $BEGIN."),
    ("A(X) -> B(X)", 1, "a rule needs a weight in front (1.0: ...), or a full stop at its end to be hard."),
    ("1: A(X) -> B(X) .", 17, "a rule cannot have both a weight in front and a full stop at the end: it is either weighted or hard."),
    ("A(X) -> B(X) ^2 .", 14, "a hard rule is never violated, so its distance cannot be squared."),
    ("-1: A(X)", 1, "a weight cannot be negative. Negate the rule instead."),
    ("1e9: A(X)", 1, "a weight of 1e9 is too large. End a hard rule with a full stop instead."),
    ("1~: A(X)", 2, "unexpected '~'. To keep a weight, write 1!:"),
    ("1: A(X) ^3", 9, "a distance can be plain (^1) or squared (^2), not ^3."),
    ("1: A(X) | B(X) -> C(X)", 4, "a body cannot contain '|'. Write one rule for each part."),
    ("1: A(X) -> B(X) & C(X)", 12, "a head cannot contain '&'. Write one rule for each part."),
    ("1: A(X) & B(X)", 4, "a rule without an arrow cannot contain '&'. Write one rule for each part."),
    ("1: !(A(X) & B(X)) -> C(X)", 6, "only atoms can be negated. Move the '!' inside: !(A & B) is !A | !B."),
    ("1: (A(X) -> B(X)) & C(X) -> D(X)", 5, "a body consists of atoms; a rule contains only one arrow or relation."),
    ("1: A(X) + B(X) -> C(X)", 4, "a body consists of atoms; arithmetic is only allowed in rules with <=, >= or =."),
    ("1: A(X) & X - Y -> C(X)", 11, "X - Y as a comparison is not supported; write X != Y."),
    ("1: A(X) & X % Y -> C(X)", 13, "the comparison % of PSL is not supported; use == or !=."),
    ("1: A(X) & X ^ Y -> C(X)", 13, "the comparison ^ of PSL is not supported; use == or !=."),
    ("1: A(X) & B(X) == C(X) -> D(X)", 16, "== compares two terms, such as X == 'pos'."),
    ("1: A(X) & X -> B(X)", 11, "X is not an atom; an atom looks like Label(S, 'pos') or X != Y."),
    ("1: A(X, +C) -> B(X)", 4, "a sum such as +C can only be used in arithmetic rules."),
    ("1: A(X, +'c') = 1", 10, "+'c': only a variable can be summed over."),
    ("1: A(X, 3)", 9, "constants are quoted: write '3'."),
    ("1: A('a\\qb')", 8, "unknown escape \\q; known are \\\\, \\', \\\", \\t, \\n and \\r."),
    ("1: A(X) + B(X)", 4, "an arithmetic rule needs a relation: <=, >= or =."),
    ("1: 1 + 2 = 3", 10, "an arithmetic rule needs an atom."),
    ("1: A(X) < 1", 9, "truth values cannot be compared strictly; write <=."),
    ("1: A(X) * B(X) <= 1", 11, "a product of two atoms is not linear."),
    ("1: 1 / A(X) <= 1", 8, "a rule can only be divided by a number other than 0."),
    ("1: A(X) / 0 <= 1", 11, "a rule can only be divided by a number other than 0."),
    ("1: |X| A(X) <= 1", 4, "the cardinality |X| of PSL is not supported; write the number."),
    ("1: @Max[1, 2] * A(X) <= 1", 4, "@Max and @Min of PSL are not supported; write the number."),
    ("1: @Min(1, 2) * A(X) <= 1", 4, "@Max and @Min of PSL are not supported; write the number."),
    ("1: A(X, +Y) <= 1 {Y: B(Y)}", 18, "filter clauses {X: ...} of PSL are not supported; name the constants with a $group."),
    ("1: A(X) + X <= 1", 11, "an arithmetic rule consists of atoms and numbers."),
    ("1: A(X) + (X == Y) <= 1", 12, "a comparison cannot be used in an arithmetic rule."),
    ("1: A(X) + (A(X) & B(X)) <= 1", 12, "logical connectives cannot be used in arithmetic; write a logical rule."),
    ("1: !A(X) <= 1", 4, "logical connectives cannot be used in arithmetic; write a logical rule."),
    ("$G = {}", 1, "the group $G has no members."),
    ("$G = {'a'} $G = {'b'}", 12, "the group $G is defined twice. Give the second one another name."),
    ("include 'more.rules'", 1, "a text that came from no file cannot include a file; use read_rules on a file."),
    ("1: include 'more.rules'", 4, "a file's rules have their own weights; write include 'file' alone."),
    ("1: include bio .", 4, "a rule cannot have both a weight in front and a full stop at the end: it is either weighted or hard."),
    ("include bio(PER)", 13, "unexpected 'PER'; expected a quoted constant."),
    ("$G = {a}", 7, "unexpected 'a'; expected a quoted constant or '}'."),
    ("$G {'a'}", 5, "unexpected \"'a'\"; expected a name."),
    ("1 A(X) {", 9, "the text ends in the middle of a rule; expected a name."),
    ("1: " + "(" * 150 + "A(X)" + ")" * 150, 104, "parentheses and negations are nested more than 100 deep."),
    ("1: " + "!" * 150 + "A(X)", 104, "parentheses and negations are nested more than 100 deep."),
    ("1: " + "(" * 150 + "A(X)" + ")" * 150 + " <= 1", 105, "parentheses and negations are nested more than 100 deep."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), REFUSED, ids=[text[:40] for text, _, _ in REFUSED])
def test_a_wrong_rule_is_refused_with_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules(text, source="my.rules")

    assert str(caught.value) == f"my.rules:1:{column}: {message}\n    {text}\n    {' ' * (column - 1)}^"


def test_a_long_chain_of_atoms_is_no_deep_nesting() -> None:
    body = " & ".join(f"A{n}(X)" for n in range(3000))

    (rule,) = parse_rules(f"1: {body} -> B(X)").rules

    assert isinstance(rule, LogicalRule)
    assert len(rule.body) == 3000


def test_a_long_sum_is_no_deep_nesting() -> None:
    (rule,) = parse_rules("1: " + " + ".join(f"A{n}(X)" for n in range(3000)) + " <= 1").rules

    assert isinstance(rule, ArithmeticRule)
    assert len(rule.summands) == 3000
