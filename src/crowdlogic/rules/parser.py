"""Parse rules into a syntax tree. Syntax errors and unsupported features of PSL are reported with a caret.

A rule file cannot run code: the grammar has no construct for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import UnexpectedEOF

from crowdlogic.errors import MissingDataError, RuleError
from crowdlogic.rules.syntax import (
    EQUAL,
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    GroupName,
    IncludedSet,
    Literal,
    LogicalRule,
    Place,
    Rule,
    RuleSet,
    Summand,
    Term,
    Variable,
    find_nearby,
    opposite,
    read_nearby,
    rule_error,
)

# Nodes of lark's parse tree.

Node: TypeAlias = "Tree[Token] | Token"


def kind(node: Node) -> str:
    """Return the name of the grammar rule or terminal that matched a node."""
    return str(node.data) if isinstance(node, Tree) else node.type


def children(node: Node) -> list[Node]:
    """Return the children of a node; a token has none."""
    return list(node.children) if isinstance(node, Tree) else []


def flatten_chain(node: Node, joint: str) -> list[tuple[str, Node]]:
    """Return the parts of a chain a + b - c, which the grammar nests to the left, each with the operator before it."""
    parts = []
    while kind(node) == joint:
        node, operator, last = children(node)
        parts.append((str(operator), last))
    return [("", node), *reversed(parts)]


# Conversion of lark's parse tree to the syntax tree.
#
# The grammar accepts a general kind of expression, which is converted to a clause (body -> head) or to a linear
# inequality. The depth of nesting is limited, so that no text can exhaust the stack.

ESCAPED = {"\\": "\\", "'": "'", '"': '"', "t": "\t", "n": "\n", "r": "\r"}

MAX_DEPTH = 100
"""The deepest nesting of parentheses and negations."""
TOO_DEEP = f"parentheses and negations are nested more than {MAX_DEPTH} deep."

MAX_WEIGHT = 1e6
"""Maximum weight, since larger ones are probably meant as hard rules."""

MAX_NUMBER = 1e100
"""Maximum absolute value of a coefficient; it also excludes infinity and NaN."""

ARITHMETIC = ("sum", "product", "minus", "scaled", "number", "cardinality", "function")

WEIGHTED_AND_HARD = (
    "a rule cannot have both a weight in front and a full stop at the end: it is either weighted or hard."
)
LOGIC_IN_ARITHMETIC = "logical connectives cannot be used in arithmetic; write a logical rule."
REFUSED_IN_ARITHMETIC = {
    "cardinality": "the cardinality |X| of PSL is not supported; write the number.",
    "function": "@Max and @Min of PSL are not supported; write the number.",
    "comparison": "a comparison cannot be used in an arithmetic rule.",
    "bare": "an arithmetic rule consists of atoms and numbers.",
} | dict.fromkeys(("implication", "disjunction", "conjunction", "negation", "relation"), LOGIC_IN_ARITHMETIC)
"""Error messages for grammar rules that cannot be part of a linear form."""

Linear: TypeAlias = tuple[list[Summand], float]
"""A linear form: coefficients times atoms, and a constant."""


def scale(form: Linear, factor: float) -> Linear:
    """Return a linear form times a number."""
    summands, constant = form
    return [replace(term, coefficient=term.coefficient * factor) for term in summands], constant * factor


@dataclass(frozen=True)
class IncludedFile:
    """Statement that includes another rule file: include 'file'."""

    path: str
    place: Place


@dataclass(frozen=True)
class GroupDefinition:
    """Definition of a group of constants: $NAME = {'a', 'b'}."""

    name: str
    members: tuple[Constant, ...]
    place: Place


Statement: TypeAlias = Rule | IncludedSet | IncludedFile | GroupDefinition


@dataclass(frozen=True)
class TreeBuilder:
    """Converter of the parse trees of one source into syntax.

    Attributes:
        source: Name of the text in messages.
        lines: Its lines.
        folder: Folder of the rule file; None for a text that was not read from a file.
        root: Folder that must contain all files named in the rules; None for any folder.
    """

    source: str
    lines: list[str]
    folder: Path | None = None
    root: Path | None = None

    def place(self, line: int, column: int) -> Place:
        """Return a place by line and column."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return Place(source=self.source, line=line, column=column, text=text, folder=self.folder, root=self.root)

    def end(self) -> Place:
        """Return the end of the last line that is not empty."""
        last = max((n for n, line in enumerate(self.lines, start=1) if line.strip()), default=1)
        return self.place(last, len(self.lines[last - 1].rstrip()) + 1)

    def at(self, node: Node) -> Place:
        """Return where a node begins."""
        where = node if isinstance(node, Token) else node.meta
        return self.place(getattr(where, "line", None) or 1, getattr(where, "column", None) or 1)

    def error(self, node: Node, what: str) -> RuleError:
        """Return an error whose message points at a node."""
        return rule_error(self.at(node), what)

    def statement(self, tree: Tree[Token]) -> Statement:
        """Convert one statement: a rule, the definition of a group, or an include."""
        if tree.data == "include":
            return self._include(tree)
        if tree.data != "group":
            return self._rule(tree)
        name, *members = [child for child in tree.children if isinstance(child, Token)]
        if not members:
            raise self.error(name, f"the group {name} has no members.")
        return GroupDefinition(str(name)[1:], tuple(map(self.constant, members)), self.at(name))

    def _include(self, tree: Tree[Token]) -> Statement:
        weight_node, keyword, name, *rest = tree.children
        tokens = [child for child in rest if isinstance(child, Token)]
        hard = any(token.type == "PERIOD" for token in tokens)
        if weight_node is not None and hard:
            raise self.error(keyword, WEIGHTED_AND_HARD)
        if isinstance(name, Token) and name.type == "STRING":
            if weight_node is not None or hard:
                raise self.error(keyword, "a file's rules have their own weights; write include 'file' alone.")
            return IncludedFile(self.constant(name).value, self.at(keyword))
        weight, insisted = (1.0, False) if weight_node is None else self._weight(weight_node)
        arguments = tuple(self.constant(token).value for token in tokens if token.type == "STRING")
        return IncludedSet(str(name), arguments, None if hard else weight, self.at(name), insisted)

    def _rule(self, tree: Tree[Token]) -> Rule:
        weight_node, expression, exponent, period, *filters = tree.children
        if filters:
            what = "filter clauses {X: ...} of PSL are not supported; name the constants with a $group."
            raise self.error(filters[0], what)
        if weight_node is not None and period is not None:
            raise self.error(period, WEIGHTED_AND_HARD)
        if weight_node is None and period is None:
            what = "a rule needs a weight in front (1.0: ...), or a full stop at its end to be hard."
            raise self.error(tree, what)
        if exponent is not None and period is not None:
            raise self.error(exponent, "a hard rule is never violated, so its distance cannot be squared.")
        weight, insisted = (None, False) if weight_node is None else self._weight(weight_node)
        power = "1" if exponent is None else str(exponent)[1:].strip()
        if exponent is not None and power not in ("1", "2"):
            raise self.error(exponent, f"a distance can be plain (^1) or squared (^2), not ^{power}.")
        rule = self._expression(expression, weight, power == "2", self.at(tree))
        return replace(rule, insisted=insisted)

    def _weight(self, tree: Node) -> tuple[float, bool]:
        """Return a weight, and whether an exclamation mark after it marks it as fixed."""
        minus, number, mark = children(tree)
        weight = float(str(number))
        if minus is not None and weight > 0:
            raise self.error(minus, "a weight cannot be negative. Negate the rule instead.")
        if weight > MAX_WEIGHT:
            raise self.error(number, f"a weight of {number} is too large. End a hard rule with a full stop instead.")
        if mark is not None and str(mark) != "!":
            raise self.error(mark, f"unexpected {str(mark)!r}. To keep a weight, write {number}!:")
        return weight, mark is not None

    def _expression(self, node: Node, weight: float | None, squared: bool, place: Place) -> Rule:
        """Convert an expression to a rule: an inequality, or a clause."""
        if kind(node) == "relation":
            left, relation, right = children(node)
            if str(relation) in ("<", ">"):
                raise self.error(relation, f"truth values cannot be compared strictly; write {relation}=.")
            # Move everything but the constant to the left
            ours, theirs = self._linear(left, 0), scale(self._linear(right, 0), -1.0)
            summands, constant = tuple(ours[0] + theirs[0]), -theirs[1] - ours[1]
            if not summands:
                raise self.error(relation, "an arithmetic rule needs an atom.")
            if not all(abs(number) <= MAX_NUMBER for number in (constant, *(one.coefficient for one in summands))):
                raise self.error(relation, f"a number of this rule is beyond {MAX_NUMBER:g}.")
            return ArithmeticRule(weight, summands, str(relation), constant, squared, place)
        if kind(node) in ARITHMETIC:
            raise self.error(node, "an arithmetic rule needs a relation: <=, >= or =.")

        body: list[Literal] = []
        if kind(node) == "implication":
            left, arrow, right = children(node)
            if str(arrow) not in ("->", ">>"):
                left, right = right, left
            body = self._side(left, "conjunction", "a body", 0)
            head = self._side(right, "disjunction", "a head", 0)
        else:
            head = self._side(node, "disjunction", "a rule without an arrow", 0)
        # A comparison in the head moves to the body as its opposite; the clause is the same.
        body += [opposite(literal) for literal in head if literal.atom.is_comparison]
        head = [literal for literal in head if not literal.atom.is_comparison]
        return LogicalRule(weight, tuple(body), tuple(head), squared, place)

    # Clauses.

    def _side(self, node: Node, joint: str, where: str, depth: int) -> list[Literal]:
        """Return the literals of one side of a rule, which are joined by one connective; parentheses are ignored."""
        found: list[Literal] = []
        for _, part in flatten_chain(node, joint):
            if kind(part) == "inside" and depth < MAX_DEPTH:
                found += self._side(children(part)[1], joint, where, depth + 1)
            else:
                found.append(self._literal(part, where, depth))
        return found

    def _literal(self, node: Node, where: str, depth: int) -> Literal:
        negated = False
        while kind(node) in ("negation", "inside"):
            depth += 1
            if depth > MAX_DEPTH:
                raise self.error(node, TOO_DEEP)
            negated ^= kind(node) == "negation"
            node = children(node)[-1]
        self._refuse_in_clause(node, where, negated)
        atom = self._comparison(node) if kind(node) == "comparison" else self.atom(node)
        if any(term.summed for term in atom.variables()):
            raise rule_error(atom.place, "a sum such as +C can only be used in arithmetic rules.")
        return opposite(Literal(atom)) if negated and atom.is_comparison else Literal(atom, negated)

    def _refuse_in_clause(self, node: Node, where: str, negated: bool) -> None:
        what = kind(node)
        if what in ("conjunction", "disjunction") and negated:
            raise self.error(node, "only atoms can be negated. Move the '!' inside: !(A & B) is !A | !B.")
        if what in ("conjunction", "disjunction"):
            joint = "&" if what == "conjunction" else "|"
            raise self.error(node, f"{where} cannot contain '{joint}'. Write one rule for each part.")
        if what in ("implication", "relation"):
            raise self.error(node, f"{where} consists of atoms; a rule contains only one arrow or relation.")
        if what in ("sum", "product") and all(kind(child) == "bare" for child in children(node)[::2]):
            raise self.error(node, "X - Y as a comparison is not supported; write X != Y.")
        if what in ARITHMETIC:
            only = "arithmetic is only allowed in rules with <=, >= or =."
            raise self.error(node, f"{where} consists of atoms; {only}")
        if what == "bare":
            name = children(node)[0]
            raise self.error(node, f"{name} is not an atom; an atom looks like Label(S, 'pos') or X != Y.")

    def _comparison(self, node: Node) -> Atom:
        left, operator, right = children(node)
        if str(operator) in ("%", "^"):
            raise self.error(operator, f"the comparison {operator} of PSL is not supported; use == or !=.")
        if not kind(left) == kind(right) == "bare":
            raise self.error(operator, f"{operator} compares two terms, such as X {operator} 'pos'.")
        terms = tuple(self.term([children(side)[0]]) for side in (left, right))
        return Atom(EQUAL if str(operator) == "==" else UNEQUAL, terms, self.at(left))

    # Linear forms.

    def _linear(self, node: Node, depth: int) -> Linear:
        if depth > MAX_DEPTH:
            raise self.error(node, TOO_DEEP)
        what = kind(node)
        if what == "sum":
            summands: list[Summand] = []
            constant = 0.0
            for operator, part in flatten_chain(node, "sum"):
                more, number = scale(self._linear(part, depth + 1), -1.0 if operator == "-" else 1.0)
                summands, constant = summands + more, constant + number
            return summands, constant
        if what == "product":
            (_, first), *factors = flatten_chain(node, "product")
            result = self._linear(first, depth + 1)
            for operator, part in factors:
                other = self._linear(part, depth + 1)
                if operator == "/" and (other[0] or other[1] == 0):
                    raise self.error(part, "a rule can only be divided by a number other than 0.")
                if operator == "/":
                    result = scale(result, 1 / other[1])
                elif result[0] and other[0]:
                    raise self.error(part, "a product of two atoms is not linear.")
                else:
                    result = scale(result, other[1]) if result[0] else scale(other, result[1])
            return result
        if what in ("inside", "minus"):
            return scale(self._linear(children(node)[1], depth + 1), -1.0 if what == "minus" else 1.0)
        if what == "scaled":
            number_node, rest = children(node)
            return scale(self._linear(rest, depth + 1), float(str(number_node)))
        if what == "number":
            return [], float(str(children(node)[0]))
        if what in REFUSED_IN_ARITHMETIC:
            raise self.error(node, REFUSED_IN_ARITHMETIC[what])
        return [Summand(1.0, self.atom(node))], 0.0

    # Atoms and terms.

    def atom(self, node: Node) -> Atom:
        """Return a predicate and its terms."""
        name, _, *terms = children(node)
        return Atom(str(name), tuple(self.term(children(term)) for term in terms), self.at(name))

    def term(self, parts: list[Node]) -> Term:
        """Return a variable, a constant or the name of a group; a plus in front sums over a variable."""
        token = parts[-1]
        plus = len(parts) > 1 and parts[0] is not None
        if not isinstance(token, Token):
            raise RuleError(f"{self.source}: a term is missing.")
        if token.type == "NUMBER":
            raise self.error(token, f"constants are quoted: write '{token}'.")
        if plus and token.type != "NAME":
            raise self.error(token, f"+{token}: only a variable can be summed over.")
        if token.type == "STRING":
            return self.constant(token)
        if token.type == "GROUP":
            return GroupName(str(token)[1:], self.at(token))
        return Variable(str(token), self.at(token), summed=plus)

    def constant(self, token: Token) -> Constant:
        """Return a quoted constant, with its escapes resolved."""
        place, text, value = self.at(token), str(token)[1:-1], []
        characters: Iterator[tuple[int, str]] = iter(enumerate(text))
        for at, character in characters:
            if character != "\\":
                value.append(character)
                continue
            escaped = next(characters)[1]
            if escaped not in ESCAPED:
                where = replace(place, column=place.column + at + 1)
                raise rule_error(where, f"unknown escape \\{escaped}; known are \\\\, \\', \\\", \\t, \\n and \\r.")
            value.append(ESCAPED[escaped])
        return Constant("".join(value), place)


MAX_LENGTH = 1_000_000
"""Maximum length of a rule file; a data file passed by mistake is rejected before it is parsed."""

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
"""Names of terminals in messages. Others, such as arithmetic operators, are left out to keep the messages short."""


MAX_FILES, MAX_INCLUDE_DEPTH = 200, 20
"""Maximum number of included files, and maximum depth of includes."""


@dataclass(eq=False)
class _Reading:
    """Reader of a rule file and of the files that it includes.

    Attributes:
        root: Folder that must contain all files; None for any folder.
        files: Number of included files so far.
        within: The files that are being read: the first one, a file that it includes, and so on.
    """

    root: Path | None
    files: int = 0
    within: list[Path] = field(default_factory=list)

    def read(self, path: Path) -> RuleSet:
        """Return the rules of a file."""
        self.within.append(path)
        found = self.assemble(_decode(read_nearby(path), path), path.name, path.parent)
        self.within.pop()
        return found

    def assemble(self, text: str, source: str, folder: Path | None) -> RuleSet:
        """Return the rules of a text and of the files that it includes."""
        found: list[Rule | IncludedSet] = []
        groups: dict[str, tuple[Constant, ...]] = {}
        if len(text) > MAX_LENGTH:
            raise RuleError(
                f"{source}: too long for a rule file: {len(text):,} characters; the maximum is {MAX_LENGTH:,}."
            )
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise RuleError(f"{source}: contains a lone surrogate, which is not valid text.")
        builder = TreeBuilder(source, _split_lines(text), folder, self.root)
        try:
            tree = _grammar().parse("\n".join(builder.lines))
        except UnexpectedInput as problem:
            raise _syntax_error(problem, builder) from None
        for statement in [builder.statement(child) for child in tree.children if isinstance(child, Tree)]:
            if isinstance(statement, IncludedFile):
                other = self._include(statement, folder)
                found.extend(other.statements)
                for name, members in other.groups.items():
                    # Groups apply to all files, so a second meaning would change the rules of one of the files
                    if name in groups and set(members) != set(groups[name]):
                        raise rule_error(
                            statement.place,
                            f"{statement.path!r} gives the group ${name} other members than it has here already. "
                            f"Give one of the two another name.",
                        )
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
        if not os.path.isfile(path):  # also for names that are too long, where Path.is_file raises
            raise rule_error(statement.place, f"there is no file {statement.path!r:.80} beside this one.")
        self.files += 1
        if self.files > MAX_FILES or len(self.within) > MAX_INCLUDE_DEPTH:
            raise rule_error(
                statement.place,
                f"files are included more than {MAX_FILES} times, or more than {MAX_INCLUDE_DEPTH} deep.",
            )
        return self.read(path)


def parse_rules(text: str, *, source: str = "the rules", folder: Path | None = None) -> RuleSet:
    """Return the rules in a text.

    Args:
        text: Text of a rule file.
        source: Name of the text in messages.
        folder: Folder of included files and word lists; without it, files cannot be included.
    """
    return _Reading(folder).assemble(text, source, folder)


def as_rules(rules: RuleSet | str | Path | Sequence[str] | None) -> RuleSet | None:
    """Convert rules to a RuleSet: a text, a list of texts, or the path of a file."""
    if rules is None or isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, Path):
        return read_rules(rules)
    if isinstance(rules, list | tuple) and all(isinstance(one, str) for one in rules):
        rules = "\n".join(rules)
    if not isinstance(rules, str):
        raise RuleError(
            f"rules: a {type(rules).__name__} cannot be used as rules. Pass their text, a list of texts, or "
            f"read_rules('my.rules')."
        )
    if rules.strip().endswith(".rules") and "\n" not in rules.strip():
        raise RuleError(f"rules: {rules!r} names a file. Read it: rules=read_rules({rules!r}).")
    return parse_rules(rules)


def read_rules(path: str | Path, *, allow_outside: bool = False) -> RuleSet:
    """Return the rules of a file and of the files that it includes.

    Args:
        path: The rule file.
        allow_outside: Whether it may name files (included files, word lists) outside its folder.
    """
    given = Path(path)
    if not os.path.isfile(given):
        raise MissingDataError(f"{path}: there is no such rule file.")
    return _Reading(None if allow_outside else given.parent.resolve()).read(given.resolve())


MAX_SYNTAX_ERRORS = 20
"""Maximum number of syntax errors that are reported at once."""


def find_syntax_errors(path: str | Path, *, allow_outside: bool = False) -> list[RuleError]:
    """Return all syntax errors of a rule file in order. After each error, that line is removed and parsing repeated.

    Args:
        path: The rule file.
        allow_outside: Whether it may name files outside its folder.
    """
    home = Path(path).resolve()
    lines = _split_lines(_decode(read_nearby(home), home))
    builder = TreeBuilder(home.name, lines, home.parent, None if allow_outside else home.parent)
    lines = list(builder.lines)
    found: list[RuleError] = []
    while len(found) < MAX_SYNTAX_ERRORS:
        try:
            tree = _grammar().parse("\n".join(lines))
        except UnexpectedInput as problem:
            found.append(_syntax_error(problem, builder))
            line = problem.line if isinstance(problem, UnexpectedCharacters) else -1
            if isinstance(problem, UnexpectedToken) and problem.token.type != "$END":
                line = problem.token.line or -1
            # If a weight at the beginning of a line was not expected, the rule before it is incomplete
            starts = line > 0 and re.fullmatch(r"[\s\d.]*", lines[line - 1][: max(problem.column - 1, 0)]) is not None
            filled = [n for n, one in enumerate(lines, start=1) if one.strip() and (line < 0 or n < line)]
            at = filled[-1] if (line < 0 or starts) and filled else line
            if at < 1 or not lines[at - 1].strip():
                break
            lines[at - 1] = ""
            continue
        for child in tree.children:
            if isinstance(child, Tree):
                try:
                    builder.statement(child)
                except RuleError as wrong:
                    found.append(wrong)
        break
    places = [re.search(r":(\d+):(\d+): ", str(error)) for error in found]
    order = [(0, 0) if place is None else (int(place[1]), int(place[2])) for place in places]
    return [error for _, error in sorted(zip(order, found, strict=True), key=lambda pair: pair[0])]


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise RuleError(f"{path.name}: cannot be read as a rule file (UTF-8 text): {problem}.") from None


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text without its byte-order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", maybe_placeholders=True, propagate_positions=True)


def _syntax_error(problem: UnexpectedInput, builder: TreeBuilder) -> RuleError:
    if isinstance(problem, UnexpectedCharacters):
        place = builder.place(problem.line, problem.column)
        sign = place.text[place.column - 1 : place.column]
        what = f"unexpected character {sign!r}."
        if sign in ("'", '"'):
            what = f"the quote {sign} is never closed on this line."
        elif sign == "$":
            what = "a '$' begins the name of a group, such as $BEGIN."
        elif sign == "?" and not place.text[: place.column - 1].strip():
            what = (
                "expected a number as weight, found '?'. Give each rule a weight; training lowers it if held-out "
                "labels contradict the rule."
            )
        return rule_error(place, what)
    if isinstance(problem, UnexpectedToken) and problem.token.type != "$END":
        place = builder.place(problem.token.line or 1, problem.token.column or 1)
        if place.text[: place.column].endswith("/*"):
            return rule_error(replace(place, column=place.column - 1), "the comment /* is never closed.")
        return rule_error(place, f"unexpected {str(problem.token)!r}; expected {_describe_expected(problem)}.")
    if isinstance(problem, UnexpectedToken | UnexpectedEOF):
        return rule_error(
            builder.end(), f"the text ends in the middle of a rule; expected {_describe_expected(problem)}."
        )
    return rule_error(builder.end(), "this cannot be read as a rule.")


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
