"""Rule texts and files: includes, groups of several files, and texts that nobody would write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.rules.programs import PROGRAMS
from tests.rules.rule_texts import READS

from crowdlogic.errors import MissingDataError, RuleError
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.syntax import RuleSet


def test_the_place_is_on_its_own_line_and_a_tab_is_one_column() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules("# first\n1: A(X)\n\t1: A(X) -> B(X) & C(X)\n", source="my.rules")

    assert str(caught.value) == (
        "my.rules:3:13: a head cannot contain '&'. Write one rule for each part.\n"
        "     1: A(X) -> B(X) & C(X)\n"
        "                ^"
    )


def test_a_data_file_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules("x" * 1_000_001)

    assert str(caught.value) == "the rules: too long for a rule file: 1,000,001 characters; the maximum is 1,000,000."


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


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS)
def test_printing_and_parsing_are_inverse_for_every_program(text: str) -> None:
    try:
        rules = parse_rules(text)
    except RuleError:
        reject()

    again = parse_rules(str(rules))

    assert again.statements == rules.statements
    assert again.groups == rules.groups
    assert str(again) == str(rules)


@pytest.mark.parametrize(
    "text",
    [
        "1.0: Label(S, C) & Contains(S, 'ugly') -> C != 'positive'",
        "1: A(X) -> X == Y | Y != 'a'",
        "1: X == 'a'",
        "'a' == X | Y != X .",
        "1: A(X) -> B(X)\n0 >= Label(X, 'a') .",
        "1: A(X) <= 1\n1 >= 2 B(X) + C(X) .",
    ],
)
def test_rules_that_once_could_not_be_read_back(text: str) -> None:
    rules = parse_rules(text)

    assert parse_rules(str(rules)).statements == rules.statements


@pytest.mark.parametrize("number", ["1e999", "1e200 * 1e200", "1e999 - 1e999"])
def test_numbers_beyond_all_bounds_are_refused(number: str) -> None:
    with pytest.raises(RuleError, match=r"a number of this rule is beyond 1e\+100"):
        parse_rules(f"1: {number} + A(X) <= 1")


def test_half_a_character_is_refused() -> None:
    with pytest.raises(RuleError, match=r"contains a lone surrogate"):
        parse_rules("1: A('\ud800')")


def test_files_that_include_each_other_twice_are_counted(tmp_path: Path) -> None:
    for number in range(24):
        (tmp_path / f"{number}.rules").write_text(f"include '{number + 1}.rules'\n" * 2)
    (tmp_path / "24.rules").write_text("1: A(X)")

    with pytest.raises(RuleError, match=r"files are included more than 200 times, or more than 20 deep\."):
        read_rules(tmp_path / "0.rules")


def test_a_long_chain_of_files_is_refused_and_no_recursion_error(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"{number}.rules").write_text(f"include '{number + 1}.rules'\n")

    with pytest.raises(RuleError, match=r"more than 20 deep\."):
        read_rules(tmp_path / "0.rules")


@pytest.mark.parametrize("name", ["../secret.rules", "/etc/hostname", "link.rules", "more/../../secret.rules"])
def test_a_rule_file_includes_nothing_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.rules").write_text("1: Secret(X)")
    home = tmp_path / "rules"
    (home / "more").mkdir(parents=True)
    (home / "link.rules").symlink_to(tmp_path / "secret.rules")
    (home / "my.rules").write_text(f"include '{name}'")

    with pytest.raises(RuleError) as refused:
        read_rules(home / "my.rules")

    assert str(refused.value) == (
        f"my.rules:1:1: '{name}' is outside the folder of the rule file, so it is not read. Copy it there, or allow it "
        f"with --allow-outside (allow_outside=True).\n    include '{name}'\n    ^"
    )
    if "secret" in name:
        assert str(read_rules(home / "my.rules", allow_outside=True)) == "1.0: Secret(X)\n"


def test_a_file_in_a_folder_below_may_include_one_beside_the_first(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "my.rules").write_text("include 'sub/a.rules'")
    (tmp_path / "sub" / "a.rules").write_text("include '../b.rules'")
    (tmp_path / "b.rules").write_text("1: B(X)")

    assert str(read_rules(tmp_path / "my.rules")) == "1.0: B(X)\n"


def test_a_pipe_is_no_rule_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "my.rules").write_text("include 'pipe'")

    with pytest.raises(RuleError, match="there is no file 'pipe' beside this one"):
        read_rules(tmp_path / "my.rules")
    with pytest.raises(MissingDataError, match="there is no such rule file"):
        read_rules(tmp_path / "pipe")


def test_a_message_shows_the_part_of_a_long_line_that_it_is_about() -> None:
    with pytest.raises(RuleError) as refused:
        parse_rules("1: " + "A(X) & " * 100_000 + "B(X) ? C(X)" + " & D(X)" * 10_000)

    where, line, caret = str(refused.value).split("\n")
    assert len(str(refused.value)) < 1500
    assert where == "the rules:1:700009: unexpected character '?'."
    assert line[caret.index("^")] == "?"


def test_a_name_that_is_too_long_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text(f"include '{'9' * 300}'\n")

    with pytest.raises(RuleError, match="there is no file"):
        read_rules(tmp_path / "a.rules")
    with pytest.raises(MissingDataError, match="there is no such rule file"):
        read_rules(tmp_path / ("9" * 300))
