"""Ground the BIO rules in the PSL engine; run by rules_speed in an environment that has pslpython and Java.

    python benchmarks/rules_psl.py 10000

Prints the seconds that the second grounding takes: the first one starts the Java machine.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

TYPES = ("LOC", "MISC", "ORG", "PER")
LENGTH = 14


def model(count: int) -> Any:
    """The BIO rules over sentences of equal length."""
    # Imported by name: this environment has no pslpython, and the type checker need not look for it.
    predicate_of = import_module("pslpython.predicate").Predicate
    partition, rule_of = import_module("pslpython.partition").Partition, import_module("pslpython.rule").Rule
    built = import_module("pslpython.model").Model("bio")
    label, previous, first = (
        predicate_of("Label", size=2),
        predicate_of("Previous", size=2),
        predicate_of("First", size=1),
    )
    for predicate in (label, previous, first):
        built.add_predicate(predicate)
    tags = [f"{prefix}-{kind}" for kind in TYPES for prefix in "BI"] + ["O"]
    label.add_data(partition.TARGETS, [[str(i), tag] for i in range(count) for tag in tags])
    later = [i for i in range(count) if i % LENGTH]
    previous.add_data(partition.OBSERVATIONS, [[str(i), str(i - 1)] for i in later])
    first.add_data(partition.OBSERVATIONS, [[str(i)] for i in range(0, count, LENGTH)])
    for kind in TYPES:
        built.add_rule(
            rule_of(f"1.0: Label(T, 'I-{kind}') & Previous(T, P) -> Label(P, 'B-{kind}') | Label(P, 'I-{kind}')")
        )
        built.add_rule(rule_of(f"1.0: First(T) -> !Label(T, 'I-{kind}')"))
    return built


def main() -> None:
    """Ground twice, and print the second time."""
    count = int(sys.argv[1])
    quiet = {"log4j.threshold": "OFF", "runtime.log.level": "OFF"}
    for _ in range(2):
        built = model(count)
        began = time.perf_counter()
        built.ground(psl_options=quiet)
        seconds = time.perf_counter() - began
    print(seconds)


if __name__ == "__main__":
    main()
