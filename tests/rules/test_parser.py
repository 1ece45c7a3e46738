"""The rule language: what reads, what is refused, and where the caret points."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.errors import MissingDataError, RuleError
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.syntax import ArithmeticRule, LogicalRule, RuleSet

READS = {
    "1.0: A(X) & B(X, Y) -> C(Y)": "1.0: A(X) & B(X, Y) -> C(Y)",
    "1: A(X) && B(X) >> C(X) || D(X)": "1.0: A(X) & B(X) -> C(X) | D(X)",
    "2: C(X) | D(X) <- A(X)": "2.0: A(X) -> C(X) | D(X)",
    "2: C(X) << A(X) & B(X)": "2.0: A(X) & B(X) -> C(X)",
    "A(X) -> !B(X) .": "A(X) -> !B(X) .",
    "0.5: ~A(X) | B(X) ^2": "0.5: !A(X) | B(X) ^2",
    "0.5: A(X) ^1": "0.5: A(X)",
    "1: !!A(X) & !(!(B(X))) -> C(X)": "1.0: A(X) & B(X) -> C(X)",
    "1: (A(X) & (B(X) & C(X))) -> (D(X) | (E(X)))": "1.0: A(X) & B(X) & C(X) -> D(X) | E(X)",
    "1: A(X, Y) & X != Y -> B(X)": "1.0: A(X, Y) & X != Y -> B(X)",
    "1: A(X, Y) & X ~= Y -> B(X)": "1.0: A(X, Y) & X != Y -> B(X)",
    "1: A(X, Y) & !(X == Y) -> B(X)": "1.0: A(X, Y) & X != Y -> B(X)",
    "1: A(X, Y) & B(X) -> (X == Y)": "1.0: A(X, Y) & B(X) & X != Y -> ",
    "1: A(X) & X == 'a' -> B(X)": "1.0: A(X) & X == 'a' -> B(X)",
    "1: A('it\\'s', \"say \\\"hi\\\"\", 'a\\\\b\\t')": "1.0: A('it\\'s', 'say \"hi\"', 'a\\\\b\\t')",
    "1e-1: A(X)": "0.1: A(X)",
    "15: A(X)": "15.0: A(X)",
    "0: A(X)": "0.0: A(X)",
    "# note\n1: A(X) // more\n/* and\nmore */": "1.0: A(X)",
    "Label(T, +C) = 1 .": "Label(T, +C) = 1.0 .",
    "1: A(X) + 2 B(X) <= 1": "1.0: A(X) + 2.0 * B(X) <= 1.0",
    "1: 2 * A(X) - B(X) / 4 >= 1 - C(X) ^2": "1.0: 2.0 * A(X) + -0.25 * B(X) + C(X) >= 1.0 ^2",
    "1: 3 * (A(X) - (B(X) + 1)) = -A(X) * 2 / 4": "1.0: 3.0 * A(X) + -3.0 * B(X) + 0.5 * A(X) = 3.0",
    "$G = {'a', \"b\"}\n1: A(X, $G)": "$G = {'a', 'b'}\n1.0: A(X, $G)",
    "include bio": "1.0: include bio",
    "0.3: include bio('PER', 'ORG')": "0.3: include bio('PER', 'ORG')",
    "include contrast('but') .": "include contrast('but') .",
    "1: A(X)\nB(X) .\n2: C(X)": "1.0: A(X)\nB(X) .\n2.0: C(X)",
    "1: A(X) = 1\nB(X) -> C(X) .": "1.0: A(X) = 1.0\nB(X) -> C(X) .",
    "1: included(X) -> includes(X)": "1.0: included(X) -> includes(X)",
    "": "",
}


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
    ("1: A(X, $) -> B(X)", 9, "a '$' begins the name of a group, such as $BEGIN."),
    ("A(X) -> B(X)", 1, "a rule needs a weight in front (1.0: ...), or a full stop at its end to be hard."),
    ("1: A(X) -> B(X) .", 17, "a weight in front and a full stop at the end: a rule is either weighted or hard."),
    ("A(X) -> B(X) ^2 .", 14, "a hard rule is never violated, so its distance cannot be squared."),
    ("-1: A(X)", 1, "a weight cannot be negative. Negate the rule instead."),
    ("1e9: A(X)", 1, "a weight of 1e9 is no weight; end a hard rule with a full stop."),
    ("1: A(X) ^3", 9, "a distance can be plain (^1) or squared (^2), not ^3."),
    ("1: A(X) | B(X) -> C(X)", 4, "a body cannot hold '|'. Write one rule for each part."),
    ("1: A(X) -> B(X) & C(X)", 12, "a head cannot hold '&'. Write one rule for each part."),
    ("1: A(X) & B(X)", 4, "a rule without an arrow cannot hold '&'. Write one rule for each part."),
    ("1: !(A(X) & B(X)) -> C(X)", 6, "only atoms can be negated. Move the '!' inside: !(A & B) is !A | !B."),
    ("1: (A(X) -> B(X)) & C(X) -> D(X)", 5, "a body is made of atoms; an arrow or a relation stands once in a rule."),
    ("1: A(X) + B(X) -> C(X)", 4, "a body is made of atoms; arithmetic stands in rules with <=, >= or =."),
    ("1: A(X) & X - Y -> C(X)", 11, "X - Y as a comparison is PSL's; write X != Y."),
    ("1: A(X) & X % Y -> C(X)", 13, "the comparison % is PSL's; only == and != are known here."),
    ("1: A(X) & X ^ Y -> C(X)", 13, "the comparison ^ is PSL's; only == and != are known here."),
    ("1: A(X) & B(X) == C(X) -> D(X)", 16, "== compares two terms, such as X == 'pos'."),
    ("1: A(X) & X -> B(X)", 11, "X is no atom; an atom reads like Label(S, 'pos') or X != Y."),
    ("1: A(X, +C) -> B(X)", 4, "a sum such as +C belongs to arithmetic rules."),
    ("1: A(X, +'c') = 1", 10, "+'c': only a variable can be summed over."),
    ("1: A(X, 3)", 9, "constants are quoted: write '3'."),
    ("1: A('a\\qb')", 8, "unknown escape \\q; known are \\\\, \\', \\\", \\t, \\n and \\r."),
    ("1: A(X) + B(X)", 4, "an arithmetic rule needs a relation: <=, >= or =."),
    ("1: 1 + 2 = 3", 10, "an arithmetic rule needs an atom."),
    ("1: A(X) < 1", 9, "truth values are never strictly compared; write <=."),
    ("1: A(X) * B(X) <= 1", 11, "a product of two atoms is not linear."),
    ("1: 1 / A(X) <= 1", 8, "a rule can be divided by a number other than 0, nothing else."),
    ("1: A(X) / 0 <= 1", 11, "a rule can be divided by a number other than 0, nothing else."),
    ("1: |X| A(X) <= 1", 4, "the cardinality |X| is PSL's; here, write the number."),
    ("1: @Max[1, 2] * A(X) <= 1", 4, "@Max and @Min are PSL's; here, write the number."),
    ("1: @Min(1, 2) * A(X) <= 1", 4, "@Max and @Min are PSL's; here, write the number."),
    ("1: A(X, +Y) <= 1 {Y: B(Y)}", 18, "filter clauses {X: ...} are PSL's; here, name the constants with a $group."),
    ("1: A(X) + X <= 1", 11, "an arithmetic rule is made of atoms and numbers."),
    ("1: A(X) + (X == Y) <= 1", 12, "a comparison cannot stand in an arithmetic rule."),
    ("1: A(X) + (A(X) & B(X)) <= 1", 12, "logic cannot stand inside an arithmetic rule; write a logical rule."),
    ("1: !A(X) <= 1", 4, "logic cannot stand inside an arithmetic rule; write a logical rule."),
    ("$G = {}", 1, "the group $G has no members."),
    ("$G = {'a'} $G = {'b'}", 12, "the group $G is defined twice. Give the second one another name."),
    ("include 'more.rules'", 1, "a text that came from no file cannot include a file; use read_rules on a file."),
    ("1: include 'more.rules'", 4, "a file's rules have their own weights; write include 'file' alone."),
    ("1: include bio .", 4, "a weight in front and a full stop at the end: a rule is either weighted or hard."),
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


def test_the_place_is_on_its_own_line_and_a_tab_is_one_column() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules("# first\n1: A(X)\n\t1: A(X) -> B(X) & C(X)\n", source="my.rules")

    assert str(caught.value) == (
        "my.rules:3:13: a head cannot hold '&'. Write one rule for each part.\n"
        "     1: A(X) -> B(X) & C(X)\n"
        "                ^"
    )


def test_a_long_chain_of_atoms_is_no_deep_nesting() -> None:
    body = " & ".join(f"A{n}(X)" for n in range(3000))

    (rule,) = parse_rules(f"1: {body} -> B(X)").rules

    assert isinstance(rule, LogicalRule)
    assert len(rule.body) == 3000


def test_a_long_sum_is_no_deep_nesting() -> None:
    (rule,) = parse_rules("1: " + " + ".join(f"A{n}(X)" for n in range(3000)) + " <= 1").rules

    assert isinstance(rule, ArithmeticRule)
    assert len(rule.summands) == 3000


def test_a_data_file_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules("x" * 1_000_001)

    assert str(caught.value) == "the rules: 1,000,001 characters are no rule file; the most is 1,000,000."


def test_a_file_includes_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "main.rules").write_text("1: A(X)\ninclude 'more/b.rules'\n2: C(X, $G)\n")
    (tmp_path / "more" / "b.rules").write_text("\ufeff$G = {'g'}\r\n3: B(X)\r\ninclude 'c.rules'\r\n")
    (tmp_path / "more" / "c.rules").write_text("4: D(X)")

    rules = read_rules(tmp_path / "main.rules")

    assert str(rules) == "$G = {'g'}\n1.0: A(X)\n3.0: B(X)\n4.0: D(X)\n2.0: C(X, $G)\n"


def test_two_files_that_give_a_group_other_members_are_refused(tmp_path: Path) -> None:
    (tmp_path / "main.rules").write_text("include 'a.rules'\ninclude 'b.rules'\n")
    (tmp_path / "a.rules").write_text("$G = {'x', 'y'}\n1: A(X, $G)\n")
    (tmp_path / "b.rules").write_text("$G = {'z'}\n1: B(X, $G)\n")

    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path / "main.rules")

    assert str(caught.value) == (
        "main.rules:2:1: 'b.rules' gives the group $G other members than it has here already. "
        "Give one of the two another name.\n    include 'b.rules'\n    ^"
    )


def test_two_files_may_give_a_group_the_same_members(tmp_path: Path) -> None:
    (tmp_path / "main.rules").write_text("include 'a.rules'\ninclude 'b.rules'\n")
    (tmp_path / "a.rules").write_text("$G = {'x', 'y'}\n1: A(X, $G)\n")
    (tmp_path / "b.rules").write_text("$G = {'y', 'x'}\n1: B(X, $G)\n")

    assert len(read_rules(tmp_path / "main.rules")) == 2


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text("include 'b.rules'")
    (tmp_path / "b.rules").write_text("1: A(X)\ninclude 'a.rules'")

    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path / "a.rules")

    assert str(caught.value) == (
        "b.rules:2:1: 'a.rules' includes itself, directly or through other files.\n    include 'a.rules'\n    ^"
    )


def test_a_file_that_includes_itself_by_another_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "a.rules").write_text("include 'more/../a.rules'")

    with pytest.raises(RuleError, match="includes itself"):
        read_rules(tmp_path / "a.rules")


def test_an_included_file_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text("include 'none.rules'")

    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path / "a.rules")

    assert str(caught.value) == (
        "a.rules:1:1: there is no file 'none.rules' beside this one.\n    include 'none.rules'\n    ^"
    )


def test_a_missing_rule_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError) as caught:
        read_rules(tmp_path / "none.rules")

    assert str(caught.value) == f"{tmp_path / 'none.rules'}: there is no such rule file."


def test_a_binary_file_is_no_rule_file(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(RuleError, match="cannot be read as a rule file"):
        read_rules(tmp_path / "a.rules")


def outcome(text: str) -> RuleSet | str:
    """What parsing gives, or the refusal's message. Any other exception is a bug and goes through."""
    try:
        return parse_rules(text)
    except RuleError as refused:
        return str(refused)


PIECES = st.sampled_from(
    [
        "1.0",
        ":",
        "A",
        "(",
        "X",
        ")",
        ",",
        "'",
        '"',
        "&",
        "&&",
        "|",
        "||",
        "!",
        "~",
        "->",
        ">>",
        "<-",
        "<<",
        "^2",
        "^",
        ".",
        "+",
        "-",
        "*",
        "/",
        "=",
        "<=",
        ">=",
        "==",
        "!=",
        "{",
        "}",
        "[",
        "]",
        "$G",
        "@Max",
        "include",
        "bio",
        "#",
        "//",
        "/*",
        "*/",
        "\n",
        "\t",
        "\\",
        "'a'",
        "3",
        "-1",
        "%",
    ]
)


@settings(max_examples=600, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60), st.lists(PIECES, max_size=25).map(" ".join), st.lists(PIECES, max_size=25).map("".join)
    )
)
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    said = outcome(text)

    assert isinstance(said, RuleSet) or (said.startswith("the rules:") and said.endswith("^"))
    assert isinstance(said, str) or parse_rules(str(said)).statements == said.statements


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(list(READS)),
    st.integers(0, 60),
    st.sampled_from(["", "(", ")", "'", "&", "->", "1", "=", "$", ".", "\x00"]),
)
def test_a_spoilt_rule_is_read_or_refused_with_a_place(text: str, at: int, inserted: str) -> None:
    spoilt = text[:at] + inserted + text[at + 1 :]

    said = outcome(spoilt)

    assert isinstance(said, RuleSet) or said.startswith("the rules:")


def test_rules_compare_by_what_they_say_not_where() -> None:
    assert parse_rules("1: A(X)").rules == parse_rules("\n\n 1.0:A( X )").rules
