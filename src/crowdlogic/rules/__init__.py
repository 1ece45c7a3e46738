"""Logical rules over labels: from a text file to a posterior.

rules = read_rules("sentiment.rules")
for finding in check(rules, classes=classes, corpus=corpus): ...
ground = ground_rules(rules, corpus, classes)          # once
q_b = project(q_a, ground, predict=classifier).q_b     # every epoch
for judged in audit(q_a, ground, predict=classifier): ...
"""

from crowdlogic.rules.audit import RuleAudit, Verdict, audit
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.checking import check
from crowdlogic.rules.contributions import Shares, rule_shares
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.potentials import PerUnit
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import PRESETS, Preset, Projection, Result, Settling, Start, project
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable, conll_transitions, estimate_transitions, transition_table
from crowdlogic.rules.variables import Finding, Severity
from crowdlogic.rules.weights import estimate_weights

__all__ = [
    "PRESETS",
    "Finding",
    "GroundRules",
    "PerUnit",
    "Predictions",
    "Preset",
    "Projection",
    "Result",
    "RuleAudit",
    "RuleSet",
    "Settling",
    "Severity",
    "Shares",
    "Start",
    "TransitionTable",
    "Verdict",
    "Vocabulary",
    "audit",
    "check",
    "conll_transitions",
    "estimate_transitions",
    "estimate_weights",
    "expand",
    "ground_rules",
    "parse_rules",
    "project",
    "read_rules",
    "rule_shares",
    "transition_table",
]
