"""Suggested rules in a review: each can be accepted, edited or rejected.

They are read from a file that `crowdlogic rules suggest` wrote, in which comments precede each rule. The decisions are
stored in the folder of the review, and the accepted rules are written there as a rule file for `train --rules`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import read_bytes, write_bytes, written_together
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.rules.checking import Severity, check
from crowdlogic.rules.parser import parse_rules

ACCEPTED, STATES = "accepted.rules", "suggestions.json"
"""Files in the folder of the review: the accepted rules, and the decisions on all suggestions."""
MAX_RULES = 1000
MAX_LENGTH = 2000
"""Maximum number of suggestions, and of characters of a rule."""


class RuleState(StrEnum):
    """Decision on a suggested rule."""

    open = "open"
    accepted = "accepted"
    rejected = "rejected"


@dataclass(frozen=True, kw_only=True)
class SuggestedRule:
    """Suggested rule and the decision on it.

    Attributes:
        number: Position in the file, starting at 0.
        suggested: The rule as it was suggested.
        comments: The comments above it: how often it holds, and examples.
        rule: The rule as edited.
        state: Whether it was accepted or rejected.
    """

    number: int
    suggested: str
    comments: list[str]
    rule: str
    state: RuleState = RuleState.open


class Suggestions:
    """Suggested rules of a review, with the decisions on them.

    Args:
        path: File of suggested rules.
        folder: Folder of the review.
        classes: Classes of the labels.
        corpus: The items; None if only their names are known.
    """

    def __init__(self, path: str, folder: Path, *, classes: Classes, corpus: Corpus | None) -> None:
        self.folder, self.classes, self.corpus = folder, classes, corpus
        self._lock = Lock()
        self.rules = self._with_decisions(read_suggestions(path))

    def decide(self, number: int, state: RuleState, rule: str | None = None) -> SuggestedRule:
        """Save a decision on a suggested rule to disk, and return the rule with the decision.

        Args:
            number: Number of the suggestion.
            state: The decision.
            rule: The edited rule; None keeps its text.
        """
        if not 0 <= number < len(self.rules):
            raise OptionError(
                f"number: got {number:,}, but the suggested rules are numbered from 0 to {len(self.rules) - 1:,}."
            )
        text = self.rules[number].rule if rule is None else rule.strip()
        if state is RuleState.accepted:  # only a single valid rule can be accepted
            parsed = parse_rules(text, source="the rule")  # without a folder, no file can be included
            if len(parsed.rules) != 1 or len(parsed) != 1:
                raise OptionError("Expected one rule in a line, such as 1.0: Contains(S, 'great') -> Label(S, 'good').")
            found = check(parsed, classes=self.classes, corpus=self.corpus)
            problem = next((one for one in found if one.severity is Severity.error), None)
            if problem is not None:
                raise OptionError(problem.line)
        with self._lock:
            changed = list(self.rules)
            changed[number] = replace(changed[number], rule=text, state=state)
            kept = [{"suggested": one.suggested, "rule": one.rule, "state": one.state} for one in changed]
            accepted = [one.rule for one in changed if one.state is RuleState.accepted]
            lines = ["# Rules that were accepted in a review.", *accepted]
            with written_together():
                write_bytes(self.folder / STATES, json.dumps(kept, indent=1, ensure_ascii=False).encode())
                write_bytes(self.folder / ACCEPTED, "".join(f"{line}\n" for line in lines).encode())
            self.rules = changed
        return changed[number]

    def _with_decisions(self, rules: list[SuggestedRule]) -> list[SuggestedRule]:
        """Return the rules with earlier decisions in the folder, by their suggested text."""
        path = self.folder / STATES
        if not path.exists():
            return rules
        try:
            known = {one["suggested"]: one for one in json.loads(read_bytes(path))}
            return [
                replace(rule, rule=str(known[rule.suggested]["rule"]), state=RuleState(known[rule.suggested]["state"]))
                if rule.suggested in known
                else rule
                for rule in rules
            ]
        except (ValueError, KeyError, TypeError) as problem:
            raise FormatError(
                f"{path}: not a list of decisions on suggested rules. Delete it to start over."
            ) from problem


def read_suggestions(path: str) -> list[SuggestedRule]:
    """Read a file of suggested rules, with the comments above each rule."""
    rules: list[SuggestedRule] = []
    comments: list[str] = []
    for row, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), 1):
        text = line.strip()
        if not text:
            comments = []
        elif text.startswith("#"):
            comments.append(text.lstrip("# "))
        else:
            parsed = parse_rules(text, source=f"{path}, line {row}")
            if len(parsed) != 1 or len(parsed.rules) != 1 or len(text) > MAX_LENGTH:
                raise FormatError(f"{path}, line {row}: expected one rule in a line, as `rules suggest` writes them.")
            rules.append(SuggestedRule(number=len(rules), suggested=text, comments=comments, rule=text))
            comments = []
    if not 0 < len(rules) <= MAX_RULES:
        raise FormatError(f"{path}: expected 1 to {MAX_RULES:,} rules, found {len(rules):,}.")
    return rules
