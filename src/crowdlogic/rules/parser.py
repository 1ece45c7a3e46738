"""From text to syntax tree. What cannot be read, and what PSL has and we have not, is refused by name with a caret.

A rule file never runs code: the grammar has no way to say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from lark import Lark, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import UnexpectedEOF

from crowdlogic.errors import MissingDataError, RuleError
from crowdlogic.rules.nearby_files import find_nearby, read_nearby
from crowdlogic.rules.places import Place, rule_error
from crowdlogic.rules.syntax import Constant, IncludedSet, Rule, RuleSet
from crowdlogic.rules.terms import TermBuilder
from crowdlogic.rules.tree_builder import GroupDefinition, IncludedFile, Statement, TreeBuilder

MAX_LENGTH = 1_000_000
"""No rule file is this long; a data file given by mistake is refused before it is parsed."""

TERMINALS = {
    "NAME": "a name",
    "STRING": "a quoted constant",
    "NUMBER": "a number",
    "GROUP": "a $group",
    "LPAREN": "'('",
    "RPAR": "')'",
    "RBRACE": "'}'",
    "RSQB": "']'",
    "LSQB": "'['",
    "LBRACE": "'{'",
    "COMMA": "','",
    "COLON": "':'",
    "EQUAL": "'='",
    "PERIOD": "a full stop",
    "PLUS": "'+'",
    "NOT": "'!'",
    "AND": "'&'",
    "OR": "'|'",
    "THEN": "'->'",
    "IMPLIED_BY": "'<-'",
}
"""What to call a terminal in a message; the others (arithmetic, exponents) are left out so that lists stay short."""


MAX_FILES, MAX_INCLUDE_DEPTH = 200, 20
"""How many times a rule file and what it includes may include files, and how deep."""


@dataclass(eq=False)
class _Reading:
    """A rule file that is read with all that it includes.

    Attributes:
        root: What files must lie in; None for anywhere.
        files: Number of files so far.
        within: The files that are being read: the first one, the one that it includes, and so on.
    """

    root: Path | None
    files: int = 0
    within: list[Path] = field(default_factory=list)

    def read(self, path: Path) -> RuleSet:
        """The rules of a file."""
        self.within.append(path)
        found = self.assemble(_decode(read_nearby(path), path), path.name, path.parent)
        self.within.pop()
        return found

    def assemble(self, text: str, source: str, folder: Path | None) -> RuleSet:
        """The rules of a text and of the files that it includes."""
        found: list[Rule | IncludedSet] = []
        groups: dict[str, tuple[Constant, ...]] = {}
        for statement in _statements(text, TermBuilder(source, [], folder, self.root)):
            if isinstance(statement, IncludedFile):
                other = self._include(statement, folder)
                found.extend(other.statements)
                _refuse_other_meaning(statement, other.groups, groups)
                groups.update(other.groups)
            elif isinstance(statement, GroupDefinition):
                if statement.name in groups:
                    raise rule_error(
                        statement.place,
                        f"the group ${statement.name} is defined twice. Give the second one another name.",
                    )
                groups[statement.name] = statement.members
            else:
                found.append(statement)
        return RuleSet(tuple(found), groups, source)

    def _include(self, statement: IncludedFile, folder: Path | None) -> RuleSet:
        if folder is None:
            raise rule_error(
                statement.place, "a text that came from no file cannot include a file; use read_rules on a file."
            )
        try:
            path = find_nearby(statement.path, folder, self.root)
        except RuleError as problem:
            raise rule_error(statement.place, str(problem)) from None
        if path in self.within:
            raise rule_error(statement.place, f"{statement.path!r} includes itself, directly or through other files.")
        if not path.is_file():
            raise rule_error(statement.place, f"there is no file {statement.path!r:.80} beside this one.")
        self.files += 1
        if self.files > MAX_FILES or len(self.within) > MAX_INCLUDE_DEPTH:
            raise rule_error(
                statement.place,
                f"files are included more than {MAX_FILES} times, or more than {MAX_INCLUDE_DEPTH} deep.",
            )
        return self.read(path)


def parse_rules(text: str, *, source: str = "the rules", folder: Path | None = None) -> RuleSet:
    """The rules in a text.

    Args:
        text: What a rule file would hold.
        source: What to call the text in messages.
        folder: Where `include 'file'` and word lists look; without it, files cannot be included.
    """
    return _Reading(folder).assemble(text, source, folder)


def as_rules(rules: RuleSet | str | Path | Sequence[str] | None) -> RuleSet | None:
    """Rules as they are, from their text or texts, or from their file; anything else is refused in one sentence."""
    if rules is None or isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, Path):
        return read_rules(rules)
    if isinstance(rules, list | tuple) and all(isinstance(one, str) for one in rules):
        rules = "\n".join(rules)
    if not isinstance(rules, str):
        raise RuleError(
            f"rules: {type(rules).__name__} where rules are expected. Give their text, a list of texts, or "
            f"read_rules('my.rules')."
        )
    if rules.strip().endswith(".rules") and "\n" not in rules.strip():
        raise RuleError(f"rules: {rules!r} names a file. Read it: rules=read_rules({rules!r}).")
    return parse_rules(rules)


def read_rules(path: str | Path, *, allow_outside: bool = False) -> RuleSet:
    """The rules of a file and of the files that it includes.

    Args:
        path: The rule file.
        allow_outside: Whether it may name files (to include, word lists) that are not beside or below it.
    """
    given = Path(path)
    if not given.is_file():
        raise MissingDataError(f"{path}: there is no such rule file.")
    return _Reading(None if allow_outside else given.parent.resolve()).read(given.resolve())


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise RuleError(f"{path.name}: cannot be read as a rule file (UTF-8 text): {problem}.") from None


def _statements(text: str, terms: TermBuilder) -> list[Statement]:
    if len(text) > MAX_LENGTH:
        raise RuleError(f"{terms.source}: {len(text):,} characters are no rule file; the maximum is {MAX_LENGTH:,}.")
    # A byte-order mark is how some editors say UTF-8; NUL and other control characters fail in the lexer.
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    terms = replace(terms, lines=text.split("\n"))
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RuleError(f"{terms.source}: half a character (a lone surrogate) is no text.")
    try:
        tree = _grammar().parse(text)
    except UnexpectedInput as problem:
        raise _syntax_error(problem, terms) from None
    return TreeBuilder(terms).statements(tree)


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", maybe_placeholders=True)


def _syntax_error(problem: UnexpectedInput, terms: TermBuilder) -> RuleError:
    if isinstance(problem, UnexpectedCharacters):
        place = terms.place(problem.line, problem.column)
        return rule_error(place, _describe_character(place))
    if isinstance(problem, UnexpectedToken) and problem.token.type != "$END":
        place = terms.place(problem.token.line or 1, problem.token.column or 1)
        if place.text[: place.column].endswith("/*"):
            return rule_error(replace(place, column=place.column - 1), "the comment /* is never closed.")
        return rule_error(place, f"unexpected {str(problem.token)!r}; expected {_describe_expected(problem)}.")
    if isinstance(problem, UnexpectedToken | UnexpectedEOF):
        return rule_error(
            terms.end(), f"the text ends in the middle of a rule; expected {_describe_expected(problem)}."
        )
    return rule_error(terms.end(), "this cannot be read as a rule.")


def _describe_character(place: Place) -> str:
    rest = place.text[place.column - 1 :]
    if rest[:1] in ("'", '"'):
        return f"the quote {rest[0]} is never closed on this line."
    if rest[:1] == "$":
        return "a '$' begins the name of a group, such as $BEGIN."
    if rest[:1] == "?" and not place.text[: place.column - 1].strip():
        return (
            "a weight is a number, and no '?'. Give each rule one; all are learnt with --set learn_weights=true (in "
            "Python LogicLNCL(learn_weights=True))."
        )
    return f"unexpected character {rest[:1]!r}."


def _describe_expected(problem: UnexpectedToken | UnexpectedEOF) -> str:
    terminals = (
        set(problem.accepts or problem.expected) if isinstance(problem, UnexpectedToken) else set(problem.expected)
    )
    if "$END" in terminals and "NAME" in terminals:
        return "a rule, or the end of the text"
    if {"NAME", "LPAREN", "NUMBER"} <= terminals:
        return "an atom, such as Label(S, C)"
    known = [name for terminal, name in TERMINALS.items() if terminal in terminals]
    return " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known) or "something else"


def _refuse_other_meaning(
    statement: IncludedFile, theirs: dict[str, tuple[Constant, ...]], ours: dict[str, tuple[Constant, ...]]
) -> None:
    """Groups hold for all files together, so two meanings of a name would change the rules of one of them."""
    for name, members in theirs.items():
        if name in ours and set(members) != set(ours[name]):
            raise rule_error(
                statement.place,
                f"{statement.path!r} gives the group ${name} other members than it has here already. "
                f"Give one of the two another name.",
            )
