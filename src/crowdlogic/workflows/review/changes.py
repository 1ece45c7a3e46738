"""What a re-fit changed, in figures and in one sentence.

Axes: i unit, j annotator, l rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.workflows.review.rule_views import rule_name
from crowdlogic.workflows.review.standing import NO_FLAG, AnnotatorStanding

MOST_NAMED = 3
"""How many annotators and rules a sentence names."""
ENOUGH_DECISIONS = 3
"""With fewer decisions that a rule speaks of, it is not named."""


@dataclass(frozen=True, kw_only=True)
class NewFlag:
    """An annotator who stands otherwise than before."""

    annotator: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class ContradictedRule:
    """A rule that decisions contradict more often than not: so many of those that it speaks of."""

    rule: str
    against: int
    decisions: int


@dataclass(frozen=True, kw_only=True)
class RefitChanges:
    """What a re-fit changed.

    Attributes:
        decisions: How many decisions came in since the last one.
        changed: How many answers changed that nobody had decided.
        mistakes_before: Expected mistakes among the answers that nobody decided, before.
        mistakes_after: The same afterwards.
        flags: Annotators who stand otherwise than before.
        rules: Rules that decisions contradict.
        seconds: How long it took.
        with_classifier: Whether the classifier learnt, too.
    """

    decisions: int
    changed: int
    mistakes_before: float
    mistakes_after: float
    flags: tuple[NewFlag, ...] = ()
    rules: tuple[ContradictedRule, ...] = ()
    seconds: float = 0.0
    with_classifier: bool = False

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        return "; ".join(self._parts()) + "."

    def _rise(self) -> str:
        """Why there may be more expected mistakes than before, where there are."""
        if round(self.mistakes_after) <= round(self.mistakes_before):
            return ""
        return " (more, since your decisions make the annotators look less reliable: other answers are now less sure)"

    def _parts(self) -> Iterator[str]:
        answers = pluralise(self.changed, "other answer")
        yield f"{pluralise(self.decisions, 'decision')} changed {answers}"
        before, after = f"{self.mistakes_before:,.0f}", f"{self.mistakes_after:,.0f}"
        yield f"expected mistakes among the answers left {before} → {after}{self._rise()}"
        for one in self.flags[:MOST_NAMED]:
            yield _describe_flag(one)
        if len(self.flags) > MOST_NAMED:
            yield f"{len(self.flags) - MOST_NAMED} more annotators stand otherwise"
        for rule in self.rules[:MOST_NAMED]:
            yield f"{rule_name(rule.rule)} contradicts {rule.against} of {pluralise(rule.decisions, 'decision')}"


def _describe_flag(one: NewFlag) -> str:
    if one.after == NO_FLAG:
        return f"{shorten_name(one.annotator)} is no longer {one.before!r}"
    return f"{shorten_name(one.annotator)} is now {one.after!r}"


def new_flags(before: Sequence[AnnotatorStanding], after: Sequence[AnnotatorStanding]) -> tuple[NewFlag, ...]:
    """The annotators whose flag is another one; those with the most labels first."""
    found = [
        (new.n_labels, NewFlag(annotator=new.name, before=old.flag, after=new.flag))
        for old, new in zip(before, after, strict=True)
        if old.flag != new.flag
    ]
    return tuple(flag for _, flag in sorted(found, key=lambda pair: -pair[0]))


def contradicted_rules(texts: Sequence[str], counts: Sequence[tuple[int, int]]) -> tuple[ContradictedRule, ...]:
    """The rules that contradict more than half of the decisions that they speak of; the worst first."""
    found = [
        ContradictedRule(rule=text, against=against, decisions=total)
        for text, (against, total) in zip(texts, counts, strict=True)
        if total >= ENOUGH_DECISIONS and 2 * against > total
    ]
    return tuple(sorted(found, key=lambda one: -one.against / one.decisions))
