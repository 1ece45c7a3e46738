"""Logical rules over labels: from a text file to a posterior.

rules = read_rules("sentiment.rules")
for finding in check(rules, classes=classes, corpus=corpus): ...
projector = Projector(rules=rules, strength=5.0)
ground = projector.ground(corpus, classes)                        # once
q_b = projector.project(q_a, ground, predict=classifier).q_b      # every epoch
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
