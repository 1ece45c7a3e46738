"""The predicates that rules may use: one module per family, and the vocabulary that finds them by name.

Built-in predicates are listed once, in `crowdlogic.registry.PREDICATES`. A new one is a `Predicate` in a module and an
entry there; other packages add theirs through the entry points "crowdlogic.predicates".
"""

from crowdlogic.rules.predicates.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
