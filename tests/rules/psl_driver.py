"""Runs rule programs through the PSL engine; started by test_psl_conformance with a Python that has pslpython.

Reads a JSON list of programs from standard input and writes, for each, the engine's groundings: the rule, the Label
atoms, and the distance to satisfaction that the engine itself computes from the atoms' truth values.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import jpype
import jpype.imports
from pslpython import runtime
from pslpython.model import Model
from pslpython.partition import Partition
from pslpython.predicate import Predicate
from pslpython.rule import Rule

OPTIONS = {
    "runtime.log.level": "OFF",
    "runtime.learn": False,
    "runtime.inference": True,
    "runtime.inference.output.results": False,
    "inference.skip": True,
    "inference.initialvalue": "ATOM",
    "inference.normalize": False,
}


def model_of(program: dict[str, Any]) -> Model:
    model = Model("conformance")
    label = Predicate("Label", size=2)
    model.add_predicate(label)
    label.add_data(Partition.TARGETS, program["labels"])
    for name, (width, rows) in program["facts"].items():
        predicate = Predicate(name, size=width)
        model.add_predicate(predicate)
        predicate.add_data(Partition.OBSERVATIONS, rows)
    for text in program["rules"]:
        model.add_rule(Rule(text))
    return model


def collected(program: dict[str, Any]) -> list[Any]:
    """The engine's ground rules, as it makes them."""
    from org.linqs.psl.grounding import Grounding
    from org.linqs.psl.model.rule import WeightedGroundRule
    from org.linqs.psl.model.rule.logical import AbstractGroundLogicalRule

    found: list[Any] = []

    def call(ground: Any) -> None:
        weighted = isinstance(ground, WeightedGroundRule)
        gap = float(ground.getIncompatibility() if weighted else ground.getInfeasibility())
        atoms = sorted(
            {(str(a.getPredicate().getName()), *(strip(t) for t in a.getArguments())) for a in ground.getAtoms()}
        )
        most = most_violated(ground) if isinstance(ground, AbstractGroundLogicalRule) else None
        found.append([atoms, gap, most])

    proxy = jpype.JProxy("org.linqs.psl.grounding.Grounding$GroundRuleCallback", dict={"call": call})
    Grounding.setGroundRuleCallback(proxy)
    config = model_of(program)._prep_config(OPTIONS)
    runtime.run(config)
    Grounding.setGroundRuleCallback(None)
    return found


def most_violated(ground: Any) -> float:
    """The largest distance that any truth of the open atoms could give; the engine keeps the negated clause."""
    from org.linqs.psl.model.atom import ObservedAtom

    missing = [1.0 - a.getValue() for a in ground.getPositiveAtoms() if isinstance(a, ObservedAtom)]
    met = [float(a.getValue()) for a in ground.getNegativeAtoms() if isinstance(a, ObservedAtom)]
    return 1.0 - sum(missing) - sum(met)


def strip(term: Any) -> str:
    return str(term.toString()).strip("'")


def main() -> None:
    programs = json.load(sys.stdin)
    runtime._init([])
    answers = [collected(program) for program in programs]
    sys.stdout.write("ANSWERS" + json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
