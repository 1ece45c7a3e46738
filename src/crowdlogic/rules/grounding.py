"""Grounding: from rules over variables to blocks of rows over units.

Done once for a corpus; what depends on the classifier is left open, so that projecting each epoch joins nothing again.

Axes: i unit, k class, l rule, g grounding (row), c assignment of the class variables, t labels of the one or two units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.rules.binding import bind
from crowdlogic.rules.block_builder import build_blocks
from crowdlogic.rules.blocks import Block, Form, PredictedTerm
from crowdlogic.rules.checking import require_valid
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.facts import World
from crowdlogic.rules.findings import Finding
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.relations import MAX_ROWS
from crowdlogic.rules.syntax import Rule, RuleSet


@dataclass(frozen=True, eq=False)
class GroundRule:
    """A rule and its groundings."""

    rule: Rule
    blocks: tuple[Block, ...]

    @property
    def count(self) -> int:
        """How many groundings there are; those that no labelling can violate are left out."""
        return sum(block.count for block in self.blocks)

    @property
    def is_static(self) -> bool:
        """Whether it does not depend on the classifier."""
        return all(block.is_static for block in self.blocks)

    @property
    def units(self) -> Ints:
        """The units that the rule touches, each once."""
        columns = [column for block in self.blocks for column in (block.first, block.second) if column is not None]
        return np.unique(np.concatenate(columns)) if columns else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class GroundRules:
    """Rules grounded over a corpus.

    Attributes:
        rules: Each rule with its groundings.
        corpus: The items.
        classes: The classes.
        texts: The derived texts that Predicted asks about, each once: predict on these, in one batch an epoch.
        asks_units: Whether Predicted asks about the items themselves.
        notices: What was left out, and why.
        cache: What was computed from the groundings alone, for the next projection.
    """

    rules: tuple[GroundRule, ...]
    corpus: Corpus
    classes: Classes
    texts: tuple[str, ...] = ()
    asks_units: bool = False
    notices: tuple[Finding, ...] = ()
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """How many groundings there are in all."""
        return sum(rule.count for rule in self.rules)

    @property
    def is_static(self) -> bool:
        """Whether no rule depends on the classifier."""
        return all(rule.is_static for rule in self.rules)

    def only(self, chosen: Sequence[int]) -> GroundRules:
        """Some of the rules, by position."""
        rules = tuple(self.rules[place] for place in chosen)
        terms = list(_predicted_terms(rules))
        return replace(
            self,
            rules=rules,
            texts=self.texts if any(term.on_text for term in terms) else (),
            asks_units=any(not term.on_text for term in terms),
            cache={},
        )

    def reweight(self, factors: Sequence[float] | Floats) -> GroundRules:
        """The same groundings with the weight of rule l times factors[l]; hard rules stay hard."""
        rules = tuple(
            rule if rule.rule.weight is None else replace(rule, rule=replace(rule.rule, weight=rule.rule.weight * f))
            for rule, f in zip(self.rules, map(float, factors), strict=True)
        )
        return replace(self, rules=rules, cache={})


def ground_rules(
    rules: RuleSet,
    corpus: Corpus,
    classes: Classes,
    *,
    vocabulary: Vocabulary | None = None,
    max_rows: int = MAX_ROWS,
) -> GroundRules:
    """Check rules and ground them over a corpus.

    Args:
        rules: What was read.
        corpus: The items.
        classes: The classes, in the order of the beliefs' columns.
        vocabulary: The predicates; the built-in ones when not given.
        max_rows: Maximum number of rows of one rule, while it is joined and after. Each costs about 8 bytes a variable.
    """
    words = vocabulary or Vocabulary()
    plain = expand(rules, classes)
    require_valid(plain, classes=classes, vocabulary=words, corpus=corpus)
    world = World(corpus, classes, words, max_rows)
    grounded = tuple(GroundRule(rule, tuple(build_blocks(bind(rule, world), world))) for rule in plain.rules)
    return _number_texts(GroundRules(grounded, corpus, classes, notices=tuple(world.notices)), world)


def _predicted_terms(rules: Sequence[GroundRule]) -> Iterator[PredictedTerm]:
    for rule in rules:
        for block in rule.blocks:
            for form in (*block.violations, block.applies):
                yield from form.predicted


def _number_texts(ground: GroundRules, world: World) -> GroundRules:
    """Number the derived texts that Predicted asks about, and note whether it asks about the items themselves."""
    terms = list(_predicted_terms(ground.rules))
    asked = [term.index for term in terms if term.on_text]
    used = np.unique(np.concatenate(asked)) if asked else np.zeros(0, dtype=np.int64)
    if len(used) == 0:
        return replace(ground, asks_units=any(not term.on_text for term in terms))
    rules = tuple(
        replace(rule, blocks=tuple(_renumber_texts(block, used) for block in rule.blocks)) for rule in ground.rules
    )
    return replace(
        ground,
        rules=rules,
        texts=tuple(world.derived.texts.gather(used).to_list()),
        asks_units=any(not term.on_text for term in terms),
    )


def _renumber_texts(block: Block, used: Ints) -> Block:
    def renumber(form: Form) -> Form:
        predicted = tuple(
            replace(term, index=np.searchsorted(used, term.index)) if term.on_text else term for term in form.predicted
        )
        return replace(form, predicted=predicted)

    return replace(block, violations=tuple(map(renumber, block.violations)), applies=renumber(block.applies))
