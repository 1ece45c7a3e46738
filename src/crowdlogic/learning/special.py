"""The special cases of Algorithm 1 that have names of their own.

[AGG] Albarqouni et al., "AggNet: deep learning from crowds", 2016: a network and confusion matrices by EM, no rules.
[RAY] Raykar et al., "Learning from crowds", 2010: the same with a linear classifier.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import OptionError
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet


@dataclass(frozen=True)
class AggNet(LogicLNCL):
    """[AGG]: Algorithm 1 without rules, with eq. 6's loss."""

    name = "aggnet"

    def teacher(self, task: Task, rules: RuleSet | None, vocabulary: Vocabulary | None) -> Teacher:
        """No rules: with any, it would be Logic-LNCL."""
        made = super().teacher(task, rules, vocabulary)
        if not made.is_idle:
            raise OptionError(f"{self.name} has no place for rules or transitions. Use logic-lncl, or leave them out.")
        return made


@dataclass(frozen=True)
class Raykar(AggNet):
    """[RAY]: AggNet with the linear classifier."""

    name = "raykar"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.classifier, Linear):
            raise OptionError(f"{self.name} has a linear classifier, not {self.classifier.name}. Use aggnet for that.")
