"""What `train` reads, made ready: labels, items, rules, vectors; and what of it a person should know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.cli.console import percent
from crowdlogic.cli.options import list_of, vocabulary_of
from crowdlogic.cli.settings import Settings
from crowdlogic.cli.several_files import columns_by_file, layout_of
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_corpus, read_crowd
from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.errors import OptionError, RuleError, name_list
from crowdlogic.learning.choosing import Choice, MethodName, method_of
from crowdlogic.learning.training_run import LearningMethod, TrainingData
from crowdlogic.rules.checking import check
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.findings import Severity
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything that a training needs, and what to say of it before it begins."""

    method: LearningMethod
    given: TrainingData
    remarks: tuple[str, ...]


def prepared(settings: Settings) -> Prepared:
    """Read what the settings name, and choose the method."""
    labels, corpus = _labelled(settings)
    dev, test = (None if path is None else _items(settings, path) for path in (settings.dev, settings.test))
    vectors = _vectors(settings)
    choice = Choice(
        settings.method or MethodName.logic_lncl,
        settings.preset,
        settings.model,
        vectors,
        settings.changes,
        settings.device,
    )
    method, preset_rules = method_of(choice, labels.classes)
    rules = preset_rules if settings.rules is None else read_rules(settings.rules)
    vocabulary = vocabulary_of(settings.table)
    watched = {} if test is None else {"test": test}
    given = TrainingData(corpus, labels, rules, vocabulary, dev, watched, settings.plain())
    remarks = (
        *_about_labels(settings, labels, corpus),
        *_about_dev(settings, corpus, dev, method),
        *_about_rules(rules, labels, vocabulary, corpus),
        *_about_vectors(settings, vectors, corpus, method),
    )
    return Prepared(method, given, remarks)


def _labelled(settings: Settings) -> tuple[CrowdLabels, Corpus]:
    """The labels and the items they are of."""
    crowd = read_crowd(
        str(settings.labels),
        format=settings.format,
        columns=_columns(settings)[str(settings.labels)],
        classes=list_of(settings.classes),
        duplicates=settings.duplicates or Duplicates.error,
        wide=settings.wide,
        abstain=settings.abstain,
    )
    if settings.items is not None:
        return align(crowd.labels, _items(settings, settings.items))
    if crowd.corpus is None:
        raise OptionError(f"{settings.labels} holds labels and no texts. Give the items: --items FILE.")
    return crowd.labels, crowd.corpus


def _items(settings: Settings, path: str) -> Corpus:
    return read_corpus(path, format=layout_of(path, settings.format), columns=_columns(settings)[path])


def _columns(settings: Settings) -> dict[str, dict[str, str]]:
    """Which column is what, file by file."""
    others = [path for path in (settings.items, settings.dev, settings.test) if path is not None]
    layouts = {path: layout_of(path, settings.format) for path in others}
    return columns_by_file(settings.column, {**layouts, str(settings.labels): settings.format})


def _vectors(settings: Settings) -> WordVectors | None:
    sets = [read_vectors(path) for path in settings.vectors]
    return concatenate_vectors(*sets) if len(sets) > 1 else sets[0] if sets else None


def _about_labels(settings: Settings, labels: CrowdLabels, corpus: Corpus) -> Iterator[str]:
    yield (
        f"{settings.labels}: {labels.n_labels:,} labels of {len(corpus.items):,} "
        f"{'sentences' if corpus.is_sequential else 'items'} by {len(labels.annotators):,} annotators; classes "
        f"{name_list(labels.classes)}."
    )
    yield from labels.intake.messages()
    heard = np.zeros(len(labels.items), dtype=bool)
    heard[labels.item_of_unit[labels.unit]] = True
    if not heard.all():
        yield f"{np.count_nonzero(~heard):,} items have no labels: they are answered, and not learnt from."


def _about_dev(settings: Settings, corpus: Corpus, dev: Corpus | None, method: LearningMethod) -> Iterator[str]:
    if dev is not None:
        yield f"{settings.dev}: {len(dev.items):,} dev items to stop by."
        known = set(_contents(corpus))
        twice = sum(content in known for content in _contents(dev))
        if twice:
            yield f"{twice:,} of the dev items are training items, too: their score is too good."
        return
    held_out = getattr(method, "held_out", None)
    if held_out is None:
        yield "No dev items: all epochs are run, and the last one is kept."
    else:
        again = ", then all are learnt anew" if held_out.refit else ""
        kept = f"the labels of {held_out.share:.0%} of the {held_out.apart} are kept apart to stop by"
        yield f"No dev items: {kept}{again}."


def _contents(corpus: Corpus) -> list[str] | list[tuple[str, ...]]:
    if corpus.tokens is not None:
        return [corpus.sentence(s) for s in range(len(corpus.items))]
    return list(corpus.texts or ())


def _about_rules(rules: RuleSet | None, labels: CrowdLabels, vocabulary: Vocabulary, corpus: Corpus) -> Iterator[str]:
    """What is odd about the rules; what is wrong with them stops the training before it begins."""
    if rules is None:
        return
    found = check(rules, classes=labels.classes, vocabulary=vocabulary, corpus=corpus)
    for finding in found:
        if finding.severity is Severity.error:
            raise RuleError(str(finding))
    yield f"{rules.source}: {len(expand(rules, labels.classes)):,} rules."
    yield from (f"{finding.place}: {finding.what}" for finding in found)


def _about_vectors(
    settings: Settings, vectors: WordVectors | None, corpus: Corpus, method: LearningMethod
) -> Iterator[str]:
    if vectors is not None:
        model: Any = method.classifier
        share = vectors.coverage(model.said(corpus).words, exact=model.exact)
        yield f"{', '.join(settings.vectors)}: {vectors.size} dimensions; {percent(share)} of the words have a vector."
