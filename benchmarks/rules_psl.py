"""Ground the BIO or the contrast rule in the PSL engine.

Run by rules_speed, in an environment that has pslpython and Java:

    python benchmarks/rules_psl.py bio 10000

It prints the seconds of the second grounding, since the first one starts the Java virtual machine.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

TYPES = ("LOC", "MISC", "ORG", "PER")
LENGTH = 14
SHARE = 15
"""Percentage of texts that contain the word."""


def parts() -> tuple[Any, Any, Any, Any]:
    """Return Model, Predicate, Partition and Rule of pslpython, which the type checker's environment does not have."""
    names = ("Model", "Predicate", "Partition", "Rule")
    found = [getattr(import_module(f"pslpython.{name.lower()}"), name) for name in names]
    return found[0], found[1], found[2], found[3]


def bio(count: int) -> Any:
    """Build the BIO rules over sentences of equal length."""
    model_of, predicate_of, partition, rule_of = parts()
    built = model_of("bio")
    label, previous, first = (predicate_of(name, size=n) for name, n in (("Label", 2), ("Previous", 2), ("First", 1)))
    for predicate in (label, previous, first):
        built.add_predicate(predicate)
    tags = [f"{prefix}-{kind}" for kind in TYPES for prefix in "BI"] + ["O"]
    label.add_data(partition.TARGETS, [[str(i), tag] for i in range(count) for tag in tags])
    later = [i for i in range(count) if i % LENGTH]
    previous.add_data(partition.OBSERVATIONS, [[str(i), str(i - 1)] for i in later])
    first.add_data(partition.OBSERVATIONS, [[str(i)] for i in range(0, count, LENGTH)])
    for kind in TYPES:
        either = f"Label(P, 'B-{kind}') | Label(P, 'I-{kind}')"
        built.add_rule(rule_of(f"1.0: Label(T, 'I-{kind}') & Previous(T, P) -> {either}"))
        built.add_rule(rule_of(f"1.0: First(T) -> !Label(T, 'I-{kind}')"))
    return built


def contrast(count: int) -> Any:
    """Build the contrast rule; which texts contain the word is given as facts, since the engine does not read texts."""
    model_of, predicate_of, partition, rule_of = parts()
    built = model_of("contrast")
    label, after, predicted = (predicate_of(name, size=n) for name, n in (("Label", 2), ("After", 3), ("Predicted", 2)))
    for predicate in (label, after, predicted):
        built.add_predicate(predicate)
    label.add_data(partition.TARGETS, [[str(i), k] for i in range(count) for k in ("neg", "pos")])
    clauses = [i for i in range(count) if i % 100 < SHARE]
    after.add_data(partition.OBSERVATIONS, [[str(i), "but", f"clause{i}"] for i in clauses])
    predicted.add_data(partition.OBSERVATIONS, [[f"clause{i}", k, 0.5] for i in clauses for k in ("neg", "pos")])
    built.add_rule(rule_of("1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"))
    return built


def main() -> None:
    """Ground twice and print the second time."""
    make, count = {"bio": bio, "contrast": contrast}[sys.argv[1]], int(sys.argv[2])
    quiet = {"log4j.threshold": "OFF", "runtime.log.level": "OFF"}
    for _ in range(2):
        built = make(count)
        began = time.perf_counter()
        built.ground(psl_options=quiet)
        seconds = time.perf_counter() - began
    print(seconds)


if __name__ == "__main__":
    main()
